"""Reads right-censored targets: a time and an event for each row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.errors import join_names, shorten

__all__ = ["LARGEST_TIME", "SurvivalTarget", "read_survival", "survival_array"]

LARGEST_TIME = 1e60
FORMS = (
    "a structured array with a boolean field (event) and a numeric one (time), a tuple "
    "(time, event) of two arrays, or a data frame with the columns time and event"
)
REMEDY = "Write for example y = (time, event), with event True where the event was seen."


@dataclass(frozen=True, eq=False)
class SurvivalTarget:
    """Right-censored times.

    Attributes
    ----------
    time : ndarray of float64, shape (n,)
        Until the event, or until the row was last seen without it.
    event : ndarray of bool, shape (n,)
        Whether the event was seen.
    """

    time: Floats
    event: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, rows: Any) -> SurvivalTarget:
        return SurvivalTarget(self.time[rows], self.event[rows])

    def where_seen(self, seen: npt.NDArray[np.bool_]) -> SurvivalTarget:
        """The same times, with the events of some rows only."""
        return SurvivalTarget(self.time, self.event & seen)

    @cached_property
    def event_times(self) -> Floats:
        """The distinct times at which events were seen, ascending."""
        times: Floats = np.unique(self.time[self.event])
        return times


def survival_array(time: Any, event: Any) -> npt.NDArray[Any]:
    """Times and events as one structured array, as scikit-survival has them.

    Parameters
    ----------
    time : array-like of shape (n,)
        Until the event, or until the row was last seen without it.
    event : array-like of shape (n,)
        True where the event was seen, False where the time is censored.

    Returns
    -------
    ndarray of shape (n,)
        With the fields event and time, which can be indexed by rows, as cross-validation does.
    """
    target = read_survival((time, event), None)
    out = np.empty(len(target), dtype=[("event", bool), ("time", float)])
    out["event"], out["time"] = target.event, target.time
    return out


def read_survival(y: Any, n_rows: int | None, *, needs_event: bool = False) -> SurvivalTarget:
    """Read and check a target.

    Parameters
    ----------
    y : structured array, tuple of two arrays, or data frame
        See `FORMS`.
    n_rows : int or None
        Rows of X; None if any number will do.
    needs_event : bool, default=False
        Raise if no event was seen.
    """
    if isinstance(y, SurvivalTarget):
        target = y
    else:
        time, event = _parts(y)
        target = SurvivalTarget(_read_time(time), _read_event(event))
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


def _parts(y: Any) -> tuple[Any, Any]:
    """Times and events, not yet checked."""
    if isinstance(y, tuple | list) and len(y) == 2 and all(np.ndim(each) == 1 for each in y):
        return y[0], y[1]
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None:
        return _fields({name: np.asarray(y)[name] for name in names}, "field")
    frame = nw.from_native(y, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = {name: frame[name].to_numpy() for name in frame.columns}
        return _columns(columns)
    got = f"an array of shape {np.shape(y)}" if hasattr(y, "shape") else shorten(y)
    raise ValueError(f"y must be {FORMS}; got {got}. {REMEDY}")


def _columns(columns: dict[str, npt.NDArray[Any]]) -> tuple[Any, Any]:
    by_small_letters = {name.lower(): name for name in columns}
    if "time" in by_small_letters and "event" in by_small_letters and len(columns) == 2:
        return columns[by_small_letters["time"]], columns[by_small_letters["event"]]
    return _fields(columns, "column")


def _fields(fields: dict[str, npt.NDArray[Any]], word: str) -> tuple[Any, Any]:
    """The numeric and the boolean one of two."""
    flags = [name for name, values in fields.items() if values.dtype.kind == "b"]
    others = [name for name in fields if name not in flags]
    if len(flags) != 1 or len(others) != 1:
        kinds = join_names([f"{name} ({values.dtype})" for name, values in fields.items()])
        raise ValueError(
            f"y must have one boolean {word}, the event, and one numeric {word}, the time; got "
            f"{kinds}. Convert the event to boolean, or write y = (time, event)."
        )
    return fields[others[0]], fields[flags[0]]


def _read_time(values: Any) -> Floats:
    time = np.asarray(values)
    if time.dtype.kind == "m":
        raise ValueError(
            f"The times of y must be numbers; got {time.dtype}. Choose a unit, for example "
            'time / np.timedelta64(1, "D").'
        )
    try:
        if time.dtype.kind in "bc":
            raise TypeError("no time")
        time = np.array(time, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"The times of y must be numbers; got {shorten(values)} ({time.dtype}). {REMEDY}"
        ) from None
    wrong = np.flatnonzero(~((time > 0.0) & (time <= LARGEST_TIME)))
    if len(wrong):
        raise ValueError(
            f"The times of y must be above 0 and at most {LARGEST_TIME:g}; got "
            f"{time[wrong[0]]:g} (row index {wrong[0]}) in {len(wrong)} of {len(time)} rows. Drop "
            "these rows, or measure time from an earlier origin."
        )
    return np.ascontiguousarray(time)


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
            "example event == 2 where 2 stands for the event."
        )
    return np.ascontiguousarray(event)
