"""Typical rows and odd ones, by proximity: prototypes of each class, and outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel._types import Floats, Ints64
from bevel.analysis.analysed_forest import AnalysedForest, check_count, read_forest
from bevel.analysis.neighbours.proximity import KINDS, NO_LEAF, LeafTable, read_leaves
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.analysis.rules.conditions import commonest, missing_in, read_columns
from bevel.data.tables import Columns, read_table
from bevel.data.target import read_labels
from bevel.extras import import_optional
from bevel.printable import rounded

__all__ = [
    "OutlierScores",
    "Prototypes",
    "outlier_scores",
    "prototypes",
]

# Prototypes: typical rows of each class, by proximity.

MAX_FEATURES_SHOWN = 6  # features in a printed table


@dataclass(frozen=True, eq=False, repr=False)
class Prototypes(PrintedResult):
    """Typical rows of classes, from `prototypes`, with one entry for each prototype.

    Attributes
    ----------
    labels : ndarray of shape (m,)
        Class of each prototype; those of one class follow each other, the most typical first.
    rows : ndarray of int64, shape (m,)
        Central row of each prototype.
    members : tuple of ndarray of int64
        Rows of each prototype: the central row and those of its `k` nearest rows that are of its
        class.
    centre, low, high : Columns of m rows
        Median and quartiles of the members' features, in the units of X; the most frequent label in
        nominal columns, which have no quartiles (None).
    """

    labels: npt.NDArray[Any]
    rows: Ints64
    members: tuple[Ints64, ...]
    centre: Columns
    low: Columns
    high: Columns

    def to_pandas(self) -> Any:
        """The centres as a data frame with a row for each prototype; needs pandas."""
        pd = import_optional("pandas", needed_by="to_pandas", install="pandas")
        columns = dict(zip(self.centre.names, self.centre.values, strict=True))
        return pd.DataFrame(columns, index=pd.Index(self.labels, name="class"))

    def _printed(self) -> PrintedTable:
        shown = list(zip(self.centre.names, self.centre.values, strict=True))[:MAX_FEATURES_SHOWN]
        hidden = len(self.centre.names) - len(shown)
        lines = [
            (
                str(label),
                str(self.rows[i]),
                str(len(self.members[i])),
                *(_written(values[i]) for _, values in shown),
            )
            for i, label in enumerate(self.labels)
        ]
        header = ("class", "middle row", "rows", *(name for name, _ in shown))
        more = (f"and {hidden} more features: to_pandas() has all",) if hidden else ()
        return PrintedTable(f"{len(self.labels)} prototypes, with medians", header, lines, more)


def prototypes(
    forest: object, X: Any, y: Any, *, kind: str = "oob", k: int = 20, n_per_class: int = 1
) -> Prototypes:
    """Typical rows of each class, by Breiman's method.

    Parameters
    ----------
    forest : fitted ObliqueForestClassifier
        A fitted classifier; raises for a regressor, which has no classes.
    X : table of shape (n_rows, n_features)
        Rows to choose from. For "oob" and "in_bag" those of the fit, in their order.
    y : array-like of shape (n_rows,)
        Classes of the rows.
    kind : {"oob", "in_bag", "all"}, default="oob"
        Trees that count for a row.
    k : int, default=20
        Number of nearest rows to consider.
    n_per_class : int, default=1
        Number of prototypes of each class; fewer where a class has no rows left.

    Returns
    -------
    Prototypes
        Central row, members, median and quartiles of each prototype.

    Notes
    -----
    The central row of a class has the most rows of the class among its `k` nearest; ties go to the
    row whose proximities to them have the largest sum. For further prototypes, members of earlier
    ones are neither central rows nor counted.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import prototypes
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> prototypes(forest, X, y).labels
    array([0, 1, 2])
    """
    analysed = read_forest(forest, "prototypes")
    _check_classes(analysed, y)
    k, n_per_class = check_count("k", k), check_count("n_per_class", n_per_class)
    table = read_leaves(analysed, X, y, kind)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    near = table.own(k)
    near.setdiag(0.0)
    near.eliminate_zeros()
    found = [
        (code, *prototype)
        for code in range(len(classes))
        for prototype in _of_class(near, codes == code, n_per_class)
    ]
    labels, rows, members = zip(*found, strict=True)
    source = read_table(analysed.table(X))
    columns = read_columns(source, analysed.fitted.encoding.nominal, analysed.names)
    centre, low, high = (_summary(columns, members, share) for share in (0.5, 0.25, 0.75))
    return Prototypes(classes[list(labels)], np.array(rows, np.int64), members, centre, low, high)


def _check_classes(analysed: AnalysedForest, y: Any) -> None:
    advice = "Fit a classifier on y cut into groups, or see principal_coordinates."
    need = "a classifier, because they are those of classes"
    analysed.check_classes(need, {"regression": advice})
    if y is None:
        raise ValueError("prototypes needs y, the class of each row; got None. Pass y.")


def _of_class(
    near: sp.csr_array, is_member: npt.NDArray[np.bool_], n_most: int
) -> list[tuple[int, Ints64]]:
    """Central rows and members of the prototypes of a class."""
    free = is_member.copy()
    found: list[tuple[int, Ints64]] = []
    is_near = near.copy()
    is_near.data = np.ones(len(near.data))
    while free.any() and len(found) < n_most:
        counted = free.astype(np.float64)
        count, total = is_near @ counted, near @ counted
        candidates = np.flatnonzero(free)
        # The last key of lexsort is the primary one; it is stable, so ties go to the first row.
        best = candidates[np.lexsort((-total[candidates], -count[candidates]))[0]]
        around = near.indices[near.indptr[best] : near.indptr[best + 1]]
        members = np.sort(np.append(around[free[around]], best)).astype(np.int64)
        found.append((int(best), members))
        free[members] = False
    return found


def _summary(columns: Columns, members: tuple[Ints64, ...], share: float) -> Columns:
    """A quantile of the members' numbers; their most frequent labels, for the median only."""
    values = []
    for column in columns.values:
        is_nominal = column.dtype.kind == "O"
        made = np.full(len(members), None if is_nominal else np.nan, column.dtype)
        for i, rows in enumerate(members):
            present = column[rows][~missing_in(column[rows])]
            if len(present) and not is_nominal:
                made[i] = np.quantile(present, share)
            elif len(present) and share == 0.5:
                made[i] = commonest(present)
        values.append(made)
    return Columns(columns.names, tuple(values))


