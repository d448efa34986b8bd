"""``bevel predict``: predictions of a saved model for a file of rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bevel import workflow
from bevel.cli import options, output
from bevel.cli.flags import as_flags
from bevel.cli.options import ModelData, RowId, reads_tables, source_of
from bevel.files.atomic import write_whole
from bevel.printable import printable
from bevel.tables.options import TableKeywords

if TYPE_CHECKING:
    from bevel.workflow.predictions import Predictions

__all__ = ["EXAMPLES", "predict"]

EXAMPLES = output.examples(
    "bevel predict iris.bevel new.csv --out predictions.csv --proba --id sample",
    "bevel predict prices.bevel new.csv --interval 0.9",
    "zcat new.csv.gz | bevel predict iris.bevel - | sort | uniq -c",
)


@reads_tables
def predict(
    model: Annotated[Path, typer.Argument(help="A file that fit --out or save has written.")],
    data: ModelData,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="CSV to write; by default, and for -, standard output."),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add class probabilities.")] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Add an interval that covers a share of new rows, such as 0.9 (regression; a "
            "forest alone needs fit --keep-targets).",
        ),
    ] = None,
    row_id: RowId = None,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
    force: options.Force = False,
    *,
    table: TableKeywords,
) -> None:
    """Predict the rows of a file, in their order.

    Columns are found by name, in any order; others are left out with a note. Characters of labels
    that cannot be seen are written as \\x1b on the screen, as they are in --out.
    """
    out = None if str(out) == "-" else out
    output.check_free([out], force=force)
    with source_of(data) as source:
        found = workflow.predict(
            model,
            source,
            proba=proba,
            interval=interval,
            row_id=row_id or (),
            n_jobs=jobs,
            **table,
        )
    if out is not None:
        write_whole(out, [found.to_csv().encode("utf-8")])
    if as_json:
        output.print_json(_as_json(model, found, out))
        return
    for text in found.notes:
        output.note(text)
    if out is None:
        for line in found.to_csv().removesuffix("\n").split("\n"):
            output.print_data(line)
    else:
        print(printable(f"{len(found.values):,} predictions written to {out}"))


def _as_json(model: Path, found: Predictions, out: Path | None) -> dict[str, object]:
    summary: dict[str, object] = {"model": model, "n_rows": len(found.values), "out": out}
    if out is None:
        summary["predictions"] = found.values
        if found.probabilities is not None:
            summary |= {"classes": list(found.classes), "probabilities": found.probabilities}
        if found.interval is not None:
            summary["interval"] = found.interval
        if found.scores is not None:
            summary["scores"] = found.scores
        if found.ids:
            summary["ids"] = found.ids
    return summary | {"notes": [as_flags(text) for text in found.notes]}
