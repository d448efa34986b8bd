"""Splits as text, in the user's names and units and with few digits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bevel._types import Float32s, Floats
from bevel.data.scaling import (
    IdentityScaler,
    LinearScaler,
    QuantileScaler,
    RankScaler,
    Scaler,
    safe_span,
)
from bevel.data.values import NO, YES, Kind, day_text, floored, term_name, truth_words
from bevel.errors import join_names
from bevel.forest.flat_forest import CATEGORY_NODE, TreeView
from bevel.printable import printable

__all__ = [
    "BOUNDED",
    "MINUS",
    "Condition",
    "LevelSplitText",
    "SplitText",
    "ThresholdSplitText",
    "UnitThreshold",
    "Units",
    "conjunction",
    "counted",
    "format_level_split",
    "format_threshold_split",
    "in_a_sum",
    "level_split",
    "percent",
    "round_within",
    "shortest",
    "significant",
    "together",
    "units_of",
    "write_direction",
    "write_sum",
    "written",
]

# Numbers as text, with as few digits as necessary.

MINUS = "−"
MAX_COUNT = 1e15  # largest number of rows that is written with all its digits
MAX_DIGITS = 17  # digits of a float64 that identify it


def round_within(value: float, tolerance: float) -> float:
    """The number with the fewest digits within `tolerance` of `value`."""
    return shortest(value, value - tolerance, value + tolerance)


def shortest(value: float, low: float, high: float) -> float:
    """The rounding of `value` with the fewest digits from `low` to `high`; else `value`."""
    if not math.isfinite(value):
        return value
    if low <= 0.0 <= high:
        return 0.0
    value, low, high = float(value), float(low), float(high)  # NumPy scalars are slow to format
    for digits in range(1, MAX_DIGITS):
        rounded = float(f"{value:.{digits - 1}e}")
        if low <= rounded <= high:
            return rounded
    return value


def significant(value: float) -> int:
    """Number of significant digits of a number as it is written."""
    mantissa = written(value).split("e")[0]
    return len(mantissa.lstrip(MINUS).replace(".", "").replace(",", "").strip("0"))


def written(value: float) -> str:
    """A number in text, with enough digits to identify it, and a minus sign (U+2212)."""
    text = repr(float(value)).removesuffix(".0")
    whole, point, decimals = text.partition(".")
    if len(whole.removeprefix("-")) > 4 and whole.removeprefix("-").isdigit():
        text = f"{int(whole):,}{point}{decimals}"
    return text.replace("-", MINUS)


def percent(share: float) -> str:
    """A share in percent; only 1 is written as 100 % and only 0 as 0 %."""
    if not math.isfinite(share):
        return f"{written(share)} %"
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    inside = min(max(round(100.0 * share), 1), 99)
    return f"{inside} %"


def counted(weight: float) -> str:
    """A number of rows by weight."""
    if not math.isfinite(weight) or abs(weight) >= MAX_COUNT or weight != round(weight):
        return f"{written(round_within(weight, max(5e-4 * abs(weight), 5e-7)))} rows"
    return f"{weight:.0f} row{'' if weight == 1 else 's'}"


# Conditions on a row, as text; several conditions on one subject are merged.

MAX_LABELS = 6


@dataclass(frozen=True)
class Condition:
    """Condition that a row must satisfy to take one side of a split.

    Attributes
    ----------
    subject : str
        Feature, or combination of features.
    low, high : float
        Bounds of the subject's value.
    low_included, high_included : bool
        Whether the bounds themselves are allowed.
    labels : tuple of str or None
        Allowed labels of a nominal column.
    missing : bool or None
        Whether a missing value satisfies it; None where missing values do not occur.
    terms : tuple
        Terms of the subject, if its text abbreviates them; otherwise empty.
    kind : {"number", "day", "time", "truth"}
        What the numbers of the subject stand for.
    """

    subject: str
    low: float = -math.inf
    high: float = math.inf
    low_included: bool = False
    high_included: bool = True
    labels: tuple[str, ...] | None = None
    missing: bool | None = None
    terms: tuple[tuple[int, float], ...] = ()
    kind: Kind = "number"

    def __str__(self) -> str:
        stated = self._stated()
        if not self.missing:
            return stated
        return f"{stated} or missing" if stated else f"{self.subject} is missing"

    def _stated(self) -> str:
        if self.labels is not None:
            if not self.labels:
                return "" if self.missing else f"{self.subject} in none of its labels"
            if set(self.labels) & {YES, NO} and set(self.labels) <= {YES, NO, "missing"}:
                return f"{self.subject} is {' or '.join(self.labels)}"
            return f"{self.subject} in {{{join_names(self.labels, MAX_LABELS)}}}"
        if self.kind == "truth":
            return f"{self.subject} is {truth_words(self._allows(0.0), self._allows(1.0))}"
        low, high = (self._bound(each) for each in (self.low, self.high))
        over, under = "≥" if self.low_included else ">", "≤" if self.high_included else "<"
        if math.isinf(self.low):
            return f"{self.subject} {under} {high}"
        if math.isinf(self.high):
            return f"{self.subject} {over} {low}"
        lower = "≤" if self.low_included else "<"
        return f"{low} {lower} {self.subject} {under} {high}"

    def _bound(self, value: float) -> str:
        return written(value) if self.kind == "number" else day_text(value)

    def _allows(self, value: float) -> bool:
        above = value > self.low or (self.low_included and value == self.low)
        return above and (value < self.high or (self.high_included and value == self.high))

    def and_also(self, other: Condition) -> Condition:
        """Intersection with another condition on the same subject."""
        missing = None if self.missing is None else bool(self.missing and other.missing)
        if self.labels is not None and other.labels is not None:
            both = tuple(label for label in self.labels if label in other.labels)
            return replace(self, labels=both, missing=missing)
        low, low_out = max((self.low, not self.low_included), (other.low, not other.low_included))
        high, high_in = min((self.high, self.high_included), (other.high, other.high_included))
        return replace(
            self,
            low=low,
            high=high,
            low_included=not low_out,
            high_included=high_in,
            missing=missing,
        )


def conjunction(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Conjunction of conditions, one for each subject, in the order of their first mention."""
    drawn: dict[object, Condition] = {}
    for condition in conditions:
        about = condition.terms or condition.subject
        known = drawn.get(about)
        drawn[about] = condition if known is None else known.and_also(condition)
    return tuple(drawn.values())


