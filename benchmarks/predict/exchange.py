"""Bevel's axis forest as a model of XGBoost's, so that both walk the same trees.

Nodes are numbered level by level, as XGBoost grows them. A row goes left there when its value is
*below* the threshold, so each threshold becomes the next larger float32. Leaves hold the share of
class 1 divided by the number of trees, and the sum over trees is the probability.
"""

import json
from typing import Any

import numpy as np

__all__ = ["to_xgboost", "visits_of_xgboost"]

NO_PARENT = 2**31 - 1


def to_xgboost(forest: Any) -> Any:
    """Booster with the trees of a flat forest of single features and two classes."""
    import xgboost

    # A model of one stump gives the frame of the file, whatever the version.
    few = xgboost.DMatrix(np.eye(2, forest.n_features), np.arange(2))
    settings = {"objective": "reg:squarederror", "base_score": 0.0, "max_depth": 1}
    frame = json.loads(bytes(xgboost.train(settings, few, 1).save_raw("json")))
    model = frame["learner"]["gradient_booster"]["model"]
    n_trees = forest.n_trees
    model["trees"] = [tree_of(tree, number) for number, tree in enumerate(forest)]
    model["tree_info"] = [0] * n_trees
    model["gbtree_model_param"] |= {"num_parallel_tree": str(n_trees), "num_trees": str(n_trees)}
    model["iteration_indptr"] = [0, n_trees]
    booster = xgboost.Booster()
    booster.load_model(bytearray(json.dumps(frame).encode()))
    return booster


def tree_of(tree: Any, number: int) -> dict[str, Any]:
    """One tree as XGBoost's file describes it."""
    n = tree.n_nodes
    by_level = np.argsort(tree.depth, kind="stable")
    place = np.empty(n, dtype=np.int64)
    place[by_level] = np.arange(n)
    inner = tree.children_right >= 0
    left, right = (
        np.where(inner, place[child], -1)[by_level]
        for child in (tree.children_left, tree.children_right)
    )
    parent = np.full(n, NO_PARENT)
    for child in (left, right):
        parent[child[child >= 0]] = np.flatnonzero(child >= 0)
    feature = np.where(inner, features(tree), 0)
    condition = np.where(inner, np.nextafter(tree.threshold, np.float32(np.inf)), shares(tree))
    nothing = [0.0] * n
    return {
        "id": number,
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(tree.forest.n_features),
            "num_nodes": str(n),
            "size_leaf_vector": "1",
        },
        "left_children": left.tolist(),
        "right_children": right.tolist(),
        "parents": parent.tolist(),
        "split_indices": feature[by_level].tolist(),
        "split_conditions": condition[by_level].astype(float).tolist(),
        "split_type": [0] * n,
        "default_left": [0] * n,
        "base_weights": nothing,
        "loss_changes": nothing,
        "sum_hessian": nothing,
        **{f"categories{end}": [] for end in ("", "_nodes", "_segments", "_sizes")},
    }


def features(tree: Any) -> np.ndarray:
    """Feature of each split; of a leaf, something."""
    forest = tree.forest
    return forest.entry_index[forest.entry_offset[:-1][tree.nodes]]


def shares(tree: Any) -> np.ndarray:
    """Share of class 1 of each leaf, divided by the number of trees; of a split, something."""
    forest, nodes = tree.forest, tree.nodes
    offset = forest.entry_offset[nodes.start : nodes.stop + 1]
    entries = slice(offset[0], offset[-1])
    node = np.repeat(np.arange(tree.n_nodes), np.diff(offset))
    of_class = np.where(forest.entry_index[entries] == 1, forest.entry_weight[entries], 0)
    share = np.bincount(node, of_class, minlength=tree.n_nodes)
    return (share / forest.n_trees).astype(np.float32)


def visits_of_xgboost(booster: Any, X: np.ndarray) -> float:
    """Splits that a row passes in all trees, mean over rows."""
    import xgboost

    leaves = booster.predict(xgboost.DMatrix(X), pred_leaf=True).astype(np.int64)
    model = json.loads(bytes(booster.save_raw("json")))
    trees = model["learner"]["gradient_booster"]["model"]["trees"]
    visits = 0.0
    for tree, leaf in zip(trees, leaves.T, strict=True):
        depth = np.zeros(len(tree["parents"]), dtype=np.int64)
        for node, parent in enumerate(tree["parents"][1:], start=1):  # parents come first
            depth[node] = depth[parent] + 1
        visits += float(depth[leaf].mean())
    return visits
