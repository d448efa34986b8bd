"""Micro-forests: a few trees of each kind, whose losses decide how many more trees it gets.

Kind k grows the trees from k · U on, where U is the size of a micro-forest. A bag depends on the
seed and the number of a tree alone, so bags can be drawn again as for any forest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints64
from bevel.data.dataset import Dataset
from bevel.forest.flat_forest import FlatForest
from bevel.forest.joining import join_forests
from bevel.forest.predictor import PackedPredictor
from bevel.forest.subforest import take_trees
from bevel.training.options import TrainingOptions
from bevel.training.trainer import TrainingTarget, native_options

__all__ = ["MicroForests", "assign_trees", "replace_trees"]


class MicroForests:
    """Out-of-bag predictions of the training rows by each of several micro-forests.

    Parameters
    ----------
    forest : FlatForest
        The trees of all micro-forests, in the order of their numbers.
    n_trees : int
        U, the number of trees of each micro-forest.
    dataset, target
        Training rows.
    options : TrainingOptions
        How bags were drawn.
    hard : bool
        Whether trees vote.
    n_threads : int
        Threads to use.
    first_kind : int, default=0
        Kind of the first micro-forest.
    """

    def __init__(
        self,
        forest: FlatForest,
        n_trees: int,
        dataset: Dataset,
        target: TrainingTarget,
        options: TrainingOptions,
        *,
        hard: bool,
        n_threads: int,
        first_kind: int = 0,
    ) -> None:
        self._view = PackedPredictor(forest).view
        self._node_weight = forest.weight
        self._n_trees, self._first_kind = n_trees, first_kind
        self._dataset, self._target = dataset, target
        self._options = native_options(options)
        self._hard, self._n_threads = hard, n_threads

    def predict_out_of_bag(self, kind: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Mean prediction of each row by the trees of a kind, and which rows have one."""
        first = (kind - self._first_kind) * self._n_trees
        weights = self._target.weights
        sums, n_trees = self._view.out_of_bag(
            self._dataset.X,
            self._options,
            self._first_kind * self._n_trees,
            self._hard,
            self._n_threads,
            (first, first + self._n_trees),
            weights,
        )
        known = n_trees > 0
        if weights is not None:
            known &= weights > 0.0
        return sums / np.maximum(n_trees, 1)[:, None], known

    def predict_pruned(
        self, kind: int, sizes: Sequence[int], row_step: int
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Out-of-bag predictions of the trees of a kind, pruned to several sizes of nodes.

        Parameters
        ----------
        kind : int
            Kind of the trees.
        sizes : sequence of int
            Sizes, ascending; nodes of fewer rows are leaves.
        row_step : int
            Row stride: only every `row_step`-th row is predicted.

        Returns
        -------
        predictions : ndarray of shape (n_sizes, n_rows, n_classes), or (n_sizes, n_rows, 1)
            Means over the trees.
        known : ndarray of bool, shape (n_rows,)
            Rows that have a prediction.
        """
        first = (kind - self._first_kind) * self._n_trees
        weights = self._target.weights
        sums, n_trees = self._view.pruned_out_of_bag(
            self._dataset.X,
            self._options,
            self._first_kind * self._n_trees,
            self._hard,
            self._n_threads,
            (first, first + self._n_trees),
            weights,
            self._node_weight,
            np.array(sizes, np.int64),
            row_step,
        )
        known = n_trees > 0
        if weights is not None:
            known &= weights[::row_step] > 0.0
        return sums / np.maximum(n_trees, 1)[:, None], known


def assign_trees(counts: Ints64, n_micro_trees: int) -> tuple[npt.NDArray[np.int32], Ints64]:
    """Kind of each tree, and the numbers of the trees that are still to be grown.

    Parameters
    ----------
    counts : ndarray of shape (n_kinds,)
        Trees that each kind is to have.
    n_micro_trees : int
        Size of the micro-forests: kind k has the trees from k · n_micro_trees on.
    """
    n_kinds = len(counts)
    stay = np.minimum(counts, n_micro_trees)
    kind, place = np.divmod(np.arange(n_kinds * n_micro_trees), n_micro_trees)
    stays = place < stay[kind]
    of_tree = np.full(int(counts.sum()), -1, np.int32)
    of_tree[np.flatnonzero(stays)] = kind[stays]
    missing = np.flatnonzero(of_tree < 0)
    of_tree[missing] = np.repeat(np.arange(n_kinds), counts - stay)
    return of_tree, missing


def replace_trees(micro: FlatForest, grown: FlatForest, numbers: Ints64) -> FlatForest:
    """Return the trees of the micro-forests with some of them replaced or added.

    Parameters
    ----------
    micro : FlatForest
        The trees 0, 1, ...
    grown : FlatForest
        The trees of `numbers`.
    numbers : ndarray of int64
        Numbers of the trees, ascending; together with those of `micro` they have no gap.
    """
    if len(numbers) == 0:
        return micro
    forest = join_forests(micro, grown)
    if numbers[0] == micro.n_trees:  # in the order of their numbers already
        return forest
    place = np.arange(max(micro.n_trees, int(numbers[-1]) + 1))
    place[numbers] = micro.n_trees + np.arange(len(numbers))
    return take_trees(forest, place)
