"""Gain of directions and of rotations: Gini importance of projections (SPORF, section 4.5), and of
the rotations of a multi-rotation forest (Blaser, thesis, section 3.2.3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats, Ints64
from bevel.analysis.analysed_forest import AnalysedForest, check_count, check_flag
from bevel.analysis.importances.result import TITLES, Importance, mean_and_spread
from bevel.analysis.printing import PrintedResult, PrintedTable
from bevel.analysis.rules.split_directions import (
    SparseRows,
    SplitDirections,
    distinct_rows,
    find_directions,
    tidy_rows,
)
from bevel.data.scaling import IdentityScaler
from bevel.errors import shorten
from bevel.extras import import_optional
from bevel.forest.flat_forest import FlatForest
from bevel.projections.base import FamilySpec
from bevel.projections.families import TableShape, read_projection, resolve_families
from bevel.text.split_text import write_direction
from bevel.text.vocabulary import vocabulary_of
from bevel.training.trainer import native_family

__all__ = [
    "Directions",
    "draw_rotation_axes",
    "measure_directions",
    "projection",
    "rotation",
]

N_SHOWN = 10  # lines of a printed table


@dataclass(frozen=True, eq=False, repr=False)
class Directions(PrintedResult):
    """Directions of splits, the most important one first.

    Direction d has features `index[offset[d]:offset[d + 1]]` with weights at the same positions,
    divided by the largest absolute one.

    Attributes
    ----------
    names : tuple of str
        Names of all features.
    offset : ndarray of int64, shape (n_directions + 1,)
        Where the features of each direction begin.
    index : ndarray of int32
        Features.
    weight : ndarray of float32
        Weights of the features.
    share : ndarray of float64, shape (n_directions,)
        Gain of the splits along each direction, as a share of the gain of all splits.
    std : ndarray of float64, shape (n_directions,), or None
        Standard deviation of the share over trees; None for one tree.
    count : ndarray of int64, shape (n_directions,)
        Number of splits along each direction.
    is_scaled : bool
        Whether the forest scales features, so that weights are those of scaled features.
    """

    names: tuple[str, ...]
    offset: npt.NDArray[np.int64]
    index: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float32]
    share: Floats
    std: Floats | None
    count: npt.NDArray[np.int64]
    is_scaled: bool

    kind = "projection"
    heading = TITLES[kind]

    def __len__(self) -> int:
        return len(self.share)

    @property
    def rows(self) -> SparseRows:
        """Features and weights as one sparse matrix."""
        return SparseRows(self.offset, self.index, self.weight)

    def top(self, n: int) -> Directions:
        """The n most important directions."""
        return self._take(np.arange(min(check_count("n", n, low=0), len(self))))

    def combinations(self) -> Directions:
        """The directions of more than one feature; shares stay those of all splits."""
        return self._take(np.flatnonzero(np.diff(self.offset) > 1))

    def _take(self, chosen: npt.NDArray[np.int64]) -> Directions:
        taken = self.rows.take(chosen)
        std = None if self.std is None else self.std[chosen]
        share, count = self.share[chosen], self.count[chosen]
        return replace(self, **vars(taken), share=share, std=std, count=count)

    def dense(self) -> Floats:
        """Weights as a matrix of shape (n_directions, n_features)."""
        return self.rows.dense(len(self.names))

    @property
    def words(self) -> list[str]:
        """Directions as sums of features, such as ``sepal_length − petal_width``."""
        return [self._write(number) for number in range(len(self))]

    def to_pandas(self) -> Any:
        """Data frame: direction in words, number of its features, share, std and count."""
        pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
        columns = {"direction": self.words, "n_features": np.diff(self.offset)}
        spread = {} if self.std is None else {"std": self.std}
        return pandas.DataFrame({**columns, "share": self.share, **spread, "count": self.count})

    def _write(self, number: int) -> str:
        own = slice(self.offset[number], self.offset[number + 1])
        return write_direction([self.names[f] for f in self.index[own]], self.weight[own])

    def _printed(self) -> PrintedTable:
        best = self.top(N_SHOWN)
        numbers = zip(best.words, best.share.tolist(), best.count.tolist(), strict=True)
        rows = [(words, f"{share:.4f}", str(count)) for words, share, count in numbers]
        hidden = len(self) - len(best)
        more = (f"... and {hidden} more",) if hidden > 0 else ()
        scaled = ("weights: of scaled features",) if self.is_scaled else ()
        notes = (*more, "share: of the gain of all splits", *scaled)
        return PrintedTable(self.heading, ("direction", "share", "count"), rows, notes)


def projection(analysed: AnalysedForest, *, merge_signs: bool = True) -> Directions:
    """Gain of each unique direction, summed over the splits along it and all trees.

    Parameters
    ----------
    analysed : AnalysedForest
        The forest.
    merge_signs : bool, default=True
        Whether a direction and its negative, which make the same cuts, are one; its largest
        weight is positive. False keeps them apart, as the paper does.
    """
    forest = analysed.forest
    forest.check_not_slim(analysed.caller)
    check_flag("merge_signs", merge_signs)
    return measure_directions(analysed, find_directions(forest, merge_signs=merge_signs))


def measure_directions(analysed: AnalysedForest, found: SplitDirections) -> Directions:
    """Importance of the given directions, best first, ties by first occurrence."""
    share, spread = _shares(analysed.forest, found)
    order = np.argsort(-share, kind="stable")
    words = vocabulary_of(analysed.fitted)
    terms = words.with_levels(analysed.forest.with_level_columns[1]).names[len(words.names) :]
    return Directions(
        (*analysed.names, *terms),
        **vars(found.rows.take(order)),
        share=share[order],
        std=None if spread is None else spread[order],
        count=np.bincount(found.direction, minlength=len(found.rows))[order],
        is_scaled=not isinstance(analysed.fitted.encoding.scaler, IdentityScaler),
    )


def _shares(forest: FlatForest, found: SplitDirections) -> tuple[Floats, Floats | None]:
    """Share of the gain, and its spread over T trees.

    T times the part of all gain that a tree has along a direction averages to the share.
    """
    n_directions, n_trees = len(found.rows), forest.n_trees
    gain = forest.gain[found.node].astype(np.float64)
    whole = gain.sum()
    share = np.bincount(found.direction, gain, n_directions) / (whole if whole > 0.0 else 1.0)
    if n_trees < 2:
        return share, None
    pair, place = np.unique(found.direction * n_trees + found.tree, return_inverse=True)
    part = np.bincount(place, gain, len(pair)) * n_trees / (whole if whole > 0.0 else 1.0)
    squares = np.bincount(pair // n_trees, part * part, n_directions)
    variance = (squares - n_trees * share * share) / (n_trees - 1)
    return share, np.sqrt(np.maximum(variance, 0.0))


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
    seed = analysed.fitted.provenance.seed
    if seed is None:
        raise ValueError(
            f"{analysed.caller} draws the rotations again from the seed of the forest; got trees "
            "chosen by prune_trees, which have none. Ask the whole forest."
        )
    return seed


def _views(families: list[FamilySpec], n_numeric: int) -> tuple[list[str], Ints64]:
    """Names of the views, and the view that each axis belongs to, in the order of drawing."""
    names, views = [UNROTATED], []
    for family in families:
        views.append(np.zeros(n_numeric, np.int64))
        rotated = np.arange(len(names), len(names) + family.settings["n_rotations"] - 1)
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
