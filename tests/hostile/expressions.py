"""What expressions of input cases may name, and functions that a hostile user passes."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

import bevel
from bevel import projections as P

from .survival_cases import survival
from .tables import table, target, weights
from .typed_values import odd_table, odd_target, odd_weights


def evaluate(expression: str) -> Any:
    """The value of an expression, anew at every call."""
    return eval(_compiled(expression), dict(_NAMES))


@lru_cache(2000)
def _compiled(expression: str) -> Any:
    return compile(expression, "<case>", "eval")


def signs(rng: np.random.Generator, X: np.ndarray, *_: Any) -> np.ndarray:
    return rng.choice([-1.0, 0.0, 1.0], size=(X.shape[1], 3))


def huge(_rng: Any, X: np.ndarray, *_: Any) -> np.ndarray:
    return np.full((X.shape[1], 2), 9e29)


def odd(rng: np.random.Generator, X: np.ndarray, *_: Any) -> Any:
    return rng.choice([np.nan, 1e39, 1e-50, 1.0, 1e30], size=(X.shape[1], 2))


def wrong_shape(_rng: Any, X: np.ndarray, *_: Any) -> np.ndarray:
    return np.ones((X.shape[1] + 1, 2))


def empty(_rng: Any, X: np.ndarray, *_: Any) -> Any:
    return sp.csr_array((X.shape[1], 0))


def many(_rng: Any, X: np.ndarray, *_: Any) -> Any:
    return sp.hstack([sp.eye_array(X.shape[1])] * 50, "coo")


def fails(*_: Any) -> Any:
    raise KeyError("a function of the user's")


def score(y_true: Any, y_pred: Any) -> float:
    return float(np.mean(y_true == y_pred))


def bad_score(*_: Any) -> Any:
    raise RuntimeError("score of the user's")


def wrong_score(*_: Any) -> Any:
    return "high"


def scorer(estimator: Any, X: Any, y: Any) -> float:
    return float(estimator.score(X, y))


def odd_scorer(_estimator: Any, X: Any, _y: Any) -> Any:
    return (float("nan"), float("inf"), "high", 1e308)[len(X) % 4]


def bad_scorer(*_: Any) -> Any:
    raise RuntimeError("score of the user's")


def square_loss(y: np.ndarray, raw: np.ndarray) -> Any:
    """Of one output or of several."""
    wanted = y if raw.ndim == 1 else np.eye(raw.shape[1])[y.astype(int)]
    squares = (raw - wanted) ** 2
    return raw - wanted, np.ones_like(raw), squares if raw.ndim == 1 else squares.sum(axis=1)


def steep_loss(y: np.ndarray, raw: np.ndarray) -> Any:
    """Steps far beyond all numbers."""
    return 9e99 * np.sign(square_loss(y, raw)[0] + 0.5), np.full(raw.shape, 1e-100)


def flat_loss(_y: Any, raw: np.ndarray) -> Any:
    return np.zeros(raw.shape), np.full(raw.shape, 5e-324)


def odd_loss(y: np.ndarray, raw: np.ndarray) -> Any:
    """Sound at the start, then something else."""
    if not raw.any():
        return square_loss(y, raw)
    bad = (np.nan, np.inf, -1.0, 0.0, 1e101)[len(y) % 5]
    return square_loss(y, raw)[0], np.full(raw.shape, bad)


def loss_of_other_shape(_y: Any, raw: np.ndarray) -> Any:
    return raw[:1], raw


def bad_loss(*_: Any) -> Any:
    raise RuntimeError("loss of the user's")


def tick(*_: Any) -> None:
    return None


def failing_tick(*_: Any) -> None:
    raise RuntimeError("tick of the user's")


def strict_tick(n_done: int) -> None:
    """Takes too few arguments."""


_NAMES: dict[str, Any] = {
    **{name: getattr(bevel, name) for name in bevel.__all__},
    **{each.__name__: each for each in (signs, huge, odd, wrong_shape, empty, many, fails)},
    **{each.__name__: each for each in (score, bad_score, wrong_score)},
    **{each.__name__: each for each in (scorer, odd_scorer, bad_scorer)},
    **{each.__name__: each for each in (square_loss, steep_loss, flat_loss, odd_loss)},
    **{each.__name__: each for each in (loss_of_other_shape, bad_loss)},
    **{each.__name__: each for each in (tick, failing_tick, strict_tick)},
    **{each.__name__: each for each in (table, target, weights, survival, Decimal, Fraction)},
    **{each.__name__: each for each in (odd_table, odd_target, odd_weights)},
    "np": np,
    "sp": sp,
    "P": P,
    "nan": float("nan"),
    "inf": float("inf"),
}
