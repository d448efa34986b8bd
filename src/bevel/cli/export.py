"""``bevel export``: a model file as C or ONNX, for use without Python."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from bevel.cli import options, output
from bevel.files.atomic import write_whole
from bevel.printable import printable

__all__ = ["EXAMPLES", "export"]

EXAMPLES = output.examples(
    "bevel export model.bevel --to c --out model.c --name churn",
    "bevel export model.bevel --to onnx",
)


class Format(StrEnum):
    """Formats that a model can be exported to; also the suffix of their files."""

    c = "c"
    onnx = "onnx"


def export(
    model: Annotated[Path, typer.Argument(help="A file that save has written.")],
    to: Annotated[Format, typer.Option(help="What to write.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", dir_okay=False, help="File to write; by default beside the model."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help='C only: what every name in the file begins with; "model" by default.'),
    ] = None,
    force: options.Force = False,
) -> None:
    """Write a model as one C file without dependencies, or as an ONNX graph."""
    target = out if out is not None else model.with_suffix(f".{to}")
    _check(model, target, to, name, force)
    from bevel.estimators.loading import load

    _write(load(model), target, to, name or "model")
    typer.echo(printable(f"Written to {target}: {target.stat().st_size:,} bytes"))


def _check(model: Path, target: Path, to: Format, name: str | None, force: bool) -> None:
    """Raise before any work if the export could not be completed."""
    if name is not None and to is not Format.c:
        raise ValueError(
            f"--name must be given with --to c only; got --to {to}, whose files need no "
            "prefix. Leave it out."
        )
    if target.resolve() == model.resolve():
        raise ValueError(
            f"--out must be another file than the model; got {target}. Choose another name."
        )
    output.check_free([target], force=force)


def _write(estimator: Any, target: Path, to: Format, name: str) -> None:
    if to is Format.onnx:  # imported late, since it needs packages that other formats do not
        from bevel.export.onnx import write_onnx

        write_onnx(estimator.fitted_forest_, target)
    else:
        from bevel.export.c import write_c

        write_whole(target, (piece.encode() for piece in write_c(estimator.fitted_forest_, name)))
