"""Distributions of multirotations and of the rows that principal rotations learn from.

Null hypotheses are the definitions of the families; statistics and false-alarm rate, one in a
million each, are those of `support.false_alarms`. A sample is one forest's pool of axes, or the
axes of one tree; sample sizes are stated by the constants below.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from support.false_alarms import assert_counts_follow, assert_mean, assert_uniform
from support.forests import (
    Problem,
    as_matrix,
    bag_rows,
    directions_of_root,
    directions_on,
    grow,
    options,
    problem,
)

from bevel import _core

N_FORESTS = 3000
N_TREES = 4000


def multirotation(n_draws: int, m: int, n_rotations: int, *, flip: bool = False) -> _core.Family:
    return _core.Family("multirotation", n_draws, m, flip=flip, n_rotations=n_rotations)


def pool(seed: int, p: int, m: int, n_rotations: int, *, flip: bool = False) -> np.ndarray:
    """All axes that a forest of this seed chooses among, as rows, features first."""
    n = p + (n_rotations - 1) * m
    how = options(multirotation(n, m, n_rotations, flip=flip), seed=seed)
    directions = directions_of_root(how, np.zeros(p, np.int32), 0)
    axes = as_matrix(directions, p)
    sizes = np.array([index.size for index, _ in directions])
    return axes[np.argsort(sizes > 1, kind="stable")]


def orthogonal_groups(axes: np.ndarray) -> list[np.ndarray]:
    """The rotations that pooled axes come from: axes of one are orthogonal to each other."""
    groups = []
    while len(axes):
        mine = np.abs(axes @ axes[0]) < 1e-5
        mine[0] = True
        groups.append(axes[mine])
        axes = axes[~mine]
    return groups


@pytest.mark.parametrize("flip", [False, True])
def test_pool_holds_the_features_and_haar_rotations(flip: bool) -> None:
    """E q = 0, E q^2 = 1/m, E q^4 = 3 / (m (m + 2)); different rotations are independent."""
    m, n_rotations = 4, 3
    entries, across = [], []
    for seed in range(N_FORESTS):
        axes = pool(seed, m, m, n_rotations, flip=flip)
        features, rotated = axes[:m], axes[m:]
        assert (np.sort(features.argmax(axis=1)) == np.arange(m)).all()
        assert (features.max(axis=1) == 1.0).all()
        one, other = orthogonal_groups(rotated)
        for rotation in (one, other):
            np.testing.assert_allclose(rotation @ rotation.T, np.eye(m), atol=1e-6)
            np.testing.assert_allclose(abs(np.linalg.det(rotation)), 1.0, atol=1e-5)
        entries.append(np.stack([one[0], other[0]]))
        across.append(float(one[0] @ other[0]))
    q = np.array(entries)
    assert_mean(q, 0.0)
    assert_mean(q**2, 1.0 / m)
    assert_mean(q**4, 3.0 / (m * (m + 2)))
    assert_mean(q[:, 0, 0] * q[:, 0, 1], 0.0)
    assert_mean(np.array(across), 0.0)
    assert_mean(np.square(across), 1.0 / m)


@pytest.mark.parametrize("m", [3, 4])
def test_rotation_of_a_tree_has_determinant_one_unless_flips_are_asked_for(m: int) -> None:
    data = problem(np.eye(m), np.arange(m) % 2)
    for flip in (False, True):
        how = options(("rotation", m, m, ("flip", flip)))
        determinants = np.array(
            [np.linalg.det(as_matrix(directions_on(data, how, t)[0], m)) for t in range(N_TREES)]
        )
        np.testing.assert_allclose(np.abs(determinants), 1.0, atol=1e-5)
        if flip:
            assert_uniform(np.bincount((determinants > 0).astype(int), minlength=2))
        else:
            assert (determinants > 0).all()


def test_all_trees_and_later_fits_choose_among_the_same_axes() -> None:
    data = problem(np.random.default_rng(0).normal(size=(300, 4)), np.arange(300) % 2)
    how = options(multirotation(5, 4, 3), seed=7)
    known = pool(7, 4, 4, 3)
    whole = grow(data, how, 6)
    for forest in (whole, grow(data, how, 3, first_tree=3)):
        for tree in forest.trees:
            for node in tree.nodes:
                if not node.is_leaf:
                    axis = as_matrix([(node.index, node.coefficient)], 4)
                    assert (known == axis).all(axis=1).any()
    later = grow(data, how, 3, first_tree=3).arrays["threshold"]
    np.testing.assert_array_equal(later, whole.arrays["threshold"][-len(later) :])
    assert not np.isin(pool(8, 4, 4, 3)[4:], known).any()


def test_two_multirotations_of_a_list_are_different() -> None:
    family = multirotation(6, 3, 2)
    directions = directions_of_root(options(family, family), np.zeros(3, np.int32), 0)
    dense = [w.tobytes() for index, w in directions if index.size > 1]
    assert len(set(dense)) == len(dense) == 6


def test_directions_are_drawn_uniformly_from_the_pool() -> None:
    p, n_rotations = 3, 4
    how = options(multirotation(2, p, n_rotations), seed=1)
    known = pool(1, p, p, n_rotations)
    counts = np.zeros((2, len(known)), int)
    for tree in range(3 * N_TREES):
        drawn = as_matrix(directions_of_root(how, np.zeros(p, np.int32), tree), p)
        places = [int(np.flatnonzero((known == axis).all(axis=1))[0]) for axis in drawn]
        assert places[0] != places[1]
        counts[[0, 1], places] += 1
    for position in counts:
        assert_uniform(position)


def test_more_features_than_can_be_rotated_are_rotated_in_subsets() -> None:
    p, m = 5, 2
    counts = np.zeros((p, p), int)
    for seed in range(N_FORESTS):
        axes = pool(seed, p, m, 2)
        assert axes.shape == (p + m, p)
        a, b = np.flatnonzero(axes[p])
        assert (np.flatnonzero(axes[p + 1]) == [a, b]).all()
        counts[a, b] += 1
    assert_uniform(counts[np.triu_indices(p, 1)])


def principal(group_size: int, share: float = 0.75) -> _core.Family:
    return _core.Family("principal", 1, group_size, share=share)


def leading_axis(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """First component of rows that are not all the same; of others a vector of zeros."""
    centred = X - np.average(X, axis=0, weights=weight)
    variance, vectors = np.linalg.eigh((weight[:, None] * centred).T @ centred)
    if variance[-1] < 1e-12:
        return np.zeros(X.shape[1])
    axis = vectors[:, -1]
    return axis * np.sign(axis[np.abs(axis).argmax()])


def outcomes(
    X: np.ndarray, weight: np.ndarray, drawings: list[int], n_draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """Leading axes of all bootstraps, and their probabilities, by enumeration."""
    axes = []
    for drawn in product(drawings, repeat=n_draws):
        times = np.bincount(drawn, minlength=len(X))
        axes.append(leading_axis(X, times * weight))
    distinct, counts = np.unique(np.round(axes, 5) + 0.0, axis=0, return_counts=True)
    return distinct, counts / counts.sum()


def count_outcomes(axes: Iterator[np.ndarray], distinct: np.ndarray) -> np.ndarray:
    """How often each axis came; what is along a coordinate comes from rows that are the same."""
    counts = np.zeros(len(distinct), int)
    nothing = int(np.flatnonzero(~distinct.any(axis=1))[0])
    for axis in axes:
        place = nothing
        if np.abs(axis).max() < 1.0:
            distance = np.abs(distinct - axis).max(axis=1)
            place = int(distance.argmin())
            assert distance[place] < 1e-4
        counts[place] += 1
    return counts


ROWS = np.array([[0.1, 0.9], [1.3, -0.4], [-2.0, 0.3], [0.7, 2.1]])


@pytest.mark.parametrize("weights", [None, [1.0, 2.5, 0.5, 1.5]])
@pytest.mark.parametrize(("share", "n_draws"), [(0.75, 3), (0.6, 2), (1.0, 4)])
def test_tree_learns_from_a_bootstrap_of_the_share_asked_for(
    share: float, n_draws: int, weights: list[float] | None
) -> None:
    data = problem(ROWS, np.arange(4.0), weights=weights)
    distinct, probability = outcomes(ROWS, data.row_weights, [0, 1, 2, 3], n_draws)
    how = options(principal(2, share), criterion="squared_error")
    axes = (as_matrix(directions_on(data, how, t)[0], 2)[0] for t in range(4 * N_TREES))
    assert_counts_follow(count_outcomes(axes, distinct), probability)


def test_rows_drawn_twice_into_the_bag_are_twice_as_likely() -> None:
    data = problem(ROWS, np.arange(4.0))
    how = options(principal(2), criterion="squared_error", bag_size=4)
    bag = [2, 1, 1, 0]
    trees = [t for t in range(8 * N_TREES) if _core.bag(how, 4, t).tolist() == bag]
    distinct, probability = outcomes(ROWS, np.ones(4), [0, 0, 1, 2], 3)
    axes = (as_matrix(directions_on(data, how, t)[0], 2)[0] for t in trees)
    assert_counts_follow(count_outcomes(axes, distinct), probability)


def three_lines(n_classes: int) -> tuple[Problem, np.ndarray]:
    """Classes whose rows lie on lines of their own; the axis of a class alone is its line."""
    angle = np.array([0.2, 1.1, 2.3])
    lines = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    lines *= np.sign(lines[np.arange(3), np.abs(lines).argmax(axis=1)])[:, None]
    y = np.repeat(np.arange(3), 12)
    X = np.random.default_rng(0).normal(size=(36, 1)) * lines[y]
    return problem(X, y, n_classes), lines


@pytest.mark.parametrize("n_classes", [3, 5])
def test_every_set_of_the_classes_at_hand_is_as_likely(n_classes: int) -> None:
    """Three classes have seven sets; each class is alone in one of them."""
    data, lines = three_lines(n_classes)
    counts = np.zeros(4, int)
    for tree in range(N_TREES):
        axis = as_matrix(directions_on(data, options(principal(2)), tree)[0], 2)[0]
        alone = np.flatnonzero(np.abs(lines - axis).max(axis=1) < 1e-5)
        counts[alone[0] if alone.size else 3] += 1
    assert_counts_follow(counts, np.array([1, 1, 1, 4]) / 7)


def test_purely_random_trees_choose_no_classes() -> None:
    data, lines = three_lines(3)
    how = options(principal(2), threshold="purely_random")
    for tree in range(200):
        axis = as_matrix(directions_on(data, how, tree)[0], 2)[0]
        assert np.abs(lines - axis).max(axis=1).min() > 1e-4


def test_features_are_grouped_uniformly() -> None:
    data = problem(np.random.default_rng(0).normal(size=(8, 5)), np.arange(8.0))
    how = options(principal(2), criterion="squared_error")
    pairs = np.zeros((5, 5), int)
    alone = np.zeros(5, int)
    for tree in range(N_TREES):
        axes, _ = directions_on(data, how, tree)
        a, b = sorted({int(f) for index, _ in axes[:2] for f in index})
        pairs[a, b] += 1
        alone[int(axes[4][0][0])] += 1
    assert_uniform(pairs[np.triu_indices(5, 1)])
    assert_uniform(alone)


def test_fewer_draws_at_a_node_take_any_component_of_any_group() -> None:
    """Bags of all rows: the components are the same in every tree, only the choice differs."""
    rng = np.random.default_rng(0)
    data = problem(rng.normal(size=(30, 3)) @ rng.normal(size=(3, 3)), np.arange(30) % 2)
    how = options(_core.Family("principal", 2, 3, per_node=True))
    everything = as_matrix(
        directions_on(data, options(_core.Family("principal", 3, 3, per_node=True)), 0)[1], 3
    )
    left_out = np.zeros(3, int)
    for tree in range(N_TREES):
        drawn = as_matrix(directions_on(data, how, tree)[1], 3)
        seen = [(everything == axis).all(axis=1).argmax() for axis in drawn]
        left_out[3 - sum(seen)] += 1
    assert_uniform(left_out)
    assert bag_rows(data, how, 0)[0].size == 30
