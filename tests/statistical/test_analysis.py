"""Importances and geometry against what theory says of them.

Null hypotheses: closed forms of probabilities equal the shares of draws; noise has a corrected
importance of mean zero. Statistics are exact binomial and z, each with a false-alarm rate of one in
a million (see `support.false_alarms`). The facts of SPORF 4.5 are the paper's, at its settings.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.false_alarms import assert_mean, assert_share

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, datasets, presets
from bevel import projections as P
from bevel.analysis import geometry, importance

N_REPEATS = 2000

SAMPLERS = {
    "axis": (P.Axis(), 5),
    "sparse": (P.SparseSigns(1.5), 12),
    "dense_signs": (P.SparseSigns(6), 3),
    "rotation": (P.RandomRotation(), 8),
    "rotation_per_node": (P.RandomRotation(per="node"), 5),
    "rotation_of_some": (P.RandomRotation(max_features=3), 2),
    "gaussian": (P.Gaussian(3), 6),
    "single": (P.RandomCombination(1), 4),
}
DIRECTIONS = {"one": [0, 1] + [0] * 6, "three": [1, 0, -1, 0, 1, 0, 0, 0], "all": [1] * 8}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_probability_of_coming_close_is_the_share_of_draws_that_do(
    sampler: str, direction: str
) -> None:
    projection, n_projections = SAMPLERS[sampler]
    for angle in (15, 41):
        how = {"direction": DIRECTIONS[direction], "angle": angle, "n_projections": n_projections}
        want = geometry.probability_within(projection, **how)
        n = N_REPEATS if 0.0 < want < 1.0 else 200
        got = geometry.simulate_within(projection, **how, n_repeats=n, random_state=0)
        assert_share(np.arange(n) < round(got.value * n), want)


def test_bayes_error_of_trunk_is_the_error_of_cutting_at_zero() -> None:
    directions = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, -1, 1], [-1, 2, 0, 0.5]])
    X, y = datasets.trunk(100_000, 4, random_state=0)
    mean = 1 / np.sqrt(np.arange(1, 5))
    for direction, error in zip(directions, geometry.trunk_bayes_error(directions), strict=True):
        upward = direction * np.sign(direction @ mean)
        assert_share((X @ upward > 0) != (y == 1), error)


def noise_importances(kind: str, projection: str, *, classes: bool) -> np.ndarray:
    """Importance of a signal and of noise: many values, two values, eight levels; by data set."""
    rows = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 4))
        X[:, 2], X[:, 3] = rng.integers(0, 2, 80), rng.integers(0, 8, 80)
        y = X[:, 0] + rng.normal(size=80)
        estimator = ObliqueForestClassifier if classes else ObliqueForestRegressor
        y = y > 0 if classes else y
        how = {"projection": projection, "categorical_features": [3], "random_state": seed}
        forest = estimator(8, n_jobs=1, **how).fit(X, y)
        given = (X, y) if kind == "corrected" else ()
        options = {"random_state": seed} if given else {}
        rows.append(importance(forest, kind, *given, **options).values)
    return np.array(rows)


@pytest.mark.parametrize(
    ("projection", "classes"),
    [("axis", True), ("sparse", True), ("sparse", False), ("rotation", True)],
)
def test_noise_has_a_corrected_importance_of_zero_however_many_values_it_has(
    projection: str, classes: bool
) -> None:
    values = noise_importances("corrected", projection, classes=classes)
    assert_mean(values[:, 1:], 0.0)
    signal = values[:, 0].mean() / (values[:, 0].std(ddof=1) / np.sqrt(len(values)))
    assert signal > 6


def test_gini_importance_is_biased_towards_noise_of_many_values() -> None:
    """What "corrected" is for; else the test above would prove nothing."""
    values = noise_importances("gini", "axis", classes=True)
    difference = values[:, 1] - values[:, 2]
    assert difference.mean() / (difference.std(ddof=1) / np.sqrt(len(values))) > 6


def best_of_trunk(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights of the sparse forest's ten best directions; Bayes errors of both forests' ten."""
    X, y = datasets.trunk(1000, 10, random_state=seed)
    how = {"n_estimators": 500, "random_state": seed, "n_jobs": 2}
    sparse = presets.sporf(projection=P.SparseSigns(5), n_projections="p**2", **how).fit(X, y)
    axis = presets.random_forest(**how).fit(X, y)
    best = importance(sparse, "projection").top(10)
    others = importance(axis, "projection").top(10)
    errors = (geometry.trunk_bayes_error(each) for each in (best, others))
    return best.dense(), *errors


def check_trunk(seed: int) -> None:
    weights, sparse, axis = best_of_trunk(seed)
    uses = weights != 0
    assert uses.sum(axis=1).min() >= 2
    assert uses[:, 0].mean() >= 0.8
    assert uses[:, :3].mean() > uses[:, 3:].mean() + 0.2
    assert sparse.max() < axis.min()


def test_best_directions_on_trunk_mix_features_and_separate_better_than_any_feature() -> None:
    """SPORF 4.5 and Figure 4, at λ = 1/2 and the d = p² of the paper's grid."""
    check_trunk(0)


@pytest.mark.statistics
@pytest.mark.parametrize("seed", range(1, 10))
def test_best_directions_on_trunk_are_good_on_other_draws_too(seed: int) -> None:
    check_trunk(seed)


def test_best_root_on_parallel_hyperplanes_is_found_by_the_sparse_forest_alone() -> None:
    """Tomita's thesis, Figure 3.1. Where x0 + x1 is drawn it wins: shares are probabilities."""
    X, y = datasets.parallel_hyperplanes(400, 20, random_state=0)
    truth = np.array([1.0, 1.0, *[0.0] * 18])
    how = {"n_estimators": 300, "max_depth": 1, "random_state": 0, "n_jobs": 2}
    sparse = P.SparseSigns(1)  # λ = 1/20
    forests = {
        "sparse": presets.sporf(projection=sparse, n_projections="p**2", **how).fit(X, y),
        "rotation": presets.rr_rf(**how).fit(X, y),
        "axis": presets.random_forest(**how).fit(X, y),
    }
    roots = {name: geometry.root_directions(forest) for name, forest in forests.items()}
    angles = {name: geometry.angles(found, truth) for name, found in roots.items()}
    assert roots["sparse"].words[0] == "x0 + x1"
    assert angles["axis"].min() == pytest.approx(45)
    assert angles["rotation"].min() > 25
    hits = int(roots["sparse"].count[angles["sparse"] < 1].sum())
    probability = geometry.probability_within(sparse, truth, 1, n_projections="p**2")
    assert_share(np.arange(300) < hits, probability)
