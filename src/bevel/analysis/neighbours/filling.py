"""Imputes missing values of a column by weighted means and votes of its known values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel._types import Array, Floats
from bevel.analysis.rules.original_columns import commonest, missing_in
from bevel.data.nominal import learn_levels

__all__ = ["KnownColumn", "learn_known"]


class KnownColumn(Protocol):
    """A column whose known values fill missing ones."""

    @property
    def rough(self) -> Any:
        """Imputed value that does not depend on rows."""
        ...

    def estimate(self, weights: sp.csr_array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Value for each row of weights of the column's rows, and whether any of them is known."""
        ...

    def change(self, before: Array, after: Array) -> float:
        """Sum of the differences between two fillings, in units that compare over columns."""
        ...


@dataclass(frozen=True, eq=False)
class KnownNumbers:
    """A numeric column, imputed by the weighted mean."""

    rough: float  # the median
    offset: Floats  # known values minus the median, 0 where missing
    present: Floats  # 1 if known, else 0
    spread: float

    def estimate(self, weights: sp.csr_array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Weighted mean of the known values."""
        weight = weights @ self.present
        is_known = weight > 0.0
        mean = np.divide(weights @ self.offset, weight, out=np.zeros_like(weight), where=is_known)
        return self.rough + mean, is_known

    def change(self, before: Array, after: Array) -> float:
        """Sum of the absolute differences, in standard deviations of the known values."""
        return float(np.abs(after - before).sum()) / self.spread if self.spread > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """A nominal column, imputed by the weighted vote."""

    rough: Any  # the most frequent label
    labels: npt.NDArray[np.object_]
    votes: sp.csr_array  # rows x labels: 1 for the label a row has

    def estimate(self, weights: sp.csr_array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Label of the largest weight; ties go to the first label."""
        shares = (weights @ self.votes).toarray()
        return self.labels[shares.argmax(axis=1)], shares.max(axis=1) > 0.0

    def change(self, before: Array, after: Array) -> float:
        """Number of labels that differ."""
        return float(np.count_nonzero(after != before))


def learn_known(column: Array, name: str) -> KnownColumn:
    """Known values of a column; `name` is the column's, for messages."""
    present = ~missing_in(column)
    if not present.any():
        raise ValueError(
            f"A column to impute must have a value; got none in column {name}. Drop the column."
        )
    if column.dtype.kind != "O":
        known = column[present]
        if np.isinf(known).any():
            raise ValueError(
                f"Numbers to impute from must be finite; got infinity in column {name}. Make it "
                "missing, or a large number."
            )
        median = float(np.median(known))
        offset = np.where(present, column - median, 0.0)
        return KnownNumbers(median, offset, present.astype(np.float64), float(known.std()))
    labels = learn_levels(column[present], name)
    codes = labels.encode(column[present], name).astype(np.intp)
    shape = (len(column), len(labels.labels))
    votes = sp.csr_array((np.ones(len(codes)), (np.flatnonzero(present), codes)), shape=shape)
    return KnownLabels(commonest(column[present]), labels.labels, votes)