def together(conditions: Sequence[Condition]) -> str:
    """Conjunction of conditions as text."""
    texts = [f"({c})" if c.missing and len(conditions) > 1 else str(c) for c in conditions]
    return " and ".join(texts) or "always"


# Weighted sums of features as text.

MAX_TERMS = 6  # terms of a direction


def write_sum(
    names: Sequence[str], weights: Sequence[float] | npt.NDArray[np.floating], most_terms: int
) -> str:
    """Terms in the given order, such as ``x − 0.5·y``; only the first `most_terms` are written."""
    text = ""
    for name, weight in zip(names[:most_terms], weights[:most_terms], strict=True):
        sign = MINUS if weight < 0 else "+"
        size = abs(float(weight))
        term = name if size == 1.0 else f"{written(size)}·{name}"
        text += f" {sign} {term}" if text else f"{sign}{term}".removeprefix("+")
    hidden = len(names) - most_terms
    return f"{text} + {hidden} more term{'s' if hidden > 1 else ''}" if hidden > 0 else text


def write_direction(
    names: Sequence[str], weights: npt.NDArray[np.floating], most_terms: int = MAX_TERMS
) -> str:
    """A direction, such as ``sepal_length − 0.5·petal_width``, with weights of two digits.

    Terms are in descending order of absolute weight, ties in the given order.
    """
    order = np.argsort(-np.abs(weights), kind="stable")
    rounded = [float(f"{float(weights[i]):.2g}") for i in order]
    return write_sum([printable(names[i]) for i in order], rounded, most_terms)


