"""Stacked rotations and rotated boosting against plain loops, and no row in two roles at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from bevel import (
    ObliqueForestClassifier,
    RotatedBoostingClassifier,
    RotatedBoostingRegressor,
    StackedRotationClassifier,
)

RNG = np.random.default_rng(11)
N = 60
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] > X[:, 1]).astype(int)
FOLD = np.arange(N) % 4  # the same folds, whatever the labels are


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the class of every row it has seen, and nothing of any other."""

    def fit(self, rows: Any, y: Any) -> Memory:
        self.classes_ = np.unique(y)
        self.seen_ = {row.tobytes(): label for row, label in zip(rows, y, strict=True)}
        return self

    def predict_proba(self, rows: Any) -> Any:
        shares = np.full((len(rows), len(self.classes_)), 1.0 / len(self.classes_))
        for i, row in enumerate(rows):
            label = self.seen_.get(row.tobytes())
            if label is not None:
                shares[i] = self.classes_ == label
        return shares

    def predict(self, rows: Any) -> Any:
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]


class Witness(ClassifierMixin, BaseEstimator):
    """Keeps what it was trained on; says the first class."""

    def fit(self, rows: Any, y: Any, sample_weight: Any = None) -> Witness:
        self.classes_ = np.unique(y)
        self.rows_, self.y_, self.sample_weight_ = rows.copy(), np.copy(y), sample_weight
        return self

    def predict(self, rows: Any) -> Any:
        return np.full(len(rows), self.classes_[0])


def level1_rows(rows: Any, y: Any, level0: Any, **parameters: Any) -> Any:
    """What level 1 is trained on, one column for each view."""
    settings = {"n_rotations": 3, "cv": PredefinedSplit(FOLD), "random_state": 0, "n_jobs": 1}
    stack = StackedRotationClassifier(level0, Witness(), **settings | parameters).fit(rows, y)
    assert stack.level1_.rows_.shape == (N, stack.n_rotations + 1)
    return stack.level1_.rows_


GRIDS = [None, {"extra": [1, 2]}]


class GriddedMemory(Memory):
    """With something to search."""

    def __init__(self, extra: int = 0) -> None:
        self.extra = extra


@pytest.mark.parametrize("param_grid", GRIDS)
@pytest.mark.parametrize("cv", [5, PredefinedSplit(FOLD), StratifiedKFold(3)])
def test_level1_never_gets_a_row_from_a_model_fitted_to_it(cv, param_grid):
    # A model that had seen a row would give its class away by a one.
    rows = level1_rows(X, Y, GriddedMemory(), cv=cv, param_grid=param_grid)
    assert np.all(rows == 0.5)


def test_order_of_the_rows_held_out_does_not_matter():
    pairs = list(PredefinedSplit(FOLD).split())
    mixed = [(train, RNG.permutation(held_out)) for train, held_out in pairs]
    expected = level1_rows(X, Y, GaussianNB(), cv=pairs)
    np.testing.assert_array_equal(level1_rows(X, Y, GaussianNB(), cv=mixed), expected)


def test_class_that_a_fold_lacks_has_no_probability_there():
    y = np.where(np.arange(N) == 5, 0, Y + 1)  # the first class has one row
    stack = StackedRotationClassifier(GaussianNB(), Witness(), n_rotations=1, random_state=0)
    stack.set_params(cv=PredefinedSplit(FOLD), scale=None).fit(X, y)
    heard = stack.level1_.rows_[5].reshape(2, 3)
    np.testing.assert_array_equal(heard[:, 0], 0.0)
    others = GaussianNB().fit(X[FOLD != 1].astype(np.float32), y[FOLD != 1])
    np.testing.assert_allclose(heard[0, 1:], others.predict_proba(X[[5]])[0], rtol=1e-4)


