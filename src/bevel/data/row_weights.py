"""Reads the weights of the training rows: sample weights times class weights.

Weights are zero or more and the largest is from 1e-15 to 1e15, so that sums, squares of sums and
what is stored in float32 are finite. A row of weight zero has no effect; a class whose rows
all have weight zero is among the classes and has probability zero.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_sample_weight

from bevel._types import Floats
from bevel.data.tables import align, fill_masked
from bevel.errors import join_names, wrong_type, wrong_value

__all__ = [
    "MAX_WEIGHT",
    "bounded_weights",
    "check_class_weight",
    "mean_and_noise",
    "read_weights",
    "weighted_mean",
    "weights_of_classes",
]

# Range allowed for the largest weight.
MIN_WEIGHT, MAX_WEIGHT = 1e-15, 1e15
# Share of the largest weight to which lighter rows are raised. A billion such rows are negligible
# beside the largest, and 1e-35 is a normal number in float32, in which weights of nodes are kept.
MIN_SHARE = 1e-20


def read_weights(
    sample_weight: Any, class_weight: Any, labels: npt.NDArray[Any] | None, n_rows: int
) -> Floats | None:
    """Weights of the rows, sample weights times class weights; None when all are one.

    Parameters
    ----------
    sample_weight : array-like or None
        Weights as given to fit.
    class_weight : dict, "balanced" or None
        Weights as given to the estimator.
    labels : ndarray or None
        Target of a classifier.
    n_rows : int
        Number of training rows.
    """
    weights = None if sample_weight is None else _read_sample_weight(sample_weight, n_rows)
    if class_weight is None or labels is None:
        return weights
    of_class = _read_class_weight(class_weight, labels)
    if weights is None:
        return of_class
    return bounded_weights(weights * of_class, "sample_weight times class_weight")


def _read_sample_weight(sample_weight: Any, n_rows: int) -> Floats:
    values = align(np.asarray(fill_masked(sample_weight)))
    if values.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},), one weight for each row of X; got shape "
            f"{values.shape}. Pass the weights that belong to X."
        )
    required, remedy = "an array of numbers", "Convert the weights to floats."
    if values.dtype.kind not in "fiubO":
        raise wrong_type("sample_weight", required, values[0], remedy)
    try:
        weights = np.ascontiguousarray(values, dtype=np.float64)
    except OverflowError:
        largest = max(values.tolist())
        raise wrong_value("sample_weight", required, largest, "Rescale the weights.") from None
    except (TypeError, ValueError):
        raise wrong_type("sample_weight", required, values.tolist(), remedy) from None
    return bounded_weights(weights, "sample_weight")


def _read_class_weight(class_weight: Any, labels: npt.NDArray[Any]) -> Floats:
    """Weight of each row by its class."""
    if isinstance(class_weight, Mapping):
        check_class_weight(class_weight, set(np.unique(labels).tolist()))
        class_weight = {label: float(weight) for label, weight in class_weight.items()}
    return bounded_weights(compute_sample_weight(class_weight, labels), "class_weight")


def check_class_weight(class_weight: Mapping[Any, Any], classes: set[Any]) -> None:
    """Check weights and classes.

    As in scikit-learn, a class that is not named has weight 1, and a weight for a class that y does
    not have is taken only when all classes of y are named, as in a fold of a cross-validation.
    """
    required = f"a number from 0 to {MAX_WEIGHT:g}"
    remedy = "Give a class the weight 0 to leave its rows out."
    for label, weight in class_weight.items():
        if not isinstance(weight, numbers.Real):
            raise wrong_type(f"class_weight[{label!r}]", required, weight, remedy)
        if not 0 <= weight <= MAX_WEIGHT:  # type: ignore[operator]
            raise wrong_value(f"class_weight[{label!r}]", required, weight, remedy)
    unknown = [repr(label) for label in class_weight if label not in classes]
    unnamed = [repr(label) for label in sorted(classes) if label not in class_weight]
    if unknown and unnamed:
        raise ValueError(
            f"class_weight must name classes of y; got {join_names(unknown)}, which y does not "
            f"have, and no weight for {join_names(unnamed)}. Use the labels that y has, with "
            "their types."
        )


def bounded_weights(weights: Floats, name: str) -> Floats:
    """Bring weights into the range in which all sums are finite; raises if that is impossible."""
    wrong = np.flatnonzero(~((weights >= 0.0) & np.isfinite(weights)))
    if len(wrong):
        raise ValueError(
            f"{name} must hold finite numbers of at least 0; got {weights[wrong[0]]:g} (row index "
            f"{wrong[0]}). Drop these rows, or give them weight 0."
        )
    largest = float(weights.max())
    if largest == 0.0:
        raise ValueError(
            f"{name} must have at least one weight above zero; got zero for every row. Leave it "
            "out to weigh all rows equally."
        )
    if not MIN_WEIGHT <= largest <= MAX_WEIGHT:
        raise ValueError(
            f"{name} must have a largest weight from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}, so "
            f"that sums and squares of weights are finite; got {largest:g}. Divide all weights by "
            "the largest."
        )
    floor = MIN_SHARE * largest
    if ((weights > 0.0) & (weights < floor)).any():
        weights = np.where(weights > 0.0, np.maximum(weights, floor), 0.0)
    return np.ascontiguousarray(weights)


def weights_of_classes(class_weight: Any, draws_bags: bool) -> Any:
    """Class weights that do not depend on the bag."""
    if not isinstance(class_weight, str) or class_weight != "balanced_subsample":
        return class_weight
    # The core balances each bag; without bags this equals "balanced".
    return None if draws_bags else "balanced"


# Weighted means of losses over rows, without BLAS.
#
# BLAS would start its own threads, regardless of `n_jobs`, and choose its own order of addition.


def weighted_mean(values: Floats, share: Floats) -> Floats:
    """Means along the last axis, with weights that sum to one."""
    return np.asarray(np.einsum("...i,i->...", values, share))


def mean_and_noise(values: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Means along the last axis, and their standard errors."""
    means = weighted_mean(values, share)
    return means, np.sqrt(weighted_mean((values - means[..., None]) ** 2, share**2))
