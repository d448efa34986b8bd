"""The oblique forest classifier and regressor on a Dask cluster, and their base."""

from __future__ import annotations

import inspect
import os
import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from bevel.dask.cluster import Fit, find_client, workers_of
from bevel.dask.packages import cloudpickle
from bevel.dask.parts import (
    PartedRows,
    Parts,
    TableSize,
    check_table,
    choose_mode,
    choose_workers,
    column_parts,
    is_array,
    is_frame,
    table_parts,
)
from bevel.dask.prediction import (
    Method,
    Model,
    accuracy,
    current_client,
    model_of,
    predict_lazily,
    r_squared,
    send_model,
)
from bevel.dask.replicated import RowsAtWorkers
from bevel.dask.sharded import read_parts
from bevel.dask.tasks import measure_part
from bevel.data.tables import Table
from bevel.errors import shorten, wrong_value
from bevel.estimators._base import whole_or_not_at_all
from bevel.estimators.forest import ObliqueForest, ObliqueForestClassifier, ObliqueForestRegressor
from bevel.files.model import StoredEstimator
from bevel.forest.quantiles import interval_levels, read_levels
from bevel.parameters.forest_parameters import (
    CLASSIFIER_PARAMETERS,
    REGRESSOR_PARAMETERS,
    documented,
)
from bevel.parameters.parameter import InstanceOf, NoneOption, Parameter, StrOptions, check_each
from bevel.projections import Custom
from bevel.training.forest_fit import FitRequest, fit_forest
from bevel.training.options import draw_seed

__all__ = [
    "CLUSTER_PARAMETERS",
    "DaskForest",
    "DaskObliqueForestClassifier",
    "DaskObliqueForestRegressor",
    "check_cluster_parameters",
    "takes_parameters_of",
]

# Parameters of the estimators: those of the local one, and two for the cluster.

_MODE = Parameter(
    "mode",
    "auto",
    [StrOptions(("auto", "replicated", "sharded"))],
    '"replicated": each worker has the whole encoded table and grows some of the trees. '
    '"sharded": workers keep blocks of rows, and grow all trees level by level; the forest is that '
    'of a local fit of a table of `bevel.scan`. "auto": "replicated" if a worker has the memory '
    "for it.",
    'Use "auto".',
)
_CLIENT = Parameter(
    "client",
    None,
    [NoneOption(), InstanceOf("a dask.distributed.Client")],
    "Of the cluster; None is the current one. It is not pickled.",
)
CLUSTER_PARAMETERS = {"mode": _MODE, "client": _CLIENT}

Class = TypeVar("Class", bound=type)


def takes_parameters_of(local: type) -> Callable[[Class], Class]:
    """Class decorator: a constructor with the parameters of `local` and those of the cluster."""
    of_local = list(inspect.signature(local.__init__).parameters.values())  # type: ignore[misc]
    of_cluster = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default)
        for name, parameter in CLUSTER_PARAMETERS.items()
    ]
    signature = inspect.Signature([*of_local, *of_cluster])

    def decorate(cls: Class) -> Class:
        def __init__(self: Any, *positional: Any, **named: Any) -> None:
            bound = signature.bind(self, *positional, **named)
            bound.apply_defaults()
            for name, value in list(bound.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = signature  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[misc]
        return cls

    return decorate


def check_cluster_parameters(mode: object, warm_start: bool) -> None:
    """Raise for parameters that a fit on a cluster does not support."""
    check_each({"mode": mode}, {"mode": _MODE})
    if warm_start:
        remedy = "Add trees to the local estimator: to_local().set_params(warm_start=True)."
        raise wrong_value("warm_start", "False on a cluster", warm_start, remedy)


def pickle_request(request: FitRequest) -> bytes:
    """Pickle a request for workers; raises if a projection's function would be lost."""
    pickled: bytes = cloudpickle().dumps(request)
    sent: FitRequest = pickle.loads(pickled)
    for before, after in zip(request.members, sent.members, strict=True):
        given, received = before.projection, after.projection
        if not isinstance(given, Custom) or not isinstance(received, Custom):
            continue
        if callable(given.sampler) != callable(received.sampler):
            raise ValueError(
                "projection=P.Custom(function) on a cluster needs a function that workers can "
                f"import from a module; got {shorten(given.sampler)}. Put it into a module that "
                "is installed at the workers, use a matrix, or fit locally."
            )
    return pickled


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
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: None = None,
        time: None = None,
    ) -> Self:
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
        groups, time : None
            Not supported on a cluster.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_cluster_parameters(self.mode, self.warm_start)
        for name, given in (("groups", groups), ("time", time)):
            if given is not None:
                remedy = "Leave it out, or fit the local estimator."
                raise wrong_value(name, "None on a cluster", given, remedy)
        values, members = self._checked_parameters()
        client = self.client_
        sent = FitRequest({**values, **NOT_SENT}, members, self._target_kind, 0)
        pickle_request(sent)  # raises before anything is computed
        columns = [table_parts(X), column_parts("y", y)]
        if sample_weight is not None:
            columns.append(column_parts("sample_weight", sample_weight))
        self._forget()
        with Fit(client) as fit:
            rows, size = _compute(fit, columns, self.mode)
            if choose_mode(self.mode, workers_of(client), size) == "sharded":
                self._fit_over_blocks(partial(read_parts, fit, rows))
                return self
            large = choose_workers(workers_of(client), size)
            fit.workers = None if large is None else [worker.address for worker in large]
            request = pickle_request(replace(sent, seed=draw_seed(self.random_state)))
            validate_data(self, _empty_like(X, size.n_columns), skip_check_array=True)
            names = self._names_of_columns()
            at_workers = RowsAtWorkers(fit, request, names, rows, stacklevel=4)
            self._finish(fit_forest(at_workers, sent.n_trees, self._progress))
        self._describe_target(self._fitted.task)
        return self

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


def _empty_like(X: Any, n_columns: int) -> Any:
    """No rows of a collection, with its columns."""
    return X._meta if is_frame(X) else np.empty((0, n_columns))


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
