"""The command line as a whole: its verbs and what they share."""

from importlib.metadata import version
from typing import Annotated

import typer

from bevel.cli.demo import demo
from bevel.cli.export import export
from bevel.cli.inspect import inspect

__all__ = ["app"]

app = typer.Typer(
    name="bevel",
    help="Oblique decision forests: trees that cut on the slant.",
    no_args_is_help=True,
    add_completion=False,
)
app.command()(demo)
app.command()(export)
app.command()(inspect)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"bevel {version('bevel')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass
