"""The survival forest: its forms of y, what it predicts, files, and what it refuses."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bevel
from bevel import ObliqueForestClassifier, ObliqueSurvivalForest, analysis
from bevel import projections as P
from bevel.datasets import proportional_hazards, weibull

SMALL: dict[str, Any] = {"n_estimators": 12, "random_state": 0}


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return weibull(150, 6, random_state=0)


@pytest.fixture(scope="module")
def forest(data: tuple) -> ObliqueSurvivalForest:
    return ObliqueSurvivalForest(**SMALL).fit(*data)


def same(one: ObliqueSurvivalForest, other: ObliqueSurvivalForest) -> bool:
    arrays = other.forest_.arrays()
    return all(np.array_equal(array, arrays[n]) for n, array in one.forest_.arrays().items())


def test_all_forms_of_y_give_the_same_forest(data: tuple, forest: ObliqueSurvivalForest) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y = data
    time, event = y["time"], y["event"]
    renamed = y.astype([("status", "?"), ("days", "f8")])
    forms = [
        (time, event),
        (list(time), event.astype(int)),
        renamed,
        pandas.DataFrame({"Time": time, "Event": event.astype(int)}),
        pandas.DataFrame({"dead": event, "days": time}),
        polars.DataFrame({"time": time, "event": event}),
    ]
    for form in forms:
        assert same(forest, ObliqueSurvivalForest(**SMALL).fit(X, form))
        assert ObliqueSurvivalForest(**SMALL).fit(X, form).score(X, form) == forest.score(X, y)


BAD_TARGETS = {
    "zero time": (([0.0, 1.0], [True, False]), "above 0"),
    "negative time": (([-1.0, 1.0], [True, False]), "above 0"),
    "missing time": (([np.nan, 1.0], [True, False]), "above 0"),
    "infinite time": (([np.inf, 1.0], [True, False]), "above 0"),
    "text time": ((["a", "b"], [True, False]), "must be numbers"),
    "boolean time": (([True, False], [True, False]), "must be numbers"),
    "no event": (([1.0, 2.0], [False, False]), "censored rows only"),
    "coded event": (([1.0, 2.0], [1, 2]), "True .seen."),
    "text event": (([1.0, 2.0], ["yes", "no"]), "True .seen."),
    "too few events": (([1.0, 2.0], [True]), "one event for each time"),
    "too few rows": (([1.0], [True]), "one value for each of the 2 rows"),
    "one array": (np.array([1.0, 2.0]), "y must be a structured array"),
    "matrix": (np.ones((2, 2)), "y must be a structured array"),
    "two numbers": (
        np.array([(1.0, 1.0), (2.0, 0.0)], dtype=[("t", "f8"), ("e", "f8")]),
        "one boolean field",
    ),
    "three fields": (
        np.array([(1.0, True, 1), (2.0, False, 2)], dtype=[("t", "f8"), ("e", "?"), ("k", "i4")]),
        "one boolean field",
    ),
    "none": (None, "y must be a structured array|requires y"),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_bad_target_says_what_to_do(case: str) -> None:
    y, message = BAD_TARGETS[case]
    with pytest.raises(ValueError, match=message):
        ObliqueSurvivalForest(2).fit(np.array([[1.0], [2.0]]), y)


def test_frame_without_a_boolean_column_names_its_columns() -> None:
    pandas = pytest.importorskip("pandas")
    y = pandas.DataFrame({"days": [1.0, 2.0], "status": [1, 0]})
    with pytest.raises(ValueError, match=r"one boolean column.*days.*status"):
        ObliqueSurvivalForest(2).fit([[1.0], [2.0]], y)


def test_one_row_is_one_leaf() -> None:
    forest = ObliqueSurvivalForest(3).fit([[1.0]], ([2.0], [True]))
    assert forest.event_times_.tolist() == [2.0]
    assert forest.predict([[5.0]]).tolist() == [1.0]
    found = forest.predict_survival_function([[1.0]], [1.0, 2.0], return_array=True)
    assert found.tolist() == [[1.0, 0.0]]
    assert forest.predict_median([[1.0]]).tolist() == [2.0]


def test_events_of_weight_zero_only_are_refused() -> None:
    with pytest.raises(ValueError, match="weight above 0"):
        ObliqueSurvivalForest(2).fit([[1.0], [2.0]], ([1.0, 2.0], [True, False]), [0.0, 1.0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"projection": "logistic"}, "able to learn times"),
        ({"projection": P.Ridge()}, "able to learn times"),
        ({"projection": P.Custom(lambda *_: np.eye(6))}, "able to learn times"),
        ({"criterion": "gini"}, "log_rank"),
        ({"split_search": "histogram"}, "log_rank_score"),
        ({"n_projections": 3}, "n_projections"),
    ],
)
def test_parameter_that_cannot_be_honoured_raises(
    data: tuple, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ObliqueSurvivalForest(2, **parameters).fit(*data)


def test_cox_in_a_classifier_is_refused() -> None:
    with pytest.raises(ValueError, match="ObliqueSurvivalForest"):
        ObliqueForestClassifier(2, projection="cox").fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(
    "projection",
    ["axis", "sparse", "cox", "lda", "pls", "rotation", "principal", P.Ridge(tune="gcv"), "auto"],
    ids=str,
)
def test_families_of_directions_find_the_risk(projection: Any) -> None:
    X, y = proportional_hazards(300, 6, random_state=0)
    forest = ObliqueSurvivalForest(25, projection=projection, oob_score=True, random_state=0)
    assert forest.fit(X, y).oob_score_ > 0.65


def test_curves_are_consistent(data: tuple, forest: ObliqueSurvivalForest) -> None:
    X, y = data
    survival = forest.predict_survival_function(X, return_array=True)
    hazard = forest.predict_cumulative_hazard_function(X, return_array=True)
    assert survival.shape == hazard.shape == (len(X), len(forest.event_times_))
    assert (np.diff(survival, axis=1) <= 1e-12).all()
    assert (np.diff(hazard, axis=1) >= -1e-12).all()
    assert ((survival >= -1e-12) & (survival <= 1.0)).all()
    np.testing.assert_allclose(hazard.sum(axis=1), forest.predict(X), rtol=1e-6)
    times = np.array([0.01, 0.5, 1.0, y["time"].max()])
    functions = forest.predict_survival_function(X[:3])
    exact = forest.predict_survival_function(X[:3], times, return_array=True)
    np.testing.assert_allclose([f(times) for f in functions], exact, atol=1e-12)
    median = forest.predict_median(X)
    pairs = zip(forest.predict_survival_function(X), median, strict=True)
    assert all(f(m) <= 0.5 + 1e-6 for f, m in pairs if np.isfinite(m))
    assert forest.score(X, y) > 0.8


def test_functions_refuse_times_at_which_they_are_not_known(
    data: tuple, forest: ObliqueSurvivalForest
) -> None:
    X, y = data
    last = float(y["time"].max())
    for predict in (forest.predict_survival_function, forest.predict_cumulative_hazard_function):
        function = predict(X[:1])[0]
        assert function.domain == (0.0, last)
        assert np.isfinite(function([0.0, last])).all()
        for outside in (-0.1, [0.5, 1.01 * last], np.nan, np.inf):
            with pytest.raises(ValueError, match=r"times must be from 0 to .*the curve is known"):
                function(outside)
        part = predict(X[:1], [0.5, 1.0])[0]
        assert part.domain == (0.5, 1.0)
        for outside in (0.4, 1.1):  # the curve jumps there, which the part does not show
            with pytest.raises(ValueError, match=r"times must be from 0\.5 to 1"):
                part(outside)


def test_times_beyond_those_of_the_training_rows_are_warned_of(
    data: tuple, forest: ObliqueSurvivalForest
) -> None:
    X, y = data
    last = float(y["time"].max())
    for predict in (forest.predict_survival_function, forest.predict_cumulative_hazard_function):
        with pytest.warns(UserWarning, match="Nothing is known beyond"):
            found = predict(X[:3], [last, 2.0 * last], return_array=True)
        np.testing.assert_array_equal(found[:, 0], found[:, 1])
        predict(X[:3], [1.0, last])
    with pytest.raises(ValueError, match="ascending"):
        forest.predict_survival_function(X, np.ma.array([1.0, 2.0], mask=[False, True]))


@pytest.mark.parametrize("times", [[2.0, 1.0], [-1.0], [np.nan], [], "abc", [[1.0]]])
def test_times_that_do_not_ascend_are_refused(forest: ObliqueSurvivalForest, times: Any) -> None:
    with pytest.raises(ValueError, match="ascending"):
        forest.predict_survival_function(np.zeros((1, 6)), times)


def test_files_and_pickles_predict_the_same(
    data: tuple, forest: ObliqueSurvivalForest, tmp_path: Path
) -> None:
    X, _ = data
    forest.save(tmp_path / "model.bevel")
    times = [0.5, 1.0]
    expected = forest.predict_survival_function(X, times, return_array=True)
    for other in (
        bevel.load(tmp_path / "model.bevel"),
        bevel.load(tmp_path / "model.bevel", mmap=True),
        pickle.loads(pickle.dumps(forest)),
    ):
        assert np.array_equal(other.predict(X), forest.predict(X))
        found = other.predict_survival_function(X, times, return_array=True)
        assert np.array_equal(found, expected)
        assert np.array_equal(other.event_times_, forest.event_times_)


def test_exports_give_the_risk(data: tuple, forest: ObliqueSurvivalForest) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    X, _ = data
    model = forest.to_onnx(dtype="float64").SerializeToString()
    (found,) = onnxruntime.InferenceSession(model).run(None, {"X": X})
    np.testing.assert_allclose(np.ravel(found), forest.predict(X), rtol=1e-5)
    assert "double" in forest.to_c()


def test_warm_start_adds_the_trees_of_one_fit(data: tuple, forest: ObliqueSurvivalForest) -> None:
    X, y = data
    grown = ObliqueSurvivalForest(5, random_state=0, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=12).fit(X, y)
    assert same(grown, forest)
    later = y.copy()
    later["time"] += 1.0
    with pytest.raises(ValueError, match="event times of the earlier fit"):
        grown.set_params(n_estimators=13).fit(X, later)


def test_whole_weights_count_rows_as_often(data: tuple) -> None:
    X, y = data
    weight = np.arange(len(X)) % 3
    one = {"bootstrap": False, "min_samples_leaf": 1, "min_samples_split": 2, "n_estimators": 3}
    weighted = ObliqueSurvivalForest(**one, projection="axis", scale=None)
    weighted.set_params(max_depth=3, random_state=0)  # without tied splits
    weighted.fit(X, y, weight.astype(float))
    repeated = clone(weighted).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)


def test_missing_values_and_levels_are_read() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = weibull(200, 5, random_state=0)
    X[::7, 0] = np.nan
    frame = pandas.DataFrame(X, columns=list("abcde"))
    frame["group"] = pandas.Categorical(np.where(X[:, 1] > 0, "high", "low"))
    forest = ObliqueSurvivalForest(20, oob_score=True, random_state=0).fit(frame, y)
    assert forest.oob_score_ > 0.6
    assert np.isfinite(forest.predict(frame)).all()


def test_it_works_with_the_tools_of_scikit_learn(data: tuple) -> None:
    X, y = data
    forest = ObliqueSurvivalForest(8, random_state=0)
    assert clone(forest).get_params() == forest.get_params()
    assert cross_val_score(make_pipeline(StandardScaler(), forest), X, y, cv=3).mean() > 0.5
    search = GridSearchCV(forest, {"min_samples_leaf": [3, 10]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.5


# What each function says of a survival forest: None if it has an answer, on the risk.
NEED_CLASSES_OR_NUMBERS = "classes or numbers|survival"
ANSWERS: dict[str, str | None] = {
    "accumulated_local_effects": None,
    "bias_and_variance": "y must hold",
    "calibration": "classes",
    "correlated_groups": None,
    "effect_along": None,
    "error_and_correlation": NEED_CLASSES_OR_NUMBERS,
    "forest_rules": None,
    "forest_weights": None,
    "importance": None,
    "importance_test": NEED_CLASSES_OR_NUMBERS,
    "interactions": None,
    "nearest_rows": NEED_CLASSES_OR_NUMBERS,
    "neighbour_survival": None,
    "out_of_bag_curve": NEED_CLASSES_OR_NUMBERS,
    "outlier_scores": NEED_CLASSES_OR_NUMBERS,
    "partial_dependence": None,
    "path_rules": None,
    "potential_neighbours": "hyperrectangles",
    "predict_standard_error": None,
    "principal_coordinates": NEED_CLASSES_OR_NUMBERS,
    "prototypes": "classifier",
    "proximity": NEED_CLASSES_OR_NUMBERS,
    "quantiles": "regressor",
    "refit_best_rotations": "MultiRotation",
    "risk_groups": None,
    "rule_set": NEED_CLASSES_OR_NUMBERS,
    "shapley_interactions": None,
    "shapley_values": None,
    "single_tree": None,
    "strength_and_correlation": "classes",
    "surrogate_tree": None,
    "survival_bands": None,
    "survival_calibration": None,
    "survival_scores": None,
    "top_rules": NEED_CLASSES_OR_NUMBERS,
    "tree_complexity": None,
    "tree_rules": None,
}


def functions_of_forests() -> set[str]:
    found = {name: getattr(analysis, name) for name in analysis.__all__}
    return {
        name
        for name, each in found.items()
        if inspect.isfunction(each)
        and next(iter(inspect.signature(each).parameters)) in ("forest", "estimator")
    }


def test_every_function_of_a_forest_is_walked_over() -> None:
    assert functions_of_forests() == set(ANSWERS)


def message_needs_y(name: str, wanted: Any) -> bool:
    """Whether what is refused is y, which is optional."""
    return ANSWERS[name] is not None and "y" in wanted and wanted["y"].default is None


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_analysis_of_a_survival_forest_answers_or_refuses(data: tuple, name: str) -> None:
    X, y = data
    forest = ObliqueSurvivalForest(6, projection=["sparse", "axis"], random_state=0).fit(X, y)
    given: dict[str, Any] = {
        "forest": forest,
        "estimator": forest,
        "X": X[:1] if name == "path_rules" else X,
        "y": y,
        "X_train": X,
        "y_train": y,
        "time": 1.0,
        "feature": 0,
        "features": [0],
        "direction": {"x0": 1.0, "x1": 1.0},
        "k": 3,
        "new": X[:2],
        "background": X[:20],
        "n_rotations": 2,
    }
    call = getattr(analysis, name)
    wanted = inspect.signature(call).parameters
    required = [k for k, each in wanted.items() if each.default is inspect.Parameter.empty]
    arguments = [given[key] for key in required if key in given]
    keywords = {"y": y} if message_needs_y(name, wanted) else {}
    if name == "shapley_values":
        keywords = {"background": X[:20]}
    message = ANSWERS[name]
    if message is None:
        assert call(*arguments, **keywords) is not None
    else:
        with pytest.raises((ValueError, TypeError), match=message):
            call(*arguments, **keywords)


def test_tools_that_fit_forests_refuse_survival(data: tuple) -> None:
    X, y = data
    forest = ObliqueSurvivalForest(4, random_state=0)
    for call in (
        lambda: bevel.tune(forest, X, y, budget=2),
        lambda: analysis.AllRelevantSelector(forest).fit(X, y),
        lambda: analysis.ProximityImputer(forest).fit(X, y),
        lambda: forest.fit(X, y).prune_trees(2, X, y),
    ):
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
        assert str(caught.value)
