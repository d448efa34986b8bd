"""Weights of rotations as Blaser writes them (2.3.1, 2.5), by hand; numbers of trees sum to M."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bevel.training.automatic import assign_trees
from bevel.training.rotation_ensemble import (
    WEIGHTINGS,
    count_trees,
    cut_weights,
    exponential_weights,
    linear_weights,
    needs_errors,
    weigh_rotations,
)

# Five rotations, the identity first: fourth, second, fifth, first and third in complexity.
COMPLEXITIES = np.array([40.0, 20.0, 50.0, 10.0, 30.0])
ERRORS = np.array([0.10, 0.50, 0.30, 0.40, 0.20])


def test_cut_weights_are_those_of_formula_2_6():
    np.testing.assert_array_equal(cut_weights(5, 1), [1, 0, 0, 0, 0])
    np.testing.assert_array_equal(cut_weights(5, 2), [0.5, 0.5, 0, 0, 0])
    np.testing.assert_array_equal(cut_weights(4, 4), [0.25] * 4)


def test_exponential_weights_are_those_of_formula_2_7():
    # h = 1, R = 3: (1/2, 1/4, 1/8) · 1 / (7/8).
    np.testing.assert_allclose(exponential_weights(3, 1.0), np.array([4, 2, 1]) / 7, rtol=1e-15)
    for n, h in ((3, 2.0), (10, 0.7), (100, 12.5)):
        r = np.arange(1, n + 1)
        printed = 2 ** (-r / h) * (2 ** (1 / h) - 1) / (1 - 2 ** (-n / h))
        np.testing.assert_allclose(exponential_weights(n, h), printed, rtol=1e-12)


def test_exponential_weights_bear_extreme_half_lives():
    np.testing.assert_array_equal(exponential_weights(3, 1e-4), [1, 0, 0])
    np.testing.assert_allclose(exponential_weights(4, 1e12), [0.25] * 4, rtol=1e-11)


def test_linear_weights_fall_by_one_step_and_equal_ranks_share():
    np.testing.assert_allclose(linear_weights([1, 2, 3]), np.array([3, 2, 1]) / 6)
    np.testing.assert_allclose(linear_weights([1.5, 1.5, 3]), np.array([2.5, 2.5, 1]) / 6)


@settings(max_examples=100)
@given(
    weighting=st.sampled_from(WEIGHTINGS),
    complexities=arrays.arrays(float, st.integers(1, 40), elements=st.floats(1, 100)),
    seed=st.integers(0, 2**32),
)
def test_all_weightings_have_the_three_properties(weighting, complexities, seed):
    errors = np.random.default_rng(seed).choice([0.1, 0.2, 0.3, np.nan], len(complexities))
    weights = weigh_rotations(weighting, complexities, errors)
    assert sorted(weights.order) == list(range(len(complexities)))
    falling = weights.values[weights.order]
    assert (falling >= 0).all()
    assert (np.diff(falling) <= 0).all()
    assert falling.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("weighting", "expected"),
    [
        ("rre", [1 / 5] * 5),
        ("bst", [0, 0, 0, 1, 0]),
        ("new", [1 / 4, 1 / 4, 0, 1 / 4, 1 / 4]),  # all but the one beyond the identity
        ("lin", [2 / 15, 4 / 15, 1 / 15, 5 / 15, 3 / 15]),
        ("oob", [5 / 15, 1 / 15, 3 / 15, 2 / 15, 4 / 15]),
        # Sums of ranks: 4+1, 2+5, 5+3, 1+4, 3+2, so ranks 2, 4, 5, 2, 2.
        ("jnt", [4 / 15, 2 / 15, 1 / 15, 4 / 15, 4 / 15]),
    ],
)
def test_weighting_is_that_of_section_2_5(weighting, expected):
    weights = weigh_rotations(weighting, COMPLEXITIES, ERRORS)
    np.testing.assert_allclose(weights.values, expected, atol=1e-15)
    assert weights.h is None


def test_rotations_as_complex_as_the_identity_are_not_left_out_by_new():
    weights = weigh_rotations("new", np.array([2.0, 3.0, 2.0, 1.0]), np.zeros(4))
    np.testing.assert_allclose(weights.values, [1 / 3, 0, 1 / 3, 1 / 3])


def test_of_equally_complex_rotations_the_identity_is_best():
    assert weigh_rotations("bst", np.array([2.0, 2.0]), np.zeros(2)).order[0] == 0


@pytest.mark.parametrize("weighting", ["cut", "exp"])
def test_h_minimises_the_weighted_error(weighting):
    curve = cut_weights if weighting == "cut" else exponential_weights
    rng = np.random.default_rng(0)
    for _ in range(20):
        complexities, errors = rng.random(12), rng.random(12)
        weights = weigh_rotations(weighting, complexities, errors)
        in_order = errors[np.argsort(complexities)]
        chosen = curve(12, weights.h) @ in_order
        grid = range(1, 13) if weighting == "cut" else np.geomspace(0.25, 192, 200)
        slack = 0.0 if weighting == "cut" else 0.01
        assert chosen <= min(curve(12, h) @ in_order for h in grid) + slack
        np.testing.assert_allclose(
            weights.values[np.argsort(complexities)], curve(12, weights.h), rtol=1e-15
        )


def test_h_is_small_when_simple_rotations_err_less_and_large_when_complex_ones_do():
    complexities = np.arange(8.0)
    for weighting in ("cut", "exp"):
        rising = weigh_rotations(weighting, complexities, np.linspace(0.1, 0.2, 8))
        falling = weigh_rotations(weighting, complexities, np.linspace(0.2, 0.1, 8))
        assert rising.values[0] > 0.9
        assert falling.values[0] < 0.15
        assert weigh_rotations(weighting, complexities, np.full(8, 0.1)).h == rising.h


def test_given_h_is_kept():
    assert weigh_rotations("exp", COMPLEXITIES, ERRORS, 3).h == 3.0
    np.testing.assert_allclose(
        weigh_rotations("cut", COMPLEXITIES, ERRORS, 2).values, [0, 0.5, 0, 0.5, 0]
    )


def test_weightings_that_need_errors_are_known():
    assert [w for w in WEIGHTINGS if needs_errors(w, None)] == ["cut", "exp", "oob", "jnt"]
    assert not needs_errors("cut", 3)
    assert needs_errors("oob", 3)


def test_missing_trees_go_to_the_first_rotation_and_surplus_ones_leave_the_last():
    np.testing.assert_array_equal(count_trees(np.full(3, 1 / 3), 100), [34, 33, 33])
    np.testing.assert_array_equal(count_trees(np.full(4, 1 / 4), 103), [26, 26, 26, 25])
    # 3.5 rounds to 4 and 1.5 to 2: two trees too many.
    np.testing.assert_array_equal(
        count_trees(np.array([3.5, 3.5, 1.5, 1.5]) / 10, 10), [4, 4, 2, 0]
    )


WEIGHTS = arrays.arrays(float, st.integers(1, 60), elements=st.floats(0, 1)).filter(
    lambda weights: weights.sum() > 1e-3
)


@settings(max_examples=150)
@given(weights=WEIGHTS, n_trees=st.integers(1, 6000))
def test_numbers_of_trees_sum_to_the_size_of_the_ensemble(weights, n_trees):
    falling = np.sort(weights / weights.sum())[::-1]
    counts = count_trees(falling, n_trees)
    assert counts.sum() == n_trees
    assert (counts >= 0).all()
    assert (np.diff(counts) <= 0).all()
    changed = np.flatnonzero(counts != np.rint(falling * n_trees))
    assert len(changed) == 0 or changed[0] == 0 or counts[changed[1:]].sum() == 0


@settings(max_examples=100)
@given(
    counts=st.lists(st.integers(0, 30), min_size=1, max_size=12), n_micro_trees=st.integers(1, 8)
)
def test_trees_that_stay_keep_their_numbers_and_all_others_are_grown(counts, n_micro_trees):
    counts = np.array(counts)
    n_micro = len(counts) * n_micro_trees
    counts[0] += max(0, n_micro + 1 - counts.sum())  # U < M/R
    of_tree, missing = assign_trees(counts, n_micro_trees)
    np.testing.assert_array_equal(np.bincount(of_tree, minlength=len(counts)), counts)
    kept = np.setdiff1d(np.arange(counts.sum()), missing)
    assert (kept < n_micro).all()
    np.testing.assert_array_equal(of_tree[kept], kept // n_micro_trees)
    np.testing.assert_array_equal(
        np.bincount(of_tree[kept], minlength=len(counts)), np.minimum(counts, n_micro_trees)
    )


@pytest.mark.parametrize("h", [5e-324, 1e-300, 1e300, 1.7e308])
def test_exponential_weights_sum_to_one_however_small_or_large_h_is(h):
    weights = exponential_weights(5, h)
    assert weights.sum() == pytest.approx(1.0)
    assert weights == pytest.approx([1, 0, 0, 0, 0] if h < 1 else [0.2] * 5)
