"""A forest and boosting of one table: what `quality` sets, and the weights of the two.

Weights are learned on rows that neither has seen: the forest predicts them out of bag, and boosting
by a first fit from which they were held out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel._types import Array, Float32s, Floats, Target
from bevel.data.row_weights import mean_and_noise, weighted_mean
from bevel.forest.aggregation import SumOfTrees, add_some_trees
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.records import Calibration, MemberRecord
from bevel.forest.task import Task

__all__ = ["QUALITY", "Evidence", "Quality", "held_out_columns", "share_of_first"]


@dataclass(frozen=True)
class Quality:
    """What a step of `quality` sets.

    Attributes
    ----------
    number : int
        The step, from 1 to 5.
    trees_of_classes, trees_of_numbers : int
        Trees of the forest, in classification and in regression.
    n_boosters : int
        Boosting models of different seeds, which hold out different rows.
    refits : bool
        Whether boosting fits all rows again, once the held-out ones have found its iterations.
    fewer : bool
        Whether the forest has fewer trees where they are enough, as with `n_estimators="auto"`.
    """

    number: int
    trees_of_classes: int
    trees_of_numbers: int
    n_boosters: int = 1
    refits: bool = True
    fewer: bool = False

    def n_trees(self, task: Task) -> int:
        """Trees of the forest, or the most that it may have."""
        return self.trees_of_classes if task.n_classes else self.trees_of_numbers


# Measured in docs/guide/combined.md.
QUALITY: Mapping[int, Quality] = {
    1: Quality(1, 100, 100, refits=False),
    2: Quality(2, 200, 150),
    3: Quality(3, 500, 300, fewer=True),
    4: Quality(4, 500, 300, n_boosters=3, fewer=True),
    5: Quality(5, 1000, 600, n_boosters=6),
}

# Standard deviation, over tables, of the best share of the forest around equal shares
# (docs/design/combined_models.md).
PRIOR_SPREAD = 0.2
# Shares of the forest where no rows are held out, because there are less than a hundred: the best
# ones of such tables of classes and of numbers (docs/design/combined_models.md).
SHARE_OF_FEW_CLASSES, SHARE_OF_FEW_NUMBERS = 0.7, 0.5
# Shares are whole hundredths, so that the last digits of a logarithm cannot change them.
STEPS = 100


def share_of_first(
    first: Floats, second: Floats, target: Target, weights: Floats | None, task: Task
) -> float:
    """Share of the first of two models in their weighted mean.

    It is the most probable one: of normal probability around one half before the rows are seen,
    times the likelihood of the rows, which is that of the probabilities or of normal errors. So few
    rows leave nearly equal shares, and many rows the share of least loss.

    Parameters
    ----------
    first, second : ndarray of shape (n_rows, n_columns)
        Predictions of rows that the models have not seen.
    target : ndarray of shape (n_rows,)
        Their targets, as `Task.row_losses` takes them.
    weights : ndarray of shape (n_rows,) or None
        Their weights; None if all are one.
    task : Task
        What is predicted.
    """
    if not len(target):
        return SHARE_OF_FEW_CLASSES if task.n_classes else SHARE_OF_FEW_NUMBERS
    own = np.ones(len(target)) if weights is None else weights
    share = own / own.sum()
    n_effective = 1.0 / float((share**2).sum())

    def loss(step: int) -> float:
        mixed = (step / STEPS) * first + (1.0 - step / STEPS) * second
        return float(weighted_mean(task.row_losses(mixed, target), share))

    least = _lowest(loss)
    lowest = loss(least)
    if not lowest > 0.0:  # of the shares without loss the one nearest to one half
        perfect = (step for step in range(STEPS + 1) if loss(step) == lowest)
        return min(perfect, key=lambda step: abs(2 * step - STEPS)) / STEPS
    scale = n_effective * task.likelihood_of_loss(lowest)

    def posterior(step: int) -> float:
        return scale * loss(step) + (step / STEPS - 0.5) ** 2 / (2.0 * PRIOR_SPREAD**2)

    return _lowest(posterior) / STEPS


def _lowest(convex: Callable[[int], float]) -> int:
    """The step from 0 to `STEPS` of least value of a convex function; the first of tied ones."""
    return bisect_left(range(STEPS), True, key=lambda step: convex(step + 1) >= convex(step))


def held_out_columns(
    fitted: FittedForest,
    rows: Float32s,
    target: Target,
    weights: Floats | None,
    n_threads: int,
) -> Floats:
    """Predictions of held-out rows by boosting whose number of iterations they do not choose.

    The loss of these rows has chosen the last iteration, so that it is a little too low. Each half
    of them is predicted with the number of iterations that is best on the other half.

    Parameters
    ----------
    fitted : FittedForest
        Boosting that has not been grown on the rows.
    rows : ndarray of float32
        The rows, encoded.
    target, weights
        Their targets and weights, as in `share_of_first`.
    n_threads : int
        Threads to use; does not change the predictions.
    """
    additive = fitted.aggregation
    assert isinstance(additive, SumOfTrees)
    predictor, step, n_trees = fitted.packed_predictor, additive.n_outputs, fitted.forest.n_trees
    halves = _halves(target)
    own = np.ones(len(target)) if weights is None else weights
    sums = np.tile(np.asarray(additive.baseline), (len(rows), 1))
    best = [additive.as_columns(sums).copy()] * len(halves)  # of each half, for the other
    lowest = [np.inf] * len(halves)
    for tree in range(0, n_trees, step):
        add_some_trees(predictor, rows, range(tree, tree + step), n_threads, sums)
        columns = additive.as_columns(sums)
        losses = fitted.task.row_losses(columns, target)
        for k, half in enumerate(halves):
            loss = float(weighted_mean(losses[half], own[half] / max(own[half].sum(), 1e-300)))
            if loss < lowest[k]:
                lowest[k], best[k] = loss, columns.copy()
    found = best[1]
    found[halves[1]] = best[0][halves[1]]
    return found


def _halves(target: Target) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Two halves of rows whose targets are spread alike."""
    order = np.argsort(target, kind="stable")
    return order[::2], order[1::2]


