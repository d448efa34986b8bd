"""Boosting in NumPy, as plain as can be: exact cuts, one row after the other, one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Sides = npt.NDArray[np.bool_]


@dataclass
class PlainNode:
    """Rows of a node, bounds of its leaves, groups of columns it may cut, and its best cut."""

    rows: npt.NDArray[np.intp]
    low: float = -np.inf
    high: float = np.inf
    groups: list[set[int]] | None = None
    gain: float = 0.0
    column: int = -1
    left: Sides | None = None


@dataclass
class PlainBoosting:
    """Best-first trees on single columns; NaN, levels and constraints as documented."""

    n_iter: int
    max_leaf_nodes: int
    min_samples_leaf: int
    l2: float
    rate: float
    nominal: frozenset[int] = frozenset()
    monotone: tuple[int, ...] = ()
    groups: list[set[int]] | None = None
    max_depth: int | None = None
    symmetric: bool = False  # all nodes of a level share a cut
    first_gains: list[float] = field(default_factory=list)

    def fit(self, X: Floats, y: Floats, w: Floats, log_loss: bool) -> Floats:
        """Raw predictions of the training rows."""
        mean = float((w * y).sum() / w.sum())
        raw = np.full(len(y), np.log(mean / (1.0 - mean)) if log_loss else mean)
        for _ in range(self.n_iter):
            if log_loss:
                share = 1.0 / (1.0 + np.exp(-raw))
                g, h = w * (share - y), w * share * (1.0 - share)
            else:
                g, h = w * (raw - y), w.copy()
            raw = raw + (self._grow_levels if self.symmetric else self._grow)(X, g, h)
        return raw

    def fit_classes(self, X: Floats, y: npt.NDArray[np.intp], w: Floats) -> Floats:
        """Raw predictions of the training rows by trees that all classes share."""
        one_hot = np.eye(y.max() + 1)[y]
        k = one_hot.shape[1]
        baseline = np.log((w[:, None] * one_hot).sum(axis=0) / w.sum())
        raw = np.tile(baseline - baseline.mean(), (len(y), 1))
        for _ in range(self.n_iter):
            share = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
            g = w[:, None] * (share - one_hot)
            h = w[:, None] * share * (1.0 - share) * k / (k - 1.0)
            raw = raw + self._grow_shared(X, g, h)
        return raw

    def _grow_shared(self, X: Floats, g: Floats, h: Floats) -> Floats:
        leaves = [PlainNode(np.arange(len(g)))]
        self._find_shared_cut(X, g, h, leaves[0])
        while len(leaves) < self.max_leaf_nodes:
            best = int(np.argmax([node.gain for node in leaves]))
            if leaves[best].left is None:
                break
            for child in self._children(g[:, 0], h[:, 0], leaves.pop(best)):
                self._find_shared_cut(X, g, h, child)
                leaves.append(child)
        step = np.zeros_like(g)
        for node in leaves:
            for k in range(g.shape[1]):
                value = self._value(g[node.rows, k], h[node.rows, k], -np.inf, np.inf)
                step[node.rows, k] = self.rate * value
        return step

    def _find_shared_cut(self, X: Floats, g: Floats, h: Floats, node: PlainNode) -> None:
        for column in range(X.shape[1]):
            for own in self._sides(X[node.rows, column], g[:, 0], h[:, 0], False):
                if min(own.sum(), (~own).sum()) < self.min_samples_leaf:
                    continue
                outputs = ((g[node.rows, k], h[node.rows, k]) for k in range(g.shape[1]))
                gain = sum(self._gain_of_level(0 * node.rows, own, *each) for each in outputs)
                if gain > node.gain * (1.0 + 1e-9) + 1e-12:
                    node.gain, node.column, node.left = gain, column, own

    def _grow_levels(self, X: Floats, g: Floats, h: Floats) -> Floats:
        leaf = np.zeros(len(g), dtype=int)
        values = np.full(1, self._value(g, h, -np.inf, np.inf))
        for depth in range(self.max_depth or 0):
            best, sides = 0.0, None
            for column in range(X.shape[1]):
                for left in self._sides(X[:, column], g, h, column in self.nominal):
                    gain = self._gain_of_level(leaf, left, g, h)
                    if gain > best * (1.0 + 1e-9) + 1e-12:
                        best, sides = gain, left
            if depth == 0:
                self.first_gains.append(best)
            if sides is None:
                break
            leaf = 2 * leaf + ~sides
            values = np.repeat(values, 2)
            for number in range(len(values)):
                own = leaf == number
                if own.sum() >= self.min_samples_leaf:
                    values[number] = self._value(g[own], h[own], -np.inf, np.inf)
        return self.rate * values[leaf]

    def _gain_of_level(
        self, leaf: npt.NDArray[np.intp], left: Sides, g: Floats, h: Floats
    ) -> float:
        gain = 0.0
        for number in np.unique(leaf):
            own = leaf == number
            parts = [(g[s], h[s]) for s in (own & left, own & ~left)]
            if min(part.sum() for _, part in parts) >= 1e-3:
                gain += sum(self._fall(*part, -np.inf, np.inf) for part in parts)
                gain -= self._fall(g[own], h[own], -np.inf, np.inf)
        return gain

    def _grow(self, X: Floats, g: Floats, h: Floats) -> Floats:
        leaves = [PlainNode(np.arange(len(g)), groups=self.groups)]
        depths = [0]
        self._find_cut(X, g, h, leaves[0])
        self.first_gains.append(leaves[0].gain)
        while len(leaves) < self.max_leaf_nodes:
            best = int(np.argmax([node.gain for node in leaves]))
            node = leaves[best]
            if node.left is None:
                break
            leaves.pop(best)
            depth = depths.pop(best) + 1
            for child in self._children(g, h, node):
                if self.max_depth is None or depth < self.max_depth:
                    self._find_cut(X, g, h, child)
                leaves.append(child)
                depths.append(depth)
        step = np.zeros(len(g))
        for node in leaves:
            value = self._value(g[node.rows], h[node.rows], node.low, node.high)
            step[node.rows] = self.rate * value
        return step

    def _children(self, g: Floats, h: Floats, node: PlainNode) -> tuple[PlainNode, PlainNode]:
        assert node.left is not None
        low, high = node.low, node.high
        left = PlainNode(node.rows[node.left], low, high)
        right = PlainNode(node.rows[~node.left], low, high)
        push = self.monotone[node.column] if self.monotone else 0
        if push:
            values = [self._value(g[c.rows], h[c.rows], low, high) for c in (left, right)]
            lower, upper = (left, right) if push > 0 else (right, left)
            lower.high = upper.low = 0.5 * sum(values)
        if node.groups is not None:
            left.groups = right.groups = [group for group in node.groups if node.column in group]
        return left, right

    def _find_cut(self, X: Floats, g: Floats, h: Floats, node: PlainNode) -> None:
        rows = node.rows
        own_g, own_h = g[rows], h[rows]
        bounds = (node.low, node.high)
        before = self._fall(own_g, own_h, *bounds)
        for column in range(X.shape[1]):
            if node.groups is not None and not any(column in group for group in node.groups):
                continue
            push = self.monotone[column] if self.monotone else 0
            for left in self._sides(X[rows, column], own_g, own_h, column in self.nominal):
                parts = [(own_g[s], own_h[s]) for s in (left, ~left)]
                if min(len(part) for part, _ in parts) < self.min_samples_leaf:
                    continue
                if min(part.sum() for _, part in parts) < 1e-3:
                    continue
                values = [self._value(*part, *bounds) for part in parts]
                if push * (values[1] - values[0]) < 0.0:
                    continue
                gain = sum(self._fall(*part, *bounds) for part in parts) - before
                if gain > node.gain * (1.0 + 1e-9) + 1e-12:
                    node.gain, node.column, node.left = gain, column, left

    def _sides(self, x: Floats, g: Floats, h: Floats, nominal: bool) -> Iterator[Sides]:
        if nominal:
            levels = np.unique(x)
            smooth = 10.0 * h.sum() / len(h)
            keys = [g[x == level].sum() / (h[x == level].sum() + smooth) for level in levels]
            order = levels[np.argsort(keys, kind="stable")]
            for n in range(1, len(order)):
                yield np.isin(x, order[:n])
            return
        missing = np.isnan(x)
        values = np.unique(x[~missing])
        for low in values[:-1]:
            yield x <= low
            if missing.any():
                yield (x <= low) | missing
        if missing.any() and len(values):
            yield ~missing

    def _value(self, g: Floats, h: Floats, low: float, high: float) -> float:
        return float(np.clip(-g.sum() / (h.sum() + self.l2), low, high))

    def _fall(self, g: Floats, h: Floats, low: float, high: float) -> float:
        """What the loss falls by when the rows get their value."""
        value = self._value(g, h, low, high)
        return float(-value * (g.sum() + 0.5 * (h.sum() + self.l2) * value))


def check_leaf_steps(
    model: Any,
    X: Floats,
    gradients: Callable[[Floats], tuple[Floats, Floats]],
    rtol: float = 1e-9,
) -> None:
    """Assert that every leaf of every tree is the Newton step of its rows, one after the other.

    gradients: weighted gradients and hessians of all rows, from their raw predictions.
    """
    forest, leaves = model.forest_, model.apply(X)
    raw = np.full(len(X), model.baseline_prediction_[0])
    for tree in range(forest.n_trees):
        gradient, hessian = gradients(raw)
        first = forest.tree_offset[tree]
        for leaf in np.unique(leaves[:, tree]):
            rows = leaves[:, tree] == leaf
            curvature = hessian[rows].sum() + model.l2_regularization
            expected = -model.learning_rate * gradient[rows].sum() / curvature
            np.testing.assert_allclose(
                forest.leaf_value[first + leaf], expected, rtol=rtol, atol=1e-12
            )
        raw = raw + forest.leaf_value[first + leaves[:, tree]]
