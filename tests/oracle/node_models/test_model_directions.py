"""Directions of the nodes of grown trees against models that are fitted, from their formulas, to
exactly the rows that reach each node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
import pytest
from support.false_alarms import assert_counts_follow
from support.forests import Problem, as_matrix, bag_rows, directions_on, grow, options, problem
from support.grown_nodes import GrownNode, grown_nodes
from support.naive import models as naive_models
from support.naive.models import Lines
from support.naive.splitter import NaiveNode, Rules, best_gain, numeric_masks
from support.node_problems import NodeProblem

from bevel import _core

TOLERANCE = 2e-5  # directions are stored in float32
MODELS: dict[str, tuple[dict[str, object], Callable[[NodeProblem], Lines]]] = {
    "ridge": ({"alphas": [0.3]}, lambda p: naive_models.ridge(p, 0.3)),
    "lda": ({}, naive_models.lda),
    "logistic": ({"alpha": 1.0, "n_steps": 200}, lambda p: naive_models.logistic(p, 1.0)),
    "pls": ({"n_components": 2}, lambda p: naive_models.pls(p, 2)),
    "cca": ({}, naive_models.cca),
}
TASKS = {"two_classes": 2, "four_classes": 4, "regression": 0}


def family(kind: str, n_features: int, n_draws: int = 1, **settings: object) -> _core.Family:
    return _core.Family(kind, n_draws, n_features, **{**MODELS[kind][0], **settings})


def training_data(
    n_classes: int, *, n: int = 90, weights: str = "none", spoil: str = "none", seed: int = 0
) -> Problem:
    """Four numeric columns and a nominal one in between; weights and targets fit float32."""
    rng = np.random.default_rng([seed, n_classes])
    X = rng.normal(size=(n, 5)) * [1, 30, 0.01, 1, 1] + [0, 5, 0, -2, 0]
    signal = X[:, 0] + X[:, 1] / 30 * X[:, 3] + rng.normal(size=n)
    X[:, 2] += X[:, 0] / 200
    X[:, 4], X[:, 3] = X[:, 3], rng.integers(0, 4, n)
    if spoil == "missing":
        X[:, [0, 1, 2, 4]] = np.where(rng.random((n, 4)) < 0.15, np.nan, X[:, [0, 1, 2, 4]])
    if spoil == "constant":
        X[:, 1] = 7.0
    if spoil == "duplicated":
        X[:, 4] = X[:, 0]
    y = np.round(signal * 64) / 64
    if n_classes:
        y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    if spoil == "lone":  # one row of the last class
        y[y == n_classes - 1] = 0
        y[n // 2] = n_classes - 1
    w = {"none": None, "whole": rng.integers(0, 4, n), "real": rng.integers(1, 99, n) / 32}[weights]
    return problem(X, y, n_classes, w, [0, 0, 0, 4, 0])


def criterion(data: Problem) -> str:
    return "gini" if data.n_classes else "squared_error"


def assert_direction(kind: str, grown: GrownNode, lines: Lines, features: np.ndarray) -> None:
    direction = grown.direction(features)
    # Where features depend on each other CCA takes as few as it can.
    far = lines.distance_on_rows if kind == "cca" else lines.distance
    assert far(direction) < TOLERANCE, grown.key


def assert_best_direction(grown: GrownNode, lines: Lines) -> None:
    """The node cuts no worse than along any of the directions of its model."""
    y, weight = grown.data.target[grown.rows], grown.weight[grown.rows]
    node = NaiveNode(y, weight, grown.data.n_classes, criterion(grown.data))
    for direction in lines.raw:
        direction = direction / np.abs(direction).max()
        masks = numeric_masks(lines.problem.X @ direction)
        wanted = best_gain(node, masks, Rules())
        assert grown.node.gain >= wanted * (1 - 1e-5) - node.tolerance


CASES = [
    *(("none", spoil) for spoil in ("none", "missing", "constant", "duplicated", "lone")),
    ("whole", "missing"),
    ("real", "none"),
    ("balanced", "lone"),
    ("balanced", "missing"),
]


@pytest.mark.parametrize(("weights", "spoil"), CASES)
@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("kind", MODELS)
def test_node_follows_a_model_of_exactly_its_rows(
    kind: str, n_classes: int, weights: str, spoil: str
) -> None:
    if n_classes == 0 and (kind == "logistic" or weights == "balanced" or spoil == "lone"):
        pytest.skip("classes only")
    balanced = weights == "balanced"
    data = training_data(n_classes, weights="real" if balanced else weights, spoil=spoil)
    features = np.flatnonzero(data.levels == 0)
    how = options(
        family(kind, 4),
        criterion=criterion(data),
        bag_size=data.n_rows,
        balanced_subsample=balanced,
        seed=5,
    )
    n_checked = 0
    for grown in grown_nodes(data, how, grow(data, how, 2)):
        if grown.node.is_leaf:
            continue
        lines = MODELS[kind][1](grown.problem(features))
        assert_direction(kind, grown, lines, features)
        if kind != "pls" or len(grown.rows) > 8:  # later components may be rounding
            assert_best_direction(grown, lines)
        n_checked += 1
    assert n_checked >= (2 if spoil == "lone" else 8)


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("kind", MODELS)
def test_node_of_fewer_rows_than_features_follows_its_model(kind: str, n_classes: int) -> None:
    if n_classes == 0 and kind == "logistic":
        pytest.skip("classes only")
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(24, 40))
    y = rng.integers(0, n_classes, 24) if n_classes else np.round(rng.normal(size=24) * 64) / 64
    data = problem(X, y, n_classes)
    how = options(family(kind, 40), criterion=criterion(data), bag_size=24, seed=1)
    n_checked = 0
    for grown in grown_nodes(data, how, grow(data, how, 4)):
        if not grown.node.is_leaf:
            lines = MODELS[kind][1](grown.problem(np.arange(40)))
            if kind == "pls":  # what is left after the first component is rounding in small nodes
                lines = Lines(lines.problem, lines.standard[:, :1], lines.value[:1])
                if (
                    len(grown.node.index) == 40
                    and lines.distance(grown.direction(np.arange(40))) > 0.5
                ):
                    continue
            assert_direction(kind, grown, lines, np.arange(40))
            n_checked += 1
    assert n_checked >= 4


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("kind", MODELS)
def test_model_of_a_random_subspace_uses_its_features_only(kind: str, n_classes: int) -> None:
    """Three of ten: all coefficients differ from 0, so that the entries are the subspace."""
    if n_classes == 0 and kind == "logistic":
        pytest.skip("classes only")
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(150, 10))
    signal = X[:, :4].sum(axis=1) + rng.normal(size=150)
    y = np.digitize(signal, [-1, 0, 1][: n_classes - 1]) if n_classes else np.round(signal * 8) / 8
    data = problem(X, y, n_classes)
    how = options(family(kind, 3, 2), criterion=criterion(data), bag_size=150)
    used = []
    for grown in grown_nodes(data, how, grow(data, how, 2)):
        if grown.node.is_leaf or len(grown.rows) < 8:
            continue
        features = grown.node.index
        assert features.shape == (3,)
        assert (np.diff(features) > 0).all()
        lines = MODELS[kind][1](grown.problem(features))
        assert_direction(kind, grown, lines, features)
        assert_best_direction(grown, lines)
        used.append(tuple(features))
    assert len(set(used)) > 5  # a fresh subspace at every node
    axes, root = directions_on(data, how, 0)
    assert axes == []
    subspaces = {tuple(index) for index, _ in root}
    per_model = {"pls": 2, "logistic": 4 if n_classes == 4 else 1}.get(kind, max(1, n_classes - 1))
    assert len(root) == 2 * per_model  # n_draws is the number of models
    assert len(subspaces) == 2


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("kind", MODELS)
def test_root_proposes_all_directions_of_its_model(kind: str, n_classes: int) -> None:
    if n_classes == 0 and kind == "logistic":
        pytest.skip("classes only")
    data = training_data(n_classes, weights="real", spoil="missing")
    how = options(family(kind, 4), bag_size=data.n_rows, seed=2**63)
    features = np.flatnonzero(data.levels == 0)
    filled = np.where(np.isnan(data.X), data.medians, data.X)[:, features]
    for tree in range(5):
        rows, weight = bag_rows(data, how, tree)
        node = NodeProblem(filled[rows], data.target[rows], n_classes, weight[rows])
        lines = MODELS[kind][1](node)
        _, root = directions_on(data, how, tree)
        assert len(root) == len(lines)
        for direction in as_matrix(root, data.n_features)[:, features]:
            assert lines.distance(direction) < TOLERANCE


ALPHAS = 10.0 ** np.arange(-5, 6)


@pytest.mark.parametrize("weights", ["none", "real"])
@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
def test_ridge_takes_the_penalty_of_generalised_cross_validation(
    n_classes: int, weights: str
) -> None:
    data = training_data(n_classes, weights=weights, spoil="missing", n=120)
    ridge = family("ridge", 4, alphas=ALPHAS, tune="cross_validation")
    how = options(ridge, criterion=criterion(data), bag_size=120)
    features = np.flatnonzero(data.levels == 0)
    chosen = Counter()
    for grown in grown_nodes(data, how, grow(data, how, 3)):
        if grown.node.is_leaf or len(grown.rows) < 7:  # else 0 / 0 for small penalties
            continue
        node = grown.problem(features)
        score = naive_models.gcv(node, ALPHAS)
        near = np.flatnonzero(score <= score.min() * (1 + 1e-9))
        if len(near) < np.count_nonzero(score <= score.min() * (1 + 1e-6)):
            continue
        best = int(near[-1])
        assert_direction("ridge", grown, naive_models.ridge(node, ALPHAS[best]), features)
        chosen[best] += 1
    assert len(chosen) >= 3
    assert sum(chosen.values()) > 15


def test_cca_of_two_points_is_their_difference() -> None:
    """Also with more classes than points, and for features in which they do not differ."""
    X = np.repeat([[0.0, 1.0, 2.5, 4.0], [3.0, 1.0, 2.0, 0.0]], [4, 5], axis=0)
    for y in (np.arange(9) % 2, np.arange(9) % 3, np.arange(9) / 8):
        for bootstrap in (False, True):
            data = problem(X, y)
            how = options(family("cca", 4, bootstrap=bootstrap))
            for tree in range(5):
                _, root = directions_on(data, how, tree)
                np.testing.assert_allclose(as_matrix(root, 4), [[-0.75, 0, 0.125, 1]])
    how = options(family("cca", 4), criterion="gini")
    (tree,) = grow(problem(X, np.arange(9) % 2), how).trees
    assert [node.is_leaf for node in tree.nodes] == [False, True, True]
    assert tree.nodes[0].threshold == (4.3125 - 2) / 2


def test_cca_of_one_point_or_one_class_proposes_nothing() -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    how = options(family("cca", 3, bootstrap=True))
    assert directions_on(problem(np.ones((6, 3)), np.arange(6) % 2), how, 0)[1] == []
    assert directions_on(problem(X, np.zeros(6, int), 2), how, 0)[1] == []


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_cca_bootstraps_the_rows_of_the_node(n_classes: int) -> None:
    """All bootstraps of four rows, weighted, with their probabilities."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(4, 2)).astype(np.float32)
    y = np.array([0, 1, 2, 1]) % n_classes if n_classes else np.array([0.0, 1.0, -2.0, 5.0])
    weights = np.array([1.0, 2.0, 0.5, 1.0])
    data = problem(X, y, n_classes, weights)

    def directions(times: np.ndarray) -> tuple[float, ...]:
        kept = times > 0
        labels = y[kept]
        if n_classes:
            labels = np.unique(labels, return_inverse=True)[1]
        found = _core.models_cca(
            np.ascontiguousarray(X[kept], float),
            (times * weights)[kept],
            labels.astype(float),
            int(labels.max()) + 1 if n_classes else 0,
        )
        return tuple(np.round(found.ravel(), 5) + 0.0)

    expected: Counter[tuple[float, ...]] = Counter()
    everything = directions(np.ones(4))
    for drawn in combinations_with_replacement(range(4), 4):
        times = np.bincount(drawn, minlength=4)
        ways = factorial(4) / np.prod([factorial(t) for t in times])
        expected[directions(times) or everything] += ways / 4**4
    how = options(family("cca", 2, bootstrap=True), seed=3)
    seen: Counter[tuple[float, ...]] = Counter()
    for tree in range(4000):
        found = as_matrix(directions_on(data, how, tree)[1], 2)
        seen[tuple(np.round(found.ravel(), 5) + 0.0)] += 1
    assert set(seen) <= set(expected)
    assert_counts_follow(
        np.array([seen[line] for line in expected]), np.array(list(expected.values()))
    )
