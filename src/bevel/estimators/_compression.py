"""Smaller versions of a fitted forest, made of some of its trees."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from bevel.errors import wrong_type, wrong_value
from bevel.estimators._grown import GrownTrees
from bevel.estimators._reading import encode_rows
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.kept_targets import take_targets
from bevel.forest.predictor import PackedPredictor
from bevel.forest.subforest import take_trees
from bevel.forest.training_rows import out_of_bag_rows
from bevel.forest.tree_selection import best_subset, pair_errors
from bevel.parameters.constraints import Integer
from bevel.training.threads import count_threads

Estimator = TypeVar("Estimator", bound="Compression")


class Compression(GrownTrees):
    """The methods that choose among the trees of a fitted forest."""

    n_estimators: int

    def prune_trees(self, n_trees: int, X: Any, y: Any) -> Self:
        """Return the forest of the best `n_trees` trees, by their joint out-of-bag error.

        Trees are chosen one by one so that the squared error of their average, the Brier score of
        a classifier, is smallest; each pair of trees is evaluated on the rows out of both bags.

        Parameters
        ----------
        n_trees : int
            Number of trees to keep, at least 1.
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            The training rows, in the order of the fit.
        y : array-like of shape (n_rows,)
            Targets of the training rows.

        Returns
        -------
        object
            A new fitted estimator with ``n_estimators=n_trees``; this one is unchanged. As its
            trees are a selection, `warm_start` cannot add to them; it has no out-of-bag estimates.
        """
        check_is_fitted(self)
        self.fitted_forest_.check_one_output("prune_trees")
        self._check_budget(n_trees)
        fitted = self.fitted_forest_.in_memory()
        rows = out_of_bag_rows(fitted, encode_rows(self, X), y, "prune_trees")
        errors = pair_errors(fitted.packed_predictor, rows, count_threads(self.n_jobs), fitted.hard)
        return keep_trees(self, best_subset(errors, n_trees))

    def _check_budget(self, n_trees: object) -> None:
        n_there = self._fitted.forest.n_trees
        complaint = (f"an integer from 1 to the {n_there} trees there are", n_trees)
        if not Integer().describes(n_trees):
            raise wrong_type("n_trees", *complaint, "Write for example n_trees=100.")
        if n_trees not in range(1, n_there + 1):
            raise wrong_value("n_trees", *complaint, "Choose fewer trees, or grow more.")

    def _warm_start_seed(self) -> int:
        """Seed of the existing trees; raises if new trees could repeat some of them."""
        if self._fitted.seed is None:
            raise ValueError(
                "warm_start needs all trees of the seed up to some number, to go on from there; "
                "got some of them, chosen by prune_trees. Grow first and prune last, or set "
                "warm_start=False."
            )
        return self._fitted.seed


def keep_trees(estimator: Estimator, trees: npt.NDArray[np.int64]) -> Estimator:
    """New estimator with some of the trees, and without estimates that describe all of them."""
    pruned = copy.copy(estimator)
    pruned.n_estimators = len(trees)
    pruned._fitted = _take(estimator._fitted, trees)
    for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
        if hasattr(pruned, name):
            delattr(pruned, name)
    return pruned


def _take(fitted: FittedForest, trees: npt.NDArray[np.int64]) -> FittedForest:
    forest, targets, rotations = fitted.forest, fitted.kept_targets, fitted.rotations
    families = fitted.families
    return replace(
        fitted,
        predictor=PackedPredictor(take_trees(forest, trees)),
        bags=None,
        seed=None,
        targets=None if targets is None else take_targets(targets, forest, trees),
        rotations=rotations and replace(rotations, of_tree=rotations.of_tree[trees]),
        families=families and families.with_trees(families.of_tree[trees]),
    )
