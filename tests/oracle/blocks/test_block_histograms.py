"""Histograms, rows of nodes and bags of blocks against NumPy, and the choice of a cut."""

import itertools

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, _core
from bevel.projections.families import TableShape, read_projection
from bevel.training.blocks import Block, Columns, add_histograms, rows_of_nodes
from bevel.training.options import resolve_options
from bevel.training.trainer import native_options


def make_problem(kind, seed=0, n=600, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32)
    # Ties, and odd values that the sample, every third row, lies around: edges that are values.
    X[:, 1] = 2 * np.round(X[:, 1]) + (np.arange(n) % 3 == 1)
    X[:, 2] = 1.0  # constant
    X[rng.random(n) < 0.2, 3] = np.nan
    X[:, 4] = rng.integers(0, 6, n)  # nominal
    score = X[:, 0] + X[:, 1] + (X[:, 4] == 2)
    if kind == "regression":
        y = score.astype(np.float64)
    else:
        y = np.digitize(score, [0.0] if kind == "two" else [-1, 0, 1]).astype(np.int32)
    weights = rng.random(n) * (rng.random(n) > 0.1) if weighted else None
    levels = np.array([0, 0, 0, 0, 6], dtype=np.int32)
    medians = np.nanmedian(X, axis=0).astype(np.float32)
    medians[4] = 0
    return np.asfortranarray(X), y, weights, levels, medians


def make_grower(X, y, weights, levels, medians, gather_rows, **parameters):
    n_classes = 0 if y.dtype.kind == "f" else int(y.max()) + 1
    kind = ObliqueForestClassifier if n_classes else ObliqueForestRegressor
    values = kind(**parameters).get_params(deep=False)
    values["bootstrap"] = True
    if values["criterion"] == "auto":
        values["criterion"] = "gini"
    members = read_projection(["axis", "sparse"], "auto")
    options = native_options(resolve_options(values, members, TableShape(len(X), 4, 1), 7))
    low, high = (0.0, 0.0) if n_classes else (y.min(), y.max())
    largest = 1.0 if weights is None else float(weights.max())
    grower = _core.BlockGrower(
        options, np.arange(3, dtype=np.uint64), len(X), n_classes, weights is None, largest,
        low, high, np.asfortranarray(X[::3]), levels, medians, gather_rows,
    )  # fmt: skip
    return grower, options


def blocks_of(X, y, weights, cuts):
    bounds = [0, *cuts, len(X)]
    return [
        Block(
            np.asfortranarray(X[a:b]), y[a:b].copy(), None if weights is None else weights[a:b], a
        )
        for a, b in itertools.pairwise(bounds)
    ]


def answer(blocks, columns, request, n_numbers, n_threads=1):
    cells = np.zeros(n_numbers, dtype=np.int64)
    for block in blocks:
        add_histograms(block, columns, request, cells, n_threads)
    return cells


def project(X, medians, index, weight):
    if len(index) == 1:
        return (weight[0] * X[:, index[0]]).astype(np.float32)
    total = np.zeros(len(X), dtype=np.float32)
    for k, (feature, w) in enumerate(zip(index, weight, strict=True)):
        column = np.where(np.isnan(X[:, feature]), medians[feature], X[:, feature])
        term = np.float32(w) * column.astype(np.float32)
        total = term if k == 0 else (total + term).astype(np.float32)
    return total


@pytest.mark.parametrize("kind", ["two", "many", "regression"])
@pytest.mark.parametrize("weighted", [False, True])
def test_histograms_of_roots_equal_counts_in_numpy(kind, weighted):
    X, y, weights, levels, medians = make_problem(kind, weighted=weighted)
    grower, options = make_grower(X, y, weights, levels, medians, 10)
    request, n_numbers = grower.histogram_request(10**7, 1)
    columns = Columns(levels, medians, np.zeros(5, np.uint8))
    cells = answer(blocks_of(X, y, weights, [100, 101, 400]), columns, request, n_numbers)
    asked = _core.describe_block_request(request)
    cells = cells.reshape(-1, asked["cell_size"])
    assert len(asked["node_cell"]) == 3
    for tree in range(3):
        draws = _core.block_bag(options, len(X), tree, 0, len(X))
        inside = (draws > 0) & (True if weights is None else weights > 0)
        for c in range(asked["first"][tree], asked["first"][tree + 1]):
            entries = slice(asked["offset"][c], asked["offset"][c + 1])
            values = project(X, medians, asked["index"][entries], asked["weight"][entries])
            edges = asked["edges"][asked["edge_offset"][c] : asked["edge_offset"][c + 1]]
            if asked["is_nominal"][c]:
                bins, n_bins = values.astype(int), 6
            else:
                bins = np.array([np.count_nonzero(edges < v) for v in values])
                bins[np.isnan(values)] = len(edges) + 1
                n_bins = len(edges) + 2
            got = cells[asked["cell"][c] :][:n_bins]
            rows = np.bincount(bins[inside], minlength=n_bins)
            np.testing.assert_array_equal(got[:, 0], rows)
            if weights is None and kind != "regression":
                for k in range(y.max() + 1):
                    chosen = inside & (y == k)
                    sums = np.bincount(bins[chosen], draws[chosen], minlength=n_bins)
                    np.testing.assert_array_equal(got[:, 1 + k], sums)
            else:  # on a grid, so up to a factor
                w = draws * (1.0 if weights is None else weights)
                sums = np.bincount(bins[inside], w[inside], minlength=n_bins)
                total = got[:, 1] if kind == "regression" else got[:, 1:].sum(axis=1)
                np.testing.assert_allclose(total / total.sum(), sums / sums.sum(), atol=1e-12)


