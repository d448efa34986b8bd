"""Options of commands: common ones, those of commands that read a file of rows, and those for the
parameters of a forest.
"""

from __future__ import annotations

import functools
import inspect
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, get_type_hints

import typer

from bevel.projections import NAMED, SparseSigns
from bevel.projections.families import AUTOMATIC
from bevel.tables.options import Source, TableKeywords
from bevel.training.options import CLASS_CRITERIA, NUMBER_CRITERIA

__all__ = [
    "ClassWeight",
    "Criterion",
    "CriterionName",
    "Data",
    "Density",
    "Directions",
    "Drop",
    "Entry",
    "Event",
    "Force",
    "Jobs",
    "Json",
    "KeepId",
    "MaxDepth",
    "MinLeaf",
    "ModelData",
    "Monotonic",
    "Nominal",
    "OptionalTarget",
    "Positive",
    "ProjectionNames",
    "RowId",
    "Seed",
    "TargetColumn",
    "Task",
    "TaskName",
    "Time",
    "forest_parameters",
    "read_directions",
    "read_projection",
    "reads_tables",
    "source_of",
]

Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random choices.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Threads; the default is all available cores.")
]


# Options of the commands that read a file of rows.

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
    typer.Argument(
        help="CSV or TSV (may be compressed), Parquet, Arrow, ORC, JSON lines or Excel; - for "
        "standard input."
    ),
]
ModelData = Annotated[
    Path,
    typer.Argument(
        help="A file with the columns of the fit, of any kind that fit reads; - for standard input."
    ),
]
TargetColumn = Annotated[str, typer.Option(help="Name of the column to predict.")]
OptionalTarget = Annotated[str | None, typer.Option(help="Name of the column to predict.")]
Time = Annotated[str | None, typer.Option(metavar="COLUMN", help="Survival: the column of times.")]
Event = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Survival: the column that says whether the event was observed (1) or the row is "
        "censored (0).",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(metavar="CLASS", help="The class that the short rules on the page describe."),
]
Entry = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Survival: the column of entry times, for rows that enter late."
    ),
]
Task = Annotated[
    TaskName,
    typer.Option(
        help="auto: classification if the target holds words or up to ten distinct whole numbers."
    ),
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Leave a column out; may be repeated.")
]
Nominal = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="A column whose numbers are labels, such as codes; may be repeated."
    ),
]
KeepId = Annotated[
    bool,
    typer.Option(
        "--keep-id", help="Keep columns that identify rows: row numbers, keys, free text."
    ),
]
RowId = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="A column that identifies rows, to be written beside predictions; may be repeated.",
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line holds column names; by default, this is detected.",
        rich_help_panel="Reading the file",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What separates the cells: a character, tab or space; by default, this is detected.",
        rich_help_panel="Reading the file",
    ),
]
Decimal = Annotated[
    DecimalSign | None,
    typer.Option(
        help="Decimal separator of numbers; by default, this is detected.",
        rich_help_panel="Reading the file",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CELL",
        help="A cell that counts as missing, besides NA, N/A, NaN, null, ? and the like; may be "
        "repeated.",
        rich_help_panel="Reading the file",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of the text, such as cp1252; by default UTF-8, or else Windows-1252.",
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


@contextmanager
def source_of(data: Path) -> Iterator[Source]:
    """The file to read; standard input and pipes are copied, as files are read more than once."""
    from_input = str(data) == STANDARD_INPUT
    if not from_input and not data.is_fifo():
        yield Source(data, str(data))
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "input"
        with copy.open("wb") as stream, ExitStack() as opened:
            pipe = sys.stdin.buffer if from_input else opened.enter_context(data.open("rb"))
            shutil.copyfileobj(pipe, stream)
        yield Source(copy, "Standard input" if from_input else str(data))


# Options for the parameters of a forest.

PANEL = "The model"


class CriterionName(StrEnum):
    """Split criterion."""

    vars().update({name: name for name in (*CLASS_CRITERIA, *NUMBER_CRITERIA)})


ProjectionNames = Annotated[
    str,
    typer.Option(
        help="Where directions come from: auto (families share the trees), "
        f"{', '.join(NAMED)}, or several with commas.",
        rich_help_panel=PANEL,
    ),
]
Density = Annotated[
    float | None,
    typer.Option(
        help="Features that a direction of --projection sparse combines on average.",
        rich_help_panel=PANEL,
    ),
]
Directions = Annotated[
    str,
    typer.Option(
        "--d",
        "--n-projections",
        metavar="COUNT",
        help="Directions tried at each node: auto, a number, sqrt, log2, p, p**0.75, or a share "
        "such as 0.5.",
        rich_help_panel=PANEL,
    ),
]
MaxDepth = Annotated[
    int | None,
    typer.Option(min=1, help="Depth of the trees; the default is no limit.", rich_help_panel=PANEL),
]
MinLeaf = Annotated[
    int | None,
    typer.Option(
        "--min-samples-leaf",
        min=1,
        help="Smallest number of rows in a leaf.",
        rich_help_panel=PANEL,
    ),
]
Criterion = Annotated[
    CriterionName | None,
    typer.Option(
        help="What a split improves; the default depends on the task.", rich_help_panel=PANEL
    ),
]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CLASS=WEIGHT",
        help="balanced, or the weight of a class (1 for classes not named); may be repeated.",
        rich_help_panel=PANEL,
    ),
]
Monotonic = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=SIGN",
        help="1 for a column that predictions must not fall with, -1 for one they must not rise "
        "with; may be repeated.",
        rich_help_panel=PANEL,
    ),
]


