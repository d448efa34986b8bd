"""Permutation and negation importance as users call them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from support.false_alarms import assert_uniform
from support.importance_cases import (
    BOTH,
    classes,
    mixed_table,
    negation_importance,
    numbers,
    permutation_importance,
    small_classifier,
    small_regressor,
)

import bevel
from bevel import ObliqueForestClassifier, _core
from bevel.analysis import importance as importance_of
from bevel.analysis import single_tree
from bevel.analysis.importances import perturbation

# What is measured


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_error_undisturbed_is_the_out_of_bag_error(voting: str) -> None:
    X, y = classes()
    forest = small_classifier(voting=voting, oob_score=True).fit(X, y)
    result = permutation_importance(forest, X, y, random_state=0)
    assert result.error == pytest.approx(1 - forest.oob_score_, abs=1e-12)
    X, y = numbers()
    trees = small_regressor(oob_score=True).fit(X, y)
    expected = np.mean((trees.oob_prediction_ - y) ** 2)
    assert permutation_importance(trees, X, y).error == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("projection", ["sparse", "axis", "rotation"])
def test_importance_on_given_rows_equals_predicting_permuted_tables(projection: str) -> None:
    X, y = mixed_table()
    forest = small_classifier(projection=projection, n_estimators=7).fit(X, y)
    result = permutation_importance(forest, X, y, out_of_bag=False, n_repeats=2, random_state=4)
    seed = int(np.random.default_rng(4).integers(2**64, dtype=np.uint64))
    for feature, name in enumerate(X):
        for repeat in range(2):
            order = _core.permutation(seed, 0, feature, repeat, len(X))
            table = X.assign(**{name: X[name].take(order).array})
            expected = np.mean(forest.predict(table) != y) - np.mean(forest.predict(X) != y)
            assert result.repeats[feature, repeat] == pytest.approx(expected, abs=1e-12)


def test_negation_on_given_rows_equals_predicting_mirrored_columns() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(-20, 20, (81, 4)).astype(float) / 8  # sums and mirrors are exact
    y = X[:, 0] + X[:, 1] > X[:, 2]
    forest = small_classifier(scale=None).fit(X, y)
    result = negation_importance(forest, X, y, out_of_bag=False)
    for feature in range(4):
        mirrored = X.copy()
        mirrored[:, feature] = 2 * np.median(X[:, feature]) - X[:, feature]
        expected = np.mean(forest.predict(mirrored) != y) - np.mean(forest.predict(X) != y)
        assert result.values[feature] == pytest.approx(expected, abs=1e-12)
    assert result.values[0] > 0.1


def test_negation_does_not_depend_on_the_origin_of_a_feature() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(-20, 20, (81, 3)).astype(float) / 8
    y = X[:, 0] + X[:, 1] > X[:, 2]
    here, there = (
        negation_importance(small_classifier(projection="axis", scale=None).fit(Z, y), Z, y)
        for Z in (X, X + 64)
    )
    np.testing.assert_array_equal(here.values, there.values)


@pytest.mark.filterwarnings("ignore::bevel.errors.LeakWarning")  # a column is the target
@pytest.mark.parametrize("error_of", ["forest", "tree"])
def test_permuting_the_target_itself_adds_twice_its_variance_and_negating_it_four_times(
    error_of: str,
) -> None:
    """E (x - x')² = 2 Var x for an independent x', and (x + x)² = 4 x² for a mirrored one."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (1500, 2))
    forest = small_regressor(projection="axis").fit(X, X[:, 0])
    permuted = permutation_importance(forest, X, X[:, 0], error_of=error_of, random_state=0)
    negated = negation_importance(forest, X, X[:, 0], error_of=error_of)
    # Of 1500 rows: 1500 (and 5 x 1500) draws of a loss whose deviation is about its mean.
    assert permuted.values[0] == pytest.approx(2 / 3, rel=0.1)
    assert negated.values[0] == pytest.approx(4 / 3, rel=0.1)
    assert abs(permuted.values[1]) < 1e-3


@BOTH
@pytest.mark.parametrize("error_of", ["forest", "tree"])
def test_feature_that_no_split_uses_has_importance_zero(importance, error_of: str) -> None:
    X, y = classes()
    result = importance(small_classifier().fit(X, y), X, y, error_of=error_of)
    assert result.values[4] == result.standard_error[4] == 0.0
    assert not result.repeats[4].any()
    assert (result.values[:2] > 0.1).all()


@BOTH
def test_constant_target_has_no_importances(importance) -> None:
    X, _ = numbers()
    result = importance(small_regressor().fit(X, np.full(len(X), 2.5)), X, np.full(len(X), 2.5))
    assert not result.values.any()


@pytest.mark.parametrize("error_of", ["forest", "tree"])
def test_permutations_leave_missing_values_and_levels_in_place_of_each_other(
    error_of: str,
) -> None:
    X, y = mixed_table()
    forest = small_classifier().fit(X, y)
    result = permutation_importance(forest, X, y, error_of=error_of, random_state=0)
    assert result.names == ("size", "colour", "noise")
    assert (result.values[:2] > 0.1).all()


def test_standard_error_of_trees_is_that_of_their_mean() -> None:
    X, y = classes()
    forest = small_classifier().fit(X, y)
    result = permutation_importance(forest, X, y, error_of="tree", n_repeats=1, random_state=1)
    out = np.array([forest.fitted_forest_.provenance.bags.counts(t) == 0 for t in range(25)])
    seed = int(np.random.default_rng(1).integers(2**64, dtype=np.uint64))
    increases = []
    for t, rows in enumerate(out):
        own = np.flatnonzero(rows)
        codes = np.searchsorted(forest.classes_, y[own])
        tree, shuffled = forest.forest_.tree(t), X[own]
        shuffled[:, 0] = X[own[_core.permutation(seed, t, 0, 0, len(own))], 0]
        wrong = [
            np.mean([tree.class_shares(leaf).argmax() for leaf in forest.apply(Z)[:, t]] != codes)
            for Z in (X[own], shuffled)
        ]
        increases.append(wrong[1] - wrong[0])
    assert result.values[0] == pytest.approx(np.mean(increases), abs=1e-12)
    assert result.standard_error[0] == pytest.approx(np.std(increases, ddof=1) / 5, abs=1e-12)


def test_weights_count_rows_and_zero_leaves_them_out() -> None:
    X, y = classes()
    forest = small_classifier(n_estimators=60).fit(X, y)
    weights = np.repeat([1.0, 0.0], 60)
    given = negation_importance(forest, X, y, out_of_bag=False, sample_weight=weights)
    alone = negation_importance(forest, X[:60], y[:60], out_of_bag=False)
    np.testing.assert_allclose(given.values, alone.values, atol=1e-12)
    np.testing.assert_allclose(given.standard_error, alone.standard_error, atol=1e-12)


# Groups


def test_group_of_all_columns_that_matter_destroys_what_the_forest_knows() -> None:
    X, y = numbers()
    forest = small_regressor().fit(X, y)
    groups = {"both": [0, 1], "first": 0, "idle": ["x4"]}
    result = permutation_importance(forest, X, y, groups=groups, random_state=0)
    assert result.names == ("both", "first", "idle")
    assert result.values[0] > result.values[1] > result.values[2] == 0.0


@BOTH
@pytest.mark.parametrize("error_of", ["forest", "tree"])
def test_result_of_a_group_does_not_depend_on_which_groups_share_memory(
    importance, error_of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = classes()
    forest = small_classifier().fit(X, y)
    groups = {"a": [0], "b": [0, 1], "c": [1, 2], "d": [3]}
    extra = {} if importance is negation_importance else {"random_state": 5}
    at_once = importance(forest, X, y, groups=groups, error_of=error_of, **extra)
    for name in ("MAX_SUMS", "MAX_LENDERS", "MAX_INCREASES"):
        monkeypatch.setattr(perturbation, name, 0)
    one_by_one = importance(forest, X, y, groups=groups, error_of=error_of, **extra)
    np.testing.assert_array_equal(at_once.repeats, one_by_one.repeats)
    np.testing.assert_array_equal(at_once.standard_error, one_by_one.standard_error)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ([0, 1], TypeError, "mapping"),
        ({}, ValueError, "at least one group"),
        ({"a": []}, ValueError, "at least one column"),
        ({"a": ["x9"]}, ValueError, "columns of the fit"),
        ({"a": [5]}, ValueError, "from 0 to 4"),
        ({"a": [-1]}, ValueError, "from 0 to 4"),
        ({"a": [1.5]}, TypeError, "columns of the fit"),
        ({"a": [True]}, TypeError, "columns of the fit"),
    ],
)
def test_groups_that_make_no_sense_raise(groups, error: type[Exception], message: str) -> None:
    X, y = classes()
    forest = small_classifier(n_estimators=2).fit(X, y)
    with pytest.raises(error, match=message):
        permutation_importance(forest, X, y, groups=groups)


