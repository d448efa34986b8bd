"""Blaser's complexity of trees: the number of nodes, with the depth to break ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.checks import check_count
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.forest.bags import Bags
from bevel.forest.complexity import tree_complexities, tree_depths

__all__ = ["TreeComplexity", "tree_complexity"]


@dataclass(frozen=True, eq=False, repr=False)
class TreeComplexity(PrintedResult):
    """Sizes of the trees.

    Attributes
    ----------
    complexity : ndarray of float64, shape (n_trees,)
        Number of nodes plus depth divided by `n_rows`.
    n_nodes : ndarray of int64, shape (n_trees,)
        Nodes, splits and leaves, of each tree.
    depth : ndarray of int32, shape (n_trees,)
        Splits above the deepest leaf of each tree.
    n_rows : int
        N, the number of rows of the fit.
    """

    complexity: npt.NDArray[np.float64]
    n_nodes: npt.NDArray[np.int64]
    depth: npt.NDArray[np.int32]
    n_rows: int

    @property
    def median(self) -> float:
        """Median complexity, which the paper uses to compare forests."""
        return float(np.median(self.complexity))

    def to_pandas(self) -> Any:
        """A line for each tree."""
        columns = {"complexity": self.complexity, "n_nodes": self.n_nodes, "depth": self.depth}
        return data_frame(columns, index="tree")

    def _printed(self) -> PrintedTable:
        lines = [
            ("median complexity", self.median),
            ("median number of nodes", float(np.median(self.n_nodes))),
            ("median depth", float(np.median(self.depth))),
        ]
        trees = f"{len(self.n_nodes)} trees, {self.n_rows} rows"
        return PrintedTable(f"Complexity of {trees}", (), lines)


def tree_complexity(forest: Any, *, n_rows: int | None = None) -> TreeComplexity:
    """Complexity of each tree: #nodes + depth/N.

    Parameters
    ----------
    forest : fitted ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest, which may be slim.
    n_rows : int, default=None
        Rows of the fit, N in the paper. None takes the number stored in the forest, which a forest
        from `prune_trees` lacks.

    Returns
    -------
    TreeComplexity

    References
    ----------
    Blaser's thesis, formula 2.5 and section 2.4.1. It mentions decision nodes, but counts 2J − 1
    nodes for J leaves; so splits and leaves are counted here too.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris()
    >>> forest = ObliqueForestClassifier(20, max_depth=1, random_state=0).fit(X, y)
    >>> tree_complexity(forest).median  # three nodes, depth 1, 150 rows
    3.006666666666667
    """
    analysed = read_forest(forest, "tree_complexity", trees_only=True, several_outputs=True)
    n_rows = _rows_of_fit(analysed.fitted.bags) if n_rows is None else n_rows
    n_rows = check_count("n_rows", n_rows)
    trees = analysed.forest
    complexity = tree_complexities(trees, n_rows)
    return TreeComplexity(complexity, np.diff(trees.tree_offset), tree_depths(trees), n_rows)


def _rows_of_fit(bags: Bags | None) -> int:
    if bags is None:
        raise ValueError(
            "tree_complexity needs the number of rows of the fit; got a model that does not know "
            "it, as of boosting, of chosen trees or of trees with other bags. Pass n_rows."
        )
    return bags.n_rows
