"""Path-dependent Shapley values of the core against all sets of known features."""

import numpy as np
import pytest
from support.families import FAMILIES, TASKS, grow_on, new_rows, training_data
from support.forests import Forest
from support.naive.shapley import shapley_of_worths

from bevel import _core

MANY = 2**20


def features_of(tree, node):
    """Features that a split asks for."""
    p, a = tree.forest.n_features, tree.arrays
    found = set()
    for index in node.index:
        if index < p:
            found.add(int(index))
            continue
        column = a["rotation_offset"][tree.number] + index - p
        entries = slice(a["rotation_entry_offset"][column], a["rotation_entry_offset"][column + 1])
        found |= {int(f) for f in a["rotation_index"][entries]}
    return found


def expected_value(forest, tree, x, known):
    """What a tree predicts on average if only these features of a row are known."""
    first = forest.arrays["tree_offset"][tree.number]
    weight = forest.arrays["weight"][first:]

    def below(node):
        if node.is_leaf:
            return leaf_output(forest, first + node.number)
        left, right = node.children
        if features_of(tree, node) <= known:
            return below(tree.nodes[left if tree.goes_left(node, x)[0] else right])
        share = np.array([weight[left], weight[right]], float)
        share /= share.sum()
        return share[0] * below(tree.nodes[left]) + share[1] * below(tree.nodes[right])

    return below(tree.nodes[0])


def leaf_output(forest, node):
    a = forest.arrays
    if forest.n_classes == 0:
        return np.array([a["leaf_value"][node]])
    entries = slice(a["entry_offset"][node], a["entry_offset"][node + 1])
    shares = np.zeros(forest.n_classes)
    shares[a["entry_index"][entries]] = a["entry_weight"][entries]
    return shares


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("family", FAMILIES)
def test_path_dependent_values_equal_the_sum_over_all_sets_of_known_features(family, task):
    rng = np.random.default_rng(3)
    data = training_data(rng, 30, TASKS[task])
    forest: Forest = grow_on(data, family, 2)
    X = new_rows(rng, data, 1)
    p = X.shape[1]
    worths = [
        np.mean(
            [
                [
                    expected_value(forest, tree, x[None], {f for f in range(p) if S >> f & 1})
                    for S in range(2**p)
                ]
                for tree in forest.trees
            ],
            axis=0,
        )
        for x in X
    ]
    weight = np.ascontiguousarray(forest.arrays["weight"], np.float32)
    values, within, base = _core.path_values(forest.view, weight, X, False, MANY, 1, None)
    assert within
    np.testing.assert_allclose(values, shapley_of_worths(worths, p), atol=1e-9)
    np.testing.assert_allclose(base, worths[0][0], atol=1e-9)
    np.testing.assert_allclose(values.sum(axis=1) + base, forest.predict(X), atol=1e-9)
    again = _core.path_values(forest.view, weight, X, False, MANY, 3, None)
    assert values.tobytes() == again[0].tobytes()
    assert not _core.path_values(forest.view, weight, X, False, 1, 1, None)[1]
