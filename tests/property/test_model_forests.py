"""Forests of node models have the same bits for any number of threads and any instruction set."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.forests import (
    Problem,
    available_simd_levels,
    differing_arrays,
    grow,
    options,
    problem,
)

from bevel import _core

ALPHAS = 10.0 ** np.arange(-5, 6)
SETTINGS: dict[str, tuple[str, dict[str, object]]] = {
    "ridge_oob": ("ridge", {"alphas": ALPHAS, "tune": "out_of_bag", "record": True}),
    "ridge_parent": (
        "ridge",
        {"alphas": ALPHAS, "tune": "out_of_bag", "parent_when_exhausted": True},
    ),
    "ridge_gcv": ("ridge", {"alphas": ALPHAS, "tune": "cross_validation"}),
    "lda": ("lda", {"record": True}),
    "logistic": ("logistic", {"alpha": 1.0, "n_steps": 5, "record": True}),
    "pls": ("pls", {"n_components": 2}),
    "cca": ("cca", {}),
    "cca_bootstrap": ("cca", {"bootstrap": True}),
}
TASKS = {"two_classes": 2, "four_classes": 4, "regression": 0}


@cache
def training_data(n: int, n_classes: int, n_noise: int = 0) -> Problem:
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 7 + n_noise))
    X[:, 2] *= 50
    X[:, 4] = rng.integers(0, 6, n)
    X[:, 5] = np.round(X[:, 5])
    signal = X[:, 0] + X[:, 1] * X[:, 3] + 0.4 * (X[:, 4] > 2) + rng.normal(size=n)
    y = signal
    if n_classes:
        y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    X[rng.random(n) < 0.1, 1] = np.nan
    return problem(X, y, n_classes, levels=[0, 0, 0, 0, 6, *[0] * (n_noise + 2)])


def ways(data: Problem, name: str, **values: object) -> _core.Options:
    kind, settings = SETTINGS[name]
    model = _core.Family(kind, 1, 3, **settings)
    criterion = "gini" if data.n_classes else "squared_error"
    families = model, ("axis", 1), ("categorical", 1)
    return options(*families, criterion=criterion, **{"bag_size": data.n_rows, **values})


def skip_logistic_regression(name: str, n_classes: int) -> None:
    if name == "logistic" and not n_classes:
        pytest.skip("classes only")


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("name", SETTINGS)
def test_forest_is_identical_for_any_threads_and_instructions(name: str, n_classes: int) -> None:
    skip_logistic_regression(name, n_classes)
    data = training_data(500, n_classes)
    expected = grow(data, ways(data, name), 4)
    assert expected.arrays["entry_index"].size > 100
    for n_threads in (2, 7):
        other = grow(data, ways(data, name), 4, n_threads=n_threads)
        assert differing_arrays(expected, other) == []
    for simd in available_simd_levels():
        assert differing_arrays(expected, grow(data, ways(data, name, simd=simd), 4)) == []
    parts = [grow(data, ways(data, name), 2, first_tree=first) for first in (0, 2)]
    joined = np.concatenate([part.arrays["threshold"] for part in parts])
    np.testing.assert_array_equal(joined, expected.arrays["threshold"])


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "ridge_parent"])
def test_large_tree_is_identical_when_its_subtrees_are_grown_together(
    name: str, n_classes: int
) -> None:
    """Rows enough for subtrees, and for the search of the root, to be given away; and so many
    columns that no worker copies its part of them and keeps it to itself."""
    skip_logistic_regression(name, n_classes)
    data = training_data(34_000, n_classes, 43)
    expected = grow(data, ways(data, name, max_depth=5))
    assert expected.arrays["right"].size > 40
    for n_threads in (2, 7):
        other = grow(data, ways(data, name, max_depth=5), n_threads=n_threads)
        assert differing_arrays(expected, other) == []
    *lower, _ = available_simd_levels()
    for simd in lower[-1:]:
        other = grow(data, ways(data, name, max_depth=5, simd=simd), n_threads=2)
        assert differing_arrays(expected, other) == []


@pytest.mark.parametrize("weights", ["none", "real", "balanced"])
@pytest.mark.parametrize("growth", ["depth_first", "best_first"])
def test_threads_change_nothing_beside_rotations_of_the_tree(growth: str, weights: str) -> None:
    data = training_data(20_000, 2, 43)
    if weights == "real":
        w = np.random.default_rng(0).uniform(0, 2, 20_000)
        data = problem(data.X, data.target, 2, w, data.levels)
    model = _core.Family("ridge", 1, 4, alphas=ALPHAS, tune="out_of_bag")
    leaves = {"max_leaf_nodes": 40} if growth == "best_first" else {"max_depth": 6}
    how = options(
        ("rotation", 1, 5),
        model,
        growth=growth,
        bag_size=20_000,
        balanced_subsample=weights == "balanced",
        **leaves,
    )
    one, two, seven = (grow(data, how, 2, n_threads=n) for n in (1, 2, 7))
    assert differing_arrays(one, two) == differing_arrays(one, seven) == []
