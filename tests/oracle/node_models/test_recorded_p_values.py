"""`record=True`: p-values beside the coefficients, in every node and in none of the wrong ones."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from support.forests import Forest, Problem, differing_arrays, grow, options, problem
from support.grown_nodes import grown_nodes
from support.naive.models import (
    Lines,
    lda,
    logistic,
    logistic_coefficients,
    ridge,
    two_sided_p_values,
    wald_p_values,
)
from support.node_problems import NodeProblem

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, _core
from bevel import projections as P

ALPHAS = [1e-2, 1.0, 1e3]
KINDS = ("ridge", "lda", "out_of_bag", "logistic")
EACH = pytest.mark.parametrize("kind", KINDS)
# Penalties that a node may have had.
PENALTIES = {"ridge": [0.7], "lda": [0.0], "out_of_bag": ALPHAS, "logistic": [0.7]}


def family(kind: str, n_features: int, *, record: bool = True) -> _core.Family:
    if kind == "lda":
        return _core.Family("lda", 1, n_features, record=record)
    if kind == "logistic":
        penalty = PENALTIES[kind][0]
        return _core.Family("logistic", 1, n_features, alpha=penalty, n_steps=50, record=record)
    if kind == "ridge":
        return _core.Family("ridge", 1, n_features, alphas=[0.7], record=record)
    tuned = {"alphas": ALPHAS, "tune": "out_of_bag", "parent_when_exhausted": True}
    return _core.Family("ridge", 1, n_features, record=record, **tuned)


def training_data(n_classes: int, n: int = 200, seed: int = 0) -> Problem:
    rng = np.random.default_rng([seed, n_classes])
    X = rng.normal(size=(n, 6))
    X[:, 3] = rng.integers(0, 3, n)
    X[:, 4] += X[:, 0]
    signal = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    y = np.round(signal * 64) / 64
    if n_classes:
        y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    X[rng.random(n) < 0.1, 1] = np.nan
    return problem(X, y, n_classes, levels=[0, 0, 0, 3, 0, 0])


def ways(data: Problem, *families: object, **values: object) -> _core.Options:
    criterion = "gini" if data.n_classes else "squared_error"
    return options(*families, criterion=criterion, **{"bag_size": data.n_rows, "seed": 4, **values})


def fit(kind: str, node: NodeProblem, alpha: float) -> Lines:
    if kind == "logistic":
        return logistic(node, alpha)
    return lda(node) if alpha == 0 else ridge(node, alpha)


def skip_logistic_regression(kind: str, n_classes: int) -> None:
    if kind == "logistic" and not n_classes:
        pytest.skip("classes only")


def p_values(forest: Forest, tree: int, node: int) -> np.ndarray:
    a = forest.arrays
    place = a["tree_offset"][tree] + node
    return a["entry_p_value"][a["entry_offset"][place] : a["entry_offset"][place + 1]]


GROWTHS = {
    "depth_first": {},
    "best_first": {"growth": "best_first", "max_leaf_nodes": 15},
    "breadth_first": {"growth": "breadth_first", "max_leaf_nodes": 15},
}


@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("n_classes", [2, 0])
@EACH
def test_p_values_are_those_of_tests_on_the_rows_of_the_node(
    kind: str, n_classes: int, growth: str
) -> None:
    """In a list with families that test nothing, before and behind: NaN there and in leaves."""
    skip_logistic_regression(kind, n_classes)
    data = training_data(n_classes, n=120)
    how = ways(data, ("axis", 1), family(kind, 5), ("categorical", 1), **GROWTHS[growth])
    forest = grow(data, how, 3)
    assert len(forest.arrays["entry_p_value"]) == len(forest.arrays["entry_index"])
    features = np.flatnonzero(data.levels == 0)
    n_checked = 0
    for grown in grown_nodes(data, how, forest):
        got = p_values(forest, *grown.key)
        if grown.node.is_leaf or grown.is_single:
            assert np.isnan(got).all()
            continue
        assert ((got >= 0) & (got <= 1)).all()
        node = grown.problem(features)
        fits = [(alpha, fit(kind, node, alpha)) for alpha in PENALTIES[kind]]
        direction = grown.direction(features)
        alpha, lines = min(fits, key=lambda fit: fit[1].distance(direction))
        assert lines.distance(direction) < 2e-5
        if alpha == 0 and len(grown.rows) <= len(features) + 2:
            continue
        if kind == "logistic":
            want = wald_p_values(node, alpha, logistic_coefficients(node, alpha))[0]
        else:
            want = two_sided_p_values(node, alpha, lines)
        if want is not None:
            used = np.isin(features, grown.node.index)
            np.testing.assert_allclose(got, want[used], rtol=2e-3, atol=1e-6)
            n_checked += 1
    assert n_checked >= 8


@pytest.mark.parametrize("n_classes", [2, 4, 0])
@EACH
def test_recording_changes_nothing_else(kind: str, n_classes: int) -> None:
    skip_logistic_regression(kind, n_classes)
    data = training_data(n_classes)
    pair = [
        grow(data, ways(data, family(kind, 3, record=record), ("axis", 1)), 4)
        for record in (False, True)
    ]
    assert differing_arrays(*pair) == ["entry_p_value"]
    assert len(pair[0].arrays["entry_p_value"]) == 0


@pytest.mark.parametrize("n_classes", [2, 0])
def test_p_values_keep_their_place_when_subtrees_are_grown_elsewhere(n_classes: int) -> None:
    small = training_data(n_classes, n=24_000)
    noise = np.random.default_rng(0).normal(size=(24_000, 50))  # too wide to be copied together
    levels = [*small.levels, *[0] * 50]
    data = problem(np.hstack([small.X, noise]), small.target, n_classes, levels=levels)
    how = ways(data, ("axis", 1), family("lda", 4), bag_size=0, max_depth=5)
    one, two, seven = (grow(data, how, 1, n_threads=n) for n in (1, 2, 7))
    assert differing_arrays(one, two) == differing_arrays(one, seven) == []
    assert_nan_where_nothing_was_tested(one)


def assert_nan_where_nothing_was_tested(forest: Forest) -> None:
    n_tested = 0
    for tree in forest.trees:
        for node in tree.nodes:
            tested = not node.is_leaf and len(node.index) > 1
            assert (np.isnan(p_values(forest, tree.number, node.number)) != tested).all()
            n_tested += tested
    assert n_tested > 5


def test_forest_of_leaves_only_has_no_p_values_and_others_none_to_record() -> None:
    data = training_data(2)
    stump = grow(data, ways(data, family("lda", 5), max_depth=0), 2)
    assert len(stump.arrays["entry_p_value"]) == 0
    plain = grow(data, ways(data, ("axis", 2)), 2)
    assert len(plain.arrays["entry_p_value"]) == 0


@pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])
@pytest.mark.parametrize("first", [True, False])
def test_forests_grown_on_with_other_records_stay_aligned(estimator: type, first: bool) -> None:
    data = training_data(2)
    X, y = np.asarray(data.X), data.target
    kept = estimator(3, projection=P.LDA(record=True), warm_start=True, random_state=0).fit(X, y)
    recorded = kept.forest_.entry_p_value
    again = pickle.loads(pickle.dumps(kept))
    np.testing.assert_array_equal(again.forest_.entry_p_value, recorded)
    forest = estimator(3, projection=P.LDA(record=first), warm_start=True, random_state=0)
    forest.fit(X, y)
    n_before = len(forest.forest_.entry_index)
    forest.set_params(n_estimators=6, projection=P.LDA(record=not first)).fit(X, y)
    got = forest.forest_.entry_p_value
    assert len(got) == len(forest.forest_.entry_index)
    halves = got[:n_before], got[n_before:]
    if first:
        np.testing.assert_array_equal(halves[0], recorded)
    assert np.isnan(halves[first]).all()
    assert not np.isnan(halves[not first]).all()
    everything = estimator(6, projection=P.LDA(record=True), random_state=0).fit(X, y).forest_
    known = ~np.isnan(got)
    np.testing.assert_array_equal(got[known], everything.entry_p_value[known])
