"""The command line as a whole: its verbs and what they share."""

from importlib.metadata import version
from typing import Annotated

import typer

from bevel.cli import demo, explain, export, fit, inspect, predict, tune
from bevel.cli.manners import polite
from bevel.cli.plugins import add_plugins

__all__ = ["app"]

app = typer.Typer(
    name="bevel",
    help="Oblique decision forests: trees that cut on the slant.",
    no_args_is_help=True,
    add_completion=False,
)
app.command(epilog=demo.EXAMPLES)(polite(demo.demo))
app.command("fit", epilog=fit.EXAMPLES)(polite(fit.fit_verb))
app.command(epilog=predict.EXAMPLES)(polite(predict.predict))
app.command("explain", epilog=explain.EXAMPLES)(polite(explain.explain_verb))
app.command("tune", epilog=tune.EXAMPLES)(polite(tune.tune_verb))
app.command(epilog=export.EXAMPLES)(polite(export.export))
app.command(epilog=inspect.EXAMPLES)(polite(inspect.inspect))
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
