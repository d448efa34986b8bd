"""The oblique gradient boosting regressor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from bevel._types import Floats
from bevel.data.row_weights import read_weights
from bevel.data.target import read_numbers
from bevel.estimators.gradient_boosting.base import ObliqueBoosting, _additive
from bevel.estimators.registry import savable
from bevel.parameters.boosting_parameters import BOOSTING_REGRESSOR_PARAMETERS
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import documented
from bevel.training.boosting import BoostingTarget
from bevel.training.progress import Callback

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
        Iterations that are kept.
    train_score_ : ndarray of shape (n_iterations,)
        Minus the mean loss on the training rows, after each iteration.
    validation_score_ : ndarray of shape (n_iterations,)
        Minus the mean loss on the validation rows; empty without early stopping.

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
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
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
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
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
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
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
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Mean, median or quantile, by the loss.
        """
        raw = self._raw(X)
        return _additive(self._fitted).values(raw)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predict after each iteration.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,)
            Predicted values.
        """
        for raw in self._staged_raw(X):
            yield _additive(self._fitted).values(raw)

    def _check_combinations(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
        super()._check_combinations(X_val, y_val, sample_weight_val)
        if (self.loss == "quantile") != (self.quantile is not None):
            raise ValueError(
                'quantile must be given with loss="quantile", and only then; got '
                f'quantile={self.quantile} with loss="{self.loss}". Pass for example '
                'loss="quantile", quantile=0.9.'
            )

    def _loss(self) -> tuple[str, str, int]:
        link = "exponential" if self.loss in ("poisson", "gamma") else "identity"
        return self.loss, link, 1

    def _quantile(self) -> float:
        if self.loss == "huber":
            return HUBER_SHARE
        return 0.5 if self.quantile is None else float(self.quantile)

    def _read_target(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        weights = read_weights(sample_weight, None, None, n_rows)
        return BoostingTarget(self._numbers(y, n_rows, "y"), weights, None)

    def _read_validation(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        weights = read_weights(sample_weight, None, None, n_rows)
        return BoostingTarget(self._numbers(y, n_rows, "y_val"), weights, None)

    def _numbers(self, y: Any, n_rows: int, name: str) -> Floats:
        values = read_numbers(y, n_rows)
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
