"""`projection="auto"`: several families of directions share the trees of a forest.

Each family grows a micro-forest of U trees. All micro-forests are evaluated on the rows that every
one of them predicts out of bag, the losses become weights, and the weights become numbers of trees.
The same rows decide how small a node may be and still be split. The trees of micro-forests stay as
far as their families get trees; the others are grown again by families that get more. This is
Blaser's idea for rotations (thesis, chapter 2), applied to families.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from bevel import _core
from bevel._types import Floats, Ints32, Ints64
from bevel.data.dataset import Dataset
from bevel.data.row_weights import mean_and_noise, weighted_mean
from bevel.forest.bags import Bags
from bevel.forest.calibration import POWERS, raise_to_power
from bevel.forest.flat_forest import FlatForest, join_forests, take_trees
from bevel.forest.predictor import PackedPredictor, most_probable_classes
from bevel.forest.records import FamilyRecord, RotationRecord
from bevel.forest.row_blocks import row_blocks, sums_of_rows
from bevel.projections import CCA, LDA, Axis, Projection, Ridge, SparseSigns
from bevel.projections.base import Count
from bevel.projections.families import ProjectionDraws, TableShape, resolve_families
from bevel.training.options import TrainingOptions, is_regression
from bevel.training.trainer import TrainingTarget

__all__ = [
    "SHARED_SCALE",
    "SIZES",
    "Candidate",
    "Evidence",
    "FamilyPlan",
    "MicroForests",
    "RowsOfFamily",
    "StoredPredictions",
    "TreeShares",
    "TreeSpread",
    "assign_trees",
    "axis_family",
    "brier_scores",
    "candidates_for",
    "choose_size",
    "count_trees",
    "enough_trees",
    "losses_of_best_power",
    "measure",
    "measure_blocks",
    "plan_families",
    "predict_family",
    "replace_trees",
    "row_losses",
    "row_step",
    "share_by_evidence",
    "share_equally",
    "share_further",
    "sizes_to_compare",
    "spreads_of_family",
    "weigh_families",
]

# Micro-forests: a few trees of each kind, whose losses decide how many more trees it gets.
#
# Kind k grows the trees from k · U on, where U is the size of a micro-forest. A bag depends on the
# seed and the number of a tree alone, so bags can be drawn again as for any forest.


class MicroForests:
    """Out-of-bag predictions of the training rows by each of several micro-forests.

    Parameters
    ----------
    forest : FlatForest
        The trees of all micro-forests, in the order of their numbers.
    n_trees : int
        U, the number of trees of each micro-forest.
    dataset, target
        Training rows.
    bags : Bags
        How bags were drawn.
    hard : bool
        Whether trees vote.
    n_threads : int
        Threads to use.
    first_kind : int, default=0
        Kind of the first micro-forest.
    """

    def __init__(
        self,
        forest: FlatForest,
        n_trees: int,
        dataset: Dataset,
        target: TrainingTarget,
        bags: Bags,
        *,
        hard: bool,
        n_threads: int,
        first_kind: int = 0,
    ) -> None:
        self.forest = forest
        self._view = PackedPredictor(forest).view
        self._n_trees, self._first_kind = n_trees, first_kind
        self._dataset, self._target = dataset, target
        self._options = bags.native_options()
        # Sizes of nodes count the rows that splits are learnt on, the core all rows of a bag.
        self._rows_per_split_row = 1.0 / (1.0 - bags.leaf_share)
        self._counted = _counted(bags, target)
        self._hard, self._n_threads = hard, n_threads

    @cached_property
    def _bags(self) -> npt.NDArray[np.uint8]:
        """One bit for each tree and row, for predictions of single blocks of rows."""
        return _core.draw_bags(
            self._options,
            self._dataset.shape[0],
            self._first_kind * self._n_trees,
            self.forest.n_trees,
            self._target.weights,
            self._n_threads,
        )

    def known(self, kind: int, row_step: int = 1) -> npt.NDArray[np.bool_]:
        """Which rows, every so many one, the trees of a kind predict out of bag."""
        trees = slice(*self._trees_of(kind))
        in_all = np.bitwise_and.reduce(self._bags[trees], axis=0)
        n_rows = self._dataset.shape[0]
        known = ~np.unpackbits(in_all, count=n_rows, bitorder="little").astype(bool)
        if self._counted is not None:
            known &= self._counted
        return np.asarray(known[::row_step])

    def predict_out_of_bag(
        self, kind: int, rows: slice | None = None
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Mean prediction of each row by the trees of a kind, and which rows have one.

        Parameters
        ----------
        kind : int
            Of the trees.
        rows : slice, default=None
            Those to predict; None for all.
        """
        weights = self._target.weights
        how = (self._options, self._first_kind * self._n_trees, self._hard, self._n_threads)
        trees, (chosen, bags) = self._trees_of(kind), self._block(rows)
        sums, n_trees = sums_of_rows(
            lambda X, rows, n_rows: self._view.out_of_bag(
                X, *how, trees, weights, rows, bags, n_rows
            ),
            self._dataset.columns,
            chosen,
        )
        known = n_trees > 0
        if self._counted is not None:
            known &= self._counted[rows or slice(None)]
        sums /= np.maximum(n_trees, 1)[:, None]
        return sums, known

    def predict_pruned(
        self, kind: int, sizes: Sequence[int], row_step: int, rows: slice | None = None
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Out-of-bag predictions of the trees of a kind, pruned to several sizes of nodes.

        Parameters
        ----------
        kind : int
            Kind of the trees.
        sizes : sequence of int
            Sizes, ascending; nodes of fewer rows are leaves.
        row_step : int
            Every so many rows one is predicted.
        rows : slice, default=None
            Those of them to predict; None for all.

        Returns
        -------
        predictions : ndarray of shape (n_sizes, n_rows, n_classes), or (n_sizes, n_rows, 1)
            Means over the trees.
        known : ndarray of bool, shape (n_rows,)
            Rows that have a prediction.
        """
        sums, n_trees = self._pruned_sums(sizes, row_step, rows, self._trees_of(kind))
        known = n_trees > 0
        if self._counted is not None:
            known &= self._counted[::row_step][rows or slice(None)]
        sums /= np.maximum(n_trees, 1)[:, None]
        return sums, known

    def _pruned_sums(
        self, sizes: Sequence[int], row_step: int, rows: slice | None, trees: tuple[int, int]
    ) -> tuple[Floats, Ints32]:
        """Sums of out-of-bag predictions of pruned trees, and of how many trees, row by row."""
        weights = self._target.weights
        how = (self._options, self._first_kind * self._n_trees, self._hard, self._n_threads)
        in_bag = np.rint(np.array(sizes) * self._rows_per_split_row).astype(np.int64)
        pruned = (self.forest.weight, in_bag, row_step)
        chosen, bags = self._block(rows)
        return sums_of_rows(
            lambda X, rows, n_rows: self._view.pruned_out_of_bag(
                X, *how, trees, weights, *pruned, rows, bags, n_rows
            ),
            self._dataset.columns,
            chosen,
            row_step,
        )

    def spread(self, kind: int, size: int, row_step: int) -> TreeSpread:
        """How far single trees of a kind, pruned to a size of nodes, lie apart out of bag.

        Parameters
        ----------
        kind : int
            Kind of the trees.
        size : int
            Nodes of fewer rows are leaves.
        row_step : int
            Every so many rows one is predicted.
        """
        first, last = self._trees_of(kind)
        middle = (first + last) // 2
        how = ((size,), row_step, None)
        sums, n_trees = self._pruned_sums(*how, (first, middle))
        others, n_others = self._pruned_sums(*how, (middle, last))
        given = self._target.weights
        weights = np.ones(self._dataset.shape[0]) if given is None else given
        if self._counted is not None:
            weights = np.where(self._counted, weights, 0.0)
        halves = ((sums[0], n_trees), (others[0], n_others))
        return _spread_of_halves(*halves, weights[::row_step])

    def _trees_of(self, kind: int) -> tuple[int, int]:
        first = (kind - self._first_kind) * self._n_trees
        return first, first + self._n_trees

    def _block(
        self, rows: slice | None
    ) -> tuple[tuple[int, int] | None, npt.NDArray[np.uint8] | None]:
        """Rows and bags as the core reads them."""
        chosen = None if rows is None else (rows.start, rows.stop)
        return chosen, None if chosen is None and self._dataset.sparse is None else self._bags


def _counted(bags: Bags, target: TrainingTarget) -> npt.NDArray[np.bool_] | None:
    """Rows that micro-forests are judged on: held-out ones if there are any, of positive weight."""
    held_out = None if bags.groups is None else bags.groups.held_out
    if target.weights is None:
        return held_out
    weighed = target.weights > 0.0
    return weighed if held_out is None else weighed & held_out


class TreeSpread(NamedTuple):
    """How far single trees of a micro-forest lie apart.

    Attributes
    ----------
    variance : float
        Variance of the predictions of single trees, the mean over rows; of classes the sum of
        those of their shares.
    noise : float
        Variance of the mean of all trees out of whose bags a row is, the mean over rows.
    """

    variance: float
    noise: float


def _spread_of_halves(
    first: tuple[Floats, Ints32], second: tuple[Floats, Ints32], weights: Floats
) -> TreeSpread:
    """Spread of trees by the sums of two halves of them: a difference has the variance of both."""
    both = (first[1] > 0) & (second[1] > 0) & (weights > 0.0)
    if not both.any():
        return TreeSpread(np.nan, np.nan)
    (a, n_a), (b, n_b) = ((sums[both], n_trees[both, None]) for sums, n_trees in (first, second))
    variances = ((a / n_a - b / n_b) ** 2).sum(axis=1) / (1.0 / n_a + 1.0 / n_b)[:, 0]
    noise = np.average(variances / (n_a + n_b)[:, 0], weights=weights[both])
    return TreeSpread(float(np.average(variances, weights=weights[both])), float(noise))


def assign_trees(counts: Ints64, n_micro_trees: int) -> tuple[npt.NDArray[np.int32], Ints64]:
    """Kind of each tree, and the numbers of the trees that are still to be grown.

    Parameters
    ----------
    counts : ndarray of shape (n_kinds,)
        Trees that each kind is to have.
    n_micro_trees : int
        Size of the micro-forests: kind k has the trees from k · n_micro_trees on.
    """
    n_kinds = len(counts)
    stay = np.minimum(counts, n_micro_trees)
    kind, place = np.divmod(np.arange(n_kinds * n_micro_trees), n_micro_trees)
    stays = place < stay[kind]
    of_tree = np.full(int(counts.sum()), -1, np.int32)
    of_tree[np.flatnonzero(stays)] = kind[stays]
    missing = np.flatnonzero(of_tree < 0)
    of_tree[missing] = np.repeat(np.arange(n_kinds), counts - stay)
    return of_tree, missing


def replace_trees(micro: FlatForest, grown: FlatForest, numbers: Ints64) -> FlatForest:
    """Return the trees of the micro-forests with some of them replaced or added.

    Parameters
    ----------
    micro : FlatForest
        The trees 0, 1, ...
    grown : FlatForest
        The trees of `numbers`.
    numbers : ndarray of int64
        Numbers of the trees, ascending; together with those of `micro` they have no gap.
    """
    if len(numbers) == 0:
        return micro
    forest = join_forests(micro, grown)
    if numbers[0] == micro.n_trees:  # in the order of their numbers already
        return forest
    place = np.arange(max(micro.n_trees, int(numbers[-1]) + 1))
    place[numbers] = micro.n_trees + np.arange(len(numbers))
    return take_trees(forest, place)


# The families that `projection="auto"` tries, and which of them fit a table.


@dataclass(frozen=True)
class Candidate:
    """A family of directions with the settings that did best on average.

    Attributes
    ----------
    name : str
        Name as `families_` shows it.
    projection : Projection
        Where directions come from.
    criterion : str
        Split criterion, unless the user has chosen one.
    n_projections : int, float or str
        Draws at each node.
    wide : bool
        Whether the family is only for tables of many numeric columns.
    """

    name: str
    projection: Projection
    criterion: str
    n_projections: Count = "auto"
    wide: bool = False

    @property
    def members(self) -> list[ProjectionDraws]:
        """The family as a projection by name: it adapts to few columns."""
        return [ProjectionDraws(self.projection, self.n_projections, by_name=True)]


MIN_WIDE_COLUMNS = 50
SHARED_SCALE = "minmax"  # scale of all families if `scale="auto"` (docs/design/scale.md)
# The first family fits every table (docs/design/automatic_families.md).
FOR_CLASSES = (
    Candidate("axis", Axis(), "entropy"),
    Candidate("sparse", SparseSigns(), "entropy"),
    Candidate("lda", LDA(), "entropy", 3),
    Candidate("cca", CCA(bootstrap=None), "entropy"),
    Candidate("ridge", Ridge(tune="gcv"), "entropy", wide=True),
)
FOR_NUMBERS = (
    Candidate("axis", Axis(), "squared_error", "p"),
    Candidate("sparse", SparseSigns(), "squared_error"),
    Candidate("lda", LDA(), "squared_error", 5),
    Candidate("ridge", Ridge(tune="gcv"), "squared_error"),
)


def axis_family(*, regression: bool) -> Candidate:
    """The family of axis-aligned splits, which takes part in every forest."""
    return (FOR_NUMBERS if regression else FOR_CLASSES)[0]


def candidates_for(
    shape: TableShape,
    *,
    regression: bool,
    purely_random: bool,
    splits_pure: bool = False,
    constrained: str = "",
    sparse: bool = False,
) -> tuple[list[Candidate], list[tuple[str, str]]]:
    """Families that fit a table, and the names of the others with the reason.

    Parameters
    ----------
    shape : TableShape
        Size of the training table.
    regression : bool
        Whether the target is a number.
    purely_random : bool
        Whether cuts are chosen without the target.
    splits_pure : bool, default=False
        Whether pure nodes are split, in which the target says nothing.
    constrained : str, default=""
        Name of the parameter that constrains directions, if any.
    sparse : bool, default=False
        Whether the table is kept sparse.
    """
    fitting, left_out = [], []
    without_target = 'threshold="purely_random" does not' if purely_random else ""
    if splits_pure:
        without_target = without_target or "split_pure_nodes cannot in pure nodes"
    for candidate in FOR_NUMBERS if regression else FOR_CLASSES:
        reason = _objection(candidate, shape, without_target, constrained)
        if sparse and not reason and not candidate.projection.works_on_sparse:
            reason = "fits its coefficients to dense rows, and the table is sparse"
        if reason:
            left_out.append((candidate.name, reason))
        else:
            fitting.append(candidate)
    return fitting, left_out


def _objection(
    candidate: Candidate, shape: TableShape, without_target: str, constrained: str
) -> str:
    """Reason why a family does not fit a table; empty if it does."""
    if isinstance(candidate.projection, Axis):
        return ""
    if shape.n_combined < 2:
        columns = "none" if shape.n_combined == 0 else "one"
        return (
            f"needs two columns to combine, numeric ones or of few levels; the table has {columns}"
        )
    if candidate.wide and shape.n_combined < MIN_WIDE_COLUMNS:
        return f"for tables of at least {MIN_WIDE_COLUMNS} columns to combine"
    if without_target and candidate.projection.reads_target:
        return f"uses the target, which {without_target}"
    if constrained and not candidate.projection.can_be_constrained:
        return f"fits its coefficients freely, which {constrained} does not allow"
    return ""


# Weights of families: out-of-bag losses in units of the noise of those losses.

# Predictions of one family by consecutive blocks of rows.
RowsOfFamily = Iterable[tuple[slice, Floats]]

# How fast weights fall: a family that is one standard error worse than the best counts e^−DECAY of
# it. Chosen on data sets (docs/design/automatic_families.md).
DECAY = 2.0


@dataclass(frozen=True, eq=False)
class Evidence:
    """Out-of-bag results of families on the same rows.

    Attributes
    ----------
    errors : ndarray of shape (n_families,)
        Share of wrong rows, or mean loss of the criterion; NaN without rows that all families
        predict.
    standard_errors : ndarray of shape (n_families,)
        Standard errors of `errors`.
    losses : ndarray of shape (n_families,)
        Mean Brier score, calibrated if that was requested, or mean loss of the criterion; the
        weights follow from it.
    noise : float
        Standard error of the loss of the best family.
    """

    errors: Floats
    standard_errors: Floats
    losses: Floats
    noise: float


def measure(
    predictions: list[Floats],
    known: npt.NDArray[np.bool_],
    truth: npt.NDArray[Any],
    n_classes: int,
    weights: Floats | None,
    *,
    calibrated: bool = False,
    criterion: str = "squared_error",
    output_classes: npt.NDArray[np.int32] | None = None,
) -> Evidence:
    """Evidence from out-of-bag predictions.

    Parameters
    ----------
    predictions : list of ndarray of shape (n_rows, n_classes), or (n_rows, 1) in regression
        Out-of-bag predictions of each family.
    known : ndarray of bool
        Rows that every family predicts out of bag.
    truth : ndarray
        Classes as numbers, or targets.
    n_classes : int
        Number of classes, 0 in regression.
    weights : ndarray or None
        Weights of the rows.
    calibrated : bool, default=False
        Whether Brier scores are of class shares raised to the power that suits each family best.
    criterion : str, default="squared_error"
        Criterion of the trees; in regression it is also the loss.
    output_classes : ndarray of int32 or None
        Classes of each of several outputs, 0 in regression. Errors and losses are then means over
        the outputs, squared errors after division by the variance of the output.
    """
    return measure_blocks(
        [_as_blocks(each) for each in predictions],
        *(known, truth, n_classes, weights),
        calibrated=calibrated,
        criterion=criterion,
        output_classes=output_classes,
    )


def _as_blocks(predictions: Floats) -> RowsOfFamily:
    for rows in row_blocks(*predictions.shape):
        yield rows, predictions[rows]


def measure_blocks(
    predictions: Sequence[RowsOfFamily],
    known: npt.NDArray[np.bool_],
    truth: npt.NDArray[Any],
    n_classes: int,
    weights: Floats | None,
    *,
    calibrated: bool = False,
    criterion: str = "squared_error",
    output_classes: npt.NDArray[np.int32] | None = None,
) -> Evidence:
    """What `measure` returns, of predictions that come in blocks of rows, family by family."""
    n_families = len(predictions)
    if not known.any():
        unknown = np.full(n_families, np.nan)
        return Evidence(unknown, unknown, unknown, np.nan)
    share = np.ones(np.count_nonzero(known)) if weights is None else weights[known]
    share = share / share.sum()
    variance = None
    if output_classes is not None and not output_classes.any():
        variance = _variance(truth[known], share)

    def of_rows(part: Floats, truth: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        if output_classes is not None:
            return _of_outputs(part, truth, output_classes, variance)
        if not n_classes:
            losses = row_losses(part, truth, n_classes, criterion)
            return losses, losses
        wrong = (part.argmax(axis=1) != truth).astype(np.float64)
        return brier_scores(part, truth) if calibrated else row_losses(
            part, truth, n_classes
        ), wrong

    wrong, losses = [], []
    for family in predictions:
        found = [of_rows(part[known[rows]], truth[rows][known[rows]]) for rows, part in family]
        loss = np.concatenate([each for each, _ in found], axis=-1)
        losses.append(losses_of_best_power(loss, share) if loss.ndim == 2 else loss)
        wrong.append(np.concatenate([each for _, each in found]))
    errors, standard_errors = mean_and_noise(np.array(wrong), share)
    means, noises = mean_and_noise(np.array(losses), share)
    return Evidence(errors, standard_errors, means, float(noises[means.argmin()]))


def _of_outputs(
    predictions: Floats,
    truth: npt.NDArray[Any],
    n_classes: npt.NDArray[np.int32],
    variance: Floats | None,
) -> tuple[Floats, Floats]:
    """Loss and error of each row, means over the outputs; variance: of them, in regression."""
    if variance is not None:
        squares = (predictions - truth) ** 2 / np.where(variance > 0.0, variance, 1.0)
        losses = squares.mean(axis=1)
        return losses, losses
    n_outputs = len(n_classes)
    decided = most_probable_classes(predictions, n_classes) + np.cumsum(n_classes) - n_classes
    right = np.take_along_axis(predictions, truth.astype(np.int64), axis=1).sum(axis=1)
    losses = 0.5 * ((predictions**2).sum(axis=1) - 2.0 * right + n_outputs) / n_outputs
    return losses, np.asarray((decided != truth).mean(axis=1))


def _variance(truth: npt.NDArray[Any], share: Floats) -> Floats:
    """Of each of several outputs, over rows of weights that sum to one."""
    centred = truth - weighted_mean(truth.T, share)
    return weighted_mean(centred.T**2, share)


def row_losses(
    predictions: Floats,
    truth: npt.NDArray[Any],
    n_classes: int,
    criterion: str = "squared_error",
) -> Floats:
    """Loss of each row: its Brier score, or in regression the loss of the criterion.

    The Brier score is half of the squared distance between the probabilities of a row and its
    class.
    """
    if not n_classes:
        return _number_losses(predictions[:, 0], truth, criterion)
    right = predictions[np.arange(len(truth)), truth]
    return np.asarray(0.5 * ((predictions**2).sum(axis=1) - 2.0 * right + 1.0))


def _number_losses(predictions: Floats, truth: Floats, criterion: str) -> Floats:
    if criterion == "absolute_error":
        return np.asarray(np.abs(predictions - truth))
    if criterion == "poisson":  # half of the deviance; all trees of a row may predict zero
        rates = np.maximum(predictions, np.finfo(np.float64).tiny)
        return np.asarray(xlogy(truth, truth / rates) - truth + predictions)
    return np.asarray((predictions - truth) ** 2)


def brier_scores(predictions: Floats, truth: npt.NDArray[Any]) -> Floats:
    """Brier score of each row (second axis) with each of the `POWERS` (first axis)."""
    n_classes = predictions.shape[1]
    return np.array(
        [
            row_losses(raise_to_power(np.array(predictions, order="C"), power), truth, n_classes)
            for power in POWERS
        ]
    )


def losses_of_best_power(losses: Floats, share: Floats) -> Floats:
    """Loss of each row with the power of least mean loss; see `brier_scores`.

    Trees of some families are more alike than those of others. Mean shares of unlike trees are
    further from 0 and 1, which costs them Brier score but no errors, and which the power of the
    whole forest corrects.
    """
    best = int(np.argmin([weighted_mean(loss, share) for loss in losses]))
    return np.asarray(losses[best])


def weigh_families(evidence: Evidence) -> Floats:
    """Weights of families, summing to one.

    exp(−DECAY · Δ/σ), where Δ is the excess loss of a family over the best one and σ is the noise
    of that loss. σ falls with the number of rows: with few rows the weights are nearly equal.
    """
    losses = evidence.losses
    if np.isnan(losses).any():
        return np.full(len(losses), 1.0 / len(losses))
    excess = losses - losses.min()
    # Without noise, as when every row is predicted exactly, equal losses still get equal weights.
    units = np.where(excess > 0.0, excess / max(evidence.noise, np.finfo(float).tiny), 0.0)
    weights = np.exp(-DECAY * np.minimum(units, 1e3))
    return np.asarray(weights / weights.sum())


def count_trees(weights: Floats, n_trees: int) -> Ints64:
    """Trees of each family: shares of `n_trees`, rounded so that they sum to it.

    Parts left over by rounding down go to the largest remainders, of equal ones to the first.
    """
    shares = np.asarray(weights) * n_trees
    counts = np.floor(shares + 1e-9).astype(np.int64)
    order = np.argsort(-(shares - counts), kind="stable")
    counts[order[: n_trees - int(counts.sum())]] += 1
    return counts


# How small a node may be and still be split: `min_samples_split="auto"`, chosen out of bag.
#
# Where targets are noisy, trees that are grown until leaves are pure follow the noise. Trees of a
# larger `min_samples_split` are prunings of those that split every node, so the micro-forests show
# what each size would predict without being grown again.

# Chosen on data sets (docs/design/automatic_families.md); a finer grid is not more accurate.
SIZES = (2, 5, 12, 32, 80)
# The smallest size wins whose loss is within this many standard errors of the least one.
TOLERANCE = 0.5
MAX_ROWS = 50_000  # rows whose predictions are compared
MAX_VALUES = 1_000_000  # classes times rows


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
    if target.task.n_outputs > 1 or criterion == "absolute_error":
        return SIZES[:1]
    return SIZES


def row_step(n_rows: int, n_classes: int) -> int:
    """Row stride that keeps evaluation cheap relative to training."""
    most = max(1, min(MAX_ROWS, MAX_VALUES // max(n_classes, 1)))
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


# How many trees: `n_estimators="auto"`.
#
# The expected squared error of T trees is that of infinitely many plus V / T, where V is the
# variance of a single tree. Micro-forests show both.

# What more trees could still take away: a share of the squared error, and of what the forest
# explains of the targets' variance, which is little where they are noisy or a class is rare.
MAX_EXCESS = 0.005
MIN_ROWS_TO_CHOOSE = 5000  # smaller tables cost little (docs/design/automatic_families.md)
SPREAD_ROWS = 5000  # rows on which trees are compared


def enough_trees(
    weights: Floats,
    spreads: Sequence[TreeSpread],
    squared_error: float,
    variance_of_target: float,
    most: int,
) -> int:
    """As few trees as leave a share of at most `MAX_EXCESS` to infinitely many.

    Parameters
    ----------
    weights : ndarray of shape (n_families,)
        Weights of the families, summing to one.
    spreads : sequence of TreeSpread
        Of the micro-forest of each family.
    squared_error : float
        Of the weighted mean of the micro-forests.
    variance_of_target : float
        Squared error of the mean of the targets.
    most : int
        Trees that are never exceeded.
    """
    variance = sum(w * each.variance for w, each in zip(weights, spreads, strict=True))
    noise = sum(w * w * each.noise for w, each in zip(weights, spreads, strict=True))
    least = squared_error - noise
    allowed = MAX_EXCESS * min(least, variance_of_target - least)
    if not (allowed > 0.0 and variance / allowed < most):  # NaN where no row tells
        return most
    return max(1, int(np.ceil(variance / allowed)))


# The plan of a forest of several families: their options and the sizes of micro-forests.

MICRO_SHARE = 10  # each micro-forest has one in this many of all trees
# With many rows fewer trees are enough to tell families apart, and each costs more
# (docs/design/automatic_families.md).
MANY_ROWS = 1000
ENOUGH_MICRO_TREES = 25
MICRO_SHARE_OF_MANY_ROWS = 20
MIN_MICRO_TREES = 5  # with fewer the out-of-bag error of a family is mostly chance
# A family that fits alone has the only trees to compare node sizes with, and few trees favour
# larger nodes than many do.
MICRO_SHARE_ALONE = 5
MIN_MICRO_TREES_ALONE = 10


@dataclass(frozen=True)
class FamilyPlan:
    """Families of a forest, with their options and the number of trees.

    Attributes
    ----------
    names : tuple of str
        Names of the families.
    options : tuple of TrainingOptions
        How each family grows; seed and bags are the same in all.
    n_trees : int
        Trees of the forest, or at most that many.
    hard : bool
        Whether trees vote.
    left_out : tuple of (str, str)
        Families that do not fit the table, and why.
    node_sizes : tuple of int
        Values of `min_samples_split` that are compared, ascending. Micro-forests are grown with the
        first.
    fewer : bool
        Whether fewer than `n_trees` are grown if they are enough.
    """

    label: ClassVar[str] = "comparing families"

    names: tuple[str, ...]
    options: tuple[TrainingOptions, ...]
    n_trees: int
    hard: bool
    left_out: tuple[tuple[str, str], ...]
    node_sizes: tuple[int, ...]
    fewer: bool = False

    def micro_trees(self, n_rows: int) -> int:
        """Trees of a micro-forest: a tenth of all, and at most half in all micro-forests together.

        With many rows it is a twentieth, if that is `ENOUGH_MICRO_TREES`. A single family has
        `ENOUGH_MICRO_TREES`, or a fifth of all if that is more. 0 if there is nothing to compare:
        a single family of a given size of nodes, too few trees, or no rows out of bag.
        """
        if not self.options[0].leaves_rows_out(n_rows):
            return 0
        n_families = len(self.names)
        if n_families == 1:
            return self._micro_trees_alone()
        n = self.n_trees // max(MICRO_SHARE, 2 * n_families)
        if n_rows >= MANY_ROWS:
            n = min(n, max(ENOUGH_MICRO_TREES, self.n_trees // MICRO_SHARE_OF_MANY_ROWS))
        return n if n >= MIN_MICRO_TREES else 0

    def _micro_trees_alone(self) -> int:
        """Trees needed to choose the node size of a single family."""
        if len(self.node_sizes) == 1:
            return 0
        n = min(self.n_trees // 2, max(ENOUGH_MICRO_TREES, self.n_trees // MICRO_SHARE_ALONE))
        return n if n >= MIN_MICRO_TREES_ALONE else 0

    def of_micro_trees(self, n_rows: int) -> Ints32:
        """Number of the family of each tree of the micro-forests; empty if none are grown."""
        families = np.arange(len(self.names), dtype=np.int32)
        return np.repeat(families, self.micro_trees(n_rows))

    def by_options(
        self,
        numbers: Ints64,  # noqa: ARG002
        of_tree: Ints32,
    ) -> Iterator[tuple[TrainingOptions, Ints64]]:
        """Options of each family, and the positions of its trees."""
        for family, options in enumerate(self.options):
            chosen = np.flatnonzero(of_tree == family)
            if len(chosen):
                yield options, chosen

    def share(self, forests: MicroForests | None, target: TrainingTarget) -> TreeShares:
        """Share out the trees by the out-of-bag predictions of the micro-forests, if there are any.

        Parameters
        ----------
        forests : MicroForests or None
            Micro-forests of all families; None shares equally.
        target : TrainingTarget
            Targets of the training rows.
        """
        if forests is None:
            return share_equally(self)
        return share_by_evidence(
            self, _evaluate(forests, self, target), target, _spread_by(forests, self, target)
        )


def plan_families(
    options: TrainingOptions,
    shape: TableShape,
    target: TrainingTarget,
    n_trees: int,
    hard: bool,
    sparse: bool = False,
    fewer: bool = False,
) -> FamilyPlan:
    """Plan for a table.

    Parameters
    ----------
    options : TrainingOptions
        Options that all families share; the criterion "auto" leaves the choice to them.
    shape : TableShape
        Size of the training table.
    target : TrainingTarget
        Targets of the training rows.
    n_trees : int
        Trees of the forest, or at most that many.
    hard : bool
        Whether trees vote.
    sparse : bool, default=False
        Whether the table is kept sparse.
    fewer : bool, default=False
        Whether fewer trees are grown if they are enough; on small tables and with several outputs
        all are grown.
    """
    purely_random = options.threshold == "purely_random"
    regression = is_regression(options.criterion)
    constrained = "monotonic_cst" if options.monotone else ""
    if options.interaction_groups:
        constrained = constrained or "interaction_cst"
    fitting, left_out = candidates_for(
        shape,
        regression=regression,
        purely_random=purely_random,
        splits_pure=options.split_pure_nodes,
        constrained=constrained,
        sparse=sparse,
    )

    def options_of(candidate: Candidate) -> TrainingOptions:
        families = resolve_families(
            candidate.members, shape, regression=regression, single_draw=purely_random
        )
        criterion = candidate.criterion if options.criterion == "auto" else options.criterion
        return replace(options, families=tuple(families), criterion=criterion)

    return FamilyPlan(
        names=tuple(candidate.name for candidate in fitting),
        options=tuple(options_of(candidate) for candidate in fitting),
        n_trees=n_trees,
        hard=hard,
        left_out=tuple(left_out),
        node_sizes=sizes_to_compare(
            None if options.chooses_node_size else options.min_samples_split,
            target,
            options.criterion,
        ),
        fewer=fewer and shape.n_rows >= MIN_ROWS_TO_CHOOSE and target.task.n_outputs == 1,
    )


@dataclass(frozen=True)
class TreeShares:
    """Which family, or rotation, each tree of a forest is of.

    Attributes
    ----------
    of_tree : ndarray of int32
        Number of the family of the trees 0, 1, ...; zeros with a given projection.
    missing : ndarray of int64
        Numbers of the trees that are still to be grown, ascending. These are all trees if nodes are
        to be larger than those of the micro-forests.
    min_samples_split : int or None
        Rows that a node of the missing trees needs to be split; None for that of the options.
    families : FamilyRecord or None
        The families, with the evidence for their shares.
    rotations : RotationRecord or None
        The rotations, with the evidence for their shares.
    """

    of_tree: Ints32
    missing: Ints64
    min_samples_split: int | None = None
    families: FamilyRecord | None = None
    rotations: RotationRecord | None = None


def share_further(record: FamilyRecord, trees: range) -> TreeShares:
    """Share out trees that are added to a forest, by the weights that its families have.

    Each family gets the trees that it lacks to have its share of all trees.
    """
    wanted = count_trees(record.weights, trees.stop)
    short = np.maximum(wanted - record.n_trees, 0)
    added = count_trees(short / max(short.sum(), 1), len(trees))
    of_new = np.repeat(np.arange(len(added), dtype=np.int32), added)
    of_tree = np.concatenate((record.of_tree, of_new))
    return _shares(record.with_trees(of_tree), np.arange(trees.start, trees.stop))


def _shares(record: FamilyRecord, missing: Ints64) -> TreeShares:
    return TreeShares(record.of_tree, missing, record.min_samples_split, record)


OutOfBagPredictions = tuple[Floats, npt.NDArray[np.bool_]]


class Evaluated(Protocol):
    """Out-of-bag predictions of the families, for blocks of rows.

    Attributes
    ----------
    n_families : int
        Number of families.
    known : ndarray of bool, shape (n_rows,)
        Rows that every family predicts.
    blocks : list of slice
        Consecutive rows.
    """

    n_families: int
    known: npt.NDArray[np.bool_]
    blocks: list[slice]

    def predictions(self, family: int, rows: slice) -> Floats:
        """Of a block, for each of the plan's sizes (first axis)."""


class StoredPredictions:
    """Predictions of all rows that are in memory; see `Evaluated`.

    Parameters
    ----------
    out_of_bag : sequence of (predictions, known)
        Of each family, from `predict_family`.
    """

    def __init__(self, out_of_bag: Sequence[OutOfBagPredictions]) -> None:
        self._predictions = [predictions for predictions, _ in out_of_bag]
        self.known = np.logical_and.reduce([known for _, known in out_of_bag])
        n_sizes, n_rows, width = self._predictions[0].shape
        self.n_families = len(out_of_bag)
        self.blocks = row_blocks(n_rows, self.n_families * n_sizes * width)

    def predictions(self, family: int, rows: slice) -> Floats:
        """Of a block, for each of the plan's sizes (first axis)."""
        return self._predictions[family][:, rows]


class PredictedBlocks:
    """Predictions of tables of many classes, made when a block is asked for; see `Evaluated`."""

    def __init__(
        self, forests: MicroForests, plan: FamilyPlan, target: TrainingTarget, blocks: list[slice]
    ) -> None:
        self._forests, self._plan, self._target = forests, plan, target
        self.n_families = len(plan.names)
        step = _step(plan, target)
        self.known = np.logical_and.reduce(
            [forests.known(family, step) for family in range(self.n_families)]
        )
        self.blocks = blocks

    def predictions(self, family: int, rows: slice) -> Floats:
        """Of a block, for each of the plan's sizes (first axis)."""
        return predict_family(self._forests, family, self._plan, self._target, rows)[0]


def _evaluate(forests: MicroForests, plan: FamilyPlan, target: TrainingTarget) -> Evaluated:
    """Predictions of all families: kept if they are one block, else made block by block."""
    families = range(len(plan.names))
    n_rows = -(-len(target.values) // _step(plan, target))
    width = max(target.n_classes, target.task.n_outputs)
    blocks = row_blocks(n_rows, len(families) * len(plan.node_sizes) * width)
    if len(blocks) > 1 and target.n_classes:
        return PredictedBlocks(forests, plan, target, blocks)
    return StoredPredictions([predict_family(forests, each, plan, target) for each in families])


def _step(plan: FamilyPlan, target: TrainingTarget) -> int:
    """Every so many rows one is predicted."""
    return 1 if len(plan.node_sizes) == 1 else row_step(len(target.values), target.n_classes)


def predict_family(
    forests: MicroForests,
    family: int,
    plan: FamilyPlan,
    target: TrainingTarget,
    rows: slice | None = None,
) -> OutOfBagPredictions:
    """Out-of-bag predictions by a family for each of the plan's sizes, and which rows have them.

    The first axis is that of the sizes. Of many rows, every so many one is predicted if sizes are
    compared; see `row_step`. rows: those of them to predict; None for all.
    """
    if len(plan.node_sizes) == 1:
        predictions, known = forests.predict_out_of_bag(family, rows)
        return predictions[None], known
    return forests.predict_pruned(family, plan.node_sizes, _step(plan, target), rows)


SpreadBy = Callable[[int, int], TreeSpread]


def _spread_by(forests: MicroForests, plan: FamilyPlan, target: TrainingTarget) -> SpreadBy:
    """The spread of the trees of a family by a size of nodes."""
    step = max(_step(plan, target), -(-len(target.values) // SPREAD_ROWS))
    return lambda family, size: forests.spread(family, plan.node_sizes[size], step)


def spreads_of_family(
    forests: MicroForests, family: int, plan: FamilyPlan, target: TrainingTarget
) -> list[TreeSpread]:
    """The spread of the trees of a family by each size of nodes; empty if it is not needed."""
    spread = _spread_by(forests, plan, target)
    return [spread(family, size) for size in range(len(plan.node_sizes))] if plan.fewer else []


def share_by_evidence(
    plan: FamilyPlan, evaluated: Evaluated, target: TrainingTarget, spread: SpreadBy
) -> TreeShares:
    """Choose the size of nodes, and divide the trees among families, by out-of-bag predictions.

    Parameters
    ----------
    plan : FamilyPlan
        The families.
    evaluated : Evaluated
        Predictions of each family.
    target : TrainingTarget
        Targets of the training rows.
    spread : callable
        ``spread(family, size)`` is the spread of the trees of a family, pruned to the plan's size
        of that index.
    """
    known, families = evaluated.known, range(evaluated.n_families)
    criterion, n_rows, size = plan.options[0].criterion, len(target.values), 0
    step = -(-n_rows // len(known))
    if len(plan.node_sizes) > 1:
        by_rows = (
            (rows, [evaluated.predictions(family, rows) for family in families])
            for rows in evaluated.blocks
        )
        size = choose_size(by_rows, known, target, step, criterion)
    weights = None if target.weights is None else target.weights[::step]
    evidence = measure_blocks(
        [_rows_of(evaluated, family, size) for family in families],
        *(known, target.values[::step], target.n_classes, weights),
        calibrated=True,
        criterion=criterion,
        output_classes=target.output_classes,
    )
    shares = weigh_families(evidence)
    n_trees, n_micro_trees = plan.n_trees, plan.micro_trees(n_rows)
    if plan.fewer and known.any():
        together = _squared_errors(evaluated, shares, size, target, step)
        spreads = [spread(family, size) for family in families]
        enough = enough_trees(shares, spreads, *together, n_trees)
        n_trees = max(enough, n_micro_trees * len(plan.names))
    of_tree, missing = assign_trees(count_trees(shares, n_trees), n_micro_trees)
    if size > 0:
        missing = np.arange(n_trees)
    errors = (evidence.errors, evidence.standard_errors)
    return _shares(_record(plan, *errors, shares, of_tree, plan.node_sizes[size]), missing)


def _squared_errors(
    evaluated: Evaluated, shares: Floats, size: int, target: TrainingTarget, step: int
) -> tuple[float, float]:
    """Squared error of the weighted mean of all micro-forests, and of the mean of the targets.

    Of classes that of their shares, summed over classes: twice the Brier score.
    """
    known, n_classes = evaluated.known, target.n_classes
    truth = target.values[::step][known]
    weights = np.ones(len(truth)) if target.weights is None else target.weights[::step][known]
    losses = []
    for rows in evaluated.blocks:
        own = known[rows]
        parts = [evaluated.predictions(family, rows)[size][own] for family in range(len(shares))]
        mean = np.tensordot(shares, np.array(parts), axes=1)
        losses.append(row_losses(mean, target.values[::step][rows][own], n_classes))
    error = float(np.average(np.concatenate(losses), weights=weights))
    if not n_classes:
        centre = np.average(truth, weights=weights)
        return error, float(np.average((truth - centre) ** 2, weights=weights))
    of_classes = np.bincount(truth, weights, n_classes) / weights.sum()
    return 2.0 * error, float(1.0 - (of_classes**2).sum())


def _rows_of(evaluated: Evaluated, family: int, size: int) -> RowsOfFamily:
    for rows in evaluated.blocks:
        yield rows, evaluated.predictions(family, rows)[size]


def share_equally(plan: FamilyPlan) -> TreeShares:
    """Give each family the same share of the trees, if there is no out-of-bag evidence."""
    n_families = len(plan.names)
    weights = np.full(n_families, 1.0 / n_families)
    of_tree = (np.arange(plan.n_trees) % n_families).astype(np.int32)
    unknown = np.full(n_families, np.nan)
    record = _record(plan, unknown, unknown, weights, of_tree, plan.node_sizes[0])
    return _shares(record, np.arange(plan.n_trees))


def _record(
    plan: FamilyPlan,
    errors: Floats,
    standard_errors: Floats,
    weights: Floats,
    of_tree: npt.NDArray[np.int32],
    min_samples_split: int,
) -> FamilyRecord:
    return FamilyRecord(
        *(plan.names, errors, standard_errors, weights, of_tree, plan.left_out), min_samples_split
    )
