"""A user-defined loss: the arrays that it returns are checked before the core reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bevel._types import Floats
from bevel.errors import shorten

__all__ = ["UserLoss", "constant_of_least_loss"]

# Sums of a million squares of such numbers stay finite.
LARGEST = 1e100
# Newton steps towards the initial constant of boosting.
MOST_STEPS = 50


class UserLoss:
    """Gradients, hessians and losses of all rows, computed by a user-defined function.

    Parameters
    ----------
    function : callable
        ``function(y_true, raw)`` returns ``(gradient, hessian)`` or ``(gradient, hessian, loss)``,
        arrays with an entry per row; with several outputs raw predictions, gradient and hessian
        have a column for each.
    values : ndarray of float64
        Targets of the rows.
    n_outputs : int, default=1
        Number of raw predictions for each row.
    """

    def __init__(self, function: Callable[..., Any], values: Floats, n_outputs: int = 1) -> None:
        self._function = function
        self._values = values
        self._values.flags.writeable = False
        self._n_outputs = n_outputs
        n_rows = len(values)
        self._shape = (n_rows,) if n_outputs == 1 else (n_rows, n_outputs)

    def __call__(self, raw: Floats) -> tuple[Floats, Floats, Floats]:
        """Gradient, hessian and loss, output after output; unknown losses are NaN."""
        by_row = raw if self._n_outputs == 1 else raw.reshape(self._n_outputs, -1).T
        gradient, hessian, loss = self.evaluate(by_row)
        return _by_output(gradient), _by_output(hessian), loss

    def evaluate(self, raw: Floats) -> tuple[Floats, Floats, Floats]:
        """Gradient, hessian and losses in the shapes of the user's function."""
        raw.flags.writeable = False
        given = self._function(self._values, raw)
        if not isinstance(given, tuple) or len(given) not in (2, 3):
            got = f"{len(given)} values" if isinstance(given, tuple) else shorten(given)
            raise ValueError(
                "loss must return a tuple (gradient, hessian) or (gradient, hessian, loss); got "
                f"{got}. Return arrays with an entry per row."
            )
        gradient = self._array("gradient", given[0], self._shape)
        hessian = self._array("hessian", given[1], self._shape)
        self._check_hessian(hessian, raw)
        n_rows = len(self._values)
        if len(given) == 2:
            return gradient, hessian, np.full(n_rows, np.nan)
        return gradient, hessian, self._array("loss", given[2], (n_rows,))

    def start(self) -> Floats:
        """Raw predictions of zero, from which every fit begins."""
        return np.zeros(self._shape)

    def measures(self) -> bool:
        """Whether the function returns losses too, which early stopping needs."""
        return not bool(np.isnan(self.evaluate(self.start())[2]).any())

    def _check_hessian(self, hessian: Floats, raw: Floats) -> None:
        negative = (hessian < 0.0).reshape(len(hessian), -1)
        if negative.any():
            row, output = divmod(int(np.argmax(negative)), negative.shape[1])
            got = hessian.reshape(negative.shape)[row, output]
            prediction = raw.reshape(negative.shape)[row, output]
            raise ValueError(
                f"loss must return hessians of at least 0; got {got:g} in row {row} "
                f"(target {self._values[row]:g}, prediction {prediction:g}). Return an upper bound "
                "of the second derivative, such as its absolute value or 1."
            )
        if not hessian.any():
            raise ValueError(
                "loss must return a hessian above 0 in some row; got zeros only, from which no "
                "step follows. Return ones where the second derivative is zero everywhere."
            )

    def _array(self, name: str, given: object, shape: tuple[int, ...]) -> Floats:
        try:
            array = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"loss must return numbers as {name}; got {shorten(given)}. Return an array with "
                "an entry per row."
            ) from None
        if array.shape != shape:
            entries = "an entry per row" if len(shape) == 1 else "an entry per row and class"
            raise ValueError(
                f"loss must return a {name} of shape {shape}, {entries}; got shape "
                f"{array.shape}. Do not add up or average over rows."
            )
        bad = ~(np.abs(array) <= LARGEST)
        if bad.any():
            place = np.unravel_index(int(np.argmax(bad)), shape)
            row = int(place[0])
            raise ValueError(
                f"loss must return finite numbers as {name}, at most {LARGEST:g} in size; got "
                f"{array[place]:g} in row {row} (target {self._values[row]:g}). Clip predictions "
                "before exponentials, logarithms and divisions."
            )
        return np.ascontiguousarray(array)


def _by_output(array: Floats) -> Floats:
    return array if array.ndim == 1 else np.ascontiguousarray(array.T).ravel()


def constant_of_least_loss(loss: UserLoss, weights: Floats) -> tuple[float, ...]:
    """Initial constants of boosting: Newton steps from zero, while they reduce the loss.

    Parameters
    ----------
    loss : UserLoss
        The loss.
    weights : ndarray of float64
        Weights of the rows; zero for rows that are not trained on.
    """
    start = loss.start()
    best, slope = np.zeros(1 if start.ndim == 1 else start.shape[1]), np.inf
    constant = best
    for _ in range(MOST_STEPS):
        raw = start + (constant[0] if start.ndim == 1 else constant)
        try:
            gradient, hessian, _ = loss.evaluate(raw)
        except ValueError:
            if np.isinf(slope):
                raise  # already at zero, where every fit begins
            break
        total, curvature = np.atleast_1d(weights @ gradient), np.atleast_1d(weights @ hessian)
        size = float(np.abs(total).sum())
        if not size < slope:
            break
        best, slope = constant, size
        if not (curvature > 0.0).all():
            break
        constant = best - total / curvature
        if np.array_equal(constant, best):
            break
    return tuple(best.tolist())
