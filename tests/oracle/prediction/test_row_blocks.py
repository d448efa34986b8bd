"""Out-of-bag tables in blocks of rows: the same bits as those of all rows at once."""

import numpy as np
import pytest

from bevel import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    RegularizedRotationClassifier,
    _core,
)
from bevel.forest import row_blocks as blocks_module
from bevel.forest.bags import Bags
from bevel.forest.calibration import POWERS, power_losses, raise_to_power
from bevel.forest.row_blocks import row_blocks
from bevel.training import automatic

ONE_BLOCK, MANY_BLOCKS = 10**9, 60  # values


def table(n_classes=4, n=210, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)  # rounded: leaves and shares tie
    codes = (2.0 * np.abs(X[:, 0] + X[:, 1]) + rng.normal(size=n) * 0.5).astype(int) % n_classes
    return X, codes


def weights_of(kind, n):
    rng = np.random.default_rng(1)
    if kind == "none":
        return None
    return rng.integers(0, 3, n).astype(float) if kind == "zeros" else rng.uniform(0.1, 3.0, n)


def in_blocks(monkeypatch, most_values, fit):
    """A fit in blocks of so many values, and how many blocks of predictions it made."""
    made = []
    monkeypatch.setattr(blocks_module, "MAX_VALUES", most_values)
    original = automatic.PredictedBlocks.predictions

    def counted(self, family, rows):
        made.append(rows)
        return original(self, family, rows)

    with monkeypatch.context() as patch:
        patch.setattr(automatic.PredictedBlocks, "predictions", counted)
        return fit(), len(made)


def same(one, other, X):
    for name in ("oob_decision_function_", "oob_prediction_", "oob_score_"):
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    if hasattr(one, "predict_proba"):
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
        assert one.calibration_power_ == other.calibration_power_
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    for name in ("errors", "standard_errors", "weights", "of_tree"):
        np.testing.assert_array_equal(getattr(one.families_, name), getattr(other.families_, name))
    assert one.families_.min_samples_split == other.families_.min_samples_split


@pytest.mark.parametrize("weighted", ["none", "zeros", "any"])
@pytest.mark.parametrize("sizes", ["auto", 2])
@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("oob_score", [False, True])
def test_forests_in_blocks_are_those_of_all_rows_at_once(
    weighted, sizes, voting, oob_score, monkeypatch
):
    X, y = table()
    weights = weights_of(weighted, len(y))

    def fit():
        return ObliqueForestClassifier(
            60, min_samples_split=sizes, voting=voting, oob_score=oob_score, random_state=0
        ).fit(X, y, weights)

    whole, n_whole = in_blocks(monkeypatch, ONE_BLOCK, fit)
    parts, n_parts = in_blocks(monkeypatch, MANY_BLOCKS, fit)
    assert n_whole == 0
    assert n_parts > 100
    same(whole, parts, X)


