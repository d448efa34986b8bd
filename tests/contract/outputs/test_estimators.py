"""Several outputs through the estimators: shapes, names, weights, files, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.utils.class_weight import compute_sample_weight

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.errors import ModelFileError

N = 120
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
NUMBERS = np.column_stack([X[:, 0] + X[:, 1], 50.0 * X[:, 2], RNG.normal(size=N)])
CLASSES = np.column_stack([NUMBERS[:, 0] > 0, np.digitize(NUMBERS[:, 1], [-25, 25])]).astype(int)
MIXED = pd.DataFrame({"sign": np.where(CLASSES[:, 0], "up", "down"), "size": CLASSES[:, 1]})
FEW = {"n_estimators": 10, "random_state": 0}


def regressor(**settings):
    return ObliqueForestRegressor(**FEW | {"projection": "sparse"} | settings)


def classifier(**settings):
    return ObliqueForestClassifier(**FEW | {"projection": "sparse"} | settings)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_outputs_have_the_names_of_the_columns_of_a_frame(kind):
    frame = MIXED if kind == "pandas" else pl.from_pandas(MIXED)
    frame = frame.to_arrow() if kind == "pyarrow" else frame
    forest = classifier().fit(X, frame)
    assert forest.output_names_ == ("sign", "size")
    assert [labels.tolist() for labels in forest.classes_] == [["down", "up"], [0, 1, 2]]
    assert forest.n_classes_ == [2, 3]
    assert forest.n_outputs_ == 2
    predicted = forest.predict(X)
    assert predicted.dtype == object
    assert set(predicted[:, 0]) == {"down", "up"}
    assert forest.score(X, frame) > 0.9
    np.testing.assert_array_equal(forest.output("size").predict(X), predicted[:, 1].astype(int))


def test_rows_of_mixed_labels_keep_their_types():
    rows = [(str(a), int(b)) for a, b in CLASSES]
    forest = classifier().fit(X, rows)
    assert forest.classes_[0].dtype.kind == "U"
    assert forest.classes_[1].dtype.kind == "i"
    same = classifier().fit(X, np.array(rows, dtype=object))
    np.testing.assert_array_equal(same.predict(X), forest.predict(X))


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_probabilities_are_a_list_and_sum_to_one(voting):
    forest = classifier(voting=voting).fit(X, CLASSES)
    shares = forest.predict_proba(X)
    assert [each.shape for each in shares] == [(N, 2), (N, 3)]
    for k, each in enumerate(shares):
        np.testing.assert_allclose(each.sum(axis=1), 1.0, atol=1e-6)
        best = forest.classes_[k][each.argmax(axis=1)]
        np.testing.assert_array_equal(forest.predict(X)[:, k], best)
        np.testing.assert_array_equal(forest.output(k).predict_proba(X), each)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(forest.predict_log_proba(X)[1], np.log(shares[1]))


def test_out_of_bag_estimates_have_a_column_for_each_output():
    forest = regressor(oob_score=True, n_estimators=30).fit(X, NUMBERS)
    assert forest.oob_prediction_.shape == NUMBERS.shape
    assert forest.oob_score_ == pytest.approx(r2_score(NUMBERS, forest.oob_prediction_))
    labels = classifier(oob_score=True, n_estimators=30).fit(X, CLASSES)
    assert [each.shape for each in labels.oob_decision_function_] == [(N, 2), (N, 3)]
    decided = np.column_stack([each.argmax(axis=1) for each in labels.oob_decision_function_])
    assert labels.oob_score_ == pytest.approx((decided == CLASSES).all(axis=1).mean())
    own = regressor(oob_score=lambda y, p: float(np.abs(y - p).max())).fit(X, NUMBERS)
    assert own.oob_score_ > 0.0


@pytest.mark.parametrize("projection", ["auto", "axis", "lda", "cca", "ridge", "pls", "rotation"])
def test_every_family_takes_several_outputs(projection):
    if projection == "rotation":
        projection = P.PrincipalRotation()
    if projection == "ridge":
        projection = P.Ridge(tune="gcv")
    settings = {"projection": projection, "n_estimators": 60 if projection == "auto" else 10}
    assert regressor(**settings).fit(X, NUMBERS[:, :2]).score(X, NUMBERS[:, :2]) > 0.5
    assert classifier(**settings).fit(X, CLASSES).score(X, CLASSES) > 0.7


def test_functions_of_custom_directions_see_all_outputs():
    seen = []

    def sampler(_rng, rows, y, _weight):
        seen.append(y.shape[1:])
        return np.eye(rows.shape[1])[:, :2]

    regressor(projection=P.Custom(sampler), n_jobs=1).fit(X, NUMBERS)
    assert set(seen) == {(3,)}


def test_several_threads_give_the_same_forest():
    one, many = (regressor(n_jobs=n, projection="auto").fit(X, NUMBERS) for n in (1, 3))
    np.testing.assert_array_equal(one.predict(X), many.predict(X))
    large, y = RNG.normal(size=(9000, 3)), RNG.normal(size=(9000, 2))
    deep = [regressor(n_jobs=n, n_estimators=2).fit(large, y).predict(large) for n in (1, 3)]
    np.testing.assert_array_equal(*deep)


@pytest.mark.parametrize("mmap", [False, True])
def test_files_and_pickles_give_the_same_predictions(tmp_path, mmap):
    for forest, y in (
        (regressor(), NUMBERS),
        (classifier(), MIXED),
        (classifier(voting="hard"), MIXED),
    ):
        forest.fit(X, y).save(tmp_path / "model.bevel")
        loaded = bevel.load(tmp_path / "model.bevel", mmap=mmap)
        assert loaded.output_names_ == forest.output_names_
        for other in (loaded, pickle.loads(pickle.dumps(forest))):
            np.testing.assert_array_equal(other.predict(X), forest.predict(X))
            np.testing.assert_array_equal(other.output(1).predict(X), forest.output(1).predict(X))
        if hasattr(forest, "classes_"):
            for one, other in zip(loaded.predict_proba(X), forest.predict_proba(X), strict=True):
                np.testing.assert_array_equal(one, other)
        assert clone(loaded).get_params() == clone(forest).get_params()


def test_damaged_bytes_of_files_of_several_outputs_are_refused(tmp_path):
    regressor(n_estimators=2, max_depth=3).fit(X, NUMBERS).save(tmp_path / "model.bevel")
    data = bytearray((tmp_path / "model.bevel").read_bytes())
    for place in range(len(data) - 400, len(data), 7):
        changed = bytearray(data)
        changed[place] ^= 0x41
        (tmp_path / "changed.bevel").write_bytes(changed)
        with pytest.raises(ModelFileError):
            bevel.load(tmp_path / "changed.bevel")


def test_warm_start_adds_the_trees_of_one_fit():
    for make, y in ((regressor, NUMBERS), (classifier, CLASSES)):
        grown = make(warm_start=True, n_estimators=4).fit(X, y)
        grown.set_params(n_estimators=10).fit(X, y)
        np.testing.assert_array_equal(grown.predict(X), make().fit(X, y).predict(X))
        with pytest.raises(ValueError, match="outputs"):
            grown.set_params(n_estimators=12).fit(X, y[:, 0])
        with pytest.raises(ValueError, match="outputs"):
            grown.fit(X, np.column_stack([y, y]))


def test_class_weights_are_multiplied_over_the_outputs():
    dicts = [{0: 1.0, 1: 2.0}, {0: 3.0, 1: 1.0, 2: 0.5}]
    for given in ("balanced", dicts):
        weights = compute_sample_weight(given, CLASSES)
        by_class = classifier(class_weight=given).fit(X, CLASSES)
        by_row = classifier().fit(X, CLASSES, sample_weight=weights)
        np.testing.assert_array_equal(by_class.predict_proba(X)[1], by_row.predict_proba(X)[1])


def test_quantiles_of_several_outputs_are_those_of_each():
    forest = regressor().fit(X, NUMBERS)
    found = forest.predict_quantiles(X[:5], [0.1, 0.9], X_train=X, y_train=NUMBERS)
    assert found.shape == (5, 3, 2)
    training = {"X_train": X, "y_train": NUMBERS[:, 2]}
    one = forest.output(2).predict_quantiles(X[:5], [0.1, 0.9], **training)
    np.testing.assert_array_equal(found[:, 2], one)
    assert forest.predict_interval(X[:5], X_train=X, y_train=NUMBERS).shape == (5, 3, 2)
    assert forest.predict_quantiles(X[:5], 0.5, X_train=X, y_train=NUMBERS).shape == (5, 3)
    with pytest.raises(ValueError, match="X_train and y_train"):
        forest.predict_quantiles(X[:5])


def test_importances_of_each_output_find_its_features():
    forest = regressor(projection="axis", n_estimators=30).fit(X, NUMBERS[:, :2])
    each = forest.output_importances_
    assert each.shape == (2, 4)
    np.testing.assert_allclose(each.sum(axis=1), 1.0)
    assert set(np.argsort(each[0])[-2:]) == {0, 1}
    assert each[1].argmax() == 2


def test_columns_with_missing_values_and_levels_are_taken():
    table = pd.DataFrame(X, columns=list("abcd")).where(RNG.random((N, 4)) > 0.2)
    table["level"] = pd.Categorical(np.array(["u", "v", "w"])[CLASSES[:, 1]])
    assert regressor().fit(table, NUMBERS).predict(table).shape == NUMBERS.shape
    assert classifier().fit(table, MIXED).score(table, MIXED) > 0.9


def test_one_column_is_one_target():
    with pytest.warns(DataConversionWarning):
        forest = regressor().fit(X, NUMBERS[:, :1])
    assert forest.predict(X).shape == (N,)
    assert forest.n_outputs_ == 1
    assert forest.output(0) is forest


def test_many_outputs_are_fitted():
    many = X @ RNG.normal(size=(4, 200)) + 0.1 * RNG.normal(size=(N, 200))
    assert regressor().fit(X, many).score(X, many) > 0.7


BAD = {
    "missing": (NUMBERS * np.where(np.arange(N) == 3, np.nan, 1.0)[:, None], "NaN"),
    "infinite": (np.where(NUMBERS[4, 1] == NUMBERS, np.inf, NUMBERS), 'Output "y1".*finite'),
    "ragged": ([[1.0, 2.0]] * (N - 1) + [[1.0]], "the same number of targets"),
    "text": (np.array([["a", "b"]] * N, dtype=object), "numbers"),
    "short": (NUMBERS[:-1], "one value for each"),
    "cube": (np.zeros((N, 2, 2)), "1d array"),
    "names": (pd.DataFrame(NUMBERS[:, :2], columns=["a", "a"]), "different names"),
}


@pytest.mark.parametrize(("y", "message"), BAD.values(), ids=BAD.keys())
def test_bad_targets_are_refused_with_what_is_wrong(y, message):
    with pytest.raises(ValueError, match=message):
        regressor().fit(X, y)


def test_outputs_of_one_class_are_refused_by_name():
    with pytest.raises(ValueError, match="one class in constant"):
        classifier().fit(X, MIXED.assign(constant=1))


BAD_SETTINGS = [
    (classifier(calibration="power"), CLASSES, "calibration"),
    (classifier(class_weight={0: 1.0}), CLASSES, "a list of 2 dicts"),
    (classifier(class_weight=[{0: 1.0}]), CLASSES, "a list of 2 dicts"),
    (regressor(keep_targets=True), NUMBERS, "keep_targets"),
]


@pytest.mark.parametrize(("estimator", "y", "message"), BAD_SETTINGS)
def test_settings_that_several_outputs_cannot_have_are_refused(estimator, y, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)


def test_unknown_outputs_are_refused():
    forest = regressor().fit(X, NUMBERS)
    for which, error in (("z", ValueError), (3, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="output must be"):
            forest.output(which)
