"""The command line as a whole: its commands, also those of other packages."""

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points, version
from typing import Annotated

import typer

from bevel.cli import demo, explain, export, fit, inspect, predict, tune
from bevel.cli.error_handling import handle_errors

__all__ = [
    "add_plugins",
    "app",
]

GROUP = "bevel.commands"

# Commands of other packages of this project, and how to install them.
KNOWN = {"lab": "python -m pip install bevel-lab"}


def add_plugins(app: typer.Typer) -> None:
    """Add the commands that installed packages provide.

    A package that is absent or broken gets a command that prints an error, so that the other
    commands still work.
    """
    found = {each.name: each for each in entry_points(group=GROUP)}
    for name in sorted(found):
        try:
            app.add_typer(found[name].load(), name=name)
        except Exception as error:
            _add_stub(app, name, _broken(found[name], error))
    for name in sorted(KNOWN.keys() - found.keys()):
        text = f"bevel {name} is in a package of its own, which is not installed."
        _add_stub(app, name, f"{text} Install it: {KNOWN[name]}")


def _broken(point: EntryPoint, error: Exception) -> str:
    package = point.dist.name if point.dist is not None else point.value
    return f"bevel {point.name} cannot be loaded from {package}: {error}. Install {package} again."


def _add_stub(app: typer.Typer, name: str, message: str) -> None:
    settings = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    app.command(name, help=message, context_settings=settings)(_stub(message))


def _stub(message: str) -> Callable[[typer.Context], None]:
    def stub(_context: typer.Context) -> None:
        typer.echo(message, err=True)
        raise typer.Exit(1)

    return stub


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
