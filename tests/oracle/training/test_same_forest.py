"""A forest is the same, bit for bit, for any instruction set, number of threads and float mode."""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from support.feature_makes import (
    Features,
    denormal,
    discrete,
    grow_by,
    heavy_tailed,
    labels,
    smooth,
)
from support.forests import (
    SIMD_LEVELS,
    available_simd_levels,
    differing_arrays,
    grow,
    options,
    problem,
)

from bevel import _core

# Families that ask for eight numeric columns.
NUMERIC_FAMILIES = {
    "multirotation": _core.Family("multirotation", 5, 8, n_rotations=4),
    "principal": _core.Family("principal", 8, 3, share=0.75),
    "principal_per_node": _core.Family("principal", 8, 3, per_node=True),
    "patches": _core.Family("patches", 8, 4, axes=[(4, 2, 1, 3), (2, 1, 1, 2)], weights="uniform"),
}


@pytest.mark.parametrize("n_classes", [2, 4, 0])
def test_forest_is_identical_for_all_instruction_sets(n_classes: int) -> None:
    """All that this machine has, against a plain search without any of them."""
    rng = np.random.default_rng(n_classes)
    n = 9000
    X = np.hstack([smooth(rng, n, 4), heavy_tailed(rng, n, 2), discrete(rng, n, 2)])
    y = labels(rng, X, n_classes) if n_classes else X[:, 0] + rng.normal(size=n)
    X[:, 0][rng.random(n) < 0.1] = np.nan
    criterion = "gini" if n_classes else "squared_error"
    for weights in (None, rng.uniform(0.1, 3, n)):
        data = problem(X, y, n_classes, weights)
        for family in [
            ("signs", 8, 24),
            ("gaussian", 4, 3),
            ("rotation", 4, 8),
            ("axis", 5),
            *NUMERIC_FAMILIES.values(),
        ]:
            how = {"criterion": criterion, "bag_size": n, "n_trees": 1}
            plain = grow_by("exact", data, family, simd="baseline", **how)
            for simd in available_simd_levels():
                fast = grow_by("auto", data, family, simd=simd, **how)
                assert differing_arrays(plain, fast) == [], simd


@pytest.mark.parametrize("search", ["exact", "auto", "histogram"])
@pytest.mark.parametrize("n_classes", [2, 5, 0])
def test_forest_is_identical_for_1_2_and_7_threads(n_classes: int, search: str) -> None:
    rng = np.random.default_rng(n_classes)
    n = 2000
    X = np.hstack([smooth(rng, n, 5), rng.integers(0, 9, (n, 1))])
    y = labels(rng, X, n_classes) if n_classes else X[:, 0] + rng.normal(size=n)
    X[:, 1][rng.random(n) < 0.1] = np.nan
    data = problem(X, y, n_classes, levels=[0, 0, 0, 0, 0, 9])
    families = [("signs", 5, 12), ("rotation", 2, 5), ("principal", 5, 2), ("categorical", 1)]
    criterion = "gini" if n_classes else "squared_error"
    forests = [
        grow_by(search, data, *families, criterion=criterion, n_trees=8, n_threads=t, bag_size=n)
        for t in (1, 2, 7)
    ]
    assert differing_arrays(forests[0], forests[1]) == []
    assert differing_arrays(forests[0], forests[2]) == []


@pytest.mark.parametrize("family", NUMERIC_FAMILIES)
@pytest.mark.parametrize("threshold", ["best", "random", "purely_random"])
@pytest.mark.parametrize("growth", ["depth_first", "best_first"])
@pytest.mark.parametrize("n_classes", [3, 0])
def test_forest_of_any_family_is_identical_for_1_2_and_7_threads(
    n_classes: int, growth: str, threshold: str, family: str
) -> None:
    rng = np.random.default_rng(n_classes)
    n = 1500
    X = smooth(rng, n, 8)
    y = labels(rng, X, n_classes) if n_classes else X[:, 0] + rng.normal(size=n)
    X[rng.random((n, 8)) < 0.05] = np.nan
    how = options(
        NUMERIC_FAMILIES[family],
        criterion="entropy" if n_classes else "squared_error",
        threshold=threshold,
        growth="random_leaf" if threshold == "purely_random" else growth,
        max_leaf_nodes=0 if growth == "depth_first" else 60,
        bag_size=n,
    )
    data = problem(X, y, n_classes, rng.uniform(0.2, 2, n))
    forests = [grow(data, how, 5, n_threads=t) for t in (1, 2, 7)]
    assert differing_arrays(forests[0], forests[1]) == []
    assert differing_arrays(forests[0], forests[2]) == []
    assert next(forests[0].trees).n_nodes > 20


@pytest.mark.parametrize("n_classes", [2, 3, 0])
@pytest.mark.parametrize(("p", "family"), [(4, ("signs", 4, 6)), (48, ("axis", 4))])
def test_one_big_tree_is_identical_for_1_2_and_7_threads(
    p: int, family: tuple[object, ...], n_classes: int
) -> None:
    """Near the root the threads share nodes and subtrees of the one tree. Few columns are copied
    together for the whole tree, many are read where they are."""
    rng = np.random.default_rng(n_classes)
    n = 150_000
    X = rng.random((n, p), np.float32)
    X[:, -1] = rng.integers(0, 50, n)
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=n)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))
    data = problem(X, y, n_classes, levels=[0] * (p - 1) + [50])
    how = {
        "criterion": "gini" if n_classes else "squared_error",
        "n_trees": 1,
        "min_samples_leaf": 20,
    }
    families = [family, ("categorical", 1)]
    forests = [grow_by("auto", data, *families, n_threads=t, **how) for t in (1, 2, 7)]
    assert differing_arrays(forests[0], forests[1]) == []
    assert differing_arrays(forests[0], forests[2]) == []
    assert len(forests[0].arrays["right"]) > 1000


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Has this thread, and those it starts, take denormal numbers for zero. Loading a library that
    was linked with -ffast-math does it to a whole process."""
    environment = ctypes.create_string_buffer(32)  # fenv_t: 28 bytes for the x87, then MXCSR
    libm = ctypes.CDLL("libm.so.6")
    libm.fegetenv(environment)
    before = environment.raw
    mxcsr = int.from_bytes(before[28:], "little")
    libm.fesetenv(before[:28] + (mxcsr | 0x8040).to_bytes(4, "little"))
    try:
        yield
    finally:
        libm.fesetenv(before)


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="knows glibc on x86-64 only"
)
@pytest.mark.parametrize("make", [discrete, denormal], ids=lambda make: make.__name__)
@pytest.mark.parametrize("n_classes", [2, 3, 0])
def test_forest_is_identical_in_a_process_that_flushes_denormals(
    make: Features, n_classes: int
) -> None:
    rng = np.random.default_rng(n_classes)
    n = 400
    X = make(rng, n, 5)
    y = labels(rng, X, n_classes) if n_classes else rng.integers(0, 5, n) / 7
    data = problem(X, y, n_classes)
    how = options(("signs", 5, 10), criterion="gini" if n_classes else "squared_error")
    usual = grow(data, how, 2)
    leaves = usual.apply(data.X)
    with flushed_denormals():
        other = grow(data, how, 2)
        other_leaves = other.apply(data.X)
    assert differing_arrays(usual, other) == []
    np.testing.assert_array_equal(leaves, other_leaves)


def test_unknown_instruction_set_is_refused() -> None:
    with pytest.raises(ValueError, match="instruction set 'mmx'"):
        grow(problem([[0.0], [1.0]], [0, 1]), options(("axis", 1), simd="mmx"))
    assert _core.simd_level() in SIMD_LEVELS