def read_projection(text: str, density: float | None) -> Any:
    """A name, a list of names, or sparse signs of a density."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if density is None:
        return names if len(names) > 1 else text.strip()
    if names not in ([SparseSigns.name], [AUTOMATIC]):  # a density overrides the default projection
        raise ValueError(
            f"--density belongs to --projection {SparseSigns.name}; got --projection {text}. Leave "
            "out one of the two."
        )
    return SparseSigns(density)


def read_directions(text: str) -> int | float | str:
    """Read a count for the estimators: a number if it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def forest_parameters(
    max_depth: int | None,
    min_samples_leaf: int | None,
    criterion: str | None,
    class_weight: Sequence[str] | None,
    monotonic: Sequence[str] | None = None,
    contamination: float | None = None,
) -> dict[str, Any]:
    """Estimator parameters of the given options."""
    given: dict[str, Any] = {
        "max_depth": max_depth,
        "min_samples_leaf": min_samples_leaf,
        "criterion": None if criterion is None else str(criterion),
        "class_weight": _read_weights(class_weight) if class_weight else None,
        "monotonic_cst": _read_signs(monotonic) if monotonic else None,
        "contamination": contamination,
    }
    return {name: value for name, value in given.items() if value is not None}


def _read_signs(texts: Sequence[str]) -> dict[str, int]:
    signs = {}
    for text in texts:
        name, equals, sign = text.rpartition("=")
        if not equals or sign not in ("1", "+1", "-1"):
            raise ValueError(
                f"--monotonic must be COLUMN=1 or COLUMN=-1; got {text!r}. Write for example "
                "--monotonic age=1."
            )
        signs[name] = int(sign)
    return signs


def _read_weights(texts: Sequence[str]) -> Mapping[str, float] | str:
    if list(texts) == ["balanced"]:
        return "balanced"
    weights = {}
    for text in texts:
        label, equals, weight = text.rpartition("=")
        try:
            weights[label] = float(weight)
        except ValueError:
            equals = ""
        if not equals:
            raise ValueError(
                f"--class-weight must be balanced or CLASS=WEIGHT; got {text!r}. Write for example "
                "--class-weight yes=2."
            )
    return weights
