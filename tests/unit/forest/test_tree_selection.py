"""`bevel.forest.tree_selection`: errors of pairs of trees, and the choice among them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.forest import tree_selection
from bevel.forest.training_rows import find_training_rows
from bevel.forest.tree_selection import best_subset, pair_errors

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4)).astype(np.float32)
SIGNAL = X[:, 0] + 0.7 * RNG.normal(size=90)
KINDS = {
    "classes": (ObliqueForestClassifier, np.digitize(SIGNAL, [-0.5, 0.8]).astype(np.int32), {}),
    "votes": (ObliqueForestClassifier, (SIGNAL > 0).astype(np.int32), {"voting": "hard"}),
    "values": (ObliqueForestRegressor, 1e6 + 1e3 * SIGNAL, {}),
}


def grown(kind, n_trees=12):
    estimator, target, options = KINDS[kind]
    fitted = estimator(n_trees, scale=None, min_samples_leaf=4, random_state=1, **options)
    fitted.fit(X, target)
    rows = find_training_rows(
        fitted.fitted_forest_, fitted.fitted_forest_.provenance.bags, X, target
    )
    return fitted, rows


def naive_outputs(fitted, hard):
    """Prediction of each tree for each row, leaf by leaf."""
    forest, leaves = fitted.forest_, fitted.apply(X)
    outputs = np.empty((len(X), forest.n_trees, max(1, forest.n_classes)))
    for row, tree in np.ndindex(leaves.shape):
        node = leaves[row, tree]
        if forest.n_classes == 0:
            outputs[row, tree] = forest.leaf_value[forest.tree_offset[tree] + node]
            continue
        shares = forest.tree(tree).class_shares(node)
        outputs[row, tree] = np.eye(len(shares))[shares.argmax()] if hard else shares
    return outputs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block_size", [1, 1000, 2**22])
def test_pair_errors_are_mean_products_over_rows_out_of_both_bags(kind, block_size, monkeypatch):
    monkeypatch.setattr(tree_selection, "BLOCK_SIZE", block_size)
    fitted, rows = grown(kind)
    target, hard = rows.target, kind == "votes"
    truth = target[:, None] if kind == "values" else np.eye(target.max() + 1)[target]
    errors = truth[:, None, :] - naive_outputs(fitted, hard)
    expected = np.empty((12, 12))
    for s, t in itertools.product(range(12), repeat=2):
        both = rows.out[:, s] & rows.out[:, t]
        expected[s, t] = (errors[both, s] * errors[both, t]).sum(axis=1).mean()
    found = pair_errors(fitted.fitted_forest_.packed_predictor, rows, 2, hard)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * expected.max())


@pytest.mark.parametrize("kind", KINDS)
def test_pair_errors_are_the_same_bits_in_any_order_of_rows(kind, monkeypatch):
    fitted, rows = grown(kind)
    at_once = pair_errors(fitted.fitted_forest_.packed_predictor, rows, 1)
    monkeypatch.setattr(tree_selection, "BLOCK_SIZE", 200)
    assert np.array_equal(pair_errors(fitted.fitted_forest_.packed_predictor, rows, 2), at_once)


def test_pairs_never_out_of_bag_together_count_as_the_mean_pair():
    fitted, rows = grown("classes", n_trees=3)
    rows.out[:, 0] &= ~rows.out[:, 1]
    errors = pair_errors(fitted.fitted_forest_.packed_predictor, rows, 1)
    known = np.ones((3, 3), bool)
    known[0, 1] = known[1, 0] = False
    assert errors[0, 1] == errors[1, 0] == errors[known].mean()
    rows.out[:] = False
    assert not pair_errors(fitted.fitted_forest_.packed_predictor, rows, 1).any()


def test_best_subset_prefers_trees_that_err_on_different_rows():
    # Trees 0 and 1 are the best alone but err on the same rows; 2 and 3 err on other rows.
    wrong = np.array(
        [[1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]]
    )
    errors = wrong @ wrong.T / 6
    assert best_subset(errors, 1).tolist() == [0]
    assert best_subset(errors, 2).tolist() == [0, 2]
    assert best_subset(errors, 4).tolist() == [0, 1, 2, 3]


def test_every_step_adds_the_tree_that_leaves_the_smallest_error():
    fitted, rows = grown("classes", n_trees=25)
    errors = pair_errors(fitted.fitted_forest_.packed_predictor, rows, 1)
    inside = []
    for n in range(1, 26):
        left = {t: errors[np.ix_([*inside, t], [*inside, t])].mean() for t in range(25)}
        inside.append(min((t for t in range(25) if t not in inside), key=left.__getitem__))
        assert best_subset(errors, n).tolist() == sorted(inside)


def test_ties_go_to_the_lower_number():
    assert best_subset(np.ones((5, 5)), 3).tolist() == [0, 1, 2]
