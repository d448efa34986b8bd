"""Parameters of boosted trees do what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor
from bevel import projections as P

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=400)


def fit(**settings: Any) -> ObliqueBoostingRegressor:
    return ObliqueBoostingRegressor(
        **{"max_iter": 10, "random_state": 0, "early_stopping": False, **settings}
    ).fit(X, Y)


@pytest.mark.parametrize("depth", [1, 3])
def test_max_depth_limits_every_path(depth: int) -> None:
    forest = fit(max_depth=depth, max_leaf_nodes=None, min_samples_leaf=1).forest_
    assert forest.depth.max() == depth


@pytest.mark.parametrize("projection", ["auto", "axis", "rotation"])
@pytest.mark.parametrize("n_leaves", [2, 9, None])
def test_max_leaf_nodes_limits_leaves(projection: str, n_leaves: int | None) -> None:
    forest = fit(projection=projection, max_leaf_nodes=n_leaves, min_samples_leaf=1).forest_
    leaves = np.add.reduceat(forest.right < 0, forest.tree_offset[:-1])
    assert leaves.max() == n_leaves if n_leaves else leaves.max() > 31


def levels_of(forest: Any, tree: int) -> list[list[int]]:
    """Nodes of a tree by their depth."""
    found: list[list[int]] = []
    first = int(forest.tree_offset[tree])
    stack = [(first, 0)]
    while stack:
        node, depth = stack.pop()
        found += [[] for _ in range(depth + 1 - len(found))]
        found[depth].append(node)
        if forest.right[node] >= 0:
            stack += [(first + int(forest.right[node]), depth + 1), (node + 1, depth + 1)]
    return found


@pytest.mark.parametrize("projection", ["auto", "axis"])
def test_nodes_on_a_level_of_a_symmetric_tree_have_the_same_split(projection: str) -> None:
    forest = fit(growth="symmetric", projection=projection).forest_
    for tree in range(forest.n_trees):
        levels = levels_of(forest, tree)
        assert [len(nodes) for nodes in levels] == [2**depth for depth in range(5)]
        for nodes in levels[:-1]:
            entries = [slice(*forest.entry_offset[node : node + 2]) for node in nodes]
            splits = {
                (
                    float(forest.threshold[node]),
                    int(forest.flags[node]),
                    tuple(forest.entry_index[own]),
                    tuple(forest.entry_weight[own]),
                )
                for node, own in zip(nodes, entries, strict=True)
            }
            assert len(splits) == 1


@pytest.mark.parametrize(
    ("sizes", "depth"),
    [
        ({}, 4),
        ({"max_depth": 2}, 2),
        ({"max_leaf_nodes": 9}, 3),
        ({"max_leaf_nodes": 8, "max_depth": 5}, 3),
        ({"max_leaf_nodes": None, "max_depth": 5}, 5),
    ],
)
def test_depth_of_symmetric_trees_is_that_of_the_closer_limit(
    sizes: dict[str, Any], depth: int
) -> None:
    assert fit(growth="symmetric", max_iter=2, **sizes).forest_.depth.max() == depth


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"monotonic_cst": [1, 0, 0, 0, 0, 0]}, "monotonic_cst must be None with"),
        (
            {
                "growth": "best_first",
                "multi_strategy": "multi_output_tree",
                "monotonic_cst": [1, 0, 0, 0, 0, 0],
            },
            "monotonic_cst must be None with multi_strategy",
        ),
        ({"max_depth": 17}, "max_depth must be at most 16 with"),
        ({"growth": "lossguide"}, "growth must be"),
    ],
)
def test_what_shared_splits_cannot_do_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(**{"growth": "symmetric", **settings})


def test_symmetric_trees_are_the_same_for_any_threads() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(30_000, 40)).astype(np.float32)
    rows[rng.random(rows.shape) < 0.02] = np.nan
    target = np.nan_to_num(rows[:, 0] * rows[:, 1]) + rng.normal(size=len(rows))
    settings: dict[str, Any] = {"growth": "symmetric", "max_iter": 3, "random_state": 0}
    settings["early_stopping"] = False
    models = [
        ObliqueBoostingRegressor(**settings, n_jobs=n).fit(rows, target).forest_ for n in (1, 3)
    ]
    for name in ("threshold", "entry_index", "leaf_value", "gain", "weight"):
        np.testing.assert_array_equal(getattr(models[0], name), getattr(models[1], name))


def test_groups_of_features_share_the_paths_of_symmetric_trees() -> None:
    forest = fit(growth="symmetric", interaction_cst=[[0, 1, 2], [3, 4, 5]]).forest_
    for tree in range(forest.n_trees):
        features = set().union(*directions(forest, tree))
        assert features <= {0, 1, 2} or features <= {3, 4, 5}


LABELS = np.digitize(Y, np.quantile(Y, np.arange(1, 8) / 8))
SHARED: dict[str, Any] = {
    "multi_strategy": "multi_output_tree",
    "max_iter": 4,
    "early_stopping": False,
    "random_state": 0,
}


@pytest.mark.parametrize("growth", ["best_first", "symmetric"])
def test_trees_of_all_classes_have_the_same_splits(growth: str) -> None:
    forest = ObliqueBoostingClassifier(growth=growth, **SHARED).fit(X, LABELS).forest_
    assert forest.n_trees == 4 * 8
    for iteration in range(4):
        first, *others = (
            slice(*forest.tree_offset[tree : tree + 2])
            for tree in range(8 * iteration, 8 * (iteration + 1))
        )
        for name in ("right", "threshold", "weight"):
            values = getattr(forest, name)
            assert all(np.array_equal(values[first], values[other]) for other in others)


def test_leaves_of_shared_trees_are_steps_of_each_class() -> None:
    """More classes than the sums that splits are sought on."""
    settings = {**SHARED, "max_iter": 1, "learning_rate": 1.0, "l2_regularization": 2.0}
    model = ObliqueBoostingClassifier(**settings).fit(X, LABELS)
    leaves = model.apply(X) + model.forest_.tree_offset[:-1]
    share = np.bincount(LABELS) / len(LABELS)
    for k in range(8):
        for leaf in np.unique(leaves[:, k]):
            rows = leaves[:, k] == leaf
            gradient = (share[k] - (LABELS[rows] == k)).sum()
            hessian = rows.sum() * share[k] * (1.0 - share[k]) * 8.0 / 7.0
            expected = -gradient / (hessian + 2.0)
            assert model.forest_.leaf_value[leaf] == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert rows.sum() >= 5


def test_shared_trees_are_the_same_for_any_threads() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(20_000, 40))
    target = np.digitize(rows[:, 0] * rows[:, 1] + rng.normal(size=len(rows)), np.arange(-3, 4))
    models = [
        ObliqueBoostingClassifier(**SHARED, n_jobs=n).fit(rows, target).forest_ for n in (1, 3)
    ]
    for name in ("threshold", "leaf_value", "gain"):
        np.testing.assert_array_equal(getattr(models[0], name), getattr(models[1], name))


@pytest.mark.parametrize("growth", ["best_first", "symmetric"])
def test_blocks_and_single_rows_of_shared_trees_predict_alike(growth: str) -> None:
    rows = X.copy()
    rows[RNG.random(X.shape) < 0.05] = np.nan
    model = ObliqueBoostingClassifier(growth=growth, **SHARED).fit(rows, LABELS)
    plain = rows[~np.isnan(rows).any(axis=1)]
    for some in (rows[:100], plain[:100]):
        leaves = model.apply(some) + model.forest_.tree_offset[:-1]
        expected = np.tile(model.baseline_prediction_, (len(some), 1))
        for tree in range(model.forest_.n_trees):
            expected[:, tree % 8] += model.forest_.leaf_value[leaves[:, tree]]
        np.testing.assert_array_equal(model.decision_function(some), expected)
        single = [model.decision_function(some[i : i + 1])[0] for i in range(20)]
        np.testing.assert_array_equal(single, expected[:20])


def test_symmetric_trees_may_have_linear_leaves() -> None:
    model = fit(growth="symmetric", linear_leaves=True)
    assert model.forest_.has_leaf_models
    single = [model.predict(X[i : i + 1])[0] for i in range(50)]
    np.testing.assert_array_equal(model.predict(X)[:50], single)


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        ({}, {"loss": "poisson"}, r"\(identity, 1\); got 'poisson' \(exponential, 1\)"),
        ({"quantile": [0.1, 0.5]}, {"quantile": [0.1, 0.5, 0.9]}, r"\(sorted, 2\); got 'quantile'"),
    ],
)
def test_iterations_added_later_predict_what_earlier_ones_do(
    first: dict[str, Any], then: dict[str, Any], message: str
) -> None:
    loss = {"loss": "quantile"} if first else {}
    model = fit(**loss, **first, warm_start=True)
    model.set_params(max_iter=12, **then)
    with pytest.raises(ValueError, match=message):
        model.fit(X, np.exp(Y))


def test_quantiles_share_trees() -> None:
    model = fit(loss="quantile", quantile=[0.1, 0.5, 0.9], multi_strategy="multi_output_tree")
    coverage = np.mean((model.predict(X)[:, 0] <= Y) & (model.predict(X)[:, 2] >= Y))
    assert 0.6 < coverage <= 1.0
    offsets = model.forest_.tree_offset
    np.testing.assert_array_equal(
        model.forest_.threshold[: offsets[1]], model.forest_.threshold[offsets[2] : offsets[3]]
    )


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_leaves_keep_their_rows_and_trees_their_share(share: float) -> None:
    forest = fit(subsample=share, min_samples_leaf=30).forest_
    assert forest.weight[forest.right < 0].min() >= 30
    np.testing.assert_array_equal(forest.weight[forest.tree_offset[:-1]], round(400 * share))


def test_penalty_shrinks_leaf_values() -> None:
    sizes = [
        np.abs(fit(max_iter=1, l2_regularization=penalty).forest_.leaf_value).max()
        for penalty in (0.0, 10.0, 1000.0)
    ]
    assert sizes[0] > sizes[1] > 5 * sizes[2]


def directions(forest: Any, tree: int) -> set[tuple[int, ...]]:
    """The features of each split of a tree."""
    first, last = forest.tree_offset[tree : tree + 2]
    return {
        tuple(forest.entry_index[forest.entry_offset[node] : forest.entry_offset[node + 1]])
        for node in range(first, last)
        if forest.right[node] >= 0
    }


def test_rotation_combines_all_features_and_is_drawn_for_each_iteration() -> None:
    forest = fit(projection="rotation").forest_
    weights = [
        forest.entry_weight[forest.entry_offset[root] : forest.entry_offset[root + 1]]
        for root in forest.tree_offset[:-1]
    ]
    assert all(len(w) == 6 and np.linalg.norm(w) == pytest.approx(1.0, abs=1e-6) for w in weights)
    assert len({tuple(w) for w in weights}) == 10


def test_multirotation_has_single_features_and_rotations() -> None:
    model = fit(projection=P.MultiRotation(n_rotations=3), max_iter=30)
    sizes = {len(d) for tree in range(30) for d in directions(model.forest_, tree)}
    assert sizes == {1, 6}
    assert np.corrcoef(model.predict(X), Y)[0, 1] > 0.9


def test_members_of_a_list_all_take_part() -> None:
    model = fit(projection=[P.Axis(), (P.RandomCombination(2), 10), "rotation"], max_iter=30)
    sizes = {len(d) for tree in range(30) for d in directions(model.forest_, tree)}
    assert sizes == {1, 2, 6}


def test_fewer_single_features_can_be_drawn_for_each_iteration() -> None:
    forest = fit(projection="axis", n_projections=2, max_iter=40).forest_
    used = [directions(forest, tree) for tree in range(40)]
    assert max(map(len, used)) == 2
    assert len(set().union(*used)) == 6
