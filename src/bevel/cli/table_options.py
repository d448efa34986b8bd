"""Options of the commands that read a file of rows."""

from __future__ import annotations

import functools
import inspect
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, get_type_hints

import typer

from bevel.tables.options import TableKeywords
from bevel.tables.source import Source

__all__ = [
    "Data",
    "Drop",
    "KeepId",
    "ModelData",
    "Nominal",
    "OptionalTarget",
    "RowId",
    "TargetColumn",
    "Task",
    "TaskName",
    "reads_tables",
    "source_of",
    "table_arguments",
]

STANDARD_INPUT = "-"


class TaskName(StrEnum):
    """Task of a model."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class DecimalSign(StrEnum):
    """Decimal sign of numbers."""

    point = "."
    comma = ","


Data = Annotated[
    Path,
    typer.Argument(help="CSV, TSV (both may be gzipped) or Parquet; - for standard input."),
]
ModelData = Annotated[
    Path,
    typer.Argument(help="CSV, TSV or Parquet with the columns of fit; - for standard input."),
]
TargetColumn = Annotated[str, typer.Option(help="Name of the column to predict.")]
OptionalTarget = Annotated[str | None, typer.Option(help="Name of the column to predict.")]
Task = Annotated[
    TaskName,
    typer.Option(help="auto: classification for words and up to ten distinct whole numbers."),
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Leave a column out; may be repeated.")
]
Nominal = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column whose numbers are names; may be repeated."),
]
KeepId = Annotated[
    bool,
    typer.Option("--keep-id", help="Keep columns that name rows: row numbers, keys, free text."),
]
RowId = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="A column that names rows, to be written beside predictions; may be repeated.",
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line holds names. The default is to look.",
        rich_help_panel="Reading the file",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What cuts cells: a character, tab or space. The default is to look.",
        rich_help_panel="Reading the file",
    ),
]
Decimal = Annotated[
    DecimalSign | None,
    typer.Option(
        help="Decimal sign of numbers. The default is to look.",
        rich_help_panel="Reading the file",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CELL",
        help="A cell that means missing, beside NA, N/A, NaN, null, ? and the like; may be "
        "repeated.",
        rich_help_panel="Reading the file",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Of the text, such as cp1252. The default is UTF-8, or else Windows-1252.",
        rich_help_panel="Reading the file",
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=TYPE",
        help="What a column holds: number, nominal, date, or a date as dmy, mdy or ymd; may be "
        "repeated.",
        rich_help_panel="Reading the file",
    ),
]
OPTIONS = {
    "header": Header,
    "delimiter": Delimiter,
    "decimal": Decimal,
    "missing": Missing,
    "encoding": Encoding,
    "types": Types,
}


def reads_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator of a command that adds the options above and passes their values as `table`."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        given = {name: options.pop(name, None) for name in OPTIONS}
        command(*args, table=_keywords(given), **options)

    signature = inspect.signature(command)
    own = [each for name, each in signature.parameters.items() if name != "table"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in OPTIONS.items()
    ]
    hints = get_type_hints(command, include_extras=True)
    hints.pop("table", None)
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*own, *added]
    )
    run.__annotations__ = hints | OPTIONS
    return run


def _keywords(given: Mapping[str, Any]) -> TableKeywords:
    keywords = {name: value for name, value in given.items() if value}
    if given["header"] is not None:
        keywords["header"] = given["header"]
    if given["decimal"] is not None:
        keywords["decimal"] = str(given["decimal"])
    if given["types"]:
        keywords["types"] = dict(_pair(text) for text in given["types"])
    return keywords  # type: ignore[return-value]


def _pair(text: str) -> tuple[str, str]:
    name, equals, kind = text.rpartition("=")
    if not equals or not name:
        raise ValueError(
            f"--types must be COLUMN=TYPE; got {text!r}. Write for example --types price=number."
        )
    return name, kind


def table_arguments(table: TableKeywords) -> list[str]:
    """Settings of a table as arguments of a command line."""
    words = []
    for name, value in table.items():
        if name == "header":
            words.append("--header" if value else "--no-header")
        elif name == "types":
            assert isinstance(value, Mapping)
            words += [word for pair in value.items() for word in ("--types", "=".join(pair))]
        elif isinstance(value, str):
            words += [f"--{name}", value]
        else:
            assert isinstance(value, Sequence)
            words += [word for each in value for word in (f"--{name}", each)]
    return words


@contextmanager
def source_of(data: Path) -> Iterator[Source]:
    """The file to read; standard input is copied, since files are read more than once."""
    if str(data) != STANDARD_INPUT:
        yield Source(data, str(data))
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "input"
        with copy.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield Source(copy, "Standard input")