# Converts scaled values to the user's units.
#
# A split of one feature is written exactly under any scale, because all scales keep the order of
# values. A combination of features reads in the user's units where the scale is affine: there Σ w
# (x - shift) / span ≤ t is Σ (w / span) x ≤ t + Σ (w / span) shift. A scale that is affine between
# two bounds and (nearly) constant beyond them is written [x]; ranks are written rank(x).

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
    n_indicators : int, default=0
        Number of columns of 0 and 1 that come last, in units of their own.
    """

    form: str
    shift: Floats
    span: Floats
    spread: Floats
    bounds: Floats | None
    inverse: Inverse
    n_indicators: int = 0

    def with_indicators(self, n: int) -> Units:
        """Units of these columns, followed by some of 0 and 1."""
        return replace(
            self,
            shift=np.append(self.shift, np.zeros(n)),
            span=np.append(self.span, np.ones(n)),
            spread=np.append(self.spread, np.ones(n)),
            n_indicators=n,
        )


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


# Digits beyond the requested ones that an exact threshold may have and still be preferred to a
# rounded one: midpoints of round values, such as 5119.5, must not be rounded onto a value.
FEW_MORE = 2
MAX_AS_STORED = 8  # terms of a direction that cannot be written in the user's units
ROUND_NUMBER = 6  # digits up to which a threshold counts as a round number
MAX_FLOAT32 = float(np.finfo(np.float32).max)
EXACT = 1e-9  # relative error of exact numbers, far below the resolution of float32


@dataclass(frozen=True, eq=False)
class ThresholdSplitText:
    """Split of a combination of features, or one feature, by a threshold.

    Attributes
    ----------
    features, weights : ndarray
        Combination as written: leading term first, with weight 1.
    threshold : float
        Threshold as written.
    at_least : bool
        Whether the left side has values of at least, not at most, the threshold.
    single : bool
        Whether it tests one feature, in the user's units under any scale.
    missing_left : bool or None
        Side of missing values, if it is printed.
    subject : str
        The combination as text.
    units : Units
        Units of scaled values.
    kind : {"number", "day", "time", "truth"}
        What the numbers of a single feature stand for.
    """

    features: npt.NDArray[np.int32]
    weights: Floats
    threshold: float
    at_least: bool
    single: bool
    missing_left: bool | None
    subject: str
    units: Units
    kind: Kind = "number"

    @cached_property
    def sides(self) -> tuple[Condition, Condition]:
        """Conditions of the left and of the right child."""
        terms = tuple(zip(self.features.tolist(), self.weights.tolist(), strict=True))
        lower = Condition(
            self.subject,
            high=self.threshold,
            high_included=not self.at_least,
            missing=self._missing(not self.at_least),
            terms=terms,
            kind=self.kind,
        )
        upper = Condition(
            self.subject,
            low=self.threshold,
            low_included=self.at_least,
            missing=self._missing(self.at_least),
            terms=terms,
            kind=self.kind,
        )
        return (upper, lower) if self.at_least else (lower, upper)

    def _missing(self, left: bool) -> bool | None:
        return None if self.missing_left is None else self.missing_left == left

    def values(self, encoded: Float32s) -> Floats:
        """Value of the written combination for encoded rows; NaN where a single one is missing."""
        if self.single:
            feature = int(self.features[0])
            return self.units.inverse.values(feature, encoded[:, feature].astype(np.float64))
        units, own = self.units, self.features
        read = units.shift[own] + units.span[own] * encoded[:, own].astype(np.float64)
        return np.asarray(read @ self.weights)

    def goes_left(self, encoded: Float32s) -> npt.NDArray[np.bool_]:
        """Whether the written rule sends rows left, missing values aside."""
        values = self.values(encoded)
        return values >= self.threshold if self.at_least else values <= self.threshold


@dataclass(frozen=True, eq=False)
class LevelSplitText:
    """Split of a nominal column by a set of levels."""

    feature: int
    sides: tuple[Condition, Condition]


SplitText = ThresholdSplitText | LevelSplitText


def format_level_split(
    tree: TreeView, node: int, name: str, labels: tuple[str, ...], feature: int
) -> LevelSplitText:
    """Format a split by levels; `labels` are those of the column, by code."""
    forest, place = tree.forest, tree.nodes.start + node
    start = int(forest.bits_offset[forest.bits_index[place]])
    words = forest.bits[start : start + -(-len(labels) // 32)].astype("<u4")
    goes_left = np.unpackbits(words.view(np.uint8), count=len(labels), bitorder="little")
    return level_split(name, labels, feature, goes_left.astype(bool).tolist())


def level_split(
    name: str, labels: Sequence[str], feature: int, goes_left: Sequence[bool]
) -> LevelSplitText:
    """Text of a split by the side of each level."""
    left, right = (
        Condition(name, labels=tuple(itertools.compress(labels, side)))
        for side in (goes_left, [not left for left in goes_left])
    )
    return LevelSplitText(feature, (left, right))


def format_threshold_split(
    tree: TreeView,
    node: int,
    names: tuple[str, ...],
    kind_of: Callable[[int], Kind],
    units: Units,
    spread: Floats,
    digits: int | None,
    max_terms: int | None,
    missing_left: bool | None,
) -> ThresholdSplitText:
    """Format a split by a threshold, to `digits` digits; None: as many as are needed."""
    features, weights = _merged(*tree.projection(node))
    threshold = float(tree.threshold[node])
    if not (weights.any() and np.isfinite(weights).all()):
        return _as_stored(features, weights, threshold, names, units)
    if len(features) == 1:
        feature, weight = int(features[0]), float(weights[0])
        kind = kind_of(feature)
        cut = _cut_of_one(units, feature, weight, threshold, float(spread[feature]), digits, kind)
        one = np.ones(1)
        return ThresholdSplitText(
            features, one, cut, weight < 0, True, missing_left, names[feature], units, kind
        )
    medians = tree.forest.medians[features].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        terms = _combination(features, weights, threshold, units, spread, medians, digits)
    if not (len(terms[0]) and np.isfinite(terms[1]).all() and math.isfinite(terms[2])):
        return _as_stored(features, weights, threshold, names, units)
    features, weights, threshold, flipped = terms
    own_names = [in_a_sum(units, int(f), names[f], kind_of(int(f))) for f in features]
    subject = write_sum(own_names, weights, len(features) if max_terms is None else max_terms)
    return ThresholdSplitText(features, weights, threshold, flipped, False, None, subject, units)


def in_a_sum(units: Units, feature: int, name: str, kind: Kind) -> str:
    """A feature as a term of a weighted sum."""
    if feature >= len(units.span) - units.n_indicators:
        return name
    # Truth values are within the bounds of all scales but ranks.
    form = "({})" if kind == "truth" and units.form in ("{}", BOUNDED) else units.form
    return form.format(term_name(name, kind))


def _as_stored(
    features: npt.NDArray[np.int32],
    weights: Floats,
    threshold: float,
    names: tuple[str, ...],
    units: Units,
) -> ThresholdSplitText:
    """Text of a direction that cannot be written in the user's units, in scaled values.

    Its weights are all zero, or beyond the range of floats. Training never makes such directions.
    """
    unscaled = bool((units.span == 1.0).all() and (units.shift == 0.0).all())
    form = "{}" if unscaled and units.form == "{}" else "scaled({})"
    words = [form.format(names[feature]) for feature in features]
    subject = write_sum(words, weights, MAX_AS_STORED)
    return ThresholdSplitText(features, weights, threshold, False, False, None, subject, units)


def is_by_levels(tree: TreeView, node: int) -> bool:
    """Whether a split tests levels of a nominal column."""
    return bool(tree.forest.flags[tree.nodes.start + node] & CATEGORY_NODE)


def _merged(
    features: npt.NDArray[np.int32], weights: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.int32], Floats]:
    """Merge repeated features of a direction and drop zeros, unless nothing is left."""
    if len(features) == 1:
        return features, weights.astype(np.float64)
    order = np.argsort(features)
    if len(features) == 0 or ((np.diff(features[order]) > 0).all() and weights.all()):
        return features[order], weights[order].astype(np.float64)
    distinct, place = np.unique(features, return_inverse=True)
    total: Floats = np.bincount(place, weights.astype(np.float64)).astype(np.float64)
    used = total != 0.0
    return (distinct[used], total[used]) if used.any() else (distinct, total)


def _cut_of_one(
    units: Units,
    feature: int,
    weight: float,
    threshold: float,
    spread: float,
    digits: int | None,
    kind: Kind,
) -> float:
    """Threshold of one feature in the user's units."""
    if weight == 0.0:
        return threshold
    scaled, at_least = threshold / weight, weight < 0.0
    cut = units.inverse.cut(feature, scaled, at_least)
    exact = _exact(units, feature, scaled, cut, at_least)
    if digits is None:
        return exact
    tolerance = 0.5 * _extent(units, feature, spread) * 10.0**-digits
    if kind in ("day", "time"):
        whole = 1.0 if kind == "day" else 0.0
        return floored(exact, max(tolerance, whole), up=at_least)
    if significant(exact) <= digits + FEW_MORE:
        return exact
    moved = _moved(cut, tolerance)
    return moved if significant(moved) < significant(exact) else exact