# Randomness


def test_same_seed_gives_the_same_bits_on_any_number_of_threads() -> None:
    X, y = numbers(300)
    for error_of in ("forest", "tree"):
        first, *same, other = (
            permutation_importance(
                small_regressor(n_jobs=n_jobs).fit(X, y), X, y, error_of=error_of, random_state=seed
            ).repeats
            for n_jobs, seed in ((1, 3), (2, 3), (3, np.random.default_rng(3)), (1, 4))
        )
        for repeats in same:
            np.testing.assert_array_equal(repeats, first)
        assert (first != other).any()


def test_permutations_of_four_rows_are_equally_likely_for_any_tree_group_and_repeat() -> None:
    """Null: uniform over the 24 orders; chi-square of 8000 draws, false alarms 1e-6."""
    code = {}
    counts = np.zeros(24)
    for number in range(8000):
        tree, group, repeat = number % 20, number // 20 % 20, number // 400
        order = tuple(_core.permutation(9, tree, group, repeat, 4))
        counts[code.setdefault(order, len(code))] += 1
    assert_uniform(counts)


def test_permutations_of_neighbouring_groups_and_repeats_are_unrelated() -> None:
    """Null: the rows that two permutations send to the same place are Poisson, mean one."""
    for a, b in (((0, 1, 0), (0, 2, 0)), ((0, 1, 0), (0, 1, 1)), ((0, 1, 0), (1, 1, 0))):
        same = [
            np.sum(_core.permutation(seed, *a, 500) == _core.permutation(seed, *b, 500))
            for seed in range(200)
        ]
        assert abs(np.mean(same) - 1) < 5 / np.sqrt(200)


