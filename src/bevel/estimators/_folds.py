"""Folds of the training rows for cross-validated predictions."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import check_cv

from bevel._types import Indices
from bevel.errors import wrong_type, wrong_value

Fold = tuple[Indices, Indices]  # rows to learn from, rows held out

_REQUIRED = "an integer of at least 2, a splitter or pairs of training and test rows"
_REMEDY = "The thesis uses 5."


def read_folds(
    cv: Any, target: npt.NDArray[Any], seed: int, *, classifies: bool = True
) -> list[Fold]:
    """The splits of `cv`: no row is on both sides of one, and each is held out once, in order."""
    if not isinstance(cv, numbers.Integral):
        return _given_folds(cv, target, classifies)
    n_folds = int(cv)
    if n_folds < 2:
        raise wrong_value("cv", _REQUIRED, cv, _REMEDY)
    if n_folds > len(target):
        raise ValueError(
            f"cv must be at most the number of rows of X (n_samples={len(target)}); got {n_folds} "
            "folds. Lower cv, or pass more rows."
        )
    codes = target if classifies else np.zeros(len(target), np.int32)
    return stratified_folds(codes, n_folds, seed)


def stratified_folds(codes: npt.NDArray[np.int32], n_folds: int, seed: int) -> list[Fold]:
    """Random folds of equal size; classes are dealt to them in turn, including rare ones."""
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    fold = np.empty(len(codes), dtype=np.intp)
    fold[by_class] = np.arange(len(codes)) % n_folds
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)]


def _given_folds(cv: Any, codes: npt.NDArray[Any], classifies: bool) -> list[Fold]:
    if not (hasattr(cv, "split") or hasattr(cv, "__iter__")) or isinstance(cv, str):
        raise wrong_type("cv", _REQUIRED, cv, _REMEDY)
    placeholder = np.zeros((len(codes), 1))
    pairs = check_cv(cv, codes, classifier=classifies).split(placeholder, codes)
    splits = [(np.asarray(train), np.sort(held_out)) for train, held_out in pairs]
    for train, held_out in splits:
        shared = np.intersect1d(train, held_out)
        if len(shared):
            raise ValueError(
                "cv must hold out rows that are not learned from; got row "
                f"{shared[0]} on both sides of a split. Take it from one of them."
            )
    held_out = np.concatenate([held_out for _, held_out in splits] or [np.empty(0, np.intp)])
    if not np.array_equal(np.sort(held_out), np.arange(len(codes))):
        raise ValueError(
            f"cv must hold out each of the {len(codes)} rows once; got {len(held_out)} held-out "
            f"rows, {len(np.unique(held_out))} of them different. Use for example "
            "StratifiedKFold, or PredefinedSplit without -1."
        )
    return splits
