"""Calibrated class probabilities: mean shares of the trees raised to a power, and none zero.

Forests of deep trees spread their votes: the mean share of the best class is usually lower than
its frequency. A power above one raises their confidence, a power below one lowers it. The power is
chosen by the logarithmic loss of rows that the trees have not seen. A class that is in no leaf of a
row is rare there, not impossible: probabilities are at least a part of one tree's vote.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import AnyInts, Floats
from bevel.data.row_weights import mean_and_noise, weighted_mean
from bevel.forest.row_blocks import row_blocks

__all__ = [
    "POWERS",
    "choose_power",
    "least_probability",
    "power_losses",
    "power_of_least_loss",
    "raise_to_least",
    "raise_to_power",
]

# Multiples of one half: products and square roots have the same bits on every machine.
POWERS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0)
# Lower probabilities count as this one, so that a few rows do not decide alone.
MIN_PROBABILITY = 1e-3
# Differences of fewer standard errors are ignored (docs/design/automatic_families.md).
TOLERANCE = 0.5
# The part of one tree's vote that all classes share at least (docs/design/automatic_families.md).
LEAST_VOTE = 0.25


def least_probability(n_trees: int, n_classes: int) -> float:
    """The least probability of a class; 0 for a single class or tree."""
    return LEAST_VOTE / (n_trees * n_classes) if n_classes > 1 and n_trees > 1 else 0.0


def raise_to_least(shares: Floats, least: float) -> Floats:
    """Raise lower probabilities to the least one, in place, and divide their rows by their sums."""
    for rows in row_blocks(*shares.shape) if least else ():
        some = shares[rows]
        low = (some < least).any(axis=1)
        if low.any():
            raised = np.maximum(some[low], least)
            total = raised[:, 0].copy()
            for column in raised.T[1:]:  # in the order of the classes, as in C
                total += column
            some[low] = raised / total[:, None]
    return shares


def raise_to_power(shares: Floats, power: float) -> Floats:
    """Raise class shares to a power, in place, and divide them by their sum.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes), C order
        Rows that sum to one; rows of NaN stay so.
    power : float
        One of `POWERS`; 1 changes nothing.
    """
    if power != 1.0:
        _core.raise_shares(shares, int(2.0 * power))
    return shares


def choose_power(shares: Floats, truth: AnyInts, weights: Floats | None = None) -> float:
    """The power for a forest.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        Mean class shares of rows that the trees have not seen.
    truth : ndarray of int, shape (n_rows,)
        Their classes.
    weights : ndarray of shape (n_rows,), default=None
        Weights of the rows.

    Returns
    -------
    float
        The power nearest to 1, between 1 and the best one, whose mean loss exceeds the least by no
        more than half the standard error of the difference; 1 without rows of weight.
    """
    return power_of_least_loss(power_losses(shares, truth), weights)


def power_losses(shares: Floats, truth: AnyInts) -> Floats:
    """Logarithmic loss of each row (second axis) with each of `POWERS` (first axis).

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        Mean class shares of rows that the trees have not seen.
    truth : ndarray of int, shape (n_rows,)
        Their classes.
    """
    losses = np.empty((len(POWERS), len(truth)))
    for rows in row_blocks(len(truth), shares.shape[1]):
        some, place = _without_zeros(shares[rows], truth[rows])
        for own, power in zip(losses, POWERS, strict=True):
            own[rows] = _row_losses(some, place, power)
    return losses


def _without_zeros(shares: Floats, truth: AnyInts) -> tuple[Floats, AnyInts]:
    """Shares above zero, moved to the first columns, and the columns of the true classes.

    Rows of many classes have few of them. Powers and sums have the same bits: zeros add nothing.
    """
    n_rows, n_classes = shares.shape
    if 4 * np.count_nonzero(shares) > shares.size:
        return shares, truth
    row, column = np.divmod(np.flatnonzero(shares), n_classes)
    n_above = np.bincount(row, minlength=n_rows)
    most = int(n_above.max(initial=0))
    place = np.arange(len(row)) - np.repeat(np.cumsum(n_above) - n_above, n_above)
    moved = np.zeros((n_rows, most + 1))  # the last column is that of true classes of share zero
    moved[row, place] = shares[row, column]
    own = column == truth[row]
    of_truth = np.full(n_rows, most)
    of_truth[row[own]] = place[own]
    return moved, of_truth


def power_of_least_loss(losses: Floats, weights: Floats | None = None) -> float:
    """What `choose_power` returns, of the losses of all rows; see `power_losses`."""
    n_rows = losses.shape[1]
    if n_rows == 0:
        return 1.0
    share = np.ones(n_rows) if weights is None else weights
    if not share.any():
        return 1.0
    share = share / share.sum()
    best = int(np.argmin([weighted_mean(loss, share) for loss in losses]))
    one = POWERS.index(1.0)
    step = 1 if best > one else -1
    for place in range(one, best, step):
        mean, noise = mean_and_noise(losses[place] - losses[best], share)
        if mean <= TOLERANCE * noise:
            return POWERS[place]
    return POWERS[best]


def _row_losses(shares: Floats, truth: npt.NDArray[np.integer], power: float) -> Floats:
    raised = raise_to_power(np.array(shares, order="C"), power)
    own = raised[np.arange(len(truth)), truth]
    return np.asarray(-np.log(np.maximum(own, MIN_PROBABILITY)))
