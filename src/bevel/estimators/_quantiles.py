"""Quantiles and intervals of regressors, from the weights of the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from bevel._types import Floats
from bevel.data.dataset import Dataset
from bevel.data.outputs import split_outputs
from bevel.estimators._compression import Compression
from bevel.estimators._reading import encode_rows
from bevel.forest.bags import Bags
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.flat_forest import FlatForest
from bevel.forest.kept_targets import KeptTargets, join_targets, keep_targets
from bevel.forest.leaf_rows import collect_leaf_rows
from bevel.forest.quantiles import conditional_quantiles, interval_levels, read_levels
from bevel.forest.subforest import take_trees
from bevel.forest.training_rows import leaf_rows_of
from bevel.training.options import TrainingOptions
from bevel.training.threads import count_threads
from bevel.training.trainer import TrainingTarget


class Quantiles(Compression):
    """The methods of regressors that need the training targets of the leaves."""

    keep_targets: bool

    def predict_quantiles(
        self,
        X: Any,
        quantiles: npt.ArrayLike = (0.05, 0.5, 0.95),
        *,
        X_train: Any = None,
        y_train: Any = None,
        sample_weight: Any = None,
    ) -> Floats:
        """Quantiles of the target of each row.

        The quantile of level q is the smallest training target at which the weights of all targets
        up to it reach q, where the weight of a training row is the mean, over the trees, of its
        share in the leaf of the row (see `bevel.analysis.forest_weights`).

        X are new rows. A training row shares most leaves with itself, so its quantiles are close to
        its own target; `bevel.analysis.quantiles` gives those of training rows out of bag.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        quantiles : float or sequence of float, default=(0.05, 0.5, 0.95)
            Levels from 0 to 1.
        X_train, y_train : default=None
            The rows of the fit, in their order; needed unless the forest was grown with
            ``keep_targets=True``.
        sample_weight : array-like of shape (n_train,), default=None
            Weights of the training rows, if the fit had any.

        Returns
        -------
        ndarray of shape (n_rows, n_quantiles), or (n_rows,) for one level
            Quantiles. Several outputs are an axis after the rows.

        Examples
        --------
        >>> from bevel import ObliqueForestRegressor
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> forest = ObliqueForestRegressor(50, keep_targets=True, random_state=0).fit(X, y)
        >>> forest.predict_quantiles(X[:2], [0.1, 0.5, 0.9]).shape
        (2, 3)
        """
        levels = read_levels(quantiles)
        found = self._quantiles(
            "predict_quantiles", X, levels.ravel(), (X_train, y_train, sample_weight)
        )
        return found if levels.ndim else found[..., 0]

    def predict_interval(
        self,
        X: Any,
        coverage: float = 0.9,
        *,
        X_train: Any = None,
        y_train: Any = None,
        sample_weight: Any = None,
    ) -> Floats:
        """Interval in which the target of each row lies with a given probability.

        It ends at the quantiles (1 - coverage) / 2 and (1 + coverage) / 2. It is for single targets
        and does not shrink with more rows; for the error of the prediction itself see
        `bevel.analysis.predict_standard_error`. X are new rows: intervals of training rows are too
        narrow, and nearly all contain their target; use `bevel.analysis.quantiles` for these.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        coverage : float, default=0.9
            Share of targets that should be inside, between 0 and 1.
        X_train, y_train, sample_weight : default=None
            Training rows as in `predict_quantiles`.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper ends. Several outputs are an axis after the rows.
        """
        levels = interval_levels(coverage)
        return self._quantiles("predict_interval", X, levels, (X_train, y_train, sample_weight))

    def _quantiles(
        self, caller: str, X: Any, levels: Floats, training: tuple[Any, Any, Any]
    ) -> Floats:
        check_is_fitted(self)
        if self._fitted.outputs is not None:
            return self._quantiles_of_outputs(caller, X, levels, training)
        fitted = self._fitted = self._fitted.in_memory()
        n_threads = count_threads(self.n_jobs)
        targets = self._targets_for(caller, training, n_threads)
        rows = encode_rows(self, X)
        return conditional_quantiles(fitted.packed_predictor, targets, rows, levels, n_threads)

    def _quantiles_of_outputs(
        self, caller: str, X: Any, levels: Floats, training: tuple[Any, Any, Any]
    ) -> Floats:
        """Quantiles of several outputs, rows x outputs x levels."""
        X_train, y_train, sample_weight = training
        outputs = self._fitted.outputs
        given = None if y_train is None else split_outputs(y_train)
        if X_train is None or given is None or outputs is None or len(given.names) != len(outputs):
            raise ValueError(
                f"{caller} of several outputs needs the training rows with all of their targets; "
                "got none, or part of them. Pass X_train and y_train, the rows of the fit."
            )
        found = [
            self.output(k)._quantiles(caller, X, levels, (X_train, column, sample_weight))  # type: ignore[attr-defined]
            for k, column in enumerate(given.columns)
        ]
        return np.stack(found, axis=1)

    def _targets_for(
        self, caller: str, training: tuple[Any, Any, Any], n_threads: int
    ) -> KeptTargets:
        """Kept targets, or those of training rows that are given again."""
        X, y, sample_weight = training
        if X is not None and y is not None:
            encoded = encode_rows(self, X)
            leaf_rows, rows, weighting = leaf_rows_of(
                self._fitted, encoded, y, sample_weight, caller, n_threads
            )
            return keep_targets(leaf_rows, np.asarray(rows.target, float), weighting.weights)
        targets = self._fitted.kept_targets
        if targets is None or not X is y is sample_weight is None:
            got = "a forest that kept none" if X is y is sample_weight is None else "part of them"
            raise ValueError(
                f"{caller} needs the training targets of the leaves; got {got}. Fit with "
                "keep_targets=True, or pass X_train and y_train, the rows of the fit."
            )
        return targets

    def _check_targets_of_earlier_trees(self, before: FittedForest | None) -> None:
        """Raise if targets are to be kept and an earlier fit has not kept its own."""
        if self.keep_targets and before is not None and before.targets is None:
            raise ValueError(
                "keep_targets=True with warm_start needs the targets of the trees there are; got "
                "trees grown without it, or slimmed. Set keep_targets=False, or warm_start=False."
            )

    def _targets_to_keep(
        self,
        forest: FlatForest,
        dataset: Dataset,
        target: TrainingTarget,
        options: TrainingOptions,
        before: FittedForest | None,
        n_threads: int,
    ) -> KeptTargets | None:
        if not self.keep_targets:
            return None
        earlier = None if before is None else before.kept_targets
        n_before = 0 if before is None else before.forest.n_trees
        if forest.n_trees == n_before:
            return earlier
        grown = take_trees(forest, range(n_before, forest.n_trees)) if n_before else forest
        targets = _targets_of(grown, dataset, target, options, n_before, n_threads)
        return targets if earlier is None else join_targets(earlier, targets)


def _targets_of(
    forest: FlatForest,
    dataset: Dataset,
    target: TrainingTarget,
    options: TrainingOptions,
    first_tree: int,
    n_threads: int,
) -> KeptTargets:
    X = np.ascontiguousarray(dataset.X)
    bags = Bags(len(X), options.bag_size, options.replace, options.seed)
    leaf_rows = collect_leaf_rows(
        forest, X, bags, first_tree=first_tree, weights=target.weights, n_threads=n_threads
    )
    return keep_targets(leaf_rows, target.values, target.weights)
