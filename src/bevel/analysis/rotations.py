"""Rotations that make trees simple, and the complexity of trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone

from bevel.analysis.analysed_forest import AnalysedForest, check_count, read_forest
from bevel.analysis.importances.projection import draw_rotation_axes, rotation
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.data.leaks import without_leak_alarm
from bevel.errors import wrong_type, wrong_value
from bevel.estimators.forest import ObliqueForest
from bevel.forest.bags import Bags
from bevel.forest.flat_forest import tree_complexities, tree_depths
from bevel.parameters.parameter import Integer
from bevel.projections import Custom, MultiRotation

__all__ = [
    "TreeComplexity",
    "refit_best_rotations",
    "tree_complexity",
]


def refit_best_rotations(
    forest: Any, X: Any, y: Any, n_rotations: int, *, sample_weight: Any = None
) -> ObliqueForest:
    """Refit a multi-rotation forest with the rotations of highest importance only.

    Rotations are ranked by `importance(forest, "rotation")`. The unrotated features are always
    kept and count as one of the rotations, as in `P.MultiRotation`.

    Parameters
    ----------
    forest : fitted ObliqueForestClassifier or ObliqueForestRegressor
        A forest with ``projection=P.MultiRotation(...)``.
    X, y : array-like
        Rows to fit, those of the forest or others with the same columns.
    n_rotations : int
        Number of rotations to keep; 1 keeps the unrotated features alone.
    sample_weight : array-like, default=None
        Weights of the rows.

    Returns
    -------
    object
        A new fitted estimator with the axes of the rotations as ``P.Custom(matrix)``, and with as
        many draws per node as a multi-rotation forest with `n_rotations` rotations, unless the
        forest had a number of its own; otherwise with the parameters of the forest, which is not
        changed. Axes are those of scaled features. Unless `scale` is None and other rows have
        another scale, the new forest has the same directions.

    References
    ----------
    Blaser's thesis, section 3.2.3: "the classifier can optionally be retrained with only the
    rotations that were deemed most helpful".

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris()
    >>> forest = presets.multi_rotation(n_estimators=20, random_state=0).fit(X, y)
    >>> refit_best_rotations(forest, X, y, 5).projection.sampler.shape  # 4 features, 5 views
    (4, 20)
    """
    analysed = read_forest(forest, "refit_best_rotations")
    multirotation = _multirotation(analysed)
    _check_number(n_rotations, int(multirotation.n_rotations))
    share = rotation(analysed).values
    # The first view is the unrotated features; the last one is for other directions.
    order = np.argsort(-share[1 : multirotation.n_rotations], kind="stable")
    views = np.concatenate(([0], np.sort(1 + order[: n_rotations - 1])))
    refit: ObliqueForest = clone(analysed.estimator)
    refit.projection = Custom(_axes_of(analysed, views))
    if refit.n_projections == "auto":
        refit.n_projections = _draws(analysed, n_rotations, refit.projection)
    with without_leak_alarm():
        return refit.fit(analysed.table(X), y, sample_weight, **analysed.groups_of(len(y)))


def _multirotation(analysed: AnalysedForest) -> MultiRotation:
    projection = analysed.estimator.projection
    if projection == "multirotation":
        return MultiRotation()
    if isinstance(projection, MultiRotation):
        return projection
    raise wrong_value(
        "The projection of the forest",
        "P.MultiRotation(...) and no list",
        projection,
        "Fit with projection=P.MultiRotation().",
    )


def _check_number(n_rotations: object, most: int) -> None:
    required = f"an integer from 1 to the {most} rotations of the forest"
    if not Integer().describes(n_rotations):
        raise wrong_type("n_rotations", required, n_rotations, "Write for example n_rotations=5.")
    if n_rotations not in range(1, most + 1):
        raise wrong_value("n_rotations", required, n_rotations, "Keep fewer rotations.")


def _axes_of(analysed: AnalysedForest, views: np.ndarray[Any, np.dtype[np.int64]]) -> sp.csc_array:
    """Axes of some views as columns over the numeric features."""
    axes, view_of_axis = draw_rotation_axes(analysed)
    n_numeric = int(np.count_nonzero(analysed.forest.levels == 0))
    offset, index, weight = axes
    pool = sp.csc_array(
        (weight, index, offset.astype(np.int64)), shape=(n_numeric, len(offset) - 1)
    )
    return pool[:, np.flatnonzero(np.isin(view_of_axis, views))]


def _draws(analysed: AnalysedForest, n_rotations: int, projection: Custom) -> int:
    """Value of "auto" for `n_rotations` rotations, limited by the number of axes and columns."""
    levels = analysed.forest.levels
    n_draws = MultiRotation(n_rotations).default_draws(len(levels), analysed.classes is None)
    n_numeric = int(np.count_nonzero(levels == 0))
    return min(n_draws, projection.most_draws(n_numeric) + len(levels) - n_numeric)


# Blaser's complexity of trees: the number of nodes, with the depth to break ties.


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
    n_rows = _rows_of_fit(analysed.fitted.provenance.bags) if n_rows is None else n_rows
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
