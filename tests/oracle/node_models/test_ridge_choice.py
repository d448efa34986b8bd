"""Ridge(tune="oob"): the penalty that every node of a grown tree chose, against a plain search over
all penalties, cuts and rows out of the bag that reach the node."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from support.forests import Problem, grow, options, problem
from support.grown_nodes import GrownNode, grown_nodes
from support.naive.models import Lines, out_of_bag_errors, ridge

from bevel import _core

ALPHAS = 10.0 ** np.arange(-5, 6)
TOLERANCE = 2e-5  # directions are stored in float32
TIE = 1e-9  # errors that differ by less are equal up to rounding
TASKS = {"two_classes": 2, "three_classes": 3, "regression": 0}


def ridge_family(n_features: int, *, parent: bool = False, record: bool = False) -> _core.Family:
    tuned = {"alphas": ALPHAS, "tune": "out_of_bag", "parent_when_exhausted": parent}
    return _core.Family("ridge", 1, n_features, record=record, **tuned)


def training_data(
    n_classes: int,
    *,
    n: int | None = None,
    weights: str = "none",
    missing: bool = False,
) -> Problem:
    """Correlated numeric columns around a nominal one; weights and targets fit float32."""
    n = n or (110 if n_classes else 60)
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 6)) @ (np.eye(6) + 0.8 * rng.normal(size=(6, 6)))
    X[:, 2] = rng.integers(0, 5, n)
    signal = X[:, 0] - X[:, 1] * X[:, 3] + (X[:, 2] == 2) + 2 * rng.normal(size=n)
    y = np.round(signal * 64) / 64
    if n_classes:
        y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    if missing:
        X[:, [0, 3]] = np.where(rng.random((n, 2)) < 0.2, np.nan, X[:, [0, 3]])
    w = {"none": None, "whole": rng.integers(0, 4, n), "real": rng.integers(1, 99, n) / 32}[weights]
    return problem(X, y, n_classes, w, [0, 0, 5, 0, 0, 0])


def ways(data: Problem, *families: object, **values: object) -> _core.Options:
    criterion = "gini" if data.n_classes else "squared_error"
    return options(*families, criterion=criterion, **{"bag_size": data.n_rows, "seed": 4, **values})


class Choices:
    """What each node may have chosen; more than one penalty where cuts tie."""

    def __init__(self, features: np.ndarray) -> None:
        self.features = features
        self.possible: dict[tuple[int, int], set[int]] = {}
        self.paths: dict[tuple[int, int], list[Lines]] = {}

    def visit(self, grown: GrownNode, *, parent: bool) -> set[int]:
        node = grown.problem(self.features)
        path = [ridge(node, alpha) for alpha in ALPHAS]
        self.paths[grown.key] = path
        inherited = self.possible.get((grown.tree.number, grown.parent), set())
        if len(grown.outside) == 0:
            chosen = inherited if parent else set()
        else:
            chosen = self._smallest(grown, path) or inherited
        self.possible[grown.key] = chosen
        return chosen

    def _smallest(self, grown: GrownNode, path: list[Lines]) -> set[int]:
        outside = grown.out_of_bag(self.features)
        errors = [out_of_bag_errors(lines, outside) for lines in path]
        cuts = {a for a, found in enumerate(errors) if found.size}
        if not cuts:
            return set()
        low = min(errors[a].max() for a in cuts)
        near = {a for a in cuts if errors[a].min() <= low * (1 + TIE)}
        if all(np.ptp(errors[a]) <= TIE * low for a in near):
            return {max(near)}  # ties go to the larger penalty
        return near

    def hold(self, grown: GrownNode) -> bool:
        """Whether the node's direction is of a penalty that it may have chosen."""
        direction = grown.direction(self.features)
        path = self.paths[grown.key]
        chosen = self.possible[grown.key]
        return any(path[a].distance(direction) < TOLERANCE for a in chosen)


def check(data: Problem, how: _core.Options, n_trees: int = 2, *, parent: bool = False) -> Counter:
    """Every ridge direction is one that the node may have chosen; counts what was clear."""
    choices = Choices(np.flatnonzero(data.levels == 0))
    counts: Counter = Counter()
    for grown in grown_nodes(data, how, grow(data, how, n_trees)):
        if grown.is_pure or len(grown.rows) < 2:
            continue
        chosen = choices.visit(grown, parent=parent)
        counts["exhausted"] += len(grown.outside) == 0
        if grown.node.is_leaf:
            counts["impure leaves"] += 1
            counts["impure leaves with rows out of the bag"] += len(grown.outside) > 0
            continue
        counts["exhausted splits"] += len(grown.outside) == 0
        if grown.is_single:
            counts["single"] += 1
            continue
        assert chosen, "a ridge direction where there should be none"
        assert choices.hold(grown), (grown.key, chosen)
        counts["ridge"] += 1
        if len(chosen) == 1:
            counts["clear"] += 1
            counts[ALPHAS[min(chosen)]] += 1
    return counts


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("weights", ["none", "whole", "real", "balanced"])
@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
def test_node_takes_the_penalty_that_predicts_rows_out_of_the_bag_best(
    n_classes: int, weights: str, missing: bool
) -> None:
    if weights == "balanced" and not n_classes:
        pytest.skip("classes only")
    balanced = weights == "balanced"
    data = training_data(n_classes, weights="none" if balanced else weights, missing=missing)
    how = ways(data, ridge_family(5), balanced_subsample=balanced)
    counts = check(data, how, 3)
    assert counts["clear"] >= max(10, 0.7 * counts["ridge"])
    assert sum(alpha in counts for alpha in ALPHAS) >= 4
    # As in the paper, a forest of nothing else stops where no row is left to choose with.
    assert counts["exhausted splits"] == 0
    assert counts["exhausted"] == counts["impure leaves"]
    assert counts["impure leaves with rows out of the bag"] == 0


