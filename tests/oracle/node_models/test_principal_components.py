"""Principal rotations against NumPy's eigenvectors on the same rows.

NumPy solves for all components at once with LAPACK; ours are compared direction by direction.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.forests import (
    Directions,
    Problem,
    as_matrix,
    bag_rows,
    differing_arrays,
    directions_on,
    grow,
    options,
    problem,
)

from bevel import _core


def principal(
    n_draws: int, group_size: int, *, per_node: bool = False, share: float = 0.75
) -> _core.Family:
    return _core.Family("principal", n_draws, group_size, per_node=per_node, share=share)


def numpy_components(X: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviations, falling, and components as rows, of weighted rows."""
    centred = X - np.average(X, axis=0, weights=weight)
    covariance = (weight[:, None] * centred).T @ centred / weight.sum()
    variance, vectors = np.linalg.eigh(covariance)
    return np.sqrt(np.maximum(0.0, variance[::-1])), vectors.T[::-1]


def some_problem(seed: int, n: int = 60, p: int = 7, n_classes: int = 3) -> Problem:
    """Features of different variance that hang together, some missing, all rows weighted."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(size=p)
    X[rng.random((n, p)) < 0.05] = np.nan
    y = rng.integers(0, n_classes, n) if n_classes else rng.normal(size=n)
    return problem(X, y, n_classes, rng.uniform(0.5, 2, n))


def filled(data: Problem) -> np.ndarray:
    return np.where(np.isnan(data.X), data.medians, data.X).astype(float)


def assert_are_components(directions: Directions, X: np.ndarray, weight: np.ndarray) -> None:
    """All components of their features in order, the largest entry of each positive."""
    features = np.unique(np.concatenate([index for index, _ in directions]))
    ours = as_matrix(directions, X.shape[1])[:, features]
    _, theirs = numpy_components(X[:, features], weight)
    assert ours.shape == theirs.shape
    largest = np.abs(ours).argmax(axis=1)
    assert (ours[np.arange(len(ours)), largest] > 0).all()
    theirs = theirs * np.sign((ours * theirs).sum(axis=1))[:, None]
    np.testing.assert_allclose(ours, theirs, atol=2e-6)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("group_size", [1, 2, 3, 7])
@pytest.mark.parametrize("bag_size", [0, 60])
def test_candidates_of_a_node_are_the_components_of_disjoint_groups(
    bag_size: int, group_size: int, seed: int
) -> None:
    data = some_problem(seed)
    how = options(principal(7, group_size, per_node=True), bag_size=bag_size, seed=seed)
    rows, weight = bag_rows(data, how, 0)
    axes, root = directions_on(data, how, 0)
    assert axes == []
    assert len(root) == 7
    covered: list[int] = []
    while root:
        group = root[: min(group_size, 7 - len(covered))]
        root = root[len(group) :]
        assert_are_components(group, filled(data)[rows], weight[rows])
        covered += sorted({int(f) for index, _ in group for f in index})
    assert sorted(covered) == list(range(7))


@pytest.mark.parametrize("n_classes", [2, 5, 0])
@pytest.mark.parametrize("growth", ["depth_first", "best_first"])
def test_every_node_splits_on_a_component_of_its_own_rows(growth: str, n_classes: int) -> None:
    data = some_problem(n_classes, n=400, n_classes=n_classes)
    how = options(
        principal(7, 3, per_node=True),
        criterion="gini" if n_classes else "squared_error",
        bag_size=400,
        growth=growth,
        max_leaf_nodes=0 if growth == "depth_first" else 40,
    )
    n_checked = 0
    for tree in grow(data, how, 2).trees:
        rows, weight = bag_rows(data, how, tree.number)
        passing = tree.rows_of_nodes(data.X, rows)
        for node, here in zip(tree.nodes, passing, strict=True):
            if node.is_leaf or len(here) < 6:
                continue
            X = filled(data)[here][:, node.index]
            deviation, components = numpy_components(X, weight[here])
            alike = np.abs(components @ node.coefficient)
            assert alike.max() > 1 - 1e-5
            assert deviation[alike.argmax()] > 1e-6
            n_checked += 1
    assert n_checked > 40


@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_components_of_eigenvalue_zero_are_no_candidates(n_rows: int) -> None:
    """n rows differ along n - 1 directions, copies and constants add none."""
    rng = np.random.default_rng(n_rows)
    for _ in range(20):
        X = 10 + rng.normal(size=(n_rows, 6))
        X[:, 4] = X[:, 0]
        X[:, 5] = 3.7
        data = problem(X, np.arange(n_rows) % 2)
        _, root = directions_on(data, options(principal(6, 6, per_node=True)), 0)
        assert len(root) == min(n_rows - 1, 4)
        # The constant takes no part, but for rounding.
        assert np.abs(as_matrix(root, 6)[:, 5]).max() < 1e-6


def test_feature_of_tiny_spread_beside_a_large_one_is_still_a_candidate() -> None:
    rng = np.random.default_rng(0)
    data = problem(rng.normal(size=(50, 3)) * [1e6, 1.0, 1e-3], np.arange(50) % 2)
    _, root = directions_on(data, options(principal(3, 3, per_node=True)), 0)
    assert len(root) == 3
    assert (np.abs(as_matrix(root, 3)).argmax(axis=1) == [0, 1, 2]).all()


@pytest.mark.parametrize("n_draws", [1, 2, 4, 5])
def test_fewer_draws_take_that_many_components(n_draws: int) -> None:
    data = some_problem(0)
    for tree in range(20):
        _, root = directions_on(data, options(principal(n_draws, 3, per_node=True)), tree)
        assert len(root) == n_draws
        assert len({index.tobytes() for index, _ in root}) == -(-n_draws // 3)


@pytest.mark.parametrize("n_classes", [3, 0])
@pytest.mark.parametrize(("p", "group_size"), [(7, 3), (7, 7), (6, 2), (5, 1)])
def test_axes_of_a_tree_are_a_block_diagonal_rotation(
    p: int, group_size: int, n_classes: int
) -> None:
    data = some_problem(1, p=p, n_classes=n_classes)
    for tree in range(10):
        axes, _ = directions_on(data, options(principal(p, group_size), bag_size=60), tree)
        matrix = as_matrix(axes, p)
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(p), atol=1e-6)
        groups = [
            {int(f) for index, _ in axes[start : start + group_size] for f in index}
            for start in range(0, p, group_size)
        ]
        assert [len(group) for group in groups] == [
            min(group_size, p - start) for start in range(0, p, group_size)
        ]
        assert set().union(*groups) == set(range(p))
        assert sum(index.size for index, _ in axes) <= p * group_size


def test_leading_axis_of_rows_on_a_line_is_the_line_whatever_was_drawn() -> None:
    direction = np.array([3.0, -4.0, 12.0]) / 13
    t = np.random.default_rng(0).normal(size=400)
    data = problem(t[:, None] * direction, np.arange(400) % 2)
    for tree in range(10):
        axes, _ = directions_on(data, options(principal(3, 3)), tree)
        np.testing.assert_allclose(as_matrix(axes, 3)[0], direction, atol=1e-6)


@pytest.mark.parametrize(
    "X",
    [
        np.ones((20, 5)),
        np.zeros((20, 5)),
        np.full((20, 5), np.nan),
        np.arange(20.0)[:, None] * [1.0, 0.0, 1.0, 0.0, 0.0],
        np.random.default_rng(0).normal(size=(2, 5)),
        np.random.default_rng(0).normal(size=(1, 5)),
        1e34 * np.random.default_rng(0).uniform(-1, 1, size=(20, 5)),
        1e-40 * np.random.default_rng(0).uniform(-1, 1, size=(20, 5)),
    ],
    ids=["ones", "zeros", "missing", "rank_one", "two_rows", "one_row", "huge", "denormal"],
)
@pytest.mark.parametrize("group_size", [1, 2, 5])
def test_degenerate_groups_still_give_a_complete_rotation(group_size: int, X: np.ndarray) -> None:
    data = problem(X, np.arange(len(X)) % 2, 2)
    for tree in range(10):
        axes, _ = directions_on(data, options(principal(5, group_size)), tree)
        matrix = as_matrix(axes, 5)
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(5), atol=1e-6)
    for family in (principal(5, group_size), principal(5, group_size, per_node=True)):
        forest = grow(data, options(family), 3)
        assert np.isfinite(forest.arrays["threshold"]).all()
        assert np.isfinite(forest.arrays["rotation_weight"]).all()


def test_class_of_a_single_row_is_no_trouble() -> None:
    rng = np.random.default_rng(0)
    data = problem(rng.normal(size=(30, 4)), [2] + [0, 1] * 14 + [1])
    for tree in range(50):
        axes, _ = directions_on(data, options(principal(4, 2), seed=tree), tree)
        matrix = as_matrix(axes, 4)
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(4), atol=1e-6)
    assert grow(data, options(principal(4, 2)), 5).n_trees == 5


@pytest.mark.parametrize("per_node", [False, True])
def test_rows_that_differ_by_rounding_alone_are_not_distinguished(per_node: bool) -> None:
    """All features are one number, up to float32; labels are noise. Across it there is no split."""
    rng = np.random.default_rng(0)
    t = rng.normal(size=200)
    data = problem(100 + np.outer(t, [1.0, 0.3, -0.7]), rng.integers(0, 2, 200))
    forest = grow(data, options(principal(3, 3, per_node=per_node)), 5)
    for tree in forest.trees:
        for node, here in zip(tree.nodes, tree.rows_of_nodes(data.X, np.arange(200)), strict=True):
            if node.is_leaf or len(here) < 10:
                continue
            values = tree.projected(node, data.X[here])
            assert abs(np.corrcoef(values, t[here])[0, 1]) > 0.99


def test_weights_count_as_repeated_rows() -> None:
    """At a node nothing is drawn but the groups: weighted rows and copies of them are the same."""
    rng = np.random.default_rng(0)
    data = problem(rng.normal(size=(40, 6)), np.arange(40) % 2, weights=rng.integers(1, 4, 40))
    copied = replace(data.rows(np.repeat(np.arange(40), data.weights.astype(int))), weights=None)
    how = options(principal(6, 3, per_node=True))
    _, ours = directions_on(data, how, 0)
    _, theirs = directions_on(copied, how, 0)
    np.testing.assert_allclose(as_matrix(ours, 6), as_matrix(theirs, 6), atol=1e-6)


def test_rows_in_any_block_give_the_same_components() -> None:
    """Subtrees are copied together once they fit a cache; their rows are then numbered anew."""
    data = some_problem(0, n=3000, p=6, n_classes=2)
    how = options(principal(6, 3, per_node=True), bag_size=3000)
    forests = [grow(data, how, 4, n_threads=t) for t in (1, 2, 7)]
    assert differing_arrays(forests[0], forests[1]) == []
    assert differing_arrays(forests[0], forests[2]) == []
