"""Stages, labels, folds without refitting and regression of stacked rotations, by plain loops."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from bevel import StackedRotationClassifier, StackedRotationRegressor
from bevel.estimators.rotated.stacking import Folds

RNG = np.random.default_rng(5)
N = 80
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] > X[:, 1]).astype(int)
FOLD = np.arange(N) % 4


class Labels:
    """What a plain loop needs of a task."""

    def __init__(self, n_classes: int, labels: bool = False) -> None:
        self.n_classes, self.labels = n_classes, labels

    def spoken(self, model: Any, rows: np.ndarray) -> np.ndarray:
        if not self.n_classes:
            return model.predict(rows)[:, None]
        if self.labels:
            return np.eye(self.n_classes)[model.predict(rows)]
        return model.predict_proba(rows)

    def columns(self, passed: np.ndarray) -> np.ndarray:
        chosen = passed[:, :, 1:] if self.n_classes == 2 else passed
        return chosen.reshape(len(passed), -1)


def naive_stages(rows, y, new, stack, level0, level1, task):
    """Prediction of new rows: a stage for some rows calls itself for fewer of them."""
    turns = [stack.rotations_, *stack.stage_rotations_]
    folds = stack.fold_of_row_

    def scaled(train, some):
        low, high = rows[train].min(axis=0), rows[train].max(axis=0)
        return (some - low) / (high - low)

    def speak(stage: int, train: np.ndarray, some: np.ndarray) -> np.ndarray:
        """What the views of a stage, fitted on `train`, pass on for other rows."""
        if stage == 0:
            learned, asked, learner = scaled(train, rows[train]), scaled(train, some), level0
        else:
            learned = heard(stage, train)
            asked = task.columns(speak(stage - 1, train, some))
            learner = level1
        said = []
        for turn in turns[stage]:
            model = clone(learner).fit(learned @ turn, y[train])
            said.append(task.spoken(model, asked @ turn))
        return np.stack(said, axis=1)

    def heard(stage: int, train: np.ndarray) -> np.ndarray:
        """What a stage learns from: each row as models below say that have not seen it."""
        parts = {}
        for fold in np.unique(folds[train]):
            others, own = train[folds[train] != fold], train[folds[train] == fold]
            said = task.columns(speak(stage - 1, others, rows[own]))
            parts |= dict(zip(own.tolist(), said, strict=True))
        return np.array([parts[row] for row in train.tolist()])

    everyone = np.arange(len(rows))
    last = len(turns)
    model = clone(level1).fit(heard(last, everyone), y)
    return task.spoken(model, task.columns(speak(last - 1, everyone, new)))


@pytest.mark.parametrize(("n_classes", "n_stages"), [(2, 2), (2, 3), (2, 4), (3, 2), (3, 3)])
def test_stages_equal_a_plain_recursion(n_classes: int, n_stages: int) -> None:
    rows, y = load_wine(return_X_y=True)
    rows, y = rows[y < n_classes][:, :5], y[y < n_classes]
    level0, level1 = GaussianNB(), LogisticRegression(max_iter=2000, random_state=0)
    stack = StackedRotationClassifier(level0, level1, n_rotations=1, cv=4, n_stages=n_stages)
    stack.set_params(scale="minmax", random_state=3, n_jobs=1).fit(rows[::2], y[::2])
    assert len(stack.stage_rotations_) == n_stages - 2
    task = Labels(n_classes)
    expected = naive_stages(rows[::2], y[::2], rows[1::2], stack, level0, level1, task)
    np.testing.assert_allclose(stack.predict_proba(rows[1::2]), expected, atol=3e-3)


def test_labels_are_passed_on_as_indicators() -> None:
    rows, y = load_wine(return_X_y=True)
    level0, level1 = GaussianNB(), LogisticRegression(max_iter=2000, random_state=0)
    stack = StackedRotationClassifier(level0, level1, n_rotations=2, cv=3, passes="labels")
    stack.set_params(scale="minmax", random_state=3, n_jobs=1).fit(rows[::2, :5], y[::2])
    assert set(np.unique(stack.predict_level0(rows[1::2, :5]))) == {0.0, 1.0}
    task = Labels(3, labels=True)
    new = rows[1::2, :5]
    expected = naive_stages(rows[::2, :5], y[::2], new, stack, level0, level1, task)
    # The task is asked for labels; rows between two classes may round to the other one.
    agree = stack.predict(new) == expected.argmax(axis=1)
    assert agree.mean() > 0.97


@pytest.mark.parametrize("n_stages", [2, 3])
def test_regression_equals_a_plain_recursion(n_stages: int) -> None:
    rows, y = load_diabetes(return_X_y=True)
    rows, y = rows[:200, :4], y[:200]
    level0, level1 = KNeighborsRegressor(15), Ridge()
    stack = StackedRotationRegressor(level0, level1, n_rotations=2, cv=4, n_stages=n_stages)
    stack.set_params(scale="minmax", random_state=3, n_jobs=1).fit(rows[::2], y[::2])
    expected = naive_stages(rows[::2], y[::2], rows[1::2], stack, level0, level1, Labels(0))
    found = stack.predict(rows[1::2])
    # Neighbours at nearly equal distances may change places in float32.
    assert np.quantile(np.abs(found - expected[:, 0]), 0.8) < 1.0
    assert np.corrcoef(found, expected[:, 0])[0, 1] > 0.99


def test_models_of_folds_are_averaged_without_refitting() -> None:
    level0, level1 = GaussianNB(), LogisticRegression(random_state=0)
    stack = StackedRotationClassifier(level0, level1, n_rotations=2, refit=False, scale=None)
    stack.set_params(cv=PredefinedSplit(FOLD), random_state=0, n_jobs=1).fit(X, Y)
    assert [len(models) for models in stack.level0_] == [4] * 3
    new = RNG.normal(size=(10, 3))
    for view, turn in enumerate(stack.rotations_):
        said = [
            GaussianNB().fit(X[fold != FOLD] @ turn, Y[fold != FOLD]).predict_proba(new @ turn)
            for fold in range(4)
        ]
        found = stack.predict_level0(new)[:, view]
        np.testing.assert_allclose(found, np.mean(said, axis=0), atol=1e-4)
    one_by_one = np.concatenate([stack.predict_proba(new[i : i + 1]) for i in range(10)])
    np.testing.assert_array_equal(one_by_one, stack.predict_proba(new))


class Counter(ClassifierMixin, BaseEstimator):
    """Counts its fits, all copies together."""

    n_fits = 0

    def fit(self, rows: Any, y: Any) -> Counter:  # noqa: ARG002
        Counter.n_fits += 1
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, rows: Any) -> Any:
        return np.full((len(rows), len(self.classes_)), 1.0 / len(self.classes_))

    def predict(self, rows: Any) -> Any:
        return self.classes_[np.zeros(len(rows), int)]


def test_evaluation_by_f_folds_fits_f_squared_models() -> None:
    """Blaser 3.3.1: F(F − 1) of level 0 and F of level 1, with one view."""
    F = 5
    Counter.n_fits = 0
    for fold in range(F):
        train = np.arange(N) % F != fold
        stack = StackedRotationClassifier(Counter(), Counter(), n_rotations=0, refit=False)
        stack.set_params(cv=F - 1, n_jobs=1, random_state=0).fit(X[train], Y[train])
    assert Counter.n_fits == F**2


@pytest.mark.parametrize("n_stages", [2, 3, 4])
def test_number_of_models_is_as_documented_and_reported(n_stages: int) -> None:
    seen: list[tuple[int, int]] = []
    Counter.n_fits = 0
    stack = StackedRotationClassifier(Counter(), Counter(), n_rotations=2, n_stages=n_stages, cv=4)
    stack.set_params(callback=lambda *n: seen.append(n), n_jobs=1, random_state=0).fit(X, Y)
    depth = n_stages - 1
    subsets = sum(comb(4, k) for stage in range(depth) for k in range(depth - stage + 1))
    assert Counter.n_fits == 3 * subsets + 1
    assert seen[-1] == (Counter.n_fits, Counter.n_fits)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the class of every row it has seen, and nothing of any other; passes rows' keys on."""

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