GROWTHS = {
    "depth_first": {},
    "max_depth": {"max_depth": 4},
    "best_first": {"growth": "best_first", "max_leaf_nodes": 14},
    "breadth_first": {"growth": "breadth_first", "max_leaf_nodes": 14},
    "few_drawn": {"bag_size": 30},
    "without_replacement": {"bag_size": 40, "replace": False},
}


@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("n_classes", [2, 0])
def test_rows_out_of_the_bag_travel_with_any_growth(n_classes: int, growth: str) -> None:
    data = training_data(n_classes, missing=True)
    families = ridge_family(5), ("categorical", 1)
    counts = check(data, ways(data, *families, **GROWTHS[growth]), 3)
    assert counts["clear"] >= 6
    assert counts["single"] > 0 or growth in ("few_drawn", "without_replacement")


LISTS = {
    "nominal": [("categorical", 1)],
    "rotation": [("rotation", 1, 5), ("categorical", 1)],
    "partial_rotation": [("rotation", 1, 3)],
    "principal": [("principal", 1, 2, ("share", 0.75))],
    "axis": [("axis", 1), ("categorical", 1)],
}


@pytest.mark.parametrize("others", LISTS)
@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
def test_rows_out_of_the_bag_travel_through_splits_of_other_families(
    n_classes: int, others: str
) -> None:
    """The members that need no rows out of the bag go on where ridge has none."""
    data = training_data(n_classes, missing=True, weights="whole")
    before = check(data, ways(data, *LISTS[others], ridge_family(5)))
    behind = check(data, ways(data, ridge_family(5), *LISTS[others]))
    for counts in (before, behind):
        assert counts["clear"] >= 5
        if others not in ("nominal", "partial_rotation"):
            assert counts["impure leaves"] == 0
    assert before["single"] + behind["single"] > 0
    if n_classes != 2:
        assert before["exhausted splits"] + behind["exhausted splits"] > 0


@pytest.mark.parametrize("growth", ["depth_first", "best_first"])
@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
def test_exhausted_node_goes_on_with_the_penalty_of_its_parent(n_classes: int, growth: str) -> None:
    data = training_data(n_classes, n=160 if n_classes else 60)
    values = {} if growth == "depth_first" else {"growth": growth, "max_leaf_nodes": 10**6}
    families = ridge_family(5, parent=True), ("categorical", 1)
    counts = check(data, ways(data, *families, **values), 4, parent=True)
    assert counts["exhausted splits"] >= 2
    assert counts["impure leaves"] == 0


def test_tree_without_rows_out_of_the_bag_is_a_leaf() -> None:
    """Also where it might go on with a parent's penalty: the root has none."""
    data = training_data(2, n=4)
    for parent in (False, True):
        how = ways(data, ridge_family(5, parent=parent))
        for tree in grow(data, how, 60).trees:
            times = _core.bag(how, 4, tree.number)
            if (times > 0).all():
                assert tree.n_nodes == 1


def test_target_far_from_zero_changes_no_choice() -> None:
    """Sums of squares of the targets themselves would lose all their digits."""
    data = training_data(0)
    how = ways(data, ridge_family(5))
    near = grow(data, how, 3)
    far = grow(problem(data.X, data.target + 2.0**30, 0, levels=data.levels), how, 3)
    for name in ("right", "entry_index", "threshold", "entry_weight"):
        np.testing.assert_allclose(near.arrays[name], far.arrays[name], rtol=1e-4, atol=1e-5)


def test_axis_that_vanishes_on_the_bag_cuts_no_rows_whatever_is_out_of_it() -> None:
    """All rows but one lie on a line; where that one is out of the bag only rounding is left."""
    rng = np.random.default_rng(0)
    X = np.outer(rng.normal(size=60), [1.0, 3.0])
    X[7] = [100.0, -50.0]
    data = problem(X, rng.integers(0, 2, 60))
    model = _core.Family("ridge", 1, 2, alphas=[1e5], tune="out_of_bag")
    principal = _core.Family("principal", 2, 2, share=1.0)
    how = ways(data, principal, model)
    n_checked = 0
    for tree in grow(data, how, 20).trees:
        if _core.bag(how, 60, tree.number)[7] > 0:
            continue
        for axis in {int(node.index[0]) for node in tree.nodes if not node.is_leaf}:
            if axis >= 2:
                weight = tree._rotated(np.eye(2, dtype=np.float32), axis - 2)
                assert abs(weight @ [1.0, 3.0]) > 0.1 * np.linalg.norm(weight)
                n_checked += 1
    assert n_checked > 3
