"""Trees as deep as they have splits are told, explained and exported in linear time."""

import json
import time
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from support.deep_trees import chain, estimator_with
from support.naive.depth import naive_depth
from support.random_forests import random_forest

from bevel.analysis import path_rules, shapley_values, top_rules, tree_rules
from bevel.forest.flat_forest import MAX_SHOWN
from bevel.forest.task import Classification

N_SPLITS = 5000
DEEP = [
    pytest.param((left, n_classes), id=f"{'left' if left else 'right'}-{n_classes}")
    for left in (False, True)
    for n_classes in (0, 2)
]


@pytest.fixture(scope="module", params=DEEP)
def deep(request):
    left, n_classes = request.param
    return estimator_with(chain(N_SPLITS, left=left, n_classes=n_classes))


def test_depth_of_every_node_is_that_of_a_walk():
    for seed in range(5):
        forest = random_forest(np.random.default_rng(seed), n_trees=7, depth=6)
        assert forest.depth.tolist() == naive_depth(forest)
    assert chain(50).depth.max() == 50


def test_printed_tree_says_how_many_nodes_it_leaves_out(deep):
    text = str(deep[0].forest_.tree(0))
    assert len(text) < 400_000
    lines = text.splitlines()
    assert len(lines) <= MAX_SHOWN + 3
    assert lines[-1].startswith("… 8,")
    assert "more nodes" in lines[-1]


def test_printed_tree_of_a_slim_forest_leaves_nodes_out_too(deep):
    slim = copy(deep[0]).slim()
    assert "more nodes" in str(slim.forest_.tree(0))


def test_small_tree_is_printed_whole():
    estimator, _, _ = estimator_with(chain(30))
    assert str(estimator.forest_.tree(0)) == str(tree_rules(estimator))
    assert "more nodes" not in str(estimator.forest_.tree(0))


def test_all_rules_of_a_deep_tree_begin_at_the_left_again(deep):
    rules = tree_rules(deep[0])
    lines = str(rules).splitlines()
    assert len(lines) == len(rules)
    assert max(map(len, lines)) < 300
    assert sum(line.startswith("[40] ") for line in lines) > 10
    assert any(line.startswith("[4960] ") for line in lines)


def test_nodes_of_a_deep_tree_are_lines_of_a_frame(deep):
    assert len(deep[0].forest_.tree(0).to_pandas()) == 2 * N_SPLITS + 1


def test_nested_dictionaries_of_a_deep_tree_are_refused_and_of_a_pruned_one_are_json(deep):
    tree = deep[0].forest_.tree(0)
    with pytest.raises(ValueError, match="of a tree of depth 200 or less; got depth 5000"):
        tree.to_dict()
    assert len(json.dumps(tree.rules(max_depth=200).to_dict())) > 10_000


def test_way_of_a_row_and_top_rules_of_a_deep_tree_are_written(deep):
    estimator, X, y = deep
    assert "tree 0 of 1" in str(path_rules(estimator, X[:1]))
    assert len(str(top_rules(estimator, X, y))) < 10_000


def test_deep_tree_is_explained_and_exported(deep):
    estimator, X, _ = deep
    values = shapley_values(estimator, X[:2], X[:5], random_state=0)
    assert np.isfinite(values.values).all()
    assert len(estimator.to_c()) < 20_000_000


def test_tree_of_many_nodes_and_classes_asks_to_be_pruned():
    estimator, _, _ = estimator_with(chain(10_000, n_classes=1000))
    estimator._fitted = replace(estimator._fitted, task=Classification(np.arange(1000)))
    with pytest.raises(ValueError, match="Prune it with max_depth"):
        tree_rules(estimator)
    assert "more nodes" in str(estimator.forest_.tree(0))


def test_path_longer_than_anybody_reads_is_refused():
    estimator, X, _ = estimator_with(chain(5001, left=True, n_classes=2))
    inside = X[:1] * 0.0 - 1e30  # left at every split
    with pytest.raises(ValueError, match="paths of at most 5000 splits; got one of 5001 in tree 0"):
        path_rules(estimator, inside)


def test_time_of_rules_grows_with_the_splits_and_not_with_their_square():
    few, many = (estimator_with(chain(n))[0].forest_.tree(0) for n in (1000, 10_000))
    assert len(few.to_pandas()) == 2001  # what is made once, and imports

    def seconds(tree):
        start = time.process_time()
        str(tree.rules())
        tree.to_pandas()
        return time.process_time() - start

    # Ten times the splits: linear work takes ten times as long, quadratic a hundred times.
    assert seconds(many) < 40 * min(seconds(few) for _ in range(3))
