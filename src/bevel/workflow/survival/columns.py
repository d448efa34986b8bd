"""The columns of a file that hold times, events and entries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.survival import SurvivalTarget, read_survival
from bevel.errors import join_names
from bevel.tables.options import TableOptions
from bevel.tables.source import Source
from bevel.tables.table_file import TableFile, open_table

__all__ = ["SurvivalColumns", "TimesOfRows", "read_survival_columns"]

SEEN = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


@dataclass(frozen=True)
class SurvivalColumns:
    """Names of the columns of a target.

    Attributes
    ----------
    time, event : str
        Columns of the times and of the events.
    entry : str or None
        Column of the times from which rows are seen; None if all are seen from the start.
    competing : bool
        Whether events are numbers of causes.
    """

    time: str
    event: str
    entry: str | None = None
    competing: bool = False


@dataclass(frozen=True, eq=False)
class TimesOfRows:
    """Times, events and entries of all rows of a file.

    Attributes
    ----------
    time : ndarray of float64
        Times; NaN where missing.
    event : ndarray of bool, or of float64 numbers of causes
        Events of the rows.
    entry : ndarray of float64 or None
        Entry times; NaN where missing.
    known : ndarray of bool
        Rows with a time.
    competing : bool
        Whether events are numbers of causes.
    """

    time: Floats
    event: npt.NDArray[Any]
    entry: Floats | None
    known: npt.NDArray[np.bool_]
    competing: bool

    def target(self, rows: Any, time: Any = None, *, needs_event: bool = True) -> SurvivalTarget:
        """Target of some rows, whose times may be given."""
        times = self.time[rows] if time is None else time
        parts = (times, self.event[rows])
        given = parts if self.entry is None else (self.entry[rows], *parts)
        return read_survival(given, len(times), needs_event=needs_event, competing=self.competing)


def read_survival_columns(
    data: Path | Source, columns: SurvivalColumns, options: TableOptions
) -> TimesOfRows:
    """Read times, events and entries from a file.

    Parameters
    ----------
    data : Path or Source
        The file.
    columns : SurvivalColumns
        Names of the columns.
    options : TableOptions
        Format of the file.
    """
    table = open_table(data, options)
    names = [columns.time, columns.event] + ([] if columns.entry is None else [columns.entry])
    table.check_present(names)
    numbers = [name for name in names if name != columns.event]
    read = table.read(numbers, dict.fromkeys(numbers, "numeric")).columns
    time = read.values[0].astype(np.float64)
    entry = None if columns.entry is None else read.values[1].astype(np.float64)
    read_events = _read_causes if columns.competing else _read_events
    event = read_events(table, columns.event)
    return TimesOfRows(time, event, entry, ~read.missing(0), columns.competing)


def _labels(table: TableFile, event: str) -> list[str]:
    words = table.read([event], {event: "nominal"}).columns.values[0]
    labels = ["" if word is None else str(word).strip().lower() for word in words]
    return [label.removesuffix(".0") for label in labels]


def _read_events(table: TableFile, event: str) -> npt.NDArray[np.bool_]:
    labels = _labels(table, event)
    unknown = sorted({label or "a missing value" for label in labels} - set(SEEN))
    if unknown:
        raise ValueError(
            f"{table.source}: the events in column {event!r} must be 1 and 0, true and false, or "
            f"yes and no; got {join_names(unknown)}. Recode the column, name another, or set "
            "`competing_risks` if these are the numbers of causes."
        )
    return np.array([SEEN[label] for label in labels], dtype=bool)


def _read_causes(table: TableFile, event: str) -> npt.NDArray[np.int64]:
    labels = _labels(table, event)
    unknown = sorted({label or "a missing value" for label in labels if not label.isdecimal()})
    if unknown:
        raise ValueError(
            f"{table.source}: the events in column {event!r} must be numbers of causes from 1 on, "
            f"and 0 for none; got {join_names(unknown)}. Number the causes."
        )
    return np.array([int(label) for label in labels], dtype=np.int64)
