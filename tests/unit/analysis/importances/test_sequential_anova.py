"""`importance(kind="sequential_anova")`: tables of nested fits, node by node."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from support.nominal_tables import nominal_table
from support.nominal_tables import plain_forest as forest_reader

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, presets
from bevel import projections as P
from bevel.analysis import importance
from bevel.analysis.importances.anova import sequential_p_values
from bevel.estimators._base import encode_rows


def nested_fits(X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """p-values by a least squares fit for every number of features."""
    root = np.sqrt(weight)[:, None]

    def left(n_features: int) -> float:
        design = root * np.column_stack([np.ones(len(y)), X[:, :n_features]])
        b, *_ = np.linalg.lstsq(design, root[:, 0] * y, rcond=None)
        return float(np.sum((root[:, 0] * y - design @ b) ** 2))

    rss = np.array([left(k) for k in range(X.shape[1] + 1)])
    freedom = len(y) - 1 - X.shape[1]
    return scipy.stats.f.sf(-np.diff(rss) / (rss[-1] / freedom), 1, freedom)


@pytest.mark.parametrize("shape", [(40, 4), (12, 7), (200, 1)])
@pytest.mark.parametrize("classes", [False, True])
def test_p_values_equal_nested_fits(shape: tuple[int, int], classes: bool) -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        X, weight = rng.normal(size=shape), rng.integers(1, 4, shape[0])
        y = X[:, 0] + rng.normal(size=shape[0])
        y = (y > 0).astype(float) if classes else y
        found = sequential_p_values(X, y, weight)
        np.testing.assert_allclose(found, nested_fits(X, y, weight), rtol=1e-6, atol=1e-12)


def test_first_of_two_copies_has_it_all() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    X = np.column_stack([x, x, np.ones(60), rng.normal(size=60)])
    y = x + 0.3 * rng.normal(size=60)
    p = sequential_p_values(X, y, np.ones(60, int))
    assert p[0] < 1e-10
    assert p[1] == p[2] == 1.0


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5])
def test_nothing_is_significant_when_no_row_is_left_for_the_error(n_rows: int) -> None:
    X = np.random.default_rng(2).normal(size=(n_rows, 5))
    assert (sequential_p_values(X, np.arange(n_rows) % 2.0, np.ones(n_rows, int)) == 1.0).all()


def test_p_values_of_noise_are_uniform() -> None:
    """Null: targets independent of features; Kolmogorov's statistic of 2000 last features of
    nodes of 30 rows, false alarm 1e-6."""
    rng = np.random.default_rng(3)
    ones = np.ones(30, int)
    found = [
        sequential_p_values(rng.normal(size=(30, 3)), rng.normal(size=30), ones)[-1]
        for _ in range(2000)
    ]
    assert scipy.stats.kstest(found, "uniform").pvalue > 1e-6


def test_tables_are_those_of_the_rows_of_each_node() -> None:
    """A tree of two levels, its nodes found by hand."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 3)).astype(np.float32).astype(float)
    y = (X[:, 0] + X[:, 1] + 0.8 * rng.normal(size=120) > 0).astype(int)
    forest = ObliqueForestClassifier(
        1, projection=P.LDA("p"), max_depth=2, random_state=0, scale=None
    ).fit(X, y)
    flat = forest.forest_
    drawn = forest.fitted_forest_.provenance.bags.counts(0)
    nodes, count = [(0, np.flatnonzero(drawn))], np.zeros(3)
    n_splits = 0
    while nodes:
        node, here = nodes.pop()
        if flat.right[node] < 0:
            continue
        entries = slice(flat.entry_offset[node], flat.entry_offset[node + 1])
        index, weight = flat.entry_index[entries], flat.entry_weight[entries]
        p = nested_fits(X[here][:, np.sort(index)], y[here], drawn[here])
        count[np.sort(index)[p <= 0.01]] += 1
        n_splits += 1
        left = X[here][:, index].astype(np.float32) @ weight <= flat.threshold[node]
        nodes += [(node + 1, here[left]), (int(flat.right[node]), here[~left])]
    found = importance(forest, "sequential_anova", X, y)
    np.testing.assert_array_equal(found.count, count)
    np.testing.assert_allclose(found.values, count / n_splits)
    assert n_splits == 3


def test_copies_share_nothing_in_the_table_and_alike_in_the_t_tests() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 6))
    X[:, 5] = X[:, 0]
    y = (X[:, 0] + 0.5 * rng.normal(size=300) > 0).astype(int)
    forest = ObliqueForestClassifier(
        20, projection=P.LDA("p", record=True), random_state=0, n_jobs=1, max_depth=1
    ).fit(X, y)
    table, tests = importance(forest, "sequential_anova", X, y), importance(forest, "anova")
    assert table.values[0] == 1.0
    assert table.values[5] == 0.0
    assert tests.values[0] == tests.values[5]


def test_regression_missing_values_and_nominal_columns_are_taken() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(150, 4))
    X[:, 3] = rng.integers(0, 3, 150)
    y = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=150)
    X[rng.random(150) < 0.1, 2] = np.nan
    forest = ObliqueForestRegressor(10, projection="lda", categorical_features=[3], random_state=0)
    found = importance(forest.fit(X, y), "sequential_anova", X, y)
    assert found.values[0] > found.values[2]
    assert "sequential_anova" in repr(found) or "analysis of variance" in repr(found)


def test_levels_that_directions_combine_count_once_for_their_column() -> None:
    """Stumps, whose tables are those of their bags with a column of 0 and 1 for each level."""
    frame, y = nominal_table()
    y = (y > 2) * 1
    forest = ObliqueForestClassifier(60, max_depth=1, random_state=0, n_jobs=1).fit(frame, y)
    flat, codes = forest.forest_, encode_rows(forest, frame).astype(float)
    codes = np.where(np.isnan(codes), flat.medians, codes)
    count = np.zeros(7)
    n_with_levels = 0
    for tree in forest_reader(forest).trees:
        root = tree.nodes[0]
        if root.is_leaf or root.is_category:
            continue
        terms = sorted(zip(root.level.tolist(), root.index.tolist(), strict=True))
        columns = [codes[:, f] if level < 0 else codes[:, f] == level for level, f in terms]
        drawn = forest.fitted_forest_.provenance.bags.counts(tree.number)
        p = nested_fits(np.column_stack(columns)[drawn > 0], y[drawn > 0], drawn[drawn > 0])
        count[list({terms[k][1] for k in np.flatnonzero(p <= 0.01)})] += 1
        n_with_levels += (root.level >= 0).any()
    assert n_with_levels > 10
    np.testing.assert_array_equal(importance(forest, "sequential_anova", frame, y).count, count)


def test_what_has_no_table_is_refused() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    forest = presets.orf_lda(n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"needs two classes or numbers.* got 3 classes"):
        importance(forest, "sequential_anova", X, y)
    rotated = presets.rr_rf(n_estimators=3, random_state=0).fit(X, y == 0)
    with pytest.raises(ValueError, match="needs directions of the features themselves"):
        importance(rotated, "sequential_anova", X, y == 0)
    with pytest.raises(ValueError, match=r"alpha must be a number in \(0, 1\)"):
        importance(forest, "sequential_anova", X, y, alpha=2.0)
