"""Out-of-bag predictions over blocks: one more pass, in which bags are drawn again row by row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel.forest.out_of_bag import OutOfBag
from bevel.forest.predictor import PackedPredictor
from bevel.training.blocks.block import Block

__all__ = ["predict_blocks_out_of_bag"]


def predict_blocks_out_of_bag(
    predictor: PackedPredictor,
    blocks: Iterable[Block],
    options: _core.Options,
    n_rows: int,
    takes_all: npt.NDArray[np.uint8],
    hard: bool,
    n_threads: int,
) -> tuple[OutOfBag, npt.NDArray[Any]]:
    """Predictions of all rows by the trees whose bags they are out of, and their targets.

    Parameters
    ----------
    predictor : PackedPredictor
        The forest.
    blocks : iterable of Block
        Its training rows, in order.
    options : Options
        Options of the forest: seed and bags.
    n_rows : int
        Rows of all blocks.
    takes_all : ndarray of uint8
        Trees that have every row once.
    hard : bool
        Whether trees vote.
    n_threads : int
        Threads to use.
    """
    view = predictor.view
    predictions = np.empty((n_rows, max(1, predictor.forest.n_classes)))
    known = np.empty(n_rows, dtype=bool)
    targets: list[npt.NDArray[Any]] = []
    for block in blocks:
        rows = slice(block.first_row, block.first_row + len(block.target))
        sums, n_trees = _core.block_out_of_bag(
            view, block.X, options, n_rows, block.first_row, takes_all, hard, n_threads
        )
        known[rows] = n_trees > 0
        with np.errstate(invalid="ignore"):
            predictions[rows] = sums / n_trees[:, None]
        targets.append(block.target)
    return OutOfBag(predictions, known), np.concatenate(targets)
