"""Summary of a forest: its kind, number of trees and size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bevel.forest.flat_forest import FlatForest

__all__ = ["overview_lines", "overview_title"]


def overview_title(forest: FlatForest) -> str:
    """Short description of the forest."""
    trees = f"{forest.n_trees:,} tree{'' if forest.n_trees == 1 else 's'}"
    task = f"{forest.n_classes} classes" if forest.n_classes else "numbers in the leaves"
    if forest.n_outputs > 1:
        task += f", {forest.n_outputs} outputs"
    return f"Flat forest of {trees}, {task}"


def overview_lines(forest: FlatForest) -> list[tuple[str, str]]:
    """Names and values: features, nodes, leaves, depth, memory."""
    n_nominal = int(np.count_nonzero(forest.levels))
    nominal = f", {n_nominal:,} of them nominal" if n_nominal else ""
    lines = [("features", f"{forest.n_features:,}{nominal}")]
    if forest.n_trees:
        depth = np.maximum.reduceat(forest.depth, forest.tree_offset[:-1])
        lines += [
            ("nodes", f"{forest.n_nodes:,}, {forest.n_nodes / forest.n_trees:,.0f} per tree"),
            ("leaves", f"{forest.n_leaves:,}, {forest.n_leaves / forest.n_trees:,.0f} per tree"),
            ("depth", f"median {np.median(depth):g}, at most {int(np.max(depth))}"),
        ]
    lines.append(("memory", _bytes(forest.nbytes)))
    return lines


def _bytes(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"
