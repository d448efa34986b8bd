"""Prototypes: typical rows of each class, by proximity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel._types import Ints64
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.checks import check_count
from bevel.analysis.neighbours.leaf_sharing import read_leaves
from bevel.analysis.printing import PrintedResult, PrintedTable
from bevel.analysis.rules.original_columns import commonest, missing_in, read_columns
from bevel.data.columns import Columns
from bevel.data.tables import read_table
from bevel.extras import import_optional

__all__ = ["Prototypes", "prototypes"]


SHOWN = 6  # features in a printed table


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
        shown = list(zip(self.centre.names, self.centre.values, strict=True))[:SHOWN]
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
    source = read_table(X)
    columns = read_columns(source, analysed.fitted.encoding.nominal, analysed.names)
    centre, low, high = (_summary(columns, members, share) for share in (0.5, 0.25, 0.75))
    return Prototypes(classes[list(labels)], np.array(rows, np.int64), members, centre, low, high)


def _check_classes(analysed: AnalysedForest, y: Any) -> None:
    if analysed.classes is None:
        raise ValueError(
            "prototypes needs a classifier, because they are those of classes; got a regressor. "
            "Fit a classifier on y cut into groups, or see principal_coordinates."
        )
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
    return f"{value:.4g}" if isinstance(value, float) else str(value)
