"""How trees are shared out to tasks."""

from __future__ import annotations

import numpy as np
import pytest

from bevel.dask.parts import Worker
from bevel.dask.prediction import _moments, _r_squared
from bevel.dask.replicated import GrownParts, _pieces, _places


@pytest.mark.parametrize(("n_trees", "n_threads"), [(1, 1), (7, 2), (200, 2), (5, 64), (13, 0)])
def test_pieces_have_every_tree_once_in_order(n_trees, n_threads):
    pieces = _pieces(n_trees, n_threads)
    numbers = np.concatenate([np.arange(n_trees)[piece] for piece in pieces])
    np.testing.assert_array_equal(numbers, np.arange(n_trees))
    sizes = [piece.stop - piece.start for piece in pieces]
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= 1


def test_tasks_go_to_workers_in_proportion_to_their_threads():
    workers = [Worker("a", 1, None), Worker("b", 3, None)]
    places = _places(workers, 40)
    assert places.count("a") == 10
    assert places.count("b") == 30
    assert _places([], 2) == [None, None]


@pytest.mark.parametrize(("first", "last"), [(0, 5), (5, 10), (3, 4), (9, 12), (0, 12)])
def test_parts_that_cover_trees_are_the_fewest_and_place_the_first(first, last):
    starts = [0, 4, 5, 9]
    parts = [range(4), range(4, 5), range(5, 9), range(9, 12)]
    chosen, before = GrownParts(parts, starts).covering(first, last)
    trees = [tree for part in chosen for tree in part]
    assert trees[before : before + last - first] == list(range(first, last))
    assert all(set(part) & set(range(first, last)) for part in chosen)


def test_r_squared_of_parts_is_that_of_all_rows():
    from sklearn.metrics import r2_score

    rng = np.random.default_rng(0)
    truth, weight = 1e6 + rng.normal(size=90), rng.integers(0, 3, 90).astype(float)
    predicted = truth + 0.3 * rng.normal(size=90)
    parts = [(predicted[p], truth[p], weight[p]) for p in (slice(0, 0), slice(0, 7), slice(7, 90))]
    expected = r2_score(truth, predicted, sample_weight=weight)
    assert _r_squared([_moments(*part) for part in parts]) == pytest.approx(expected, rel=1e-9)
    constant = [(np.ones(3), np.ones(3), None)]
    assert _r_squared([_moments(*part) for part in constant]) == 1.0
