"""Gain of each unique direction: Gini importance of projections (SPORF, section 4.5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.checks import check_count, check_flag
from bevel.analysis.importances.result import TITLES
from bevel.analysis.printing import PrintedResult, PrintedTable
from bevel.analysis.rules.split_directions import SparseRows, SplitDirections, find_directions
from bevel.data.scaling import IdentityScaler
from bevel.extras import import_optional
from bevel.forest.flat_forest import FlatForest
from bevel.text.sums import write_direction

__all__ = ["Directions", "measure_directions", "projection"]


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
        n = min(check_count("n", n, low=0), len(self))
        taken = self.rows.take(np.arange(n))
        std = None if self.std is None else self.std[:n]
        return replace(self, **vars(taken), share=self.share[:n], std=std, count=self.count[:n])

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
    return Directions(
        analysed.names,
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
