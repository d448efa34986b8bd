"""The examples run, in small, and their own arithmetic is right."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from bevel import presets
from bevel.analysis import importance
from bevel.datasets import biomarkers as simulate

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name):
    """The example as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def biomarkers():
    yield load("biomarkers")
    del sys.modules["example_biomarkers"]


def test_biomarkers_example_prints_its_tables_and_saves_a_picture(biomarkers, tmp_path, capsys):
    biomarkers.main(tmp_path, n_trees=15, n_studies=2, n_features=12)
    printed = capsys.readouterr().out
    assert "Features chosen in the first study" in printed
    assert printed.count("two: FPR") == 2
    assert all(printed.count(name) >= 4 for name in ("LR", "RF", "SPORF"))
    assert (tmp_path / "biomarkers.png").stat().st_size > 10_000


def test_forward_selection_is_that_of_leaving_out_one_by_one(biomarkers):
    X, y = simulate(12, 6, 6, random_state=3)
    model = LogisticRegression(C=1 / biomarkers.PENALTY, solver="newton-cholesky", tol=1e-10)
    n_errors, likelihood = biomarkers.judge_candidates(X, y, [2])
    for feature in (0, 1, 3):
        columns = X[:, [2, feature]]
        wrong = 0
        for left_out in range(len(y)):
            others = np.arange(len(y)) != left_out
            fitted = model.fit(columns[others], y[others])
            wrong += fitted.predict(columns[[left_out]])[0] != y[left_out]
        assert n_errors[feature] == wrong
        shares = model.fit(columns, y).predict_proba(columns)[np.arange(len(y)), y]
        assert likelihood[feature] == pytest.approx(np.log(shares).sum(), rel=1e-4)
    assert np.isinf(n_errors[2])
    first = biomarkers.forward_selection(X, y, 1)
    assert biomarkers.forward_selection(X, y, 2)[:1] == first


def test_first_two_features_are_those_of_the_best_directions(biomarkers):
    X, y = simulate(27, 7, 9, random_state=0)
    forest = presets.random_forest(n_estimators=30, random_state=0).fit(X, y)
    trees = forest.forest_
    split = trees.right >= 0
    feature = trees.entry_index[trees.entry_offset[:-1][split]]
    order = np.argsort(-np.bincount(feature, trees.gain[split], 9))
    ranked = importance(forest, "projection")
    assert biomarkers.first_two(ranked) == tuple(order[:2])


def test_rates_are_those_of_each_class(biomarkers):
    assert biomarkers.error_rates(np.array([1, 0, 0, 1]), np.array([0, 0, 1, 1])) == (0.5, 0.5)
    assert biomarkers.error_rates(np.array([0, 0, 1]), np.array([0, 1, 1])) == (0.0, 0.5)
