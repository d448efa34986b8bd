"""Reads the target of the training rows, of one output or of several: checked, of the dtype the
core expects.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from bevel._types import Floats
from bevel.data.row_weights import read_weights
from bevel.data.tables import Columns, align, fill_masked, is_missing
from bevel.errors import join_names, shorten, wrong_value

__all__ = [
    "MAX_TARGET",
    "OutputColumns",
    "read_labels",
    "read_numbers",
    "read_output_labels",
    "read_output_numbers",
    "read_output_weights",
    "refused_with_outputs",
    "split_outputs",
]

# Fourth powers of targets, times any weight and number of rows, stay finite in float64, for
# standard deviations of squared errors.
MAX_TARGET = 1e60
MAX_CLASSES = 65_535


def read_labels(y: Any, n_rows: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Distinct classes, sorted, and the position of each row's class among them."""
    labels = _column(y, n_rows)
    _check_finite(labels)
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"y must have at most {MAX_CLASSES:,} classes; got {len(classes):,} in {n_rows:,} "
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
    if abs(numbers[largest]) > MAX_TARGET:
        raise _too_large(f"{numbers[largest]:g} (row index {largest})")
    return numbers


def _too_large(got: object) -> ValueError:
    text = got if isinstance(got, str) else shorten(got)
    return ValueError(f"y must hold numbers up to {MAX_TARGET:g} in size; got {text}. Rescale y.")


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
            "Several outputs are for ObliqueForestClassifier and ObliqueForestRegressor, times "
            "with events for ObliqueSurvivalForest and ObliqueSurvivalBoosting; elsewhere "
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


# Reads targets of several outputs: y of shape (n_rows, n_outputs), column by column.

MAX_CLASSES_OF_OUTPUTS = 2**24  # of all outputs together: leaves store class numbers in 32 bits

Read = TypeVar("Read")


@dataclass(frozen=True, eq=False)
class OutputColumns:
    """The columns of y, not yet checked.

    Attributes
    ----------
    names : tuple of str
        Names of the outputs; y0, y1, ... if y has no names.
    columns : tuple of ndarray
        One target for each row.
    """

    names: tuple[str, ...]
    columns: tuple[npt.NDArray[Any], ...]


def split_outputs(y: Any) -> OutputColumns | None:
    """Split y into its outputs; None if it is a single target, even if shaped as a column."""
    named = _columns_of_frame(y)
    if named is not None:
        names, columns = named
    else:
        columns = _columns_of_rows(y)
        names = [f"y{k}" for k in range(len(columns))]
    if len(columns) < 2:
        return None
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            f"The columns of y must have different names; got {join_names(repeated)} more than "
            "once. Rename them."
        )
    return OutputColumns(tuple(names), tuple(columns))


