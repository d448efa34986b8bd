"""Records of how forests were grown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints64
from bevel.extras import import_optional
from bevel.html_table import html_table
from bevel.printable import rounded

__all__ = [
    "BoostingRecord",
    "Calibration",
    "ColumnRecord",
    "FamilyRecord",
    "MemberRecord",
    "RotationRecord",
    "conformal_quantile",
    "not_compared",
    "size_note",
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


# How the columns of a table are read: `columns_`.


@dataclass(frozen=True, eq=False)
class ColumnRecord:
    """How a model reads each column of its table.

    Attributes
    ----------
    names : tuple of str
        Printable names of the columns.
    read_as : tuple of str
        What each is to the trees, such as "number", "mean target in each of 812 levels" or
        "left out: free text".
    """

    names: tuple[str, ...]
    read_as: tuple[str, ...]

    def as_dict(self) -> dict[str, str]:
        """What each column is read as, by its name."""
        return dict(zip(self.names, self.read_as, strict=True))

    @property
    def left_out(self) -> dict[str, str]:
        """Why columns are left out, by their names."""
        reasons = {
            name: read_as.partition("left out: ") for name, read_as in self.as_dict().items()
        }
        return {name: reason for name, (_, is_left_out, reason) in reasons.items() if is_left_out}

    def to_pandas(self) -> Any:
        """A frame with a row for each column."""
        pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
        return pandas.DataFrame({"column": self.names, "read as": self.read_as}).set_index("column")

    def __str__(self) -> str:
        width = max(len("column"), *map(len, self.names))
        lines = [("column", "read as"), *zip(self.names, self.read_as, strict=True)]
        return "\n".join(f"{name.ljust(width)}  {read_as}" for name, read_as in lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = list(zip(self.names, self.read_as, strict=True))
        return html_table("", ("column", "read as"), rows)


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
    texts = [name.ljust(_WIDTHS[0]), *(number.rjust(width) for number, width in widths)]
    return "  ".join(texts).rstrip()


# The record of the members of a weighted sum of models: `members_`.


@dataclass(frozen=True, eq=False)
class MemberRecord:
    """The members of a weighted sum of models: losses on rows that none has seen, and weights.

    Attributes
    ----------
    names : tuple of str
        Kinds of the members: "forest" and "boosting".
    n_models : ndarray of shape (n_members,)
        Models of each member, which share its weight equally.
    n_trees : ndarray of shape (n_members,)
        Trees of each member, in all of its models.
    losses : ndarray of shape (n_members,)
        Mean loss of each member: logarithmic loss of classes, squared error of numbers. NaN if
        there were no rows that neither has seen.
    standard_errors : ndarray of shape (n_members,)
        Standard errors of `losses`.
    weights : ndarray of shape (n_members,)
        Weights, summing to one; a member of weight zero is not kept.
    loss : float
        Mean loss of the weighted mean on the rows that chose the weights.
    loss_name : str
        Name of the loss.
    n_rows : int
        Rows that the losses are of.
    quality : int
        The step of `quality` that the model was fitted with.
    """

    names: tuple[str, ...]
    n_models: Ints64
    n_trees: Ints64
    losses: Floats
    standard_errors: Floats
    weights: Floats
    loss: float
    loss_name: str
    n_rows: int
    quality: int

    def rows(self) -> list[tuple[str, int, int, float, float, float]]:
        """Name, models, trees, loss, its standard error and weight of each member."""
        columns = (self.n_models, self.n_trees, self.losses, self.standard_errors, self.weights)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        return [(name, *each) for name, each in zip(self.names, numbers, strict=True)]

    def as_dict(self) -> dict[str, Any]:
        """The record as plain values by name, for documents; an unknown loss is None."""
        keys = ("member", "n_models", "n_trees", "loss", "standard_error", "weight")
        return {
            "members": [
                {key: None if each != each else each for key, each in zip(keys, row, strict=True)}
                for row in self.rows()
            ],
            "loss": None if self.loss != self.loss else self.loss,
            "loss_name": self.loss_name,
            "n_rows": self.n_rows,
            "quality": self.quality,
        }

    def to_pandas(self) -> Any:
        """A frame with a row for each member."""
        pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
        columns = ["member", "models", "trees", "loss", "standard_error", "weight"]
        return pandas.DataFrame(self.rows(), columns=columns).set_index("member")

    def __str__(self) -> str:
        lines = [self._head(), *self._cells()]
        return "\n".join([*(_line(cells) for cells in lines), *self.notes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table("", self._head(), self._cells(), self.notes())

    def _head(self) -> tuple[str, ...]:
        return ("member", self.loss_name, "standard error", "weight", "trees")

    def _cells(self) -> list[tuple[str, ...]]:
        cells = [
            _cells((name, loss, noise, weight, n_trees))
            for name, _, n_trees, loss, noise, weight in self.rows()
        ]
        if self.n_rows:
            cells.append(("together", rounded(self.loss, 4), "", "", ""))
        return cells

    def notes(self) -> list[str]:
        """What the losses are of, and which members are not kept or are several models."""
        own = f"losses of the {self.n_rows:,} rows that neither member was fitted on"
        none = "not compared: too few rows to hold any out; the weights are fixed"
        several = [
            f"{name} is the mean of {count} models of different seeds"
            for name, count in zip(self.names, self.n_models.tolist(), strict=True)
            if count > 1
        ]
        dropped = [
            f"{name} is not kept: its weight is 0"
            for name, weight in zip(self.names, self.weights.tolist(), strict=True)
            if weight == 0.0
        ]
        return [own if self.n_rows else none, *several, *dropped]


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
