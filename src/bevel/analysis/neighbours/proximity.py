"""How often rows share leaves: proximities, the weights of training rows (Lin and Jeon's adaptive
nearest neighbours), and the rows that a forest finds most like a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel import _core
from bevel.analysis.analysed_forest import AnalysedForest, check_count, check_place, read_forest
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.errors import wrong_type, wrong_value
from bevel.forest.bags import check_leaves_rows_out
from bevel.forest.leaf_rows import LeafRows
from bevel.forest.quantiles import blocks_of_rows
from bevel.forest.task import Isolation

__all__ = [
    "KINDS",
    "NO_LEAF",
    "LeafTable",
    "NearestRows",
    "Proximity",
    "VotingPoints",
    "check_kind",
    "forest_weights",
    "nearest_rows",
    "proximity",
    "read_leaves",
    "stack",
    "voting_points",
]

# Leaves that rows share, from which proximities are computed block by block.

# Kinds of proximity: the trees that count for a row.
KINDS = {"oob": "out of bag", "in_bag": "in bag", "all": "all trees"}
NO_LEAF = -1  # leaf of a row in a tree that does not count for it
# Rows of one call of the core: signals are handled between calls, and dense blocks stay small.
BLOCK_ROWS = 1024


@dataclass(frozen=True, eq=False)
class LeafTable:
    """Rows with their leaves.

    Attributes
    ----------
    analysed : AnalysedForest
        The forest.
    leaves : ndarray of int32, shape (n, n_trees)
        Leaf of each row in each tree; -1 where the tree does not count for the row.
    kind : {"oob", "in_bag", "all"}
        Trees that count for a row.
    sharing : LeafSharing
        Rows by leaf.
    """

    analysed: AnalysedForest
    leaves: npt.NDArray[np.int32]
    kind: str
    sharing: _core.LeafSharing

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.leaves)

    @property
    def n_trees(self) -> int:
        """Number of trees of the forest."""
        return int(self.leaves.shape[1])

    def blocks(self, k: int | None = None) -> Iterator[tuple[slice, sp.csr_array]]:
        """Proximities of the table's own rows to all rows, some rows at a time.

        A row has itself, with proximity 1, and the `k` rows nearest to it, or (None) all rows that
        it shares a leaf with.
        """
        return self._answer(self.leaves, 0, k)

    def own(self, k: int | None = None) -> sp.csr_array:
        """Proximities of the table's own rows as one matrix."""
        return stack(self.blocks(k))

    def of_new(
        self, leaves: npt.NDArray[np.int32], k: int | None = None
    ) -> Iterator[tuple[slice, sp.csr_array]]:
        """Proximities of other rows to those of the table, some at a time.

        The leaves are those of rows that no tree has seen, or some of the table's own `leaves`.
        """
        return self._answer(leaves, None, k)

    def indicator(self) -> sp.csr_array:
        """Indicator of the leaves of each row, over the nodes of all trees.

        If Z is this matrix, the proximities by all trees are Z Zᵀ / n_trees.
        """
        nodes = self.leaves + self.analysed.forest.tree_offset[:-1]
        counts = self.leaves != NO_LEAF
        indptr = np.concatenate(([0], np.cumsum(counts.sum(axis=1))))
        shape = (self.n_rows, self.analysed.forest.n_nodes)
        return sp.csr_array((np.ones(int(indptr[-1])), nodes[counts], indptr), shape=shape)

    def _answer(
        self, leaves: npt.NDArray[np.int32], first_own: int | None, k: int | None
    ) -> Iterator[tuple[slice, sp.csr_array]]:
        most = self.n_rows if k is None else min(k, self.n_rows)
        for start in range(0, len(leaves), BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, len(leaves)))
            own = -1 if first_own is None else first_own + start
            indptr, indices, values = self.sharing.nearest(
                leaves[rows], own, most, self.analysed.n_threads
            )
            shape = (rows.stop - rows.start, self.n_rows)
            yield rows, sp.csr_array((values, indices, indptr), shape=shape)


