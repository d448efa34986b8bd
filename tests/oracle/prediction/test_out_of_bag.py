"""Out-of-bag sums against a loop over trees and rows, and bags against their description."""

from __future__ import annotations

import numpy as np
import pytest
from support.forests import Forest, Problem, grow, options, problem

from bevel import _core


def some_problem(n_classes: int, n: int = 150, scale: float = 1.0) -> Problem:
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 4))
    X[rng.random((n, 4)) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) + rng.normal(size=n)
    if n_classes == 0:
        return problem(X, signal * scale)
    return problem(X, np.argsort(np.argsort(signal)) * n_classes // n, n_classes)


def options_for(data: Problem, **values: object) -> _core.Options:
    criterion = "gini" if data.n_classes else "squared_error"
    return options(("signs", 4, 8), criterion=criterion, seed=5, **values)


def naive_out_of_bag(
    forest: Forest, data: Problem, how: _core.Options, first_tree: int, hard: bool
) -> tuple[np.ndarray, np.ndarray]:
    sums = np.zeros((data.n_rows, max(1, data.n_classes)))
    n_trees = np.zeros(data.n_rows, int)
    for tree in forest.trees:
        bag = _core.bag(how, data.n_rows, first_tree + tree.number)
        leaves = tree.apply(np.asarray(data.X))
        for row in np.flatnonzero(bag == 0):
            node = tree.nodes[leaves[row]]
            n_trees[row] += 1
            if data.n_classes == 0:
                sums[row, 0] += node.value
            elif hard:
                sums[row, node.index[np.argmax(node.coefficient)]] += 1
            else:
                sums[row, node.index] += node.coefficient
    return sums, n_trees


@pytest.mark.parametrize("n_classes", [2, 5, 0])
@pytest.mark.parametrize("hard", [False, True], ids=["soft", "hard"])
@pytest.mark.parametrize(
    "bag",
    [{"bag_size": 150}, {"bag_size": 60}, {"bag_size": 90, "replace": False}, {"bag_size": 0}],
    ids=["bootstrap", "small_bootstrap", "subsample", "no_bag"],
)
def test_out_of_bag_sums_equal_a_loop_over_trees_and_rows(
    bag: dict[str, object], n_classes: int, hard: bool
) -> None:
    data = some_problem(n_classes)
    how = options_for(data, **bag)
    forest = grow(data, how, 12, first_tree=7)
    sums, n_trees = naive_out_of_bag(forest, data, how, 7, hard)
    for n_threads in (1, 3):
        got_sums, got_trees = forest.view.out_of_bag(data.X, how, 7, hard, n_threads)
        np.testing.assert_array_equal(got_trees, n_trees)
        np.testing.assert_allclose(got_sums, sums, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n_classes", [3, 0])
def test_out_of_bag_sums_of_some_trees_are_those_of_a_forest_of_them(n_classes: int) -> None:
    data = some_problem(n_classes)
    how = options_for(data, bag_size=data.n_rows)
    forest = grow(data, how, 12, first_tree=7)
    for begin, end in ((0, 12), (3, 8), (11, 12), (5, 5)):
        got = forest.view.out_of_bag(data.X, how, 7, False, 2, (begin, end))
        alone = grow(data, how, end - begin, first_tree=7 + begin) if end > begin else None
        expected = alone.view.out_of_bag(data.X, how, 7 + begin, False, 1) if alone else (0.0, 0)
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="no such trees"):
        forest.view.out_of_bag(data.X, how, 7, False, 1, (3, 13))


@pytest.mark.parametrize("scale", [1e-15, 1e-9, 1e9, 1e99])
def test_out_of_bag_sums_of_targets_of_any_size_keep_their_digits(scale: float) -> None:
    data = some_problem(0, scale=scale)
    how = options_for(data, bag_size=data.n_rows)
    forest = grow(data, how, 12)
    sums, _ = naive_out_of_bag(forest, data, how, 0, hard=False)
    got, _ = forest.view.out_of_bag(data.X, how, 0, False, 1)
    np.testing.assert_allclose(got / scale, sums / scale, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_rows", [1, 2, 97])
def test_bag_with_replacement_holds_as_many_draws_as_asked_for(n_rows: int) -> None:
    for tree in range(20):
        bag = _core.bag(options(("axis", 1), bag_size=2 * n_rows), n_rows, tree)
        assert bag.sum() == 2 * n_rows
        assert bag.min() >= 0


@pytest.mark.parametrize("size", [1, 40, 97])
def test_bag_without_replacement_holds_every_row_at_most_once(size: int) -> None:
    for tree in range(20):
        how = options(("axis", 1), bag_size=size, replace=False)
        bag = _core.bag(how, 97, tree)
        assert bag.sum() == size
        assert set(bag) <= {0, 1}


def test_bag_of_size_zero_is_every_row_once() -> None:
    assert (_core.bag(options(("axis", 1)), 10, 0) == 1).all()


def test_bags_differ_between_trees_and_seeds() -> None:
    bags = {
        _core.bag(options(("axis", 1), bag_size=50, seed=seed), 50, tree).tobytes()
        for seed in range(5)
        for tree in range(5)
    }
    assert len(bags) == 25
