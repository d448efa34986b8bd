"""Save, then load: the same estimator, for everything that an estimator can be."""

import datetime
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from support.model_files import (
    classes,
    estimator_of,
    file_of,
    frame,
    numbers,
    small_models,
    target,
)

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.forest.predictor import PackedPredictor
from bevel.forest.task import Classification

FEW = {"n_estimators": 4, "random_state": 0, "n_jobs": 1}
WAYS = pytest.mark.parametrize("mapped", [False, True], ids=["load", "mmap"])
PROJECTIONS = [
    "axis",
    P.Axis(),
    P.SparseSigns(2.5),
    P.SparseSigns(np.float32(2)),
    P.RandomCombination(np.int64(3)),
    P.Gaussian("p**0.5"),
    P.RandomRotation(flip=True, max_features=3),
    P.RandomRotation(per="node"),
    P.MultiRotation(4),
    P.PrincipalRotation(2, share=0.5),
    P.Ridge(2, alphas=[0.1, 10], tune="gcv", record=True),
    P.LDA(2),
    P.Logistic(2, alpha=0.5, n_steps=3, record=True),
    P.PLS(2, 2),
    P.CCA(0.5, bootstrap=None),
    P.Patches((2, 2), max=(1, 2), wrap=True),
    P.Custom(np.eye(4, 3)),
    P.Custom(np.asfortranarray(np.arange(8.0, dtype=np.float32).reshape(4, 2))),
    P.Custom(sp.csc_array(np.eye(4, 2))),
    P.Custom(sp.csr_matrix(np.eye(4, 3))),
    [P.Axis(), ("sparse", "sqrt"), (P.Custom(sp.coo_array(np.eye(4))), 2)],
    ("axis", (P.SparseSigns(), 3)),
]
LABELS = {
    "bool": [False, True],
    "int8": np.array([-3, 4], np.int8),
    "uint64": np.array([1, 2**64 - 1], np.uint64),
    "big-endian": np.array([1, 70_000], ">i4"),
    "float32": np.array([0.0, 1.0], np.float32),
    "str": ["a", "längst"],
    "objects": np.array(["a", "\ud800"], dtype=object),
    "one": ["only"],
}


