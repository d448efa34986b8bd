"""`bevel.training.options`: parameters meeting each other and the data."""

from __future__ import annotations

import numpy as np
import pytest

from bevel.errors import NoOutOfBagError
from bevel.parameters.forest_parameters import CLASSIFIER_PARAMETERS, REGRESSOR_PARAMETERS
from bevel.projections.families import TableShape, read_projection
from bevel.training.options import check_combinations, draw_seed, resolve_options

DEFAULTS = {name: parameter.default for name, parameter in CLASSIFIER_PARAMETERS.items()}


def resolve(n_rows=100, n_features=20, **changes):
    values = {**DEFAULTS, "projection": "sparse", **changes}
    members = read_projection(values["projection"], values["n_projections"])
    check_combinations(values, members)
    return resolve_options(values, members, TableShape(n_rows, n_features, 0), seed=1)


def test_defaults_grow_full_trees_on_bootstraps():
    options = resolve()
    assert (options.growth, options.max_depth, options.max_leaf_nodes) == ("depth_first", -1, 0)
    assert (options.bag_size, options.replace) == (100, True)
    assert (options.min_samples_split, options.min_samples_leaf) == (2, 1)


def test_regression_is_recognised_by_the_criterion():
    values = {name: parameter.default for name, parameter in REGRESSOR_PARAMETERS.items()}
    values["projection"] = "axis"
    options = resolve_options(values, read_projection("axis", "auto"), TableShape(9, 30, 0), 0)
    assert options.families[0].n_draws == 10


def test_shares_of_rows_round_up_as_in_scikit_learn():
    options = resolve(n_rows=99, min_samples_split=0.1, min_samples_leaf=0.05)
    assert (options.min_samples_split, options.min_samples_leaf) == (10, 5)
    assert resolve(n_rows=5, min_samples_split=0.1).min_samples_split == 2


@pytest.mark.parametrize(
    ("changes", "size"),
    [
        ({"bootstrap": False}, 0),
        ({"replace": False}, 63),
        ({"max_samples": 0.255}, 26),
        ({"max_samples": 1e-6}, 1),
        ({"max_samples": 40}, 40),
        ({"max_samples": 1.0, "replace": False}, 100),
    ],
)
def test_bag_size_of_each_setting(changes, size):
    assert resolve(**changes).bag_size == size


def test_bag_larger_than_the_table_is_of_all_rows():
    with pytest.warns(UserWarning, match=r"max_samples \(101\) is greater than .* \(100\)"):
        assert resolve(max_samples=101).bag_size == 100


def test_leaf_budget_grows_best_first_by_default():
    assert resolve(max_leaf_nodes=8).growth == "best_first"
    assert resolve(max_leaf_nodes=8, growth="breadth_first").growth == "breadth_first"


def test_purely_random_has_a_budget_of_root_n_leaves_and_one_draw():
    options = resolve(n_rows=101, threshold="purely_random")
    assert (options.max_leaf_nodes, options.growth) == (11, "random_leaf")
    assert options.families[0].n_draws == 1
    assert resolve(threshold="purely_random", max_leaf_nodes=5).max_leaf_nodes == 5
    assert resolve(threshold="purely_random", growth="breadth_first").growth == "breadth_first"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_thresholds": 3}, 'n_thresholds must be 1 unless threshold="random"'),
        ({"threshold": "random", "split_search": "exact"}, 'split_search must be "auto" unless'),
        ({"growth": "best_first"}, "growth needs max_leaf_nodes"),
        (
            {"threshold": "purely_random", "growth": "best_first"},
            'growth must be "random_leaf" or "breadth_first"',
        ),
        (
            {"threshold": "purely_random", "n_projections": 5},
            r'n_projections must be "auto" or 1 .*got 5',
        ),
        (
            {"threshold": "purely_random", "projection": [("axis", "sqrt")]},
            "n_projections must be \"auto\" or 1 .*got 'sqrt'",
        ),
        (
            {"threshold": "purely_random", "min_impurity_decrease": 0.1},
            "min_impurity_decrease must be 0",
        ),
        ({"bootstrap": False, "max_samples": 0.5}, "max_samples needs bootstrap=True"),
        ({"bootstrap": False, "replace": False}, "replace=False needs bootstrap=True"),
    ],
)
def test_contradicting_parameters_raise(changes, message):
    with pytest.raises(ValueError, match=message):
        resolve(**changes)


@pytest.mark.parametrize("oob_score", [True, len])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bootstrap": False}, "without a bag no row is ever out of it"),
        ({"replace": False, "max_samples": 1.0}, "a bag of all rows without replacement"),
    ],
)
def test_out_of_bag_score_without_rows_out_of_bag_raises(oob_score, changes, message):
    with pytest.raises(NoOutOfBagError, match=message):
        resolve(oob_score=oob_score, **changes)


def test_seed_has_64_bits_and_repeats():
    seeds = [draw_seed(state) for state in range(50)]
    assert seeds == [draw_seed(state) for state in range(50)]
    assert len(set(seeds)) == 50
    assert max(seeds) > 2**63
    assert draw_seed(np.random.RandomState(3)) == draw_seed(3)


def test_balanced_subsample_is_left_to_the_core():
    assert resolve(class_weight="balanced_subsample").balanced_subsample
    assert not resolve(class_weight="balanced").balanced_subsample
