"""Splits as text, in the user's names and units and with few digits."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bevel._types import Float32s, Floats
from bevel.forest.flat_forest import CATEGORY_NODE, TreeView
from bevel.text.conditions import Condition
from bevel.text.decimals import round_within, shortest, significant
from bevel.text.sums import write_sum
from bevel.text.units import Units, UnitThreshold

__all__ = [
    "LevelSplitText",
    "SplitText",
    "ThresholdSplitText",
    "format_level_split",
    "format_threshold_split",
]


# Digits beyond the requested ones that an exact threshold may have and still be preferred to a
# rounded one: midpoints of round values, such as 5119.5, must not be rounded onto a value.
FEW_MORE = 2
MOST_AS_STORED = 8  # terms of a direction that cannot be written in the user's units
ROUND_NUMBER = 6  # digits up to which a threshold counts as a round number
LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
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
    """

    features: npt.NDArray[np.int32]
    weights: Floats
    threshold: float
    at_least: bool
    single: bool
    missing_left: bool | None
    subject: str
    units: Units

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
        )
        upper = Condition(
            self.subject,
            low=self.threshold,
            low_included=self.at_least,
            missing=self._missing(self.at_least),
            terms=terms,
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
    left, right = (
        Condition(name, labels=tuple(itertools.compress(labels, side)))
        for side in (goes_left, 1 - goes_left)
    )
    return LevelSplitText(feature, (left, right))


def format_threshold_split(
    tree: TreeView,
    node: int,
    names: tuple[str, ...],
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
        cut = _cut_of_one(units, feature, weight, threshold, float(spread[feature]), digits)
        one = np.ones(1)
        return ThresholdSplitText(
            features, one, cut, weight < 0, True, missing_left, names[feature], units
        )
    medians = tree.forest.medians[features].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        terms = _combination(features, weights, threshold, units, spread, medians, digits)
    if not (len(terms[0]) and np.isfinite(terms[1]).all() and math.isfinite(terms[2])):
        return _as_stored(features, weights, threshold, names, units)
    features, weights, threshold, flipped = terms
    own_names = [units.form.format(names[f]) for f in features]
    subject = write_sum(own_names, weights, len(features) if max_terms is None else max_terms)
    return ThresholdSplitText(features, weights, threshold, flipped, False, None, subject, units)


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
    subject = write_sum(words, weights, MOST_AS_STORED)
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
    units: Units, feature: int, weight: float, threshold: float, spread: float, digits: int | None
) -> float:
    """Threshold of one feature in the user's units."""
    if weight == 0.0:
        return threshold
    scaled, at_least = threshold / weight, weight < 0.0
    cut = units.inverse.cut(feature, scaled, at_least)
    exact = _exact(units, feature, scaled, cut, at_least)
    if digits is None or significant(exact) <= digits + FEW_MORE:
        return exact
    tolerance = 0.5 * _extent(units, feature, spread) * 10.0**-digits
    moved = _moved(cut, tolerance)
    return moved if significant(moved) < significant(exact) else exact


def _exact(units: Units, feature: int, scaled: float, cut: UnitThreshold, at_least: bool) -> float:
    """A threshold that separates the user's values as the tree does after rounding to float32."""
    if abs(scaled) > LARGEST_FLOAT32:  # possible for a tiny weight
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
