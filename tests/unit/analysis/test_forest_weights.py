"""Weights of the training rows: against a plain loop over trees, and against predictions."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.analysis import forest_weights, potential_neighbours, voting_points

RNG = np.random.default_rng(3)
N, N_NEW = 120, 25
X = RNG.normal(size=(N, 4))
NEW = RNG.normal(size=(N_NEW, 4))
Y = X[:, 0] + 0.5 * RNG.normal(size=N)
LABELS = np.array(["no", "perhaps", "yes"])[np.digitize(Y, [-0.5, 0.5])]
WEIGHTS = RNG.integers(0, 4, N) / 2.0
FEW = {"n_estimators": 15, "random_state": 2, "n_jobs": 1}
HOLES = np.where(RNG.random(X.shape) < 0.2, np.nan, X)


def frame(rows):
    city = np.array(["Basel", "Genf", "Zürich", None], dtype=object)
    return pd.DataFrame({"city": city[np.digitize(rows[:, 0], [-1, 0, 1])], "x": rows[:, 1]})


def slow_weights(forest, X, new, sample_weight, of_class=None):
    """One tree after another, one row after another, as the formula has it."""
    n, n_trees = len(X), forest.forest_.n_trees
    own, asked = forest.apply(X), forest.apply(new)
    bags = forest.fitted_forest_.provenance.bags
    weights = np.zeros((len(new), n))
    for tree in range(n_trees):
        times = bags.counts(tree).astype(float)
        if of_class is not None:
            codes = np.searchsorted(forest.classes_, of_class)
            times *= (1.0 / np.bincount(codes, times))[codes]
        times *= 1.0 if sample_weight is None else sample_weight
        for row in range(len(new)):
            share = np.where(own[:, tree] == asked[row, tree], times, 0.0)
            weights[row] += share / share.sum() / n_trees
    return weights


@pytest.mark.parametrize("sample_weight", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"projection": "axis", "min_samples_leaf": 7},
        {"projection": "rotation", "max_depth": 3},
        {"bootstrap": False, "threshold": "random"},
        {"replace": False},
        {"max_samples": 0.3},
        {"n_estimators": 1},
        {"min_samples_split": 1000},
    ],
    ids=str,
)
def test_weights_are_the_formula_and_reproduce_the_regression(options, sample_weight):
    forest = ObliqueForestRegressor(**{**FEW, **options}).fit(X, Y, sample_weight=sample_weight)
    weights = forest_weights(forest, X, Y, NEW, sample_weight=sample_weight)
    assert weights.shape == (N_NEW, N)
    assert (weights.data > 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(weights @ Y, forest.predict(NEW), rtol=0, atol=1e-12)
    slow = slow_weights(forest, X, NEW, sample_weight)
    np.testing.assert_allclose(weights.toarray(), slow, rtol=0, atol=1e-13)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"no": 3.0}, "balanced_subsample"])
def test_weights_reproduce_class_probabilities(class_weight):
    forest = ObliqueForestClassifier(class_weight=class_weight, min_samples_leaf=5, **FEW)
    forest.fit(X, LABELS, sample_weight=WEIGHTS)
    weights = forest_weights(forest, X, LABELS, NEW, sample_weight=WEIGHTS)
    shares = weights @ (LABELS[:, None] == forest.classes_)
    np.testing.assert_allclose(shares, forest.predict_proba(NEW), rtol=0, atol=1e-6)


def test_weights_of_bags_balanced_by_class_are_the_formula():
    forest = ObliqueForestClassifier(class_weight="balanced_subsample", min_samples_leaf=5, **FEW)
    forest.fit(X, LABELS, sample_weight=WEIGHTS)
    weights = forest_weights(forest, X, LABELS, NEW, sample_weight=WEIGHTS)
    slow = slow_weights(forest, X, NEW, WEIGHTS, LABELS)
    np.testing.assert_allclose(weights.toarray(), slow, rtol=0, atol=1e-13)


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample"])
def test_weights_of_several_outputs_reproduce_their_class_probabilities(class_weight):
    labels = np.column_stack([np.digitize(Y, [-0.5, 0.5]), X[:, 1] > 0.8])
    forest = ObliqueForestClassifier(class_weight=class_weight, min_samples_leaf=5, **FEW)
    forest.fit(X, labels, sample_weight=WEIGHTS)
    weights = forest_weights(forest, X, labels, NEW, sample_weight=WEIGHTS)
    for k, probabilities in enumerate(forest.predict_proba(NEW)):
        shares = weights @ (labels[:, k][:, None] == forest.classes_[k])
        np.testing.assert_allclose(shares, probabilities, rtol=0, atol=1e-6)


def test_weights_handle_missing_values_and_nominal_columns():
    for rows, new in ((HOLES, HOLES[:9]), (frame(X), frame(NEW))):
        forest = ObliqueForestRegressor(**FEW).fit(rows, Y)
        weights = forest_weights(forest, rows, Y, new)
        np.testing.assert_allclose(weights @ Y, forest.predict(new), rtol=0, atol=1e-12)


def test_weights_of_a_constant_target_are_known():
    forest = ObliqueForestRegressor(**FEW).fit(X, np.ones(N))
    np.testing.assert_allclose(forest_weights(forest, X, np.ones(N), NEW).sum(axis=1), 1.0)


def test_weights_of_a_slim_a_loaded_and_a_mapped_forest_are_the_same(tmp_path):
    forest = ObliqueForestRegressor(**FEW).fit(X, Y)
    expected = forest_weights(forest, X, Y, NEW)
    forest.slim().save(tmp_path / "m.bevel")
    for each in (forest, *(bevel.load(tmp_path / "m.bevel", mmap=m) for m in (False, True))):
        assert (forest_weights(each, X, Y, NEW) != expected).nnz == 0


def test_weights_do_not_depend_on_threads_or_blocks(monkeypatch):
    new = np.repeat(NEW, 40, axis=0)
    forest = ObliqueForestRegressor(40, random_state=0, n_jobs=1).fit(X, Y)
    one = forest_weights(forest, X, Y, new)
    three = forest_weights(forest.set_params(n_jobs=3), X, Y, new)
    monkeypatch.setattr("bevel.forest.quantiles.BLOCK_SIZE", 7 * 40)
    blocks = forest_weights(forest, X, Y, new)
    for other in (three, blocks):
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_out_of_bag_weights_give_out_of_bag_predictions():
    forest = ObliqueForestRegressor(oob_score=True, **{**FEW, "n_estimators": 40}).fit(X, Y)
    weights = forest_weights(forest, X, Y)
    np.testing.assert_allclose(weights @ Y, forest.oob_prediction_, rtol=0, atol=1e-9)
    assert (weights.diagonal() == 0).all()


def test_a_row_in_every_bag_has_no_out_of_bag_weights():
    forest = ObliqueForestRegressor(2, random_state=0).fit(X, Y)
    weights = forest_weights(forest, X, Y)
    inside = np.all(
        [forest.fitted_forest_.provenance.bags.counts(tree) > 0 for tree in range(2)], axis=0
    )
    assert inside.any()
    np.testing.assert_array_equal(np.diff(weights.indptr) == 0, inside)


def test_weights_of_a_bag_whose_rows_weigh_nothing_come_from_all_rows_that_do():
    weight = np.zeros(N)
    weight[[3, 50]] = [1.0, 2.0]
    forest = ObliqueForestRegressor(60, random_state=0).fit(X, Y, sample_weight=weight)
    bags = forest.fitted_forest_.provenance.bags
    assert any(bags.counts(tree)[[3, 50]].sum() == 0 for tree in range(60))
    weights = forest_weights(forest, X, Y, NEW, sample_weight=weight)
    np.testing.assert_allclose(weights @ Y, forest.predict(NEW), rtol=0, atol=1e-12)


@pytest.mark.parametrize("made", [ObliqueForestRegressor, ObliqueForestClassifier])
def test_weights_other_than_those_of_the_fit_are_refused(made):
    y = Y if made is ObliqueForestRegressor else LABELS
    forest = made(min_samples_leaf=5, **FEW).fit(X, y, sample_weight=WEIGHTS)
    with pytest.raises(ValueError, match="needs the rows, targets and weights of the fit"):
        forest_weights(forest, X, y, NEW)


def test_trees_chosen_by_prune_trees_are_refused():
    forest = ObliqueForestRegressor(**FEW).fit(X, Y).prune_trees(5, X, Y)
    with pytest.raises(ValueError, match=r"forest_weights needs a forest whose bags can be drawn"):
        forest_weights(forest, X, Y, NEW)


def test_out_of_bag_weights_without_bags_are_refused():
    forest = ObliqueForestRegressor(bootstrap=False, **FEW).fit(X, Y)
    with pytest.raises(ValueError, match="without bags"):
        forest_weights(forest, X, Y)


def test_voting_points_are_those_of_weight_above_zero_heaviest_first():
    weights = sp.csr_matrix([[0.25, 0.0, 0.5, 0.25], [1.0, 0.0, 0.0, 0.0]])
    points = voting_points(weights)
    assert points.rows.tolist() == [2, 0, 3]
    assert points.weights.tolist() == [0.5, 0.25, 0.25]
    assert points.effective_number == pytest.approx(1 / 0.375)
    assert str(points).startswith("3 voting points, worth 2.7 of equal weight\n")
    assert len(voting_points(weights, -1)) == 1
    with pytest.raises(ValueError, match="row must be an integer from 0 to 1; got 2"):
        voting_points(weights, 2)
    with pytest.raises(TypeError, match="Call forest_weights first"):
        voting_points(weights.toarray())


def slow_potential_neighbours(points, target, k):
    """Proposition 1, literally."""
    near = []
    for i, corner in enumerate(points):
        low, high = np.minimum(corner, target), np.maximum(corner, target)
        inside = ((low <= points) & (points <= high)).all(axis=1)
        near.append(inside[np.arange(len(points)) != i].sum() < k)
    return np.array(near)


def axis_forest(points, **options):
    settings = {"projection": "axis", "scale": None, "bootstrap": False, "random_state": 0}
    y = np.random.default_rng(1).normal(size=len(points))
    return ObliqueForestRegressor(20, **{**settings, **options}).fit(points, y), y


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_potential_neighbours_are_those_of_proposition_1(d, k, ties):
    rng = np.random.default_rng([d, k])
    points = rng.integers(0, 5, (60, d)).astype(float) if ties else rng.normal(size=(60, d))
    targets = np.concatenate((points[:3], rng.normal(size=(5, d)), rng.integers(0, 5, (4, d))))
    points, targets = points.astype(np.float32), targets.astype(np.float32)
    forest, _ = axis_forest(points)
    near = potential_neighbours(forest, points, targets, k).toarray()
    for row, target in zip(near, targets, strict=True):
        np.testing.assert_array_equal(row, slow_potential_neighbours(points, target, k))


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize(
    "options",
    [{}, {"threshold": "random"}, {"n_projections": 1}, {"scale": "rank"}],
    ids=str,
)
def test_voting_points_are_potential_neighbours_by_proposition_2(options, k):
    points = np.random.default_rng(0).random((150, 3))
    targets = np.random.default_rng(1).random((30, 3))
    forest, y = axis_forest(points, min_samples_split=k + 1, **options)
    votes = forest_weights(forest, points, y, targets)
    near = potential_neighbours(forest, points, targets, k)
    assert votes.multiply(near).nnz == votes.nnz
    # The claim is not empty: there are others, and fewer neighbours would not do.
    assert near.nnz < 30 * 150
    fewer = potential_neighbours(forest, points, targets, max(1, k // 3))
    assert k == 1 or votes.multiply(fewer).nnz < votes.nnz


def test_the_number_of_potential_neighbours_follows_theorem_1():
    """Of the origin among n uniform points: exactly sum of 1/i in the plane, for k = 1.

    Null: mean count is H_n. 60 samples of 200 points; false alarms one in a million (normal).
    """
    rng = np.random.default_rng(5)
    forest, _ = axis_forest(rng.random((200, 2)))
    counts = [
        potential_neighbours(forest, rng.random((200, 2)), [[0.0, 0.0]], 1).nnz for _ in range(60)
    ]
    harmonic = (1 / np.arange(1, 201)).sum()
    variance = ((1 / np.arange(1, 201)) * (1 - 1 / np.arange(1, 201))).sum()
    assert abs(np.mean(counts) - harmonic) < 4.9 * np.sqrt(variance / 60)


@pytest.mark.parametrize("projection", ["sparse", "rotation", P.Gaussian()], ids=str)
def test_potential_neighbours_of_oblique_forests_are_refused(projection):
    forest, _ = axis_forest(X, projection=projection)
    with pytest.raises(ValueError, match=r"hyperrectangles.*got oblique splits. Fit with proj"):
        potential_neighbours(forest, X, NEW, 2)


def test_potential_neighbours_of_nominal_columns_and_missing_values_are_refused():
    forest = ObliqueForestRegressor(projection="axis", **FEW).fit(frame(X), Y)
    with pytest.raises(ValueError, match="got splits of nominal columns by levels"):
        potential_neighbours(forest, frame(X), frame(NEW), 2)
    forest, _ = axis_forest(X)
    with pytest.raises(ValueError, match="X must be rows without missing values"):
        potential_neighbours(forest, X, HOLES, 2)
    with pytest.raises(ValueError, match="k must be an integer of at least 1; got 0"):
        potential_neighbours(forest, X, NEW, 0)
