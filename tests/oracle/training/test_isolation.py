"""Isolation forests: scores by walking trees, cuts by their distribution, and what they refuse."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.ensemble import IsolationForest

import bevel
from bevel import ObliqueIsolationForest
from bevel import projections as P

ROWS = np.random.default_rng(0).normal(size=(300, 4))
PROJECTIONS: list[Any] = ["auto", "axis", "gaussian", "sparse", "rotation", ["axis", P.Gaussian(2)]]


def mean_search_depth(n: int) -> float:
    """Mean depth of an unsuccessful search in a random binary tree, from harmonic numbers."""
    if n < 2:
        return 0.0
    return 2.0 * sum(1.0 / k for k in range(1, n)) - 2.0 * (n - 1) / n


def naive_scores(forest: ObliqueIsolationForest, training: Any, rows: Any) -> np.ndarray:
    """Scores from paths and from the rows of each bag in each leaf, tree by tree."""
    bags = forest.fitted_forest_.provenance.bags
    paths, offset = forest.decision_path(rows)
    lengths = np.zeros(paths.shape[0])
    inside, leaves = forest.apply(training), forest.apply(rows)
    for tree in range(forest.n_estimators):
        count = np.bincount(inside[:, tree], weights=bags.counts(tree))
        depth = paths[:, offset[tree] : offset[tree + 1]].sum(axis=1).A1 - 1
        in_leaf = count[leaves[:, tree]].astype(int)
        lengths += depth + [mean_search_depth(n) for n in in_leaf]
    usual = mean_search_depth(forest.max_samples_)
    return -(2.0 ** -(lengths / forest.n_estimators / usual))


@pytest.mark.parametrize("projection", PROJECTIONS, ids=str)
@pytest.mark.parametrize("bootstrap", [False, True])
def test_scores_are_those_of_walks_down_the_trees(projection: Any, bootstrap: bool) -> None:
    forest = ObliqueIsolationForest(
        20, projection=projection, max_samples=64, bootstrap=bootstrap, random_state=0
    ).fit(ROWS)
    outside = np.vstack([ROWS[:50], 5 * ROWS[50:80]])
    expected = naive_scores(forest, ROWS, outside)
    np.testing.assert_allclose(forest.score_samples(outside), expected, rtol=1e-6)


def test_scores_with_missing_values_and_levels_are_those_of_walks() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(ROWS, columns=list("abcd")).mask(rng.random(ROWS.shape) < 0.2)
    frame["e"] = rng.choice(["u", "v", "w", None], len(frame))
    forest = ObliqueIsolationForest(30, max_samples=100, random_state=0).fit(frame)
    expected = naive_scores(forest, frame, frame)
    np.testing.assert_allclose(forest.score_samples(frame), expected, rtol=1e-6)
    assert {"e"} <= {
        "abcde"[f]
        for tree in forest.forest_
        for n in range(tree.n_nodes)
        for f in tree.entries(n)[0]
    }


def test_missing_value_in_one_column_only_makes_an_outlier() -> None:
    """Missing as information: a row that misses what no other row misses is isolated early."""
    rows = ROWS.copy()
    rows[0, 1] = np.nan
    forest = ObliqueIsolationForest(200, projection="axis", max_samples=1.0, random_state=0).fit(
        rows
    )
    complete = ObliqueIsolationForest(200, projection="axis", max_samples=1.0, random_state=0).fit(
        ROWS
    )
    assert forest.score_samples(rows)[0] < complete.score_samples(ROWS)[0]


def test_axis_scores_agree_with_scikit_learns() -> None:
    """Both are means over 400 independent trees of one distribution: correlations of 300 rows."""
    ours = ObliqueIsolationForest(400, projection="axis", random_state=0).fit(ROWS)
    theirs = IsolationForest(n_estimators=400, random_state=0).fit(ROWS)
    one, other = ours.score_samples(ROWS), theirs.score_samples(ROWS)
    assert np.corrcoef(one, other)[0, 1] > 0.98
    assert one.mean() == pytest.approx(other.mean(), abs=0.02)


@pytest.mark.parametrize("projection", ["axis", "gaussian"])
def test_cuts_are_uniform_between_the_least_and_the_largest_value(projection: str) -> None:
    """Null hypothesis: (cut - least) / (largest - least) of 500 roots is uniform on (0, 1).
    Kolmogorov-Smirnov; fails by chance once in a million runs."""
    forest = ObliqueIsolationForest(
        500, projection=projection, max_samples=1.0, scale=None, random_state=3
    ).fit(ROWS)
    places = []
    for tree in forest.forest_:
        index, weight = tree.projection(0)
        values = ROWS.astype(np.float32)[:, index] @ weight
        places.append((tree.threshold[0] - values.min()) / np.ptp(values))
    assert stats.kstest(places, "uniform").pvalue > 1e-6


def test_roots_take_every_column_equally_often() -> None:
    """Null hypothesis: the column of 2000 roots is uniform over 4. Chi-square; fails by chance once
    in a million runs."""
    forest = ObliqueIsolationForest(2000, projection="axis", random_state=1).fit(ROWS)
    columns = [int(tree.entries(0)[0][0]) for tree in forest.forest_]
    assert stats.chisquare(np.bincount(columns, minlength=4)).pvalue > 1e-6


def test_trees_are_no_deeper_than_a_balanced_tree_of_their_rows() -> None:
    forest = ObliqueIsolationForest(20, max_samples=100, random_state=0).fit(ROWS)
    assert forest.forest_.depth.max() == 7
    assert forest.max_samples_ == 100
    assert ObliqueIsolationForest(2, random_state=0).fit(ROWS).max_samples_ == 256
    assert ObliqueIsolationForest(2, max_samples=0.5, random_state=0).fit(ROWS).max_samples_ == 150


@pytest.mark.parametrize("contamination", [0.02, 0.1, 0.5])
def test_contamination_with_weights_is_that_of_repeated_rows(contamination: float) -> None:
    """The least score below which at most a share of the weight lies, by adding it up."""
    weight = np.random.default_rng(1).integers(0, 4, len(ROWS))
    settings = {"contamination": contamination, "random_state": 0}
    forest = ObliqueIsolationForest(20, **settings).fit(ROWS, sample_weight=weight)
    scores = np.sort(np.repeat(forest.score_samples(ROWS), weight))
    first = next(i for i in range(len(scores)) if i + 1 >= contamination * len(scores) - 1e-9)
    assert forest.offset_ == scores[first]


@pytest.mark.parametrize("contamination", [0.02, 0.1, 0.5])
def test_contamination_is_the_share_of_training_rows_that_are_outliers(
    contamination: float,
) -> None:
    forest = ObliqueIsolationForest(50, contamination=contamination, random_state=0)
    assert np.mean(forest.fit_predict(ROWS) == -1) == pytest.approx(contamination, abs=1 / 300)
    usual = ObliqueIsolationForest(50, random_state=0).fit(ROWS)
    assert usual.offset_ == -0.5
    np.testing.assert_array_equal(usual.predict(ROWS) == -1, usual.decision_function(ROWS) < 0)


def test_weights_count_by_their_ratios_and_zero_leaves_rows_out() -> None:
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 300)
    weight[:20] = 0.0
    settings: dict[str, Any] = {"n_estimators": 30, "max_samples": 1.0, "random_state": 0}
    forests = [
        ObliqueIsolationForest(**settings).fit(ROWS, sample_weight=scale * weight)
        for scale in (1.0, 1000.0)
    ]
    scores = [forest.score_samples(ROWS) for forest in forests]
    np.testing.assert_allclose(*scores, rtol=1e-6)
    alone = ObliqueIsolationForest(**settings, contamination=0.1).fit(ROWS, sample_weight=weight)
    share = weight[alone.predict(ROWS) == -1].sum() / weight.sum()
    assert share == pytest.approx(0.1, abs=0.01)
    far = np.vstack([ROWS, np.full((1, 4), 50.0)])
    absent = ObliqueIsolationForest(projection="axis", **settings)
    absent.fit(far, sample_weight=[1.0] * 300 + [0.0])
    assert np.abs(absent.forest_.threshold).max() < 50.0


def test_same_scores_for_any_number_of_threads_and_from_files_and_pickles(tmp_path: Path) -> None:
    forests = [
        ObliqueIsolationForest(20, contamination=0.1, n_jobs=n_jobs, random_state=0).fit(ROWS)
        for n_jobs in (1, 3)
    ]
    scores = [forest.score_samples(ROWS) for forest in forests]
    np.testing.assert_array_equal(*scores)
    forests[0].save(tmp_path / "forest.bevel")
    copies = [
        bevel.load(tmp_path / "forest.bevel"),
        bevel.load(tmp_path / "forest.bevel", mmap=True),
        pickle.loads(pickle.dumps(forests[0])),
    ]
    for copy in copies:
        np.testing.assert_array_equal(copy.score_samples(ROWS), scores[0])
        assert copy.offset_ == forests[0].offset_
        assert copy.max_samples_ == 256
        assert copy.get_params() == forests[0].get_params()


def test_equal_rows_and_single_rows_have_the_usual_score() -> None:
    forest = ObliqueIsolationForest(10, random_state=0).fit(np.ones((20, 2)))
    np.testing.assert_allclose(forest.score_samples(np.ones((3, 2))), -0.5, rtol=1e-6)
    alone = ObliqueIsolationForest(10, random_state=0).fit(np.ones((1, 2)))
    assert alone.score_samples(np.ones((1, 2)))[0] == -0.5


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"contamination": 0.0}, ValueError, r"contamination must be .*\(0, 0.5\]"),
        ({"contamination": 0.6}, ValueError, r"contamination must be .*\(0, 0.5\]"),
        ({"contamination": "much"}, ValueError, "contamination must be"),
        ({"max_samples": 0}, ValueError, "max_samples must be"),
        ({"projection": "lda"}, ValueError, "without a target"),
        ({"projection": ["axis", "cca"]}, ValueError, "without a target"),
        ({"n_estimators": 0}, ValueError, "n_estimators must be"),
    ],
)
def test_parameter_that_cannot_be_honoured_raises(
    settings: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ObliqueIsolationForest(**settings).fit(ROWS)


def test_there_are_no_importances_of_random_splits() -> None:
    forest = ObliqueIsolationForest(5, random_state=0).fit(ROWS)
    assert not hasattr(forest, "feature_importances_")
    with pytest.raises(AttributeError, match="splits are random"):
        forest.feature_importances_  # noqa: B018


def test_one_numeric_column_and_none_are_enough() -> None:
    letters = pd.DataFrame({"a": list("uvw") * 30, "b": list("xy") * 45})
    assert ObliqueIsolationForest(5, random_state=0).fit(letters).score_samples(letters).max() < 0
    mixed = letters.assign(c=np.arange(90.0) % 7)
    assert ObliqueIsolationForest(5, random_state=0).fit(mixed).score_samples(mixed).max() < 0


@pytest.mark.parametrize("projection", ["auto", "sparse", "combination"])
def test_rows_far_out_along_one_column_are_outliers(projection: str) -> None:
    """The scale must not pull in what is far away: a row at ten standard deviations, in one of
    four columns, is less ordinary than nearly all training rows. (Cuts along the axes alone do not
    see it: such a row is ordinary in three columns.)"""
    forest = ObliqueIsolationForest(200, projection=projection, random_state=0).fit(ROWS)
    far = np.vstack([10.0 * np.eye(4), -10.0 * np.eye(4)])
    assert forest.score_samples(far).max() < np.quantile(forest.score_samples(ROWS), 0.02)


def test_warm_start_adds_the_trees_of_one_fit() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    whole = ObliqueIsolationForest(12, contamination=0.1, random_state=0).fit(X)
    grown = ObliqueIsolationForest(5, contamination=0.1, random_state=0, warm_start=True).fit(X)
    grown.set_params(n_estimators=12).fit(X)
    for name, array in whole.forest_.arrays().items():
        np.testing.assert_array_equal(array, getattr(grown.forest_, name), err_msg=name)
    assert grown.offset_ == whole.offset_
    assert grown.fitted_forest_.provenance.bags == whole.fitted_forest_.provenance.bags
    with pytest.raises(ValueError, match="at least the 12 trees"):
        grown.set_params(n_estimators=11).fit(X)
    with pytest.raises(ValueError, match="trees of 256 rows"):
        grown.set_params(n_estimators=13, max_samples=100).fit(X)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        grown.set_params(n_estimators=12, max_samples="auto").fit(X)


@pytest.mark.parametrize("n_rows", [1, 3, 100, 300])
def test_rows_that_are_all_alike_are_no_outliers(n_rows: int) -> None:
    alike = np.repeat(np.random.default_rng(0).normal(size=(1, 4)), n_rows, axis=0)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, n_rows)
    for sample_weight in (None, weight):
        forest = ObliqueIsolationForest(50, random_state=0).fit(alike, sample_weight=sample_weight)
        for rows in (alike, alike + 1.0, np.random.default_rng(2).normal(size=(20, 4))):
            assert (forest.score_samples(rows) == -0.5).all()
            assert (forest.predict(rows) == 1).all()


def test_a_row_of_weight_zero_is_as_good_as_absent() -> None:
    weight = (np.random.default_rng(0).uniform(size=len(ROWS)) < 0.2).astype(float)
    forest = ObliqueIsolationForest(20, random_state=0).fit(ROWS, sample_weight=weight)
    without = ObliqueIsolationForest(20, random_state=0).fit(ROWS[weight > 0])
    np.testing.assert_array_equal(forest.score_samples(ROWS), without.score_samples(ROWS))


def columns_of(forest: ObliqueIsolationForest) -> list[set[int]]:
    """Columns that the splits of each tree use."""
    used = []
    for tree in forest.forest_:
        splits = np.flatnonzero(tree.children_right >= 0)
        used.append({int(f) for node in splits for f in tree.projection(node)[0]})
    return used


def assert_same_trees(one: ObliqueIsolationForest, other: ObliqueIsolationForest) -> None:
    for name, array in one.forest_.arrays().items():
        np.testing.assert_array_equal(array, getattr(other.forest_, name), err_msg=name)


@pytest.mark.parametrize("projection", [*PROJECTIONS[:5], ["axis", P.Gaussian(2)]], ids=str)
@pytest.mark.parametrize(("max_features", "most"), [(3, 3), (0.5, 2), (0.6, 2), (2, 2)])
def test_splits_of_a_tree_use_as_many_columns_as_max_features_says(
    projection: Any, max_features: float, most: int
) -> None:
    forest = ObliqueIsolationForest(
        30, projection=projection, max_features=max_features, random_state=0
    ).fit(ROWS)
    used = columns_of(forest)
    assert max(map(len, used)) == most
    assert set().union(*used) == {0, 1, 2, 3}
    expected = naive_scores(forest, ROWS, 2 * ROWS)
    np.testing.assert_allclose(forest.score_samples(2 * ROWS), expected, rtol=1e-6)


@pytest.mark.parametrize("projection", PROJECTIONS, ids=str)
@pytest.mark.parametrize("bootstrap", [False, True])
def test_a_tree_of_few_columns_is_that_of_a_table_of_these_columns(
    projection: Any, bootstrap: bool
) -> None:
    rows = ROWS.copy()
    rows[::7, 1] = np.nan
    settings: dict[str, Any] = {"projection": projection, "max_samples": 100, "random_state": 3}
    settings |= {"bootstrap": bootstrap}
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(rows))
    few = ObliqueIsolationForest(12, max_features=3, **settings).fit(rows, sample_weight=weight)
    for number, used in enumerate(columns_of(few)):
        if len(used) < 3:
            continue
        columns = sorted(used)
        alone = ObliqueIsolationForest(12, **settings).fit(rows[:, columns], sample_weight=weight)
        one, other = few.forest_.tree(number), alone.forest_.tree(number)
        np.testing.assert_array_equal(one.children_right, other.children_right)
        np.testing.assert_array_equal(one.threshold, other.threshold)
        for node in np.flatnonzero(one.children_right >= 0):
            index, coefficients = other.projection(node)
            np.testing.assert_array_equal(one.projection(node)[0], np.take(columns, index))
            np.testing.assert_array_equal(one.projection(node)[1], coefficients)
        np.testing.assert_array_equal(
            few.apply(rows)[:, number], alone.apply(rows[:, columns])[:, number]
        )


def test_trees_of_one_column_take_every_column_equally_often() -> None:
    """Null hypothesis: the column of 2000 trees is uniform over 4. Chi-square; fails by chance once
    in a million runs."""
    forest = ObliqueIsolationForest(2000, max_features=1, max_samples=16, random_state=1).fit(ROWS)
    used = columns_of(forest)
    assert {len(columns) for columns in used} == {1}
    assert stats.chisquare(np.bincount([min(each) for each in used])).pvalue > 1e-6


@pytest.mark.parametrize("max_features", [1.0, 4])
def test_trees_of_all_columns_are_those_without_max_features(max_features: float) -> None:
    usual = ObliqueIsolationForest(10, random_state=0).fit(ROWS)
    every = ObliqueIsolationForest(10, max_features=max_features, random_state=0).fit(ROWS)
    assert_same_trees(usual, every)


def test_trees_of_few_columns_are_the_same_for_any_number_of_threads_and_warm_starts(
    tmp_path: Path,
) -> None:
    rows = np.random.default_rng(5).normal(size=(5000, 6))
    settings: dict[str, Any] = {"max_features": 0.5, "max_samples": 1.0, "random_state": 0}
    settings |= {"contamination": 0.1}
    whole = ObliqueIsolationForest(9, n_jobs=1, **settings).fit(rows)
    assert_same_trees(whole, ObliqueIsolationForest(9, n_jobs=3, **settings).fit(rows))
    grown = ObliqueIsolationForest(4, warm_start=True, **settings).fit(rows)
    assert_same_trees(whole, grown.set_params(n_estimators=9).fit(rows))
    assert grown.offset_ == whole.offset_
    whole.save(tmp_path / "forest.bevel")
    copy = bevel.load(tmp_path / "forest.bevel")
    assert copy.max_features == 0.5
    np.testing.assert_array_equal(copy.score_samples(rows), whole.score_samples(rows))


def test_few_columns_may_be_numeric_nominal_or_both() -> None:
    """Directions of two features shrink in trees that have only one numeric column, or none."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(ROWS[:, :2], columns=["a", "b"]).mask(rng.random((300, 2)) < 0.2)
    for name in "cd":
        frame[name] = rng.choice(["u", "v", "w"], len(frame))
    forest = ObliqueIsolationForest(
        60, projection=P.Gaussian(2), max_features=2, max_samples=100, random_state=0
    ).fit(frame)
    used = columns_of(forest)
    assert {frozenset(columns) for columns in used} >= {frozenset({0, 1}), frozenset({2, 3})}
    assert max(map(len, used)) == 2
    expected = naive_scores(forest, frame, frame)
    np.testing.assert_allclose(forest.score_samples(frame), expected, rtol=1e-6)


def test_progress_of_trees_of_few_columns_is_reported() -> None:
    seen: list[tuple[int, int]] = []
    ObliqueIsolationForest(
        5, max_features=2, callback=lambda *counts: seen.append(counts), random_state=0
    ).fit(ROWS)
    assert seen[-1] == (5, 5)
    assert sorted(seen) == seen


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"max_features": 0}, ValueError, "max_features must be"),
        ({"max_features": 1.5}, ValueError, "max_features must be"),
        ({"max_features": 5}, ValueError, r"at most the number of columns of X \(4\); got 5"),
        ({"max_features": "sqrt"}, TypeError, "max_features must be"),
        ({"max_features": True}, TypeError, "max_features must be"),
        (
            {"max_features": 2, "projection": P.Gaussian(3)},
            ValueError,
            r"max_features=2: Gaussian\(n_features=\) must be at most",
        ),
        ({"max_features": 2, "projection": P.Patches((2, 2))}, ValueError, "must be 1.0 with"),
        ({"max_features": 2, "projection": P.Custom(np.eye(4))}, ValueError, "must be 1.0 with"),
    ],
)
def test_max_features_that_cannot_be_honoured_raises(
    settings: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ObliqueIsolationForest(**settings).fit(ROWS)
