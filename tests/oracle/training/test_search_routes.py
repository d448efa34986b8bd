"""The fast routes of the split search give the forest of the plain one, bit for bit.

Sorting networks serve small nodes, bins with bounds serve large ones, sorting is the definition.
Which route is taken must not be seen in any array.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.feature_makes import MAKES, Features, discrete, grow_by, heavy_tailed, labels, smooth
from support.forests import (
    Forest,
    Problem,
    available_simd_levels,
    differing_arrays,
    grow,
    options,
    problem,
)


def assert_auto_equals_exact(
    data: Problem, *families: tuple[object, ...], **values: object
) -> Forest:
    exact = grow_by("exact", data, *families, **values)
    auto = grow_by("auto", data, *families, **values)
    assert differing_arrays(exact, auto) == []
    return exact


def criteria(n_classes: int) -> list[str]:
    return ["gini", "entropy"] if n_classes else ["squared_error"]


@pytest.mark.parametrize("make", MAKES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("n_classes", [2, 3, 10, 0], ids=lambda k: f"{k}_classes")
@pytest.mark.parametrize("n_rows", [40, 250, 3000])
def test_auto_equals_exact_for_all_makes_of_features(
    make: Features, n_classes: int, n_rows: int
) -> None:
    rng = np.random.default_rng(n_rows + n_classes)
    X = make(rng, n_rows, 5)
    y = labels(rng, X, n_classes) if n_classes else X.astype(np.float32) @ rng.normal(size=5)
    data = problem(X, y, n_classes)
    for criterion in criteria(n_classes):
        how = {"criterion": criterion, "seed": n_rows, "bag_size": n_rows}
        for family in [("axis", 3), ("signs", 5, 12), ("combination", 5, 2)]:
            assert_auto_equals_exact(data, family, **how)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 100, 1000, 0])
def test_auto_equals_exact_on_twenty_thousand_rows(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    n = 20_000
    X = np.hstack([smooth(rng, n, 4), heavy_tailed(rng, n, 2), discrete(rng, n, 2)])
    y = labels(rng, X, n_classes) if n_classes else X[:, 0] + rng.normal(size=n)
    data = problem(X, y, n_classes)
    for criterion in criteria(n_classes):
        assert_auto_equals_exact(data, ("signs", 8, 24), criterion=criterion, seed=1, bag_size=n)


@pytest.mark.parametrize(
    ("n_classes", "criterion"), [(k, c) for k in (2, 3, 4, 7, 0) for c in criteria(k)]
)
def test_auto_equals_exact_when_the_best_cut_hides_inside_a_bin(
    n_classes: int, criterion: str
) -> None:
    """Bins are equally wide. Here each holds a crowd of rows, and the cut inside a crowd competes
    with one at an edge that is nearly as good: a bound that is a little too low loses it."""
    n_hidden = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(600, 2000))
        z = np.sort(rng.random(n))
        y = z * 3 + rng.normal(size=n) * rng.choice([0.01, 0.3, 1.0])
        if n_classes:
            order = rng.permutation(n_classes)
            quantiles = np.sort(rng.random(n_classes - 1))
            y = order[np.digitize(y, np.quantile(y, quantiles))]
        n_crowds = int(rng.integers(1, 5))
        crowd = np.floor(z * n_crowds)
        hidden = crowd + (z - crowd / n_crowds) * 1e-4
        hidden[rng.integers(n)] += 10.0
        rival = z + rng.normal(size=n) * 10.0 ** rng.uniform(-4, -2)
        data = problem(np.column_stack([rival, hidden]), y, n_classes)
        how = {"criterion": criterion, "seed": seed, "max_depth": 2, "bag_size": n * (seed % 2)}
        forest = assert_auto_equals_exact(data, ("axis", 2), n_trees=1, **how)
        n_hidden += forest.arrays["entry_index"][0] == 1
    assert 3 < n_hidden < 27


@pytest.mark.parametrize(
    ("n_classes", "criterion"), [(k, c) for k in (2, 3, 4, 7, 0) for c in criteria(k)]
)
@pytest.mark.parametrize("noise", [0.0, 0.01, 0.3])
def test_auto_equals_exact_for_features_that_order_the_rows_alike(
    n_classes: int, criterion: str, noise: float
) -> None:
    """The same cut, an edge of bins in one feature, lies inside a bin of another. All have the same
    gain and the first feature drawn must win: no bound may be lower than what it bounds."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(600, 4000))
        z = np.sort(rng.random(n))
        y = np.round(z * 7 + noise * rng.normal(size=n)) if seed % 2 else z**3
        if n_classes:
            shares = rng.dirichlet(np.full(2 * n_classes, 2.0)).cumsum()
            block = rng.permutation(2 * n_classes) % n_classes
            y = block[np.digitize(z + noise * rng.normal(size=n), shares[:-1])]
        X = np.column_stack([z, z**3, np.exp(6 * z), -z, np.sqrt(z), np.floor(50 * z), z**9])
        data = problem(X, y, n_classes)
        how = {"criterion": criterion, "seed": seed, "max_depth": 4, "bag_size": n * (seed % 3 > 0)}
        assert_auto_equals_exact(data, ("axis", 7), n_trees=2, **how)


