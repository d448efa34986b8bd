"""Converts scaled values to the user's units.

A split of one feature is written exactly under any scale, because all scales keep the order of
values. A combination of features reads in the user's units where the scale is affine: there
Σ w (x - shift) / span ≤ t is Σ (w / span) x ≤ t + Σ (w / span) shift. A scale that is affine
between two bounds and (nearly) constant beyond them is written [x]; ranks are written rank(x).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.ranking import RankScaler
from bevel.data.scaling import IdentityScaler, LinearScaler, QuantileScaler, Scaler, safe_span

__all__ = ["BOUNDED", "UnitThreshold", "Units", "units_of"]


BOUNDED = "[{}]"
DAMPING = 0.01  # damping of the quantile scale


@dataclass(frozen=True)
class UnitThreshold:
    """A threshold on one feature in the user's units, and its bounds."""

    value: float
    below: float = -np.inf
    above: float = np.inf


class Inverse(Protocol):
    """Inverse of the scaling of a feature."""

    def cut(self, feature: int, scaled: float, at_least: bool) -> UnitThreshold: ...

    def values(self, feature: int, scaled: Floats) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Units:
    """Meaning of scaled values.

    Attributes
    ----------
    form : str
        Format of a feature in a combination: "{}", "[{}]", "rank({})", ...
    shift, span : ndarray of shape (n_features,)
        In a combination a scaled value s means shift + span s.
    spread : ndarray of shape (n_features,)
        Extent of most training values, in the units of a combination; NaN where it is unknown.
    bounds : ndarray of shape (2, n_features) or None
        Bounds outside of which [x] is constant.
    inverse : Inverse
        Inverse of the scaling, for splits of a single feature.
    """

    form: str
    shift: Floats
    span: Floats
    spread: Floats
    bounds: Floats | None
    inverse: Inverse


def units_of(scaler: Scaler, n_features: int) -> Units:
    """Units of the values of a scaler."""
    nothing, one = np.zeros(n_features), np.ones(n_features)
    if isinstance(scaler, LinearScaler):
        shift, span = _wide(scaler.shift), _wide(scaler.span)
        bounds = np.stack((shift, shift + span)) if scaler.clip else None
        form = BOUNDED if scaler.clip else "{}"
        return Units(form, shift, span, span, bounds, _Affine(shift, span))
    if isinstance(scaler, QuantileScaler):
        low, high = _wide(scaler.low), _wide(scaler.high)
        span = safe_span(low, high)
        return Units(BOUNDED, low, span, span, np.stack((low, high)), _Dampened(low, high, span))
    if isinstance(scaler, RankScaler):
        spread = one if scaler.relative else _wide(scaler.n_present)
        form = "relative_rank({})" if scaler.relative else "rank({})"
        return Units(form, nothing, one, spread, None, _Ranked(scaler))
    if not isinstance(scaler, IdentityScaler):
        raise TypeError(f"no units are known of a {type(scaler).__name__}")
    return Units("{}", nothing, one, np.full(n_features, np.nan), None, _Affine(nothing, one))


@dataclass(frozen=True, eq=False)
class _Affine:
    shift: Floats
    span: Floats

    def cut(self, feature: int, scaled: float, at_least: bool) -> UnitThreshold:  # noqa: ARG002
        return UnitThreshold(float(self.shift[feature] + self.span[feature] * scaled))

    def values(self, feature: int, scaled: Floats) -> Floats:
        return np.asarray(self.shift[feature] + self.span[feature] * scaled)


@dataclass(frozen=True, eq=False)
class _Dampened:
    """Quantile scale: a value Δ beyond a bound is scaled to 0.01 log(1 + log(1 + Δ)) beyond it."""

    low: Floats
    high: Floats
    span: Floats

    def cut(self, feature: int, scaled: float, at_least: bool) -> UnitThreshold:  # noqa: ARG002
        value = float(self.values(feature, np.array([scaled]))[0])
        if self.low[feature] == self.high[feature] and 0.0 <= scaled <= 1.0:
            # Most rows have exactly this value, which must not be moved.
            return UnitThreshold(value, value, value)
        return UnitThreshold(value)

    def values(self, feature: int, scaled: Floats) -> Floats:
        low, high, span = self.low[feature], self.high[feature], self.span[feature]
        # If the bounds are equal, no value is scaled to between 0 and 1.
        inside = low + (span if high > low else 0.0) * np.clip(scaled, 0.0, 1.0)
        beyond = np.maximum(scaled - 1.0, 0.0) + np.minimum(scaled, 0.0)
        with np.errstate(over="ignore"):
            distance = np.expm1(np.expm1(np.abs(beyond) / DAMPING))
        return np.asarray(inside + np.sign(beyond) * distance)


@dataclass(frozen=True, eq=False)
class _Ranked:
    scaler: RankScaler

    def cut(self, feature: int, scaled: float, at_least: bool) -> UnitThreshold:
        knots, ranks = self._column(feature)
        value = float(self.values(feature, np.array([scaled]))[0])
        place = int(np.searchsorted(ranks, scaled, side="left" if at_least else "right"))
        if not self.scaler.complete[feature] or not 0 < place < len(knots):
            return UnitThreshold(value)
        # Strictly between the two training values that it separates.
        below, above = float(knots[place - 1]), float(knots[place])
        edge = 0.01 * (above - below)
        return UnitThreshold(min(max(value, below + edge), above - edge), below, above)

    def values(self, feature: int, scaled: Floats) -> Floats:
        knots, ranks = self._column(feature)
        return np.asarray(np.interp(scaled, ranks, knots))

    def _column(self, feature: int) -> tuple[Floats, Floats]:
        own = slice(self.scaler.offset[feature], self.scaler.offset[feature + 1])
        unit = float(self.scaler.n_present[feature] + 1) if self.scaler.relative else 1.0
        # Trees compare ranks in float32.
        ranks = (_wide(self.scaler.ranks[own]) / unit).astype(np.float32)
        return _wide(self.scaler.knots[own]), _wide(ranks)


def _wide(values: npt.NDArray[np.generic]) -> Floats:
    return np.asarray(values, dtype=np.float64)