def stack(blocks: Iterator[tuple[slice, sp.csr_array]]) -> sp.csr_array:
    """Join blocks of rows to one matrix."""
    return sp.csr_array(sp.vstack([block for _, block in blocks]))


def read_leaves(analysed: AnalysedForest, X: Any, y: Any, kind: str) -> LeafTable:
    """Leaves of rows for proximities of a kind.

    Parameters
    ----------
    analysed : AnalysedForest
        The forest.
    X : table of shape (n, p)
        Any rows for "all"; the rows of the fit for "oob" and "in_bag".
    y : array-like of shape (n,) or None
        Targets of the fit; ignored for "all".
    kind : {"oob", "in_bag", "all"}
        Trees that count for a row.
    """
    check_kind(kind)
    if isinstance(analysed.task, Isolation) and kind != "all":
        remedy = 'Write kind="all".'
        raise wrong_value(
            "kind", '"all" with an isolation forest, which has no target', kind, remedy
        )
    if kind == "all":
        leaves = analysed.predictor.leaves(analysed.encode(X), analysed.n_threads)
    else:
        leaves = _leaves_by_bag(analysed, X, y, kind)
    sharing = _core.LeafSharing(leaves, analysed.forest.tree_offset)
    return LeafTable(analysed, leaves, kind, sharing)


def _leaves_by_bag(analysed: AnalysedForest, X: Any, y: Any, kind: str) -> npt.NDArray[np.int32]:
    if y is None:
        raise ValueError(
            f"{analysed.caller} with kind={kind!r} needs X and y of the fit, to draw its bags "
            'again; got y=None. Pass y, or kind="all", which takes any rows.'
        )
    rows = analysed.training_rows(X, y)
    if kind == "oob":
        check_leaves_rows_out(rows.bags)
    leaves = analysed.predictor.leaves(rows.X, analysed.n_threads)
    leaves[rows.out != (kind == "oob")] = NO_LEAF
    return leaves


def check_kind(kind: object) -> None:
    """Raise for unknown kinds of proximity."""
    if not isinstance(kind, str) or kind not in KINDS:
        required = '"oob", "in_bag" or "all"'
        raise wrong_value("kind", required, kind, 'Write for example kind="oob".')


# The forest as adaptive nearest neighbours (Lin and Jeon): weights of the training rows.

MAX_POINTS_SHOWN = 10  # voting points in a table


def forest_weights(
    forest: Any, X_train: Any, y_train: Any, X: Any = None, *, sample_weight: Any = None
) -> sp.csr_matrix:
    """Weights of the training rows in a forest's prediction for a row.

    Tree m gives training row i the weight W_im, its share in the weight of the leaf that x falls
    into: 1/k if the leaf holds k rows. The forest gives it their mean over the trees. The weights
    of a row sum to one, and the prediction of a regressor is the weighted mean of the training
    targets, the class probabilities of a classifier (by soft votes) the weighted shares.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest, with any projection.
    X_train, y_train : array-like
        The rows of the fit and their targets, in the order of the fit.
    X : array-like of shape (n_rows, n_features), default=None
        Rows to predict. None: the training rows, each by the trees whose bags it is out of.
    sample_weight : array-like of shape (n_train,), default=None
        Weights of the training rows, if the fit had any. Class weights are known from the forest.

    Returns
    -------
    csr_matrix of shape (n_rows, n_train)
        Weights. A training row that was in every bag has no weights if `X` is None.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import forest_weights
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(50, random_state=0).fit(X, y)
    >>> weights = forest_weights(forest, X, y, X[:3])
    >>> bool(np.allclose(weights @ y, forest.predict(X[:3])))
    True
    """
    analysed = read_forest(forest, "forest_weights", several_outputs=True)
    if X is None:
        analysed.bags_with_rows_out()
    leaf_rows, rows, _ = analysed.leaf_rows(X_train, y_train, sample_weight)
    if X is not None:
        return _weights(analysed, leaf_rows, analysed.encode(X), None)
    analysed.check_some_row_is_out(rows)
    return _weights(analysed, leaf_rows, rows.X, rows.out)


