"""The oblique forest regressor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from bevel.data.outputs import read_output_numbers, refused_with_outputs
from bevel.data.row_weights import read_weights
from bevel.data.target import read_numbers
from bevel.estimators._base import ObliqueForest
from bevel.estimators._quantiles import Quantiles
from bevel.estimators.registry import savable
from bevel.forest.out_of_bag import OutOfBag
from bevel.forest.outputs import Outputs
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import REGRESSOR_PARAMETERS, documented
from bevel.training.criteria import check_counts
from bevel.training.progress import Callback
from bevel.training.trainer import TrainingTarget


@savable
@documented(REGRESSOR_PARAMETERS)
class ObliqueForestRegressor(RegressorMixin, Quantiles, ObliqueForest):  # type: ignore[misc]
    """A forest of decision trees that cut along oblique directions, for regression.

    At each node a few directions are drawn, the node's rows are projected on them, and the split
    that lowers the squared error (or the chosen `criterion`) most is kept. By default several
    families of directions share the trees, more of them going to families with better out-of-bag
    results; `families_` has the result. With `projection="axis"` it is Breiman's random forest.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {columns}
    {trees}
    {outputs}
    {families}
    oob_score_ : float
        R², or the result of `oob_score`, of the out-of-bag predictions.
    oob_prediction_ : ndarray of shape (n_rows,) or (n_rows, n_outputs_)
        Out-of-bag predictions; NaN for a row that was in every bag.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(n_estimators=50, random_state=0).fit(X, y)
    >>> forest.predict(X[:1]).shape
    (1,)
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = REGRESSOR_PARAMETERS

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        projection: Any = "auto",
        n_projections: int | float | str = "auto",
        criterion: str = "squared_error",
        threshold: str = "best",
        n_thresholds: int = 1,
        split_search: str = "auto",
        max_depth: int | None = None,
        min_samples_split: int | float | str = "auto",
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        growth: str | None = None,
        min_impurity_decrease: float = 0.0,
        split_pure_nodes: bool = False,
        bootstrap: bool | str = "auto",
        max_samples: int | float | None = None,
        replace: bool = True,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        keep_targets: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.projection = projection
        self.n_projections = n_projections
        self.criterion = criterion
        self.threshold = threshold
        self.n_thresholds = n_thresholds
        self.split_search = split_search
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.growth = growth
        self.min_impurity_decrease = min_impurity_decrease
        self.split_pure_nodes = split_pure_nodes
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.replace = replace
        self.scale = scale
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.keep_targets = keep_targets
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predicted value of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs_)
            Mean over the trees of the leaf's mean target, or of its median with
            `criterion="absolute_error"`.
        """
        values: npt.NDArray[np.float64] = self._predict_with("values", X)
        return values

    def _read_target(
        self, y: Any, sample_weight: Any, n_rows: int, _draws_bags: bool
    ) -> TrainingTarget:
        self._check_targets_of_earlier_trees(self._fitted if self._trees_are_kept() else None)
        weights = read_weights(sample_weight, None, None, n_rows)
        given = self._split(y)
        n_outputs = 1 if given is None else len(given.names)
        self._check_same_outputs(n_outputs)
        if given is not None:
            if self.keep_targets:
                remedy = "Pass X_train and y_train to predict_quantiles instead."
                raise refused_with_outputs("keep_targets", True, "False", remedy)
            if self.criterion != "squared_error":
                required = '"squared_error"'
                remedy = "Fit one forest per output."
                raise refused_with_outputs("criterion", self.criterion, required, remedy)
            values = read_output_numbers(given, n_rows)
            return TrainingTarget(values, 0, weights, Outputs(given.names, None))
        values = read_numbers(y, n_rows)
        if self.criterion == "poisson":
            check_counts(values, weights)
        return TrainingTarget(values, 0, weights)

    def _check_same_outputs(self, n_outputs: int) -> None:
        if self._trees_are_kept() and self._fitted.forest.n_outputs != n_outputs:
            raise ValueError(
                f"y must have as many outputs as in the first fit when warm_start=True "
                f"({self._fitted.forest.n_outputs}); got {n_outputs}. Set warm_start=False."
            )

    def _set_out_of_bag(self, estimates: OutOfBag, target: TrainingTarget) -> None:
        if self._fitted.outputs is not None:
            self.oob_prediction_ = estimates.predictions
            of_outputs = self.oob_score if callable(self.oob_score) else r2_score
            self.oob_score_ = estimates.score(of_outputs, target.values, np.asarray)
            return
        self.oob_prediction_ = estimates.predictions[:, 0]
        metric = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_score_ = estimates.score(metric, target.values, np.ravel)
