"""The training rows of a fitted forest, given once more: a forest keeps no row and no bag."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from bevel.errors import NoOutOfBagError, shorten
from bevel.forest.leaf_rows import LeafRows, agrees_with_leaves, collect_leaf_rows
from bevel.forest.predictor import PackedPredictor
from bevel.forest.training_rows import Bags, TrainingRows, check_leaves_rows_out, recall_rows
from bevel.projections.families import read_projection


class Weighting(NamedTuple):
    """How the rows of a fit were weighed."""

    weights: npt.NDArray[np.float64] | None  # of the rows; None if all are one
    balanced: npt.NDArray[np.int32] | None = None  # their classes, if each bag was balanced


class Recall:
    """What fitted estimators do with the rows of their fit."""

    projection: Any
    n_projections: Any
    _predictor: PackedPredictor  # and with it the forest
    _bags: tuple[int, int, bool] | None  # rows, draws, replacement; None: trees differ
    _seed: int | None  # of trees 0, 1, ...; None: some of them, which cannot be drawn again

    @abstractmethod
    def verify(self) -> Self:
        """Read and check all of a mapped file."""

    @abstractmethod
    def _trees_are_kept(self) -> bool:
        """Whether a fit adds to the trees there are."""

    @abstractmethod
    def _encode(self, X: Any) -> npt.NDArray[np.float32]:
        """Rows to predict, read as the training rows were."""

    @abstractmethod
    def _reread_weights(self, sample_weight: Any, target: npt.NDArray[Any]) -> Weighting:
        """Weights of the rows of an earlier fit, given again."""

    @abstractmethod
    def _reread_target(self, y: Any, n_rows: int) -> npt.NDArray[Any]:
        """Check the y of an earlier fit, given again; nothing is remembered of it."""

    def _out_of_bag_rows(self, asked: str, X: Any, y: Any) -> TrainingRows:
        """Training rows with their bags, for `asked`, which needs rows that a tree has not seen."""
        self._check_out_of_bag_is_honest(asked)
        check_leaves_rows_out(self._known_bags(asked))
        return self._training_rows(asked, X, y)

    def _training_rows(self, asked: str, X: Any, y: Any, sample_weight: Any = None) -> TrainingRows:
        """Training rows with their bags, for `asked`; raises if they are other rows."""
        bags = self._known_bags(asked)
        encoded = self._encode(X)
        target = self._reread_target(y, len(encoded))
        weights = self._reread_weights(sample_weight, target).weights
        return recall_rows(self._predictor.forest, bags, encoded, target, weights)

    def _leaf_rows(
        self, asked: str, X: Any, y: Any, sample_weight: Any, n_threads: int
    ) -> tuple[LeafRows, TrainingRows, Weighting]:
        """Training rows in their leaves, for `asked`; raises if they do not give the forest."""
        rows = self._training_rows(asked, X, y, sample_weight)
        weighting = self._reread_weights(sample_weight, rows.target)
        forest = self._predictor.forest
        leaf_rows = collect_leaf_rows(
            forest,
            rows.X,
            rows.bags,
            weights=weighting.weights,
            balanced=weighting.balanced,
            n_threads=n_threads,
        )
        if not agrees_with_leaves(forest, leaf_rows, rows.target):
            raise ValueError(
                f"{asked} needs the rows, targets and weights of the fit; got others, which do not "
                "give what the leaves predict. Pass the X, y and sample_weight of the fit."
            )
        return leaf_rows, rows, weighting

    def _check_out_of_bag_is_honest(self, asked: str) -> None:
        """Raise if penalties were chosen on out-of-bag rows, which then do not tell errors."""
        for member in read_projection(self.projection, self.n_projections):
            if member.projection.needs_out_of_bag:
                raise NoOutOfBagError(
                    f"{asked} needs out-of-bag rows that no tree has learnt from; got "
                    f"{shorten(member.projection)}, which chose its penalties on them. Use "
                    'Ridge(tune="gcv").'
                )

    def _known_bags(self, asked: str) -> Bags:
        """How the bags were drawn."""
        if self._bags is None or self._seed is None:
            raise ValueError(
                f"{asked} needs a forest whose bags can be drawn again; got trees chosen by "
                "prune_trees, or grown with other bags by warm_start. Ask the whole forest, after "
                "its last fit."
            )
        return Bags(*self._bags, seed=self._seed)