# Forests of all sorts


@BOTH
def test_slim_loaded_and_mapped_forests_predict_like_the_forest(importance, tmp_path) -> None:
    X, y = classes()
    forest = small_classifier().fit(X, y)
    extra = {} if importance is negation_importance else {"random_state": 5}
    expected = importance(forest, X, y, **extra).repeats
    forest.save(tmp_path / "m.bevel")
    loaded = bevel.load(tmp_path / "m.bevel")
    mapped = bevel.load(tmp_path / "m.bevel", mmap=True)
    for other in (loaded, mapped, forest.slim()):
        np.testing.assert_array_equal(importance(other, X, y, **extra).repeats, expected)


@pytest.mark.parametrize(
    "projection", ["rotation", "multirotation", "principal", "lda", "gaussian", "combination"]
)
@BOTH
def test_every_kind_of_forest_has_importances(importance, projection: str) -> None:
    X, y = classes()
    result = importance(small_classifier(projection=projection).fit(X, y), X, y)
    assert (result.values[:2] > 0.05).all()


# What is shown


def test_result_prints_a_table_with_the_most_important_first() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    result = permutation_importance(small_classifier().fit(X, y), X, y, random_state=0)
    lines = repr(result).splitlines()
    assert lines[0] == "Permutation importance"
    header = ["feature", "values", "std", "direction", "of", "class", "standard", "error"]
    assert lines[1].split() == header
    assert lines[2].startswith("petal")
    where = f"classification error ({result.error:.4g}) of the forest on out-of-bag rows;"
    assert where in lines[-2]
    assert lines[-1].startswith("direction: of the probability of a class over the splits")


def test_best_features_keep_their_repeats() -> None:
    X, y = classes()
    result = permutation_importance(small_classifier().fit(X, y), X, y, random_state=0)
    best = result.top(2)
    np.testing.assert_array_equal(best.repeats, result.repeats[result.order[:2]])
    assert best.error == result.error
    columns = ["values", "std", "direction", "effect_of", "standard_error"]
    assert list(result.to_pandas()) == columns


def test_one_repeat_has_no_spread() -> None:
    X, y = classes()
    forest = small_classifier().fit(X, y)
    assert negation_importance(forest, X, y).std is None
    assert permutation_importance(forest, X, y, n_repeats=1).std is None


def test_verbose_shows_a_bar_that_comes_to_its_end(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = classes()
    forest = small_classifier().fit(X, y)
    groups = {"a": [0], "b": [0, 1]}  # two layers
    permutation_importance(forest, X, y, groups=groups, verbose=1)
    assert "permuting features" in (err := capfd.readouterr().err)
    assert "240/240" in err
    negation_importance(forest, X, y, error_of="tree", verbose=1)
    assert "25/25" in capfd.readouterr().err


@pytest.mark.parametrize("error_of", ["forest", "tree"])
def test_permuted_rows_count_by_their_weights(error_of):
    # With weight on one class only, the error is that class's, and so is the importance.
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, 2))
    labels = (rows[:, 0] + 0.5 * random.normal(size=200) > 0).astype(int)
    forest = ObliqueForestClassifier(15, random_state=0, n_jobs=1).fit(rows[:100], labels[:100])
    new, true = rows[100:], labels[100:]
    weights = np.where(true == 1, 2.0, 0.0)
    result = importance_of(
        forest,
        "permutation",
        new,
        true,
        out_of_bag=False,
        error_of=error_of,
        sample_weight=weights,
        n_repeats=200,
        random_state=0,
    )
    judges = [forest] if error_of == "forest" else [single_tree(forest, t) for t in range(15)]
    ones = true == 1
    before = np.mean([(judge.predict(new[ones]) != 1).mean() for judge in judges])
    assert result.error == pytest.approx(before)
    # Each row takes the value of each other row equally often: an exact expectation.
    mixed = np.repeat(new[ones], len(new), axis=0)
    mixed[:, 0] = np.tile(new[:, 0], ones.sum())
    after = np.mean([(judge.predict(mixed) != 1).mean() for judge in judges])
    assert result.values[0] == pytest.approx(after - before, abs=6 * result.std[0] / 200**0.5)
