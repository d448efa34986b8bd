"""Columns of a file that are to be learned: one, several, times and events, or none.

`read` of each gives the rows of the file with their features and targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from bevel.data.survival import SurvivalTarget, read_survival
from bevel.data.tables import Columns
from bevel.errors import join_names
from bevel.tables.options import Source, TableOptions
from bevel.tables.table_file import TableFile, open_table
from bevel.workflow.rows import LabelledRows, read_labelled_rows
from bevel.workflow.tasks import COMBINED, FOREST, SeveralTargets, Survival

__all__ = [
    "NoColumn",
    "OneColumn",
    "SeveralColumns",
    "SurvivalColumns",
    "TargetColumns",
    "named_targets",
]


class TargetColumns(Protocol):
    """Columns that are to be learned.

    Attributes
    ----------
    default_model : str
        Kind of model that is fitted if none is named.
    """

    default_model: ClassVar[str]

    def read(self, data: Path | Source, **reading: Any) -> LabelledRows:
        """Rows of a file; `reading` has further parameters of `read_labelled_rows`."""
        ...


@dataclass(frozen=True)
class NoColumn:
    """No target: all columns are features."""

    default_model: ClassVar[str] = FOREST

    def read(self, data: Path | Source, **reading: Any) -> LabelledRows:
        """Rows of a file without a target."""
        return read_labelled_rows(data, None, **reading)


@dataclass(frozen=True)
class OneColumn:
    """A column of classes or numbers, and the task, which may be "auto"."""

    default_model: ClassVar[str] = COMBINED

    name: str
    task: str = "auto"

    def read(self, data: Path | Source, **reading: Any) -> LabelledRows:
        """Rows of a file that have the target."""
        return read_labelled_rows(data, self.name, task=self.task, **reading)


@dataclass(frozen=True)
class SeveralColumns:
    """Several columns, all of them classes or all of them numbers."""

    default_model: ClassVar[str] = FOREST

    names: tuple[str, ...]
    task: str = "auto"

    def read(
        self,
        data: Path | Source,
        *,
        drop: Sequence[str] = (),
        nominal: Sequence[str] = (),
        **reading: Any,
    ) -> LabelledRows:
        """Rows of a file that have all targets."""
        parts = [
            read_labelled_rows(
                data,
                target,
                task=self.task,
                drop=[*drop, *(other for other in self.names if other != target)],
                nominal=[name for name in nominal if name == target or name not in self.names],
                **reading,
            )
            for target in self.names
        ]
        tasks = {part.target: part.task.name for part in parts}
        if len(set(tasks.values())) > 1:
            listed = ", ".join(f"{name!r}: {task}" for name, task in tasks.items())
            raise ValueError(
                f"Several targets must be all classes or all numbers; got {listed}. Fit them in "
                "two models, or pass `task`."
            )
        numbers = [np.asarray(part.number) for part in parts]
        known = numbers[0]
        for own in numbers[1:]:
            known = np.intersect1d(known, own)
        chosen = [np.isin(own, known) for own in numbers]
        targets = tuple(part.y[own] for part, own in zip(parts, chosen, strict=True))
        first, own = parts[0], chosen[0]
        return replace(
            first,
            X=first.X.rows(own),
            y=Columns(self.names, targets),
            task=SeveralTargets(first.task, self.names),
            notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
            number=known,
            weights=None if first.weights is None else first.weights[own],
            ids={name: words[own] for name, words in first.ids.items()},
        )


def named_targets(
    data: Path | Source, target: str, task: str, options: TableOptions
) -> OneColumn | SeveralColumns:
    """The columns named between commas, unless a column has the whole name."""
    if "," not in target or target in open_table(data, options).names:
        return OneColumn(target, task)
    names = tuple(name.strip() for name in target.split(","))
    if "" in names or len(set(names)) < len(names):
        raise ValueError(
            f"`target` must name different columns between commas; got {target!r}. Write for "
            "example a,b."
        )
    return SeveralColumns(names, task)


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

    default_model: ClassVar[str] = FOREST

    time: str
    event: str
    entry: str | None = None
    competing: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the columns that are given."""
        return [self.time, self.event] + ([] if self.entry is None else [self.entry])

    def read(
        self,
        data: Path | Source,
        *,
        drop: Sequence[str] = (),
        options: TableOptions | None = None,
        **reading: Any,
    ) -> LabelledRows:
        """Rows of a file that have a time."""
        if self.time == self.event:
            raise ValueError(f"`time` and `event` must be two columns; got {self.time!r} for both.")
        if self.entry in (self.time, self.event):
            raise ValueError(
                f"`entry` must be a column of its own; got {self.entry!r}, as for another."
            )
        others, options = self.names[1:], options or TableOptions()
        rows = read_labelled_rows(
            *(data, self.time),
            task="regression",
            drop=[*drop, *others],
            options=options,
            **reading,
        )
        target, _ = self.target(data, options)
        return replace(rows, y=target, task=Survival(self.event, self.entry, self.competing))

    def target(
        self, data: Path | Source, options: TableOptions, *, needs_event: bool = True
    ) -> tuple[SurvivalTarget, npt.NDArray[np.bool_]]:
        """Times, events and entries of the rows of a file that have a time, and which these are."""
        table = open_table(data, options)
        table.check_present(self.names)
        numbers = [name for name in self.names if name != self.event]
        read = table.read(numbers, dict.fromkeys(numbers, "numeric")).columns
        event = (_read_causes if self.competing else _read_events)(table, self.event)
        known = ~read.missing(0)
        if not known.any():
            raise ValueError(
                f"{data}: the column {self.time!r} must have times; all rows miss it. Check the "
                "column, or leave `time` and `event` out."
            )
        time, *entry = (column.astype(np.float64)[known] for column in read.values)
        given, competing = (*entry, time, event[known]), self.competing
        return read_survival(given, len(time), needs_event=needs_event, competing=competing), known


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
