"""Rows that models are fitted on: all but those of some folds, one, two or more at a time.

A stage learns from predictions for rows that the stage before has not seen. With S stages, and
folds left out one more at each stage below the last, no row has two roles: of F folds, stage 0 is
fitted without any S − 1 folds, without any S − 2, and so on, and in the end on all rows
(Blaser 3.3.1 and 3.4.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from bevel._types import Bools, Indices
from bevel.estimators._folds import Fold

__all__ = ["Folds", "LeftOut"]

LeftOut = tuple[int, ...]  # folds, ascending


class Folds:
    """The folds of the training rows.

    Parameters
    ----------
    splits : sequence of (train, held_out)
        Rows that are learned from and rows held out; each row is held out once.
    n_rows : int
        Training rows.
    """

    def __init__(self, splits: Sequence[Fold], n_rows: int) -> None:
        self.of_row = np.empty(n_rows, dtype=np.int32)
        self._learns: list[Bools] = []
        for fold, (train, held_out) in enumerate(splits):
            self.of_row[held_out] = fold
            learns = np.zeros(n_rows, dtype=bool)
            learns[train] = True
            self._learns.append(learns)

    def __len__(self) -> int:
        return len(self._learns)

    def left_out(self, most: int) -> list[LeftOut]:
        """Subsets of at most `most` folds: single folds, then none, then pairs and so on."""
        larger = [each for n in range(2, most + 1) for each in combinations(range(len(self)), n)]
        singles: list[LeftOut] = [(fold,) for fold in range(len(self))]
        return [*singles, (), *larger] if most else [()]

    def learned(self, left_out: LeftOut) -> Indices:
        """Rows that a model without these folds is fitted on."""
        learns = np.ones(len(self.of_row), dtype=bool)
        for fold in left_out:
            learns &= self._learns[fold]
        return np.flatnonzero(learns)

    def held_out(self, left_out: LeftOut) -> Indices:
        """Rows of these folds."""
        return np.flatnonzero(np.isin(self.of_row, left_out))
