"""Errors of disturbed rows equal those of a loop over trees, groups and repeats.

The loop writes each disturbed table out and reads the trees with the plain reader of
`support.forests`; the core walks on only where a row leaves its path. Forests are random: every
kind of node, sums of many features, levels, axes, missing values, thresholds that rows hit exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from support.forests import Forest, Tree
from support.huge_numbers import huge_forest, huge_rows
from support.random_forests import KINDS, random_forest, random_rows

from bevel import _core
from bevel.forest.predictor import PackedPredictor

SEED = 2**63 + 11
GROUPS = {0: (0,), 7: (1, 2, 5), 2**40: (3,), 3: (4,)}  # by key; feature 6 is never disturbed
N_REPEATS = 3


@dataclass(frozen=True)
class SplitText:
    """Rows and a forest, as the core takes them."""

    forest: Forest
    packed: _core.PackedForest
    X: np.ndarray
    replacement: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None
    judges: np.ndarray | None

    @property
    def row_weights(self) -> np.ndarray:
        return np.ones(len(self.X)) if self.weights is None else self.weights

    def judged_by(self, tree: int) -> np.ndarray:
        """Rows that a tree judges."""
        if self.judges is None:
            return np.arange(len(self.X))
        return np.flatnonzero(self.judges[:, tree])


def ask(
    seed: int,
    n_classes: int,
    kinds: tuple[str, ...] = KINDS,
    n_axes: int = 0,
    n_nominal: int = 1,
    missing: float = 0.0,
    mirrored: bool = False,
    weighted: bool = False,
    judged: bool = True,
    n_rows: int = 290,
    huge: bool = False,
) -> SplitText:
    rng = np.random.default_rng(seed)
    shape = {"n_features": 7, "n_trees": 6, "depth": 5, "n_nominal": n_nominal, "n_axes": n_axes}
    draw_forest, draw_rows = (huge_forest, huge_rows) if huge else (random_forest, random_rows)
    flat = draw_forest(rng, n_classes=n_classes, kinds=kinds, **shape)
    X = draw_rows(rng, flat, n_rows, missing)
    replacement = np.asfortranarray(-X if mirrored else X)
    target = (
        rng.integers(0, n_classes, n_rows).astype(np.int32)
        if n_classes
        else rng.normal(size=n_rows)
    )
    judges = rng.random((n_rows, 6)) < 0.4
    judges[:, 3] = False  # a tree that judges nothing
    judges[n_rows // 2] = False  # a row that nobody judges
    forest = Forest(flat.arrays(), 7, n_classes, flat.levels, flat.medians)
    weights = rng.integers(0, 4, n_rows) / 2 if weighted else None
    packed = PackedPredictor(flat).packed
    return SplitText(forest, packed, X, replacement, target, weights, judges if judged else None)


def replacement_of(permutes: bool) -> _core.Replacement:
    group = np.full(7, -1, np.int32)
    for number, features in enumerate(GROUPS.values()):
        group[list(features)] = number
    keys = np.array(list(GROUPS), np.uint64)
    return _core.Replacement(group, keys, N_REPEATS if permutes else 1, permutes, SEED)


def disturbed(q: SplitText, rows: np.ndarray, key: int, order: np.ndarray) -> np.ndarray:
    """The rows with a group taken from rows in another order."""
    X = q.X[rows].copy()
    features = list(GROUPS[key])
    X[:, features] = q.replacement[rows[order]][:, features]
    return X


def orders(permutes: bool, tree: int, key: int, n_rows: int) -> list[np.ndarray]:
    if not permutes:
        return [np.arange(n_rows)]
    return [_core.permutation(SEED, tree, key, r, n_rows) for r in range(N_REPEATS)]


def shares(tree: Tree, X: np.ndarray, hard: bool) -> np.ndarray:
    """What each row's leaf says: shares of the classes or a vote for one, or a value."""
    nodes = [tree.nodes[leaf] for leaf in tree.apply(X)]
    if tree.forest.n_classes == 0:
        return np.array([[node.value] for node in nodes]).reshape(len(X), 1)
    said = np.zeros((len(X), tree.forest.n_classes))
    for row, node in zip(said, nodes, strict=True):
        if hard:
            row[node.index[np.argmax(node.coefficient)]] = 1.0
        else:
            row[node.index] = node.coefficient
    return said


def losses(q: SplitText, said: np.ndarray, rows: np.ndarray) -> np.ndarray:
    if q.forest.n_classes == 0:
        return (said[:, 0] - q.target[rows]) ** 2
    return (said.argmax(axis=1) != q.target[rows]).astype(float)


