"""Lazy predictions: a task for each part of the rows, in which the model is read once a worker; and
scores of predictions, put together from parts.
"""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel.dask.packages import dask_base, dask_delayed, distributed
from bevel.dask.parts import check_table, is_frame
from bevel.errors import join_names
from bevel.estimators.loading import restore
from bevel.estimators.registry import KINDS
from bevel.files.model import read_model

__all__ = [
    "Method",
    "Model",
    "accuracy",
    "current_client",
    "load_model",
    "model_of",
    "predict_lazily",
    "r_squared",
    "send_model",
]

# Larger models are sent to the workers in advance; smaller ones travel with the tasks.
MAX_IN_GRAPH = 2**23


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted estimator as the bytes of its file, with a name derived from them."""

    data: npt.NDArray[np.uint8]
    name: str


@dataclass(frozen=True)
class Method:
    """A method of the local estimator that predicts.

    Attributes
    ----------
    name : str
        Name of the method.
    dtype : dtype
        Type of its result.
    columns : sequence or None
        Names of the columns of its result; None for one value per row.
    arguments : tuple
        Arguments after X.
    classes : tuple
        Labels of the results, if they are classes; pandas' type of a series depends on them.
    """

    name: str
    dtype: np.dtype[Any]
    columns: Sequence[Any] | None = None
    arguments: tuple[Any, ...] = ()
    classes: tuple[Any, ...] = ()

    @property
    def empty(self) -> npt.NDArray[Any]:
        """The result for no rows."""
        shape = (0,) if self.columns is None else (0, len(self.columns))
        return np.empty(shape, self.dtype)


def model_of(estimator: Any) -> Model:
    """The model of a local estimator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # functions among its parameters do not affect predictions
        pieces = list(estimator._file())
    data = np.concatenate([np.frombuffer(piece, np.uint8) for piece in pieces])
    return Model(data, f"bevel-model-{hashlib.sha256(data.data).hexdigest()[:32]}")


def send_model(model: Model, client: Any) -> Any:
    """The model as a lazy value; a large one is sent to all workers of the client, if any."""
    delayed = dask_delayed().delayed
    if client is None or model.data.nbytes <= MAX_IN_GRAPH:
        return delayed(model.data, name=model.name, traverse=False)
    sent = client.scatter({model.name: model.data}, broadcast=True)
    return delayed(sent[model.name])


def current_client(client: Any) -> Any:
    """The given client or the current one; None if there is none: predictions need no cluster."""
    if client is not None:
        return client
    try:
        return distributed().default_client()
    except ValueError:
        return None


def predict_lazily(
    X: Any, model: Any, name: str, method: Method, names: Any, n_columns: int
) -> Any:
    """Predictions of a Dask array (an array) or of a frame (a series, or a frame of columns).

    Parameters
    ----------
    X : dask array or data frame
        Rows to predict.
    model : Delayed
        Model from `send_model`.
    name : str
        Name of the model.
    method : Method
        Method to call.
    names : ndarray or None
        Names of the columns in fit.
    n_columns : int
        Number of columns in fit.
    """
    check_table(X)
    if is_frame(X):
        _check_names(X, names)
        meta = _as_frame(method.empty, X._meta.iloc[:0], method)
        # The dashboard shows the names of tasks.
        return X.map_partitions(
            *(predict_partition, model, name, method),
            meta=meta,
            token=f"bevel-{method.name}",
            enforce_metadata=False,
        )
    if X.shape[1] != n_columns:
        raise ValueError(
            f"X must have the {n_columns} columns of fit; got a Dask array with {X.shape[1]}. "
            "Pass the columns used in fit, in the same order."
        )
    shape: dict[str, Any] = {"drop_axis": 1}
    if method.columns is not None:
        shape = {"chunks": (X.chunks[0], (len(method.columns),))}
    token = dask_base().tokenize(X.name, name, method.name, method.arguments)
    return X.rechunk({1: -1}).map_blocks(
        predict_block,
        model=model,
        model_name=name,
        method=method,
        dtype=method.dtype,
        meta=method.empty,
        name=f"bevel-{method.name}-{token}",
        **shape,
    )


def predict_block(
    rows: Any, model: npt.NDArray[np.uint8], model_name: str, method: Method
) -> npt.NDArray[Any]:
    """Predictions of one chunk of an array."""
    if rows.shape[0] == 0:
        return method.empty
    return _predict(rows, model, model_name, method)


def predict_partition(
    rows: Any, model: npt.NDArray[np.uint8], model_name: str, method: Method
) -> Any:
    """Predictions of one partition of a frame, with its index."""
    values = method.empty if len(rows) == 0 else _predict(rows, model, model_name, method)
    return _as_frame(values, rows, method)


