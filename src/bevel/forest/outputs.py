"""Several outputs of one forest: their names and classes, and the forest of one of them.

The splits of a forest with several outputs serve all of them; leaves hold what they predict for
each. The forest of one output has the same splits and the leaves of that output alone, so that
whatever reads a forest of one target can read it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.errors import join_names, wrong_type, wrong_value
from bevel.forest.flat_forest import FlatForest

__all__ = ["Outputs", "forest_of_output"]


@dataclass(frozen=True, eq=False)
class Outputs:
    """Names and classes of several outputs.

    Attributes
    ----------
    names : tuple of str
        Name of each output.
    classes : tuple of ndarray or None
        Labels of the classes of each output; None in regression.
    """

    names: tuple[str, ...]
    classes: tuple[npt.NDArray[Any], ...] | None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_classes(self) -> npt.NDArray[np.int32]:
        """Number of classes of each output, 0 in regression."""
        classes = self.classes or ((),) * len(self.names)
        return np.array([len(labels) for labels in classes], dtype=np.int32)

    @property
    def bounds(self) -> npt.NDArray[np.int64]:
        """Where the classes of each output begin, and where the last ones end."""
        if self.classes is None:
            return np.arange(len(self.names) + 1)
        return np.concatenate(([0], np.cumsum(self.n_classes, dtype=np.int64)))

    def position(self, which: object) -> int:
        """Position of an output given by position or name."""
        if isinstance(which, str):
            if which not in self.names:
                required = f"one of {join_names([repr(name) for name in self.names])}"
                raise wrong_value("output", required, which, "Check the spelling, or its position.")
            return self.names.index(which)
        if isinstance(which, bool) or not isinstance(which, int | np.integer):
            raise wrong_type("output", "a position or a name", which, "See output_names_.")
        if not -len(self) <= which < len(self):
            required = f"from 0 to {len(self) - 1}"
            raise wrong_value("output", required, int(which), "See output_names_.")
        return int(which) % len(self)

    def split(self, columns: Floats) -> list[Floats]:
        """Columns of all classes as one array for each output."""
        return [np.ascontiguousarray(part) for part in np.split(columns, self.bounds[1:-1], axis=1)]


def forest_of_output(forest: FlatForest, outputs: Outputs, k: int) -> FlatForest:
    """The forest of one output; its gains are what each split removes of that output's impurity.

    The impurity is the variance, in the units of the target, or the Gini index.
    """
    low, high = (int(bound) for bound in outputs.bounds[k : k + 2])
    is_leaf = forest.right < 0
    made: dict[str, Any] = {
        "output_classes": np.empty(0, np.int32),
        "output_value": np.empty(0),
    }
    if outputs.classes is None:
        value = np.zeros(forest.n_nodes)
        value[is_leaf] = forest.output_value.reshape(-1, len(outputs))[:, k]
        made["leaf_value"] = value
        columns = value[is_leaf][:, None]
    else:
        made |= _entries_of(forest, is_leaf, low, high)
        columns = _shares(forest, is_leaf, low, high)
    if not forest.is_slim:
        made["gain"] = _gains(forest, is_leaf, columns)
    n_classes = 0 if outputs.classes is None else high - low
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
    p_value = forest.entry_p_value
    return {
        "entry_offset": np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        "entry_index": index.astype(np.int32),
        "entry_weight": forest.entry_weight[kept],
        "entry_p_value": p_value[kept] if len(p_value) else p_value,
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
