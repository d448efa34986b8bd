"""Directions of root splits, the best ones that trees draw for all their rows."""

from __future__ import annotations

from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.checks import check_flag
from bevel.analysis.importances.projection import Directions, measure_directions
from bevel.analysis.rules.split_directions import find_directions

__all__ = ["root_directions"]


def root_directions(forest: object, *, merge_signs: bool = True) -> Directions:
    """Directions of the root splits of a fitted forest, by share of their gain.

    Compare those of several samplers, as Figure 3.1 of Tomita's thesis does.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest; trees without a split are left out.
    merge_signs : bool, default=True
        Whether a direction and its negative, which make the same cut, are one.

    Returns
    -------
    Directions
        Directions, whose `angles(result, direction)` show how close they are to a known best one.

    Examples
    --------
    >>> from bevel import datasets, presets
    >>> X, y = datasets.parallel_hyperplanes(500, 4, random_state=0)
    >>> forest = presets.sporf(n_estimators=50, random_state=0).fit(X, y)
    >>> root_directions(forest).words[0]
    'x0 + x1'
    """
    check_flag("merge_signs", merge_signs)
    analysed = read_forest(forest, "root_directions", trees_only=True, several_outputs=True)
    trees = analysed.forest
    trees.check_not_slim(analysed.caller)
    roots = trees.tree_offset[:-1]
    roots = roots[trees.right[roots] >= 0]
    return measure_directions(analysed, find_directions(trees, roots, merge_signs=merge_signs))
