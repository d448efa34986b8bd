"""The command line as a whole: its commands, also those of other packages."""

from importlib.metadata import EntryPoint, entry_points, version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from bevel.cli import demo, explain, export, fit, inspect, predict, tune
from bevel.cli.error_handling import handle_errors

__all__ = [
    "Commands",
    "app",
]

GROUP = "bevel.commands"

# Commands of other packages of this project, and how to install them.
KNOWN = {"lab": "python -m pip install bevel-lab"}


class Commands(TyperGroup):
    """The own commands, and those that installed packages provide.

    Packages are loaded when their command or the list of commands is asked for. One that is broken
    gets a command that prints an error, so that the other commands still work.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *sorted(_plugins())]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or _plugin(cmd_name)


def _plugins() -> dict[str, EntryPoint]:
    return {each.name: each for each in entry_points(group=GROUP)}


def _plugin(name: str) -> Any:
    """The command of another package, or a stub for one that is broken or not installed."""
    point = _plugins().get(name)
    if point is None:
        text = f"bevel {name} is in a package of its own, which is not installed."
        return _stub(name, f"{text} Install it: {KNOWN[name]}") if name in KNOWN else None
    try:
        command = get_group(point.load())
    except Exception as error:
        return _stub(name, _broken(point, error))
    command.name = name
    return command


def _broken(point: EntryPoint, error: Exception) -> str:
    package = point.dist.name if point.dist is not None else point.value
    return f"bevel {point.name} cannot be loaded from {package}: {error}. Install {package} again."


def _stub(name: str, message: str) -> Any:
    """A command that takes any words and prints a message."""

    def stub(_context: typer.Context) -> None:
        typer.echo(message, err=True)
        raise typer.Exit(1)

    settings = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    alone = typer.Typer(add_completion=False)
    alone.command(name, help=message, context_settings=settings)(stub)
    return get_command(alone)


app = typer.Typer(
    name="bevel",
    cls=Commands,
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