def naive_tree_errors(q: SplitText, permutes: bool) -> tuple[np.ndarray, np.ndarray]:
    errors, increases = [], []
    for t, tree in enumerate(q.forest.trees):
        rows = q.judged_by(t)
        weight = q.row_weights[rows]
        if weight.sum() == 0:
            errors.append(np.nan)
            increases.append([[np.nan] * (N_REPEATS if permutes else 1)] * len(GROUPS))
            continue
        own = np.average(losses(q, shares(tree, q.X[rows], True), rows), weights=weight)
        errors.append(own)
        increases.append(
            [
                [
                    np.average(
                        losses(q, shares(tree, disturbed(q, rows, key, order), True), rows),
                        weights=weight,
                    )
                    - own
                    for order in orders(permutes, t, key, len(rows))
                ]
                for key in GROUPS
            ]
        )
    return np.array(errors), np.array(increases)


def forest_losses(q: SplitText, X: np.ndarray, hard: bool) -> np.ndarray:
    """Loss of each row by all its judges; NaN for rows without any."""
    sums = np.zeros((len(X), max(1, q.forest.n_classes)))
    counts = np.zeros(len(X))
    for t, tree in enumerate(q.forest.trees):
        rows = q.judged_by(t)
        sums[rows] += shares(tree, X[rows], hard)
        counts[rows] += 1
    known = np.flatnonzero(counts)
    result = np.full(len(X), np.nan)
    result[known] = losses(q, sums[known] / counts[known, None], known)
    return result


def naive_forest_errors(
    q: SplitText, permutes: bool, hard: bool
) -> tuple[float, np.ndarray, np.ndarray]:
    own = forest_losses(q, q.X, hard)
    known = ~np.isnan(own)
    weight = q.row_weights[known]
    every = np.arange(len(q.X))
    increase, standard_error = [], []
    for key in GROUPS:
        rises = np.array(
            [
                (forest_losses(q, disturbed(q, every, key, order), hard) - own)[known]
                for order in orders(permutes, 0, key, len(q.X))
            ]
        )
        increase.append(np.average(rises, axis=1, weights=weight))
        of_row = rises.mean(axis=0)
        centred = weight * (of_row - np.average(of_row, weights=weight))
        standard_error.append(np.sqrt((centred**2).sum()) / weight.sum())
    error = float(np.average(own[known], weights=weight))
    return error, np.array(increase), np.array(standard_error)


SETTINGS = {
    "every kind": {},
    "one feature": {"kinds": ("single",), "missing": 0.1},
    "signs": {"kinds": ("signs", "category"), "missing": 0.1, "weighted": True},
    "weights": {"kinds": ("weights", "dense")},
    "levels": {"kinds": ("category", "single"), "n_nominal": 3},
    "dense axes": {"n_axes": 3, "missing": 0.1},
    "sparse axes": {"n_axes": 4, "kinds": ("axis", "mixed_signs"), "weighted": True},
    "all judges": {"judged": False, "missing": 0.1},
    "one row": {"judged": False, "n_rows": 1},
    "sums beyond float32": {"huge": True},
    "axes beyond float32": {"huge": True, "n_axes": 4, "missing": 0.1},
}


@pytest.mark.parametrize("n_classes", [3, 0], ids=["classes", "numbers"])
@pytest.mark.parametrize("permutes", [True, False], ids=["permuted", "replaced"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_errors_of_trees_equal_a_loop_over_disturbed_tables(
    setting: str, permutes: bool, n_classes: int
) -> None:
    q = ask(5, n_classes, mirrored=not permutes, **SETTINGS[setting])
    error, increase = naive_tree_errors(q, permutes)
    how = replacement_of(permutes)
    arguments = (q.packed, q.X, q.replacement, how, q.target, q.weights, q.judges)
    got_error, got_increase = _core.tree_errors(*arguments, 1, None)
    np.testing.assert_allclose(got_error, error, rtol=1e-12)
    np.testing.assert_allclose(got_increase, increase, rtol=1e-9, atol=1e-13)
    for a, b in zip(_core.tree_errors(*arguments, 3, None), (got_error, got_increase), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("voting", ["soft", "hard", "numbers"])
@pytest.mark.parametrize("permutes", [True, False], ids=["permuted", "replaced"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_errors_of_the_forest_equal_a_loop_over_disturbed_tables(
    setting: str, permutes: bool, voting: str
) -> None:
    hard = voting == "hard"
    q = ask(6, 0 if voting == "numbers" else 3, mirrored=not permutes, **SETTINGS[setting])
    expected = naive_forest_errors(q, permutes, hard)
    how = replacement_of(permutes)
    arguments = (q.packed, q.X, q.replacement, how, q.target, q.weights, q.judges, hard)
    got = _core.forest_errors(*arguments, 1, None)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    for a, b in zip(_core.forest_errors(*arguments, 3, None), got, strict=True):
        np.testing.assert_array_equal(a, b)


def test_random_forests_of_these_tests_change_their_predictions() -> None:
    """Otherwise the loops above would agree on zeros."""
    for setting in SETTINGS.keys() - {"one row"}:
        _, increase = naive_tree_errors(ask(5, 3, **SETTINGS[setting]), True)
        assert np.count_nonzero(np.nan_to_num(increase)) > increase[0].size, setting
