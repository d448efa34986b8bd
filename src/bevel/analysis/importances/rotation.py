"""Gain of each rotation of a multi-rotation forest (Blaser, thesis, section 3.2.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Ints64
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.importances.result import Importance, mean_and_spread
from bevel.analysis.rules.split_directions import (
    SparseRows,
    SplitDirections,
    distinct_rows,
    find_directions,
    tidy_rows,
)
from bevel.errors import shorten
from bevel.projections.base import FamilySpec
from bevel.projections.families import TableShape, read_projection, resolve_families
from bevel.training.trainer import native_family

__all__ = ["draw_rotation_axes", "rotation"]

UNROTATED, OTHER = "unrotated", "other directions"


def rotation(analysed: AnalysedForest) -> Importance:
    """Mean share of each rotation in the gain of a tree, with the unrotated features as a view.

    The rotations, drawn once for the forest, are drawn again from its seed, and the direction of
    each split is looked up among their axes.
    """
    forest = analysed.forest
    forest.check_not_slim(analysed.caller)
    families = _multirotations(analysed)
    names, view_of_axis = _views(families, int(np.count_nonzero(forest.levels == 0)))
    found = find_directions(forest, merge_signs=False)
    view = _look_up(_draw_again(analysed, families), view_of_axis, found, len(names))
    view = np.where(np.diff(found.rows.offset) == 1, 0, view)
    if (view == len(names)).any():
        names.append(OTHER)
    shares = _shares_of_trees(analysed, found, view[found.direction], len(names))
    values, spread = mean_and_spread(shares, len(names))
    return Importance(
        "rotation",
        tuple(names),
        values,
        "share of the impurity that splits along the rotation's axes remove; std over trees",
        std=spread,
        count=np.bincount(view[found.direction], minlength=len(names)),
    )


def draw_rotation_axes(analysed: AnalysedForest) -> tuple[tuple[npt.NDArray[Any], ...], Ints64]:
    """Axes of all views over the numeric features counted from 0, and the view of each axis.

    Axes are their offsets, indices and weights, in the order of drawing.
    """
    families = _multirotations(analysed)
    numeric = np.zeros(np.count_nonzero(analysed.forest.levels == 0), np.int32)
    _, view_of_axis = _views(families, len(numeric))
    return _drawn(analysed, families, numeric), view_of_axis


def _multirotations(analysed: AnalysedForest) -> list[FamilySpec]:
    """The multi-rotation members of the forest's projection; raises if there are none."""
    estimator, levels = analysed.estimator, analysed.forest.levels
    members = read_projection(estimator.projection, estimator.n_projections)
    n_nominal = int(np.count_nonzero(levels))
    shape = TableShape(0, len(levels) - n_nominal, n_nominal)
    resolved = resolve_families(members, shape, regression=analysed.classes is None)
    families = [family for family in resolved if family.kind == "multirotation"]
    if not families:
        raise ValueError(
            f"{analysed.caller} needs rotations that all trees share; got projection="
            f"{shorten(estimator.projection)}. Fit with projection=P.MultiRotation()."
        )
    return families


def _seed(analysed: AnalysedForest) -> int:
    if analysed.fitted.seed is None:
        raise ValueError(
            f"{analysed.caller} draws the rotations again from the seed of the forest; got trees "
            "chosen by prune_trees, which have none. Ask the whole forest."
        )
    return analysed.fitted.seed


def _views(families: list[FamilySpec], n_numeric: int) -> tuple[list[str], Ints64]:
    """Names of the views, and the view that each axis belongs to, in the order of drawing."""
    names, views = [UNROTATED], []
    for family in families:
        views.append(np.zeros(n_numeric, np.int64))
        rotated = np.arange(len(names), len(names) + family.n_rotations - 1)
        views.append(np.repeat(rotated, family.n_nonzeros))
        names += [f"rotation {number}" for number in rotated]
    return names, np.concatenate(views)


def _draw_again(analysed: AnalysedForest, families: list[FamilySpec]) -> SparseRows:
    offset, index, weight = _drawn(analysed, families, analysed.forest.levels)
    owner = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    return tidy_rows(owner, index, weight, len(offset) - 1, merge_signs=False)


def _drawn(
    analysed: AnalysedForest, families: list[FamilySpec], levels: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[Any], ...]:
    options = _core.Options()
    options.seed = _seed(analysed)
    options.families = [native_family(family) for family in families]
    return _core.forest_axes(options, levels)


def _look_up(axes: SparseRows, view: Ints64, found: SplitDirections, other: int) -> Ints64:
    """View of each direction; `other` for those that are not axes."""
    joined = SparseRows(
        np.concatenate((axes.offset, axes.offset[-1] + found.rows.offset[1:])),
        np.concatenate((axes.index, found.rows.index)),
        np.concatenate((axes.weight, found.rows.weight)),
    )
    rows, place = distinct_rows(joined)
    known = np.full(len(rows), other)
    known[place[: len(axes)]] = view
    return known[place[len(axes) :]]


def _shares_of_trees(
    analysed: AnalysedForest, found: SplitDirections, view: Ints64, n_views: int
) -> npt.NDArray[np.float64]:
    """Share of each view in the gain of each tree that has splits."""
    n_trees = analysed.forest.n_trees
    gain = analysed.forest.gain[found.node].astype(np.float64)
    cells = np.bincount(found.tree * n_views + view, gain, n_trees * n_views)
    by_tree = cells.reshape(n_trees, n_views)
    by_tree = by_tree[by_tree.sum(axis=1) > 0.0]
    return np.asarray(by_tree / by_tree.sum(axis=1, keepdims=True))
