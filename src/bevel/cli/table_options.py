"""Options of the verbs that learn from a file of rows."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Data", "Drop", "Header", "Nominal", "TargetColumn", "Task", "TaskName"]


class TaskName(StrEnum):
    """What to learn."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


Data = Annotated[Path, typer.Argument(help="CSV, TSV (both may be gzipped) or Parquet.")]
TargetColumn = Annotated[str, typer.Option(help="Name of the column to predict.")]
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
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether the first line holds names. The default is to look."
    ),
]
