"""Distributions of the directions that a node draws.

Null hypotheses are the definitions of the families. Statistics are chi-square on counts,
Kolmogorov-Smirnov on weights and z on moments, each with a false-alarm rate of one in a million
(see `support.false_alarms`). A sample is the root of one tree; sample sizes are N_TREES roots for
each of a few seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import pytest
from scipy import stats
from support.false_alarms import (
    assert_counts_follow,
    assert_distribution,
    assert_independent,
    assert_mean,
    assert_uniform,
)
from support.forests import as_matrix, directions_of_root, grow, options, problem

from bevel import _core

N_TREES = 2000
SEEDS = (0, 1, 2**63)
# Numeric columns 0 .. 6 among nominal ones, which no direction may touch.
LEVELS = np.array([0, 0, 0, 4, 0, 0, 0, 2, 0], np.int32)
NUMERIC = np.flatnonzero(LEVELS == 0)
P = len(NUMERIC)


@dataclass(frozen=True)
class Direction:
    index: np.ndarray
    weight: np.ndarray


def roots(
    family: tuple[object, ...], levels: np.ndarray = LEVELS, n: int = N_TREES
) -> list[list[Direction]]:
    """Candidates of the root of many trees."""
    return [
        [Direction(*direction) for direction in directions_of_root(how, levels, tree)]
        for how in (options(family, seed=seed) for seed in SEEDS)
        for tree in range(n)
    ]


def place(features: np.ndarray) -> np.ndarray:
    """Position among the numeric columns."""
    return np.searchsorted(NUMERIC, features)


def count_pairs(pairs: list[np.ndarray], p: int = P) -> np.ndarray:
    """How often each unordered pair of different columns occurs."""
    counts = np.zeros((p, p), int)
    for a, b in pairs:
        counts[min(a, b), max(a, b)] += 1
    return counts[np.triu_indices(p, 1)]


@pytest.mark.parametrize("n_entries", [3, 12, 17, 18, 30, 35])
def test_signs_sampler_puts_the_requested_entries_into_different_cells(n_entries: int) -> None:
    for directions in roots(("signs", 5, n_entries), n=100):
        assert sum(d.index.size for d in directions) == n_entries
        assert len(directions) <= 5
        for d in directions:
            assert d.index.size > 0
            assert len(set(d.index)) == d.index.size
            assert set(d.index) <= set(NUMERIC)
            assert set(np.abs(d.weight)) == {1.0}


@pytest.mark.parametrize("n_entries", [5, 12, 24])
def test_signs_sampler_hits_all_cells_alike(n_entries: int) -> None:
    """Below one half of the cells entries are thrown, above it the gaps are."""
    d, n_cells = 5, 5 * P
    samples = roots(("signs", d, n_entries))
    entries = np.concatenate([x.index for directions in samples for x in directions])
    not_replaced = (n_cells - n_entries) / (n_cells - 1)
    assert_uniform(np.bincount(place(entries), minlength=P), spread=not_replaced)
    # Entries in a column are hypergeometric; as columns of a root are not independent, one by one.
    sizes = np.array(
        [np.bincount([x.index.size for x in directions], minlength=P + 1) for directions in samples]
    )
    sizes[:, 0] = d - sizes[:, 1:].sum(axis=1)
    expected = d * stats.hypergeom.pmf(np.arange(P + 1), n_cells, P, n_entries)
    common = expected > 0.02
    assert_mean(sizes[:, common], expected[common])


@pytest.mark.parametrize(("n_entries", "size"), [(10, 2), (25, P - 2)])
def test_signs_sampler_combines_all_pairs_of_features_alike(n_entries: int, size: int) -> None:
    columns = [d for directions in roots(("signs", 5, n_entries)) for d in directions]
    pairs = [place(d.index) for d in columns if d.index.size == size]
    if size != 2:  # of nearly full columns, the pairs that are left out
        pairs = [np.setdiff1d(np.arange(P), chosen) for chosen in pairs]
    assert_uniform(count_pairs(pairs))


@pytest.mark.parametrize("n_entries", [10, 25])
def test_signs_are_balanced_and_independent(n_entries: int) -> None:
    columns = [d for directions in roots(("signs", 5, n_entries)) for d in directions]
    features = place(np.concatenate([d.index for d in columns]))
    positive = np.concatenate([d.weight for d in columns]) > 0
    for feature in range(P):
        assert_uniform(np.bincount(positive[features == feature], minlength=2))
    assert_uniform(np.bincount(2 * positive[:-1] + positive[1:], minlength=4))
    pairs = np.array([d.weight[:2] > 0 for d in columns if d.index.size >= 2])
    assert_independent(pairs[:, 0].astype(int), pairs[:, 1].astype(int), 2)


@pytest.mark.parametrize("n_draws", [1, 2, 4])
def test_axis_sampler_draws_features_uniformly_without_replacement(n_draws: int) -> None:
    drawn = np.array(
        [np.concatenate([d.index for d in directions]) for directions in roots(("axis", n_draws))]
    )
    assert all(len(set(row)) == n_draws for row in drawn)
    assert set(drawn.ravel()) == set(NUMERIC)
    for position in range(n_draws):
        assert_uniform(np.bincount(place(drawn[:, position]), minlength=P))
    if n_draws > 1:
        assert_uniform(count_pairs(list(place(drawn[:, :2]))))
    assert {
        w for directions in roots(("axis", n_draws), n=5) for d in directions for w in d.weight
    } == {1.0}


def test_axis_sampler_draws_all_orders_alike() -> None:
    levels = np.zeros(4, np.int32)
    orders = [tuple(int(d.index[0]) for d in root) for root in roots(("axis", 4), levels)]
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert counts.size == 24
    assert_uniform(counts)


def test_categorical_sampler_draws_nominal_columns_uniformly() -> None:
    levels = np.array([0, 3, 3, 0, 5, 9, 2], np.int32)
    drawn = np.array([[d.index[0] for d in root] for root in roots(("categorical", 2), levels)])
    nominal = np.flatnonzero(levels)
    assert_uniform(count_pairs(list(np.searchsorted(nominal, drawn)), p=5))


def test_combination_sampler_draws_distinct_features_and_uniform_weights() -> None:
    columns = [d for directions in roots(("combination", 3, 2)) for d in directions]
    features = place(np.array([d.index for d in columns]))
    weights = np.array([d.weight for d in columns])
    assert len(columns) == 3 * N_TREES * len(SEEDS)
    assert (features[:, 0] != features[:, 1]).all()
    assert_uniform(count_pairs(list(features)))
    assert_distribution(weights, stats.uniform(-1, 2))
    assert_mean(weights[:, 0] * weights[:, 1], 0.0)
    assert_mean(weights[:-1, 1] * weights[1:, 0], 0.0)


def test_gaussian_sampler_draws_normal_weights_for_standardised_features() -> None:
    """One direction and no choice among cuts: the root holds whatever was drawn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [1e-3, 1.0, 40.0, 1e6]
    X[rng.random((60, 4)) < 0.1] = np.nan
    data = problem(X, np.arange(60) % 2)
    filled = np.where(np.isnan(data.X), data.medians, data.X).astype(float)
    directions = []
    for seed in SEEDS:
        how = options(
            ("gaussian", 1, 2),
            threshold="purely_random",
            growth="random_leaf",
            max_leaf_nodes=2,
            seed=seed,
        )
        directions += [tree.nodes[0] for tree in grow(data, how, N_TREES).trees]
    features = np.array([d.index for d in directions])
    weights = np.array([d.coefficient for d in directions]) * filled.std(axis=0)[features]
    assert_distribution(weights, stats.norm())
    assert_mean(weights[:, 0] * weights[:, 1], 0.0)
    assert_uniform(count_pairs(list(features), p=4))


