"""Conditional quantiles: against their definition, out of bag, kept, saved and joined."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.analysis import forest_weights, quantiles
from bevel.analysis.results import RowQuantiles
from bevel.plots import fan_chart

RNG = np.random.default_rng(8)
N = 150
X = RNG.normal(size=(N, 3))
NEW = RNG.normal(size=(30, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=N)).round(1)  # with ties
WEIGHTS = RNG.integers(0, 4, N) / 2.0
LEVELS = [0.0, 0.05, 0.3, 0.5, 0.9, 1.0]
FEW = {"n_estimators": 20, "random_state": 2, "n_jobs": 1}
BOTH = pytest.mark.parametrize("sample_weight", [None, WEIGHTS], ids=["equal", "weighted"])


def slow_quantiles(weights, y, levels):
    """The smallest y at which the distribution function reaches each level."""
    found = np.empty((weights.shape[0], len(levels)))
    for row, weight in enumerate(weights.toarray()):
        values = np.unique(y[weight > 0])
        reached = np.array([weight[y <= value].sum() for value in values])
        for number, level in enumerate(levels):
            found[row, number] = values[np.flatnonzero(reached >= level - 1e-12)[0]]
    return found


def fitted(sample_weight=None, **options):
    forest = ObliqueForestRegressor(**{**FEW, **options})
    return forest.fit(X, Y, sample_weight=sample_weight)


@BOTH
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_samples_leaf": 9},
        {"bootstrap": False},
        {"n_estimators": 1},
        {"min_samples_split": 999},
    ],
    ids=str,
)
def test_quantiles_are_those_of_the_weighted_targets(options, sample_weight):
    forest = fitted(sample_weight, keep_targets=True, **options)
    weights = forest_weights(forest, X, Y, NEW, sample_weight=sample_weight)
    expected = slow_quantiles(weights, Y, LEVELS)
    np.testing.assert_array_equal(forest.predict_quantiles(NEW, LEVELS), expected)
    again = fitted(sample_weight, **options)
    training = {"X_train": X, "y_train": Y, "sample_weight": sample_weight}
    np.testing.assert_array_equal(again.predict_quantiles(NEW, LEVELS, **training), expected)


def test_quantiles_of_one_leaf_without_bags_are_those_of_the_sample():
    forest = fitted(keep_targets=True, bootstrap=False, min_samples_split=999)
    # The weights up to the i-th target are i / N, whatever sums of 1 / N round to.
    levels = np.arange(1, N + 1) / N
    for shift in (0.0, -0.5 / N):
        found = forest.predict_quantiles(NEW[:1], levels + shift)[0]
        np.testing.assert_array_equal(found, np.sort(Y))


def test_levels_may_come_in_any_order_and_one_level_gives_one_column():
    forest = fitted(keep_targets=True)
    for levels in ([0.9, 0.1, 0.5], [0.9, 0.1, 0.9]):
        several = forest.predict_quantiles(NEW, levels)
        for level, column in zip(levels, several.T, strict=True):
            np.testing.assert_array_equal(column, forest.predict_quantiles(NEW, level))


def test_interval_ends_at_mirrored_quantiles():
    forest = fitted(keep_targets=True)
    expected = forest.predict_quantiles(NEW, [0.1, 0.9])
    np.testing.assert_array_equal(forest.predict_interval(NEW, 0.8), expected)


def test_quantiles_do_not_depend_on_threads_or_blocks(monkeypatch):
    rows = np.repeat(NEW, 50, axis=0)
    forest = fitted(keep_targets=True)
    one = forest.predict_quantiles(rows)
    np.testing.assert_array_equal(forest.set_params(n_jobs=3).predict_quantiles(rows), one)
    monkeypatch.setattr("bevel.forest.quantiles.BLOCK_SIZE", 7 * 20)
    np.testing.assert_array_equal(forest.predict_quantiles(rows), one)


@pytest.mark.parametrize("quantile", [-0.1, 1.1, [], [[0.5]], np.nan, "half"])
def test_levels_outside_zero_and_one_are_refused(quantile):
    with pytest.raises((TypeError, ValueError), match="quantiles must be numbers from 0 to 1; got"):
        fitted(keep_targets=True).predict_quantiles(NEW, quantile)


@pytest.mark.parametrize("coverage", [0, 1, 90, "0.9", True])
def test_coverages_outside_zero_and_one_are_refused(coverage):
    with pytest.raises((TypeError, ValueError), match="coverage must be a number between 0 and 1"):
        fitted(keep_targets=True).predict_interval(NEW, coverage)


def test_quantiles_without_targets_say_what_to_do():
    with pytest.raises(ValueError, match=r"kept none. Fit with keep_targets=True, or pass X_train"):
        fitted().predict_quantiles(NEW)
    with pytest.raises(ValueError, match="got part of them"):
        fitted(keep_targets=True).predict_interval(NEW, X_train=X)
    with pytest.raises(ValueError, match="kept none"):
        fitted(keep_targets=True).slim().predict_interval(NEW)


@BOTH
def test_kept_targets_come_back_from_files_and_pickles(sample_weight, tmp_path):
    forest = fitted(sample_weight, keep_targets=True)
    expected = forest.predict_quantiles(NEW, LEVELS)
    forest.save(tmp_path / "m.bevel")
    mapped = bevel.load(tmp_path / "m.bevel", mmap=True)
    others = [pickle.loads(pickle.dumps(each)) for each in (forest, mapped)]
    for each in (mapped, bevel.load(tmp_path / "m.bevel"), *others):
        np.testing.assert_array_equal(each.predict_quantiles(NEW, LEVELS), expected)
        assert each.get_params()["keep_targets"] is True


def test_kept_targets_of_many_stumps_fit_the_limits_of_files(tmp_path):
    forest = ObliqueForestRegressor(3000, keep_targets=True, random_state=0)
    forest.fit(np.zeros((1, 1)), [5.0]).save(tmp_path / "m.bevel")
    assert bevel.load(tmp_path / "m.bevel").predict_quantiles([[0.0]], 0.5) == [5.0]


def test_targets_of_pruned_trees_are_theirs():
    forest = fitted(keep_targets=True)
    pruned = forest.prune_trees(4, X, Y)
    leaves = pruned.apply(NEW)
    chosen = [
        next(t for t in range(20) if np.array_equal(forest.apply(NEW)[:, t], leaves[:, p]))
        for p in range(4)
    ]
    bags = forest.fitted_forest_.provenance.bags
    own = forest.apply(X)
    weights = np.zeros((len(NEW), N))
    for position, tree in enumerate(chosen):
        together = leaves[:, [position]] == own[:, tree]
        share = together * bags.counts(tree)
        weights += share / share.sum(axis=1, keepdims=True) / 4
    expected = slow_quantiles(sp.csr_matrix(weights), Y, LEVELS)
    np.testing.assert_array_equal(pruned.predict_quantiles(NEW, LEVELS), expected)


def test_warm_start_adds_targets_of_the_same_rows():
    forest = fitted(keep_targets=True, n_estimators=8, warm_start=True, projection="sparse")
    forest.set_params(n_estimators=20).fit(X, Y)
    whole = fitted(keep_targets=True, projection="sparse")
    np.testing.assert_array_equal(
        forest.predict_quantiles(NEW, LEVELS), whole.predict_quantiles(NEW, LEVELS)
    )
    assert len(forest.fitted_forest_.kept_targets.value) == N


@pytest.mark.parametrize("first", [None, WEIGHTS], ids=["equal", "weighted"])
def test_warm_start_on_other_rows_keeps_both_targets(first):
    forest = fitted(first, keep_targets=True, n_estimators=10, warm_start=True)
    forest.set_params(n_estimators=20).fit(X, 100.0 + Y)
    assert len(forest.fitted_forest_.kept_targets.value) == 2 * N
    # Half of the weight is on each set: the lower and upper quartiles are medians of either.
    low, high = forest.predict_quantiles(NEW, [0.25, 0.75]).T
    only = fitted(first, keep_targets=True, n_estimators=10)
    np.testing.assert_array_equal(low, only.predict_quantiles(NEW, 0.5))
    assert (high > 90).all()


def test_warm_start_cannot_keep_targets_that_were_not_kept():
    forest = fitted(n_estimators=5, warm_start=True)
    with pytest.raises(ValueError, match="keep_targets=True with warm_start needs the targets of"):
        forest.set_params(keep_targets=True, n_estimators=9).fit(X, Y)
    forest.set_params(keep_targets=True, warm_start=False).fit(X, Y).predict_quantiles(NEW)
    forest.set_params(keep_targets=False).fit(X, Y)
    with pytest.raises(ValueError, match="kept none"):
        forest.predict_quantiles(NEW)


@BOTH
def test_out_of_bag_quantiles_are_those_of_out_of_bag_weights(sample_weight):
    forest = fitted(sample_weight, n_estimators=50)
    result = quantiles(forest, X, Y, levels=LEVELS[::-1], sample_weight=sample_weight)
    weights = forest_weights(forest, X, Y, sample_weight=sample_weight)
    np.testing.assert_array_equal(result.values, slow_quantiles(weights, Y, LEVELS))
    np.testing.assert_array_equal(result.levels, LEVELS)
    assert result.coverage[-1] > 0.9


def test_quantiles_of_rows_in_every_bag_are_unknown():
    result = quantiles(fitted(n_estimators=1), X, Y)
    inside = fitted(n_estimators=1).fitted_forest_.provenance.bags.counts(0) > 0
    np.testing.assert_array_equal(np.isnan(result.values).all(axis=1), inside)
    assert np.isfinite(result.coverage).all()
    assert len(fan_chart(result).lines[-1].get_xdata()) == N - inside.sum()


def test_quantiles_of_new_rows_print_a_table_and_make_a_frame():
    result = quantiles(fitted(), X, Y, NEW, levels=[0.1, 0.5])
    np.testing.assert_array_equal(
        result.values[:, 1], fitted(keep_targets=True).predict_quantiles(NEW, 0.5)
    )
    head, levels, first = str(result).splitlines()[:3]
    assert (head, levels.split()) == ("Quantiles of 30 rows", ["row", "0.1", "0.5"])
    assert first.split() == ["0", *(f"{value:.4g}" for value in result.values[0])]
    assert list(result.to_pandas().columns) == ["0.1", "0.5"]
    with pytest.raises(ValueError, match="coverage needs the targets"):
        _ = result.coverage


def test_quantiles_of_new_rows_come_from_kept_targets_and_are_held_against_their_own():
    forest = fitted(keep_targets=True)
    truth = NEW[:, 0]
    result = quantiles(forest, X=NEW, y=truth, levels=[0.1, 0.25, 0.5, 0.9])
    np.testing.assert_array_equal(
        result.values, forest.predict_quantiles(NEW, [0.1, 0.25, 0.5, 0.9])
    )
    expected = [
        np.mean([t <= q for t, q in zip(truth, column, strict=True)]) for column in result.values.T
    ]
    np.testing.assert_allclose(result.coverage, expected)
    assert str(result).startswith("Quantiles of 30 rows\n")
    assert result.bands == [(0, 3)]
    low, high = forest.predict_interval(NEW, 0.8).T
    np.testing.assert_array_equal(result.inside((0, 3)), (low <= truth) & (truth <= high))


def test_bands_hold_their_ends_and_are_the_widest_first():
    result = quantiles(fitted(n_estimators=3), X, Y)
    assert result.bands == [(0, 4), (1, 3)]
    known = [row for row in range(N) if not np.isnan(result.values[row, 0])]
    for low, high in result.bands:
        expected = [result.values[row, low] <= Y[row] <= result.values[row, high] for row in known]
        np.testing.assert_array_equal(result.inside((low, high)), expected)
        at_an_end = [Y[row] in result.values[row, [low, high]] for row in known]
        assert np.any(at_an_end)  # or ends would not be tested


def test_quantiles_without_rows_say_what_to_do():
    with pytest.raises(ValueError, match=r"out of bag need X_train and y_train; got no rows"):
        quantiles(fitted(keep_targets=True))
    with pytest.raises(ValueError, match="got y without X"):
        quantiles(fitted(), X, Y, y=Y)
    with pytest.raises(ValueError, match=r"quantiles needs the training targets.*kept none"):
        quantiles(fitted(), X=NEW)


def test_quantiles_of_a_classifier_are_refused():
    forest = ObliqueForestClassifier(5).fit(X, Y > 0)
    with pytest.raises(TypeError, match=r"must be a regressor.*Use predict_proba"):
        quantiles(forest, X, Y > 0)
    assert not hasattr(forest, "predict_quantiles")


@pytest.mark.parametrize("levels", [[0.05, 0.25, 0.5, 0.75, 0.95], [0.1, 0.9], [0.2, 0.5, 0.7]])
@pytest.mark.parametrize("x", [None, X[:, 0]], ids=["by median", "by feature"])
def test_fan_chart_draws_bands_lines_and_targets(levels, x):
    result = quantiles(fitted(), X, Y, levels=levels)
    axes = fan_chart(result, x=x)
    axes.figure.canvas.draw()
    n_bands = sum(round(1 - level, 9) in levels for level in levels if level < 0.5)
    assert len(axes.collections) == n_bands
    assert len(axes.lines) == len(levels) - 2 * n_bands + 1
    across, up = axes.lines[-1].get_data()
    assert (np.diff(across) >= 0).all()
    assert sorted(up) == sorted(Y[~np.isnan(result.values[:, 0])])


def test_fan_chart_uses_given_axes_and_refuses_targets_of_other_rows():
    from matplotlib.figure import Figure

    result = quantiles(fitted(), X, Y, NEW)
    axes = Figure().add_subplot()
    assert fan_chart(result, ax=axes) is axes
    assert len(axes.lines) == 1  # no targets are known
    with pytest.raises(ValueError, match=r"y must be 30 numbers, one for each row; got .*\(150,\)"):
        fan_chart(result, y=Y)


def test_quantiles_of_new_rows_by_weighted_training_rows_are_those_of_the_estimator():
    forest = fitted(WEIGHTS, min_samples_leaf=8, keep_targets=True)
    result = quantiles(forest, X, Y, NEW, levels=LEVELS, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(result.values, forest.predict_quantiles(NEW, LEVELS))
    weights = forest_weights(forest, X, Y, NEW, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(result.values, slow_quantiles(weights, Y, LEVELS))


def test_a_target_on_its_quantile_is_covered():
    values = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [np.nan, np.nan]])
    result = RowQuantiles(np.array([0.5, 1.0]), values, np.array([1.0, 2.0, 3.0, 0.0]), True)
    assert result.coverage.tolist() == [1 / 3, 2 / 3]


@pytest.mark.parametrize("x", [None, -np.arange(4.0)], ids=["by median", "by x"])
def test_targets_of_a_fan_are_drawn_over_their_own_rows(x):
    # The third row was in every bag, and is not drawn.
    values = np.array([[3.0], [1.0], [np.nan], [2.0]])
    targets = np.array([30.0, 10.0, 0.0, 20.0])
    axes = fan_chart(RowQuantiles(np.array([0.5]), values, targets, True), x=x)
    drawn = {line.get_label(): line for line in axes.lines}
    assert drawn["target"].get_ydata().tolist() == [10 * y for y in drawn["median"].get_ydata()]
    assert drawn["target"].get_ydata().tolist() == ([10, 20, 30] if x is None else [20, 10, 30])
    places = [0, 1, 2] if x is None else [-3, -1, 0]
    assert drawn["target"].get_xdata().tolist() == places


def test_training_rows_passed_as_rows_are_named_in_the_result():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80)
    forest = ObliqueForestRegressor(20, keep_targets=True, random_state=0).fit(X, y)
    for found in (quantiles(forest, X, y, X, y), quantiles(forest, X=X, y=y)):
        assert found.seen
        assert "Leave X out for quantiles out of bag" in str(found)
    for found in (
        quantiles(forest, X, y),
        quantiles(forest, X=X + 1.0, y=y),
        quantiles(forest, X, y, X[:5], y[:5]),
    ):
        assert not found.seen
        assert "Leave X out" not in str(found)
