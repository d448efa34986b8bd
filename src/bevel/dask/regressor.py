"""The oblique forest regressor on a Dask cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from bevel.dask.estimator import DaskForest
from bevel.dask.parameters import CLUSTER_PARAMETERS, takes_parameters_of
from bevel.dask.prediction import Method
from bevel.dask.scoring import r_squared
from bevel.estimators.regressor import ObliqueForestRegressor
from bevel.forest.quantiles import interval_levels, read_levels
from bevel.parameters.forest_parameters import REGRESSOR_PARAMETERS, documented

__all__ = ["DaskObliqueForestRegressor"]


@documented(REGRESSOR_PARAMETERS | CLUSTER_PARAMETERS)
@takes_parameters_of(ObliqueForestRegressor)
class DaskObliqueForestRegressor(DaskForest, ObliqueForestRegressor):
    """An oblique forest regressor whose trees are grown by the workers of a Dask cluster.

    It gives the same forest, bit for bit, as `ObliqueForestRegressor` on the same rows in the same
    order, for any partitions and workers, as long as the encoded table fits into the memory of a
    worker. Larger ones are grown over blocks (`mode`).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {columns}
    {trees}
    {families}
    oob_score_ : float
        R², or the result of `oob_score`, of the out-of-bag predictions.
    oob_prediction_ : ndarray of shape (n_rows,)
        Out-of-bag predictions; NaN for a row that was in every bag.
    client_ : dask.distributed.Client
        The client that `fit` uses.

    Notes
    -----
    Workers use the threads that Dask gave them; `n_jobs` only applies to `to_local()`.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from bevel.dask import DaskObliqueForestRegressor
    >>> client = Client(processes=False, dashboard_address=None)
    >>> X = da.random.default_rng(0).normal(size=(200, 5), chunks=(100, 5))
    >>> y = X[:, 0] + X[:, 1]
    >>> forest = DaskObliqueForestRegressor(10, random_state=0).fit(X, y)
    >>> forest.predict(X).shape
    (200,)
    >>> client.close()
    """

    _local = ObliqueForestRegressor
    _score = staticmethod(r_squared)

    def predict_quantiles(  # type: ignore[override]
        self, X: Any, quantiles: npt.ArrayLike = (0.05, 0.5, 0.95)
    ) -> Any:
        """Quantiles of the target of each row, lazily; needs ``keep_targets=True`` in fit.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features)
            Rows to predict.
        quantiles : float or sequence of float, default=(0.05, 0.5, 0.95)
            Levels from 0 to 1.

        Returns
        -------
        dask array or data frame of shape (n_rows, n_quantiles), or (n_rows,) for one level
            Quantiles; the columns of a frame are the levels.
        """
        levels = read_levels(quantiles)
        columns = levels.tolist() if levels.ndim else None
        return self._lazily_from_targets("predict_quantiles", X, columns, quantiles)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:  # type: ignore[override]
        """Interval of the target of each row, lazily; needs ``keep_targets=True`` in fit.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features)
            Rows to predict.
        coverage : float, default=0.9
            Share of targets that should be inside, between 0 and 1.

        Returns
        -------
        dask array or data frame of shape (n_rows, 2)
            Lower and upper ends; the columns of a frame are "lower" and "upper".
        """
        interval_levels(coverage)
        return self._lazily_from_targets("predict_interval", X, ["lower", "upper"], coverage)

    def _lazily_from_targets(self, name: str, X: Any, columns: Any, argument: Any) -> Any:
        check_is_fitted(self)
        self._targets_for(name, (None, None, None), 1)  # raises without kept targets
        return self._lazily(X, Method(name, np.dtype(np.float64), columns, (argument,)))
