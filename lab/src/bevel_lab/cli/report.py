"""``bevel lab report``: the page of a run, complete or not."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from bevel.cli import options, output
from bevel.extras import import_optional
from bevel.files.atomic import write_whole
from bevel.printable import printable
from bevel_lab.report.published import MEASURES, agreements
from bevel_lab.report.run_report import read_run, render, summarise

__all__ = ["EXAMPLES", "report"]

EXAMPLES = output.examples(
    "bevel lab report bevel_lab/sporf-uci",
    "bevel lab report RUN_FOLDER --paper paper_kappa.csv --out page.html",
    "bevel lab report RUN_FOLDER --reference random-forest --json",
)


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN_FOLDER", help="What `bevel lab run` has written.")
    ],
    paper: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Published values: a line per data set, a column each."),
    ] = None,
    measure: Annotated[
        str, typer.Option(help=f"What the published values are: {', '.join(MEASURES)}.")
    ] = "auto",
    reference: Annotated[
        str | None, typer.Option(help="System that the others are compared with.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            help="Folder of the data sets, for reasons why values differ from the paper's; the "
            "default is the folder of --paper, if it is one.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The page; the default is report.html in the run folder.")
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write the page of a run: tables, figures, tests, claims, and the paper's values beside it."""
    path = out or folder / "report.html"
    import_optional("matplotlib", needed_by="bevel lab report", install="bevel[plot]")
    run = read_run(folder, paper=paper, measure=measure, reference=reference, data=data)
    output.check_free([path], force=force)
    page = render(run, _command(folder, paper, measure, reference, data))
    write_whole(path, [page.encode("utf-8")])
    if as_json:
        output.print_json({"report": str(path), **summarise(run)})
        return
    output.console().print(printable(f"{run.experiment} is {run.progress}."), markup=False)
    for line in agreements(run.pairs):
        label = run.labels.get(line.system, line.system)
        output.console().print(printable(line.sentence(label)), markup=False, soft_wrap=True)
    output.console().print(printable(f"Written to {path}"), markup=False)


def _command(
    folder: Path, paper: Path | None, measure: str, reference: str | None, data: Path | None
) -> str:
    """What to type to make the page again."""
    words = ["bevel", "lab", "report", str(folder)]
    words += ["--paper", str(paper)] if paper is not None else []
    words += ["--measure", measure] if measure != "auto" else []
    words += ["--reference", reference] if reference is not None else []
    words += ["--data", str(data)] if data is not None else []
    return shlex.join(words)
