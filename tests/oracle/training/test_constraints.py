"""Monotone and interaction constraints of boosting: by brute force, and against plain boosting."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import is_classifier
from tests.support.plain_boosting import PlainBoosting

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor
from bevel import projections as P

Floats = npt.NDArray[np.float64]
SIGNS = (1, -1, 0, 1, 0)


def _noisy_table(seed: int, n: int = 300) -> tuple[Floats, Floats]:
    """A target that goes against SIGNS as much as with them, so that trees want to break them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 3] - X[:, 3] + 0.5 * rng.normal(size=n)
    return X, y


def _steps_against_signs(model: Any, X: Floats, seed: int) -> int:
    """Neighbours on grids along the constrained columns whose predictions go the wrong way."""
    rng = np.random.default_rng(seed)
    grid = np.concatenate([[-1e4], np.linspace(-4.0, 4.0, 81), [1e4]])
    wrong = 0
    for column, sign in enumerate(SIGNS):
        if sign == 0:
            continue
        rows = np.repeat(X[rng.choice(len(X), 60)], len(grid), axis=0)
        rows[:, column] = np.tile(grid, 60)
        found = model.decision_function(rows) if is_classifier(model) else model.predict(rows)
        wrong += int((sign * np.diff(found.reshape(60, len(grid)), axis=1) < 0.0).sum())
    return wrong


PROJECTIONS: list[Any] = [
    "auto",
    "axis",
    "sparse",
    [P.Axis(), P.RandomCombination(3)],
    P.Patches((5,), 2, 4),
    [P.Axis(), P.Custom(np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, 2.0], [0.0, 1.0], [1.0, 0.0]]))],
]


@pytest.mark.parametrize("projection", PROJECTIONS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_monotone_model_never_goes_against_its_signs(projection: Any, seed: int) -> None:
    X, y = _noisy_table(seed)
    settings: dict[str, Any] = {
        "projection": projection,
        "max_iter": 40,
        "min_samples_leaf": 3,
        "random_state": seed,
        "l2_regularization": 0.0,
        "subsample": (1.0, 0.6)[seed % 2],
    }
    model = ObliqueBoostingRegressor(monotonic_cst=SIGNS, **settings).fit(X, y)
    assert _steps_against_signs(model, X, seed) == 0
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.3
    assert _steps_against_signs(ObliqueBoostingRegressor(**settings).fit(X, y), X, seed) > 100


@pytest.mark.parametrize(
    "loss", ["absolute_error", "huber", "quantile", "poisson", "gamma", "log_loss"]
)
def test_monotone_model_never_goes_against_its_signs_for_any_loss(loss: str) -> None:
    X, y = _noisy_table(7)
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    settings: dict[str, Any] = {"max_iter": 30, "random_state": 0}
    model: Any
    if loss == "log_loss":
        model = ObliqueBoostingClassifier(monotonic_cst=SIGNS, **settings).fit(X, y > 0.0)
    else:
        quantile = 0.7 if loss == "quantile" else None
        model = ObliqueBoostingRegressor(
            loss, quantile=quantile, monotonic_cst=SIGNS, **settings
        ).fit(X, np.exp(y))
    assert _steps_against_signs(model, X, 0) == 0
    assert model.train_score_[-1] > model.train_score_[0]


def _paths(forest: Any) -> Iterator[set[int]]:
    """Columns that each path from a root to a leaf uses."""
    for root in forest.tree_offset[:-1]:
        stack: list[tuple[int, set[int]]] = [(int(root), set())]
        while stack:
            node, used = stack.pop()
            if forest.right[node] < 0:
                yield used
                continue
            entries = slice(forest.entry_offset[node], forest.entry_offset[node + 1])
            used = used | set(forest.entry_index[entries].tolist())
            stack += [(node + 1, used), (int(root + forest.right[node]), used)]


GROUPS: list[Any] = [
    [{0, 1}, {2, 3, 4}],
    [{0, 1, 2}, {2, 3}],  # 4 is alone
    [[0, 1]],
    "no_interactions",
    "pairwise",
]


@pytest.mark.parametrize("groups", GROUPS, ids=str)
@pytest.mark.parametrize("projection", PROJECTIONS[:4], ids=str)
def test_paths_stay_within_a_group(groups: Any, projection: Any) -> None:
    X, y = _noisy_table(3)
    model = ObliqueBoostingRegressor(
        projection=projection, interaction_cst=groups, max_iter=20, random_state=0
    ).fit(X, y)
    if groups == "no_interactions":
        allowed = [{f} for f in range(5)]
    elif groups == "pairwise":
        allowed = [set(pair) for pair in itertools.combinations(range(5), 2)]
    else:
        allowed = [set(group) for group in groups]
        allowed.append(set(range(5)).difference(*allowed))
    paths = list(_paths(model.forest_))
    assert all(any(path <= group for group in allowed) for path in paths)
    largest = max(len(path) for path in paths)
    assert largest == max(len(group) for group in allowed)  # groups are used to the full


def test_columns_of_different_groups_add_up() -> None:
    X, y = _noisy_table(5)
    model = ObliqueBoostingRegressor(
        interaction_cst=[{0, 1}, {2, 3, 4}], max_iter=30, random_state=0
    ).fit(X, y)
    a, b = X[:50], X[50:100]
    mixed, other = a.copy(), b.copy()
    mixed[:, :2], other[:, :2] = b[:, :2], a[:, :2]
    left = model.predict(a) + model.predict(b)
    np.testing.assert_allclose(left, model.predict(mixed) + model.predict(other), atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("log_loss", [False, True])
def test_constrained_boosting_agrees_with_plain_boosting(seed: int, log_loss: bool) -> None:
    rng = np.random.default_rng(seed)
    X, y = _noisy_table(seed, 150)
    X = np.round(X, 1)
    X[rng.random(150) < 0.15, 2] = np.nan
    nominal = frozenset({4}) if seed % 2 else frozenset[int]()
    if nominal:
        X[:, 4] = rng.integers(0, 5, 150)
        y = y + X[:, 4] % 3
    if log_loss:
        y = (y > np.median(y)).astype(float)
    w = rng.uniform(0.2, 3.0, 150) if seed % 3 == 1 else np.ones(150)
    groups: list[set[int]] | None = [{0, 1, 2}, {2, 3, 4}] if seed % 3 else None
    plain = PlainBoosting(8, 7, 1 + 3 * (seed % 2), 0.5, 0.3, nominal, SIGNS, groups)
    expected = plain.fit(X, y, w, log_loss)
    estimator = ObliqueBoostingClassifier if log_loss else ObliqueBoostingRegressor
    model = estimator(
        projection="axis",
        max_iter=8,
        max_leaf_nodes=7,
        min_samples_leaf=plain.min_samples_leaf,
        l2_regularization=0.5,
        learning_rate=0.3,
        categorical_features=sorted(nominal) or None,
        monotonic_cst=SIGNS,
        interaction_cst=groups,
        random_state=seed,
    ).fit(X, y, sample_weight=w)
    found = model.decision_function(X) if log_loss else model.predict(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    roots = model.forest_.tree_offset[:-1]
    np.testing.assert_allclose(model.forest_.gain[roots], plain.first_gains, rtol=1e-4)