def test_models_of_the_end_have_seen_all_rows():
    stack = StackedRotationClassifier(Memory(), n_rotations=3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(stack.predict_level0(X).argmax(axis=2), Y[:, None].repeat(4, 1))


@pytest.mark.parametrize("scale", ["minmax", "quantile", "standard", "rank", None])
def test_input_of_level1_for_a_fold_does_not_depend_on_its_labels_or_other_rows(scale):
    before = level1_rows(X, Y, KNeighborsClassifier(7), scale=scale)
    held_out = FOLD == 2
    labels = np.where(held_out, 1 - Y, Y)
    after = level1_rows(X, labels, KNeighborsClassifier(7), scale=scale)
    np.testing.assert_array_equal(after[held_out], before[held_out])
    assert not np.array_equal(after[~held_out], before[~held_out])
    moved = X.copy()
    moved[2] = 1e3  # an outlier changes scales and medians, but not those of its own fold's models
    after = level1_rows(moved, Y, KNeighborsClassifier(7), scale=scale)
    others = held_out & (np.arange(N) != 2)
    np.testing.assert_array_equal(after[others], before[others])


def test_search_for_settings_uses_no_row_that_is_held_out():
    searched = {"param_grid": {"var_smoothing": [1e-9, 10.0]}, "n_rotations": 1}
    before = level1_rows(X, Y, GaussianNB(), **searched)
    held_out = FOLD == 1
    after = level1_rows(X, np.where(held_out, 1 - Y, Y), GaussianNB(), **searched)
    np.testing.assert_array_equal(after[held_out], before[held_out])


def scaled(train, rows):
    low, high = train.min(axis=0), train.max(axis=0)
    return (rows - low) / (high - low)


def naive_stack(rows, y, new, rotations, folds, level0, level1):
    """Probabilities of new rows by loops over folds and rotations, in float64."""
    classes = np.unique(y)
    heard = np.zeros((len(rows), len(rotations), len(classes)))
    told = np.zeros((len(new), len(rotations), len(classes)))
    for k, rotation in enumerate(rotations):
        for fold in np.unique(folds):
            train, test = rows[folds != fold], rows[folds == fold]
            model = clone(level0).fit(scaled(train, train) @ rotation, y[folds != fold])
            heard[folds == fold, k] = model.predict_proba(scaled(train, test) @ rotation)
        model = clone(level0).fit(scaled(rows, rows) @ rotation, y)
        told[:, k] = model.predict_proba(scaled(rows, new) @ rotation)
    if len(classes) == 2:
        heard, told = heard[:, :, 1], told[:, :, 1]
    combined = clone(level1).fit(heard.reshape(len(rows), -1), y)
    return combined.predict_proba(told.reshape(len(new), -1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stack_equals_the_plain_loop(n_classes):
    rows, y = load_wine(return_X_y=True)
    rows, y = rows[y < n_classes][:, :6], y[y < n_classes]
    level0, level1 = GaussianNB(), LogisticRegression(max_iter=1000, random_state=0)
    stack = StackedRotationClassifier(level0, level1, n_rotations=4, scale="minmax", n_jobs=2)
    stack.set_params(random_state=3).fit(rows[::2], np.array(["a", "b", "c"])[y[::2]])
    assert np.array_equal(stack.rotations_[0], np.eye(6))
    assert np.bincount(stack.fold_of_row_).min() == len(rows[::2]) // 5
    expected = naive_stack(
        rows[::2], y[::2], rows[1::2], stack.rotations_, stack.fold_of_row_, level0, level1
    )
    np.testing.assert_allclose(stack.predict_proba(rows[1::2]), expected, atol=2e-3)
    labels = np.array(["a", "b", "c"])[expected.argmax(axis=1)]
    np.testing.assert_array_equal(stack.predict(rows[1::2]), labels)


def test_settings_are_the_most_accurate_of_out_of_bag_rows():
    rows, y = load_iris(return_X_y=True)
    forest = ObliqueForestClassifier(20, projection="axis")
    grid = {"max_depth": [1, None], "min_samples_leaf": [1, 40]}
    stack = StackedRotationClassifier(forest, n_rotations=2, cv=2, param_grid=grid, random_state=0)
    stack.fit(rows, y)
    assert len(stack.level0_params_) == 3
    for k, (model, setting) in enumerate(zip(stack.level0_, stack.level0_params_, strict=True)):
        view = stack.rotations_[k]
        scores = {}
        for depth in grid["max_depth"]:
            for leaf in grid["min_samples_leaf"]:
                tried = clone(model).set_params(max_depth=depth, min_samples_leaf=leaf)
                seen = encoded(stack, rows) @ view if k else encoded(stack, rows)
                tried.set_params(oob_score=True).fit(seen.astype(np.float32), y)
                scores[depth, leaf] = tried.oob_score_
        chosen = scores[setting["max_depth"], setting["min_samples_leaf"]]
        assert chosen == max(scores.values())
        assert chosen > min(scores.values())
        assert model.get_params()["max_depth"] == setting["max_depth"]


def test_settings_are_evaluated_on_rows_outside_the_fit():
    # A third of the labels is wrong: who learns them by heart is right on rows it has seen alone.
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(150, 2))
    y = ((rows[:, 0] > 0) ^ (rng.random(150) < 1 / 3)).astype(int)
    grid = {"n_neighbors": [1, 31]}
    stack = StackedRotationClassifier(KNeighborsClassifier(), GaussianNB(), param_grid=grid)
    stack.set_params(n_rotations=3, random_state=0, n_jobs=1).fit(rows, y)
    assert stack.level0_params_ == [{"n_neighbors": 31}] * 4


def encoded(stack, rows):
    return stack._encoded(rows).astype(np.float64)


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_boosting_votes_as_the_plain_loop_does(voting):
    rows, y = load_iris(return_X_y=True)
    booster = GradientBoostingClassifier(n_estimators=5, max_depth=2)
    groups = RotatedBoostingClassifier(booster, n_groups=4, voting=voting, scale="minmax")
    groups.set_params(random_state=2, n_jobs=1).fit(rows[::2], y[::2])
    expected = np.zeros((75, 3))
    for model, rotation in zip(groups.boosters_, groups.rotations_, strict=True):
        train = np.float32(scaled(rows[::2], rows[::2]) @ rotation)
        test = np.float32(scaled(rows[::2], rows[1::2]) @ rotation)
        shares = clone(model).fit(train, y[::2]).predict_proba(test)
        expected += np.eye(3)[shares.argmax(axis=1)] if voting == "hard" else shares
    # Rounding may move a row that lies on a cut.
    differ = np.abs(groups.predict_proba(rows[1::2]) - expected / 4).max(axis=1) > 1e-9
    assert differ.mean() < 0.05
    assert not np.array_equal(groups.rotations_[0], np.eye(4))


class Ridge(RegressorMixin, BaseEstimator):
    """Least squares, which rotations do not change, for one feature after the other."""

    def fit(self, rows: Any, y: Any) -> Ridge:
        self.slope_ = (rows * (y - y.mean())[:, None]).mean(axis=0)
        self.mean_ = y.mean()
        return self

    def predict(self, rows: Any) -> Any:
        return self.mean_ + np.abs(rows) @ np.abs(self.slope_)


def test_boosting_averages_as_the_plain_loop_does():
    y = X[:, 0] ** 2
    groups = RotatedBoostingRegressor(Ridge(), n_groups=6, scale="minmax", random_state=1)
    groups.fit(X[:40], y[:40])
    answers = []
    for rotation in groups.rotations_:
        model = Ridge().fit(scaled(X[:40], X[:40]) @ rotation, y[:40])
        answers.append(model.predict(scaled(X[:40], X[40:]) @ rotation))
    np.testing.assert_allclose(groups.predict(X[40:]), np.mean(answers, axis=0), rtol=1e-5)
    assert np.std(answers, axis=0).min() > 1e-3


def small_stack(n_jobs):
    forest = ObliqueForestClassifier(10, projection="axis")
    return StackedRotationClassifier(forest, n_rotations=3, random_state=5, n_jobs=n_jobs)


def small_boosting(n_jobs):
    booster = GradientBoostingClassifier(n_estimators=4, subsample=0.7)
    return RotatedBoostingClassifier(booster, n_groups=6, random_state=5, n_jobs=n_jobs)


def small_regression(n_jobs):
    booster = GradientBoostingRegressor(n_estimators=4, subsample=0.7)
    return RotatedBoostingRegressor(booster, n_groups=6, random_state=5, n_jobs=n_jobs)


@pytest.mark.parametrize("make", [small_stack, small_boosting, small_regression])
def test_predictions_are_the_same_for_any_number_of_threads(make):
    question = "predict_proba" if make is not small_regression else "predict"
    answers = [getattr(make(n_jobs).fit(X, Y), question)(X) for n_jobs in (1, 3)]
    np.testing.assert_array_equal(answers[0], answers[1])
    model = make(1).fit(X, Y)
    one_by_one = np.concatenate([getattr(model, question)(X[i : i + 1]) for i in range(10)])
    np.testing.assert_array_equal(one_by_one, answers[0][:10])
