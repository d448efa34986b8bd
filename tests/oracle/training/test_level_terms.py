"""Forests and boosting whose directions combine levels, against a plain reading of their arrays.

An entry of a direction that names a level is 1 where a row has it, else 0; so the reader of
`support.forests` says, which is written from the description of the arrays.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.nominal_tables import (
    FEW_LEVELS,
    classes_of,
    n_level_terms,
    new_rows,
    nominal_table,
    plain_forest,
    plain_leaves,
    plain_means,
)

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueSurvivalForest,
)
from bevel.estimators._base import encode_rows
from bevel.forest.flat_forest import join_forests, take_trees
from bevel.forest.outputs import forest_of_output
from bevel.forest.predictor import PackedPredictor

FRAME, Y = nominal_table()
TASKS = (0, 2, 3)
# Directions of the default are signs; those of models have weights of their own.
KINDS = {
    "forest": {0: ObliqueForestRegressor, 2: ObliqueForestClassifier},
    "boosting": {0: ObliqueBoostingRegressor, 2: ObliqueBoostingClassifier},
}


def target_of(n_classes: int, y: np.ndarray = Y) -> np.ndarray:
    return classes_of(y, n_classes) if n_classes else y


def fit(
    kind: str,
    n_classes: int,
    frame: Any = FRAME,
    y: np.ndarray = Y,
    weights: Any = None,
    **more: Any,
) -> Any:
    size = {"n_estimators": 60} if kind == "forest" else {"max_iter": 15, "learning_rate": 0.3}
    make = KINDS[kind][min(n_classes, 2)]
    model = make(**{**size, "random_state": 0, "n_jobs": 1, **more})
    return model.fit(frame, target_of(n_classes, y), sample_weight=weights)


@pytest.fixture(scope="module")
def fitted() -> dict[tuple[str, int], Any]:
    return {(kind, k): fit(kind, k) for kind in KINDS for k in TASKS}


@pytest.mark.parametrize("n_classes", TASKS)
@pytest.mark.parametrize("kind", KINDS)
def test_directions_of_the_default_combine_levels_with_numbers_and_with_each_other(
    fitted: Any, kind: str, n_classes: int
) -> None:
    model = fitted[kind, n_classes]
    assert n_level_terms(model) > 20
    of_numbers = of_levels = 0
    for tree in plain_forest(model).trees:
        for node in tree.nodes:
            if node.is_leaf or node.is_category or not (node.level >= 0).any():
                continue
            used = {FRAME.columns[f] for f in node.index[node.level >= 0]}
            assert used <= set(FEW_LEVELS)  # not the constant label
            of_numbers += (node.level < 0).any()
            of_levels += len(used) > 1
    assert of_numbers > 0
    assert of_levels > 0


@pytest.mark.parametrize("n_classes", TASKS)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_reach_the_leaves_of_a_plain_reading_also_with_missing_and_unseen_levels(
    fitted: Any, kind: str, n_classes: int
) -> None:
    model = fitted[kind, n_classes]
    for rows in (FRAME, new_rows(FRAME), FRAME[:1]):
        expected = plain_leaves(model, rows)
        codes = encode_rows(model, rows)
        np.testing.assert_array_equal(model.fitted_forest_.predictor.leaves(codes, 1), expected)
        view = model.fitted_forest_.packed_predictor.view
        np.testing.assert_array_equal(view.apply(codes, 2), expected)
        np.testing.assert_array_equal(model.apply(rows).reshape(expected.shape), expected)


@pytest.mark.parametrize("n_classes", TASKS)
def test_predictions_of_a_forest_are_means_of_leaves(fitted: Any, n_classes: int) -> None:
    model, rows = fitted["forest", n_classes], new_rows(FRAME)
    means = plain_means(model, plain_leaves(model, rows))
    if n_classes == 0:
        np.testing.assert_allclose(model.predict(rows), means[:, 0], rtol=1e-12)
        return
    shares = model.fitted_forest_.aggregation.calibrate(means)
    np.testing.assert_allclose(model.predict_proba(rows), shares, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_classes", TASKS)
def test_leaves_of_a_forest_hold_what_the_rows_of_the_bag_that_fall_into_them_have(
    fitted: Any, n_classes: int
) -> None:
    model, target = fitted["forest", n_classes], target_of(n_classes)
    assert_leaves_are_those_of_the_bag(model, FRAME, target, np.ones(len(FRAME)))


@pytest.mark.parametrize("n_classes", TASKS)
def test_training_rows_fall_by_the_means_of_other_folds_into_leaves(n_classes: int) -> None:
    """A column of 120 levels: the means over all rows would put rows into other leaves."""
    frame, y = nominal_table(400, n_places=120)
    model = fit("forest", n_classes, frame, y, n_estimators=10)
    assert_leaves_are_those_of_the_bag(model, frame, target_of(n_classes, y), np.ones(len(frame)))


def assert_leaves_are_those_of_the_bag(
    model: Any, frame: Any, target: np.ndarray, weights: np.ndarray
) -> None:
    bags = model.fitted_forest_.provenance.bags
    leaves = plain_leaves(model, frame, training=True)
    for tree in plain_forest(model).trees:
        weight = bags.counts(tree.number, weights) * weights
        for node in tree.nodes:
            here = (leaves[:, tree.number] == node.number) & (weight > 0)
            if not node.is_leaf:
                continue
            assert node.weight == pytest.approx(weight[here].sum(), rel=1e-5)
            if node.value is not None:
                expected = np.average(target[here], weights=weight[here])
                assert node.value == pytest.approx(expected, rel=1e-9, abs=1e-12)
                continue
            classes = model.classes_
            shares = [weight[here & (target == c)].sum() / weight[here].sum() for c in classes]
            np.testing.assert_array_equal(node.index, np.flatnonzero(shares))
            np.testing.assert_allclose(node.coefficient, np.array(shares)[node.index], rtol=1e-5)


@pytest.mark.parametrize("n_classes", TASKS)
def test_weights_count_in_leaves_below_level_terms(n_classes: int) -> None:
    weights = np.random.default_rng(3).uniform(0.5, 2.0, len(FRAME))
    model = fit("forest", n_classes, weights=weights, n_estimators=20)
    assert_leaves_are_those_of_the_bag(model, FRAME, target_of(n_classes), weights)


@pytest.mark.parametrize("n_classes", [0, 2])
def test_out_of_bag_predictions_are_means_of_the_trees_that_have_not_seen_a_row(
    n_classes: int,
) -> None:
    model = fit("forest", n_classes, oob_score=True)
    out = model.fitted_forest_.provenance.bags.rows_out(model.forest_.n_trees)
    means = plain_means(model, plain_leaves(model, FRAME, training=True), out * 1.0)
    if n_classes == 0:
        np.testing.assert_allclose(model.oob_prediction_, means[:, 0], rtol=1e-9)
        return
    shares = model.fitted_forest_.aggregation.calibrate(means)
    np.testing.assert_allclose(model.oob_decision_function_, shares, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_classes", TASKS)
def test_sums_of_boosted_trees_and_their_loss_are_those_of_a_plain_reading(
    fitted: Any, n_classes: int
) -> None:
    """The last score of training is minus the mean loss of what the plain reader sums."""
    model = fitted["boosting", n_classes]
    leaves = plain_leaves(model, FRAME, training=True)
    n_outputs = len(model.baseline_prediction_)
    raw = np.tile(model.baseline_prediction_.astype(float), (len(FRAME), 1))
    for tree in plain_forest(model).trees:
        value = np.array([node.value for node in tree.nodes])
        raw[:, tree.number % n_outputs] += value[leaves[:, tree.number]]
    assert model.train_score_[-1] == pytest.approx(-mean_loss(raw, n_classes), rel=1e-9)
    if n_classes == 0:
        np.testing.assert_allclose(model.predict(FRAME), raw[:, 0], rtol=1e-9, atol=1e-9)


def mean_loss(raw: np.ndarray, n_classes: int) -> float:
    target = target_of(n_classes)
    if n_classes == 0:
        return float(np.mean((raw[:, 0] - target) ** 2) / 2)
    if n_classes == 2:
        raw = np.column_stack((np.zeros(len(raw)), raw))
    place = np.unique(target, return_inverse=True)[1]
    own = raw[np.arange(len(raw)), place]
    return float(np.mean(np.log(np.exp(raw).sum(axis=1)) - own))


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_fit_gives_the_same_bits_for_any_number_of_threads(
    fitted: Any, kind: str, n_classes: int
) -> None:
    one = fitted[kind, n_classes].forest_.arrays()
    for n_jobs in (2, 4):
        other = fit(kind, n_classes, n_jobs=n_jobs).forest_.arrays()
        for name, array in one.items():
            assert array.tobytes() == other[name].tobytes(), name


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_saved_model_predicts_the_same_from_memory_and_from_the_mapped_file(
    fitted: Any, kind: str, n_classes: int, tmp_path: Path
) -> None:
    model, rows = fitted[kind, n_classes], new_rows(FRAME)
    model.save(tmp_path / "model.bevel")
    expected = model.predict_proba(rows) if n_classes else model.predict(rows)
    for how in ({}, {"mmap": True}):
        loaded = bevel.load(tmp_path / "model.bevel", **how)
        found = loaded.predict_proba(rows) if n_classes else loaded.predict(rows)
        assert found.tobytes() == expected.tobytes()
        np.testing.assert_array_equal(loaded.forest_.entry_level, model.forest_.entry_level)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_joined_taken_and_slim_forests_keep_levels(fitted: Any, n_classes: int) -> None:
    model = fitted["forest", n_classes]
    forest, codes = model.forest_, encode_rows(model, new_rows(FRAME))
    leaves = plain_leaves(model, new_rows(FRAME))
    with_terms = [
        tree
        for tree in range(forest.n_trees)
        if (take_trees(forest, [tree]).entry_level >= 0).any()
    ]
    without = [tree for tree in range(forest.n_trees) if tree not in with_terms]
    for one, other in (
        (with_terms[:2], without[:2]),
        (without[:2], with_terms[:2]),
        (with_terms[:1], with_terms[1:3]),
        (without[:1], without[1:2]),
    ):
        joined = join_forests(take_trees(forest, one), take_trees(forest, other))
        found = PackedPredictor(joined).leaves(codes, 1)
        np.testing.assert_array_equal(found, leaves[:, one + other])
    slim = deepcopy(model).slim()  # which changes the estimator, and others need its gains
    np.testing.assert_array_equal(slim.predict(new_rows(FRAME)), model.predict(new_rows(FRAME)))


def test_trees_of_a_warm_start_and_pruned_trees_keep_levels() -> None:
    model = fit("forest", 0, n_estimators=30, warm_start=True)
    before = n_level_terms(model)
    model.set_params(n_estimators=60).fit(FRAME, Y)
    assert n_level_terms(model) > before
    assert_leaves_are_those_of_the_bag(model, FRAME, Y, np.ones(len(FRAME)))
    pruned = model.prune_trees(25, FRAME, Y)
    rows = new_rows(FRAME)
    means = plain_means(pruned, plain_leaves(pruned, rows))
    np.testing.assert_allclose(pruned.predict(rows), means[:, 0], rtol=1e-12)
    boosted = fit("boosting", 0, max_iter=5, warm_start=True)
    before = n_level_terms(boosted)
    boosted.set_params(max_iter=15).fit(FRAME, Y)
    assert n_level_terms(boosted) > before


@pytest.mark.parametrize("make", [ObliqueForestRegressor, ObliqueForestClassifier])
def test_forest_of_several_outputs_and_those_of_each_output_read_levels(make: Any) -> None:
    both = np.column_stack((Y, -(Y**2)))
    both = both if make is ObliqueForestRegressor else both > np.median(both, axis=0)
    model = make(30, random_state=0, n_jobs=1).fit(FRAME, both)
    rows = new_rows(FRAME)
    assert n_level_terms(model) > 0
    expected = plain_leaves(model, rows)
    np.testing.assert_array_equal(model.apply(rows), expected)
    for output in range(2):
        one = forest_of_output(model.forest_, model.fitted_forest_.task, output)
        leaves = PackedPredictor(one).leaves(encode_rows(model, rows), 1)
        np.testing.assert_array_equal(leaves, expected)


def test_survival_forest_combines_no_levels() -> None:
    rng = np.random.default_rng(0)
    time = rng.exponential(np.exp(-Y / 2))
    target = np.array(
        list(zip(rng.random(len(Y)) < 0.8, time, strict=True)),
        dtype=[("event", "?"), ("time", "f8")],
    )
    model = ObliqueSurvivalForest(30, random_state=0, n_jobs=1).fit(FRAME, target)
    assert n_level_terms(model) == 0
    assert np.isfinite(model.predict(new_rows(FRAME))).all()


@pytest.mark.parametrize("n_classes", [0, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_level_that_only_rows_of_weight_zero_have_is_no_term(kind: str, n_classes: int) -> None:
    weights = (FRAME["d"] != "u").to_numpy() * 1.0
    weighted = fit(kind, n_classes, weights=weights)
    labels = weighted.fitted_forest_.encoding.nominal[3].labels.tolist()
    forest = weighted.forest_
    of_d = forest.entry_level[(forest.entry_level >= 0) & (forest.entry_index == 3)]
    assert len(of_d) > 0
    assert "u" not in {labels[level] for level in of_d}


def test_boosting_on_rows_of_weight_zero_is_that_without_them() -> None:
    counts = np.random.default_rng(5).random(len(FRAME)) < 0.7
    one = fit("boosting", 0, weights=counts * 1.0).forest_.arrays()
    other = fit("boosting", 0, FRAME[counts], Y[counts]).forest_.arrays()
    for name, array in one.items():
        assert array.tobytes() == other[name].tobytes(), name


@pytest.mark.parametrize("kind", KINDS)
def test_level_of_few_rows_is_no_term(fitted: Any, kind: str) -> None:
    model = fitted[kind, 0]
    labels = list(model.fitted_forest_.encoding.nominal[3].labels)
    forest = model.forest_
    of_d = forest.entry_level[(forest.entry_level >= 0) & (forest.entry_index == 3)]
    assert len(of_d) > 0
    assert labels.index("rare") not in of_d


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_one_row_one_class_or_constants_are_fitted(kind: str) -> None:
    for frame, y in (
        (FRAME[:1], Y[:1]),
        (FRAME, np.ones(len(FRAME))),
        (FRAME[["same", "alike"]], Y),
        (FRAME[["c", "d"]], Y),
        (FRAME[["e"]], Y),
    ):
        model = fit(kind, 0, frame, y)
        assert np.isfinite(model.predict(new_rows(FRAME)[frame.columns])).all()
    only = KINDS[kind][2](random_state=0)
    if kind == "forest":
        assert set(only.fit(FRAME, ["x"] * len(FRAME)).predict(new_rows(FRAME))) == {"x"}


@pytest.mark.parametrize("kind", KINDS)
def test_two_levels_are_one_term(fitted: Any, kind: str) -> None:
    forest = fitted[kind, 0].forest_
    of_e = forest.entry_level[(forest.entry_level >= 0) & (forest.entry_index == 4)]
    assert len(np.unique(of_e)) == 1


def test_projection_by_name_combines_no_levels() -> None:
    for projection in ("sparse", "axis"):
        model = fit("forest", 0, projection=projection, n_estimators=10)
        assert n_level_terms(model) == 0


def test_labels_that_are_codes_or_categories_are_terms_alike() -> None:
    codes = FRAME.assign(d=pd.Categorical(FRAME["d"]))
    one, other = fit("forest", 0), fit("forest", 0, codes)
    assert one.predict(FRAME).tobytes() == other.predict(codes).tobytes()