# Of this shape on, a table is far away in memory and has more columns than a subtree reads: a first
# look at candidates is taken through bytes. With so many trees and directions that is worth it.
WIDE = (600, 1800)
WIDE_FAMILIES = [("axis", 225), ("signs", 75, 225), ("combination", 75, 3)]
WIDE_FOREST = {"n_trees": 8, "max_depth": 3}


@pytest.mark.parametrize("make", MAKES, ids=lambda make: make.__name__)
def test_auto_equals_exact_on_wide_tables(make: Features) -> None:
    rng = np.random.default_rng(0)
    X = make(rng, *WIDE)
    X[:, :200][rng.random((WIDE[0], 200)) < 0.1] = np.nan
    two_classes = problem(X, labels(rng, X[:, 200:205], 2), 2)
    for criterion in criteria(2):
        for family in WIDE_FAMILIES:
            how = {"criterion": criterion, "bag_size": WIDE[0], **WIDE_FOREST}
            assert_auto_equals_exact(two_classes, family, **how)
    regression = replace(two_classes, target=rng.normal(size=WIDE[0]), n_classes=0)
    how = {"criterion": "squared_error", "bag_size": WIDE[0], **WIDE_FOREST}
    assert_auto_equals_exact(regression, WIDE_FAMILIES[MAKES.index(make) % 3], **how)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_auto_equals_exact_where_bytes_hide_the_winner(criterion: str, weights: str) -> None:
    """What tells the classes apart is smaller than a code can show, and is carried by sums of two
    columns that hide it under a large part of opposite signs. Some rows far away make bins wide. A
    bound that leaves less open than bytes do drops the winner."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n, p = WIDE
        y = rng.integers(0, 2, n)
        large = rng.uniform(-1.0, 1.0, n)[:, None] * rng.choice([-1.0, 1.0], p)
        small = rng.normal(size=(n, p)) + rng.uniform(5.0, 9.0, p) * (2 * y - 1)[:, None]
        far = (rng.random(n) < 0.05) * rng.normal(size=n) * rng.uniform(0.15, 0.25)
        X = large + 1e-4 * small + far[:, None]
        w = {
            "none": None,
            "whole": rng.integers(0, 5, n),
            "real": rng.gamma(0.5, size=n) + 1e-6,
        }[weights]
        data = problem(X, y, 2, weights=w)
        how = {"criterion": criterion, "seed": seed, "bag_size": n * (seed % 2), **WIDE_FOREST}
        assert_auto_equals_exact(data, ("signs", 112, 225), **how)


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 20}], ids=["", "limit"])
def test_auto_equals_exact_on_wide_tables_full_of_ties(
    noise: float, limits: dict[str, int]
) -> None:
    """Columns are monotone functions of nine: of many equal cuts, perfect ones without noise, the
    first drawn must win, though candidates are not looked at in the order of their drawing."""
    for n_classes in (2, 0):
        rng = np.random.default_rng(n_classes)
        base = rng.random((WIDE[0], 9))
        y = (base[:, 0] + noise * rng.normal(size=WIDE[0]) > 0.4).astype(int)
        X = base[:, rng.integers(0, 9, WIDE[1])] ** rng.uniform(0.3, 3.0, WIDE[1])
        X *= rng.choice([-1.0, 1.0], WIDE[1]) * rng.lognormal(size=WIDE[1])
        data = problem(X, y if n_classes else y + 0.0, n_classes)
        for criterion in criteria(n_classes):
            how = {"criterion": criterion, **WIDE_FOREST, **limits}
            assert_auto_equals_exact(data, ("axis", 225), **how)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_forest_on_a_wide_table_is_identical_for_all_instruction_sets_and_threads(
    criterion: str,
) -> None:
    rng = np.random.default_rng(0)
    X = smooth(rng, *WIDE)
    data = problem(X, labels(rng, X[:, :5], 2), 2)
    how = {"criterion": criterion, "bag_size": WIDE[0], **WIDE_FOREST}
    forest = grow_by("auto", data, WIDE_FAMILIES[1], **how)
    assert forest.arrays["right"].size > 3 * forest.n_trees
    for simd in available_simd_levels():
        for n_threads in (1, 2, 7):
            same = grow_by("auto", data, WIDE_FAMILIES[1], simd=simd, n_threads=n_threads, **how)
            assert differing_arrays(forest, same) == []


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 3, 8])
@pytest.mark.parametrize("weights", ["whole", "real"])
def test_auto_equals_exact_with_weights(criterion: str, n_classes: int, weights: str) -> None:
    rng = np.random.default_rng(n_classes)
    for n in (30, 180, 1500, 5000):
        X = np.hstack([smooth(rng, n, 3), discrete(rng, n, 3)])
        w = rng.integers(0, 5, n) if weights == "whole" else rng.gamma(0.5, size=n) + 1e-6
        data = problem(X, labels(rng, X, n_classes), n_classes, weights=w)
        how = {"criterion": criterion, "seed": n, "bag_size": n}
        assert_auto_equals_exact(data, ("signs", 6, 12), **how)
        assert_auto_equals_exact(data, ("axis", 6), balanced_subsample=True, **how)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_auto_equals_exact_when_several_features_separate_two_weighted_classes(
    criterion: str,
) -> None:
    """A perfect cut ends the search early; that must not change which of several is taken."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(4, 60)), 30
        y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, p))
        side = np.where(y[:, None] == rng.integers(0, 2, p), 1.0, -1.0)
        X = np.where(rng.random(p) < 0.5, (np.abs(X) + 0.1) * side, X)
        weights = None if seed % 4 == 0 else rng.uniform(0.01, 1.0, n)
        data = problem(X, y, 2, weights)
        assert_auto_equals_exact(data, ("axis", p), criterion=criterion, seed=seed, n_trees=1)