def same(one, other):
    """Whether two values are equal, down to their types and bits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        same_kind = one.dtype == other.dtype and one.shape == other.shape
        return same_kind and one.tolist() == other.tolist()
    if sp.issparse(one):
        alike = one.shape == other.shape and one.dtype == other.dtype
        return alike and one.format == other.format and not np.any((one != other).toarray())
    if isinstance(one, P.Custom):
        return same(one.sampler, other.sampler)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def assert_same_estimator(one, other, X):
    assert type(one) is type(other)
    mine, theirs = one.get_params(deep=False), other.get_params(deep=False)
    assert mine.keys() == theirs.keys()
    assert [name for name in mine if not same(mine[name], theirs[name])] == []
    assert np.array_equal(one.predict(X), other.predict(X))
    if hasattr(one, "classes_"):
        assert same(one.classes_, other.classes_)
        assert one.predict_proba(X).tobytes() == other.predict_proba(X).tobytes()
        assert one.predict(X).dtype == other.predict(X).dtype
    else:
        assert one.predict(X).tobytes() == other.predict(X).tobytes()
    assert_same_forest(one, other)


def assert_same_forest(one, other):
    mine, theirs = one.forest_.arrays(), other.forest_.arrays()
    mine |= {"levels": one.forest_.levels, "medians": one.forest_.medians}
    theirs |= {"levels": other.forest_.levels, "medians": other.forest_.medians}
    for name, array in mine.items():
        assert array.dtype == theirs[name].dtype, name
        assert array.tobytes() == theirs[name].tobytes(), name


def again(estimator, mapped=False):
    return estimator_of(file_of(estimator), mapped=mapped)


@WAYS
@pytest.mark.parametrize("name", small_models())
def test_small_models_are_the_same_after_a_journey(name, mapped, tmp_path):
    estimator, X = small_models()[name]
    path = tmp_path / "model.bevel"
    estimator.save(path)
    loaded = bevel.load(path, mmap=mapped)
    assert_same_estimator(estimator, loaded, X)
    assert np.array_equal(estimator.apply(X), loaded.apply(X))
    assert getattr(loaded, "oob_score_", None) == getattr(estimator, "oob_score_", None)
    assert not hasattr(loaded, "oob_decision_function_")
    assert loaded.verify() is loaded
    assert_same_estimator(estimator, loaded, X)


@pytest.mark.parametrize("name", small_models())
def test_saving_a_loaded_estimator_writes_the_same_bytes(name):
    source = file_of(small_models()[name][0])
    assert file_of(estimator_of(source)) == source
    assert file_of(estimator_of(source, mapped=True)) == source


@pytest.mark.parametrize("projection", PROJECTIONS, ids=str)
def test_every_projection_comes_back(projection):
    X = numbers(missing=0.1)
    estimator = ObliqueForestClassifier(projection=projection, **FEW).fit(X, classes())
    assert_same_estimator(estimator, again(estimator), X)


@pytest.mark.parametrize("scale", [None, *bevel.data.scaling.SCALES])
def test_every_scale_comes_back(scale):
    X = numbers(missing=0.1)
    estimator = ObliqueForestRegressor(scale=scale, **FEW).fit(X, target())
    assert_same_estimator(estimator, again(estimator), 3 * X)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_classes_of_every_type_come_back(labels):
    X = numbers()
    y = np.asarray(labels)[np.arange(len(X)) % len(labels)]
    estimator = ObliqueForestClassifier(**FEW).fit(X, y)
    assert_same_estimator(estimator, again(estimator), X)


@pytest.mark.parametrize(
    "labels",
    [
        ["x", 3, 2.5, b"y", True],
        [datetime.date(2024, 5, 31), datetime.date(2025, 1, 1)],
        [datetime.datetime(2024, 5, 31, 12, tzinfo=datetime.UTC), "never"],
        [np.int8(3), np.float64(0.1), np.str_("z"), np.datetime64("2024-05-31")],
        [float("inf"), -0.0, 1e-300],
        [10**50, -(10**50)],
    ],
    ids=str,
)
def test_levels_of_every_type_come_back(labels):
    column = np.empty(60, dtype=object)
    for row in range(60):
        column[row] = None if row % 11 == 0 else labels[row % len(labels)]
    X = np.column_stack([column, np.arange(60.0)])
    estimator = ObliqueForestClassifier(categorical_features=[0], **FEW).fit(X, classes())
    loaded = again(estimator)
    assert_same_estimator(estimator, loaded, X)
    mine, theirs = (
        estimator.fitted_forest_.encoding.nominal[0],
        loaded.fitted_forest_.encoding.nominal[0],
    )
    assert list(map(type, mine.labels)) == list(map(type, theirs.labels))
    assert mine.has_missing is theirs.has_missing is True


@WAYS
def test_frames_of_both_libraries_are_read_as_before(mapped):
    pandas = frame()
    columns = {name: [None if pd.isna(v) else v for v in pandas[name]] for name in pandas}
    polars = pl.DataFrame(columns)
    for X in (pandas.astype({"city": "category"}), polars):
        estimator = ObliqueForestClassifier(**FEW).fit(X, classes())
        loaded = again(estimator, mapped)
        assert loaded.feature_names_in_.tolist() == ["city", "floor", "x"]
        assert_same_estimator(estimator, loaded, X)
        with pytest.raises(ValueError, match="feature names"):
            loaded.predict(X[["floor", "city", "x"]])


def test_parameters_of_every_type_come_back():
    weights = {np.str_("no"): np.float32(2.5), "perhaps": 1, "yes": 0.5}
    settings = {
        "max_samples": np.float64(0.5),
        "min_samples_leaf": np.int16(2),
        "warm_start": np.bool_(True),
        "class_weight": weights,
        "categorical_features": np.array([False, True, False, False]),
        "random_state": np.int64(3),
        "verbose": False,
    }
    X = numbers()
    X[:, 1] = np.arange(len(X)) % 3
    estimator = ObliqueForestClassifier(n_estimators=np.int64(3), **settings).fit(X, classes())
    loaded = again(estimator)
    assert_same_estimator(estimator, loaded, X)
    assert type(next(iter(loaded.class_weight))) is np.str_
    assert type(loaded.class_weight["no"]) is np.float32
    named = ObliqueForestClassifier(categorical_features=np.array(["city"]), **FEW)
    assert same(
        again(named.fit(frame(), classes())).categorical_features, named.categorical_features
    )


@WAYS
@pytest.mark.parametrize("settings", [{"max_samples": 0.5}, {"max_samples": 40}, {}], ids=str)
def test_bags_are_drawn_again_after_a_journey(settings, mapped):
    X, y = numbers(), classes()
    estimator = ObliqueForestClassifier(n_estimators=8, random_state=0, **settings).fit(X, y)
    expected = estimator.prune_trees(3, X, y)
    assert same(
        again(estimator, mapped).prune_trees(3, X, y).predict_proba(X), expected.predict_proba(X)
    )
    loaded = again(estimator, mapped).fitted_forest_.provenance.bags
    assert same(loaded.rows_out(8), estimator.fitted_forest_.provenance.bags.rows_out(8))


def test_generators_and_functions_become_defaults_with_a_warning_that_names_them():
    settings = {
        "random_state": np.random.RandomState(0),
        "callback": lambda done, total: None,  # noqa: ARG005
        "oob_score": lambda y, p: float(np.mean(y == p)),
    }
    X = numbers()
    estimator = ObliqueForestClassifier(n_estimators=30, **settings).fit(X, classes())
    with pytest.warns(UserWarning, match=r"oob_score.*callback|callback.*oob_score") as caught:
        loaded = again(estimator)
    assert "random_state" in str(caught[0].message)
    assert (loaded.random_state, loaded.callback, loaded.oob_score) == (None, None, False)
    assert loaded.oob_score_ == estimator.oob_score_
    assert np.array_equal(loaded.predict_proba(X), estimator.predict_proba(X))


def test_warning_of_save_points_at_the_line_that_saves(tmp_path):
    estimator = ObliqueForestClassifier(n_estimators=2, random_state=np.random.RandomState(0))
    estimator.fit(numbers(), classes())
    with pytest.warns(UserWarning, match="random_state") as caught:
        estimator.save(tmp_path / "model.bevel")
    assert caught[0].filename == __file__


def rotate_pairs(rng, X, y, weight):  # noqa: ARG001
    return rng.normal(size=(X.shape[1], 2))


def test_custom_function_predicts_but_does_not_fit_again():
    X = numbers()
    estimator = ObliqueForestClassifier(projection=P.Custom(rotate_pairs), **FEW)
    loaded = again(estimator.fit(X, classes()))
    assert np.array_equal(loaded.predict_proba(X), estimator.predict_proba(X))
    twice = again(loaded)
    assert np.array_equal(twice.predict_proba(X), estimator.predict_proba(X))
    with pytest.raises(ValueError, match=r"needs the function of Custom.*rotate_pairs"):
        twice.fit(X, classes())


@pytest.mark.parametrize("name", ["sparse", "ranks", "nominal", "custom"])
def test_loaded_estimators_fit_again_as_the_original_does(name):
    estimator, X = small_models()[name]
    y = target() if name == "ranks" else classes()
    loaded = again(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few trees, no out-of-bag rows
        assert_same_forest(clone(estimator).fit(X, y), loaded.fit(X, y))


@WAYS
def test_warm_start_goes_on_where_the_file_stopped(mapped):
    X = numbers(missing=0.2)
    estimator = ObliqueForestClassifier(
        n_estimators=20, warm_start=True, oob_score=True, random_state=1
    )
    loaded = again(estimator.fit(X, classes()), mapped)
    for each in (estimator, loaded):
        each.set_params(n_estimators=24).fit(X, classes())
    assert estimator.oob_score_ == loaded.oob_score_
    assert_same_estimator(estimator, loaded, X)


@WAYS
def test_pickles_and_clones_of_loaded_estimators_work(mapped):
    estimator, X = small_models()["sparse"]
    loaded = again(estimator, mapped)
    assert_same_estimator(estimator, pickle.loads(pickle.dumps(loaded)), X)
    fresh = clone(loaded)
    assert fresh.get_params(deep=False).keys() == estimator.get_params(deep=False).keys()
    with pytest.raises(NotFittedError):
        fresh.predict(X)


@WAYS
@pytest.mark.parametrize("name", ["sparse", "ranks"])
def test_forests_without_what_analysis_needs_come_back(name, mapped):
    estimator, X = small_models()[name]
    slim = again(estimator)
    none = np.empty(0, np.float32)
    forest = replace(slim.forest_, gain=none, weight=none, entry_p_value=none)
    slim._fitted = replace(slim._fitted, predictor=PackedPredictor(forest))
    assert len(file_of(slim)) < len(file_of(estimator))
    loaded = again(slim, mapped)
    assert_same_estimator(slim, loaded, X)
    assert np.array_equal(loaded.predict(X), estimator.predict(X))


@WAYS
def test_predictors_for_servers_are_verified_first(mapped):
    estimator, X = small_models()["sparse"]
    answer = again(estimator, mapped).predictor_.predict_proba(X, np.empty((len(X), 3)))
    assert np.array_equal(answer, estimator.predict_proba(X))
    source = bytearray(file_of(estimator))
    source[-9] ^= 1  # in the last section
    if mapped:
        loaded = estimator_of(bytes(source), mapped=True)
        with pytest.raises(bevel.ModelFileError):
            loaded.predictor_  # noqa: B018


def test_forest_of_a_loaded_estimator_is_read_only():
    loaded = again(small_models()["sparse"][0])
    assert not any(array.flags.writeable for array in loaded.forest_.arrays().values())


def test_estimator_that_is_not_fitted_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        ObliqueForestClassifier().save(tmp_path / "model.bevel")
    assert list(tmp_path.iterdir()) == []


class Mine(ObliqueForestClassifier):
    pass


class Odd:
    def __eq__(self, other):
        return self is other

    def __lt__(self, other):
        return id(self) < id(other)

    def __hash__(self):
        return 1


def test_what_a_file_cannot_hold_is_refused_by_name(tmp_path):
    X, path = numbers(), tmp_path / "model.bevel"
    fitted = ObliqueForestClassifier(**FEW).fit(X, classes())
    odd = np.array([Odd(), Odd()], dtype=object)
    with pytest.raises(TypeError, match=r"to be saved.*got Mine"):
        Mine(**FEW).fit(X, classes()).save(path)
    weighted = again(fitted).set_params(class_weight={Odd(): 1})
    with pytest.raises(TypeError, match=r"class_weight must be made of.*Odd"):
        weighted.save(path)
    named = ObliqueForestClassifier(categorical_features=pd.Index(["city"]), **FEW)
    named.fit(frame(), classes())
    with pytest.raises(TypeError, match=r"categorical_features must be made of.*Index"):
        named.save(path)
    column = np.column_stack([odd[np.arange(60) % 2], np.arange(60)])
    with pytest.raises(TypeError, match="nominal column 0 must be numbers, strings"):
        ObliqueForestClassifier(categorical_features=[0], **FEW).fit(column, classes()).save(path)
    with pytest.raises(ValueError, match="n_estimators must be"):
        again(fitted).set_params(n_estimators=0).save(path)
    assert not path.exists()


def test_class_labels_that_a_file_cannot_hold_are_refused(tmp_path):
    X = numbers()
    estimator = ObliqueForestClassifier(**FEW).fit(X, classes())
    estimator._fitted = replace(estimator._fitted, task=Classification(np.array([1j, 2j, 3j])))
    with pytest.raises(TypeError, match="Class labels must be numbers, strings"):
        estimator.save(tmp_path / "model.bevel")
