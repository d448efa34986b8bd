"""Reads the target of the training rows: checked, of the dtype the core expects."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from bevel.data.alignment import align
from bevel.data.masks import fill_masked
from bevel.data.tables import is_missing
from bevel.errors import shorten

__all__ = ["LARGEST_TARGET", "read_labels", "read_numbers"]

# Fourth powers of targets, times any weight and number of rows, stay finite in float64, for
# standard deviations of squared errors.
LARGEST_TARGET = 1e60
MOST_CLASSES = 65_535


def read_labels(y: Any, n_rows: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Distinct classes, sorted, and the position of each row's class among them."""
    labels = _column(y, n_rows)
    _check_finite(labels)
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) > MOST_CLASSES:
        raise ValueError(
            f"y must have at most {MOST_CLASSES:,} classes; got {len(classes):,} in {n_rows:,} "
            "rows. If y is a quantity, use ObliqueForestRegressor; if it names rows, choose "
            "another target; else join rare classes."
        )
    return classes, codes.astype(np.int32)


def read_numbers(y: Any, n_rows: int) -> npt.NDArray[np.float64]:
    """The target of a regression."""
    values = _column(y, n_rows)
    try:
        if values.dtype.kind == "c":
            raise TypeError("complex numbers have no order")
        numbers = np.ascontiguousarray(values, dtype=np.float64)
    except OverflowError:
        raise _too_large(max(values.tolist(), key=abs)) from None
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must hold numbers for a regressor; got {shorten(values[0])} ({error}). Convert y, "
            "or use ObliqueForestClassifier for labels."
        ) from error
    _check_present(numbers)
    _check_finite(numbers)
    largest = int(np.abs(numbers).argmax())
    if abs(numbers[largest]) > LARGEST_TARGET:
        raise _too_large(f"{numbers[largest]:g} (row index {largest})")
    return numbers


def _too_large(got: object) -> ValueError:
    text = got if isinstance(got, str) else shorten(got)
    return ValueError(
        f"y must hold numbers up to {LARGEST_TARGET:g} in size; got {text}. Rescale y."
    )


def _column(y: Any, n_rows: int) -> npt.NDArray[Any]:
    """y as a one-dimensional array of the right length without missing values."""
    values: npt.NDArray[Any] = align(np.asarray(fill_masked(y)))
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
            "Several outputs are for ObliqueForestClassifier and ObliqueForestRegressor; elsewhere "
            "multi-output targets are not supported: fit one model per column, for example with "
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
    if values.dtype.kind in "fc":
        missing = np.flatnonzero(np.isnan(values))
    elif values.dtype.kind in "Mm":
        missing = np.flatnonzero(np.isnat(values))
    elif values.dtype.kind == "O":
        missing = np.flatnonzero([is_missing(value) for value in values])
    else:
        return
    if len(missing):
        word = "NaT" if values.dtype.kind in "Mm" else "NaN"
        raise ValueError(
            f"y must have no missing values; got {len(missing)} {word} (row index {missing[0]}). "
            "Drop or impute target values before fit; NaN is allowed in X only."
        )


def _check_finite(values: npt.NDArray[Any]) -> None:
    if values.dtype.kind != "f":
        return
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise ValueError(
            f"y must hold finite numbers; got {len(infinite)} infinity (row index {infinite[0]}). "
            "Drop or clip these rows before fit."
        )
