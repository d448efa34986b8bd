"""Monotone and interaction constraints of forests, by brute force over grids and paths."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

from bevel import ObliqueBoostingRegressor, ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P

Floats = npt.NDArray[np.float64]
SIGNS = (1, -1, 0, 1, 0)
MATRIX = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, 2.0], [0.0, 1.0], [1.0, 0.0]])
PROJECTIONS: list[Any] = [
    "auto",
    "axis",
    "sparse",
    "gaussian",
    [P.Axis(), P.RandomCombination(3)],
    P.Patches((5,), 2, 4),
    [P.Axis(), P.Custom(MATRIX)],
]


def _noisy_table(seed: int, n: int = 200) -> tuple[Floats, Floats]:
    """A target that goes against SIGNS as much as with them, so that trees want to break them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 3] - X[:, 3] + 0.5 * rng.normal(size=n)
    return X, y


def _steps_against_signs(predict: Any, X: Floats, seed: int = 0) -> int:
    """Neighbours on grids along the constrained columns whose predictions go the wrong way."""
    rng = np.random.default_rng(seed)
    grid = np.concatenate([[-1e4], np.linspace(-4.0, 4.0, 61), [1e4]])
    wrong = 0
    for column, sign in enumerate(SIGNS):
        if sign == 0:
            continue
        rows = np.repeat(X[rng.choice(len(X), 40)], len(grid), axis=0)
        rows[:, column] = np.tile(grid, 40)
        values = predict(rows).reshape(40, len(grid))
        wrong += int((sign * np.diff(values, axis=1) < 0.0).sum())
    return wrong


@pytest.mark.parametrize("projection", PROJECTIONS, ids=str)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_monotone_regressor_never_goes_against_its_signs(projection: Any, criterion: str) -> None:
    for seed in range(2):
        X, y = _noisy_table(seed)
        y = y - y.min()
        settings: dict[str, Any] = {
            "n_estimators": 20,
            "projection": projection,
            "criterion": criterion,
            "random_state": seed,
            "min_samples_leaf": 1 + 4 * seed,
        }
        weight = np.random.default_rng(seed).uniform(0.2, 2.0, len(y)) if seed else None
        free = ObliqueForestRegressor(**settings).fit(X, y, weight)
        bound = ObliqueForestRegressor(monotonic_cst=SIGNS, **settings).fit(X, y, weight)
        assert _steps_against_signs(free.predict, X, seed) > 100
        assert _steps_against_signs(bound.predict, X, seed) == 0
        assert np.ptp(bound.predict(X)) > 0.1 * np.ptp(y)  # and yet it has learned something


@pytest.mark.parametrize("projection", PROJECTIONS, ids=str)
@pytest.mark.parametrize(
    "settings",
    [
        {"criterion": "gini"},
        {"criterion": "entropy", "calibration": "power"},
        {"voting": "hard"},
        {"threshold": "random", "n_thresholds": 3},
        {"max_leaf_nodes": 12},
    ],
    ids=lambda settings: "_".join(map(str, settings.values())),
)
def test_probability_of_a_monotone_classifier_never_goes_against_its_signs(
    projection: Any, settings: dict[str, Any]
) -> None:
    X, y = _noisy_table(3)
    if settings.get("calibration") and isinstance(projection, list):
        settings = {**settings, "bootstrap": True}
    model = ObliqueForestClassifier(
        20, projection=projection, monotonic_cst=SIGNS, random_state=0, **settings
    ).fit(X, y > 0)
    for output in (0, 1):
        sign = 2 * output - 1

        def predict(rows: Floats, output: int = output, sign: int = sign) -> Floats:
            return sign * model.predict_proba(rows)[:, output]

        assert _steps_against_signs(predict, X) == 0
    assert model.score(X, y > 0) > 0.6


def test_monotone_forest_with_weights_missing_values_and_levels_holds_on_complete_rows() -> None:
    X, y = _noisy_table(4)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["f"] = np.random.default_rng(1).choice(["u", "v", "w"], len(y))
    model = ObliqueForestRegressor(
        20, projection=["axis", "sparse"], monotonic_cst={"a": 1, "b": -1, "d": 1}, random_state=0
    ).fit(frame, y)

    def predict(rows: Floats) -> Floats:
        return model.predict(pd.DataFrame(rows, columns=list("abcde")).assign(f="u"))

    complete = np.nan_to_num(X, nan=0.3)
    assert _steps_against_signs(predict, complete) == 0


def test_constraints_that_the_data_hold_anyway_leave_a_single_tree_as_it_is() -> None:
    rng = np.random.default_rng(0)
    X = np.sort(rng.random(60))[:, None]
    y = np.exp(3 * X[:, 0])
    settings: dict[str, Any] = {"projection": "axis", "bootstrap": False, "random_state": 0}
    free = ObliqueForestRegressor(1, **settings).fit(X, y)
    bound = ObliqueForestRegressor(1, monotonic_cst=[1], **settings).fit(X, y)
    assert np.array_equal(free.predict(X), bound.predict(X))


