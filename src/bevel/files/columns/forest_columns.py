"""A flat forest as named columns, and back.

Each array of `bevel.FlatForest` is a column of its name, except `right`. In preorder the
right child follows the left subtree, which has an odd number of nodes: one less than twice its
leaves. So column `left_leaves` holds the leaves under the left child, 0 for a leaf, and the right
child of node i is i + 2 left_leaves[i]. Most of these numbers are tiny, even in large trees.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Array
from bevel.errors import ModelFileError
from bevel.files.columns.column import (
    Column,
    decode_column,
    encode_column,
    largest_decoded,
    open_column,
)
from bevel.forest.flat_forest import FlatForest, check_forest
from bevel.forest.forest_fields import FOREST_FIELDS
from bevel.forest.records.survival_record import check_curves

__all__ = ["COLUMN_TYPES", "check_claims", "decode_forest", "encode_forest", "map_forest"]


COLUMN_TYPES: Mapping[str, str] = {
    "left_leaves" if name == "right" else name: field.dtype for name, field in FOREST_FIELDS.items()
}


def encode_forest(forest: FlatForest) -> dict[str, Column]:
    """Columns of a forest, in the order of COLUMN_TYPES; raises ValueError if it is invalid."""
    check_forest(forest)
    arrays = forest.arrays()
    arrays["left_leaves"] = _left_leaves(arrays.pop("right"), forest.tree_offset)
    return {name: encode_column(arrays[name]) for name in COLUMN_TYPES}


def decode_forest(
    columns: Mapping[str, Column],
    n_features: int,
    n_classes: int,
    levels: npt.NDArray[np.int32],
    medians: npt.NDArray[np.float32],
    n_times: int = 0,
    n_causes: int = 1,
) -> FlatForest:
    """Decode the forest of some columns; raises ModelFileError unless it is valid."""
    _check_types(columns)
    limit = check_claims({name: columns[name] for name in COLUMN_TYPES})
    arrays = {name: decode_column(columns[name], limit) for name in COLUMN_TYPES}
    arrays["right"] = _right(arrays.pop("left_leaves"), arrays["tree_offset"])
    forest = FlatForest(n_features, n_classes, levels, medians, **arrays)
    try:
        check_forest(forest)
        check_curves(forest, n_times, n_causes)
    except ValueError as error:
        raise ModelFileError(f"{error} The file is damaged.") from None
    return forest


def map_forest(
    columns: Mapping[str, Column],
    n_features: int,
    n_classes: int,
    levels: npt.NDArray[np.int32],
    medians: npt.NDArray[np.float32],
) -> _core.MappedForest:
    """Native forest that reads columns in place, checking what it reads."""
    _check_types(columns)
    readers = {name: open_column(columns[name]) for name in COLUMN_TYPES}
    return _core.MappedForest(readers, n_features, n_classes, levels, medians)


def _check_types(columns: Mapping[str, Column]) -> None:
    for name, kind in COLUMN_TYPES.items():
        if name not in columns or columns[name].dtype != kind:
            got = columns[name].dtype if name in columns else "no such column"
            raise ModelFileError(
                f"Column {name} must hold values of type {kind}; got {got}. The file is damaged."
            )


def check_claims(columns: Mapping[str, Column]) -> int:
    """Raise for columns that would fill the memory; returns the bytes that each may decode to."""
    limit = largest_decoded(sum(column.nbytes for column in columns.values()))
    claimed = sum(column.decoded_nbytes for column in columns.values())
    if claimed > limit:
        raise ModelFileError(
            f"The columns of a forest must decode to at most {limit} bytes for their size; "
            f"they claim {claimed}. The file is damaged."
        )
    return limit


def _left_leaves(right: Array, tree_offset: Array) -> npt.NDArray[np.int32]:
    jump = right - _node_of_tree(tree_offset)
    return np.where(right < 0, 0, jump // 2).astype(np.int32)


def _right(left_leaves: Array, tree_offset: Array) -> npt.NDArray[np.int32]:
    n_nodes = len(left_leaves)
    sound = len(tree_offset) > 1 and tree_offset[0] == 0 and tree_offset[-1] == n_nodes
    if not sound or (tree_offset[1:] <= tree_offset[:-1]).any():
        raise ModelFileError(
            f"tree_offset must rise from 0 to {n_nodes}, the number of nodes; it does not. "
            "The file is damaged."
        )
    right = _node_of_tree(tree_offset) + 2 * left_leaves.astype(np.int64)
    # Checked before the conversion to a narrower type, in which it could wrap into the tree.
    outside = (left_leaves < 0) | (right >= n_nodes)
    return np.where(left_leaves == 0, -1, np.where(outside, -2, right)).astype(np.int32)


def _node_of_tree(tree_offset: Array) -> npt.NDArray[np.int64]:
    """Number of each node within its tree."""
    n_nodes = int(tree_offset[-1])
    first: npt.NDArray[np.int64] = np.repeat(tree_offset[:-1], np.diff(tree_offset))
    return np.arange(n_nodes, dtype=np.int64) - first
