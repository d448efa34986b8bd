"""How small a node may be and still be split: `min_samples_split="auto"`, chosen out of bag.

Where targets are noisy, trees that are grown until leaves are pure follow the noise. Trees of a
larger `min_samples_split` are prunings of those that split every node, so the micro-forests show
what each size would predict without being grown again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.weighted_mean import mean_and_noise, weighted_mean
from bevel.training.automatic.weights import brier_scores, losses_of_best_power, row_losses
from bevel.training.trainer import TrainingTarget

__all__ = ["SIZES", "choose_size", "row_step", "sizes_to_compare"]

# Chosen on data sets (docs/design/automatic_families.md); a finer grid is not more accurate.
SIZES = (2, 5, 12, 32, 80)
# The smallest size wins whose loss is within this many standard errors of the least one.
TOLERANCE = 0.5
MOST_ROWS = 50_000  # rows whose predictions are compared
MOST_VALUES = 1_000_000  # classes times rows


def sizes_to_compare(
    min_samples_split: int | None, target: TrainingTarget, criterion: str
) -> tuple[int, ...]:
    """Sizes of nodes that are compared; a single one if there is nothing to choose.

    Parameters
    ----------
    min_samples_split : int or None
        The size that was given; None to choose it.
    target : TrainingTarget
        Targets of the training rows.
    criterion : str
        Criterion of the trees. A median is not a mean of medians, so "absolute_error" keeps 2, as
        do several outputs.
    """
    if min_samples_split is not None:
        return (min_samples_split,)
    if target.outputs is not None or criterion == "absolute_error":
        return SIZES[:1]
    return SIZES


def row_step(n_rows: int, n_classes: int) -> int:
    """Row stride that keeps evaluation cheap relative to training."""
    most = max(1, min(MOST_ROWS, MOST_VALUES // max(n_classes, 1)))
    return -(-n_rows // most)


def choose_size(
    blocks: Iterable[tuple[slice, Sequence[Floats]]],
    known: npt.NDArray[np.bool_],
    target: TrainingTarget,
    step: int,
    criterion: str,
) -> int:
    """Index of the size to use.

    Parameters
    ----------
    blocks : iterable of (rows, sequence of ndarray)
        Consecutive blocks of rows, with their predictions out of bag by each family, of shape
        (n_sizes, n_rows, n_classes), or (n_sizes, n_rows, 1).
    known : ndarray of bool
        Rows that every family predicts out of bag.
    target : TrainingTarget
        Targets of all training rows.
    step : int
        Stride from `row_step`.
    criterion : str
        Criterion of the trees; in regression it is also the loss.
    """
    if not known.any():
        return 0
    truth = target.values[::step]
    weights = None if target.weights is None else target.weights[::step][known]
    share = np.ones(np.count_nonzero(known)) if weights is None else weights
    share = share / share.sum()
    found = []
    for rows, predictions in blocks:
        own = known[rows]
        together = np.mean([each[:, own] for each in predictions], axis=0)
        found.append(
            [
                brier_scores(each, truth[rows][own])
                if target.n_classes
                else row_losses(each, truth[rows][own], 0, criterion)
                for each in together
            ]
        )
    losses = np.concatenate(found, axis=-1)
    if target.n_classes:
        losses = np.array([losses_of_best_power(each, share) for each in losses])
    means = weighted_mean(losses, share)
    best = int(means.argmin())
    _, noise = mean_and_noise(losses[best] - losses[0], share)
    return int(np.flatnonzero(means <= means[best] + TOLERANCE * noise)[0])
