"""Records of how forests were grown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints64
from bevel.extras import import_optional
from bevel.forest.flat_forest import FlatForest
from bevel.forest.task import average_path_length
from bevel.html_table import html_table
from bevel.printable import rounded

__all__ = [
    "BoostingRecord",
    "Calibration",
    "FamilyRecord",
    "RotationRecord",
    "check_curves",
    "conformal_quantile",
    "not_compared",
    "size_note",
    "with_path_lengths",
]

# The record of a boosting fit: the learning curve, and residuals of the validation rows.


@dataclass(frozen=True, eq=False)
class Calibration:
    """Residuals of the validation rows, from which intervals follow.

    Attributes
    ----------
    residuals : ndarray of float64, shape (n_validation, 1 or 2)
        Target minus prediction over the prediction's spread; for models of several quantiles the
        lowest quantile minus the target, and the target minus the highest.
    weights : ndarray of float64, shape (n_validation,), or None
        Weights of the rows; None if all are one.
    power : float
        The spread is the prediction to this power: 0 for values, 0.5 for counts, 1 for positive
        numbers whose spread grows with them.
    """

    residuals: Floats
    weights: Floats | None
    power: float

    def spread(self, predictions: Floats) -> Floats:
        """Divisor of the residuals at each prediction."""
        return np.asarray(np.maximum(predictions, 1e-300) ** self.power)

    def around(self, predictions: Floats, coverage: float) -> Floats:
        """Interval around predictions of a mean or median, shape (n_rows, 2).

        Each end leaves out half of the remaining probability: residuals need not be symmetric.
        """
        tail = (1.0 + coverage) / 2.0
        upper = conformal_quantile(self.residuals[:, 0], self.weights, tail)
        lower = conformal_quantile(-self.residuals[:, 0], self.weights, tail)
        spread = self.spread(predictions)
        ends = np.column_stack([predictions - lower * spread, predictions + upper * spread])
        return np.maximum(ends, 0.0) if self.power else ends

    def between(self, lowest: Floats, highest: Floats, coverage: float) -> Floats:
        """Interval from the outer quantiles (Romano, Patterson, Candès 2019), shape (n_rows, 2)."""
        beyond = conformal_quantile(self.residuals.max(axis=1), self.weights, coverage)
        ends = np.column_stack([lowest - beyond, highest + beyond])
        # A negative correction may swap the ends of a narrow interval.
        middle = ends.mean(axis=1)
        ends[:, 0], ends[:, 1] = np.minimum(ends[:, 0], middle), np.maximum(ends[:, 1], middle)
        return ends


def conformal_quantile(scores: Floats, weights: Floats | None, share: float) -> float:
    """The smallest score that a new one does not exceed with probability `share`.

    The new row counts as one more row, whose score is infinite: with n equal weights this is the
    score of rank ceil(share * (n + 1)). Infinite if there are too few rows.

    Parameters
    ----------
    scores : ndarray of float64
        Scores of the validation rows.
    weights : ndarray of float64 or None
        Weights of the validation rows; the new row has the largest.
    share : float
        Probability between 0 and 1.
    """
    order = np.argsort(scores, kind="stable")
    own = np.ones(len(scores)) if weights is None else weights[order]
    total = own.sum() + own.max()
    # Rounding must not cost a rank.
    rank = int(np.searchsorted(np.cumsum(own), share * total * (1.0 - 1e-12)))
    return float(scores[order[rank]]) if rank < len(scores) else np.inf


@dataclass(frozen=True, eq=False)
class BoostingRecord:
    """Learning curve and validation residuals of a boosting fit.

    Attributes
    ----------
    training_score : ndarray of float64
        Minus the mean loss on the training rows, after each iteration.
    validation_score : ndarray of float64
        Minus the mean loss on the validation rows; empty if there were none.
    calibration : Calibration or None
        Residuals of a regressor that had validation rows.
    """

    training_score: Floats
    validation_score: Floats
    calibration: Calibration | None = None


# The record of the families that share the trees of a forest: `families_`.


@dataclass(frozen=True, eq=False)
class FamilyRecord:
    """The families of directions that share the trees of a forest, and their errors.

    Attributes
    ----------
    names : tuple of str
        Names of the families.
    errors : ndarray of shape (n_families,)
        Out-of-bag error of each micro-forest: share of wrong rows, or mean loss of the criterion.
        NaN if there were no out-of-bag rows, too few trees for micro-forests, or nothing to
        compare.
    standard_errors : ndarray of shape (n_families,)
        Standard errors of `errors`.
    weights : ndarray of shape (n_families,)
        Share of trees that each family was to have, summing to one.
    of_tree : ndarray of int32, shape (n_trees,)
        Family of each tree.
    left_out : tuple of (str, str)
        Families that do not fit the table, and why.
    min_samples_split : int
        Distinct rows that a node needs to be split, in all families.
    """

    names: tuple[str, ...]
    errors: Floats
    standard_errors: Floats
    weights: Floats
    of_tree: npt.NDArray[np.int32]
    left_out: tuple[tuple[str, str], ...] = ()
    min_samples_split: int = 2

    @property
    def n_trees(self) -> Ints64:
        """Trees of each family."""
        return np.bincount(self.of_tree, minlength=len(self.names))

    def with_trees(self, of_tree: npt.NDArray[np.int32]) -> FamilyRecord:
        """The record of a forest with other trees of the same families."""
        return replace(self, of_tree=of_tree)

    def rows(self) -> list[tuple[str, float, float, float, int]]:
        """Name, error, its standard error, weight and trees of each family."""
        columns = (self.errors, self.standard_errors, self.weights, self.n_trees)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        return [(name, *each) for name, each in zip(self.names, numbers, strict=True)]

    def as_dict(self) -> dict[str, Any]:
        """The record as plain values by name, for documents; an unknown error is None."""
        keys = ("family", "error", "standard_error", "weight", "n_trees")
        return {
            "families": [
                {key: None if each != each else each for key, each in zip(keys, row, strict=True)}
                for row in self.rows()
            ],
            "left_out": dict(self.left_out),
            "min_samples_split": self.min_samples_split,
        }

    def to_pandas(self) -> Any:
        """A frame with a row for each family."""
        pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
        columns = ["family", "oob_error", "standard_error", "weight", "trees"]
        return pandas.DataFrame(self.rows(), columns=columns).set_index("family")

    def __str__(self) -> str:
        return "\n".join([_line(HEAD), *(_line(_cells(row)) for row in self.rows()), *self.notes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table("", HEAD, [_cells(row) for row in self.rows()], self.notes())

    def notes(self) -> list[str]:
        """A line for each family that was left out, and others if there is something to say."""
        alike = [] if not np.isnan(self.errors).all() else [not_compared(len(self.names))]
        sizes = [size_note(self.min_samples_split)] if self.min_samples_split > 2 else []
        left_out = [f"left out: {name} ({reason})" for name, reason in self.left_out]
        return [*alike, *sizes, *left_out]


def size_note(min_samples_split: int) -> str:
    """Explain the limit on the nodes that are split."""
    return f"nodes of fewer than {min_samples_split} rows are not split (min_samples_split)"


def not_compared(n_families: int) -> str:
    """Explain why families have no out-of-bag errors."""
    if n_families == 1:
        return "not compared: it is the only family that fits the table"
    return "not compared: too few trees, or no out-of-bag rows; families share the trees alike"


HEAD = ("family", "out-of-bag error", "standard error", "weight", "trees")
_WIDTHS = (12, 16, 14, 6, 5)


def _cells(row: tuple[str, float, float, float, int]) -> tuple[str, ...]:
    name, error, standard_error, weight, n_trees = row
    numbers = (rounded(error, 4), rounded(standard_error, 2)) if error == error else ("–", "–")
    return (name, *numbers, f"{weight:.2f}", str(n_trees))


def _line(cells: tuple[str, ...]) -> str:
    name, *numbers = cells
    widths = zip(numbers, _WIDTHS[1:], strict=True)
    return "  ".join([name.ljust(_WIDTHS[0]), *(number.rjust(width) for number, width in widths)])


# Isolation forests: leaves hold path lengths.


def with_path_lengths(forest: FlatForest, n_samples: int) -> FlatForest:
    """Return a forest of these trees with the path length of each leaf as its value.

    The path length is the depth of the leaf plus the expected depth of a tree of its rows. A leaf
    has as many of the `n_samples` rows of a tree as its share of their weight.
    """
    values = np.zeros(forest.n_nodes)
    leaves = forest.right < 0
    weight = np.asarray(forest.weight, dtype=np.float64)
    of_tree = np.repeat(weight[forest.tree_offset[:-1]], np.diff(forest.tree_offset))
    n_rows = n_samples * weight[leaves] / of_tree[leaves]
    values[leaves] = forest.depth[leaves] + average_path_length(n_rows)
    return replace(forest, leaf_value=values)


@dataclass(frozen=True, eq=False)
class RotationRecord:
    """The rotations of an ensemble, the identity first, with their errors and weights.

    Attributes
    ----------
    seed : int
        Seed that they are drawn from.
    max_rotated : int
        Features that they rotate together.
    complexities : ndarray of shape (n_rotations,)
        Median complexity of the trees of each micro-forest.
    errors : ndarray of shape (n_rotations,)
        Out-of-bag errors of the micro-forests; NaN where not known, or not requested.
    weights : ndarray of shape (n_rotations,)
        Share of trees that each rotation was to have.
    h : float or None
        The tuning parameter of the weights.
    of_tree : ndarray of int32, shape (n_trees,)
        Rotation of each tree.
    """

    seed: int
    max_rotated: int
    complexities: Floats
    errors: Floats
    weights: Floats
    h: float | None
    of_tree: npt.NDArray[np.int32]

    @property
    def n_rotations(self) -> int:
        return len(self.complexities)

    @property
    def n_trees(self) -> npt.NDArray[np.int64]:
        """Trees on each rotation."""
        return np.bincount(self.of_tree, minlength=self.n_rotations)


# The times that the leaves of a survival forest refer to.

ROUNDING = 1e-5  # rounding error of sums of jumps in float32


def check_curves(forest: FlatForest, n_times: int, n_causes: int = 1) -> None:
    """Raise ValueError unless leaves have valid entries for these numbers of times and causes."""
    if forest.n_classes:
        return
    is_leaf = np.repeat(forest.right < 0, np.diff(forest.entry_offset))
    numbers = forest.entry_index[is_leaf]
    most = n_times * n_causes
    if len(numbers) and numbers.max() >= most:
        required = f"event times from 0 to {most - 1}" if most else "no entries"
        raise ValueError(f"The leaves of the forest must have {required}; got {numbers.max()}.")
    if n_causes == 1 or not len(numbers):
        return
    node = np.repeat(np.arange(forest.n_nodes), np.diff(forest.entry_offset))[is_leaf]
    first = np.flatnonzero(np.diff(node * n_times + numbers // n_causes, prepend=-1))
    total = np.add.reduceat(forest.entry_weight[is_leaf].astype(np.float64), first).max()
    if not total <= 1.0 + ROUNDING:
        raise ValueError(
            f"The hazards of all causes must jump by at most 1 at a time; got {total:g}."
        )
