"""Exact bits of seed 0: first directions and bags, and digests of whole forests.

A forest depends on its seed only, on every machine. If one of these tests fails, users' forests
change with their next fit: that needs a reason, a line in the changelog, and new values here.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from support.forests import Forest, Problem, directions_of_root, grow, options, problem

from bevel import _core

FIRST_DIRECTIONS = {
    ("axis", 3): [([0], [1.0]), ([3], [1.0]), ([2], [1.0])],
    ("signs", 4, 6): [
        ([2, 3], [1.0, 1.0]),
        ([2], [1.0]),
        ([0], [1.0]),
        ([1, 2], [-1.0, 1.0]),
    ],
    ("signs", 2, 7): [([0, 2, 3], [1.0, -1.0, 1.0]), ([0, 1, 2, 3], [1.0, 1.0, 1.0, -1.0])],
    ("combination", 2, 2): [
        ([0, 2], [0.7234076857566833, -0.12912105023860931]),
        ([3, 0], [0.06241657957434654, -0.5558924078941345]),
    ],
}

FIRST_BAGS = {
    "bootstrap": [[2, 0, 3, 0, 1, 2, 2, 0, 1, 0, 0, 1], [1, 2, 0, 1, 1, 1, 1, 1, 1, 2, 1, 0]],
    "subsample": [[1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 1]],
}

IMAGE = (("axes", [(2, 2, 1, 2), (2, 1, 1, 2)]), ("weights", "uniform"))

DIGESTS = {
    "axis_two_classes": "2424dcd7189702e9",
    "signs_two_classes": "d2c1a81e79d8e78e",
    "combination_five_classes": "0c3637f550a281cd",
    "signs_entropy": "5c70a40c587bba72",
    "signs_regression": "4b471d2a96d16526",
    "gaussian_two_classes": "eb5925bc865a7d94",
    "rotation_regression": "d314023d202f4121",
    "multirotation_two_classes": "35d581a4a10e0ec8",
    "principal_five_classes": "9e330c395592b143",
    "principal_per_node_regression": "34bbe8f5123a9704",
    "patches_two_classes": "fa5c53970e16a4de",
    "nominal_five_classes": "9078aebffd667da6",
    "random_cuts": "68aaf7e18d0f85c4",
    "purely_random": "e7baa35a8cae2c06",
}


@pytest.mark.parametrize("family", FIRST_DIRECTIONS, ids=str)
def test_first_directions_of_seed_0_are_pinned(family: tuple[object, ...]) -> None:
    directions = directions_of_root(options(family, seed=0), np.zeros(4, np.int32), 0)
    got = [(index.tolist(), weight.tolist()) for index, weight in directions]
    assert got == FIRST_DIRECTIONS[family]


@pytest.mark.parametrize("kind", FIRST_BAGS)
def test_first_bags_of_seed_0_are_pinned(kind: str) -> None:
    bag = {"bag_size": 12} if kind == "bootstrap" else {"bag_size": 5, "replace": False}
    how = options(("axis", 1), seed=0, **bag)
    assert [_core.bag(how, 12, tree).tolist() for tree in (0, 1)] == FIRST_BAGS[kind]


def pinned_numbers(n: int) -> np.ndarray:
    """Numbers in [0, 1) that depend on no library: Knuth's MMIX generator."""
    state, numbers = 1, []
    for _ in range(n):
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        numbers.append((state >> 40) / 2**24)
    return np.array(numbers)


def pinned_problem(n_classes: int) -> Problem:
    """400 rows; columns 0 .. 3 are numeric, the last has five levels."""
    n = 400
    X = pinned_numbers(5 * n).reshape(n, 5)
    X[:, 1] = np.floor(8 * X[:, 1])
    X[:, 4] = np.floor(5 * X[:, 4])
    y = X[:, 0] + X[:, 2] * X[:, 3] + X[:, 1] / 8 + (X[:, 4] == 2)
    X[::17, 2] = np.nan
    if n_classes:
        y = np.minimum(np.floor(y / 3 * n_classes), n_classes - 1).astype(int)
    return problem(X, y, n_classes, levels=[0, 0, 0, 0, 5])


def pinned_forest(name: str) -> Forest:
    n_classes, families, values = {
        "axis_two_classes": (2, [("axis", 2)], {}),
        "signs_two_classes": (2, [("signs", 4, 8)], {}),
        "combination_five_classes": (5, [("combination", 4, 2)], {}),
        "signs_entropy": (3, [("signs", 4, 8)], {"criterion": "entropy"}),
        "signs_regression": (0, [("signs", 4, 8)], {}),
        "gaussian_two_classes": (2, [("gaussian", 3, 2)], {}),
        "rotation_regression": (0, [("rotation", 2, 4)], {}),
        "multirotation_two_classes": (2, [("multirotation", 3, 4, ("n_rotations", 4))], {}),
        "principal_five_classes": (5, [("principal", 4, 3, ("share", 0.75))], {}),
        "principal_per_node_regression": (0, [("principal", 4, 3, ("per_node", True))], {}),
        "patches_two_classes": (2, [("patches", 4, 2, *IMAGE)], {}),
        "nominal_five_classes": (5, [("axis", 2), ("categorical", 1)], {}),
        "random_cuts": (2, [("signs", 4, 8)], {"threshold": "random", "n_thresholds": 3}),
        "purely_random": (
            2,
            [("axis", 1), ("categorical", 1)],
            {"threshold": "purely_random", "growth": "random_leaf", "max_leaf_nodes": 20},
        ),
    }[name]
    criterion = "gini" if n_classes else "squared_error"
    values = {"criterion": criterion, "seed": 0, "bag_size": 400, **values}
    data = pinned_problem(n_classes)
    if name.startswith("patches"):  # which take no nominal columns
        data = problem(data.X[:, :4], data.target)
    return grow(data, options(*families, **values), 3)


def digest(forest: Forest) -> str:
    total = hashlib.sha256()
    for name in sorted(forest.arrays):
        array = forest.arrays[name]
        if name.startswith("output_") or name in ("entry_level", "entry_low", "entry_high"):
            assert not array.size
            continue
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(array.tobytes())
    return total.hexdigest()[:16]


@pytest.mark.parametrize("name", DIGESTS)
def test_forest_of_seed_0_is_pinned_bit_for_bit(name: str) -> None:
    assert digest(pinned_forest(name)) == DIGESTS[name]
