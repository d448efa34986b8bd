"""Turns the words for a number of things ("sqrt", "p**2", 0.5, 7) into that number.

The same words serve `n_projections` (draws per node) and `n_features` of a projection (features per
draw). The caller checks whether there are so many.
"""

from __future__ import annotations

import math
import numbers
import re

from bevel.errors import wrong_type, wrong_value

__all__ = ["Count", "resolve_count", "round_up"]

Count = int | float | str

_POWER = re.compile(r"p\*\*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)")
_REQUIRED = 'a positive integer, a share in (0, 1], "sqrt", "log2", "p" or "p**k" for a number k'
# The native core counts draws in 32 bits; nothing near this many fits in memory or time anyway.
LARGEST_COUNT = 2**31 - 1


def resolve_count(name: str, count: Count, n_features: int, also: str = "") -> int:
    """Number of things that `count` stands for when there are `n_features` features.

    Parameters
    ----------
    name : str
        The parameter being read, for messages.
    count : int, float or str
        An integer stands for itself. "sqrt", "log2" and a share are rounded down, as scikit-learn
        does for `max_features`; "p**k" is rounded up, so that every positive power reaches at least
        one feature. All are at least 1.
    n_features : int
        The number p that the words refer to.
    also : str, default=""
        Further words the caller accepts, for messages.

    Returns
    -------
    int
        The resolved number, between 1 and 2**31 - 1.
    """
    required = also + _REQUIRED
    remedy = f'Write for example {name}="sqrt" or {name}=10.'
    if isinstance(count, bool) or not isinstance(count, numbers.Real | str):
        raise wrong_type(name, required, count, remedy)
    value = _words(count, n_features) if isinstance(count, str) else _number(count, n_features)
    if value is None:
        raise wrong_value(name, required, count, remedy)
    if value > LARGEST_COUNT:
        raise wrong_value(
            name, f"at most {LARGEST_COUNT} for {n_features} features", count, "Choose fewer."
        )
    return value


def _number(count: float, n_features: int) -> int | None:
    if isinstance(count, numbers.Integral):
        return int(count) if count >= 1 else None
    return max(1, int(count * n_features)) if 0.0 < count <= 1.0 else None


def _words(words: str, n_features: int) -> int | None:
    if words == "sqrt":
        return max(1, math.isqrt(n_features))
    if words == "log2":
        return max(1, n_features.bit_length() - 1)
    if words == "p":
        return n_features
    match = _POWER.fullmatch(words.replace(" ", ""))
    return None if match is None else _power(n_features, float(match.group(1)))


def _power(base: int, exponent: float) -> int:
    if exponent * math.log(base) > math.log(LARGEST_COUNT) + 1.0:
        return LARGEST_COUNT + 1
    return max(1, round_up(base**exponent))


def round_up(value: float) -> int:
    """Ceiling that forgives the last bits of a product or power: 243**0.2 is 3, not 4."""
    return math.ceil(value * (1.0 - 1e-12))
