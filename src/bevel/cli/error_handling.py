"""Errors and interruption of commands.

- An error is one line on standard error with a remedy; ``--debug`` shows the traceback.
- Exit codes: 0 done, 1 error, 2 wrong usage, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, get_type_hints

import typer

from bevel.cli.flags import as_flags
from bevel.cli.output import note
from bevel.printable import printable

__all__ = ["handle_errors"]

INTERRUPTED = 130  # 128 + SIGINT, as in shells

Debug = Annotated[bool, typer.Option("--debug", help="Show where an error came from.")]

# Errors that users cause and can fix, as the messages explain.
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)


def handle_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator of a command: adds ``--debug``, turns exceptions into lines and exit codes."""

    @functools.wraps(command)
    def run(*args: Any, debug: bool = False, **options: Any) -> None:
        try:
            with _warnings_as_notes():
                command(*args, **options)
        except KeyboardInterrupt:
            print("Stopped. Files that were written are whole.", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise  # the reader has closed the pipe; the framework ends quietly
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except Exception as error:
            if debug:
                raise
            print(printable(_line(error)), file=sys.stderr)
            raise typer.Exit(1) from None

    paragraphs = (command.__doc__ or "").split("\n\n")
    run.__doc__ = "\n\n".join(" ".join(each.split()) for each in paragraphs)  # wrapped by help
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True) | {"debug": Debug}
    option = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False)
    parameters = [*signature.parameters.values(), option]
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[each.replace(annotation=hints[each.name]) for each in parameters]
    )
    run.__annotations__ = hints
    return run


def _line(error: Exception) -> str:
    """An exception as one line."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        text = f"{error.filename}: {error.strerror}. Check the path."
    elif isinstance(error, MemoryError):
        text = f"Not enough memory. {error}".rstrip()
    else:
        text = as_flags(" ".join(str(error).split()))
    if isinstance(error, EXPECTED):
        return f"Error: {text}"
    kind = type(error).__name__
    return f"Error: this should not happen ({kind}: {text}). Run it with --debug and report it."


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Show warnings for users as notes, each once; hide those for programmers."""
    shown: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, UserWarning) and str(message) not in shown:
            shown.add(str(message))
            note(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        yield
