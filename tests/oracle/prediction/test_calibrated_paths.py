"""Calibrated probabilities: every way to predict gives the mean shares raised to the same power."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from support.c_models import STRICT, CModels, needs_compiler

import bevel
from bevel import ObliqueForestClassifier
from bevel.analysis import calibration
from bevel.errors import NoOutOfBagError
from bevel.forest.calibration import POWERS, choose_power

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 5))
Y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] * X[:, 1] + 0.3 * X[:, 2], [-0.3, 0.3])]
SPARSE = {"projection": "sparse", "min_samples_leaf": 5, "random_state": 0, "n_jobs": 1}


def forest(power: float, **values):
    fitted = ObliqueForestClassifier(30, calibration=None, **(SPARSE | values)).fit(X, Y)
    aggregation = replace(fitted._fitted.aggregation, power=power)
    fitted._fitted = replace(fitted._fitted, aggregation=aggregation)
    return fitted


def raised(shares, power):
    if power == 1.0:
        return shares  # which are sums of float32
    powers = shares**power
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("power", POWERS)
def test_rows_blocks_and_files_have_the_same_probabilities(power, voting, tmp_path):
    one = forest(power, voting=voting)
    expected = one.predict_proba(X)
    shares = forest(1.0, voting=voting).predict_proba(X)
    np.testing.assert_allclose(expected, raised(shares, power), rtol=1e-13)
    np.testing.assert_array_equal(one.predict(X), forest(1.0, voting=voting).predict(X))
    path = tmp_path / "model.bevel"
    one.save(path)
    others = {
        "rows": np.vstack([one.predict_proba(X[i : i + 1]) for i in range(len(X))]),
        "lists": one.predict_proba(X.tolist()),
        "predictor_": one.predictor_.predict_proba(X),
        "predictor_ into": one.predictor_.predict_proba(X, np.empty_like(expected)),
        "loaded": bevel.load(path).predict_proba(X),
        "mapped": bevel.load(path, mmap=True).predict_proba(X),
        "verified": bevel.load(path, mmap=True).verify().predict_proba(X),
        "pickled": pickle.loads(pickle.dumps(one)).predict_proba(X),
    }
    for name, found in others.items():
        np.testing.assert_array_equal(found, expected, err_msg=name)


@needs_compiler
@pytest.mark.parametrize("options", [STRICT, ("-O3", "-ffp-contract=fast")])
def test_c_has_the_same_bits(options, tmp_path):
    forests = {f"model{place}": forest(power) for place, power in enumerate(POWERS)}
    models = CModels(forests, tmp_path, *options)
    for name in forests:
        models.assert_equal(name, X, X)


@pytest.mark.parametrize("power", POWERS)
def test_onnx_agrees(power):
    onnxruntime = pytest.importorskip("onnxruntime")
    one = forest(power)
    session = onnxruntime.InferenceSession(one.to_onnx(dtype="float64").SerializeToString())
    label, probabilities = session.run(None, {"X": X})
    np.testing.assert_allclose(probabilities, one.predict_proba(X), rtol=1e-14)
    np.testing.assert_array_equal(label, one.predict(X))


def without_zeros(probabilities, n_trees):
    """All classes have at least equal parts of a quarter of one tree's vote."""
    n_classes = probabilities.shape[1]
    least = 0.25 / (n_trees * n_classes)
    rows = []
    for row in probabilities:
        raised = np.maximum(row, least)
        rows.append(raised / raised.sum() if (row < least).any() else row)
    return np.array(rows)


@needs_compiler
def test_c_and_onnx_have_no_zeros_either(tmp_path):
    one = ObliqueForestClassifier(80, random_state=0).fit(X, Y)
    CModels({"model": one}, tmp_path).assert_equal("model", X, X)
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(one.to_onnx(dtype="float64").SerializeToString())
    _, probabilities = session.run(None, {"X": X})
    np.testing.assert_allclose(probabilities, one.predict_proba(X), rtol=1e-14)


