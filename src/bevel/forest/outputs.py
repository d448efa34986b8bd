"""The forest of one of several outputs.

The splits of a forest with several outputs serve all of them; leaves hold what they predict for
each. The forest of one output has the same splits and the leaves of that output alone, so that
whatever reads a forest of one target can read it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.forest.flat_forest import FlatForest
from bevel.forest.task import SeveralOutputs

__all__ = ["forest_of_output"]


def forest_of_output(forest: FlatForest, outputs: SeveralOutputs, k: int) -> FlatForest:
    """The forest of one output; its gains are what each split removes of that output's impurity.

    The impurity is the variance, in the units of the target, or the Gini index.
    """
    low, high = (int(bound) for bound in outputs.bounds[k : k + 2])
    is_leaf = forest.right < 0
    made: dict[str, Any] = {
        "output_classes": np.empty(0, np.int32),
        "output_value": np.empty(0),
    }
    if outputs.labels is None:
        value = np.zeros(forest.n_nodes)
        value[is_leaf] = forest.output_value.reshape(-1, len(outputs))[:, k]
        made["leaf_value"] = value
        columns = value[is_leaf][:, None]
    else:
        made |= _entries_of(forest, is_leaf, low, high)
        columns = _shares(forest, is_leaf, low, high)
    if not forest.is_slim:
        made["gain"] = _gains(forest, is_leaf, columns)
    n_classes = 0 if outputs.labels is None else high - low
    return replace(forest, n_classes=n_classes, **made)


def _entries_of(
    forest: FlatForest, is_leaf: npt.NDArray[np.bool_], low: int, high: int
) -> dict[str, Any]:
    """Entries of the splits, and those entries of the leaves that belong to one output."""
    length = np.diff(forest.entry_offset)
    of_leaf = np.repeat(is_leaf, length)
    kept = ~of_leaf | ((forest.entry_index >= low) & (forest.entry_index < high))
    node = np.repeat(np.arange(forest.n_nodes), length)[kept]
    counts = np.bincount(node, minlength=forest.n_nodes)
    index = np.where(of_leaf, forest.entry_index - low, forest.entry_index)[kept]
    p_value, level = forest.entry_p_value, forest.entry_level
    return {
        "entry_offset": np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        "entry_index": index.astype(np.int32),
        "entry_weight": forest.entry_weight[kept],
        "entry_p_value": p_value[kept] if len(p_value) else p_value,
        "entry_level": level[kept] if len(level) else level,
    }


def _shares(forest: FlatForest, is_leaf: npt.NDArray[np.bool_], low: int, high: int) -> Floats:
    """Shares of the classes of one output, leaves x classes."""
    length = np.diff(forest.entry_offset)
    of_leaf = np.repeat(is_leaf, length)
    kept = of_leaf & (forest.entry_index >= low) & (forest.entry_index < high)
    leaf = np.repeat(np.cumsum(is_leaf) - 1, length)[kept]
    shares = np.zeros((int(is_leaf.sum()), high - low))
    shares[leaf, forest.entry_index[kept] - low] = forest.entry_weight[kept]
    return shares


def _gains(
    forest: FlatForest, is_leaf: npt.NDArray[np.bool_], columns: Floats
) -> npt.NDArray[np.float32]:
    """Impurity removed by each split: w_L w_R / w times the squared distance of the child means.

    columns: values or class shares of the leaves; splits have the weighted means of their leaves.
    """
    weight = forest.weight.astype(np.float64)
    mean = np.zeros((forest.n_nodes, columns.shape[1]))
    mean[is_leaf] = columns
    gain = np.zeros(forest.n_nodes)
    split = np.flatnonzero(~is_leaf)
    depth = forest.depth[split]
    order = split[np.argsort(-depth, kind="stable")]
    ends = np.flatnonzero(np.diff(np.sort(-depth))) + 1
    first = np.repeat(forest.tree_offset[:-1], np.diff(forest.tree_offset))
    for nodes in np.split(order, ends):  # from the deepest splits up
        left, right = nodes + 1, first[nodes] + forest.right[nodes]
        total = np.maximum(weight[left] + weight[right], np.finfo(float).tiny)
        share = weight[right] / total
        distance = mean[right] - mean[left]
        mean[nodes] = mean[left] + share[:, None] * distance
        gain[nodes] = weight[left] * share * (distance**2).sum(axis=1)
    return np.minimum(gain, np.finfo(np.float32).max).astype(np.float32)
