"""``bevel export``: a model file as C or ONNX, for places without Python."""

import sys
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

import bevel
from bevel.export.c import write_c
from bevel.files.atomic import write_whole

__all__ = ["export"]


class Format(StrEnum):
    """Formats that a model can be exported to; also the suffix of their files."""

    c = "c"
    onnx = "onnx"


def export(
    model: Annotated[Path, typer.Argument(help="A file that save has written.")],
    to: Annotated[Format, typer.Option(help="What to write.")],
    out: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Where to; by default beside the model.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help='C only: what every name in the file begins with; "model" by default.'),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write a model as one C file without dependencies, or as an ONNX graph."""
    target = out if out is not None else model.with_suffix(f".{to}")
    try:
        _check(model, target, to, name, force)
        estimator = bevel.load(model)
        _write(estimator, target, to, name or "model")
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(1) from None
    typer.echo(f"Written to {target}: {target.stat().st_size:,} bytes")


def _check(model: Path, target: Path, to: Format, name: str | None, force: bool) -> None:
    """Refuse before any work what could not be done after it."""
    if name is not None and to is not Format.c:
        raise ValueError(
            f"--name must be given with --to c only; got --to {to}, whose files need no "
            "prefix. Leave it out."
        )
    if target.resolve() == model.resolve():
        raise ValueError(
            f"--out must be another file than the model; got {target}. Choose another name."
        )
    if target.exists() and not force:
        raise FileExistsError(
            f"--out must be a new file; got {target}, which exists. Choose another name, or add "
            "--force to replace it."
        )


def _write(estimator: Any, target: Path, to: Format, name: str) -> None:
    if to is Format.onnx:  # imported late: it needs packages that other formats do not
        import_module("bevel.export.onnx").write_onnx(estimator, target)
    else:
        write_whole(target, (piece.encode() for piece in write_c(estimator, name)))
