"""Multi-rotation forests refitted with the rotations that helped most."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.analysis import importance, refit_best_rotations
from bevel.training.rotation_ensemble import as_matrices, draw_rotations

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
SLANTED = X[:, 0] + X[:, 1]
y = (SLANTED > 0).astype(int)


def grow(estimator=ObliqueForestClassifier, projection=None, **parameters):
    settings = {"random_state": 0, "n_jobs": 1, **parameters}
    return estimator(20, projection=projection or P.MultiRotation(8), **settings)


@pytest.mark.parametrize("n_rotations", [1, 3, 8])
def test_axes_are_the_features_and_those_of_the_most_important_rotations(n_rotations):
    forest = grow().fit(X, y)
    refit = refit_best_rotations(forest, X, y, n_rotations)
    matrices = as_matrices(draw_rotations(forest.fitted_forest_.provenance.seed, 8, 4, 4), 4)
    share = importance(forest, "rotation").values[1:]
    best = 1 + np.argsort(share)[::-1][: n_rotations - 1]
    wanted = {tuple(axis) for number in (0, *best) for axis in matrices[number].T}
    pool = refit.projection.sampler.toarray()
    assert {tuple(axis) for axis in pool.T} == wanted
    assert refit.n_projections == int(np.sqrt(n_rotations * 4))
    assert refit.score(X, y) > 0.95
    assert forest.projection == P.MultiRotation(8)


def test_refit_with_all_rotations_draws_from_the_same_directions():
    forest = grow(n_projections=5).fit(X, y)
    refit = refit_best_rotations(forest, X, y, 8)
    assert refit.n_projections == 5
    for name, array in forest.forest_.arrays().items():
        np.testing.assert_array_equal(array, refit.forest_.arrays()[name])


def test_regression_nominal_columns_and_weights(tmp_path):
    table = pd.DataFrame(X, columns=list("abcd"))
    table.insert(1, "colour", np.where(X[:, 2] > 0, "red", "blue"))
    forest = grow(ObliqueForestRegressor, "multirotation", scale="rank").fit(table, SLANTED)
    weight = np.arange(len(X)) % 2
    refit = refit_best_rotations(forest, table, SLANTED, 5, sample_weight=weight)
    assert refit.projection.sampler.shape == (4, 20)
    assert refit.score(table[weight == 1], SLANTED[weight == 1]) > 0.9
    refit.save(tmp_path / "refit.bevel")
    loaded = bevel.load(tmp_path / "refit.bevel")
    np.testing.assert_array_equal(loaded.predict(table), refit.predict(table))


@pytest.mark.parametrize(
    ("n_rotations", "error", "message"),
    [
        (0, ValueError, "n_rotations must be an integer from 1 to the 8 rotations of the forest"),
        (9, ValueError, "got 9. Keep fewer"),
        (2.0, TypeError, "n_rotations must be an integer"),
    ],
)
def test_impossible_numbers_are_refused(n_rotations, error, message):
    forest = grow().fit(X, y)
    with pytest.raises(error, match=message):
        refit_best_rotations(forest, X, y, n_rotations)


def test_other_projections_are_refused():
    for projection in ("axis", [P.MultiRotation(3), P.Axis()]):
        forest = grow(projection=projection).fit(X, y)
        with pytest.raises(ValueError, match=r"P\.MultiRotation\(\.\.\.\) and no list"):
            refit_best_rotations(forest, X, y, 2)


def test_refit_is_a_fit_with_the_weights():
    weight = np.where(X[:, 2] > 0, 1.0, 0.1)
    noisy = np.where(RNG.random(len(X)) < 0.3, 1 - y, y)
    forest = grow().fit(X, noisy)
    refit = refit_best_rotations(forest, X, noisy, 3, sample_weight=weight)
    again = clone(refit).fit(X, noisy, sample_weight=weight)
    np.testing.assert_array_equal(refit.predict_proba(X), again.predict_proba(X))
    alike = clone(refit).fit(X, noisy)
    assert (refit.predict_proba(X) != alike.predict_proba(X)).any()
