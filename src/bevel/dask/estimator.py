"""Base of the estimators on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bevel.dask.cluster import Fit, find_client, workers_of
from bevel.dask.memory import TableSize, choose_mode, choose_workers
from bevel.dask.parameters import (
    check_cluster_parameters,
    pickle_parameters,
)
from bevel.dask.parts import (
    PartedRows,
    Parts,
    check_table,
    column_parts,
    is_array,
    is_frame,
    table_parts,
)
from bevel.dask.prediction import (
    Method,
    Model,
    current_client,
    model_of,
    predict_lazily,
    send_model,
)
from bevel.dask.replicated import fit_replicated
from bevel.dask.sharded import read_parts
from bevel.dask.tasks import FitRequest, FitResult, measure_part
from bevel.data.tables import Table
from bevel.estimators._base import ObliqueForest
from bevel.estimators._whole_fits import whole_or_not_at_all
from bevel.estimators.loading import restore
from bevel.estimators.registry import KINDS
from bevel.estimators.scanned.fitting import fit_over_blocks
from bevel.files.model import StoredEstimator, read_model
from bevel.training.options import draw_seed

__all__ = ["DaskForest"]

# Parameters that stay at the client, since they do not affect the forest.
NOT_SENT: Mapping[str, Any] = {
    "random_state": None,
    "n_jobs": None,
    "verbose": 0,
    "callback": None,
    "warm_start": False,
}


class DaskForest(ObliqueForest):
    """Fits on the workers of a cluster, and predicts Dask collections."""

    mode: str
    client: Any

    _local: ClassVar[type[ObliqueForest]]
    _score: ClassVar[Callable[..., Any]]

    @property
    def client_(self) -> Any:
        """The client that `fit` uses: the one that was given, or the current one."""
        return find_client(self.client)

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the forest on the workers.

        Rows are used in the order of the partitions. The forest is that of a local fit of
        ``X.compute()``, for any partitions and workers.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features)
            Training rows, possibly with unknown chunk sizes, empty partitions and NaN.
        y : dask array or series of shape (n_rows,)
            Targets; partitions need not be those of X.
        sample_weight : dask array or series of shape (n_rows,), default=None
            Weights of the rows, as in the local estimator.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_cluster_parameters(self.mode, self.warm_start)
        self._checked_parameters()
        client = self.client_
        parameters = pickle_parameters({**self._local_parameters(), **NOT_SENT})
        columns = [table_parts(X), column_parts("y", y)]
        if sample_weight is not None:
            columns.append(column_parts("sample_weight", sample_weight))
        self._forget()
        with Fit(client) as fit:
            rows, size = _compute(fit, columns, self.mode)
            if choose_mode(self.mode, workers_of(client), size) == "sharded":
                self._fit_sharded(fit, rows)
                return self
            large = choose_workers(workers_of(client), size)
            fit.workers = None if large is None else [worker.address for worker in large]
            request = FitRequest(self._local.__name__, parameters, draw_seed(self.random_state))
            result = fit_replicated(fit, request, rows, self.n_estimators, self._progress)
        self._restore(result)
        return self

    def _fit_sharded(self, fit: Fit, rows: PartedRows) -> None:
        """Grow over the parts of the rows, which stay where they are."""
        local = self.to_local()
        fit_over_blocks(local, partial(read_parts, fit, rows))
        for name, value in vars(local).items():
            if name == "_fitted" or name.endswith("_"):
                setattr(self, name, value)

    def to_local(self) -> Any:
        """The forest as an estimator of bevel itself, which needs no cluster.

        Returns
        -------
        ObliqueForestClassifier or ObliqueForestRegressor
            Local estimator that shares the trees, fitted if this one is.
        """
        local = self._local(**self._local_parameters())
        for name, value in vars(self).items():
            if name == "_fitted" or name.endswith("_"):
                setattr(local, name, value)
        return local

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the forest to a file for `bevel.load`, which gives the local estimator.

        Parameters
        ----------
        path : str or path
            Path of the file, on the machine of the client.
        """
        check_is_fitted(self)
        self.to_local().save(path)

    def predict(self, X: Any) -> Any:
        """Predictions, lazily.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        dask array or series of shape (n_rows,)
            An array for an array, a series with the index of X for a frame.
        """
        check_is_fitted(self)
        classes = self._fitted.classes
        if classes is None:
            return self._lazily(X, Method("predict", np.dtype(np.float64)))
        method = Method("predict", classes.dtype, classes=tuple(classes.tolist()))
        return self._lazily(X, method)

    def apply(self, X: Any) -> Any:
        """Leaf of each row in each tree, lazily.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        dask array or data frame of int32, shape (n_rows, n_estimators)
            Nodes, counted from the root of their tree.
        """
        check_is_fitted(self)
        n_trees = self._fitted.forest.n_trees
        return self._lazily(X, Method("apply", np.dtype(np.int32), range(n_trees)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of a classifier, R² of a regressor; computed at once.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features)
            Rows to predict.
        y : dask array or series of shape (n_rows,)
            True targets, in the partitions of X.
        sample_weight : dask array or series of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        float
            Accuracy or R².
        """
        predictions = self.predict(X)
        named = {"y": y} if sample_weight is None else {"y": y, "sample_weight": sample_weight}
        columns = [column_parts("predictions", predictions).delayed]
        for name, column in named.items():
            columns.append(_like(name, column, predictions).delayed)
        if sample_weight is None:
            columns.append([None] * len(columns[0]))
        score = type(self)._score(list(zip(*columns, strict=True)))
        client = current_client(self.client)
        return float(score.compute() if client is None else client.compute(score).result())

    def _lazily(self, X: Any, method: Method) -> Any:
        check_is_fitted(self)
        check_table(X)
        model = self._model()
        names = getattr(self, "feature_names_in_", None)
        sent = self._send(model)
        return predict_lazily(X, sent, model.name, method, names, self.n_features_in_)

    def _model(self) -> Model:
        """The model as bytes, made once."""
        parts = (self._fitted, getattr(self, "voting", None))  # voting may be set after fit
        known = self.__dict__.get("_model_cache")
        if known is None or known[0] != parts:
            known = self._model_cache = (parts, model_of(self.to_local()))
        return known[1]

    def _send(self, model: Model) -> Any:
        """The model as a lazy value, sent to a cluster once."""
        client = current_client(self.client)
        key = (model.name, None if client is None else client.id)
        known = self.__dict__.get("_sent_cache")
        if known is None or known[0] != key:
            known = self._sent_cache = (key, send_model(model, client))
        return known[1]

    def _forget(self) -> None:
        """Drop the results of an earlier fit."""
        for name in list(vars(self)):
            if name in ("_fitted", "_model_cache", "_sent_cache") or name.endswith("_"):
                delattr(self, name)

    def _restore(self, result: FitResult) -> None:
        """Set the results of the workers."""
        fitted = restore(read_model(result.model.data, KINDS))
        attributes = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
        for name, value in (attributes | dict(result.attributes)).items():
            setattr(self, name, value)
        self._fitted = fitted._fitted

    def _local_parameters(self) -> dict[str, Any]:
        return self._own_parameters()

    def _settings(self) -> dict[str, Any]:
        return self._local_parameters()

    def _to_store(self) -> StoredEstimator:
        return self.to_local()._to_store()  # type: ignore[no-any-return]

    def _read(self, X: Any, y: Any, reset: bool) -> Table:
        if is_array(X) or is_frame(X):
            raise TypeError(
                "X must be in memory for this method, which does not work lazily; got a Dask "
                "collection. Pass X.compute()."
            )
        return super()._read(X, y, reset)

    def __getstate__(self) -> dict[str, Any]:
        """State without the client and what belongs to its cluster."""
        state = dict(super().__getstate__())
        for name in ("_model_cache", "_sent_cache"):
            state.pop(name, None)
        return state | {"client": None}

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with the same client."""
        parameters = {
            name: value if name == "client" else clone(value, safe=False)
            for name, value in self.get_params(deep=False).items()
        }
        return type(self)(**parameters)


def _like(name: str, column: Any, predictions: Any) -> Parts:
    """Parts of a column that correspond to those of the predictions."""
    if is_array(column) and is_array(predictions) and column.ndim == 1:
        known = not np.isnan(column.shape[0]) and not np.isnan(predictions.shape[0])
        if known and column.shape == predictions.shape:
            column = column.rechunk(predictions.chunks)
    parts = column_parts(name, column)
    n_parts = len(column_parts("predictions", predictions).delayed)
    if len(parts.delayed) != n_parts:
        raise ValueError(
            f"{name} must have the {n_parts} partitions of X; got {len(parts.delayed)}. Take it "
            "from the frame that X is from, or rechunk it alike."
        )
    return parts


def _compute(fit: Fit, columns: list[Parts], mode: str) -> tuple[PartedRows, TableSize]:
    """Compute the parts of the training rows, and measure them."""
    _check_lengths([column.n_rows for column in columns if column.n_rows is not None])
    if columns[0].size is not None:  # known before any computation
        choose_mode(mode, workers_of(fit.client), columns[0].size)
    counts = [len(column.delayed) for column in columns]
    futures = fit.compute([part for column in columns for part in column.delayed])
    fit.wait(futures, lambda _: None)
    parts = [futures[sum(counts[:i]) : sum(counts[: i + 1])] for i in range(len(counts))]
    measured = [[fit.submit("measure-part", measure_part, part) for part in each] for each in parts]
    sizes = [[fit.result(each) for each in column] for column in measured]
    _check_lengths([sum(n_rows for n_rows, _, _ in each) for each in sizes])
    n_rows = sum(n for n, _, _ in sizes[0])
    size = TableSize(n_rows, sizes[0][0][1], sum(n for _, _, n in sizes[0]))
    n_rows_of_parts = tuple([n for n, _, _ in column] for column in sizes)
    weights = parts[2] if len(parts) > 2 else None
    return PartedRows(parts[0], parts[1], weights, n_rows_of_parts), size


def _check_lengths(lengths: list[int]) -> None:
    if len(set(lengths)) > 1:
        raise ValueError(
            "X, y and sample_weight must have the same number of rows; got "
            f"{', '.join(map(str, lengths))}. Take them from the same rows."
        )
