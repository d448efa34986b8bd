"""Variance components against a direct computation and against the truth; rotations by trees.

Each test states its null; seeds are fixed, see `support.false_alarms` for the rate.
"""

import numpy as np
import pytest
from scipy import stats
from support.false_alarms import assert_distribution, assert_mean

from bevel.datasets import triangle
from bevel_lab import rank_rotations, split_variance


def made_up(rng, folds, rotations, rest, shape=(6, 5)):
    rows, columns = rng.normal(size=(shape[0], 1)), rng.normal(size=shape[1])
    return 0.3 + folds * rows + rotations * columns + rest * rng.normal(size=shape)


def test_mean_squares_are_those_of_a_regression_on_dummies():
    """The residual by least squares on indicators of groups, an independent way to the parts."""
    errors = made_up(np.random.default_rng(0), 1.0, 2.0, 0.5)
    n, m = errors.shape
    rows, columns = np.kron(np.eye(n), np.ones((m, 1))), np.kron(np.ones((n, 1)), np.eye(m))

    def left_over(*parts):
        design = np.hstack([np.ones((n * m, 1)), *parts])
        y = errors.ravel()
        fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
        return float(((y - fitted) ** 2).sum())

    rest = left_over(rows, columns) / ((n - 1) * (m - 1))
    of_rows = (left_over(columns) - left_over(rows, columns)) / (n - 1)
    of_columns = (left_over(rows) - left_over(rows, columns)) / (m - 1)
    split = split_variance(errors)
    assert split.rest == pytest.approx(rest)
    assert split.folds == pytest.approx((of_rows - rest) / m)
    assert split.rotations == pytest.approx((of_columns - rest) / n)
    chance = stats.f.sf(of_columns / rest, m - 1, (n - 1) * (m - 1))
    assert split.p_rotations == pytest.approx(chance)
    assert sum(split.shares) == pytest.approx(1.0)


def test_components_have_the_true_values_in_the_mean():
    """Null: unbiased. 4000 matrices of effects so large that none is cut off at 0."""
    rng = np.random.default_rng(1)
    splits = [split_variance(made_up(rng, 3.0, 2.0, 0.1)) for _ in range(4000)]
    values = np.array([[each.folds, each.rotations, each.rest] for each in splits])
    assert_mean(values, np.array([9.0, 4.0, 0.01]))


def test_p_values_are_uniform_without_a_rotation_effect_and_the_limit_holds():
    """Null: uniform p-values; the upper limit covers the truth in 95 % of 4000 matrices."""
    rng = np.random.default_rng(2)
    none = [split_variance(made_up(rng, 2.0, 0.0, 1.0)) for _ in range(4000)]
    assert_distribution(np.array([each.p_rotations for each in none]), stats.uniform())
    some = [split_variance(made_up(rng, 2.0, 0.7, 1.0)) for _ in range(4000)]
    covered = sum(each.rotations_at_most >= 0.49 for each in some)
    assert stats.binomtest(covered, 4000, 0.95).pvalue > 1e-6


def test_equal_columns_have_no_rotation_effect_and_equal_entries_none_at_all():
    column = np.random.default_rng(3).normal(size=(6, 1))
    same = split_variance(np.repeat(column, 5, axis=1))
    assert (same.rotations, same.rest, same.p_rotations) == (0.0, 0.0, 1.0)
    assert same.folds == pytest.approx(column.var(ddof=1))
    assert split_variance(np.full((3, 3), 0.1)).shares == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("errors", "message"),
    [([0.1, 0.2], "a matrix"), ([[0.1, 0.2]], "2 × 2"), ([[0.1, np.nan], [0.1, 0.1]], "finite")],
)
def test_matrices_without_a_split_are_refused(errors, message):
    with pytest.raises(ValueError, match=message):
        split_variance(errors)


def test_smallest_trees_grow_where_the_boundary_lies_along_an_axis():
    """Blaser's problem (a): Spearman's test of no relation between rank and angle, p < 1e-6."""
    X, y = triangle(300, random_state=0)
    ranked = rank_rotations(X, y, 60, n_trees=15, random_state=0, n_jobs=1)
    off = degrees_off_axis(ranked.rotations)
    assert stats.spearmanr(ranked.complexity, off).pvalue < 1e-6
    assert off[:6].max() < 15.0 < 25.0 < off[-6:].mean()
    assert (np.diff(ranked.complexity) >= 0.0).all()


def degrees_off_axis(rotations):
    """Angle between the rotated diagonal and the nearest axis, 0 to 45."""
    diagonal = np.array([1.0, 1.0]) @ rotations
    angle = np.degrees(np.arctan2(diagonal[:, 1], diagonal[:, 0])) % 90.0
    return np.minimum(angle, 90.0 - angle)


def test_ranking_is_the_same_for_any_number_of_threads():
    X, y = triangle(100, 1, random_state=0)
    one, two = (rank_rotations(X, y, 5, n_trees=5, random_state=3, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.rotations, two.rotations)
    np.testing.assert_array_equal(one.complexity, two.complexity)
    with pytest.raises(ValueError, match="n_rotations must be 1 or more"):
        rank_rotations(X, y, 0)
