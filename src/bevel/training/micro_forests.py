"""Micro-forests: a few trees of each kind, whose losses decide how many more trees it gets.

Kind k grows the trees from k · U on, where U is the size of a micro-forest. A bag depends on the
seed and the number of a tree alone, so bags can be drawn again as for any forest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bevel import _core
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
        self._n_all_trees = forest.n_trees

    @cached_property
    def _bags(self) -> npt.NDArray[np.uint8]:
        """One bit for each tree and row, for predictions of single blocks of rows."""
        return _core.draw_bags(
            self._options,
            len(self._dataset.X),
            self._first_kind * self._n_trees,
            self._n_all_trees,
            self._target.weights,
            self._n_threads,
        )

    def known(self, kind: int, row_step: int = 1) -> npt.NDArray[np.bool_]:
        """Which rows, every so many one, the trees of a kind predict out of bag."""
        trees = slice(*self._trees_of(kind))
        in_all = np.bitwise_and.reduce(self._bags[trees], axis=0)
        n_rows, weights = len(self._dataset.X), self._target.weights
        known = ~np.unpackbits(in_all, count=n_rows, bitorder="little").astype(bool)
        if weights is not None:
            known &= weights > 0.0
        return np.asarray(known[::row_step])

    def predict_out_of_bag(
        self, kind: int, rows: slice | None = None
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Mean prediction of each row by the trees of a kind, and which rows have one.

        Parameters
        ----------
        kind : int
            Of the trees.
        rows : slice, default=None
            Those to predict; None for all.
        """
        weights = self._target.weights
        sums, n_trees = self._view.out_of_bag(
            self._dataset.X,
            self._options,
            self._first_kind * self._n_trees,
            self._hard,
            self._n_threads,
            self._trees_of(kind),
            weights,
            *self._block(rows),
        )
        known = n_trees > 0
        if weights is not None:
            known &= weights[rows or slice(None)] > 0.0
        sums /= np.maximum(n_trees, 1)[:, None]
        return sums, known

    def predict_pruned(
        self, kind: int, sizes: Sequence[int], row_step: int, rows: slice | None = None
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Out-of-bag predictions of the trees of a kind, pruned to several sizes of nodes.

        Parameters
        ----------
        kind : int
            Kind of the trees.
        sizes : sequence of int
            Sizes, ascending; nodes of fewer rows are leaves.
        row_step : int
            Every so many rows one is predicted.
        rows : slice, default=None
            Those of them to predict; None for all.

        Returns
        -------
        predictions : ndarray of shape (n_sizes, n_rows, n_classes), or (n_sizes, n_rows, 1)
            Means over the trees.
        known : ndarray of bool, shape (n_rows,)
            Rows that have a prediction.
        """
        weights = self._target.weights
        sums, n_trees = self._view.pruned_out_of_bag(
            self._dataset.X,
            self._options,
            self._first_kind * self._n_trees,
            self._hard,
            self._n_threads,
            self._trees_of(kind),
            weights,
            self._node_weight,
            np.array(sizes, np.int64),
            row_step,
            *self._block(rows),
        )
        known = n_trees > 0
        if weights is not None:
            known &= weights[::row_step][rows or slice(None)] > 0.0
        sums /= np.maximum(n_trees, 1)[:, None]
        return sums, known

    def _trees_of(self, kind: int) -> tuple[int, int]:
        first = (kind - self._first_kind) * self._n_trees
        return first, first + self._n_trees

    def _block(
        self, rows: slice | None
    ) -> tuple[tuple[int, int] | None, npt.NDArray[np.uint8] | None]:
        """Rows and bags as the core reads them."""
        return (None, None) if rows is None else ((rows.start, rows.stop), self._bags)


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