@pytest.mark.parametrize("n_classes", [2, 4, 0])
def test_auto_equals_exact_with_missing_values_and_nominal_columns(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    n = 3000
    X = np.hstack([smooth(rng, n, 3), discrete(rng, n, 2), rng.integers(0, 40, (n, 2))])
    y = labels(rng, X, n_classes) if n_classes else X[:, 0] + rng.normal(size=n)
    X[:, :4][rng.random((n, 4)) < 0.1] = np.nan
    data = problem(X, y, n_classes, levels=[0, 0, 0, 0, 0, 40, 40])
    families = [("axis", 2), ("signs", 3, 6), ("categorical", 1)]
    for criterion in criteria(n_classes):
        assert_auto_equals_exact(data, *families, criterion=criterion, bag_size=n)


@pytest.mark.parametrize("make", [smooth, heavy_tailed, discrete], ids=lambda make: make.__name__)
@pytest.mark.parametrize("n_classes", [2, 5, 0])
@pytest.mark.parametrize(
    "limits",
    [{"min_samples_leaf": 7}, {"min_weight_leaf": 0.01}, {"min_samples_leaf": 20, "max_depth": 6}],
    ids=lambda limits: "_".join(limits),
)
def test_auto_equals_exact_with_limits_on_leaves(
    make: Features, n_classes: int, limits: dict[str, float]
) -> None:
    rng = np.random.default_rng(n_classes)
    for n in (100, 4000):
        X = make(rng, n, 4)
        y = labels(rng, X, n_classes) if n_classes else X[:, 0] + rng.normal(size=n)
        for weights in (None, rng.uniform(0.1, 3, n)):
            data = problem(X, y, n_classes, weights)
            for criterion in criteria(n_classes):
                how = {"criterion": criterion, "bag_size": n, **limits}
                assert_auto_equals_exact(data, ("signs", 4, 8), **how)


@pytest.mark.parametrize("outlier", [1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("make_target", ["smooth", "rare", "repeated", "two_clusters"])
def test_auto_equals_exact_in_regression_with_outliers(outlier: float, make_target: str) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n = 3000
        X = smooth(rng, n, 3)
        y = {
            "smooth": X[:, 0] + rng.normal(size=n),
            "rare": (rng.random(n) < 0.01) * rng.normal(size=n),
            "repeated": rng.integers(0, 3, n) / 7.0,
            "two_clusters": np.where(X[:, 0] > 0, outlier / 2, 0.0) + rng.normal(size=n),
        }[make_target]
        y[rng.integers(n)] = outlier
        data = problem(X, y)
        how = {"criterion": "squared_error", "seed": seed, "bag_size": n * (seed % 2)}
        assert_auto_equals_exact(data, ("axis", 3), **how)


@pytest.mark.parametrize("growth", ["best_first", "breadth_first", "random_leaf"])
def test_auto_equals_exact_with_a_budget_of_leaves(growth: str) -> None:
    rng = np.random.default_rng(0)
    n = 3000
    X = smooth(rng, n, 5)
    data = problem(X, labels(rng, X, 3), 3)
    for criterion in criteria(3):
        how = {"criterion": criterion, "growth": growth, "max_leaf_nodes": 40, "bag_size": n}
        assert_auto_equals_exact(data, ("signs", 5, 10), **how)


def test_bound_of_a_bin_has_a_peak_between_its_edges() -> None:
    """A cut inside a bin wins by 0.2 % over another feature, whose score is above the bin's bound

    at both ends: only the peak of the bound in between tells that the bin must be looked into.
    """
    blocks = [(0.0, 1, 17), (32.25, 1, 48), (32.75, 0, 78)]
    mixed = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [245, 192, 10]))
    y = np.concatenate([*(np.full(n, label) for _, label, n in blocks), mixed])
    X = np.zeros((len(y), 2))
    X[:143, 0] = np.concatenate([np.full(n, value) for value, _, n in blocks])
    X[143:, 0] = np.linspace(34.5, 64.0, len(mixed))
    X[17 + 47 :, 1] = 1.0
    data = problem(X, y, 3)
    exact, auto = (
        grow(data, options(("axis", 2), max_depth=1, bag_size=0, split_search=search))
        for search in ("exact", "auto")
    )
    assert exact.arrays["entry_index"][0] == 0
    assert exact.arrays["threshold"][0] == 32.5
    assert differing_arrays(exact, auto) == []


@pytest.mark.parametrize("n_classes", [2, 3])
def test_auto_equals_exact_for_entropy_when_weights_are_large(n_classes: int) -> None:
    """Tables of the entropy are made for nodes of small weight only."""
    rng = np.random.default_rng(n_classes)
    for n in (20, 60, 400, 3000):
        X = smooth(rng, n, 4)
        w = rng.choice([1, 2, 250], n)
        data = problem(X, labels(rng, X, n_classes), n_classes, weights=w)
        assert_auto_equals_exact(data, ("signs", 4, 8), criterion="entropy", bag_size=n)


@pytest.mark.parametrize("n_classes", [2, 5, 70])
def test_entropy_gives_one_forest_on_all_instruction_sets_and_threads(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    n = 6000
    X = np.hstack([smooth(rng, n, 4), discrete(rng, n, 2)])
    data = problem(X, labels(rng, X, n_classes), n_classes)
    how = {"criterion": "entropy", "bag_size": n}
    forest = grow_by("auto", data, ("signs", 6, 12), **how)
    for simd in available_simd_levels():
        for n_threads in (1, 3):
            same = grow_by("auto", data, ("signs", 6, 12), simd=simd, n_threads=n_threads, **how)
            assert differing_arrays(forest, same) == []