def _weights(
    analysed: AnalysedForest,
    leaf_rows: LeafRows,
    X: npt.NDArray[np.float32],
    trees: npt.NDArray[np.bool_] | None,
) -> sp.csr_matrix:
    blocks = []
    for block in blocks_of_rows(len(X), analysed.forest.n_trees):
        entries = _core.neighbour_weights(
            analysed.predictor.view,
            X[block],
            leaf_rows.offset,
            leaf_rows.row,
            leaf_rows.weight,
            leaf_rows.n_rows,
            None if trees is None else np.ascontiguousarray(trees[block]),
            analysed.n_threads,
        )
        blocks.append(sp.csr_matrix(entries, shape=(len(X[block]), leaf_rows.n_rows)))
    joined: sp.csr_matrix = sp.vstack(blocks, format="csr")
    return joined


@dataclass(frozen=True, eq=False, repr=False)
class VotingPoints(PrintedResult):
    """The training rows that vote for a row, heaviest first.

    Attributes
    ----------
    rows : ndarray of int
        Numbers of the training rows.
    weights : ndarray of float
        Weights of these rows.
    """

    rows: npt.NDArray[np.intp]
    weights: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def effective_number(self) -> float:
        """Effective sample size of the weights: 1 / sum of squared weights."""
        return float(1.0 / np.square(self.weights).sum()) if len(self) else 0.0

    def to_pandas(self) -> Any:
        """A line for each training row that votes, heaviest first."""
        return data_frame({"row": self.rows, "weight": self.weights})

    def _printed(self) -> PrintedTable:
        head = f"{len(self)} voting points, worth {self.effective_number:.1f} of equal weight"
        shown = zip(self.rows[:MAX_POINTS_SHOWN], self.weights[:MAX_POINTS_SHOWN], strict=True)
        lines = [(str(row), f"{weight:.4f}") for row, weight in shown]
        more = [("…", "")] if len(self) > MAX_POINTS_SHOWN else []
        return PrintedTable(head, ("row", "weight"), [*lines, *more])


def voting_points(weights: sp.csr_matrix, row: int = 0) -> VotingPoints:
    """The training rows whose weight for a row is above zero.

    Parameters
    ----------
    weights : csr_matrix of shape (n_rows, n_train)
        Matrix from `forest_weights`.
    row : int, default=0
        Position of the row.

    Returns
    -------
    VotingPoints
        Training rows by descending weight; ties go to the lower number.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import forest_weights, voting_points
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(10, random_state=0).fit(X, y)
    >>> points = voting_points(forest_weights(forest, X, y, X[:1]))
    >>> int(points.rows[0])
    0
    """
    if not sp.issparse(weights):
        required = "the sparse matrix that forest_weights returns"
        raise wrong_type("weights", required, weights, "Call forest_weights first.")
    check_place("row", row, weights.shape[0])
    own = weights.tocsr()[[row]]
    heaviest = np.lexsort((own.indices, -own.data))
    return VotingPoints(own.indices[heaviest].astype(np.intp), own.data[heaviest])


MAX_DENSE = 20_000  # rows: 3 GiB


