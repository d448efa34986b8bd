"""A user-defined loss: the arrays that it returns are checked before the core reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bevel._types import Floats
from bevel.errors import shorten

__all__ = ["UserLoss", "constant_of_least_loss"]

# Sums of a million squares of such numbers are still numbers.
LARGEST = 1e100
# Newton steps towards the constant that boosting starts from.
MOST_STEPS = 50


class UserLoss:
    """Gradients, hessians and losses of all rows, from a function of the user's.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred)`` returns ``(gradient, hessian)`` or
        ``(gradient, hessian, loss)``, arrays with an entry per row.
    values : ndarray of float64
        Targets of the rows.
    """

    def __init__(self, function: Callable[..., Any], values: Floats) -> None:
        self._function = function
        self._values = values
        self._values.flags.writeable = False

    def __call__(self, raw: Floats) -> tuple[Floats, Floats, Floats]:
        """What the core asks for at the predictions `raw`; losses that are unknown are NaN."""
        raw.flags.writeable = False
        given = self._function(self._values, raw)
        if not isinstance(given, tuple) or len(given) not in (2, 3):
            got = f"{len(given)} values" if isinstance(given, tuple) else shorten(given)
            raise ValueError(
                "loss must return a tuple (gradient, hessian) or (gradient, hessian, loss); got "
                f"{got}. Return arrays with an entry per row."
            )
        gradient = self._array("gradient", given[0])
        hessian = self._array("hessian", given[1])
        if (hessian < 0.0).any():
            row = int(np.argmax(hessian < 0.0))
            raise ValueError(
                f"loss must return hessians of at least 0; got {hessian[row]:g} in row {row} "
                f"(target {self._values[row]:g}, prediction {raw[row]:g}). Return an upper bound "
                "of the second derivative, such as its absolute value or 1."
            )
        if not hessian.any():
            raise ValueError(
                "loss must return a hessian above 0 in some row; got zeros only, from which no "
                "step follows. Return ones where the second derivative is zero everywhere."
            )
        if len(given) == 2:
            return gradient, hessian, np.full(len(raw), np.nan)
        return gradient, hessian, self._array("loss", given[2])

    def measures(self, raw: Floats) -> bool:
        """Whether the function returns losses too, which early stopping needs."""
        return not bool(np.isnan(self(raw)[2]).any())

    def _array(self, name: str, given: object) -> Floats:
        try:
            array = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"loss must return numbers as {name}; got {shorten(given)}. Return an array with "
                "an entry per row."
            ) from None
        n_rows = len(self._values)
        if array.shape != (n_rows,):
            raise ValueError(
                f"loss must return a {name} of shape ({n_rows},), an entry per row; got shape "
                f"{array.shape}. Do not add up or average over rows."
            )
        bad = ~(np.abs(array) <= LARGEST)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"loss must return finite numbers as {name}, at most {LARGEST:g} in size; got "
                f"{array[row]:g} in row {row} (target {self._values[row]:g}). Clip predictions "
                "before exponentials, logarithms and divisions."
            )
        return np.ascontiguousarray(array)


def constant_of_least_loss(loss: UserLoss, weights: Floats) -> float:
    """The constant that boosting starts from: Newton steps from zero, while they help.

    Parameters
    ----------
    loss : UserLoss
        The loss.
    weights : ndarray of float64
        Of the rows; those that do not train have none.
    """
    best, slope = 0.0, np.inf
    constant = 0.0
    for _ in range(MOST_STEPS):
        try:
            gradient, hessian, _ = loss(np.full(len(weights), constant))
        except ValueError:
            if np.isinf(slope):
                raise  # at zero, where every fit begins
            break
        total, curvature = float(weights @ gradient), float(weights @ hessian)
        if not abs(total) < slope:
            break
        best, slope = constant, abs(total)
        if not curvature > 0.0:
            break
        constant = best - total / curvature
        if constant == best:
            break
    return best