class Evidence:
    """Predictions of the rows that boosting has held out, and what follows from them.

    Parameters
    ----------
    out_of_bag : ndarray of shape (n_rows, n_columns)
        Predictions of the training rows by the forest; NaN for rows in every bag.
    target : ndarray of shape (n_rows,)
        Targets.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows; None if all are one.
    task : Task
        What is predicted.
    """

    def __init__(
        self, out_of_bag: Floats, target: Target, weights: Floats | None, task: Task
    ) -> None:
        self._of_forest, self._target, self._weights, self._task = out_of_bag, target, weights, task
        self._sums = np.zeros_like(out_of_bag)
        self._counts = np.zeros(len(target), dtype=np.int64)

    def add(self, held_out: npt.NDArray[np.bool_], columns: Floats) -> None:
        """Add the predictions of the rows that one boosting model has held out."""
        self._sums[held_out] += columns
        self._counts[held_out] += 1

    def weigh(
        self, n_trees: tuple[int, int], n_models: tuple[int, int], quality: int
    ) -> MemberRecord:
        """The record of the two members, with their weights.

        Parameters
        ----------
        n_trees, n_models : tuple of int
            Trees and models of the forest and of boosting.
        quality : int
            The step of `quality`.
        """
        forest, boosting, target, weights = self._rows()
        share = share_of_first(forest, boosting, target, weights, self._task)
        shares = (share, 1.0 - share)
        mixed = shares[0] * forest + shares[1] * boosting
        own = np.ones(len(target)) if weights is None else weights
        losses = [self._task.row_losses(each, target) for each in (forest, boosting, mixed)]
        unknown = np.full(3, np.nan)
        means, noise = (
            mean_and_noise(np.array(losses), own / own.sum()) if len(target) else (unknown, unknown)
        )
        return MemberRecord(
            names=("forest", "boosting"),
            n_models=np.array(n_models),
            n_trees=np.array(n_trees),
            losses=means[:2],
            standard_errors=noise[:2],
            weights=np.array(shares),
            loss=float(means[2]),
            loss_name=self._task.row_loss_name,
            n_rows=len(target),
            quality=quality,
        )

    def calibration(self, shares: Floats) -> Calibration | None:
        """Residuals of a regression by the weighted mean; None of classes and without rows."""
        forest, boosting, target, weights = self._rows()
        if self._task.n_classes or not len(target):
            return None
        mixed = shares[0] * forest + shares[1] * boosting
        return Calibration(target[:, None] - mixed, weights, 0.0)

    def _rows(self) -> tuple[Floats, Floats, Array, Floats | None]:
        """Predictions of both members, targets and weights of the rows that neither has seen."""
        seen_by_none = (self._counts > 0) & ~np.isnan(self._of_forest[:, 0])
        boosting = self._sums[seen_by_none] / self._counts[seen_by_none, None]
        weights = None if self._weights is None else self._weights[seen_by_none]
        return self._of_forest[seen_by_none], boosting, self._target[seen_by_none], weights
