"""Makes numeric features comparable before directions combine them (`scale=`).

A scaler is learned on training rows and remembered by the forest: a frozen object of small arrays,
one entry per column. The core applies it (`cpp/bevel/data/scaler.h`); NaN stays NaN, and no column,
constant or empty, is ever divided by zero. Arithmetic is elementwise and free of the C library's
logarithms, so that a table is scaled to the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats

__all__ = [
    "MAX_KNOTS",
    "SCALES",
    "RankScaler",
    "Scaler",
    "automatic_scale",
    "extremes",
    "learn_ranks",
    "learn_scaler",
    "merge_ranks",
    "merge_scalers",
    "safe_span",
]

# Rank scalers: a column's values replaced by their ranks among the training rows.
#
# Both kinds read a value's rank off a table of knots, the distinct training values with their
# average ranks. Ranks of training values are exact in columns of up to `MAX_KNOTS` distinct
# values. Beyond, that many are kept, evenly spaced in rank, with both neighbours of values that
# more than a gap of rows share; every value between two knots is then interpolated linearly. A rank
# is wrong by less than two gaps, 2n / (MAX_KNOTS - 1): with 200 000 distinct values by 6 ranks of
# them.

# Exact for all data sets of the papers; half a megabyte a column at most, with its ranks.
MAX_KNOTS = 65_536


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
    if len(knots) <= MAX_KNOTS:
        return knots, ranks, len(present), True
    chosen = np.searchsorted(last, np.linspace(1, len(present), MAX_KNOTS))
    shared = np.flatnonzero(counts > len(present) / (MAX_KNOTS - 1))
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


SCALES = ("minmax", "minmax_clip", "quantile", "standard", "rank", "relative_rank")


class Scaler(Protocol):
    """Interface of every scaler."""

    def native(self, n_features: int) -> _core.Scaler:
        """Scaler that the core applies to a table of the `n_features` columns it was learned on."""
        ...


def automatic_scale(combines_units: bool) -> str | None:
    """Choice behind `scale="auto"`: "quantile" where features in several units are combined.

    Single features need no scale, and neither do pixels of one image.

    Over 54 data sets it had the lowest mean error and mean rank of all candidates, and the smallest
    worst loss against no scale: `docs/design/scale.md`.
    """
    return "quantile" if combines_units else None


@dataclass(frozen=True)
class IdentityScaler:
    """`scale=None`: values are left unchanged."""

    def native(self, n_features: int) -> _core.Scaler:
        return _core.Scaler.identity(n_features)


@dataclass(frozen=True, eq=False)
class LinearScaler:
    """(x - shift) / span, for "minmax", "minmax_clip" (cut to [0, 1]) and "standard"."""

    shift: Floats
    span: Floats
    clip: bool = False

    def native(self, n_features: int) -> _core.Scaler:  # noqa: ARG002
        return _core.Scaler.linear(_flat(self.shift), _flat(self.span), self.clip)


@dataclass(frozen=True, eq=False)
class QuantileScaler:
    """Linear between the 5 % and 95 % quantiles, double-logarithmic beyond (Blaser, thesis 1.6.2).

    A value beyond a bound takes the bound's scaled value, 0 or 1, less or plus 0.01 log(1 + log(1 +
    Δ)), where Δ is its distance from the bound: order is kept, outliers are not.
    """

    low: Floats
    high: Floats

    def native(self, n_features: int) -> _core.Scaler:  # noqa: ARG002
        return _core.Scaler.quantile(_flat(self.low), _flat(self.high))


def learn_scaler(scale: str | None, tile: Floats) -> Scaler:
    """Learn the scaler of some columns.

    Parameters
    ----------
    scale : {"minmax", "minmax_clip", "quantile", "standard", "rank", "relative_rank"} or None
        How to scale.
    tile : ndarray of shape (n_rows, k), Fortran order
        All training rows of k neighbouring columns. With no rows, the scaler leaves zero at zero.
    """
    match scale:
        case None:
            return IdentityScaler()
        case "minmax" | "minmax_clip":
            low, high = extremes(tile)
            return LinearScaler(low, safe_span(low, high), clip=scale == "minmax_clip")
        case "quantile":
            return QuantileScaler(*_outer_quantiles(tile))
        case "standard":
            return LinearScaler(*_moments(tile))
        case _:
            return learn_ranks(tile, relative=scale == "relative_rank")


def merge_scalers(parts: Sequence[Scaler]) -> Scaler:
    """Join scalers of neighbouring columns, all of one kind, in their order."""
    first = parts[0]
    if isinstance(first, RankScaler):
        return merge_ranks(cast("Sequence[RankScaler]", parts))
    if isinstance(first, LinearScaler):
        return LinearScaler(_joined(parts, "shift"), _joined(parts, "span"), first.clip)
    if isinstance(first, QuantileScaler):
        return QuantileScaler(_joined(parts, "low"), _joined(parts, "high"))
    return first


def _flat(values: Floats) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)


def _joined(parts: Sequence[Scaler], name: str) -> Floats:
    return np.concatenate([getattr(part, name) for part in parts])


def extremes(tile: Floats) -> tuple[Floats, Floats]:
    """Lowest and highest value of each column, NaN ignored; 0 for a column without values."""
    if len(tile) == 0:
        return np.zeros(tile.shape[1]), np.zeros(tile.shape[1])
    low, high = np.fmin.reduce(tile, axis=0), np.fmax.reduce(tile, axis=0)
    return np.nan_to_num(low), np.nan_to_num(high)


def safe_span(low: Floats, high: Floats) -> Floats:
    """Distance of the bounds of each column; 1 for a constant column."""
    return np.where(high > low, high - low, 1.0)


def _moments(tile: Floats) -> tuple[Floats, Floats]:
    """Mean and sample standard deviation of each column, NaN ignored; 1 for a constant column."""
    missing = np.isnan(tile)
    n_present = len(tile) - missing.sum(axis=0)
    mean = np.where(missing, 0.0, tile).sum(axis=0) / np.maximum(n_present, 1)
    deviation = np.where(missing, 0.0, tile - mean)
    variance = (deviation * deviation).sum(axis=0) / np.maximum(n_present - 1, 1)
    low, high = extremes(tile)
    # Rounding gives a constant column a tiny deviation, and tiny ones may underflow to none.
    return mean, np.where((high > low) & (variance > 0.0), np.sqrt(variance), 1.0)


def _outer_quantiles(tile: Floats) -> tuple[Floats, Floats]:
    """5 % and 95 % quantiles of each column, NaN ignored; 0 for a column without values."""
    if len(tile) > 0 and not np.isnan(tile).any():
        low, high = np.percentile(tile, (5.0, 95.0), axis=0)
        return low, high
    columns = [tile[~np.isnan(tile[:, column]), column] for column in range(tile.shape[1])]
    bounds = [np.percentile(c, (5.0, 95.0)) if len(c) else np.zeros(2) for c in columns]
    low, high = np.array(bounds).reshape(-1, 2).T
    return low, high