def _predict(
    rows: Any, model: npt.NDArray[np.uint8], model_name: str, method: Method
) -> npt.NDArray[Any]:
    predict = getattr(load_model(model, model_name), method.name)
    return np.asarray(predict(rows, *method.arguments))


def _as_frame(values: npt.NDArray[Any], rows: Any, method: Method) -> Any:
    import pandas as pd

    if method.columns is None:
        dtype = (
            pd.Series(np.array(method.classes, method.dtype)).dtype
            if method.classes
            else method.dtype
        )
        return pd.Series(values, index=rows.index, name="prediction", dtype=dtype)
    return pd.DataFrame(values, index=rows.index, columns=list(method.columns))


def _check_names(X: Any, names: Any) -> None:
    """Raise for columns in another order, before any task runs."""
    got = [str(name) for name in X.columns]
    if names is not None and got != [str(name) for name in names]:
        raise ValueError(
            f"X must have the columns of fit in their order ({join_names([str(n) for n in names])})"
            f"; got {join_names(got)}. Pass X[list(model.feature_names_in_)]."
        )


_models: dict[str, Any] = {}  # the last few models of this process
_models_lock = threading.Lock()
MAX_MODELS = 2


def load_model(model: npt.NDArray[np.uint8], name: str) -> Any:
    """The estimator of a model, which a process reads once."""
    with _models_lock:
        if name not in _models:
            while len(_models) >= MAX_MODELS:
                del _models[next(iter(_models))]
            estimator = restore(read_model(np.ascontiguousarray(model).data, KINDS))
            estimator.n_jobs = 1  # tasks already use all threads of the worker
            _models[name] = estimator
        return _models[name]


# Scores of predictions part by part: each gives a few sums, which are combined in order.


class Moments(NamedTuple):
    """Weight, mean and sum of squared deviations of targets, and of squared errors."""

    weight: float
    mean: float
    deviations: float
    errors: float

    def plus(self, other: Moments) -> Moments:
        """Moments of the targets of both."""
        weight = self.weight + other.weight
        if weight == 0.0:
            return self
        distance = other.mean - self.mean
        return Moments(
            weight,
            self.mean + distance * other.weight / weight,
            self.deviations
            + other.deviations
            + distance * distance * self.weight * other.weight / weight,
            self.errors + other.errors,
        )


def accuracy(parts: Sequence[tuple[Any, Any, Any]]) -> Any:
    """Share of correct predictions, lazily, from (predictions, targets, weights) of each part."""
    delayed = dask_delayed().delayed
    counts = [delayed(_count_right)(*part) for part in parts]
    return delayed(_share)(counts)


def r_squared(parts: Sequence[tuple[Any, Any, Any]]) -> Any:
    """R², lazily, from (predictions, targets, weights) of each part."""
    delayed = dask_delayed().delayed
    return delayed(_r_squared)([delayed(_moments)(*part) for part in parts])


def _read(predictions: Any, targets: Any, weights: Any) -> tuple[Any, Any, Any]:
    predictions, targets = np.asarray(predictions), np.asarray(targets)
    weights = np.ones(len(targets)) if weights is None else np.asarray(weights, dtype=float)
    lengths = (len(predictions), len(targets), len(weights))
    if len(set(lengths)) > 1:
        raise ValueError(
            "X, y and sample_weight must have the same rows in each part; got parts of "
            f"{lengths[0]}, {lengths[1]} and {lengths[2]} rows. Take y and the weights from the "
            "frame that X is from, or rechunk them alike."
        )
    return predictions, targets.reshape(len(predictions)), weights.reshape(len(predictions))


def _count_right(predictions: Any, targets: Any, weights: Any) -> tuple[float, float]:
    predictions, targets, weights = _read(predictions, targets, weights)
    return float(weights[predictions == targets].sum()), float(weights.sum())


def _share(counts: Sequence[tuple[float, float]]) -> float:
    right, all_rows = np.sum(counts, axis=0)
    return float(right / all_rows) if all_rows else float("nan")


def _moments(predictions: Any, targets: Any, weights: Any) -> Moments:
    predictions, targets, weights = _read(predictions, targets, weights)
    targets = targets.astype(float)
    weight = float(weights.sum())
    mean = float(weights @ targets / weight) if weight else 0.0
    return Moments(
        *(weight, mean, float(weights @ (targets - mean) ** 2)),
        float(weights @ (targets - predictions) ** 2),
    )


def _r_squared(parts: Sequence[Moments]) -> float:
    total = parts[0]
    for part in parts[1:]:
        total = total.plus(part)
    if total.deviations == 0.0:  # as in scikit-learn
        return 1.0 if total.errors == 0.0 else 0.0
    return 1.0 - total.errors / total.deviations
