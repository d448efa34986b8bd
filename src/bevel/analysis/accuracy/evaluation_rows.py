"""Rows on which a forest is evaluated: those of its fit, out of bag, or new rows.

Shares of rows have Wilson's intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from bevel._types import Floats, Ints32, Ints64, Target
from bevel.analysis.analysed_forest import AnalysedForest, check_out_of_bag
from bevel.forest.flat_forest import FlatForest, gather

__all__ = [
    "ROW_WORDS",
    "TWO_SIDED_5_PERCENT",
    "EvaluationRows",
    "RowBlock",
    "blocks",
    "class_of_leaf",
    "notes_of",
    "predictions",
    "read_evaluation_rows",
    "wilson_interval",
]

# Confidence intervals of shares.

TWO_SIDED_5_PERCENT = float(norm.ppf(0.975))


def wilson_interval(n_hits: npt.ArrayLike, n_rows: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Ends of Wilson's 95 % interval, which suits few rows and shares near 0 and 1."""
    n = np.asarray(n_rows, dtype=np.float64)
    share, z2 = np.asarray(n_hits) / n, TWO_SIDED_5_PERCENT**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * share * (1 - share) / n + z2**2 / (4 * n**2)) / (1 + z2 / n)
    return np.maximum(0.0, centre - half), np.minimum(1.0, centre + half)


# Rows times trees of a block: 32 MB of nodes.
BLOCK_SIZE = 2**22

# Names of evaluated rows in printed results, and notes on them. Rows of a fit are
# recognised in their order only, and those of boosting never.
ROW_WORDS = {
    "new": "by all trees",
    "out-of-bag": "out of bag",
    "grown on": "training rows, in-bag",
}
ROW_NOTES = {
    "new": "taken for new rows; training rows would be in-bag, and look too good",
    "out-of-bag": "",
    "grown on": "in-bag: the trees have seen these training rows, so that they look too good",
}


def notes_of(row_kind: str) -> tuple[str, ...]:
    """Notes of a printed result on its rows; empty for out-of-bag rows."""
    return tuple(filter(None, (ROW_NOTES[row_kind],)))


