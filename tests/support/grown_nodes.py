"""The nodes of a grown tree with the rows that reach them, in the bag and out of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bevel import _core
from support.forests import Forest, Node, Problem, Tree
from support.naive.models import OutOfBag
from support.node_problems import NodeProblem


@dataclass(frozen=True)
class GrownNode:
    """A node, its rows, and the weights of all rows of the data in its tree."""

    data: Problem
    tree: Tree
    node: Node
    parent: int  # -1: root
    rows: np.ndarray
    outside: np.ndarray
    weight: np.ndarray  # in the bag
    weight_outside: np.ndarray

    @property
    def key(self) -> tuple[int, int]:
        return self.tree.number, self.node.number

    @property
    def numeric(self) -> np.ndarray:
        return np.flatnonzero(self.data.levels == 0)

    @property
    def is_pure(self) -> bool:
        return len(np.unique(self.data.target[self.rows])) == 1

    def _filled(self, rows: np.ndarray, features: np.ndarray) -> np.ndarray:
        X = self.data.X[np.ix_(rows, features)]
        return np.where(np.isnan(X), self.data.medians[features], X).astype(float)

    @property
    def _classes(self) -> np.ndarray:
        return np.unique(self.data.target[self.rows])

    def problem(self, features: np.ndarray) -> NodeProblem:
        """What a model of the node is fitted to; classes that the node has are counted from 0."""
        y, n_classes = self.data.target[self.rows], 0
        if self.data.n_classes:
            y, n_classes = np.searchsorted(self._classes, y), len(self._classes)
        weight = self.weight[self.rows]
        return NodeProblem(self._filled(self.rows, features), y, n_classes, weight)

    def out_of_bag(self, features: np.ndarray) -> OutOfBag:
        y = self.data.target[self.outside]
        if self.data.n_classes:
            place = np.searchsorted(self._classes, y)
            known = np.isin(y, self._classes)
            y = np.where(known, place, -1)
        X = self._filled(self.outside, features)
        return OutOfBag(X, y, self.weight_outside[self.outside])

    @property
    def is_single(self) -> bool:
        """Cut along a single column or an axis of the tree."""
        return self.node.is_category or len(self.node.index) == 1

    def direction(self, features: np.ndarray) -> np.ndarray:
        """The node's direction over some features, which must hold all that it uses."""
        assert np.isin(self.node.index, features).all()
        direction = np.zeros(self.data.n_features)
        direction[self.node.index] = self.node.coefficient
        return direction[features]


def grown_nodes(data: Problem, how: _core.Options, forest: Forest) -> Iterator[GrownNode]:
    """All nodes of all trees, parents first."""
    for tree in forest.trees:
        times = _core.bag(how, data.n_rows, tree.number)
        outside_weight = data.row_weights.copy()
        if how.balanced_subsample:
            counts = np.bincount(data.target, times, data.n_classes)
            present = counts > 0
            balance = np.zeros(data.n_classes)
            balance[present] = times.sum() / (present.sum() * counts[present])
            outside_weight = outside_weight * balance[data.target]
        weight = times * outside_weight
        counts_outside = (times == 0) & (outside_weight > 0)
        inside = tree.rows_of_nodes(data.X, np.flatnonzero(weight > 0))
        outside = tree.rows_of_nodes(data.X, np.flatnonzero(counts_outside))
        parent = np.full(tree.n_nodes, -1)
        for node in tree.nodes:
            if not node.is_leaf:
                parent[list(node.children)] = node.number
            yield GrownNode(
                data,
                tree,
                node,
                int(parent[node.number]),
                inside[node.number],
                outside[node.number],
                weight,
                outside_weight,
            )
