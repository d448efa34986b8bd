"""Output of commands.

- Results go to standard output, with ``--json`` as one JSON document; notes and progress go to
  standard error.
- No file is overwritten without ``--force``, and none is left half-written.
"""

from __future__ import annotations

import codecs
import io
import json
import math
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from bevel.cli.flags import as_flags
from bevel.printable import json_escaped, printable, rounded

__all__ = [
    "WIDTH",
    "check_free",
    "console",
    "examples",
    "note",
    "print_data",
    "print_families",
    "print_json",
    "print_lines",
    "print_members",
    "progress",
    "silent",
    "steps",
    "table",
    "write_any_text",
]

PLAIN = "bevel_plain"
_INSTEAD = {
    "−": "-",
    "–": "-",
    "—": "-",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "×": "x",
    "·": "*",
    "±": "+/-",
    "√": "sqrt",
    "λ": "lambda",
    "κ": "kappa",
    "Σ": "sum",
    "²": "^2",
    "³": "^3",
    "¼": "1/4",
    "½": "1/2",
    "¾": "3/4",
    "…": "...",
    "→": "->",
    "█": "#",
    "░": ".",
    "│": "|",
    "─": "-",
    "━": "-",
    "╸": "-",
    "╺": "-",
    "├": "|",
    "└": "`",
    "’": "'",
    "‘": "'",
    "“": '"',
    "”": '"',
}


def write_any_text(*streams: TextIO) -> None:
    """Let streams replace characters that they cannot encode, instead of raising."""
    codecs.register_error(PLAIN, _replaced)
    for stream in streams or (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors=PLAIN)


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_letter(letter) for letter in letters), error.end


def _letter(letter: str) -> str:
    return _INSTEAD.get(letter, letter.encode("ascii", "backslashreplace").decode())


WIDTH = 100


def note(text: str) -> None:
    """Print a note on standard error."""
    print(printable(f"Note: {as_flags(' '.join(text.split()))}"), file=sys.stderr)


def silent(_text: str) -> None:
    """Replacement of `note` where notes are part of a JSON document."""


def print_json(summary: object) -> None:
    """Print one JSON document; NaN and infinities, which JSON does not have, become null."""
    ascii_only = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    text = json.dumps(_plain(summary), indent=2, ensure_ascii=ascii_only, allow_nan=False)
    print(json_escaped(text))


def print_data(line: str) -> None:
    """Print a line of data; characters that the terminal cannot show are escaped as in Python."""
    text = printable(line)
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # NumPy values
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_lines(lines: Mapping[str, str]) -> None:
    """Print names and values in two columns."""
    grid = Table.grid(padding=(0, 2))
    for name, text in lines.items():
        grid.add_row(name, Text(printable(text)))
    console().print(grid)


def table(
    head: Sequence[str], rows: Iterable[Sequence[object]], *, left: Collection[int] = (0,)
) -> Table:
    """A table of text; columns are aligned to the right, except those of `left`."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(head):
        made.add_column(name, justify="left" if place in left else "right")
    for row in rows:
        made.add_row(*(Text(printable(str(cell))) for cell in row))
    return made


def print_families(summary: Mapping[str, Any] | None, *, has_classes: bool) -> None:
    """Print the families that share the trees of a model, from `FamilyRecord.as_dict`."""
    if summary is None:
        return
    from bevel.forest.records import not_compared, size_note
    from bevel.report.tasks import family_rows, words_of
    from bevel.workflow.tasks import CLASSIFICATION, REGRESSION

    words = words_of(CLASSIFICATION if has_classes else REGRESSION)
    head, rows = family_rows(summary["families"], words)
    screen = console()
    screen.print(table(head, rows))
    if all(each["error"] is None for each in summary["families"]):
        screen.print(not_compared(len(summary["families"])))
    if summary["min_samples_split"] > 2:
        screen.print(size_note(summary["min_samples_split"]))
    for name, why in summary["left_out"].items():
        screen.print(Text(printable(f"left out: {name} ({why})")))


def print_members(summary: Mapping[str, Any]) -> None:
    """Print the models that are added up with weights, from `MemberRecord.as_dict`."""
    rows = [
        (
            each["member"],
            "–" if each["loss"] is None else rounded(each["loss"], 4),
            f"{each['weight']:.2f}",
            f"{each['n_models']:,}",
            f"{each['n_trees']:,}",
        )
        for each in summary["members"]
    ]
    console().print(table(("member", summary["loss_name"], "weight", "models", "trees"), rows))


def check_free(paths: Sequence[Path | None], *, force: bool) -> None:
    """Raise before the work if a file could not be written afterwards."""
    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise IsADirectoryError(
                f"Output must go to a file; got the folder {path}. Add a name to it."
            )
        if path.exists() and not force:
            raise FileExistsError(f"{path} exists. Choose another name, or pass --force.")
        folder = next(each for each in (path.parent, *path.parent.parents) if each.exists())
        if folder != path.parent and folder.is_dir():
            raise FileNotFoundError(f"The folder {path.parent} does not exist. Make it first.")
        if not os.access(folder, os.W_OK) or not folder.is_dir():
            raise PermissionError(f"Nothing can be written to {folder}. Choose another folder.")
    taken = [path.resolve() for path in paths if path is not None]
    if len(set(taken)) < len(taken):
        raise ValueError(f"Every output must have a name of its own; got {paths[0]} twice.")


def examples(*lines: str) -> str:
    """Commands to try, for the end of a command's help."""
    return "Examples:\n\n" + "\n\n".join(f"  {line}" for line in lines)


def console() -> Console:
    """Standard output; of full width where it is not a terminal, as in a pipe or a log."""
    made = Console(highlight=False)
    return made if made.is_terminal else Console(highlight=False, width=WIDTH)


@contextmanager
def progress(description: str, total: int | None = None) -> Iterator[Callable[[int, str], None]]:
    """A progress bar on standard error, removed at the end; yields its update function.

    The function takes the number of steps done so far and, if it is not empty, a new description.
    """
    with _bar() as bar:
        task = bar.add_task(description, total=total)

        def advance(done: int, text: str = "") -> None:
            bar.update(task, completed=done, description=text or None)

        yield advance


@contextmanager
def steps() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar for work of several steps; yields the callback `on_progress`."""
    with _bar() as bar:
        task = bar.add_task("", total=None)

        def advance(step: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, description=step or None)

        yield advance


class _Bar(Progress):
    def stop(self) -> None:
        if not self.disable:  # older releases of rich print a line at the end of a hidden bar
            super().stop()


def _bar() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
    )
    screen = Console(stderr=True)
    return _Bar(*columns, console=screen, transient=True, disable=not screen.is_terminal)
