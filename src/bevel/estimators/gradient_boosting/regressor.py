"""The oblique gradient boosting regressor."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from bevel._types import Floats
from bevel.data.dataset import Dataset
from bevel.data.row_weights import read_weights
from bevel.data.target import read_numbers
from bevel.errors import shorten, wrong_type, wrong_value
from bevel.estimators.gradient_boosting.base import ObliqueBoosting
from bevel.estimators.gradient_boosting.boosted_trees import _additive
from bevel.estimators.registry import savable
from bevel.forest.additive import add_trees
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.quantiles import interval_levels
from bevel.forest.records.boosting_record import Calibration
from bevel.parameters.boosting_parameters import BOOSTING_REGRESSOR_PARAMETERS
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import documented
from bevel.training.boosting import BoostingTarget
from bevel.training.progress import Callback
from bevel.training.threads import count_threads

MOST_QUANTILES = 99
# The spread of targets grows with this power of their mean; for other losses it is constant.
SPREAD = {"poisson": 0.5, "gamma": 1.0}
# Share of the residuals that the Huber loss counts by their squares.
HUBER_SHARE = 0.9


@savable
@documented(BOOSTING_REGRESSOR_PARAMETERS)
class ObliqueBoostingRegressor(RegressorMixin, ObliqueBoosting):  # type: ignore[misc]
    """Gradient boosting of trees that cut single features and oblique directions.

    Each iteration adds a tree that lowers the loss. Trees cut single features and, by default,
    sparse combinations of them, which are drawn anew for each iteration.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {columns}
    {trees}
    baseline_prediction_ : ndarray of shape (n_outputs,)
        Prediction before the first tree, on the scale of the trees.
    n_iter_ : int
        Number of iterations in the model.
    train_score_ : ndarray of shape (n_iterations,)
        Minus the mean loss on the training rows, after each iteration.
    validation_score_ : ndarray of shape (n_iterations,)
        Minus the mean loss on the validation rows, or their score by `scoring`; empty without
        early stopping.

    Examples
    --------
    >>> from bevel import ObliqueBoostingRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ObliqueBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
    >>> model.predict(X[:1]).shape
    (1,)
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = BOOSTING_REGRESSOR_PARAMETERS

    def __init__(
        self,
        loss: str | Callable[..., Any] = "squared_error",
        *,
        quantile: float | Sequence[float] | None = None,
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        projection: Any = "auto",
        n_projections: int | float | str = "auto",
        max_leaf_nodes: int | None = 15,
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
        l2_regularization: float = 3.0,
        max_bins: int = 255,
        subsample: float = 1.0,
        row_sampling: str = "uniform",
        early_stopping: bool | str = "auto",
        scoring: Any = "loss",
        validation_fraction: float | str = "auto",
        refit: bool | str = "auto",
        n_iter_no_change: int = 50,
        tol: float = 1e-7,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.projection = projection
        self.n_projections = n_projections
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.subsample = subsample
        self.row_sampling = row_sampling
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.scale = scale
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    def predict(self, X: Any) -> Floats:
        """Predicted value of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_quantiles) if `quantile` is a list
            Mean, median or quantile, depending on the loss; several quantiles ascend in each row.
        """
        raw = self._raw(X)
        return _additive(self._fitted).values(raw)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predict after each iteration.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Yields
        ------
        ndarray of shape (n_rows,), or (n_rows, n_quantiles)
            Predicted values.
        """
        for raw in self._staged_raw(X):
            yield _additive(self._fitted).values(raw)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Interval in which the target of each row lies with a given probability.

        It needs validation rows at fit (`X_val`, or early stopping), whose residuals show how far
        targets are from predictions. If new rows are like them, the interval covers at least the
        given share of targets on average over all rows (split conformal prediction: Vovk et al.
        2005, Lei et al. 2018); that the same rows chose the number of iterations is neglected. With
        several quantiles the interval follows the lowest and the highest, so its width differs
        from row to row (Romano, Patterson, Candès 2019).

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        coverage : float, default=0.9
            Share of targets that should be inside, between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper ends; infinite if there were too few validation rows.

        Examples
        --------
        >>> from bevel import ObliqueBoostingRegressor
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = ObliqueBoostingRegressor(early_stopping=True, random_state=0).fit(X, y)
        >>> model.predict_interval(X[:2], coverage=0.8).shape
        (2, 2)
        """
        interval_levels(coverage)
        record = _additive(self.fitted_forest_).record
        calibration = None if record is None else record.calibration
        if calibration is None:
            raise ValueError(
                "predict_interval needs validation rows, whose residuals measure how far targets "
                "are from predictions; this model was fitted without any of weight above 0. Fit "
                "with early_stopping=True, or pass X_val and y_val to fit."
            )
        found = self.predict(X)
        if found.ndim == 1:
            return calibration.around(found, coverage)
        return calibration.between(found[:, 0], found[:, -1], coverage)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions; not defined for several quantiles.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        float
            R²; the best value is 1.
        """
        if _additive(self.fitted_forest_).link == "sorted":
            raise ValueError(
                "score needs a model with one prediction for each row; this one predicts the "
                f"quantiles {self._quantiles()}. Pass a column of predict to "
                "sklearn.metrics.d2_pinball_score."
            )
        return float(super().score(X, y, sample_weight))

    def _check_combinations(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
        super()._check_combinations(X_val, y_val, sample_weight_val)
        if (self.loss == "quantile") != (self.quantile is not None):
            raise ValueError(
                'quantile must be given with loss="quantile", and only then; got '
                f"quantile={shorten(self.quantile)} with loss={shorten(self.loss)}. Pass for "
                'example loss="quantile", quantile=0.9.'
            )
        if self._has_many_quantiles():
            self._quantiles()  # raises for invalid ones

    def _has_many_quantiles(self) -> bool:
        return isinstance(self.quantile, Iterable)

    def _spread(self) -> float:
        return SPREAD.get(self.loss, 0.0) if isinstance(self.loss, str) else 0.0

    def _loss(self) -> tuple[str, str, int]:
        if callable(self.loss):
            return "user", "identity", 1
        if self._has_many_quantiles():
            return "quantile", "sorted", len(self._quantiles())
        link = "exponential" if self.loss in ("poisson", "gamma") else "identity"
        return self.loss, link, 1

    def _quantiles(self) -> list[float]:
        if self.loss == "huber":
            return [HUBER_SHARE]
        if not isinstance(self.quantile, Iterable):
            return [0.5 if self.quantile is None else float(self.quantile)]
        required = f"ascending numbers between 0 and 1, at most {MOST_QUANTILES}"
        remedy = "Write for example [0.1, 0.5, 0.9]."
        try:
            levels = [float(level) for level in self.quantile]
        except (TypeError, ValueError):
            raise wrong_type("quantile", required, self.quantile, remedy) from None
        edges = [0.0, *levels, 1.0]
        ascending = all(low < high for low, high in itertools.pairwise(edges))
        if not 0 < len(levels) <= MOST_QUANTILES or not ascending:
            raise wrong_value("quantile", required, self.quantile, remedy)
        return levels

    def _calibrate(
        self, fitted: FittedForest, dataset: Dataset, target: BoostingTarget
    ) -> Calibration | None:
        if target.validates is None:
            return None
        kept = (
            target.validates
            if target.weights is None
            else target.validates & (target.weights > 0.0)
        )
        if not kept.any():
            return None
        rows = dataset.rows(kept)
        additive, n_threads = _additive(fitted), count_threads(self.n_jobs)
        found = additive.values(add_trees(fitted.packed_predictor, additive, rows, n_threads))
        values = target.values[kept]
        weights = None if target.weights is None else target.weights[kept]
        empty = Calibration(np.empty((0, 1)), None, self._spread())
        if found.ndim == 2:
            residuals = np.column_stack([found[:, 0] - values, values - found[:, -1]])
        else:
            residuals = ((values - found) / empty.spread(found))[:, np.newaxis]
        return replace(empty, residuals=residuals, weights=weights)

    def _read_target(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        weights = read_weights(sample_weight, None, None, n_rows)
        return BoostingTarget(self._numbers(y, n_rows, "y"), weights, None)

    def _read_validation(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        weights = read_weights(sample_weight, None, None, n_rows)
        return BoostingTarget(self._numbers(y, n_rows, "y_val"), weights, None)

    def _numbers(self, y: Any, n_rows: int, name: str) -> Floats:
        return self._checked_target(read_numbers(y, n_rows), name)

    def _checked_target(self, values: Floats, name: str = "y") -> Floats:
        lowest = float(np.min(values))
        if self.loss == "poisson" and (lowest < 0.0 or not values.any()):
            raise ValueError(
                f'{name} must hold numbers of at least 0, not all 0, with loss="poisson"; got '
                f'{lowest:g}. Use loss="squared_error", or shift the target.'
            )
        if self.loss == "gamma" and lowest <= 0.0:
            raise ValueError(
                f'{name} must hold positive numbers with loss="gamma"; got {lowest:g}. Use '
                'loss="squared_error" or "poisson", or shift the target.'
            )
        return values