def _written(value: object) -> str:
    return rounded(value, 4) if isinstance(value, float) else str(value)


# Outliers: rows that are far from the other rows of their class.

MAX_OUTLIERS_SHOWN = 5  # rows in a printed table
LARGE = 10.0  # Breiman's advice
ROUNDING = 1e-12  # relative rounding error of sums of squares


@dataclass(frozen=True, eq=False, repr=False)
class OutlierScores(PrintedResult):
    """Distances of rows from their class, from `outlier_scores`.

    Attributes
    ----------
    scores : ndarray of float64, shape (n,)
        Scores in absolute deviations above the median of the row's class; large: an outlier. NaN
        for rows that no tree counts for, such as those that are in every bag.
    raw : ndarray of float64, shape (n,)
        n / Σ proximity² over the rows of the class, the row itself included; from 1 to n, or NaN.
    kind : {"oob", "in_bag", "all"}
        Trees that count for a row.
    """

    scores: Floats
    raw: Floats
    kind: str

    def to_pandas(self) -> Any:
        """A line for each row, in the order of the rows."""
        return data_frame({"score": self.scores, "raw": self.raw}, index="row")

    def _printed(self) -> PrintedTable:
        above = int(np.count_nonzero(self.scores > LARGE))
        n = len(self.scores)
        without_tree = int(np.count_nonzero(np.isnan(self.scores)))
        rest = f", {without_tree} without a tree to evaluate them" if without_tree else ""
        title = f"Outlier scores of {n} rows, {KINDS[self.kind]}: {above} above {LARGE:g}{rest}"
        order = np.argsort(-self.scores, kind="stable")[: min(MAX_OUTLIERS_SHOWN, n - without_tree)]
        rows = [(str(row), f"{self.scores[row]:.2f}") for row in order]
        return PrintedTable(title, ("row", "score"), rows)


def outlier_scores(forest: object, X: Any, y: Any = None, *, kind: str = "oob") -> OutlierScores:
    """Breiman's outlier measure of each row within its class.

    Parameters
    ----------
    forest : fitted forest of Bevel
        Classifier, or regressor, whose rows count as one class.
    X : table of shape (n_rows, n_features)
        Rows to score. For "oob" and "in_bag" those of the fit, in their order.
    y : array-like of shape (n_rows,), default=None
        Classes of the rows, or targets of the fit; not needed for a regressor with "all".
    kind : {"oob", "in_bag", "all"}, default="oob"
        Trees that count for a row.

    Returns
    -------
    OutlierScores
        Score for each row; scores above 10 suggest an outlier.

    Notes
    -----
    The raw measure of a row is n over the sum of its squared proximities to the rows of its class;
    the median of the class is subtracted from it, and the rest is divided by the class's median
    absolute deviation from the median. Where that is 0, the mean absolute deviation is used
    instead, and where all rows are alike, scores are 0.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import outlier_scores
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> len(outlier_scores(forest, X, y).scores)
    150
    """
    analysed = read_forest(forest, "outlier_scores")
    table = read_leaves(analysed, X, y, kind)
    codes = _classes(analysed, y, table.n_rows)
    raw = table.n_rows / _squares_within(table, codes)
    evaluated = (table.leaves != NO_LEAF).any(axis=1)
    raw[~evaluated] = np.nan  # similar only to itself: nothing can be inferred
    scores = np.full(table.n_rows, np.nan)
    for code in np.unique(codes[evaluated]):
        own = evaluated & (codes == code)
        scores[own] = _standardised(raw[own])
    return OutlierScores(scores, raw, kind)


def _classes(analysed: AnalysedForest, y: Any, n_rows: int) -> npt.NDArray[np.intp]:
    """Number of each row's class, without gaps; 0 in regression."""
    if analysed.classes is None:
        return np.zeros(n_rows, np.intp)
    if y is None or np.shape(y) != (n_rows,):
        raise ValueError(
            f"{analysed.caller} compares the rows of a class and needs y, the class of each of the "
            f"{n_rows} rows; got {'None' if y is None else f'shape {np.shape(y)}'}. Pass y."
        )
    return read_labels(y, n_rows)[1].astype(np.intp)


def _squares_within(table: LeafTable, codes: npt.NDArray[np.intp]) -> Floats:
    sums = np.empty(table.n_rows)
    for rows, block in table.blocks():
        row = np.repeat(np.arange(rows.start, rows.stop), np.diff(block.indptr))
        same = codes[row] == codes[block.indices]
        squares = np.where(same, block.data**2, 0.0)
        sums[rows] = np.bincount(row - rows.start, squares, rows.stop - rows.start)
    return sums


def _standardised(raw: Floats) -> Floats:
    centre = float(np.median(raw))
    deviation = raw - centre
    size = np.abs(deviation)
    for spread in (float(np.median(size)), float(size.mean())):
        if spread > ROUNDING * centre:
            return deviation / spread
    return np.zeros(len(raw))
