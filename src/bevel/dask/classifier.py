"""The oblique forest classifier on a Dask cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bevel.dask.estimator import DaskForest
from bevel.dask.parameters import CLUSTER_PARAMETERS, takes_parameters_of
from bevel.dask.prediction import Method
from bevel.dask.scoring import accuracy
from bevel.estimators.classifier import ObliqueForestClassifier
from bevel.parameters.forest_parameters import CLASSIFIER_PARAMETERS, documented

__all__ = ["DaskObliqueForestClassifier"]


@documented(CLASSIFIER_PARAMETERS | CLUSTER_PARAMETERS)
@takes_parameters_of(ObliqueForestClassifier)
class DaskObliqueForestClassifier(DaskForest, ObliqueForestClassifier):
    """An oblique forest classifier whose trees are grown by the workers of a Dask cluster.

    It gives the same forest, bit for bit, as `ObliqueForestClassifier` on the same rows in the same
    order, for any partitions and workers, as long as the encoded table fits into the memory of a
    worker. Larger ones are grown over blocks (`mode`).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes}
    {columns}
    {trees}
    {families}
    calibration_power_ : float
        The power that `predict_proba` raises the mean class shares of the trees to; 1 changes
        nothing.
    oob_score_ : float
        Accuracy, or the result of `oob_score`, of the out-of-bag predictions.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes_)
        Out-of-bag class probabilities; NaN for a row that was in every bag.
    client_ : dask.distributed.Client
        The client that `fit` uses.

    Notes
    -----
    Workers use the threads that Dask gave them; `n_jobs` only applies to `to_local()`.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from bevel.dask import DaskObliqueForestClassifier
    >>> client = Client(processes=False, dashboard_address=None)
    >>> X = da.random.default_rng(0).normal(size=(200, 5), chunks=(100, 5))
    >>> y = (X[:, 0] + X[:, 1] > 0).astype(int)
    >>> forest = DaskObliqueForestClassifier(10, random_state=0).fit(X, y)
    >>> forest.predict(X).shape
    (200,)
    >>> client.close()
    """

    _local = ObliqueForestClassifier
    _score = staticmethod(accuracy)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of each row, in the order of `classes_`, lazily.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        dask array or data frame of shape (n_rows, n_classes_)
            An array for an array, for a frame a frame with its index and the classes as columns.
        """
        return self._lazily(X, self._per_class("predict_proba"))

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the class probabilities, lazily; minus infinity for zero.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        dask array or data frame of shape (n_rows, n_classes_)
            Logarithms of `predict_proba`.
        """
        return self._lazily(X, self._per_class("predict_log_proba"))

    def _per_class(self, name: str) -> Method:
        check_is_fitted(self)
        return Method(name, np.dtype(np.float64), self.classes_.tolist())
