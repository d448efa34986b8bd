"""What simulations and transformations share: types of what they take and return, and checks."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel._types import Floats
from bevel.errors import wrong_value

Labelled: TypeAlias = tuple[Floats, NDArray[np.int64]]
Measured: TypeAlias = tuple[Floats, NDArray[np.float64]]
RandomState: TypeAlias = int | np.random.Generator | None

__all__ = [
    "Labelled",
    "Measured",
    "RandomState",
    "check_at_least",
    "check_spread",
    "one_or_all",
    "read_matrices",
]


def check_at_least(name: str, value: int, least: int) -> None:
    """Refuse counts below the least that makes sense."""
    if value < least:
        raise wrong_value(name, f"{least} or more", value, "Ask for more.")


def check_spread(name: str, value: float, default: float) -> None:
    """Refuse standard deviations and the like that are negative, infinite or NaN."""
    if not (math.isfinite(value) and value >= 0.0):
        raise wrong_value(name, "finite and not negative", value, f"The default is {default:g}.")


def read_matrices(*arrays: ArrayLike) -> list[Floats]:
    """Read what a transformation was given; refuse what is no table or differs in width."""
    matrices = [np.asarray(array, dtype=np.float64) for array in arrays]
    for matrix in matrices:
        if matrix.ndim != 2:
            required = "of shape (n_rows, n_features)"
            raise wrong_value("X", required, matrix.shape, "Pass tables only, no labels.")
        if matrix.shape[1] != matrices[0].shape[1]:
            required = f"arrays of one width, {matrices[0].shape[1]} as the first"
            raise wrong_value("X", required, matrix.shape[1], "Pass the same features in each.")
    return matrices


def one_or_all(arrays: list[Floats]) -> Floats | tuple[Floats, ...]:
    """Give back an array for an array and a tuple for several."""
    return arrays[0] if len(arrays) == 1 else tuple(arrays)
