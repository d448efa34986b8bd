"""`_core.train` and `_core.bag`: weights and targets that a tree can be grown on."""

from __future__ import annotations

import numpy as np
import pytest
from support.forests import grow, options, problem

from bevel import _core


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.0, 0.0], "no row has a weight"),
        ([1.0, -1.0], "negative or infinite"),
        ([1.0, np.nan], "negative or infinite"),
        ([np.inf, 1.0], "negative or infinite"),
    ],
)
def test_core_refuses_weights_that_no_node_could_have(weights, message):
    data = problem([[0.0], [1.0]], [0, 1], 2, weights)
    with pytest.raises(ValueError, match=message):
        grow(data, options(("axis", 1)), 1)


def test_core_refuses_targets_that_are_not_finite():
    data = problem([[0.0], [1.0]], [0.0, np.inf])
    with pytest.raises(ValueError, match="not finite"):
        grow(data, options(("axis", 1), criterion="squared_error"), 1)


def test_bag_without_a_row_of_weight_is_all_rows_that_have_one():
    how = options(("axis", 1), bag_size=6, seed=3)
    weights = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 2.0])
    n_replaced = 0
    for tree in range(60):
        drawn, bag = _core.bag(how, 6, tree), _core.bag(how, 6, tree, weights)
        weighs_nothing = not (weights[drawn > 0] > 0).any()
        n_replaced += weighs_nothing
        assert bag.tolist() == ([0, 0, 1, 0, 0, 1] if weighs_nothing else drawn.tolist())
    assert 0 < n_replaced < 30
