"""Reads censored targets: time, event and optional entry time of each row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.tables import fill_masked
from bevel.errors import join_names, shorten

__all__ = ["MAX_TIME", "SurvivalTarget", "read_survival", "survival_array"]

MAX_TIME = 1e60
MAX_CAUSES = 255
FORMS = (
    "a structured array with a boolean field (event) and a numeric one (time), a tuple "
    "(time, event) or (entry, time, event) of arrays, or a data frame with the columns time and "
    "event"
)
REMEDY = "Write for example y = (time, event), with event True where the event was seen."


@dataclass(frozen=True, eq=False)
class SurvivalTarget:
    """Right-censored times.

    Attributes
    ----------
    time : ndarray of float64, shape (n,)
        Time until the event, or until the row was last seen without it.
    event : ndarray of bool, shape (n,)
        Whether the event was seen.
    entry : ndarray of float64, shape (n,), or None
        Time from which a row is seen (left truncation), below its time; None: from the start.
    cause : ndarray of uint8, shape (n,), or None
        Number of the event's cause among competing risks, from 1 on, 0 for none; None: one cause.
    """

    time: Floats
    event: npt.NDArray[np.bool_]
    entry: Floats | None = None
    cause: npt.NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, rows: Any) -> SurvivalTarget:
        return SurvivalTarget(
            self.time[rows],
            self.event[rows],
            None if self.entry is None else self.entry[rows],
            None if self.cause is None else self.cause[rows],
        )

    def where_seen(self, seen: npt.NDArray[np.bool_]) -> SurvivalTarget:
        """Return these times with the events of the chosen rows only."""
        cause = None if self.cause is None else np.where(seen, self.cause, 0).astype(np.uint8)
        return SurvivalTarget(self.time, self.event & seen, self.entry, cause)

    def at_risk(self, time: float) -> npt.NDArray[np.bool_]:
        """Rows that are seen without an event just before a time."""
        still: npt.NDArray[np.bool_] = self.time >= time
        return still if self.entry is None else still & (self.entry < time)

    @property
    def n_causes(self) -> int:
        """Kinds of events."""
        return 1 if self.cause is None else max(1, int(self.cause.max()))

    @cached_property
    def event_times(self) -> Floats:
        """The distinct times at which events were seen, ascending."""
        times: Floats = np.unique(self.time[self.event])
        return times


def survival_array(time: Any, event: Any, entry: Any = None) -> npt.NDArray[Any]:
    """Times and events as one structured array, as scikit-survival has them.

    Parameters
    ----------
    time : array-like of shape (n,)
        Times until the event, or until the row was last seen without it.
    event : array-like of shape (n,)
        True where the event was seen, False where the time is censored; with competing risks the
        number of its cause, or 0.
    entry : array-like of shape (n,), default=None
        Times from which rows are seen; None for rows that are seen from the start.

    Returns
    -------
    ndarray of shape (n,)
        Array with the fields event and time, and entry if given, which can be indexed by rows, as
        cross-validation does.
    """
    parts = (time, event) if entry is None else (entry, time, event)
    target = read_survival(parts, None, competing=np.asarray(event).dtype.kind in "iu")
    fields: dict[str, npt.NDArray[Any]] = {"event": target.event, "time": target.time}
    if target.cause is not None and target.n_causes > 1:
        fields["event"] = target.cause
    if target.entry is not None:
        fields["entry"] = target.entry
    out = np.empty(len(target), dtype=[(name, each.dtype) for name, each in fields.items()])
    for name, each in fields.items():
        out[name] = each
    return out


def read_survival(
    y: Any, n_rows: int | None, *, needs_event: bool = False, competing: bool = False
) -> SurvivalTarget:
    """Read and check a target.

    Parameters
    ----------
    y : structured array, tuple of two arrays, or data frame
        Target in one of the `FORMS`.
    n_rows : int or None
        Rows of X; None accepts any number.
    needs_event : bool, default=False
        Raise if no event was seen.
    competing : bool, default=False
        Whether events may be numbers of causes.
    """
    if isinstance(y, SurvivalTarget):
        target = y
    else:
        entry, time, event = _parts(y, competing)
        times, cause = _read_time(time), _read_cause(event) if competing else None
        seen = _read_event(event) if cause is None else cause > 0
        target = SurvivalTarget(times, seen, _read_entry(entry, times), cause)
    if len(target.time) != len(target.event):
        raise ValueError(
            f"y must have one event for each time; got {len(target.time)} times and "
            f"{len(target.event)} events. {REMEDY}"
        )
    if n_rows is not None and len(target) != n_rows:
        raise ValueError(
            f"y must have one value for each of the {n_rows} rows of X; got {len(target)}: "
            "inconsistent numbers of samples. Pass the y that belongs to X."
        )
    if needs_event and not target.event.any():
        raise ValueError(
            f"y must have a row whose event was seen; got {len(target)} censored rows only, from "
            "which no hazard can be estimated. Check that event is True where the event was seen."
        )
    return target


def _parts(y: Any, competing: bool) -> tuple[Any, Any, Any]:
    """Entries or None, times and events, not yet checked."""
    if isinstance(y, tuple | list) and len(y) in (2, 3) and all(np.ndim(each) == 1 for each in y):
        parts = [fill_masked(each) for each in y]
        return (None, parts[0], parts[1]) if len(y) == 2 else (parts[0], parts[1], parts[2])
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None:
        return _columns(
            {name: np.asarray(fill_masked(y[name])) for name in names}, "field", competing
        )
    frame = nw.from_native(y, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = {name: frame[name].to_numpy() for name in frame.columns}
        return _columns(columns, "column", competing)
    got = f"an array of shape {np.shape(y)}" if hasattr(y, "shape") else shorten(y)
    raise ValueError(f"y must be {FORMS}; got {got}. {REMEDY}")


def _columns(
    columns: dict[str, npt.NDArray[Any]], word: str, competing: bool
) -> tuple[Any, Any, Any]:
    known = {name.lower(): name for name in columns}
    entry = columns.pop(known["entry"]) if "entry" in known and len(columns) == 3 else None
    by_name = competing or word == "column"  # scikit-survival identifies fields by their types
    if by_name and "time" in known and "event" in known and len(columns) == 2:
        return entry, columns[known["time"]], columns[known["event"]]
    return (entry, *_fields(columns, word))


def _fields(fields: dict[str, npt.NDArray[Any]], word: str) -> tuple[Any, Any]:
    """Tell the numeric from the boolean of two fields."""
    flags = [name for name, values in fields.items() if values.dtype.kind == "b"]
    others = [name for name in fields if name not in flags]
    if len(flags) != 1 or len(others) != 1:
        kinds = join_names([f"{name} ({values.dtype})" for name, values in fields.items()])
        raise ValueError(
            f"y must have one boolean {word}, the event, and one numeric {word}, the time; got "
            f"{kinds}. Convert the event to boolean, or write y = (time, event)."
        )
    return fields[others[0]], fields[flags[0]]


def _read_entry(values: Any, time: Floats) -> Floats | None:
    """Entry times of the rows; None if all are seen from the start."""
    if values is None:
        return None
    _refuse_units(np.asarray(values), "entries")
    try:
        entry = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"The entries of y must be numbers; got {shorten(values)}. Write for example "
            "y = (entry, time, event)."
        ) from None
    if len(entry) != len(time):
        raise ValueError(
            f"y must have one entry for each time; got {len(entry)} entries and {len(time)} times. "
            "Write for example y = (entry, time, event)."
        )
    wrong = np.flatnonzero(~((entry >= 0.0) & (entry < time)))
    if len(wrong):
        row = wrong[0]
        raise ValueError(
            f"The entries of y must be 0 or more and below the times; got {entry[row]:g} at time "
            f"{time[row]:g} (row index {row}) in {len(wrong)} of {len(time)} rows. A row that has "
            "entered after its time was never seen: drop it."
        )
    return entry if (entry > 0.0).any() else None


def _read_cause(values: Any) -> npt.NDArray[np.uint8]:
    cause = np.asarray(values)
    good = cause.dtype.kind in "biuf" and bool(
        ((cause >= 0) & (cause <= MAX_CAUSES) & (cause == np.floor(cause))).all()
    )
    if not good:
        raise ValueError(
            f"The events of competing risks must be whole numbers from 0 (censored) to "
            f"{MAX_CAUSES}, 1 for the first cause; got {shorten(values)}. Number the causes."
        )
    return np.ascontiguousarray(cause, dtype=np.uint8)


def _read_time(values: Any) -> Floats:
    time = np.asarray(values)
    _refuse_units(time, "times")
    try:
        if time.dtype.kind in "bc":
            raise TypeError("no time")
        time = np.array(time, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"The times of y must be numbers; got {shorten(values)} ({time.dtype}). {REMEDY}"
        ) from None
    wrong = np.flatnonzero(~((time > 0.0) & (time <= MAX_TIME)))
    if len(wrong):
        raise ValueError(
            f"The times of y must be above 0 and at most {MAX_TIME:g}; got "
            f"{time[wrong[0]]:g} (row index {wrong[0]}) in {len(wrong)} of {len(time)} rows. Drop "
            "these rows, or measure time from an earlier origin."
        )
    return np.ascontiguousarray(time)


def _refuse_units(values: npt.NDArray[Any], word: str) -> None:
    """Raise for dates and durations, whose numbers depend on the unit they are stored in."""
    if values.dtype.kind == "m":
        remedy = 'Choose a unit, for example time / np.timedelta64(1, "D").'
    elif values.dtype.kind == "M":
        remedy = 'Subtract the start, for example (time - start) / np.timedelta64(1, "D").'
    else:
        return
    raise ValueError(f"The {word} of y must be numbers; got {values.dtype}. {remedy}")


def _read_event(values: Any) -> npt.NDArray[np.bool_]:
    event = np.asarray(values)
    if event.dtype.kind == "O" and all(isinstance(each, bool | np.bool_) for each in event):
        event = event.astype(bool)
    if event.dtype.kind in "iuf" and np.isin(event, (0, 1)).all():
        event = event.astype(bool)
    if event.dtype.kind != "b":
        present = np.unique(event[:1000].astype(str))
        raise ValueError(
            "The events of y must be True (seen) or False (censored), or 1 and 0; got "
            f"{join_names([str(each) for each in present])} ({event.dtype}). Convert them, for "
            "example event == 2 where 2 stands for the event; causes that compete need "
            "competing_risks=True."
        )
    return np.ascontiguousarray(event)