@dataclass(frozen=True, eq=False, repr=False)
class Proximity(PrintedResult):
    """Proximities of rows, from `proximity`.

    Attributes
    ----------
    matrix : ndarray or csr_array of float64, shape (n, n)
        Proximity of each pair, from 0 to 1; symmetric, with a diagonal of ones. Sparse if `k` was
        given.
    kind : {"oob", "in_bag", "all"}
        Trees that count for a row.
    k : int or None
        Number of nearest rows kept of each row; None: all.
    n_trees : int
        Number of trees of the forest.
    n_pairs_without_tree : int or None
        Number of pairs of rows that no tree counts for, whose unknown proximity is set to 0. None
        if `k` was given.
    """

    matrix: npt.NDArray[np.float64] | sp.csr_array
    kind: str
    k: int | None
    n_trees: int
    n_pairs_without_tree: int | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    def to_pandas(self) -> Any:
        """A line for each pair of different rows that share a leaf: row, other, proximity."""
        upper = sp.triu(sp.coo_matrix(self.matrix), k=1, format="csr").tocoo()
        return data_frame({"row": upper.row, "other": upper.col, "proximity": upper.data})

    def _printed(self) -> PrintedTable:
        n = self.n_rows
        kept = "all pairs" if self.k is None else f"{self.k} nearest of each"
        matrix = self.matrix
        stored = np.count_nonzero(matrix) if isinstance(matrix, np.ndarray) else matrix.nnz
        pairs = (stored - n) // 2
        mean = (self.matrix.sum() - n) / max(1, n * (n - 1))
        title = f"Proximity of {n} rows in {self.n_trees} trees, {KINDS[self.kind]}, {kept}"
        lines = [("pairs that share a leaf", str(pairs)), ("mean over all pairs", f"{mean:.4f}")]
        if self.n_pairs_without_tree is not None:
            lines.append(("pairs without a tree", str(self.n_pairs_without_tree)))
        return PrintedTable(title, (), lines)


def proximity(
    forest: object, X: Any, y: Any = None, *, kind: str = "oob", k: int | None = None
) -> Proximity:
    """Share of trees in which two rows end up in the same leaf, for every pair of rows.

    Parameters
    ----------
    forest : fitted forest of Bevel
        A fitted classifier or regressor, which may be slim.
    X : array, data frame or sparse matrix of shape (n_rows, n_features)
        Rows to compare. For "oob" and "in_bag" those of the fit, in their order.
    y : array-like of shape (n_rows,), default=None
        Targets of the fit; ignored for "all".
    kind : {"oob", "in_bag", "all"}, default="oob"
        Trees that count for a row: those that have not seen it, those that have, or all of them. A
        pair is evaluated by the trees that count for both.
    k : int, default=None
        Keep, in a sparse matrix, the pairs in which one row is among the `k` nearest of the other;
        ties go to the first rows. ``k=n_rows`` keeps all pairs that share a leaf. None makes a
        dense matrix, of at most 20 000 rows.

    Returns
    -------
    Proximity
        The matrix, symmetric with a unit diagonal.

    Notes
    -----
    Trees count equally, and so do rows, regardless of their weights. No dense n × n matrix is made
    if `k` is given: rows are compared through their leaves, which takes time in proportion to the
    sum of squares of the leaf sizes.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import proximity
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> proximity(forest, X, y).matrix[:2, :2].diagonal()
    array([1., 1.])
    """
    analysed = read_forest(forest, "proximity", leaves_only=True, several_outputs=True)
    n_nearest = None if k is None else check_count("k", k)
    table = read_leaves(analysed, X, y, kind)
    if n_nearest is None:
        matrix = _dense(table)
        return Proximity(matrix, kind, None, table.n_trees, _count_pairs_without_tree(table))
    nearest = table.own(n_nearest)
    # A pair is kept if either row has chosen it; the proximity is symmetric.
    return Proximity(nearest.maximum(nearest.T).tocsr(), kind, n_nearest, table.n_trees, None)


def _dense(table: LeafTable) -> npt.NDArray[np.float64]:
    n = table.n_rows
    if n > MAX_DENSE:
        raise ValueError(
            f"proximity makes a dense matrix of at most {MAX_DENSE} rows; got {n}, which would "
            f"need {n * n * 8 / 2**30:.0f} GiB. Pass k=20 for the nearest rows of each row."
        )
    matrix = np.empty((n, n))
    for rows, block in table.blocks():
        block.toarray(out=matrix[rows])
    return matrix


def _count_pairs_without_tree(table: LeafTable) -> int:
    """Pairs of different rows without a tree that counts for both."""
    counts = (table.leaves != NO_LEAF).astype(np.float32)
    never = 0
    for row in range(0, table.n_rows, 1024):
        never += int(np.count_nonzero(counts[row : row + 1024] @ counts.T == 0))
    return (never - int(np.count_nonzero(~counts.any(axis=1)))) // 2