def test_input_of_later_stages_does_not_depend_on_labels_of_the_fold() -> None:
    """In three stages, what the last hears of a fold is free of its labels, in all stages."""

    class Witness(ClassifierMixin, BaseEstimator):
        def fit(self, rows: Any, y: Any) -> Any:
            self.classes_, self.rows_ = np.unique(y), rows.copy()
            self.inner_ = GaussianNB().fit(rows, y)
            return self

        def predict_proba(self, rows: Any) -> Any:
            return self.inner_.predict_proba(rows)

        def predict(self, rows: Any) -> Any:
            return self.inner_.predict(rows)

    def heard(y: np.ndarray) -> np.ndarray:
        stack = StackedRotationClassifier(GaussianNB(), Witness(), n_rotations=1, n_stages=3)
        stack.set_params(cv=PredefinedSplit(FOLD), random_state=0, n_jobs=1).fit(X, y)
        return stack.level1_.rows_

    before, after = heard(Y), heard(np.where(FOLD == 2, 1 - Y, Y))
    np.testing.assert_array_equal(before[FOLD == 2], after[FOLD == 2])
    assert not np.array_equal(before[FOLD != 2], after[FOLD != 2])


def test_folds_left_out_are_single_ones_none_and_pairs() -> None:
    splits = [(np.flatnonzero(f != FOLD), np.flatnonzero(f == FOLD)) for f in range(4)]
    folds = Folds(splits, N)
    assert folds.left_out(0) == [()]
    assert folds.left_out(2) == [(0,), (1,), (2,), (3,), (), *combinations(range(4), 2)]
    np.testing.assert_array_equal(folds.learned((1, 3)), np.flatnonzero(FOLD % 2 == 0))
    np.testing.assert_array_equal(folds.held_out((1, 3)), np.flatnonzero(FOLD % 2 == 1))


def test_settings_of_a_regression_are_chosen_by_squared_error() -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(120, 2))
    y = rows[:, 0] + rng.normal(size=120)
    grid = {"n_neighbors": [1, 25]}
    stack = StackedRotationRegressor(KNeighborsRegressor(), Ridge(), param_grid=grid, cv=3)
    stack.set_params(n_rotations=1, random_state=0, n_jobs=1).fit(rows, y)
    assert stack.level0_params_ == [{"n_neighbors": 25}] * 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_stages": 1}, r"^n_stages must be an integer of at least 2|^n_stages must be"),
        ({"n_stages": 3, "refit": False}, r"^refit must be True with n_stages above 2"),
        ({"n_stages": 4, "cv": 3}, r"^cv must be at least 4 folds for 4 stages, as 3 of them"),
        ({"passes": "votes"}, r'^passes must be "probabilities" or "labels"; got '),
    ],
)
def test_impossible_stages_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StackedRotationClassifier(GaussianNB(), GaussianNB(), **given).fit(X, Y)