@dataclass(frozen=True, eq=False)
class EvaluationRows:
    """Rows with known targets.

    Attributes
    ----------
    X : ndarray of float32, shape (n, p)
        Rows encoded as for prediction.
    target : ndarray of shape (n,)
        Targets: positions among the classes as int32, or numbers as float64.
    out : ndarray of bool, shape (n, n_trees), or None
        Whether a tree predicts a row; None: every tree predicts every row.
    row_kind : {"new", "out-of-bag", "grown on"}
        Whether the forest was grown on the rows, and if so whether each is evaluated by the trees
        that have not seen it.
    places : ndarray of int64, shape (n,), or None
        Places of the rows among those of the fit, if they are encoded as in it: with means of the
        target over the rows of other folds. None: as new rows.
    """

    X: npt.NDArray[np.float32]
    target: Target
    out: npt.NDArray[np.bool_] | None
    row_kind: str = "new"
    places: Ints64 | None = None

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Rows that at least one tree predicts."""
        return np.asarray(np.ones(len(self.X), bool) if self.out is None else self.out.any(axis=1))


def read_evaluation_rows(
    analysed: AnalysedForest, X: Any, y: Any, out_of_bag: bool | str
) -> EvaluationRows:
    """The rows of the fit with the trees that have not seen them, or rows with all trees.

    `out_of_bag="auto"` uses out-of-bag trees if the rows are recognised as those of the fit, and
    bags leave rows out.
    """
    wanted = check_out_of_bag(out_of_bag)
    if wanted:
        rows = analysed.out_of_bag_rows(X, y)
        return EvaluationRows(rows.X, rows.target, rows.out, "out-of-bag", np.arange(len(rows.X)))
    encoded = analysed.encode(X)
    target = analysed.task.read_new(y, len(encoded))
    found = analysed.recognised_rows(X, y)
    if found is None:
        return EvaluationRows(encoded, target, None)
    if wanted is None and analysed.leaves_rows_out() and found.out.any():
        return EvaluationRows(
            found.X, found.target, found.out, "out-of-bag", np.arange(len(found.X))
        )
    return EvaluationRows(encoded, target, None, "grown on")


@dataclass(eq=False)
class RowBlock:
    """Some of the rows, and the sums of the trees' predictions for them.

    Sums are made tree by tree, in the order of the trees, for any number of threads.
    """

    forest: FlatForest
    hard: bool
    rows: slice
    target: Target
    leaves: Ints32  # n x n_trees, counted from the root of the tree
    out: npt.NDArray[np.bool_]  # n x n_trees

    def __post_init__(self) -> None:
        n = len(self.target)
        self.sums = np.zeros((n, max(1, self.forest.n_classes)))
        self.counts = np.zeros(n, np.int64)

    def add(self, tree: int, votes: Ints32 | None) -> None:
        """Add the predictions of one more tree for its rows; `votes` are those of all nodes."""
        mine = np.flatnonzero(self.out[:, tree])
        leaf = self.leaves[mine, tree]
        offset = self.forest.tree_offset
        first, last = int(offset[tree]), int(offset[tree + 1])
        self.counts[mine] += 1
        if self.forest.n_classes == 0:
            self.sums[mine, 0] += self.forest.leaf_value[first:last][leaf]
        elif votes is not None:
            self.sums[mine, votes[first:last][leaf]] += 1.0
        else:
            entries, ends = gather(self.forest.entry_offset[first : last + 1], leaf)
            row = np.repeat(mine, np.diff(ends))
            # A row has one leaf, and a leaf has a class once: no index is repeated.
            self.sums[row, self.forest.entry_index[entries]] += self.forest.entry_weight[entries]

    @property
    def predictions(self) -> Floats:
        """Class shares, or values as one column; zero for rows that no tree has predicted yet."""
        return np.asarray(self.sums / np.maximum(self.counts, 1)[:, None])


def blocks(analysed: AnalysedForest, rows: EvaluationRows) -> Iterator[RowBlock]:
    """The rows in order, with the leaves they fall into."""
    forest = analysed.forest
    step = max(1, BLOCK_SIZE // forest.n_trees)
    for first in range(0, len(rows.X), step):
        some = slice(first, min(first + step, len(rows.X)))
        leaves = analysed.predictor.leaves(rows.X[some], analysed.n_threads)
        out = np.ones(leaves.shape, bool) if rows.out is None else rows.out[some]
        yield RowBlock(forest, analysed.hard, some, rows.target[some], leaves, out)


def predictions(analysed: AnalysedForest, rows: EvaluationRows) -> Floats:
    """Mean over the trees for each row, before calibration; NaN where no tree predicts it."""
    forest = analysed.forest
    votes = class_of_leaf(forest) if analysed.hard else None
    values = np.full((len(rows.X), max(1, forest.n_classes)), np.nan)
    for block in blocks(analysed, rows):
        for tree in range(forest.n_trees):
            block.add(tree, votes)
        values[block.rows] = np.where(block.counts[:, None] > 0, block.predictions, np.nan)
    return values


def class_of_leaf(forest: FlatForest) -> Ints32:
    """Class that each leaf votes for, the first of those with the largest share; -1 for a split."""
    votes = np.full(forest.n_nodes, -1, np.int32)
    leaf = np.flatnonzero(forest.right < 0)
    entries, offset = gather(forest.entry_offset, leaf)
    share = forest.entry_weight[entries]
    owner = np.repeat(np.arange(len(leaf)), np.diff(offset))
    largest = np.maximum.reduceat(share, offset[:-1])
    place = np.flatnonzero(share == largest[owner])
    chosen, first = np.unique(owner[place], return_index=True)
    votes[leaf[chosen]] = forest.entry_index[entries[place[first]]]
    return votes