def _exact(units: Units, feature: int, scaled: float, cut: UnitThreshold, at_least: bool) -> float:
    """A threshold that separates the user's values as the tree does after rounding to float32."""
    if abs(scaled) > MAX_FLOAT32:  # possible for a tiny weight
        return cut.value
    step = float(np.spacing(np.float32(abs(scaled))))
    side = -1.0 if at_least else 1.0
    # Values within half a step of the threshold are rounded to it.
    near, far = units.inverse.values(feature, scaled + side * step * np.array([0.5, 0.6]))
    round_number = _moved(cut, abs(far - cut.value))
    if significant(round_number) <= ROUND_NUMBER or math.isfinite(cut.below + cut.above):
        return round_number
    low, high = min(near, far), max(near, far)
    return shortest(0.5 * (low + high), low, high)


def _extent(units: Units, feature: int, spread: float) -> float:
    """Spread of a single feature in the user's units, which ranks do not have."""
    if units.form.startswith(("rank", "relative")):
        return float(np.ptp(units.inverse.values(feature, np.array([0.05, 0.95]) * spread)))
    return spread if math.isfinite(spread) else 0.0


def _moved(cut: UnitThreshold, tolerance: float) -> float:
    """The shortest number near a cut that is on the same side of all values."""
    margin = 1e-3 * (cut.above - cut.below) if math.isfinite(cut.below + cut.above) else 0.0
    low = max(cut.value - tolerance, cut.below + margin)
    high = min(cut.value + tolerance, cut.above - margin)
    return shortest(cut.value, low, high)