@pytest.mark.parametrize("kind", ["two", "many", "regression"])
def test_cut_of_a_root_has_the_highest_gain_of_all_bins(kind):
    X, y, _, levels, medians = make_problem(kind, seed=3)
    grower, options = make_grower(X, y, None, levels, medians, 10, max_depth=1)
    columns = Columns(levels, medians, np.zeros(5, np.uint8))
    request, n_numbers = grower.histogram_request(10**7, 1)
    cells = answer(blocks_of(X, y, None, []), columns, request, n_numbers)
    asked = _core.describe_block_request(request)
    grower.take_histograms(cells)
    assert grower.histogram_request(10**7, 1) == (b"", 0)
    arrays = grower.finish()
    one_hot = y[:, None] if kind == "regression" else np.eye(y.max() + 1)[y]
    for tree in range(3):
        draws = _core.block_bag(options, len(X), tree, 0, len(X)).astype(float)
        best = 0.0
        for c in range(asked["first"][tree], asked["first"][tree + 1]):
            entries = slice(asked["offset"][c], asked["offset"][c + 1])
            values = project(X, medians, asked["index"][entries], asked["weight"][entries])
            edges = asked["edges"][asked["edge_offset"][c] : asked["edge_offset"][c + 1]]
            if asked["is_nominal"][c]:
                subsets = [[lv for lv in range(6) if m >> lv & 1] for m in range(1, 63)]
                sides = [np.isin(values, s) for s in subsets]
                if kind == "many":  # the order of levels is a heuristic there
                    continue
            else:
                sides = [values <= e for e in edges]
                sides += [(values <= e) | np.isnan(values) for e in edges] + [~np.isnan(values)]
            for left in sides:
                parts = [draws * left, draws * ~left]
                if min(p.sum() for p in parts) == 0:
                    continue
                gain = sum(((p @ one_hot) ** 2).sum() / p.sum() for p in parts)
                best = max(best, gain - ((draws @ one_hot) ** 2).sum() / draws.sum())
        root = arrays["tree_offset"][tree]
        if kind == "many":
            assert arrays["gain"][root] >= best * (1 - 1e-5)
        else:
            assert arrays["gain"][root] == pytest.approx(best, rel=1e-5)


def test_rows_of_nodes_are_those_that_the_finished_tree_sends_there():
    X, y, _, levels, medians = make_problem("two", seed=1)
    grower, options = make_grower(X, y, None, levels, medians, 100)
    columns = Columns(levels, medians, np.zeros(5, np.uint8))
    blocks = blocks_of(X, y, None, [250])
    while (asked := grower.histogram_request(10**4, 1))[0]:
        grower.take_histograms(answer(blocks, columns, *asked, n_threads=2))
    request, nodes = grower.rows_request(10**6)
    found = [rows_of_nodes(block, columns, request, len(nodes), 1) for block in blocks]
    for tree in range(3):
        draws = _core.block_bag(options, len(X), tree, 0, len(X))
        total = 0
        for i, node in enumerate(nodes):
            if node[0] != tree:
                continue
            n = sum(len(part[i].target) for part in found)
            assert n == node[5]  # what the histograms counted
            assert 0 < n <= 100
            total += sum(part[i].draws.sum() for part in found)
        assert total == draws.sum() or total < draws.sum()  # pure nodes are leaves already
        assert total > 0


def test_bag_of_a_block_is_that_part_of_the_whole_bag():
    options = _core.Options()
    options.bag_size, options.seed = 1000, 5
    whole = _core.block_bag(options, 1000, 3, 0, 1000)
    parts = [
        _core.block_bag(options, 1000, 3, a, b - a) for a, b in ((0, 1), (1, 600), (600, 1000))
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert not np.array_equal(whole, _core.block_bag(options, 1000, 4, 0, 1000))


def test_draws_of_rows_are_poisson_distributed():
    # Chi-square over 0, 1, 2, 3, 4 and more draws of 10^6 rows; quantile of 4 degrees of freedom
    # at 1 - 1e-6: 33.4.
    options = _core.Options()
    n = 10**6
    options.bag_size, options.seed = n, 11
    draws = _core.block_bag(options, n, 0, 0, n)
    observed = np.bincount(np.minimum(draws, 4), minlength=5)
    share = np.exp(-1) / np.array([1, 1, 2, 6])
    expected = n * np.append(share, 1 - share.sum())
    assert ((observed - expected) ** 2 / expected).sum() < 33.4


def test_draws_without_replacement_have_the_expected_share():
    # Binomial with n = 10^6, p = 0.3: 5 standard deviations are 2292 rows.
    options = _core.Options()
    options.bag_size, options.seed, options.replace = 300_000, 1, False
    draws = _core.block_bag(options, 10**6, 0, 0, 10**6)
    assert set(np.unique(draws)) == {0, 1}
    assert abs(draws.sum() - 300_000) < 2292
