"""Rank scalers: a column's values replaced by their ranks among the training rows.

Both kinds read a value's rank off a table of knots, the distinct training values with their average
ranks. Ranks of training values are exact in columns of up to `MOST_KNOTS` distinct values. Beyond,
that many are kept, evenly spaced in rank, with both neighbours of values that more than a gap of
rows share; every value between two knots is then interpolated linearly. A rank is wrong by less
than two gaps, 2n / (MOST_KNOTS - 1): with 200 000 distinct values by 6 ranks of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats

__all__ = ["MOST_KNOTS", "RankScaler", "learn_ranks", "merge_ranks"]


# Exact for all data sets of the papers; half a megabyte a column at most, with its ranks.
MOST_KNOTS = 65_536


@dataclass(frozen=True, eq=False)
class RankScaler:
    """Ranks of new values among the training values.

    Attributes
    ----------
    relative : bool
        False: "rank" of Tomita's thesis 2.2.5, from 1 to n; new values are interpolated, 0 below
        all and n + 1 above all. True: "relative_rank" of Blaser's thesis 1.6.2, ranks over n + 1
        among the values and ∓∞; a new value takes the mean of the two it falls between.
    n_present : ndarray of shape (p,)
        n, the training values of each column that are not missing.
    complete : ndarray of shape (p,)
        Whether the knots of a column are all its distinct values.
    offset : ndarray of shape (p + 1,)
        Where the knots of each column begin in `knots` and `ranks`.
    knots, ranks : ndarray
        Ascending training values and their ranks, ties averaged.
    """

    relative: bool
    n_present: npt.NDArray[np.int64]
    complete: npt.NDArray[np.bool_]
    offset: npt.NDArray[np.int64]
    knots: npt.NDArray[np.floating]
    ranks: npt.NDArray[np.floating]

    def native(self, n_features: int) -> _core.Scaler:  # noqa: ARG002
        """The scaler that the core applies to a table."""
        knots, ranks = self.knots.astype(np.float64), self.ranks.astype(np.float64)
        return _core.Scaler.rank(
            self.relative, self.n_present, self.complete, self.offset, knots, ranks
        )


def learn_ranks(tile: Floats, relative: bool) -> RankScaler:
    """Learn the knots of every column of a tile of training rows."""
    columns = [_learn_column(tile[:, column]) for column in range(tile.shape[1])]
    sizes = [len(knots) for knots, *_ in columns]
    return RankScaler(
        relative=relative,
        n_present=np.array([n_present for *_, n_present, _ in columns], dtype=np.int64),
        complete=np.array([complete for *_, complete in columns], dtype=np.bool_),
        offset=np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
        knots=_compact(_join([knots for knots, *_ in columns])),
        ranks=_compact(_join([ranks for _, ranks, *_ in columns])),
    )


def merge_ranks(parts: Sequence[RankScaler]) -> RankScaler:
    """Join scalers of neighbouring columns, in their order."""
    starts = np.cumsum([0] + [part.offset[-1] for part in parts[:-1]])
    offsets = [part.offset[:-1] + start for part, start in zip(parts, starts, strict=True)]
    total = starts[-1] + parts[-1].offset[-1]
    return RankScaler(
        relative=parts[0].relative,
        n_present=np.concatenate([part.n_present for part in parts]),
        complete=np.concatenate([part.complete for part in parts]),
        offset=np.concatenate([*offsets, [total]]),
        knots=np.concatenate([part.knots for part in parts]),
        ranks=np.concatenate([part.ranks for part in parts]),
    )


def _learn_column(values: Floats) -> tuple[Floats, Floats, int, bool]:
    present = values[~np.isnan(values)]
    knots, counts = np.unique(present, return_counts=True)
    last = np.cumsum(counts)
    ranks = (2 * last - counts + 1) / 2.0
    if len(knots) <= MOST_KNOTS:
        return knots, ranks, len(present), True
    chosen = np.searchsorted(last, np.linspace(1, len(present), MOST_KNOTS))
    shared = np.flatnonzero(counts > len(present) / (MOST_KNOTS - 1))
    beside = np.clip([shared - 1, shared, shared + 1], 0, len(knots) - 1)
    chosen = np.unique(np.concatenate([chosen, beside.ravel()]))
    return knots[chosen], ranks[chosen], len(present), False


def _join(arrays: Sequence[Floats]) -> Floats:
    return np.concatenate(arrays) if arrays else np.empty(0)


def _compact(values: Floats) -> npt.NDArray[np.floating]:
    """Store values in float32 if it holds them exactly, which halves the memory."""
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    return narrow if np.array_equal(narrow, values) else values
