"""What ensembles of rotations promise: any learner, nominal and missing values, clear refusals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, PredefinedSplit, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bevel import (
    ObliqueForestClassifier,
    RotatedBoostingClassifier,
    RotatedBoostingRegressor,
    StackedRotationClassifier,
    presets,
)

RNG = np.random.default_rng(2)
N = 90
X = RNG.normal(size=(N, 3))
Y = np.array(["no", "yes"])[(X[:, 0] + X[:, 1] > 0).astype(int)]
TREE = DecisionTreeClassifier(max_depth=3)
REGRESSION_TREE = DecisionTreeRegressor(max_depth=3)


def stack(level0: Any = TREE, level1: Any = TREE, **parameters: Any) -> Any:
    settings = {"n_rotations": 2, "cv": 3, "random_state": 0, "n_jobs": 1}
    return StackedRotationClassifier(level0, level1, **settings | parameters)


def boosting(booster: Any = TREE, **parameters: Any) -> Any:
    return RotatedBoostingClassifier(booster, **{"n_groups": 3, "random_state": 0} | parameters)


def regression(booster: Any = REGRESSION_TREE, **parameters: Any) -> Any:
    return RotatedBoostingRegressor(booster, **{"n_groups": 3, "random_state": 0} | parameters)


CLASSIFIERS = pytest.mark.parametrize("make", [stack, boosting])
ALL = pytest.mark.parametrize("make", [stack, boosting, regression])


def target(make: Any) -> Any:
    return X[:, 0] * 2.0 if make is regression else Y


@pytest.mark.parametrize(
    "learner",
    [
        ObliqueForestClassifier(5),
        RandomForestClassifier(5),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 5]}, cv=2),
    ],
    ids=lambda learner: type(learner).__name__,
)
@CLASSIFIERS
def test_any_classifier_serves(make, learner):
    model = make(learner).fit(X, Y)
    assert model.score(X, Y) > 0.8
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_xgboost_serves_with_labels_of_any_kind():
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.XGBClassifier(n_estimators=5, max_depth=2)
    labels = np.where(Y == "no", "no", np.where(X[:, 2] > 0, "yes", "very"))
    labels[0] = "once"  # a class that some folds lack, at which xgboost balks
    for model in (boosting(booster), stack(booster)):
        assert model.fit(X, labels).score(X, labels) > 0.7


@ALL
def test_seed_decides_and_rotations_have_a_seed_of_their_own(make):
    y = target(make)

    def answers(**seeds):
        model = make(**seeds).fit(X, y)
        return model.rotations_, model.predict_level0(X) if make is stack else model.predict(X)

    rotations, first = answers(random_state=1)
    same_rotations, second = answers(random_state=1)
    np.testing.assert_array_equal(rotations, same_rotations)
    np.testing.assert_array_equal(first, second)
    other_rotations, other = answers(random_state=2)
    assert not np.array_equal(rotations, other_rotations)
    assert not np.array_equal(first, other)
    fixed = [answers(random_state=seed, rotation_state=9)[0] for seed in (1, 2)]
    np.testing.assert_array_equal(*fixed)
    assert not np.array_equal(fixed[0], rotations)


def test_rotation_seed_leaves_the_folds_alone_and_the_reverse():
    folds = [stack(random_state=1, rotation_state=s).fit(X, Y).fold_of_row_ for s in (3, 4)]
    np.testing.assert_array_equal(*folds)
    other = stack(random_state=2, rotation_state=3).fit(X, Y).fold_of_row_
    assert not np.array_equal(folds[0], other)


@ALL
def test_pickle_predicts_alike_and_clone_is_unfitted(make):
    model = make().fit(X, target(make))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


@ALL
def test_save_says_to_pickle(make, tmp_path):
    path = tmp_path / "model.bevel"
    with pytest.raises(TypeError, match=r"save writes forests only; got .*Use pickle or joblib"):
        make().fit(X, target(make)).save(path)
    assert not path.exists()


def mixed_rows(rows: Any) -> pd.DataFrame:
    town = pd.Categorical(np.array(["x", "y", "z"])[np.arange(len(rows)) % 3])
    frame = pd.DataFrame({"a": rows[:, 0], "town": town, "b": rows[:, 1]})
    frame.loc[::7, "a"] = np.nan
    frame.loc[::11, "town"] = None
    return frame


@pytest.mark.parametrize(
    "learner",
    [
        ObliqueForestClassifier(5),
        HistGradientBoostingClassifier(max_iter=2, learning_rate=1.0),
        TREE,
    ],
    ids=lambda learner: type(learner).__name__,
)
@CLASSIFIERS
def test_nominal_columns_are_never_rotated_and_missing_values_welcome(make, learner):
    frame = mixed_rows(X)
    # Only the town tells the class: rotated, or taken for a number, it would not.
    labels = np.where(frame["town"] == "y", "in", "out")
    model = make(learner, n_jobs=2).fit(frame, labels)
    assert model.rotations_.shape[1:] == (2, 2)
    assert model.score(frame, labels) > 0.95
    new = frame.iloc[:3].assign(town=pd.Categorical(["never", "y", None]))
    assert model.predict(new)[1] == "in"


def test_learners_get_nominal_columns_where_they_take_them():
    model = stack(ObliqueForestClassifier(5)).fit(mixed_rows(X), Y)
    assert [forest.categorical_features for forest in model.level0_] == [[1]] * 3
    assert stack(TREE).fit(mixed_rows(X), Y).level0_[1].n_features_in_ == 2 + 3  # missing counts
    plain = stack(ObliqueForestClassifier(5, categorical_features=[0])).fit(X, Y)
    assert plain.level0_[0].categorical_features is None


@ALL
def test_frames_of_any_library_give_the_same_model(make):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = make().fit(frame, target(make))
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    for other in (pl.from_pandas(frame), frame):
        again = make().fit(other, target(make))
        np.testing.assert_array_equal(model.predict(frame), again.predict(other))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c"]])


@ALL
def test_one_feature_one_class_or_a_constant_target_are_learned(make):
    y = target(make)
    assert len(make().fit(X[:, :1], y).predict(X[:, :1])) == N
    alike = np.full(N, 2.0 if make is regression else "no")
    np.testing.assert_array_equal(make().fit(X, alike).predict(X), alike)


def test_class_of_a_single_row_does_not_stop_learners_that_need_two():
    y = np.array([0] * 89 + [1])
    model = stack(LogisticRegression(), LogisticRegression()).fit(X, y)
    assert list(model.classes_) == [0, 1]
    assert model.predict_proba(X).shape == (N, 2)


@ALL
def test_weights_reach_the_learners(make):
    weights = np.where(X[:, 0] > 0, 1.0, 1e-9)
    y = target(make)
    weighted = make().fit(X, y, sample_weight=weights).predict(X)
    assert not np.array_equal(weighted, make().fit(X, y).predict(X))
    np.testing.assert_array_equal(
        make().fit(X, y, sample_weight=np.full(N, 1.0)).predict(X), make().fit(X, y).predict(X)
    )


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (stack(KNeighborsClassifier()), "level0"),
        (stack(TREE, KNeighborsClassifier()), "level1"),
        (boosting(KNeighborsClassifier()), "booster"),
        (regression(KNeighborsRegressor()), "booster"),
    ],
)
def test_weights_that_a_learner_would_ignore_are_refused(model, name):
    y = X[:, 0] if isinstance(model, RotatedBoostingRegressor) else Y
    with pytest.raises(TypeError, match=rf"sample_weight needs learners.* as {name}\. Leave"):
        model.fit(X, y, sample_weight=np.ones(N))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (stack("forest"), "level0 must be a classifier of scikit-learn's kind; got 'forest'"),
        (stack(DecisionTreeClassifier), "level0 must be a classifier"),
        (stack(LinearRegression()), "level0 must be a classifier"),
        (stack(LinearSVC()), "level0 must be a classifier with predict_proba"),
        (stack(TREE, LinearRegression()), "level1 must be a classifier"),
        (boosting(GradientBoostingRegressor()), "booster must be a classifier"),
        (boosting(LinearSVC(), voting="soft"), "booster must be a classifier with predict_proba"),
        (regression(GradientBoostingClassifier()), "booster must be a regressor"),
        (stack(n_rotations=-1), "n_rotations must be an integer of at least 0; got -1"),
        (stack(cv=1), "cv must be an integer of at least 2, a splitter .*; got 1"),
        (stack(cv=200), r"cv must be at most the number of rows of X \(n_samples=90\); got 200"),
        (stack(cv="five"), "cv must be an integer of at least 2.*got 'five'"),
        (stack(cv=ShuffleSplit(2)), "cv must hold out each of the 90 rows once; got 18"),
        (stack(cv=[(np.arange(90), np.arange(90))]), "got row 0 on both sides of a split"),
        (
            stack(cv=PredefinedSplit(np.where(np.arange(N) < 5, -1, 0))),
            "hold out each of the 90 rows once; got 85 held-out rows",
        ),
        (boosting(n_groups=0), "n_groups must be an integer of at least 1; got 0"),
        (boosting(voting="loud"), 'voting must be "soft" or "hard"; got'),
        (regression(scale="none"), "scale must be"),
        (stack(flip=1), "flip must be a bool; got 1"),
        (stack(categorical_features=[0, 1, 2]), "X must have a numeric feature to rotate; got 3"),
        (
            stack(DecisionTreeClassifier(class_weight={"no": 2, "yes": 1})),
            "level0's class_weight must be no dict of labels",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*a different label in every row")
def test_what_makes_no_sense_is_refused(model, message):
    y = X[:, 0] if isinstance(model, RotatedBoostingRegressor) else Y
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(X, y)
    assert not model.__sklearn_is_fitted__()


def test_learner_of_level1_without_probabilities_gives_classes_only():
    model = stack(TREE, RidgeClassifier()).fit(X, Y)
    assert model.score(X, Y) > 0.8
    assert not hasattr(model, "predict_proba")


def test_settings_without_bags_are_chosen_by_cross_validation():
    forest = ExtraTreesClassifier(4)  # has oob_score, but no bags to use it
    model = stack(forest, param_grid=[{"max_depth": [1, 5]}, {"max_features": [1]}]).fit(X, Y)
    assert {"max_depth": 1} not in model.level0_params_
    assert all(params in [{"max_depth": 5}, {"max_features": 1}] for params in model.level0_params_)


@ALL
def test_progress_reaches_the_callback_and_the_bar(make, capsys):
    seen: list[tuple[int, int]] = []
    model = make(callback=lambda *counts: seen.append(counts), verbose=1).fit(X, target(make))
    total = 3 * 4 + 1 if make is stack else 3  # views × (folds + 1) and level 1; groups
    assert seen == [(done, total) for done in range(1, total + 1)]
    assert "fitting models" in capsys.readouterr().err
    assert model.predict(X).shape == (N,)


def test_no_rotation_at_all_stacks_the_plain_view():
    model = stack(n_rotations=0).fit(X, Y)
    np.testing.assert_array_equal(model.rotations_, np.eye(3)[None])
    assert model.predict_level0(X).shape == (N, 1, 2)


def test_rotations_help_where_the_boundary_is_oblique():
    # A stump cuts along an axis; rotated stumps cut in all directions.
    stump = DecisionTreeClassifier(max_depth=1)
    rows = RNG.uniform(-1.0, 1.0, size=(600, 2))
    y = rows[:, 0] + rows[:, 1] > 0
    rotated = stack(stump, ObliqueForestClassifier(50), n_rotations=20).fit(rows[:300], y[:300])
    plain = stack(stump, ObliqueForestClassifier(50), n_rotations=0).fit(rows[:300], y[:300])
    assert rotated.score(rows[300:], y[300:]) > plain.score(rows[300:], y[300:]) + 0.1
    groups = boosting(stump, n_groups=30).fit(rows[:300], y[:300])
    assert groups.score(rows[300:], y[300:]) > plain.score(rows[300:], y[300:]) + 0.1


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_preset_on_one_row_predicts_its_target(task):
    model = presets.rr_gbm(task=task, n_groups=2).fit(X[:1], [3])
    assert model.predict(X).tolist() == [3] * N


@ALL
def test_class_of_weight_zero_is_known_and_never_predicted(make):
    if make is regression:
        pytest.skip("has no classes")
    labels = np.arange(N) % 3
    model = make().fit(X, labels, (labels != 1).astype(float))
    shares = model.predict_proba(X)
    assert model.classes_.tolist() == [0, 1, 2]
    assert (shares[:, 1] == 0).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(N))
    assert set(model.predict(X)) == {0, 2}


def test_rows_of_weight_zero_are_as_good_as_absent_to_boosters_that_draw_rows():
    weights = np.zeros(N)
    weights[5] = 2.0
    model = presets.rr_gbm(task="regression", n_groups=2).fit(X, X[:, 0], weights)
    assert model.predict(X).tolist() == [X[5, 0]] * N


def test_fold_without_a_row_of_weight_raises():
    weights = np.zeros(N)
    weights[5] = 2.0
    with pytest.raises(ValueError, match=r"got a fold with \d+ training rows of weight zero. Use"):
        stack().fit(X, Y, weights)