MAX_NEAREST_SHOWN = 5  # rows and neighbours in a printed table


@dataclass(frozen=True, eq=False, repr=False)
class NearestRows(PrintedResult):
    """Nearest rows of new rows, from `nearest_rows`.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_new, k)
        Positions of each new row's nearest rows, nearest first, ties by position; -1
        where fewer than `k` rows share a leaf with it.
    proximity : ndarray of float64, shape (n_new, k)
        Proximities of these rows; 0 where there is no row.
    kind : {"oob", "in_bag", "all"}
        Trees that count for a row of the table; all count for a new row.
    """

    rows: npt.NDArray[np.int64]
    proximity: npt.NDArray[np.float64]
    kind: str

    def to_pandas(self) -> Any:
        """A line for each new row and each of its nearest rows: new, rank, row, proximity."""
        new, rank = np.nonzero(self.rows >= 0)
        columns = {
            "new": new,
            "rank": rank + 1,
            "row": self.rows[new, rank],
            "proximity": self.proximity[new, rank],
        }
        return data_frame(columns)

    def _printed(self) -> PrintedTable:
        n, k = self.rows.shape
        title = f"Nearest rows ({KINDS[self.kind]}) of {n} new rows, {k} each: row (proximity)"
        lines = []
        for new in range(min(n, MAX_NEAREST_SHOWN)):
            pairs = zip(
                self.rows[new, :MAX_NEAREST_SHOWN],
                self.proximity[new, :MAX_NEAREST_SHOWN],
                strict=True,
            )
            shown = [f"{row} ({near:.2f})" for row, near in pairs if row >= 0]
            dots = ", ..." if k > MAX_NEAREST_SHOWN else ""
            lines.append((str(new), f"{', '.join(shown) or 'none'}{dots}"))
        return PrintedTable(title, (), [*lines, ("...", "")] if n > MAX_NEAREST_SHOWN else lines)


def nearest_rows(
    forest: object, X: Any, new: Any, y: Any = None, *, kind: str = "oob", k: int = 10
) -> NearestRows:
    """Rows of X that share most leaves with new rows.

    Parameters
    ----------
    forest : fitted forest of Bevel
        A fitted classifier or regressor.
    X : table of shape (n_rows, n_features)
        Rows to search. For "oob" and "in_bag" those of the fit, in their order.
    new : table of shape (n_new, n_features)
        Rows that the forest was not grown on.
    y : array-like of shape (n_rows,), default=None
        Targets of the fit; ignored for "all".
    kind : {"oob", "in_bag", "all"}, default="oob"
        Trees that count for a row of X: those that have not seen it, as no tree has seen a new row,
        those that have, or all of them.
    k : int, default=10
        Number of rows to find for each new row.

    Returns
    -------
    NearestRows
        Result with positions in X and proximities, nearest first.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import nearest_rows
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X[:140], y[:140])
    >>> near = nearest_rows(forest, X[:140], X[140:], y[:140], k=5)
    >>> y[near.rows[0]]
    array([2, 2, 2, 2, 2])
    """
    analysed = read_forest(forest, "nearest_rows", leaves_only=True, several_outputs=True)
    n_nearest = check_count("k", k)
    table = read_leaves(analysed, X, y, kind)
    leaves = analysed.predictor.leaves(analysed.encode(new), analysed.n_threads)
    rows, near = nearest_first(stack(table.of_new(leaves, n_nearest)), n_nearest)
    return NearestRows(rows, near, kind)


def nearest_first(
    found: sp.csr_array, k: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Columns and values of a sparse matrix's rows, largest values first, padded with -1 and 0."""
    length = np.diff(found.indptr)
    row = np.repeat(np.arange(found.shape[0]), length)
    order = np.lexsort((found.indices, -found.data, row))
    place = np.arange(len(row)) - np.repeat(found.indptr[:-1], length)
    columns = np.full((found.shape[0], k), -1, np.int64)
    values = np.zeros((found.shape[0], k))
    columns[row, place], values[row, place] = found.indices[order], found.data[order]
    return columns, values
