"""The rows a forest was grown on, given once more: its bags drawn again, and the rows recognised.

A forest keeps no row. It knows, though, which leaves its training rows must fall into.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel.errors import NoOutOfBagError
from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor
from bevel.forest.subforest import take_trees

__all__ = ["Bags", "TrainingRows", "check_leaves_rows_out", "recall_rows"]

Target = npt.NDArray[np.int32] | npt.NDArray[np.float64]
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bags:
    """How the bags of a forest were drawn.

    Attributes
    ----------
    n_rows : int
        Training rows.
    size : int
        Draws for each bag; 0: no bags, every tree has seen all rows.
    replace : bool
        Whether a row can be drawn twice.
    seed : int
        Of the forest.
    """

    n_rows: int
    size: int
    replace: bool
    seed: int

    def counts(self, tree: int, weights: Weights | None = None) -> npt.NDArray[np.int32]:
        """How often each row is in the bag of a tree, numbered from 0; once without bags.

        A bag without rows that weigh anything is all those that do.
        """
        return _core.bag(self._options(), self.n_rows, tree, weights)

    def rows_out(self, n_trees: int, weights: Weights | None = None) -> npt.NDArray[np.bool_]:
        """Whether each row (first axis) is out of the bag of each tree, numbered from 0."""
        out = np.empty((self.n_rows, n_trees), dtype=bool)
        for tree in range(n_trees):
            out[:, tree] = self.counts(tree, weights) == 0
        return out

    def _options(self) -> _core.Options:
        options = _core.Options()
        options.bag_size, options.replace, options.seed = self.size, self.replace, self.seed
        return options


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows that a forest was grown on.

    Attributes
    ----------
    X : ndarray of float32, shape (n, p)
        Encoded as for prediction.
    target : ndarray of shape (n,)
        Classes as int32, or numbers as float64.
    out : ndarray of bool, shape (n, n_trees)
        Whether a row is out of a tree's bag.
    bags : Bags
        How the bags were drawn.
    """

    X: npt.NDArray[np.float32]
    target: Target
    out: npt.NDArray[np.bool_]
    bags: Bags


def check_leaves_rows_out(bags: Bags) -> None:
    """Raise if every tree has seen all rows."""
    if bags.size == 0 or (not bags.replace and bags.size >= bags.n_rows):
        raise NoOutOfBagError(
            "Out-of-bag errors need trees that have not seen all rows; got a forest grown without "
            "bags, or with bags of all rows. Fit with bootstrap=True."
        )


def recall_rows(
    forest: FlatForest,
    bags: Bags,
    X: npt.NDArray[np.float32],
    target: Target,
    weights: Weights | None = None,
) -> TrainingRows:
    """Training rows with their bags; raises if these are not the rows the forest was grown on.

    Parameters
    ----------
    forest : FlatForest
        Trees 0, 1, ... of the seed.
    bags : Bags
        How the bags were drawn.
    X : ndarray of float32
        Encoded as for prediction.
    target : ndarray
        Classes as int32, or numbers as float64.
    weights : ndarray of float64, default=None
        Of the rows, as far as they are known; None if all are one.
    """
    if len(X) != bags.n_rows:
        raise _other_rows(f"the {bags.n_rows} training rows", f"{len(X)} rows")
    rows = TrainingRows(X, target, bags.rows_out(forest.n_trees, weights), bags)
    _recognise(forest, rows, {0, forest.n_trees - 1})
    return rows


def _recognise(forest: FlatForest, rows: TrainingRows, trees: Iterable[int]) -> None:
    """Check that every leaf of some trees holds the rows of the bag that it says it holds.

    Every leaf must hold a row, and a row of each class it has a share of, or rows on both sides of
    its value. Nothing is asked of single rows, which may have had weight zero.
    """
    for number in trees:
        tree = take_trees(forest, [number])
        bag = np.flatnonzero(~rows.out[:, number])
        leaf = PackedPredictor(tree).leaves(rows.X[bag], 1)[:, 0]
        agrees = _classes_agree if forest.n_classes else _values_agree
        if not agrees(tree, leaf, rows.target[bag]):
            raise _other_rows("the rows of the fit", "rows that do not fall into the same leaves")


def _classes_agree(tree: FlatForest, leaf: npt.NDArray[np.int32], target: Target) -> bool:
    is_leaf = np.repeat(tree.right < 0, np.diff(tree.entry_offset))
    node = np.repeat(np.arange(tree.n_nodes), np.diff(tree.entry_offset))
    claimed = (node * tree.n_classes + tree.entry_index)[is_leaf & (tree.entry_weight > 0)]
    return bool(np.isin(claimed, leaf.astype(np.int64) * tree.n_classes + target).all())


def _values_agree(tree: FlatForest, leaf: npt.NDArray[np.int32], target: Target) -> bool:
    low, high = np.full(tree.n_nodes, np.inf), np.full(tree.n_nodes, -np.inf)
    np.minimum.at(low, leaf, target)
    np.maximum.at(high, leaf, target)
    slack = 1e-9 * float(np.abs(target).max())  # a mean may round past values that are all equal
    value, is_leaf = tree.leaf_value, tree.right < 0
    return bool(((low - slack <= value) & (value <= high + slack))[is_leaf].all())


def _other_rows(required: str, got: str) -> ValueError:
    return ValueError(
        f"X and y must be {required}, in the order of the fit, because bags are drawn again by row "
        f"number; got {got}. Pass the X and y that the forest was fitted on."
    )
