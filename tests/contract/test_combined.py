"""The classifier and the regressor that combine a forest and boosting."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import bevel
from bevel import (
    ModelFileError,
    NoOutOfBagError,
    ObliqueClassifier,
    ObliqueRegressor,
    analysis,
)
from bevel.estimators.registry import KINDS
from bevel.files.layout import read_layout, write_layout
from bevel.files.model import summarise

RNG = np.random.default_rng(0)
N = 240
X = pd.DataFrame(RNG.normal(size=(N, 4)), columns=list("abcd"))
X["level"] = pd.Categorical(RNG.choice(["x", "y", "z"], N))
X.loc[::9, "b"] = np.nan
SIGNAL = (X["a"] + (X["level"] == "x") + 0.5 * RNG.normal(size=N)).to_numpy()
LABELS = np.where(SIGNAL > 0.3, "yes", "no")
FITS = {
    "classes": (ObliqueClassifier(quality=1, random_state=0), LABELS),
    "numbers": (ObliqueRegressor(quality=1, random_state=0), SIGNAL),
}
MODELS = {kind: model.fit(X, y) for kind, (model, y) in FITS.items()}


def predictions(model, rows=X):
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)


@pytest.fixture(params=["classes", "numbers"])
def kind(request):
    return request.param


@pytest.fixture
def model(kind):
    return MODELS[kind]


def test_predictions_are_the_same_for_any_number_of_threads(kind, model):
    unfitted, y = FITS[kind]
    for n_jobs in (1, 2):
        again = clone(unfitted).set_params(n_jobs=n_jobs).fit(X, y)
        assert np.array_equal(predictions(again), predictions(model))
        assert str(again.members_) == str(model.members_)


@pytest.mark.parametrize("mmap", [False, True])
def test_saved_model_predicts_the_same(model, tmp_path, mmap):
    path = tmp_path / "model.bevel"
    model.save(path)
    loaded = bevel.load(path, mmap=mmap)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert np.array_equal(predictions(loaded), predictions(model))
    assert np.array_equal(predictions(loaded, X[:1]), predictions(model, X[:1]))
    assert str(loaded.members_) == str(model.members_)
    assert np.array_equal(loaded.weights_, model.weights_)
    assert np.array_equal(loaded.feature_importances_, model.feature_importances_)
    assert list(loaded.feature_names_in_) == list(model.feature_names_in_)
    if hasattr(model, "predict_interval"):
        assert np.array_equal(loaded.predict_interval(X), model.predict_interval(X))
    loaded.verify().save(tmp_path / "again.bevel")
    assert (tmp_path / "again.bevel").read_bytes() == path.read_bytes()


def test_every_damaged_byte_is_refused_or_harmless(model, tmp_path):
    path = tmp_path / "model.bevel"
    model.save(path)
    contents = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(contents), 60):
        damaged = bytearray(contents)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            bevel.load(path)


def test_summary_of_a_file_tells_the_members(model, tmp_path):
    model.save(tmp_path / "model.bevel")
    for verify in (False, True):
        summary = summarise(tmp_path / "model.bevel", KINDS, verify)
        assert [each["member"] for each in summary["members"]["members"]] == ["forest", "boosting"]
        assert summary["n_trees"] == model.members_.n_trees.sum()
        assert summary["parameters"] == {"quality": 1, "random_state": 0}


@pytest.mark.parametrize("how", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_predict_the_same(model, how):
    assert np.array_equal(predictions(how(model)), predictions(model))


def test_members_are_printed_as_a_table(model):
    text = str(model.members_)
    assert text.splitlines()[0].split()[0] == "member"
    assert "together" in text
    assert "48 rows that neither member was fitted on" in text
    assert "<table>" in model.members_._repr_html_()
    assert list(model.members_.to_pandas().index) == ["forest", "boosting"]


def test_importances_are_the_weighted_mean_of_those_of_the_members(model):
    parts = [each.feature_importances_ for each in model.estimators_]
    expected = np.average(parts, axis=0, weights=model.weights_)
    assert np.allclose(model.feature_importances_, expected, rtol=0, atol=1e-12)


def test_few_rows_leave_the_shares_of_small_tables(kind):
    unfitted, y = FITS[kind]
    model = clone(unfitted).fit(X[:60], y[:60])
    assert np.allclose(model.weights_, [0.7, 0.3] if kind == "classes" else [0.5, 0.5])
    assert "the weights are fixed" in str(model.members_)
    assert model.members_.as_dict()["loss"] is None


def test_intervals_cover_new_rows_and_need_held_out_rows():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(3000, 3))
    y = rows[:, 0] + rng.normal(size=3000)
    model = ObliqueRegressor(quality=1, random_state=0).fit(rows[:1000], y[:1000])
    low, high = model.predict_interval(rows[1000:], coverage=0.8).T
    inside = np.mean((low <= y[1000:]) & (y[1000:] <= high))
    assert 0.7 < inside < 0.9
    few = ObliqueRegressor(quality=1, random_state=0).fit(rows[:50], y[:50])
    with pytest.raises(ValueError, match="fewer than 100 rows"):
        few.predict_interval(rows[:2])


@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_a_few_rows_are_fitted_without_a_warning(kind, n_rows):
    unfitted, y = FITS[kind]
    model = clone(unfitted).fit(X[:n_rows], y[:n_rows])
    assert np.isfinite(predictions(model)).all()


def test_constant_target_leaves_equal_shares():
    model = ObliqueRegressor(quality=1, random_state=0).fit(X, np.full(N, 3.0))
    assert model.weights_.tolist() == [0.5, 0.5]
    assert (model.predict(X) == 3.0).all()


def test_one_class_has_probability_one():
    model = ObliqueClassifier(quality=1, random_state=0).fit(X, np.full(N, "only"))
    assert model.predict_proba(X[:3]).tolist() == [[1.0]] * 3


def test_monotone_constraints_hold():
    model = ObliqueRegressor(quality=1, monotonic_cst={"a": 1}, random_state=0).fit(X, SIGNAL)
    steps = [model.predict(X[:20].assign(a=value)) for value in np.linspace(-2, 2, 15)]
    assert (np.diff(steps, axis=0) >= 0).all()


def test_several_outputs_are_refused_with_what_to_use():
    with pytest.raises(ValueError, match="Several outputs are for ObliqueForestClassifier"):
        ObliqueClassifier(quality=1).fit(X, np.column_stack([LABELS, LABELS]))
    with pytest.raises(ValueError, match="times with events for ObliqueSurvivalForest"):
        ObliqueRegressor(quality=1).fit(X, (np.abs(SIGNAL), SIGNAL > 0.0))


def test_scanned_table_is_refused_with_what_to_use(tmp_path):
    X.assign(y=SIGNAL).to_csv(tmp_path / "rows.csv", index=False)
    scanned = bevel.scan(tmp_path / "rows.csv", target="y")
    with pytest.raises(ValueError, match="Fit ObliqueForestRegressor or ObliqueBoostingRegressor"):
        ObliqueRegressor(quality=1).fit(scanned, None)


def test_warm_start_is_no_parameter():
    with pytest.raises(TypeError, match="no parameter 'warm_start'"):
        ObliqueClassifier(warm_start=True)


@pytest.mark.parametrize("quality", [0, 6, 2.5, "high"])
def test_wrong_quality_is_refused(quality):
    with pytest.raises((TypeError, ValueError), match="quality must be an integer"):
        ObliqueRegressor(quality=quality).fit(X, SIGNAL)


def test_interrupted_fit_leaves_the_earlier_model(model, kind):
    calls = []

    def stop(_done, total):
        calls.append(total)
        if len(set(calls)) > 1:  # in the second stage
            raise KeyboardInterrupt

    again = copy.deepcopy(model)
    with pytest.raises(KeyboardInterrupt, match="as it was before"):
        again.set_params(callback=stop, quality=2).fit(X, FITS[kind][1])
    assert np.array_equal(predictions(again), predictions(model))


# Analysis: what adds up to the prediction is exact, what needs a single forest says what to use.


def test_shapley_values_and_effects_of_a_regression_are_those_of_the_weighted_mean():
    model, rows = MODELS["numbers"], X.iloc[:12]
    values = analysis.shapley_values(model, rows, X, random_state=0)
    assert np.allclose(values.predictions, model.predict(rows), rtol=0, atol=1e-9)
    path = analysis.shapley_values(model, rows, feature_perturbation="tree_path_dependent")
    assert np.allclose(path.predictions, model.predict(rows), rtol=0, atol=1e-9)

    expected = 0.0
    for weight, each in zip(model.weights_, model.estimators_, strict=True):
        own = analysis.shapley_values(each, rows, feature_perturbation="tree_path_dependent")
        expected = expected + weight * own.values
    assert np.allclose(path.values, expected, rtol=0, atol=1e-9)

    effect = analysis.partial_dependence(model, X, "a", values=[-1.0, 0.5])
    naive = [model.predict(X.assign(a=value)).mean() for value in (-1.0, 0.5)]
    assert np.allclose(effect.values, naive, rtol=0, atol=1e-9)


def test_shapley_values_of_a_classifier_are_refused_with_what_to_use():
    with pytest.raises(TypeError, match=r"model.estimators_\[0\]"):
        analysis.shapley_values(MODELS["classes"], X[:2], X)


def test_permutation_importance_is_the_rise_of_the_error_of_the_weighted_mean(kind, model):
    y = FITS[kind][1]
    found = analysis.importance(
        model, "permutation", X, y, out_of_bag=False, n_repeats=1, random_state=3
    )
    rng = np.random.default_rng(3)

    def error(rows):
        predicted = model.predict(rows)
        return np.mean(predicted != y) if kind == "classes" else np.mean((predicted - y) ** 2)

    for name, value in zip(found.names, found.values, strict=True):
        changed = X.copy()
        changed[name] = X[name].to_numpy()[rng.permutation(N)]
        assert np.isclose(value, error(changed) - error(X), rtol=0, atol=1e-12)
    assert np.isclose(found.error, error(X))
    with pytest.raises(NoOutOfBagError, match="out_of_bag=False"):
        analysis.importance(model, "permutation", X, y, out_of_bag=True)
    assert "in-bag" in str(analysis.importance(model, "permutation", X, y, n_repeats=1))


def test_gain_importance_is_that_of_the_attribute(model):
    found = analysis.importance(model)
    assert np.array_equal(found.values, model.feature_importances_)


def test_calibration_of_new_rows_reads_the_probabilities_of_the_weighted_mean():
    found = analysis.calibration(MODELS["classes"], X, LABELS, positive="yes", out_of_bag=False)
    assert found.row_kind == "grown on"
    predicted = MODELS["classes"].predict_proba(X)[:, 1]
    assert np.isclose(np.average(found.predicted, weights=found.n_rows), predicted.mean())
    with pytest.raises(NoOutOfBagError, match="members_"):
        analysis.calibration(MODELS["classes"], X, LABELS, out_of_bag=True)


def test_surrogate_tree_imitates_the_predictions(model):
    assert analysis.surrogate_tree(model, X).fidelity > 0.5


def test_rules_imitate_the_predictions_of_the_weighted_mean(model, kind):
    y = FITS[kind][1]
    found = analysis.rule_set(model, X, y, n=3)
    assert found.source == "imitation"
    assert "a forest and boosting together" in found.origin
    predicted = model.predict(X)
    inside = found.matches(X)
    first = np.where(inside.any(axis=1), inside.argmax(axis=1), len(found.rules))
    labels, counts = np.unique(y, return_counts=True)
    typical = labels[counts.argmax()] if kind == "classes" else np.mean(y)
    guesses = np.array([*(rule.prediction for rule in found.rules), typical])[first]
    if kind == "classes":
        expected = np.mean(guesses == predicted)
    else:
        expected = 1.0 - np.mean((guesses - predicted) ** 2) / np.var(predicted)
    assert np.isclose(found.fidelity, expected, rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="`estimators_` for the rules of their trees"):
        analysis.rule_set(model, X, y, source="forest")


@pytest.mark.parametrize("function", ["proximity", "out_of_bag_curve"])
def test_functions_of_single_forests_name_the_models_to_use(model, kind, function):
    with pytest.raises(TypeError, match="estimators_"):
        getattr(analysis, function)(model, X, FITS[kind][1])


@pytest.mark.parametrize("what", ["numbers", "classes", "clear classes"])
def test_onnx_model_predicts_as_python(what):
    onnxruntime = pytest.importorskip("onnxruntime")
    kind = "numbers" if what == "numbers" else "classes"
    model = MODELS[kind]
    if what == "clear classes":
        model = clone(model).fit(X, np.where(X["a"] + X["c"] > 0, "yes", "no"))
        assert model.estimators_[0].calibration_power_ != 1.0
    session = onnxruntime.InferenceSession(model.to_onnx(dtype="float64").SerializeToString())
    inputs = {
        name: X[name].astype(str).to_numpy(object).reshape(-1, 1)
        if name == "level"
        else X[[name]].to_numpy()
        for name in X
    }
    found = session.run(None, inputs)
    # The operator of trees adds up leaves in float32.
    assert np.allclose(found[-1], predictions(model), rtol=1e-6, atol=1e-8)
    if kind == "classes":
        assert np.array_equal(found[0], model.predict(X))


# quality, and a limit of time in its place.


def test_limit_of_time_gives_the_model_of_the_step_that_it_chooses(kind):
    y = FITS[kind][1]
    estimator = type(FITS[kind][0])
    long = estimator(time_limit=1e6, random_state=0).fit(X, y)
    assert long.quality_ == 5
    assert np.array_equal(predictions(long), predictions(estimator(5, random_state=0).fit(X, y)))
    with pytest.warns(UserWarning, match="quality 1 takes about"):
        short = estimator(time_limit=1e-6, random_state=0).fit(X, y)
    assert short.quality_ == 1
    assert np.array_equal(predictions(short), predictions(MODELS[kind]))


def test_limit_of_time_beside_quality_is_refused():
    with pytest.raises(ValueError, match="quality must be left out with time_limit"):
        ObliqueRegressor(quality=4, time_limit=10).fit(X, SIGNAL)


def test_quality_sets_the_number_of_trees_and_models(kind):
    record = MODELS[kind].members_
    assert record.quality == MODELS[kind].quality_ == 1
    assert record.n_trees[0] == 100
    more = clone(FITS[kind][0]).set_params(quality=4).fit(X, FITS[kind][1])
    assert more.members_.n_models.tolist() == [1, 3]
    assert more.members_.n_rows > record.n_rows


# Files whose checksums are right, and whose contents are not.


def _changed(path, change):
    layout = read_layout(path.read_bytes())
    header = json.loads(json.dumps(layout.header))
    arrays = {name: layout.view(name).copy() for name in layout.sections}
    change(header, arrays)
    path.write_bytes(b"".join(write_layout(header, arrays)))


def _swap_members(_header, arrays):
    arrays["member.0"], arrays["member.1"] = arrays["member.1"], arrays["member.0"]


def _too_small(header, _arrays):
    header["combination"]["weights"] = [0.5, 0.4]


def _negative(header, _arrays):
    header["combination"]["weights"] = [1.5, -0.5]


def _no_member(_header, arrays):
    del arrays["member.1"]


def _one_more(_header, arrays):
    arrays["member.2"] = arrays["member.0"]


def _itself(header, arrays):
    arrays["member.0"] = np.frombuffer(b"".join(write_layout(header, arrays)), np.uint8)


def _other_name(_header, arrays):
    inner = read_layout(arrays["member.0"].tobytes())
    parts = {name: inner.view(name) for name in inner.sections}
    changed = {**inner.header, "estimator": "ObliqueIsolationForest"}
    arrays["member.0"] = np.frombuffer(b"".join(write_layout(changed, parts)), np.uint8)


def _other_width(_header, arrays):
    inner = read_layout(arrays["member.0"].tobytes())
    parts = {name: inner.view(name) for name in inner.sections}
    changed = {**inner.header, "n_features": 3}
    arrays["member.0"] = np.frombuffer(b"".join(write_layout(changed, parts)), np.uint8)


def _not_bytes(_header, arrays):
    arrays["member.0"] = arrays["member.0"].astype(np.uint16)


def _infinite_loss(_header, arrays):
    arrays["members.losses"] = np.array([np.inf, 0.0])


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        *(_too_small, _negative, _no_member, _one_more, _itself),
        *(_other_name, _other_width, _not_bytes, _infinite_loss),
    ],
)
def test_file_with_other_contents_is_refused(model, tmp_path, change, mmap):
    model.save(tmp_path / "model.bevel")
    _changed(tmp_path / "model.bevel", change)
    with pytest.raises(ModelFileError):
        bevel.load(tmp_path / "model.bevel", mmap=mmap)


def test_order_of_members_in_a_file_is_free(model, tmp_path):
    model.save(tmp_path / "model.bevel")
    _changed(tmp_path / "model.bevel", _swap_members)
    loaded = bevel.load(tmp_path / "model.bevel")
    parts = [predictions(each) for each in model.estimators_[::-1]]
    expected = model.weights_[0] * parts[0] + model.weights_[1] * parts[1]
    assert np.array_equal(predictions(loaded), expected)


def test_members_are_weighed_on_groups_that_neither_has_seen():
    """Labels of half of the groups can only be recognised."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(60), 8)
    place = rng.normal(size=(60, 4))
    label = np.where(rng.random(60) < 0.5, place[:, 0] > 0, rng.random(60) < 0.5)[group]
    rows = place[group] + 0.2 * rng.normal(size=(480, 4))
    by_row = ObliqueClassifier(quality=1, random_state=0).fit(rows, label)
    each_alone = ObliqueClassifier(quality=1, random_state=0).fit(rows, label, groups=range(480))
    np.testing.assert_array_equal(by_row.predict_proba(rows), each_alone.predict_proba(rows))
    weights = np.where(group == 59, 0.0, 1.0)
    by_group = ObliqueClassifier(quality=1, random_state=0)
    by_group.fit(rows, label, weights, groups=group)
    assert by_group.members_.n_rows % 8 == 0
    assert min(by_group.members_.losses) > 2 * max(by_row.members_.losses)
    with pytest.raises(ValueError, match=r"groups must have shape \(480,\)"):
        by_group.fit(rows, label, groups=group[1:])