def rotations(m: int, n_draws: int, *, flip: bool) -> np.ndarray:
    """Rotations of fresh roots as matrices: roots x axes x features."""
    samples = roots(
        ("rotation", n_draws, m, ("flip", flip), ("per_node", True)), np.zeros(m, np.int32)
    )
    matrices = np.zeros((len(samples), n_draws, m))
    for matrix, directions in zip(matrices, samples, strict=True):
        for axis, d in zip(matrix, directions, strict=True):
            axis[d.index] = d.weight
    return matrices


@pytest.mark.parametrize(("m", "n_draws"), [(2, 2), (5, 5), (5, 2)])
@pytest.mark.parametrize("flip", [False, True])
def test_rotation_sampler_entries_follow_haar_first_two_moments(
    m: int, n_draws: int, flip: bool
) -> None:
    """Of a Haar matrix E q = 0, E q^2 = 1/m, E q^4 = 3 / (m (m + 2)), products are uncorrelated."""
    q = rotations(m, n_draws, flip=flip)
    gram = q @ q.transpose(0, 2, 1)
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(n_draws), gram.shape), atol=1e-6)
    flat = q.reshape(len(q), -1)
    assert_mean(flat, 0.0)
    assert_mean(flat**2, 1.0 / m)
    assert_mean(flat**4, 3.0 / (m * (m + 2)))
    if m > 2:  # of a 2 x 2 rotation the entries are equal in pairs
        products = flat[:, :, None] * flat[:, None, :]
        assert_mean(products[:, *np.triu_indices(flat.shape[1], 1)], 0.0)


