"""The examples run, in small, and their own arithmetic is right."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

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
