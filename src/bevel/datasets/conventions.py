"""What the simulations share: what they return, the seeds they take, the checks they make."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bevel.errors import wrong_value

Labelled: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]
Measured: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
RandomState: TypeAlias = int | np.random.Generator | None

__all__ = ["Labelled", "Measured", "RandomState", "check_at_least", "check_spread"]


def check_at_least(name: str, value: int, least: int) -> None:
    """Refuse counts below the least that makes sense."""
    if value < least:
        raise wrong_value(name, f"{least} or more", value, "Ask for more.")


def check_spread(name: str, value: float, default: float) -> None:
    """Refuse standard deviations and the like that are negative, infinite or NaN."""
    if not (math.isfinite(value) and value >= 0.0):
        raise wrong_value(name, "finite and not negative", value, f"The default is {default:g}.")
