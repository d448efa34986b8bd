"""Reads the target and the weights of the training rows: checked, of the dtype the core expects."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from bevel.errors import shorten
from bevel.tables import is_missing

__all__ = ["read_labels", "read_numbers", "read_weights"]

Weights = npt.NDArray[np.float64]


def read_labels(y: Any, n_rows: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Distinct classes, sorted, and the position of each row's class among them."""
    labels = _column(y, n_rows)
    _check_finite(labels)
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int32)


def read_numbers(y: Any, n_rows: int) -> npt.NDArray[np.float64]:
    """The target of a regression."""
    values = _column(y, n_rows)
    try:
        numbers = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must hold numbers for a regressor; got {shorten(values[0])} ({error}). Convert y, "
            "or use ObliqueForestClassifier for labels."
        ) from error
    _check_finite(numbers)
    return numbers


def read_weights(
    sample_weight: Any, class_weight: Any, labels: npt.NDArray[Any] | None, n_rows: int
) -> Weights | None:
    """Weights of the rows, sample weights times class weights; None when all are one.

    Parameters
    ----------
    sample_weight : array-like or None
        As given to fit.
    class_weight : dict, "balanced" or None
        As given to the estimator.
    labels : ndarray or None
        Target of a classifier.
    n_rows : int
        Number of training rows.
    """
    weights = None if sample_weight is None else _check_weights(sample_weight, n_rows)
    if class_weight is None or labels is None:
        return weights
    of_class = compute_sample_weight(class_weight, labels)
    return np.ascontiguousarray(of_class if weights is None else weights * of_class)


def _column(y: Any, n_rows: int) -> npt.NDArray[Any]:
    """y as one dimension of the right length without missing values."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=2,
        )
        values = values.ravel()
    if values.ndim != 1:
        raise ValueError(
            f"y must be a 1d array, one target for each row; got an array of shape {values.shape}. "
            "Multi-output targets are not supported: fit one forest per column, for example with "
            "sklearn.multioutput."
        )
    if len(values) != n_rows:
        raise ValueError(
            f"y must have one value for each of the {n_rows} rows of X; got {len(values)}: "
            "inconsistent numbers of samples. Pass the y that belongs to X."
        )
    _check_present(values)
    return values


def _check_present(values: npt.NDArray[Any]) -> None:
    if values.dtype.kind == "f":
        missing = np.flatnonzero(np.isnan(values))
    elif values.dtype.kind == "O":
        missing = np.flatnonzero([is_missing(value) for value in values])
    else:
        return
    if len(missing):
        raise ValueError(
            f"y must have no missing values; got {len(missing)} NaN (row {missing[0]}). Drop or "
            "impute target values before fit; NaN is allowed in X only."
        )


def _check_finite(values: npt.NDArray[Any]) -> None:
    if values.dtype.kind != "f":
        return
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise ValueError(
            f"y must hold finite numbers; got {len(infinite)} infinity (row {infinite[0]}). Drop "
            "or clip these rows before fit."
        )


def _check_weights(sample_weight: Any, n_rows: int) -> Weights:
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},), one weight for each row of X; got shape "
            f"{weights.shape}. Pass the weights that belong to X."
        )
    wrong = np.flatnonzero(~((weights >= 0.0) & np.isfinite(weights)))
    if len(wrong):
        raise ValueError(
            f"sample_weight must hold finite numbers of at least 0; got {weights[wrong[0]]:g} (row "
            f"{wrong[0]}). Drop these rows, or give them weight 0."
        )
    if not weights.any():
        raise ValueError(
            "sample_weight must have at least one weight above zero; got zero for every row. "
            "Leave it out to weigh all rows equally."
        )
    return np.ascontiguousarray(weights)
