"""Sources of the rows of a scanned table, each of which can be read more than once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from bevel.data.tables import read_table
from bevel.errors import shorten

__all__ = ["ArraySource", "Batch", "BatchSource", "Source", "changed"]

# Rows of a slice of arrays.
SLICE_ROWS = 2**16


class Batch(NamedTuple):
    """A batch of rows.

    Attributes
    ----------
    X : array or data frame
        Rows as estimators take them.
    y : array-like
        Targets.
    weights : array-like or None
        Weights; None when all are one.
    """

    X: Any
    y: Any
    weights: Any = None


class Source(Protocol):
    """Interface of every source."""

    def batches(self) -> Iterator[Batch]:
        """All rows, from the first on."""
        ...

    def n_rows(self) -> int | None:
        """Number of rows; None if it is not known before they are read."""
        ...

    def fingerprint(self) -> str | None:
        """A text that changes when the rows do; None if there is none."""
        ...


def changed(got: str) -> ValueError:
    """Error for a table whose second pass differs from the first."""
    return ValueError(
        "The table must not change while it is read: both passes over it must bring the same rows; "
        f"got {got}. Fit again when the files are complete; a function must yield the same batches "
        "at each call."
    )


class ArraySource:
    """Arrays or data frames in memory, or memory-mapped."""

    def __init__(self, X: Any, y: Any, weights: Any = None) -> None:
        self._X, self._y, self._weights = X, y, weights
        n_rows = len(X) if hasattr(X, "__len__") else X.shape[0]
        for name, values in (("target", y), ("weight", weights)):
            if values is not None and len(values) != n_rows:
                raise ValueError(
                    f"{name} must have one value for each of the {n_rows} rows; got {len(values)}. "
                    f"Pass the {name} that belongs to the rows."
                )
        self._n_rows = n_rows

    def batches(self) -> Iterator[Batch]:
        """Slices of the arrays."""
        frame = None if isinstance(self._X, np.ndarray) else read_table(self._X).native
        X = self._X if frame is None else frame
        for start in range(0, self._n_rows, SLICE_ROWS):
            rows = slice(start, min(start + SLICE_ROWS, self._n_rows))
            weights = None if self._weights is None else _some(self._weights, rows)
            yield Batch(_some(X, rows), _some(self._y, rows), weights)

    def n_rows(self) -> int | None:
        """Rows of the arrays."""
        return self._n_rows

    def fingerprint(self) -> str | None:
        """None, since arrays may be changed in place."""
        return None


class BatchSource:
    """Batches from a function that starts again at each call, or from such an iterable."""

    def __init__(self, source: Callable[[], Iterable[Any]] | Iterable[Any]) -> None:
        if isinstance(source, Iterator):
            raise TypeError(
                "source must be read twice: pass a function that returns a new iterator of "
                f"batches, or a list of them; got {shorten(source)} of type "
                f"{type(source).__name__}, which can be read once. Pass for example "
                "lambda: make_batches()."
            )
        self._source = source

    def batches(self) -> Iterator[Batch]:
        """Batches that the function yields: (X, y) or (X, y, weights)."""
        items = self._source() if callable(self._source) else self._source
        for item in items:
            if not isinstance(item, tuple) or len(item) not in (2, 3):
                raise TypeError(
                    "batches must be tuples (X, y) or (X, y, weights); got "
                    f"{shorten(item)} of type {type(item).__name__}. Yield such tuples."
                )
            batch = Batch(*item)
            if len(batch.y):
                yield batch

    def n_rows(self) -> int | None:
        """None, since it is not known before the function is called."""
        return None

    def fingerprint(self) -> str | None:
        """None, since it is not known before the function is called."""
        return None


def _some(values: Any, rows: slice) -> Any:
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "num_rows"):  # a pyarrow table
        return values.slice(rows.start, rows.stop - rows.start)
    return values[rows]