def _columns_of_frame(y: Any) -> tuple[list[str], list[npt.NDArray[Any]]] | None:
    if isinstance(y, Columns):
        return list(y.names), list(y.values)
    if hasattr(y, "iloc") and hasattr(y, "columns"):  # pandas, whose names may be anything
        columns = [np.asarray(y.iloc[:, k]) for k in range(y.shape[1])]
        return [str(name) for name in y.columns], columns
    frame = nw.from_native(y, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    return list(frame.columns), [frame[name].to_numpy() for name in frame.columns]


def _columns_of_rows(y: Any) -> list[npt.NDArray[Any]]:
    """Columns of an array, or of a sequence of rows, whose cells keep their types."""
    if isinstance(y, np.ndarray):
        if y.ndim != 2:
            return []
        return [_inferred(y[:, k]) for k in range(y.shape[1])]
    if hasattr(y, "toarray"):  # a sparse matrix of labels
        raise ValueError(
            "y must be a dense array or a data frame; got a sparse matrix. Use y.toarray()."
        )
    if not isinstance(y, Sequence) or isinstance(y, str | bytes) or not len(y):
        return []
    if not all(isinstance(row, Sequence | np.ndarray) for row in y) or isinstance(y[0], str):
        return []
    lengths = sorted({len(row) for row in y})
    if len(lengths) > 1:
        raise ValueError(
            f"y must have the same number of targets in every row; got rows of {lengths[0]} and "
            f"of {lengths[-1]}. Pass an array of shape (n_rows, n_outputs)."
        )
    return [np.asarray([row[k] for row in y]) for k in range(lengths[0])]


def _inferred(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column of objects with the dtype of its values, if they have one in common."""
    if column.dtype != object:
        return column
    kinds = {type(value) for value in column.tolist()}
    return np.asarray(column.tolist()) if len(kinds) == 1 else column


def read_output_labels(
    given: OutputColumns, n_rows: int
) -> tuple[list[npt.NDArray[Any]], npt.NDArray[np.int32]]:
    """Classes of each output, and the class of each row and output, numbered consecutively."""
    read = _read_each(given, lambda column: read_labels(column, n_rows))
    classes = [labels for labels, _ in read]
    single = [name for name, labels in zip(given.names, classes, strict=True) if len(labels) < 2]
    if single:
        raise ValueError(
            f"Each of several outputs must have two classes or more; got one class in "
            f"{join_names(single)}. Leave these columns of y out: they are known already."
        )
    n_classes = np.array([len(labels) for labels in classes], dtype=np.int64)
    if n_classes.sum() > MAX_CLASSES_OF_OUTPUTS:
        raise ValueError(
            f"All outputs together must have at most {MAX_CLASSES_OF_OUTPUTS:,} classes; got "
            f"{n_classes.sum():,}. Fit fewer outputs at a time."
        )
    codes = np.column_stack([codes for _, codes in read])
    return classes, np.ascontiguousarray(codes + _firsts(n_classes), dtype=np.int32)


def read_output_numbers(given: OutputColumns, n_rows: int) -> npt.NDArray[np.float64]:
    """The targets of a regression, rows x outputs."""
    read = _read_each(given, lambda column: read_numbers(column, n_rows))
    return np.ascontiguousarray(np.column_stack(read))


def read_output_weights(
    sample_weight: Any,
    class_weight: Any,
    classes: Sequence[npt.NDArray[Any]],
    codes: npt.NDArray[np.int32],
) -> Floats | None:
    """Sample weights times the class weights of all outputs, as in scikit-learn.

    Parameters
    ----------
    sample_weight : array-like or None
        Weights as given to fit.
    class_weight : "balanced", list of dict or None
        One weighting for each output, which does not depend on the bag.
    classes : sequence of ndarray
        Classes of each output.
    codes : ndarray of int32, shape (n_rows, n_outputs)
        Classes of the rows, numbered consecutively over all outputs.
    """
    name, remedy = "class_weight", "Give one dict for each output, or None for some of them."
    if class_weight is None:
        return read_weights(sample_weight, None, None, len(codes))
    if isinstance(class_weight, str):
        class_weight = [class_weight] * len(classes)
    if not isinstance(class_weight, list | tuple) or len(class_weight) != len(classes):
        raise refused_with_outputs(name, class_weight, f"a list of {len(classes)} dicts", remedy)
    firsts = _firsts(np.array([len(labels) for labels in classes], dtype=np.int64))
    weights = sample_weight
    for k, each in enumerate(class_weight):
        labels = classes[k].take(codes[:, k] - firsts[k])
        weights = read_weights(weights, each, labels, len(codes))
    return weights  # type: ignore[no-any-return]


def refused_with_outputs(name: str, value: object, required: str, remedy: str) -> ValueError:
    """Error for a parameter that is not supported with several outputs."""
    required = f"{required} with several outputs (y of two columns or more)"
    return wrong_value(name, required, value, remedy)


def _firsts(n_classes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.asarray(np.cumsum(n_classes) - n_classes)


def _read_each(given: OutputColumns, read: Callable[[npt.NDArray[Any]], Read]) -> list[Read]:
    found = []
    for name, column in zip(given.names, given.columns, strict=True):
        try:
            found.append(read(column))
        except ValueError as error:
            raise ValueError(f'Output "{name}": {error}') from error
    return found
