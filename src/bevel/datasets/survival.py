"""Simulated right-censored times: Weibull times whose scale depends on an oblique combination.

Each function returns ``(X, y)``: X is float64, y a structured array with the fields ``event`` (True
where the event was seen) and ``time``, as scikit-survival has it.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bevel._types import Floats
from bevel.datasets.conventions import RandomState, check_at_least
from bevel.errors import wrong_value

__all__ = ["proportional_hazards", "weibull"]

Censored: TypeAlias = tuple[Floats, NDArray[Any]]


def proportional_hazards(
    n_samples: int = 500,
    n_features: int = 10,
    *,
    censored: float = 0.3,
    random_state: RandomState = None,
) -> Censored:
    """Cox's model: the log hazard is a sum of five normal features, among others that are noise.

    ``log hazard = X_1 - X_2 + 0.5 X_3 + 0.5 X_4 - 0.5 X_5``, constant in time: times are
    exponential. Features are correlated by 0.3. Censoring times are exponential too, and do not
    depend on the features.

    Parameters
    ----------
    n_samples : int, default=500
        Rows.
    n_features : int, default=10
        Columns, at least 5.
    censored : float, default=0.3
        Share of censored rows, about; from 0 to below 1.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
    y : structured ndarray of shape (n_samples,)

    References
    ----------
    Cox (1972), Regression models and life-tables, JRSS B 34(2):187-220.

    Examples
    --------
    >>> X, y = proportional_hazards(random_state=0)
    >>> X.shape, y.dtype.names
    ((500, 10), ('event', 'time'))
    """
    X, rng = _features(n_samples, n_features, censored, random_state)
    log_hazard = X[:, :5] @ np.array([1.0, -1.0, 0.5, 0.5, -0.5])
    time = rng.exponential(size=n_samples) * np.exp(-log_hazard)
    return X, _censor(time, censored, rng)


def weibull(
    n_samples: int = 500,
    n_features: int = 10,
    *,
    shape: float = 2.0,
    censored: float = 0.3,
    random_state: RandomState = None,
) -> Censored:
    """Weibull times whose log scale bends along an oblique combination of the features.

    ``log scale = |X_1 + X_2| - 0.5 X_3 X_4``: neither Cox's model nor cuts on single features fit
    it. Features are normal and correlated by 0.3; those after the fourth do not matter.

    Parameters
    ----------
    n_samples : int, default=500
        Rows.
    n_features : int, default=10
        Columns, at least 5.
    shape : float, default=2.0
        Of the Weibull distribution: above 1 the hazard rises with time.
    censored : float, default=0.3
        Share of censored rows, about; from 0 to below 1.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
    y : structured ndarray of shape (n_samples,)

    References
    ----------
    Weibull (1951), A statistical distribution function of wide applicability, Journal of Applied
    Mechanics 18(3):293-297.

    Examples
    --------
    >>> X, y = weibull(random_state=0)
    >>> 0.6 < y["event"].mean() < 0.8
    np.True_
    """
    if not (np.isfinite(shape) and shape > 0.0):
        raise wrong_value("shape", "a positive number", shape, "The default is 2.")
    X, rng = _features(n_samples, n_features, censored, random_state)
    log_scale = np.abs(X[:, 0] + X[:, 1]) - 0.5 * X[:, 2] * X[:, 3]
    time = rng.weibull(shape, size=n_samples) * np.exp(log_scale)
    return X, _censor(time, censored, rng)


def _features(
    n_samples: int, n_features: int, censored: float, random_state: RandomState
) -> tuple[Floats, np.random.Generator]:
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_features", n_features, 5)
    if not 0.0 <= censored < 1.0:
        raise wrong_value("censored", "a share from 0 to below 1", censored, "The default is 0.3.")
    rng = np.random.default_rng(random_state)
    common = rng.standard_normal((n_samples, 1))
    own = rng.standard_normal((n_samples, n_features))
    return np.sqrt(0.3) * common + np.sqrt(0.7) * own, rng


def _censor(time: Floats, share: float, rng: np.random.Generator) -> NDArray[Any]:
    """Times with the event, or with an exponential time before it; about `share` of the latter."""
    limit = np.full(len(time), np.inf)
    if share > 0.0:
        limit = rng.exponential(size=len(time))
        low, high = -30.0, 30.0
        for _ in range(60):  # the scale that censors so many of these very rows
            middle = (low + high) / 2.0
            if np.mean(limit * np.exp(middle) >= time) > 1.0 - share:
                high = middle
            else:
                low = middle
        limit = limit * np.exp(high)
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"] = time <= limit
    y["time"] = np.maximum(np.minimum(time, limit), np.finfo(float).tiny)
    return y
