"""Depth of nodes by walking each tree."""

from __future__ import annotations

from bevel.forest.flat_forest import FlatForest


def naive_depth(forest: FlatForest) -> list[int]:
    """Splits above each node."""
    depth = [0] * forest.n_nodes
    for tree in forest:
        start = tree.nodes.start
        pending = [(0, 0)]
        while pending:
            node, above = pending.pop()
            depth[start + node] = above
            if (right := int(tree.children_right[node])) >= 0:
                pending += [(node + 1, above + 1), (right, above + 1)]
    return depth
