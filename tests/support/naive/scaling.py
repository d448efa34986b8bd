"""Scaling as its definitions read, in NumPy: the oracle of the native scaler."""

from __future__ import annotations

import numpy as np

from bevel.data.scaling import (
    IdentityScaler,
    LinearScaler,
    QuantileScaler,
    RankScaler,
    Scaler,
    safe_span,
)

MAX_STORED = 1e34


def native_scale(scaler: Scaler, tile: np.ndarray, features: slice | None = None) -> np.ndarray:
    """What the core stores of a tile whose columns are `features`, all of them unless told."""
    features = slice(0, tile.shape[1]) if features is None else features
    target = np.empty(tile.shape, np.float32, order="F")
    scaler.native(features.stop).transform(tile, features.start, 1, target)
    return target


def naive_scale(scaler: Scaler, tile: np.ndarray, features: slice) -> np.ndarray:
    """What the core is to store of a tile whose columns are `features`."""
    scaled = scale_in_double(scaler, tile.astype(np.float64), features)
    if not isinstance(scaler, IdentityScaler):
        scaled = _cut(scaled, -MAX_STORED, MAX_STORED)
    return scaled.astype(np.float32)


def scale_in_double(scaler: Scaler, values: np.ndarray, features: slice) -> np.ndarray:
    """The scaled values before they are cut to what is stored, and rounded."""
    with np.errstate(over="ignore"):  # a huge distance over a tiny span
        if isinstance(scaler, LinearScaler):
            scaled = (values - scaler.shift[features]) / scaler.span[features]
            return _cut(scaled, 0.0, 1.0) if scaler.clip else scaled
        if isinstance(scaler, QuantileScaler):
            return _quantile(values, scaler.low[features], scaler.high[features])
        if isinstance(scaler, RankScaler):
            columns = zip(range(features.start, features.stop), values.T, strict=True)
            return np.column_stack([_rank(scaler, column, f) for f, column in columns])
    return values


def _cut(values: np.ndarray, low: np.ndarray | float, high: np.ndarray | float) -> np.ndarray:
    """`numpy.clip`, which may or may not keep the sign of a zero that lies on a bound."""
    values = np.where(values < low, low, values)
    return np.where(values > high, high, values)


def _quantile(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    scaled = (_cut(values, low, high) - low) / safe_span(low, high)
    under, over = values < low, values > high
    scaled[under] = -dampen((low - values)[under])
    scaled[over] = 1.0 + dampen((values - high)[over])
    return scaled


def dampen(distance: np.ndarray) -> np.ndarray:
    """0.01 log(1 + log(1 + Δ))."""
    return 0.01 * _log(1.0 + _log(1.0 + distance))


def _log(values: np.ndarray) -> np.ndarray:
    """Natural logarithm of values >= 1 by a fixed series: 2 artanh((m - 1) / (m + 1)) + e log 2."""
    mantissa, exponent = np.frexp(values)
    small = mantissa < 0.7071067811865476
    mantissa = np.where(small, 2.0 * mantissa, mantissa)
    exponent = exponent - small
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    series = np.zeros_like(values)
    for odd in range(21, 0, -2):
        series = series * square + 1.0 / odd
    return exponent * 0.6931471805599453 + 2.0 * ratio * series


def _rank(scaler: RankScaler, values: np.ndarray, feature: int) -> np.ndarray:
    own = slice(scaler.offset[feature], scaler.offset[feature + 1])
    ceiling = scaler.n_present[feature] + 1
    knots = np.concatenate(([-np.inf], scaler.knots[own], [np.inf]))
    ranks = np.concatenate(([0.0], scaler.ranks[own], [ceiling]))
    if scaler.relative:
        ranks /= ceiling
    above = np.minimum(np.searchsorted(knots, values, side="left"), len(knots) - 1)
    below = np.maximum(above - 1, 0)
    share = _share(scaler, values, knots, below, above, bool(scaler.complete[feature]))
    between = ranks[below] + share * (ranks[above] - ranks[below])
    scaled = np.where(knots[above] == values, ranks[above], between)
    return np.where(np.isnan(values), np.nan, scaled)


def _share(
    scaler: RankScaler,
    values: np.ndarray,
    knots: np.ndarray,
    below: np.ndarray,
    above: np.ndarray,
    complete: bool,
) -> np.ndarray | float:
    """How far a value has gone from the knot below it to the knot above it, 0 to 1."""
    if scaler.relative and complete:
        return 0.5
    with np.errstate(invalid="ignore"):  # beyond the outermost knots: settled below
        share = (values - knots[below]) / (knots[above] - knots[below])
    low, high = (0.5, 0.5) if scaler.relative else (0.0, 1.0)
    share = np.where(below == 0, low, share)
    return np.where(above == len(knots) - 1, high, share)