@pytest.mark.parametrize("m", [4, 5])
def test_rotation_has_determinant_one_unless_flips_are_asked_for(m: int) -> None:
    np.testing.assert_allclose(np.linalg.det(rotations(m, m, flip=False)), 1.0, atol=1e-5)
    determinants = np.linalg.det(rotations(m, m, flip=True))
    np.testing.assert_allclose(np.abs(determinants), 1.0, atol=1e-5)
    assert_uniform(np.bincount((determinants > 0).astype(int), minlength=2))


def test_node_rotation_of_some_features_leaves_the_others_among_the_candidates() -> None:
    """Of d axes of the whole rotation d (p - m) / p are features, on average."""
    p, m, n_draws = 6, 4, 3
    samples = roots(("rotation", n_draws, m, ("per_node", True)), np.zeros(p, np.int32))
    assert all(len(directions) == n_draws for directions in samples)
    single = [[d.index[0] for d in directions if len(d.index) == 1] for directions in samples]
    assert_mean(np.array([len(features) for features in single], float), n_draws * (p - m) / p)
    assert all(len(set(features)) == len(features) for features in single)
    assert_uniform(np.bincount(np.concatenate(single).astype(int), minlength=p))
    for directions in samples[:100]:
        axes = as_matrix([(d.index, d.weight) for d in directions], p)
        np.testing.assert_allclose(axes @ axes.T, np.eye(n_draws), atol=1e-6)


def test_direct_method_has_a_uniform_first_axis_and_mirrored_others() -> None:
    """Listing 1.1 of Blaser: 2 c c' / c'c - I with c = a + e1, a uniform on the sphere."""
    m = 5
    family = _core.Family("rotation", m, m, flip=True, per_node=True, direct=True)
    q = np.array(
        [
            as_matrix(
                directions_of_root(options(family, seed=seed), np.zeros(m, np.int32), tree), m
            )
            for seed in SEEDS
            for tree in range(N_TREES)
        ]
    )
    np.testing.assert_allclose(q, q.transpose(0, 2, 1), atol=1e-6)
    np.testing.assert_allclose(q @ q, np.broadcast_to(np.eye(m), q.shape), atol=1e-5)
    np.testing.assert_allclose(np.linalg.det(q), (-1.0) ** (m - 1), atol=1e-4)
    first = q[:, 0]
    assert_mean(first, 0.0)
    assert_mean(first**2, 1.0 / m)
    assert_mean(first**4, 3.0 / (m * (m + 2)))
    # A uniform matrix has E q = 0 everywhere; this one has trace 2 - m.
    np.testing.assert_allclose(np.trace(q, axis1=1, axis2=2), 2.0 - m, atol=1e-5)
    without_flips = _core.Family("rotation", 4, 4, per_node=True, direct=True)
    turned = directions_of_root(options(without_flips, seed=1), np.zeros(4, np.int32), 0)
    np.testing.assert_allclose(np.linalg.det(as_matrix(turned, 4)), 1.0, atol=1e-5)


