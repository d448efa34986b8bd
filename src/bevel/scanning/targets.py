"""Surveys targets and weights in the first pass, and encodes them in the second."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.masks import fill_masked
from bevel.data.row_weights import (
    LARGEST_WEIGHT,
    SMALLEST_SHARE,
    SMALLEST_WEIGHT,
    check_class_weight,
    settle_weights,
)
from bevel.data.target import MOST_CLASSES, read_labels, read_numbers
from bevel.errors import shorten
from bevel.scanning.batches import changed

__all__ = ["ClassSurvey", "NumberSurvey", "TargetSurvey", "WeightSurvey", "rows_from"]

MOST_WHOLE_WEIGHT = 255.0  # larger weights are rounded to a grid, like real ones


def rows_from(error: ValueError, first_row: int) -> ValueError:
    """Error of a batch, with the row at which the batch begins."""
    return ValueError(f"{error} Rows are counted from row {first_row} of the table.")


class TargetSurvey(Protocol):
    """Survey of targets of one kind."""

    n_classes: int

    def add(self, y: Any, n_rows: int, first_row: int) -> None:
        """Add the targets of a batch."""
        ...

    def check(self) -> None:
        """Raise if the targets of all batches are invalid."""
        ...

    def encode(self, y: Any, n_rows: int, first_row: int) -> npt.NDArray[Any]:
        """Targets of a batch as the core reads them."""
        ...


class ClassSurvey:
    """Classes and how many rows have each."""

    def __init__(self) -> None:
        self._counts: dict[Any, int] = {}
        self._dtypes: list[np.dtype[Any]] = []
        self.classes: npt.NDArray[Any] = np.empty(0)
        self.n_classes = 0

    def add(self, y: Any, n_rows: int, first_row: int) -> None:
        """Collect the labels of a batch."""
        labels, codes = self._read(y, n_rows, first_row)
        kinds = {_kind(dtype) for dtype in (*self._dtypes, labels.dtype)}
        if len(kinds) > 1:
            raise ValueError(
                f"y must hold labels of one type in all batches; got {' and '.join(sorted(kinds))} "
                f"(from row {first_row} on). Convert the labels."
            )
        if labels.dtype not in self._dtypes:
            self._dtypes.append(labels.dtype)
        counts = np.bincount(codes, minlength=len(labels))
        for label, count in zip(labels.tolist(), counts.tolist(), strict=True):
            self._counts[label] = self._counts.get(label, 0) + count
        if len(self._counts) > MOST_CLASSES:
            raise ValueError(
                f"y must have at most {MOST_CLASSES:,} classes; got more in {first_row + n_rows:,} "
                "rows. If y is a quantity, use ObliqueForestRegressor; else join rare classes."
            )

    def _read(
        self, y: Any, n_rows: int, first_row: int
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
        try:
            return read_labels(y, n_rows)
        except ValueError as error:
            raise rows_from(error, first_row) from error

    def check(self) -> None:
        """Sort the classes."""
        dtype = np.result_type(*self._dtypes) if _kind(self._dtypes[0]) != "objects" else object
        labels = np.empty(len(self._counts), dtype=dtype)
        labels[:] = list(self._counts)
        self.classes = np.unique(labels)
        self.n_classes = len(self.classes)

    def counts(self) -> npt.NDArray[np.int64]:
        """Rows of each class."""
        return np.array([self._counts[label] for label in self.classes.tolist()])

    def encode(self, y: Any, n_rows: int, first_row: int) -> npt.NDArray[np.int32]:
        """Positions of the labels among the classes."""
        labels, codes = self._read(y, n_rows, first_row)
        place = np.searchsorted(self.classes, labels)
        known = place < len(self.classes)
        known[known] = self.classes[place[known]] == labels[known]
        if not known.all():
            new = shorten(labels[~known].tolist()[0])
            raise changed(f"the new label {new} in the second (from row {first_row} on)")
        return place.astype(np.int32)[codes]

    def weights_of_classes(self, class_weight: Any) -> Floats | None:
        """Weight of each class by the parameter `class_weight`; None when all are one."""
        if class_weight is None:
            return None
        if isinstance(class_weight, Mapping):
            labels = self.classes.tolist()
            check_class_weight(class_weight, set(labels))
            given = {label: float(weight) for label, weight in class_weight.items()}
            weights = np.array([given.get(label, 1.0) for label in labels])
            return settle_weights(weights, "class_weight")
        counts = self.counts()
        return np.asarray(counts.sum() / (len(counts) * counts))


class NumberSurvey:
    """The range of the targets of a regression."""

    n_classes = 0

    def __init__(self) -> None:
        self.low, self.high = np.inf, -np.inf

    def add(self, y: Any, n_rows: int, first_row: int) -> None:
        """Widen the range."""
        numbers = self._read(y, n_rows, first_row)
        self.low = min(self.low, float(numbers.min()))
        self.high = max(self.high, float(numbers.max()))

    def check(self) -> None:
        """Do nothing: every range is valid."""

    def encode(self, y: Any, n_rows: int, first_row: int) -> npt.NDArray[np.float64]:
        """Targets as floats."""
        numbers = self._read(y, n_rows, first_row)
        if not (numbers.min() >= self.low and numbers.max() <= self.high):
            raise changed(f"a target beyond their range in the second (from row {first_row} on)")
        return numbers

    def _read(self, y: Any, n_rows: int, first_row: int) -> npt.NDArray[np.float64]:
        try:
            return read_numbers(y, n_rows)
        except ValueError as error:
            raise rows_from(error, first_row) from error


class WeightSurvey:
    """The largest weight, and whether all are whole numbers."""

    def __init__(self) -> None:
        self.given = False
        self.whole = True
        self.largest = 1.0

    def add(self, weights: Any, n_rows: int, first_row: int) -> npt.NDArray[np.bool_] | None:
        """Add the weights of a batch; returns which rows have positive weight, None if all do."""
        if weights is None and self.given:
            raise ValueError(
                f"Every batch must have weights if one has; got none from row {first_row} on. "
                "Yield (X, y, weights) for all."
            )
        if weights is None:
            return None
        if not self.given and first_row > 0:
            raise ValueError(
                f"Every batch must have weights if one has; got the first from row {first_row} on. "
                "Yield (X, y, weights) for all."
            )
        values = self._read(weights, n_rows, first_row)
        self.largest = max(self.largest if self.given else 0.0, float(values.max()))
        self.given = True
        self.whole &= _are_whole(values)
        return None if values.all() else values > 0.0

    def _read(self, weights: Any, n_rows: int, first_row: int) -> Floats:
        values = np.asarray(fill_masked(weights))
        if values.shape != (n_rows,) or values.dtype.kind not in "fiubO":
            raise ValueError(
                f"Weights must be numbers, one for each of the {n_rows} rows of a batch; got shape "
                f"{values.shape} of {values.dtype} from row {first_row} on. Pass the weights that "
                "belong to the rows."
            )
        numbers = values.astype(np.float64)
        wrong = np.flatnonzero(~((numbers >= 0.0) & np.isfinite(numbers)))
        if len(wrong):
            raise ValueError(
                f"Weights must be finite numbers of at least 0; got {numbers[wrong[0]]:g} (row "
                f"{first_row + wrong[0]}). Drop these rows, or give them weight 0."
            )
        return numbers

    def check(self) -> None:
        """Raise if no row has positive weight, or sums would overflow."""
        if not SMALLEST_WEIGHT <= self.largest <= LARGEST_WEIGHT:
            raise ValueError(
                f"Weights must have a largest one from {SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}; "
                f"got {self.largest:g}. Divide all weights by the largest, or leave them out."
            )

    def encode(self, weights: Any, n_rows: int, first_row: int) -> Floats | None:
        """Weights of a batch; tiny ones are raised to the smallest that count."""
        where = f"in the second (from row {first_row} on)"
        if (weights is not None) != self.given:
            raise changed(f"rows {'without' if self.given else 'with'} weights {where}")
        if not self.given:
            return None
        values = self._read(weights, n_rows, first_row)
        if values.max() > self.largest:
            raise changed(f"a weight above the largest {where}")
        if self.whole and not _are_whole(values):
            raise changed(f"the first weight that is no whole number {where}")
        return np.where(values > 0.0, np.maximum(values, SMALLEST_SHARE * self.largest), 0.0)

    def is_whole(self, n_rows: int, largest: float) -> bool:
        """Whether sums of the weights are exact whole numbers."""
        return self.whole and largest <= MOST_WHOLE_WEIGHT and 4.0 * n_rows * largest < 2.0**52


def _are_whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())


def _kind(dtype: np.dtype[Any]) -> str:
    if dtype.kind in "US":
        return "text"
    return "objects" if dtype.kind == "O" else "numbers"
