"""`slim` and `prune_trees` of estimators."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, load
from bevel import projections as P
from bevel.errors import NoOutOfBagError

BOTH = pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 5))
y = (X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=200) > 0).astype(int)


def answers(fitted, rows):
    return getattr(fitted, "predict_proba", fitted.predict)(rows)


@BOTH
def test_slim_estimator_predicts_the_same_and_is_smaller(estimator):
    fitted = estimator(20, random_state=0).fit(X, y)
    before, leaves, size = answers(fitted, X), fitted.apply(X), len(pickle.dumps(fitted))
    assert fitted.slim() is fitted
    assert fitted.forest_.is_slim
    assert np.array_equal(answers(fitted, X), before)
    assert np.array_equal(fitted.apply(X), leaves)
    assert len(pickle.dumps(fitted)) < 0.9 * size
    assert fitted.decision_path(X[:3])[0].shape == (3, fitted.forest_.n_nodes)
    with pytest.raises(ValueError, match="feature_importances_ needs the gains"):
        _ = fitted.feature_importances_


@BOTH
def test_warm_start_after_slim_adds_trees_and_stays_slim(estimator):
    forest = partial(estimator, projection="sparse", random_state=0)
    whole = forest(12, oob_score=True).fit(X, y)
    slim = forest(6, warm_start=True).fit(X, y).slim()
    slim.set_params(n_estimators=12, oob_score=True).fit(X, y)
    assert slim.forest_.is_slim
    assert np.array_equal(answers(slim, X), answers(whole, X))
    assert slim.oob_score_ == whole.oob_score_


@BOTH
def test_pruned_forest_has_trees_of_the_whole_one_which_is_left_alone(estimator):
    whole = estimator(40, random_state=0, oob_score=True).fit(X, y)
    before = answers(whole, X)
    pruned = whole.prune_trees(10, X, y)
    assert (pruned.n_estimators, pruned.forest_.n_trees) == (10, 10)
    assert (whole.n_estimators, whole.forest_.n_trees) == (40, 40)
    assert np.array_equal(answers(whole, X), before)
    columns, kept = whole.apply(X).T.tolist(), pruned.apply(X).T.tolist()
    numbers = [columns.index(column) for column in kept]
    assert numbers == sorted(numbers)
    assert numbers != list(range(10))
    assert not hasattr(pruned, "oob_score_")
    assert hasattr(whole, "oob_score_")


@BOTH
def test_all_trees_may_stay(estimator):
    whole = estimator(15, random_state=0).fit(X, y)
    assert np.array_equal(answers(whole.prune_trees(15, X, y), X), answers(whole, X))


@BOTH
def test_choice_is_the_same_for_any_number_of_threads(estimator):
    forests = [
        estimator(40, random_state=0, n_jobs=n_jobs).fit(X, y).prune_trees(9, X, y)
        for n_jobs in (1, 2)
    ]
    assert np.array_equal(forests[0].apply(X), forests[1].apply(X))


@BOTH
def test_best_trees_beat_the_first_ones_on_new_rows(estimator):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(3000, 5))
    signal = rows[:, 0] + rows[:, 1] + 0.5 * rng.normal(size=3000) > 0
    # Trees of one random feature at each node differ much in quality, so a choice pays.
    whole = estimator(200, projection="axis", n_projections=1, max_depth=4, random_state=0)
    whole.fit(X, y)
    first = estimator(20, projection="axis", n_projections=1, max_depth=4, random_state=0)
    first.fit(X, y)
    errors = [
        np.mean((answers(fitted, rows).reshape(3000, -1)[:, -1] - signal) ** 2)
        for fitted in (whole.prune_trees(20, X, y), first)
    ]
    assert errors[0] < 0.95 * errors[1]


def test_labels_frames_categories_and_votes_are_read_as_in_fit():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "up", "down")})
    frame.loc[::7, "a"] = np.nan
    labels = np.where(y, "yes", "no")
    whole = ObliqueForestClassifier(30, voting="hard", random_state=0).fit(frame, labels)
    pruned = whole.prune_trees(8, frame, labels)
    assert set(pruned.predict(frame)) == {"yes", "no"}
    assert np.allclose(8 * pruned.predict_proba(frame), np.round(8 * pruned.predict_proba(frame)))


@BOTH
def test_pruned_and_slim_forests_are_pickled_and_pruned_from_slim_ones(estimator):
    whole = estimator(20, random_state=0).fit(X, y)
    expected = answers(whole.prune_trees(5, X, y), X)
    small = pickle.loads(pickle.dumps(whole.slim().prune_trees(5, X, y)))
    assert small.forest_.is_slim
    assert np.array_equal(answers(small, X), expected)


@BOTH
def test_pruned_forest_refuses_what_needs_all_trees(estimator):
    pruned = estimator(20, random_state=0, warm_start=True).fit(X, y).prune_trees(5, X, y)
    with pytest.raises(ValueError, match="bags can be drawn again; got trees chosen by prune"):
        pruned.prune_trees(2, X, y)
    with pytest.raises(ValueError, match=r"warm_start needs all trees of the seed.*prune last"):
        pruned.set_params(n_estimators=10).fit(X, y)
    again = pruned.set_params(warm_start=False, oob_score=True, n_estimators=30).fit(X, y)
    assert (again.forest_.n_trees, np.isfinite(again.oob_score_)) == (30, True)


@BOTH
@pytest.mark.parametrize("mmap", [False, True])
def test_pruned_and_slim_forests_are_saved_and_stay_marked_as_such(estimator, mmap, tmp_path):
    whole = estimator(20, random_state=0, warm_start=True).fit(X, y)
    whole.save(tmp_path / "whole.bevel")
    small = whole.prune_trees(5, X, y).slim()
    small.save(tmp_path / "small.bevel")
    loaded = load(tmp_path / "small.bevel", mmap=mmap)
    assert np.array_equal(answers(loaded, X), answers(small, X))
    assert loaded.forest_.is_slim
    with pytest.raises(ValueError, match="warm_start needs all trees"):
        loaded.set_params(n_estimators=10).fit(X, y)
    again = load(tmp_path / "whole.bevel", mmap=mmap).prune_trees(5, X, y).slim()
    assert np.array_equal(answers(again, X), answers(small, X))


@BOTH
@pytest.mark.parametrize("n_trees", [0, 11, -1])
def test_budget_out_of_range_is_refused(estimator, n_trees):
    fitted = estimator(10).fit(X, y)
    with pytest.raises(ValueError, match=f"an integer from 1 to the 10 trees.*got {n_trees}"):
        fitted.prune_trees(n_trees, X, y)


@pytest.mark.parametrize("n_trees", [2.0, True, "5", None])
def test_budget_that_is_no_integer_is_refused(n_trees):
    fitted = ObliqueForestClassifier(10).fit(X, y)
    with pytest.raises(TypeError, match="n_trees must be an integer from 1 to the 10"):
        fitted.prune_trees(n_trees, X, y)


@BOTH
def test_forests_without_out_of_bag_rows_are_refused(estimator):
    for options in ({"bootstrap": False}, {"replace": False, "max_samples": 1.0}):
        fitted = estimator(10, **options).fit(X, y)
        with pytest.raises(NoOutOfBagError, match="without bags, or with bags of all rows"):
            fitted.prune_trees(5, X, y)
    tuned = estimator(10, projection=P.Ridge(tune="oob")).fit(X, y)
    with pytest.raises(NoOutOfBagError, match=r"no tree has learned from; got Ridge.*gcv"):
        tuned.prune_trees(5, X, y)


def test_other_targets_are_refused():
    fitted = ObliqueForestClassifier(10, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"classes of the fit \(\[0, 1\]\); got \[1, 2\]"):
        fitted.prune_trees(5, X, y + 1)
    with pytest.raises(ValueError, match="in the order of the fit"):
        fitted.prune_trees(5, X, 1 - y)
    with pytest.raises(ValueError, match="y must have one value for each of the 200 rows"):
        fitted.prune_trees(5, X, y[:-1])


def test_unfitted_estimators_say_so():
    with pytest.raises(NotFittedError):
        ObliqueForestClassifier().slim()
    with pytest.raises(NotFittedError):
        ObliqueForestClassifier().prune_trees(5, X, y)
