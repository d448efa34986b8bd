"""Rules of trees whose numbers no training makes are ordinary text: no error, no warning."""

from dataclasses import replace

import numpy as np
import pytest
from support.deep_trees import chain, estimator_with, set_forest
from support.random_forests import random_forest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.analysis import importance, path_rules, top_rules, tree_rules
from bevel.text.split_text import counted, percent, write_direction, write_sum

LARGEST = float(np.finfo(np.float32).max)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (0.0, "0 rows"),
        (1.0, "1 row"),
        (2.5, "2.5 rows"),
        (LARGEST, "3.403e+38 rows"),
        (np.inf, "inf rows"),
        (np.nan, "nan rows"),
    ],
)
def test_any_weight_is_counted_in_words(weight, words):
    assert counted(weight) == words


def test_share_that_is_no_number_is_written():
    assert percent(np.nan) == "nan %"


def test_negative_zero_is_written_as_zero():
    assert write_sum(["x", "y"], [-0.0, 1.0], 8) == "0·x + y"
    assert "−" not in write_direction(["x"], np.array([-0.0], np.float32))


@pytest.mark.parametrize("value", [0.0, -0.0, LARGEST, -LARGEST, 1e-45])
@pytest.mark.parametrize("n_entries", [1, 2, 3])
@pytest.mark.parametrize("scale", [None, "standard", "quantile", "rank"])
def test_odd_coefficients_are_written(value, n_entries, scale):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    estimator = ObliqueForestClassifier(1, scale=scale, random_state=0, n_jobs=1).fit(X, y)
    forest = chain(3)
    is_split = forest.right >= 0
    counts = np.where(is_split, n_entries, 1)
    offset = np.concatenate(([0], np.cumsum(counts)))
    index = np.concatenate([np.arange(n_entries) if split else [0] for split in is_split])
    weight = np.where(np.repeat(is_split, counts), value, 1.0)
    entries = {"entry_index": index.astype(np.int32), "entry_weight": weight.astype(np.float32)}
    set_forest(estimator, replace(forest, entry_offset=offset, **entries))
    for text in (str(tree_rules(estimator)), str(tree_rules(estimator, digits=None))):
        assert "nan" not in text
    with np.errstate(all="ignore"):
        assert str(tree_rules(estimator, X=X))
        assert str(path_rules(estimator, X[:1]))
    assert repr(importance(estimator, "projection"))


def test_direction_of_zeros_is_written_as_such():
    estimator, _, _ = estimator_with(chain(1))
    forest = estimator.forest_
    weight = np.where(forest.right >= 0, -0.0, 1.0).astype(np.float32)
    set_forest(estimator, replace(forest, entry_weight=weight))
    assert "├─ 0·x0 ≤ −1" in str(tree_rules(estimator))


@pytest.mark.parametrize("weight", [1e15, 1e-15])
@pytest.mark.parametrize("kind", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_forest_of_extreme_weights_is_written_and_saved(weight, kind, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    forest = kind(5, random_state=0, n_jobs=1).fit(X, y, sample_weight=np.full(60, weight))
    assert np.isfinite(forest.forest_.weight).all()
    assert np.isfinite(forest.forest_.gain).all()
    assert np.isfinite(forest.forest_.mean_depth)
    assert np.isfinite(forest.feature_importances_).all()
    assert "rows" in str(forest.forest_.tree(0))
    assert str(top_rules(forest, X, y))
    forest.save(tmp_path / "model.bevel")


def test_spread_of_cuts_is_that_of_a_walk_over_the_nodes():
    from bevel.text.vocabulary import _cuts_of_one

    for seed in range(5):
        forest = random_forest(np.random.default_rng(seed), n_nominal=2, n_axes=3, n_trees=3)
        for tree in forest:
            found = []
            for node in np.flatnonzero(tree.children_right >= 0):
                features, weights = tree.projection(int(node))
                if len(features) == 1 and not forest.flags[tree.nodes.start + node] & 2:
                    found.append((int(features[0]), float(tree.threshold[node] / weights[0])))
            feature, cut = _cuts_of_one(tree)
            assert feature.tolist() == [f for f, _ in found]
            assert cut == pytest.approx([c for _, c in found], rel=1e-6)
