"""The command line: its commands and common options."""

from importlib.metadata import version
from typing import Annotated

import typer

from bevel.cli import demo, explain, export, fit, inspect, predict, tune
from bevel.cli.error_handling import handle_errors
from bevel.cli.plugins import add_plugins

__all__ = ["app"]

app = typer.Typer(
    name="bevel",
    help="Oblique decision forests: trees that cut on the slant.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command(epilog=demo.EXAMPLES)(handle_errors(demo.demo))
app.command("fit", epilog=fit.EXAMPLES)(handle_errors(fit.fit))
app.command(epilog=predict.EXAMPLES)(handle_errors(predict.predict))
app.command("explain", epilog=explain.EXAMPLES)(handle_errors(explain.explain))
app.command("tune", epilog=tune.EXAMPLES)(handle_errors(tune.tune))
app.command(epilog=export.EXAMPLES)(handle_errors(export.export))
app.command(epilog=inspect.EXAMPLES)(handle_errors(inspect.inspect))
add_plugins(app)


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
