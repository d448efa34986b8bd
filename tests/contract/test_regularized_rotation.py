"""Regularised rotation ensembles are forests like any other: saved, exported, explained, pruned."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import bevel
from bevel import (
    ModelFileError,
    NoOutOfBagError,
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
)
from bevel.analysis import (
    importance,
    out_of_bag_curve,
    strength_and_correlation,
    tree_complexity,
)
from bevel.estimators.registry import KINDS
from bevel.files.model import summarise

BOTH = pytest.mark.parametrize(
    "estimator", [RegularizedRotationClassifier, RegularizedRotationRegressor]
)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 5))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
SMALL = {"n_estimators": 40, "n_rotations": 6, "n_micro_trees": 4, "random_state": 0, "n_jobs": 1}


def messy_table() -> pd.DataFrame:
    """Numbers with holes, and two nominal columns."""
    table = pd.DataFrame(X, columns=list("abcde"))
    table.loc[::7, "a"] = np.nan
    table.insert(
        2, "colour", np.where(X[:, 0] > 0.5, "red", np.where(X[:, 2] > 0, "blue", "green"))
    )
    table["size"] = pd.Categorical(np.where(X[:, 3] > 0, "small", "large"))
    return table


def attributes(ensemble) -> dict[str, object]:
    names = ("rotations_", "complexities_", "oob_errors_", "rotation_weights_")
    names += ("trees_per_rotation_", "rotation_of_tree_", "h_")
    return {name: getattr(ensemble, name) for name in names}


def set_rotations(ensemble, record) -> None:
    provenance = replace(ensemble._fitted.provenance, rotations=record)
    ensemble._fitted = replace(ensemble._fitted, provenance=provenance)


def axis_of_root(tree) -> np.ndarray:
    axis = np.zeros(tree.forest.n_features)
    features, coefficients = tree.projection(0)
    axis[features] = coefficients
    return axis


@BOTH
def test_slanted_boundary_is_learnt(estimator):
    new = np.random.default_rng(1).normal(size=(500, 5))
    truth = (new[:, 0] + new[:, 1] > 0).astype(int)
    ensemble = estimator(**SMALL).fit(X, y)
    assert ensemble.score(new, truth) > (0.8 if estimator is RegularizedRotationClassifier else 0.4)


@BOTH
def test_nominal_columns_are_not_rotated_and_missing_values_are_taken(estimator):
    table = messy_table()
    ensemble = estimator(**SMALL).fit(table, y)
    forest = ensemble.forest_
    nominal = [2, 6]
    assert (forest.levels[nominal] > 0).all()
    assert not np.isin(forest.rotation_index, nominal).any()
    assert (forest.flags & 2).any()
    assert ensemble.rotations_.shape == (6, 5, 5)
    assert ensemble.score(table, y) > 0.7


@BOTH
def test_table_of_nominal_columns_alone_is_grown_without_rotations(estimator):
    table = messy_table()[["colour", "size"]]
    ensemble = estimator(**SMALL).fit(table, y)
    assert ensemble.rotations_.shape == (6, 0, 0)
    assert ensemble.trees_per_rotation_.sum() == 40


@BOTH
@pytest.mark.parametrize("mapped", [False, True])
def test_saved_ensemble_predicts_and_remembers_its_rotations(estimator, mapped, tmp_path):
    table = messy_table()
    ensemble = estimator(**SMALL, weighting="cut", oob_score=True).fit(table, y)
    ensemble.save(tmp_path / "model.bevel")
    loaded = bevel.load(tmp_path / "model.bevel", mmap=mapped)
    assert type(loaded) is estimator
    np.testing.assert_array_equal(loaded.predict(table), ensemble.predict(table))
    for name, value in attributes(ensemble).items():
        np.testing.assert_array_equal(getattr(loaded, name), value)
    assert loaded.get_params() == ensemble.get_params()
    again = clone(loaded).fit(table, y)
    np.testing.assert_array_equal(again.predict(table), ensemble.predict(table))
    assert summarise(tmp_path / "model.bevel", KINDS)["estimator"] == estimator.__name__


@BOTH
def test_pickle_and_clone_keep_the_ensemble(estimator):
    ensemble = estimator(**SMALL).fit(X, y)
    copy = pickle.loads(pickle.dumps(ensemble))
    for name, value in attributes(ensemble).items():
        np.testing.assert_array_equal(getattr(copy, name), value)
    again = clone(ensemble).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), ensemble.predict(X))


@BOTH
def test_pruned_and_slim_ensembles_keep_the_rotations_of_their_trees(estimator, tmp_path):
    ensemble = estimator(**SMALL, weighting="rre").fit(X, y)
    pruned = ensemble.prune_trees(7, X, y)
    assert pruned.trees_per_rotation_.sum() == len(pruned.rotation_of_tree_) == 7
    for tree, rotation in zip(pruned.forest_, pruned.rotation_of_tree_, strict=True):
        axes = ensemble.rotations_[rotation].T
        np.testing.assert_array_equal(np.abs(axes @ axis_of_root(tree)).max().round(4), 1.0)
    pruned.slim().save(tmp_path / "pruned.bevel")
    loaded = bevel.load(tmp_path / "pruned.bevel")
    np.testing.assert_array_equal(loaded.rotations_, ensemble.rotations_)
    np.testing.assert_array_equal(loaded.rotation_of_tree_, pruned.rotation_of_tree_)
    np.testing.assert_array_equal(loaded.predict(X), pruned.predict(X))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"of_tree": np.full(40, 6, np.int32)}, "rotations of trees must be from 0 to 5"),
        ({"of_tree": np.full(40, -1, np.int32)}, "rotations of trees must be from 0 to 5"),
        ({"of_tree": np.zeros(39, np.int32)}, '"rotations.of_tree" must be of 40 numbers'),
        ({"weights": np.zeros(5)}, '"rotations.weights" must be of 6 numbers'),
        ({"weights": np.full(6, -1.0)}, "Weights of rotations must be finite"),
        ({"complexities": np.full(6, np.inf)}, "Complexities of rotations must be finite"),
        ({"h": -1.0}, "rotations.h must be above zero"),
        ({"max_rotated": 0}, "rotations.max_rotated must be from 1"),
    ],
)
def test_damaged_rotations_in_a_file_are_refused(damage, message, tmp_path):
    ensemble = RegularizedRotationClassifier(**SMALL).fit(X, y)
    damaged = replace(ensemble.fitted_forest_.provenance.rotations, **damage)
    set_rotations(ensemble, damaged)
    ensemble.save(tmp_path / "model.bevel")
    with pytest.raises(ModelFileError, match=message):
        bevel.load(tmp_path / "model.bevel", mmap=True)


@BOTH
def test_ensemble_is_exported(estimator):
    ensemble = estimator(**SMALL).fit(X, y)
    assert "model_predict" in ensemble.to_c()
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    model = ensemble.to_onnx(dtype="float64")
    answer = runtime.InferenceSession(model.SerializeToString()).run(None, {"X": X})[0]
    np.testing.assert_allclose(answer.ravel(), ensemble.predict(X), rtol=1e-6)


def test_ensemble_is_explained():
    ensemble = RegularizedRotationClassifier(**SMALL).fit(X, y)
    assert importance(ensemble, "gini").values.sum() == pytest.approx(1.0)
    assert len(tree_complexity(ensemble).complexity) == 40
    assert strength_and_correlation(ensemble, X, y).strength > 0
    assert len(out_of_bag_curve(ensemble, X, y).loss) > 0
    with pytest.raises(ValueError, match="needs rotations that all trees share"):
        importance(ensemble, "rotation")


def test_rotations_that_make_trees_simple_get_more_trees():
    # Along one of the diagonals the classes are bands.
    points = np.random.default_rng(2).uniform(-1, 1, size=(300, 2))
    bands = (np.floor(3 * (points[:, 0] + points[:, 1])) % 2).astype(int)
    ensemble = RegularizedRotationClassifier(
        200, n_rotations=15, weighting="exp", h=1, scale=None, n_jobs=1, random_state=0
    ).fit(points, bands)
    slant = np.abs(ensemble.rotations_.transpose(0, 2, 1) @ [1, 1]).max(axis=1) / np.sqrt(2)
    best = ensemble.trees_per_rotation_.argmax()
    assert slant[best] == slant.max()
    assert ensemble.complexities_[best] == ensemble.complexities_.min()
    shares = np.average(ensemble.complexities_, weights=ensemble.trees_per_rotation_)
    assert shares < np.median(ensemble.complexities_)


@BOTH
def test_extra_trees_without_bags_need_weights_without_errors(estimator):
    growth = {"threshold": "random", "bootstrap": False}
    ensemble = estimator(**SMALL, **growth, weighting="lin").fit(X, y)
    assert np.isnan(ensemble.oob_errors_).all()
    assert estimator(**SMALL, **growth, weighting="exp", h=2).fit(X, y).h_ == 2.0
    for wrong in (
        {"weighting": "exp"},
        {"weighting": "oob"},
        {"weighting": "rre", "drop_worst": 0.5},
    ):
        with pytest.raises(NoOutOfBagError, match=r"needs the out-of-bag errors .*bootstrap=False"):
            estimator(**SMALL, **growth, **wrong).fit(X, y)
    with pytest.raises(NoOutOfBagError, match="bags of all rows"):
        estimator(**SMALL, replace=False, max_samples=1.0).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_micro_trees": 7}, ValueError, r"n_micro_trees must be less than .*got 7 with 40 / 6"),
        ({"n_estimators": 24}, ValueError, r"\(U < M/R\); got 4 with 24 / 6\. Use fewer"),
        ({"n_rotations": 0}, ValueError, r'n_rotations must be "auto" or an integer of at least 1'),
        ({"n_rotations": 2.5}, TypeError, "n_rotations must be"),
        ({"weighting": "best"}, ValueError, r'weighting must be "rre", "cut", .*got \'best\''),
        ({"weighting": "lin", "h": 2}, ValueError, r'h must be None unless weighting is "cut" or'),
        ({"weighting": "cut", "h": 2.5}, ValueError, "h must be an integer from 1 to the 6 rot"),
        ({"weighting": "cut", "h": 7}, ValueError, "h must be an integer from 1 to the 6 rot"),
        ({"weighting": "exp", "h": 0}, ValueError, r"h must be None or a number in \(0, inf\)"),
        ({"drop_worst": 1.0}, ValueError, r"drop_worst must be a number in \[0, 1\)"),
        ({"max_rotated": 0}, ValueError, "max_rotated must be an integer of at least 1; got 0"),
    ],
)
def test_impossible_parameters_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        RegularizedRotationClassifier(**(SMALL | parameters)).fit(X, y)


@BOTH
def test_more_features_than_are_rotated_together_are_taken_end_to_end(estimator, tmp_path):
    rng = np.random.default_rng(3)
    wide = rng.normal(size=(60, 501))
    signs = (wide[:, 500] > 0).astype(int)
    parameters = {"n_estimators": 9, "n_rotations": 3, "n_micro_trees": 2, "n_projections": 60}
    ensemble = estimator(**parameters, weighting="rre", random_state=0, n_jobs=1).fit(wide, signs)
    rotations = ensemble.rotations_
    assert rotations.shape == (3, 501, 501)
    for rotation in rotations[1:]:
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(501), atol=1e-5)
        assert np.count_nonzero(rotation == 1.0) == 1  # the feature that is left as it is
    ensemble.set_params(max_rotated=7).save(tmp_path / "wide.bevel")  # which changes no fit
    loaded = bevel.load(tmp_path / "wide.bevel")
    np.testing.assert_array_equal(loaded.rotations_, rotations)
    np.testing.assert_array_equal(ensemble.rotations_, rotations)
    np.testing.assert_array_equal(loaded.predict(wide), ensemble.predict(wide))


def test_rotations_that_no_memory_holds_are_refused():
    ensemble = RegularizedRotationClassifier(40_000, n_rotations=20_000, n_micro_trees=1)
    message = r"below 2\^32; got 4,999,\d+,\d+ weights in 20000 rotations of 500 features, 40 GB"
    with pytest.raises(ValueError, match=message):
        ensemble.fit(np.zeros((4, 501)), [0, 1, 0, 1])


@BOTH
def test_automatic_sizes_fit_any_number_of_trees(estimator):
    for n_trees, n_rotations in ((2, 1), (5, 2), (20, 4), (50, 4), (300, 14), (500, 24)):
        ensemble = estimator(n_trees, max_depth=2, random_state=0, n_jobs=1).fit(X, y)
        assert len(ensemble.complexities_) == n_rotations
        assert ensemble.trees_per_rotation_.sum() == n_trees
    assert estimator(5000)._plan().n_rotations == 100
    with pytest.raises(ValueError, match="U < M/R"):
        estimator(1).fit(X, y)


@BOTH
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_degenerate_rows_are_taken(estimator):
    constant = estimator(**SMALL).fit(X, np.ones(len(X), int))
    assert (constant.predict(X) == 1).all()
    assert (constant.complexities_ == 1.0).all()
    one_row = estimator(**SMALL).fit(X[:1], y[:1])
    assert np.isnan(one_row.oob_errors_).all()
    assert one_row.predict(X[:1]) == y[:1]
    one_column = estimator(**SMALL).fit(X[:, :1], y)
    np.testing.assert_array_equal(one_column.rotations_, np.ones((6, 1, 1)))


@BOTH
def test_attributes_before_fit_raise(estimator):
    for name in ("rotations_", "trees_per_rotation_", "h_"):
        assert not hasattr(estimator(), name)


@BOTH
def test_callback_is_called_for_micro_forests_and_of_the_ensemble(estimator):
    told = []
    ensemble = estimator(**SMALL, callback=lambda done, total: told.append((done, total)))
    ensemble.fit(X, y)
    assert (24, 24) in told
    assert told[-1] == (40, 40)


def test_rotations_that_would_fill_the_memory_are_not_written_as_matrices():
    ensemble = RegularizedRotationClassifier(**SMALL).fit(X, y)
    record = ensemble.fitted_forest_.provenance.rotations
    many = np.ones(2**28 // 25 + 1)
    record = replace(record, complexities=many, errors=many, weights=many)
    set_rotations(ensemble, record)
    with pytest.raises(ValueError, match="rotations_ must have at most"):
        ensemble.rotations_  # noqa: B018