def test_rotation_of_a_plane_has_a_uniform_angle() -> None:
    q = rotations(2, 2, flip=False)
    angle = np.arctan2(q[:, 0, 1], q[:, 0, 0])
    assert_distribution(angle, stats.uniform(-np.pi, 2 * np.pi))


def test_rotation_of_a_tree_has_the_moments_of_haar_and_takes_all_features_alike() -> None:
    """Axes that some node uses are kept with the tree; which ones does not depend on the target.

    Features that the rotation leaves alone are axes too.
    """
    p, m = 6, 3
    rng = np.random.default_rng(0)
    data = problem(rng.normal(size=(40, p)), np.arange(40) % 2)
    axes, features, alone = [], [], []
    for seed in SEEDS:
        how = options(
            ("rotation", 1, m),
            threshold="purely_random",
            growth="random_leaf",
            max_leaf_nodes=2,
            seed=seed,
        )
        arrays = grow(data, how, N_TREES).arrays
        assert (np.diff(arrays["rotation_offset"]) == 1).all()
        sizes = np.diff(arrays["rotation_entry_offset"])
        assert set(sizes.tolist()) == {1, m}
        rotated = np.repeat(sizes == m, sizes)
        alone.append(arrays["rotation_index"][~rotated])
        assert (arrays["rotation_weight"][~rotated] == 1.0).all()
        axes.append(arrays["rotation_weight"][rotated].reshape(-1, m))
        features.append(arrays["rotation_index"][rotated].reshape(-1, m))
    single = np.concatenate(alone)
    n_trees = N_TREES * len(SEEDS)
    assert_counts_follow([len(single), n_trees - len(single)], [(p - m) / p, m / p])
    assert_uniform(np.bincount(single, minlength=p))
    q, chosen = np.concatenate(axes).astype(float), np.concatenate(features)
    np.testing.assert_allclose((q**2).sum(axis=1), 1.0, atol=1e-6)
    assert_mean(q, 0.0)
    assert_mean(q**2, 1.0 / m)
    assert_mean(q[:, 0] * q[:, 1], 0.0)
    assert (np.diff(chosen, axis=1) > 0).all()
    subsets = np.unique(chosen, axis=0, return_counts=True)[1]
    assert subsets.size == comb(p, m)
    assert_uniform(subsets)


def test_two_rotations_of_a_tree_each_deal_from_axes_of_their_own() -> None:
    """One direction of each is drawn and one of the two kept; their sizes tell them apart."""
    data = problem(np.random.default_rng(0).normal(size=(40, 6)), np.arange(40) % 2)
    sizes = []
    for seed in SEEDS:
        how = options(
            ("rotation", 1, 2),
            ("rotation", 1, 5),
            threshold="purely_random",
            growth="random_leaf",
            max_leaf_nodes=2,
            seed=seed,
        )
        arrays = grow(data, how, N_TREES).arrays
        sizes.append(np.diff(arrays["rotation_entry_offset"]))
    values, counts = np.unique(np.concatenate(sizes), return_counts=True)
    assert values.tolist() == [1, 2, 5]  # 4 and 1 of 6 axes are features that are not rotated
    assert_counts_follow(counts, [(4 + 1) / 12, 2 / 12, 5 / 12])


@pytest.mark.parametrize("lag", [1, 2, 7])
def test_trees_and_seeds_next_to_each_other_draw_independently(lag: int) -> None:
    def first_feature(seed: int, tree: int) -> int:
        how = options(("axis", 1), seed=seed)
        return int(_core.sample_candidates(how, np.zeros(5, np.int32), tree)[1][0])

    by_tree = np.array([first_feature(3, tree) for tree in range(4000)])
    assert_independent(by_tree[:-lag], by_tree[lag:], 5)
    by_seed = np.array([first_feature(seed, 3) for seed in range(4000)])
    assert_independent(by_seed[:-lag], by_seed[lag:], 5)
    diagonal = np.array([first_feature(i, i) for i in range(4000)])
    assert_counts_follow(np.bincount(diagonal, minlength=5), 0.2)
    assert_independent(by_tree, by_seed, 5)