def test_a_single_class_stays_certain():
    one = ObliqueForestClassifier(20, random_state=0).fit(X, np.zeros(len(X)))
    assert (one.predict_proba(X) == 1.0).all()


def test_default_takes_the_power_of_out_of_bag_rows():
    plain = ObliqueForestClassifier(80, calibration=None, random_state=0, oob_score=True).fit(X, Y)
    one = ObliqueForestClassifier(80, random_state=0, oob_score=True).fit(X, Y)
    codes = np.searchsorted(one.classes_, Y)
    power = choose_power(plain.oob_decision_function_, codes)
    assert power != 1.0  # or the test shows nothing
    assert one.calibration_power_ == power
    assert plain.calibration_power_ == 1.0
    expected = without_zeros(raised(plain.oob_decision_function_, power), 80)
    np.testing.assert_allclose(one.oob_decision_function_, expected, rtol=1e-13)
    expected = without_zeros(raised(plain.predict_proba(X), power), 80)
    np.testing.assert_allclose(one.predict_proba(X), expected, rtol=1e-13)
    assert plain.predict_proba(X).min() == 0.0  # or the test shows nothing
    assert one.predict_proba(X).min() > 0.0
    np.testing.assert_array_equal(one.families_.of_tree, plain.families_.of_tree)
    assert one.oob_score_ == plain.oob_score_


def test_weights_count_in_the_choice():
    weight = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    values = {"random_state": 0, "sample_weight": weight}
    seed = values.pop("random_state")
    one = ObliqueForestClassifier(80, random_state=seed).fit(X, Y, **values)
    plain = ObliqueForestClassifier(80, random_state=seed, calibration=None, oob_score=True)
    plain.fit(X, Y, **values)
    some = (weight > 0) & ~np.isnan(plain.oob_decision_function_[:, 0])
    codes = np.searchsorted(one.classes_, Y)[some]
    assert one.calibration_power_ == choose_power(plain.oob_decision_function_[some], codes)


def test_warm_start_chooses_again():
    grown = ObliqueForestClassifier(40, random_state=0, warm_start=True).fit(X, Y)
    grown.set_params(n_estimators=80).fit(X, Y)
    codes = np.searchsorted(grown.classes_, Y)
    shares = grown.set_params(oob_score=True, calibration=None, n_estimators=81).fit(X, Y)
    assert grown.calibration_power_ == 1.0
    power = choose_power(shares.oob_decision_function_, codes)
    grown.set_params(calibration="auto", n_estimators=82).fit(X, Y)
    assert grown.calibration_power_ == power


def test_named_projections_and_forests_without_bags_are_left_alone():
    assert ObliqueForestClassifier(20, projection="sparse").fit(X, Y).calibration_power_ == 1.0
    assert ObliqueForestClassifier(20, bootstrap=False).fit(X, Y).calibration_power_ == 1.0


def test_power_without_out_of_bag_rows_is_refused():
    with pytest.raises(
        NoOutOfBagError, match=r"calibration.*bootstrap=True.*leave calibration out"
    ):
        ObliqueForestClassifier(20, calibration="power", bootstrap=False).fit(X, Y)
    with pytest.raises(NoOutOfBagError, match=r"calibration.*Draw fewer rows"):
        ObliqueForestClassifier(20, calibration="power", replace=False, max_samples=1.0).fit(X, Y)
    with pytest.raises(ValueError, match='calibration must be None, "auto" or "power"'):
        ObliqueForestClassifier(20, calibration="platt").fit(X, Y)


def test_reliability_is_that_of_calibrated_probabilities():
    one = forest(3.0)
    curve = calibration(one, X, Y, out_of_bag=False, n_bins=5)
    expected = one.predict_proba(X).max(axis=1)
    assert np.average(curve.predicted, weights=curve.n_rows) == pytest.approx(expected.mean())
