"""The criteria of forests: their tasks, and the targets that they need."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["CLASS_CRITERIA", "NUMBER_CRITERIA", "check_counts", "core_name", "is_regression"]

CLASS_CRITERIA = ("gini", "entropy", "log_loss")
NUMBER_CRITERIA = ("squared_error", "absolute_error", "poisson")


def is_regression(criterion: str) -> bool:
    """Whether a criterion is for regression; "auto" is for classification."""
    return criterion in NUMBER_CRITERIA


def core_name(criterion: str) -> str:
    """Name of the criterion in the core, which has one name for each."""
    return "entropy" if criterion == "log_loss" else criterion


def check_counts(values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None) -> None:
    """Raise if targets cannot be counts, as `criterion="poisson"` needs them."""
    remedy = 'Use criterion="squared_error", or shift the target.'
    row = int(values.argmin())
    if values[row] < 0:
        raise ValueError(
            'criterion="poisson" needs targets of zero or more; got '
            f"{values[row]:g} (row index {row}). {remedy}"
        )
    counted = values if weights is None else values[weights > 0]
    if not (counted > 0).any():
        raise ValueError(
            'criterion="poisson" needs a target above zero in some row with a weight; got zeros '
            "only. Check y: without any count there is no rate to model."
        )