def _combination(
    features: npt.NDArray[np.int32],
    weights: Floats,
    threshold: float,
    units: Units,
    spread: Floats,
    medians: Floats,
    digits: int | None,
) -> tuple[npt.NDArray[np.int32], Floats, float, bool]:
    """Terms in the user's units by descending size, threshold, and whether the sign was flipped.

    Rounding a weight turns the plane about the medians of the columns, where most rows are: the
    fourth digit of a weight would otherwise shift it for columns far from zero, such as years.
    """
    weights = weights / units.span[features]
    threshold += float(weights @ units.shift[features])
    known = spread[features]
    is_known = bool(np.isfinite(known).all())
    size = np.abs(weights) * known if is_known else np.abs(weights)
    order = np.argsort(-size, kind="stable")
    features, weights, size, medians = features[order], weights[order], size[order], medians[order]
    lead = float(weights[0])
    weights, threshold, size = weights / lead, threshold / lead, size / abs(lead)
    centre = units.shift[features] + units.span[features] * medians
    offset = threshold - float(weights @ centre)
    # Without a known spread, the distance of the cut from the medians is used.
    extent = float(size[0]) if is_known else 2.0 * abs(offset)
    share = 0.5 * 10.0**-digits if digits is not None else EXACT
    tolerance = share * np.abs(weights) * size[0] / np.where(size > 0.0, size, 1.0)
    pairs = zip(weights.tolist(), tolerance.tolist(), strict=True)
    rounded = np.array([round_within(*pair) for pair in pairs])
    threshold = offset + float(rounded @ centre)
    largest = max(abs(threshold), float(np.abs(rounded * centre).max()))
    threshold = round_within(threshold, max(share * extent, EXACT * largest))
    kept = rounded != 0.0
    return features[kept], rounded[kept], threshold, lead < 0.0
