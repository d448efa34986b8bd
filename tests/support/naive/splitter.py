"""A splitter that is slow and plainly right: every cut is a mask over the node's rows, and the gain
of a cut is the impurity of the node minus that of its two sides, each from its definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from scipy.special import xlogy

RELATIVE = 1e-9  # what the engine promises for gains of real weights
ROUNDING = 1e-12  # of the node's weight or impurity: what the sums below lose themselves


@dataclass(frozen=True)
class NaiveNode:
    """Targets and weights of a node's rows."""

    target: np.ndarray
    weight: np.ndarray
    n_classes: int  # 0: regression
    criterion: str

    def impurity(self, sides: np.ndarray) -> np.ndarray:
        """Weighted impurity n I of the rows in each mask (masks x rows)."""
        weight = sides * self.weight
        total = weight.sum(axis=1)
        safe = np.where(total > 0, total, 1.0)
        if self.criterion == "absolute_error":  # no constant is better than all of the targets
            distances = np.abs(self.target[:, None] - self.target[None, :])
            return (weight @ distances).min(axis=1)
        if self.criterion == "poisson":
            mean = (weight * self.target).sum(axis=1) / safe
            own = xlogy(self.target, self.target) - self.target
            return weight @ own - total * (xlogy(mean, mean) - mean)
        if self.criterion == "squared_error":
            mean = (weight * self.target).sum(axis=1) / safe
            return (weight * (self.target - mean[:, None]) ** 2).sum(axis=1)
        one_hot = np.arange(self.n_classes) == self.target[:, None]
        share = np.array([w @ one_hot for w in weight]).reshape(-1, self.n_classes) / safe[:, None]
        if self.criterion == "gini":
            return total * (share * (1.0 - share)).sum(axis=1)
        log = np.log2(np.where(share > 0, share, 1.0))
        return -total * (share * log).sum(axis=1)

    def gain(self, goes_left: np.ndarray) -> np.ndarray:
        """Impurity that each cut (a mask of the rows that go left) removes."""
        everything = np.ones((1, len(self.target)), bool)
        return self.impurity(everything) - self.impurity(goes_left) - self.impurity(~goes_left)

    @property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    @property
    def is_pure(self) -> bool:
        return bool((self.target == self.target[0]).all())

    @property
    def tolerance(self) -> float:
        """Gains that differ by less cannot be told apart here."""
        if self.criterion == "poisson":  # its terms, which nearly cancel
            return ROUNDING * float((1 + self.target * np.log1p(self.target)) @ self.weight)
        if self.n_classes:
            return ROUNDING * self.total_weight
        return ROUNDING * float(self.impurity(np.ones((1, len(self.target)), bool))[0])


@dataclass(frozen=True)
class Rules:
    """What both sides of a cut must hold."""

    min_rows: int = 1
    min_weight: float = 0.0

    def allowed(self, node: NaiveNode, goes_left: np.ndarray) -> np.ndarray:
        rows_left = goes_left.sum(axis=1)
        weight_left = goes_left @ node.weight
        rows_right = len(node.target) - rows_left
        weight_right = node.total_weight - weight_left
        enough_rows = np.minimum(rows_left, rows_right) >= max(1, self.min_rows)
        if node.criterion == "poisson":
            counts = node.target * node.weight
            enough_rows &= (goes_left @ counts > 0) & (~goes_left @ counts > 0)
        return enough_rows & (np.minimum(weight_left, weight_right) >= self.min_weight)


@dataclass(frozen=True)
class NumericCut:
    """Left means value <= low, which is the threshold rounded down to a value of the node."""

    low: np.float32
    high: np.float32
    missing_left: bool

    @property
    def threshold(self) -> np.float32:
        """The midpoint; the left neighbour where it would round onto the right one."""
        middle = np.float32((np.float64(self.low) + np.float64(self.high)) / 2)
        return middle if middle < self.high else self.low


def numeric_cuts(values: np.ndarray) -> list[NumericCut]:
    """All cuts of one direction in the order of preference: missing right first, then ascending."""
    missing = np.isnan(values)
    distinct = np.unique(values[~missing])
    pairs = list(pairwise(distinct))
    cuts = [NumericCut(low, high, False) for low, high in pairs]
    if missing.any() and distinct.size:
        cuts.append(NumericCut(distinct[-1], distinct[-1], False))  # all present against missing
        cuts += [NumericCut(low, high, True) for low, high in pairs]
    return cuts


def numeric_masks(values: np.ndarray) -> np.ndarray:
    missing = np.isnan(values)
    masks = [
        (~missing & (values <= cut.low)) | (missing & cut.missing_left)
        for cut in numeric_cuts(values)
    ]
    return _stack(masks, len(values))


def level_masks(codes: np.ndarray) -> np.ndarray:
    """Every division of the levels that are present into two groups."""
    first, *others = np.unique(codes)
    masks = [
        np.isin(codes, [first, *chosen])
        for size in range(len(others))
        for chosen in combinations(others, size)
    ]
    return _stack(masks, len(codes))


def column_masks(X: np.ndarray, levels: np.ndarray) -> Iterator[np.ndarray]:
    """Cuts of every column of the node by itself."""
    for feature, n_levels in enumerate(levels):
        yield level_masks(X[:, feature]) if n_levels else numeric_masks(X[:, feature])


def best_gain(node: NaiveNode, masks: np.ndarray, rules: Rules) -> float:
    """Largest gain over the cuts that are allowed, -inf if there is none."""
    masks = masks[rules.allowed(node, masks)]
    return float(node.gain(masks).max()) if len(masks) else -np.inf


def _stack(masks: list[np.ndarray], n: int) -> np.ndarray:
    return np.array(masks, bool).reshape(-1, n)