@pytest.mark.parametrize("n_classes", [1, 2])
def test_forests_of_few_classes_in_blocks_are_those_of_all_rows_at_once(n_classes, monkeypatch):
    X, y = table(n_classes)

    def fit():
        return ObliqueForestClassifier(60, oob_score=True, random_state=0).fit(X, y)

    whole, _ = in_blocks(monkeypatch, ONE_BLOCK, fit)
    parts, _ = in_blocks(monkeypatch, MANY_BLOCKS, fit)
    same(whole, parts, X)


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_several_outputs_in_blocks_are_those_of_all_rows_at_once(voting, monkeypatch):
    X, y = table()
    Y = np.column_stack([y, y % 2, (X[:, 2] > 0).astype(int)])

    def fit():
        forest = ObliqueForestClassifier(60, voting=voting, oob_score=True, random_state=0)
        forest.fit(X, Y)
        return forest, forest.predict(X)

    (whole, classes), _ = in_blocks(monkeypatch, ONE_BLOCK, fit)
    (parts, classes_in_blocks), n_parts = in_blocks(monkeypatch, MANY_BLOCKS, fit)
    assert n_parts > 100
    np.testing.assert_array_equal(classes, classes_in_blocks)
    assert whole.oob_score_ == parts.oob_score_
    for one, other in zip(whole.oob_decision_function_, parts.oob_decision_function_, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(whole.families_.errors, parts.families_.errors)
    np.testing.assert_array_equal(whole.families_.of_tree, parts.families_.of_tree)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_regression_in_blocks_is_that_of_all_rows_at_once(n_outputs, monkeypatch):
    X, y = table()
    Y = X[:, 0] * y if n_outputs == 1 else np.column_stack([X[:, 0] * y, y])

    def fit():
        return ObliqueForestRegressor(60, oob_score=True, random_state=0).fit(X, Y)

    whole, _ = in_blocks(monkeypatch, ONE_BLOCK, fit)
    parts, _ = in_blocks(monkeypatch, MANY_BLOCKS, fit)
    same(whole, parts, X)


def test_rotation_ensembles_in_blocks_are_those_of_all_rows_at_once(monkeypatch):
    X, y = table()

    def fit():
        ensemble = RegularizedRotationClassifier(
            24, n_rotations=4, n_micro_trees=4, weighting="oob", random_state=0
        )
        return ensemble.fit(X, y, weights_of("zeros", len(y)))

    whole, _ = in_blocks(monkeypatch, ONE_BLOCK, fit)
    parts, _ = in_blocks(monkeypatch, MANY_BLOCKS, fit)
    np.testing.assert_array_equal(whole.predict_proba(X), parts.predict_proba(X))
    np.testing.assert_array_equal(
        whole.fitted_forest_.provenance.rotations.errors,
        parts.fitted_forest_.provenance.rotations.errors,
    )


@pytest.mark.parametrize("weighted", ["none", "zeros"])
@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("n", [1, 7, 8, 65])
def test_bits_of_bags_are_the_rows_that_were_drawn(n, replace, weighted):
    bags = Bags(n, max(1, n // 2), replace, seed=3)
    weights = weights_of(weighted, n)
    bits = _core.draw_bags(bags.native_options(), n, 2, 5, weights, 2)
    got = np.unpackbits(bits, axis=1, count=n, bitorder="little")
    for place, tree in enumerate(range(2, 7)):
        np.testing.assert_array_equal(got[place], bags.counts(tree, weights) > 0)


@pytest.mark.parametrize("n_rows", [0, 1, 5, 100])
@pytest.mark.parametrize("values_per_row", [0, 1, 30, 1000])
def test_blocks_cover_all_rows_once_and_are_small(n_rows, values_per_row, monkeypatch):
    monkeypatch.setattr(blocks_module, "MAX_VALUES", 100)
    blocks = row_blocks(n_rows, values_per_row, first=3)
    rows = [row for block in blocks for row in range(block.start, block.stop)]
    assert rows == list(range(3, 3 + n_rows))
    longest = max(block.stop - block.start for block in blocks)
    assert longest <= max(1, 100 // max(1, values_per_row))


@pytest.mark.parametrize("n_classes", [6, 40, 300])
@pytest.mark.parametrize("n_above", [0, 1, 5])
def test_losses_of_powers_have_the_bits_of_whole_rows(n_classes, n_above):
    rng = np.random.default_rng(0)
    shares = np.zeros((60, n_classes))
    truth = rng.integers(0, n_classes, 60)
    for row in range(len(shares)):
        chosen = rng.choice(n_classes, rng.integers(1, n_above + 2), replace=False)
        shares[row, chosen] = rng.dirichlet(np.ones(len(chosen)))
        truth[row] = chosen[0] if row % 2 else truth[row]
    for losses, power in zip(power_losses(shares, truth), POWERS, strict=True):
        raised = raise_to_power(shares.copy(), power)[np.arange(60), truth]
        np.testing.assert_array_equal(losses, -np.log(np.maximum(raised, 1e-3)))


def test_losses_of_powers_do_not_depend_on_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(9), 50)
    truth = rng.integers(0, 9, 50)
    whole = power_losses(shares, truth)
    monkeypatch.setattr(blocks_module, "MAX_VALUES", 20)
    np.testing.assert_array_equal(power_losses(shares, truth), whole)