@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_stump_is_that_of_scikit_learn(sign: int) -> None:
    """One cut: the best of those whose sides are in order, or none."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(25, 2)).astype(np.float32)
        y = rng.normal(size=25) + 0.3 * X[:, 0]
        ours = ObliqueForestRegressor(
            1,
            projection="axis",
            n_projections="p",
            bootstrap=False,
            max_depth=1,
            scale=None,
            monotonic_cst=[sign, 0],
            random_state=0,
        ).fit(X, y)
        theirs = DecisionTreeRegressor(max_depth=1, monotonic_cst=[sign, 0], random_state=0)
        assert ours.predict(X) == pytest.approx(theirs.fit(X, y).predict(X), rel=1e-9)


def _paths(forest: Any) -> list[set[int]]:
    """Features on each path from a root to a leaf."""
    found = []
    for tree in forest.forest_:
        pending = [(0, frozenset())]
        while pending:
            node, above = pending.pop()
            right = int(tree.children_right[node])
            if right < 0:
                found.append(set(above))
                continue
            own = above | set(tree.projection(node)[0].tolist())
            pending += [(node + 1, own), (right, own)]
    return found


@pytest.mark.parametrize(
    "projection", ["auto", "axis", "sparse", "gaussian", P.Patches((6,), 2, 3)]
)
@pytest.mark.parametrize(
    "groups", [[{0, 1}, {2, 3}], [{0, 1, 2}, {2, 3, 4}], "pairwise", "no_interactions"], ids=str
)
@pytest.mark.parametrize("growth", [{}, {"max_leaf_nodes": 20}], ids=["depth_first", "best_first"])
def test_paths_stay_within_one_group(projection: Any, groups: Any, growth: dict[str, int]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = X[:, 0] * X[:, 2] + X[:, 1] * X[:, 4] + X[:, 3] * X[:, 5]
    forest = ObliqueForestRegressor(
        10, projection=projection, interaction_cst=groups, random_state=0, **growth
    ).fit(X, y)
    allowed: list[set[int]]
    if groups == "pairwise":
        allowed = [set(pair) for pair in itertools.combinations(range(6), 2)]
    elif groups == "no_interactions":
        allowed = [{f} for f in range(6)]
    else:
        allowed = [*groups, set(range(6)).difference(*groups)]
    paths = _paths(forest)
    assert all(any(path <= group for group in allowed) for path in paths)
    assert len(set().union(*paths)) > 2
    if isinstance(groups, list):
        assert any(len(path) > 1 for path in paths)


def test_both_constraints_hold_together() -> None:
    X, y = _noisy_table(5)
    groups = [{0, 1}, {2, 3, 4}]
    forest = ObliqueForestRegressor(
        30, projection="sparse", monotonic_cst=SIGNS, interaction_cst=groups, random_state=0
    ).fit(X, y)
    assert _steps_against_signs(forest.predict, X) == 0
    assert all(any(path <= group for group in groups) for path in _paths(forest))


def test_the_same_forest_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=20_000)
    predictions = []
    for n_jobs in (1, 3):
        forest = ObliqueForestRegressor(
            2,
            projection="sparse",
            monotonic_cst=[1, 0, 0, -1],
            interaction_cst=[{0, 1}, {2, 3}],
            min_samples_leaf=20,
            random_state=0,
            n_jobs=n_jobs,
        )
        predictions.append(forest.fit(X, y).predict(X[:2000]))
    assert np.array_equal(*predictions)


def _table_with_levels(seed: int, n: int = 300) -> tuple[pd.DataFrame, Floats]:
    """A target in which numbers and levels meet in planes, half of them against the signs."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "d"])
    frame["f"] = rng.choice(["u", "v", "w"], n)
    frame["g"] = rng.choice(["no", "yes"], n)
    level = frame["f"].map({"u": 1.0, "v": -1.0, "w": 0.0}) + (frame["g"] == "yes")
    y = 2.0 * (frame["a"] + level > 0) - 2.0 * (frame["b"] - level > 0) + frame["d"] * level
    return frame, (y + np.sin(2.0 * frame["a"]) + 0.2 * rng.normal(size=n)).to_numpy()


@pytest.mark.parametrize("make", [ObliqueForestRegressor, ObliqueBoostingRegressor])
@pytest.mark.parametrize("seed", range(2))
def test_monotone_directions_that_combine_levels_never_go_against_their_signs(
    make: Any, seed: int
) -> None:
    frame, y = _table_with_levels(seed)
    size = {"n_estimators": 30} if make is ObliqueForestRegressor else {"max_iter": 30}
    signs = {"a": 1, "b": -1}
    free, bound = (
        make(**size, monotonic_cst=cst, random_state=seed).fit(frame, y) for cst in (None, signs)
    )
    assert (bound.forest_.entry_level >= 0).any()
    grid, some = np.linspace(-4.0, 4.0, 61), frame[:40]
    wrong = {}
    for model in (free, bound):
        wrong[model] = 0
        for name, sign in signs.items():
            rows = some.loc[some.index.repeat(len(grid))].assign(**{name: np.tile(grid, len(some))})
            values = model.predict(rows).reshape(len(some), len(grid))
            wrong[model] += int((sign * np.diff(values, axis=1) < 0.0).sum())
    assert wrong[free] > 50
    assert wrong[bound] == 0


@pytest.mark.parametrize("make", [ObliqueForestRegressor, ObliqueBoostingRegressor])
def test_directions_combine_levels_only_within_the_groups_of_their_columns(make: Any) -> None:
    frame, _ = _table_with_levels(0)
    y = 3.0 * (frame["a"] + (frame["f"] == "u") > 0.5) + (frame["b"] - (frame["g"] == "no") > 0)
    size = {"n_estimators": 60} if make is ObliqueForestRegressor else {"max_iter": 60}
    groups = [{"a", "f"}, {"b", "g", "d"}]
    model = make(**size, interaction_cst=groups, random_state=0).fit(frame, y)
    forest = model.forest_
    assert (forest.entry_level >= 0).sum() > 10
    names = np.array(frame.columns)
    for tree in forest:
        for node in range(tree.n_nodes):
            path, at = set(), tree.nodes.start + node
            while at >= tree.nodes.start:
                if forest.right[at] >= 0:
                    entries = slice(forest.entry_offset[at], forest.entry_offset[at + 1])
                    path |= set(names[forest.entry_index[entries]])
                at = int(forest.parent[at])
            assert any(path <= group for group in groups)
