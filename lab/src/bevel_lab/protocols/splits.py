"""Which rows are for training: stratified folds, and random parts that keep every category.

All of it depends on the seed and the rows alone, never on a system.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel.errors import wrong_value

__all__ = ["random_part", "stratified_folds", "training_rows"]

N_TRIES = 50  # draws before a part that misses categories is mended


def stratified_folds(y: NDArray[np.generic], n_folds: int, seed: int) -> NDArray[np.int64]:
    """Fold of each row.

    Each class is dealt out like cards, going on where the last one ended: folds differ by one row
    at most, in all and in each class. Classes with fewer members than folds are absent from some.
    """
    if not 2 <= n_folds <= len(y):
        required = f"between 2 and the number of rows ({len(y)})"
        raise wrong_value("folds", required, n_folds, "Ask for fewer folds.")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(len(y), dtype=np.int64)
    folds[order] = rng.permutation(n_folds)[np.arange(len(y)) % n_folds]
    return folds


def training_rows(y: NDArray[np.generic], n_folds: int, fold: int, seed: int) -> NDArray[np.bool_]:
    """Rows outside `fold`; folds are stratified where `y` holds classes (not numbers)."""
    strata = np.zeros(len(y)) if y.dtype.kind == "f" else y
    return np.asarray(stratified_folds(strata, n_folds, seed) != fold)


def random_part(
    n_rows: int, share: float, categories: Sequence[NDArray[np.integer[Any]]], seed: int
) -> NDArray[np.bool_]:
    """A share of the rows, uniformly at random but with every level of every category in it.

    Parameters
    ----------
    n_rows : int
    share : float in (0, 1)
        Of the rows that are in the part, rounded.
    categories : sequence of arrays of n_rows
        Columns of integers, one for each level, no level unused (Blaser 1.6.3 asks it of
        categorical features and classes).
    seed : int

    Returns
    -------
    ndarray of bool, shape (n_rows,)

    Notes
    -----
    Parts are drawn until one has all levels. Where that is hopeless (many levels of one row), rows
    that bring in an absent level change places with rows that are not missed, both at random. If
    the part is too small for all levels, it has as many as it can.
    """
    rng = np.random.default_rng(seed)
    n_kept = min(max(round(share * n_rows), 1), n_rows - 1)
    for _ in range(N_TRIES):
        part = np.zeros(n_rows, dtype=np.bool_)
        part[rng.permutation(n_rows)[:n_kept]] = True
        if all(_is_whole(column, part) for column in categories):
            return part
    return _repaired(part, categories, rng)


def _is_whole(column: NDArray[np.integer[Any]], part: NDArray[np.bool_]) -> bool:
    return len(np.unique(column[part])) == len(np.unique(column))


def _repaired(
    part: NDArray[np.bool_],
    categories: Sequence[NDArray[np.integer[Any]]],
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    part = part.copy()
    counts = [np.bincount(column[part], minlength=int(column.max()) + 1) for column in categories]
    for column, count in zip(categories, counts, strict=True):
        for level in np.flatnonzero((count == 0) & (np.bincount(column, minlength=len(count)) > 0)):
            if count[level]:  # came in with a row for another level
                continue
            entering = int(rng.choice(np.flatnonzero((column == level) & ~part)))
            _move(part, counts, categories, entering, 1)
            free = np.ones(len(part), dtype=np.bool_)
            for other, seen in zip(categories, counts, strict=True):
                free &= seen[other] > 1  # no level's only row
            leaving = np.flatnonzero(free & part)
            if len(leaving):
                _move(part, counts, categories, int(rng.choice(leaving)), -1)
            else:
                _move(part, counts, categories, entering, -1)
    return part


def _move(
    part: NDArray[np.bool_],
    counts: Sequence[NDArray[np.int64]],
    categories: Sequence[NDArray[np.integer[Any]]],
    row: int,
    step: int,
) -> None:
    part[row] = step > 0
    for column, count in zip(categories, counts, strict=True):
        count[column[row]] += step
