"""The fit of a forest, wherever its training rows are.

A fit prepares the rows, grows trees, and completes the forest by what depends on all of them. It
does so through `Rows`, whose implementations say what these steps mean in one place: in the memory
of this process (`RowsInMemory`), in blocks (`bevel.training.blocks.RowsInBlocks`), or at the
workers of a cluster (`bevel.dask.replicated.RowsAtWorkers`). Rows at workers give the forest of the
same rows in memory; blocks give one forest for any division of the rows into blocks.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from bevel._types import Ints32, Ints64
from bevel.data.dataset import Dataset, encode_dataset, learn_dataset
from bevel.data.encoding import Encoding
from bevel.data.leaks import warn_of_leaks
from bevel.data.row_groups import NO_ORDER, RowGroups, RowOrder
from bevel.data.row_numbers import warn_of_row_numbers
from bevel.data.scaling import automatic_scale
from bevel.data.tables import Table
from bevel.data.target import refused_with_outputs
from bevel.forest.aggregation import MeanOfTrees
from bevel.forest.bags import Bags
from bevel.forest.calibration import least_probability
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.flat_forest import FlatForest, join_forests, take_trees
from bevel.forest.leaf_rows import collect_leaf_rows
from bevel.forest.predictor import PackedPredictor
from bevel.forest.provenance import Provenance
from bevel.forest.quantiles import LeafTargets, join_targets, keep_targets
from bevel.forest.records import FamilyRecord, RotationRecord
from bevel.forest.task import SeveralOutputs, Task
from bevel.forest.training_rows import OutOfBag, out_of_bag_blocks, predict_out_of_bag
from bevel.projections.families import (
    ProjectionDraws,
    TableShape,
    combines_units,
    tuned_out_of_bag,
)
from bevel.training.automatic import (
    SHARED_SCALE,
    FamilyPlan,
    MicroForests,
    TreeShares,
    plan_families,
    replace_trees,
    share_further,
)
from bevel.training.options import (
    TrainingOptions,
    check_directions,
    count_draws,
    leaf_share,
    read_constraints,
    resolve_options,
)
from bevel.training.progress import Progress
from bevel.training.targets import TargetKind
from bevel.training.trainer import TrainingTarget, keeps_sparse, train

__all__ = [
    "EarlierTrees",
    "FitRequest",
    "FitResult",
    "PreparedFit",
    "ProgressFor",
    "Rows",
    "RowsInMemory",
    "TreePlan",
    "assemble",
    "fit_forest",
    "fit_in_time",
    "needs_out_of_bag",
    "prepare",
    "prepare_rows",
    "scale_for",
    "score_out_of_bag",
    "shape_of",
    "use_out_of_bag",
]

ProgressFor = Callable[[range, str], Progress]

# Share of the rows, the latest ones, that judge a forest of rows with times.
LATEST_SHARE = 0.2
# Bytes up to which a sparse table is made dense for the families of projection="auto" that need it.
MOST_DENSE_FOR_ALL_FAMILIES = 2**26

# What is asked for, and what comes of it.


@dataclass(frozen=True, eq=False)
class FitRequest:
    """What an estimator asks of a fit, besides its rows.

    Attributes
    ----------
    values : mapping
        Parameters by name, checked.
    members : sequence of ProjectionDraws
        The projections; empty with `projection="auto"`.
    kind : TargetKind
        How the target is read.
    seed : int
        Seed of the forest.
    keeps_out_of_bag : bool
        Whether the result has out-of-bag predictions, even if no score of them is asked for.
    """

    values: Mapping[str, Any]
    members: Sequence[ProjectionDraws]
    kind: TargetKind
    seed: int
    keeps_out_of_bag: bool = False

    def with_trees(self, n_trees: int) -> FitRequest:
        """The same with another number of trees."""
        return replace(self, values={**self.values, "n_estimators": n_trees})

    @property
    def n_trees(self) -> int:
        """Trees of the forest; with `n_estimators="auto"` the most that it may have."""
        given = self.values["n_estimators"]
        return self.kind.most_trees if given == "auto" else int(given)

    @property
    def hard(self) -> bool:
        """Whether trees vote."""
        return self.values.get("voting") == "hard"


class FitResult(NamedTuple):
    """A fitted forest, and its out-of-bag predictions and their score if they were asked for."""

    fitted: FittedForest
    estimates: OutOfBag | None = None
    score: float | None = None


# Rows in memory are prepared: read, encoded, and the options resolved for their number.


@dataclass(frozen=True, eq=False)
class PreparedFit:
    """Encoded rows and resolved options of a fit.

    Attributes
    ----------
    request : FitRequest
        What is asked for.
    feature_names : tuple of str or None
        Names of the columns, if the table has names.
    dataset : Dataset
        Training rows, encoded.
    target : TrainingTarget
        Targets and weights of the training rows.
    options : TrainingOptions
        Parameters as numbers, resolved for the size of the table.
    bags : Bags or None
        How bags are drawn; None if the trees of an earlier fit have other bags.
    before : FittedForest or None
        Forest of an earlier fit that this one adds trees to.
    """

    request: FitRequest
    feature_names: tuple[str, ...] | None
    dataset: Dataset
    target: TrainingTarget
    options: TrainingOptions
    bags: Bags | None
    before: FittedForest | None = None

    @property
    def held_out(self) -> npt.NDArray[np.bool_] | None:
        """Rows that no tree is grown on, which are the only ones to be judged; None: all are."""
        return None if self.options.groups is None else self.options.groups.held_out

    def on_all_rows(self) -> PreparedFit:
        """The fit without rows that are held out."""
        n_rows = len(self.dataset.X)
        n_draws = count_draws(self.request.values, n_rows)
        options = replace(self.options, groups=None, bag_size=n_draws)
        return replace(self, options=options, bags=options.bags(n_rows))

    def plan(self) -> FamilyPlan | None:
        """Plan of the families that share the trees; None with a given projection."""
        if self.options.families != ():
            return None
        request = self.request
        return plan_families(
            *(self.options, shape_of(self.dataset), self.target, request.n_trees, request.hard),
            sparse=self.dataset.sparse is not None,
            fewer=request.values["n_estimators"] == "auto",
        )


def prepare(
    request: FitRequest,
    table: Table,
    feature_names: tuple[str, ...] | None,
    y: Any,
    sample_weight: Any,
    n_threads: int,
    before: FittedForest | None = None,
    order: RowOrder = NO_ORDER,
    may_be_sparse: bool = False,
) -> PreparedFit:
    """Read the targets, encode the rows and resolve the options.

    Parameters
    ----------
    request : FitRequest
        What is asked for.
    table : Table
        Training rows.
    feature_names : tuple of str or None
        Names of the columns, if the table has names.
    y, sample_weight
        Targets and weights as given to fit.
    n_threads : int
        Threads to use.
    before : FittedForest or None, default=None
        Forest of an earlier fit that this one adds trees to.
    order : RowOrder, optional
        Groups or times of the rows.
    may_be_sparse : bool, default=False
        Whether a sparse table is kept sparse where the projections allow it.
    """
    target = request.kind.read(y, sample_weight, table.n_rows, request.values, before)
    rows = (request, table, feature_names, target, n_threads)
    return prepare_rows(*rows, before, order, may_be_sparse)


def prepare_rows(
    request: FitRequest,
    table: Table,
    feature_names: tuple[str, ...] | None,
    target: TrainingTarget,
    n_threads: int,
    before: FittedForest | None = None,
    order: RowOrder = NO_ORDER,
    may_be_sparse: bool = False,
) -> PreparedFit:
    """Encode rows whose targets have been read, and resolve the options; see `prepare`."""
    values, members = request.values, request.members
    latest = order.latest(LATEST_SHARE)
    groups = order.groups if values["bootstrap"] else None
    if latest is not None:
        groups = RowGroups.earlier(latest)
    # A small sparse table gets the families of the dense one.
    shares = not members and 4 * table.n_rows * table.n_features <= MOST_DENSE_FOR_ALL_FAMILIES
    may_be_sparse = may_be_sparse and not shares and not values.get("keep_targets")
    sparse = may_be_sparse and keeps_sparse(table, members)
    if before is not None:
        dataset = encode_dataset(table, before.encoding, n_threads, not members, sparse)
    else:
        scale, nominal = scale_for(values["scale"], members), values["categorical_features"]
        # Means of the target by level would tell splits of honest trees of the rows for leaves.
        reads_means = not members and not leaf_share(values)
        level_target = target.task.level_target(target.values) if reads_means else None
        if level_target is not None:
            level_target = level_target._replace(folds=order.folds(latest))
        read = (table, nominal, scale, n_threads, target.weights, level_target)
        dataset = learn_dataset(*read, combines_levels=not members, keeps_sparse=sparse)
        n_labels = dataset.encoding.n_labels
        about = (target.values, target.n_classes)
        counting = warn_of_row_numbers(table, n_labels, *about)
        if dataset.sparse is None:
            warn_of_leaks(
                *(table, dataset.X, dataset.encoding.levels, *about, target.weights),
                passed_over=counting,
                grouped=order.groups is not None,
            )
    options = resolve_options(values, members, shape_of(dataset), request.seed, groups)
    options = _constrained(options, request, table, dataset, target)
    drawn = options.bags(table.n_rows)
    bags: Bags | None = drawn
    if before is not None and before.provenance.bags != drawn:
        _check_same_groups(drawn, before.provenance.bags)
        _check_bags_are_not_needed(values, drawn, before.provenance.bags)
        bags = None
    return PreparedFit(request, feature_names, dataset, target, options, bags, before)


def shape_of(dataset: Dataset) -> TableShape:
    """Size of a training table."""
    n_rows, n_features = dataset.shape
    n_nominal = int(np.count_nonzero(dataset.encoding.levels))
    n_numeric = n_features - n_nominal - len(dataset.idle)
    return TableShape(n_rows, n_numeric, n_nominal, dataset.n_with_terms)


def scale_for(scale: str | None, members: Sequence[ProjectionDraws]) -> str | None:
    """The scale of a fit; "auto" depends on the projections."""
    if scale != "auto":
        return scale
    return automatic_scale(combines_units(members)) if members else SHARED_SCALE


def _constrained(
    options: TrainingOptions,
    request: FitRequest,
    table: Table,
    dataset: Dataset,
    target: TrainingTarget,
) -> TrainingOptions:
    """Options with the constraints of the estimator; raises if they cannot be satisfied."""
    values = request.values
    monotonic_cst, interaction_cst = values.get("monotonic_cst"), values.get("interaction_cst")
    if monotonic_cst is None and interaction_cst is None:
        return options
    levels = dataset.encoding.levels
    n_labels = dataset.encoding.n_labels
    constraints = read_constraints(monotonic_cst, interaction_cst, table, n_labels)
    several = isinstance(target.task, SeveralOutputs)
    if constraints.monotone and several:
        remedy = "Leave it out, or fit one forest per output."
        raise refused_with_outputs("monotonic_cst", monotonic_cst, "None", remedy)
    constraints.check_classes(0 if several else target.n_classes)
    check_directions(constraints, request.members, options.families, levels)
    return replace(options, monotone=constraints.monotone, interaction_groups=constraints.groups)


def _check_same_groups(bags: Bags, earlier: Bags | None) -> None:
    """Raise if the rows of an earlier fit had other groups, or are held out now."""
    if bags.groups != (earlier and earlier.groups):
        raise ValueError(
            "warm_start needs the rows and groups of the earlier fit, and no time, so that bags "
            "are drawn in one way; got other groups, or time. Pass the same groups in every fit, "
            "or set warm_start=False."
        )


def _check_bags_are_not_needed(values: Mapping[str, Any], bags: Bags, earlier: Bags | None) -> None:
    """Raise if out-of-bag estimates were asked for, which draw all bags again in one way."""
    calibrates = values.get("calibration") == "power"
    if not (values["oob_score"] or calibrates):
        return
    asked, off = ("calibration", None) if calibrates else ("oob_score", False)
    old = earlier and (earlier.n_rows, earlier.size, earlier.replace, earlier.leaf_share)
    new = (bags.n_rows, bags.size, bags.replace, bags.leaf_share)
    raise ValueError(
        f"{asked} with warm_start needs the same number of rows, max_samples, replace and honest "
        f"in every fit; got {new} after {old} (rows, draws, replace, share of the rows for "
        f"honest leaves). Keep them, or set {asked}={off}."
    )


# The steps of a fit, which are the same for rows in any place.

Trees = TypeVar("Trees")


class EarlierTrees(NamedTuple, Generic[Trees]):
    """Trees of an earlier fit, and what is known of them."""

    trees: Trees
    n_trees: int
    families: FamilyRecord | None
    rotations: RotationRecord | None


class TreePlan(Protocol):
    """A plan of the families or rotations that share the trees of a forest.

    Attributes
    ----------
    label : str
        Label of the progress bar of the micro-forests.
    """

    label: ClassVar[str]

    def micro_trees(self, n_rows: int) -> int:
        """Trees of a micro-forest."""

    def of_micro_trees(self, n_rows: int) -> Ints32:
        """Number of the family of each tree of the micro-forests; empty if none are grown."""

    def by_options(
        self, numbers: Ints64, of_tree: Ints32
    ) -> Iterator[tuple[TrainingOptions, Ints64]]:
        """Options, and the positions of the trees of some numbers that are grown with them."""

    def share(self, forests: MicroForests | None, target: TrainingTarget) -> TreeShares:
        """Share out the trees by the micro-forests, if there are any."""


class Rows(ABC, Generic[Trees]):
    """Training rows in one place, and what a fit asks of them.

    `Trees` is the form in which trees pass from one step to the next.

    Attributes
    ----------
    n_rows : int
        Number of training rows.
    plan : TreePlan or None
        Plan of the families or rotations that share the trees; None with a given projection.
    earlier : EarlierTrees or None
        Trees of an earlier fit that this one adds to.
    """

    n_rows: int
    plan: TreePlan | None = None
    earlier: EarlierTrees[Trees] | None = None

    @abstractmethod
    def grow(
        self,
        numbers: Ints64,
        of_tree: Ints32,
        min_samples_split: int | None,
        progress: Progress,
    ) -> Trees:
        """Grow trees.

        Parameters
        ----------
        numbers : ndarray of int64
            Numbers of the trees, in the order in which they are returned.
        of_tree : ndarray of int32
            Number of the family of each tree; zeros with a given projection.
        min_samples_split : int or None
            Rows that a node needs to be split; None for that of the options.
        progress : Progress
            Progress report of finished trees.
        """

    @abstractmethod
    def share(self, micro: Trees | None) -> TreeShares:
        """Share out the trees of the plan by its micro-forests, if there are any."""

    @abstractmethod
    def join(self, first: Trees | None, grown: Trees, numbers: Ints64) -> Trees:
        """Trees 0, 1, ..., of which the ones of `numbers` are the grown ones, others the first."""

    @abstractmethod
    def complete(self, trees: Trees, shares: TreeShares) -> FitResult:
        """The fitted forest of all trees, with what follows from out-of-bag predictions."""


def fit_forest(rows: Rows[Trees], n_trees: int, progress_for: ProgressFor) -> FitResult:
    """Grow a forest and complete it.

    Parameters
    ----------
    rows : Rows
        The training rows.
    n_trees : int
        Trees of the forest, those of an earlier fit included; the plan of the rows may find that
        fewer are enough.
    progress_for : callable
        ``progress_for(trees, label)`` makes the progress report of some trees.
    """
    first = _first_trees(rows, progress_for)
    shares = _share_out(rows, first, n_trees)
    n_trees, numbers = len(shares.of_tree), shares.missing
    if first is not None and len(numbers) == 0:
        return rows.complete(first, shares)
    progress = progress_for(range(n_trees - len(numbers), n_trees), "growing trees")
    grown = rows.grow(numbers, shares.of_tree[numbers], shares.min_samples_split, progress)
    return rows.complete(rows.join(first, grown, numbers), shares)


def fit_in_time(
    prepared: PreparedFit,
    plan_of: Callable[[PreparedFit], TreePlan | None],
    n_trees: int,
    n_threads: int,
    progress_for: ProgressFor,
) -> FitResult:
    """Grow a forest on all rows as one on the earlier rows predicts the latest rows best.

    The families, the size of nodes, the power of the probabilities and the out-of-bag score are
    those of a first forest, which is grown on the earlier rows and judged on the latest ones.

    Parameters
    ----------
    prepared : PreparedFit
        Training rows, whose groups hold out the latest ones.
    plan_of : callable
        ``plan_of(prepared)`` is the plan of the families or rotations that share the trees; None
        with a given projection.
    n_trees : int
        Trees of the forest.
    n_threads : int
        Threads to use; does not change the forest.
    progress_for : callable
        As in `fit_forest`.
    """
    plan = plan_of(prepared)
    judged, shares = None, TreeShares(np.zeros(n_trees, np.int32), np.arange(n_trees))
    if plan is not None or needs_out_of_bag(prepared, families=False):
        judged = fit_forest(RowsInMemory(prepared, plan, n_threads), n_trees, progress_for)
        known = judged.fitted.provenance
        families, rotations = known.families, known.rotations
        size = None if families is None else families.min_samples_split
        record = families or rotations
        of_tree = shares.of_tree if record is None else record.of_tree
        n_trees = len(of_tree)
        shares = TreeShares(of_tree, np.arange(n_trees), size, families, rotations)
    whole = prepared.on_all_rows()
    rows = RowsInMemory(whole, plan_of(whole), n_threads)
    progress = progress_for(range(n_trees), "growing trees on all rows")
    trees = rows.grow(shares.missing, shares.of_tree, shares.min_samples_split, progress)
    fitted = rows.with_targets(trees, shares)
    if judged is None:
        return FitResult(fitted)
    fitted = _calibrated(fitted, judged.fitted.aggregation.power)
    return FitResult(fitted, judged.estimates, judged.score)


def _first_trees(rows: Rows[Trees], progress_for: ProgressFor) -> Trees | None:
    """The trees that are there before the others are shared out: earlier ones, or micro-forests."""
    if rows.earlier is not None:
        return rows.earlier.trees
    if rows.plan is None:
        return None
    of_micro = rows.plan.of_micro_trees(rows.n_rows)
    if len(of_micro) == 0:
        return None
    progress = progress_for(range(len(of_micro)), rows.plan.label)
    return rows.grow(np.arange(len(of_micro)), of_micro, None, progress)


def _share_out(rows: Rows[Trees], first: Trees | None, n_trees: int) -> TreeShares:
    """What the trees are to be."""
    if rows.earlier is not None:
        return _share_further(rows.plan, rows.earlier, n_trees)
    if rows.plan is None:
        return TreeShares(np.zeros(n_trees, np.int32), np.arange(n_trees))
    return rows.share(first)


def _share_further(plan: TreePlan | None, earlier: EarlierTrees[Any], n_trees: int) -> TreeShares:
    """What the trees are to be that are added to those of an earlier fit."""
    added = range(earlier.n_trees, n_trees)
    of_tree, numbers = np.zeros(n_trees, np.int32), np.arange(added.start, added.stop)
    if not len(added):
        return TreeShares(of_tree, numbers, None, earlier.families, earlier.rotations)
    if plan is None:
        return TreeShares(of_tree, numbers)
    if earlier.families is None:
        raise ValueError(
            'warm_start with projection="auto" needs trees of an earlier fit with '
            'projection="auto", whose families go on; got trees of another projection. Keep '
            "the projection, or set warm_start=False."
        )
    return share_further(earlier.families, added)


def assemble(
    request: FitRequest,
    forest: FlatForest,
    encoding: Encoding,
    feature_names: tuple[str, ...] | None,
    task: Task,
    bags: Bags | None,
    shares: TreeShares,
) -> FittedForest:
    """The fitted forest, before its probabilities are calibrated."""
    return FittedForest(
        predictor=PackedPredictor(forest),
        encoding=encoding,
        feature_names=feature_names,
        task=task,
        aggregation=MeanOfTrees(hard=request.hard),
        provenance=Provenance(
            seed=request.seed,
            bags=bags,
            class_weight=request.values.get("class_weight"),
            tuned_out_of_bag=tuned_out_of_bag(request.members),
            rotations=shares.rotations,
            families=shares.families,
            bounds_leaves=request.values.get("monotonic_cst") is not None,
        ),
    )


# Rows in the memory of this process.


class RowsInMemory(Rows[FlatForest]):
    """Training rows in the memory of this process.

    Parameters
    ----------
    prepared : PreparedFit
        Encoded rows and resolved options.
    plan : TreePlan or None
        Plan of the families or rotations that share the trees; None with a given projection.
    n_threads : int
        Threads to use; does not change the forest.
    """

    def __init__(self, prepared: PreparedFit, plan: TreePlan | None, n_threads: int) -> None:
        self.prepared, self.plan, self.n_threads = prepared, plan, n_threads
        self.n_rows = prepared.dataset.shape[0]
        before = prepared.before
        if before is not None:
            forest, known = before.forest, before.provenance
            self.earlier = EarlierTrees(forest, forest.n_trees, known.families, known.rotations)

    def grow(
        self,
        numbers: Ints64,
        of_tree: Ints32,
        min_samples_split: int | None,
        progress: Progress,
    ) -> FlatForest:
        """Grow trees, those of a family together."""
        prepared, parts, order, n_done = self.prepared, [], [], 0
        for options, chosen in self._by_options(numbers, of_tree):
            if min_samples_split is not None:
                options = replace(options, min_samples_split=min_samples_split)
            part = (numbers[chosen], self.n_threads, progress.after(n_done))
            parts.append(train(prepared.dataset, prepared.target, options, *part))
            order.append(chosen)
            n_done += len(chosen)
        if len(parts) == 1:
            return parts[0]
        forest = functools.reduce(join_forests, parts)
        return take_trees(forest, np.argsort(np.concatenate(order), kind="stable"))

    def _by_options(
        self, numbers: Ints64, of_tree: Ints32
    ) -> Iterable[tuple[TrainingOptions, Ints64]]:
        """Options, and the positions of the trees that are grown with them."""
        if self.plan is not None:
            return self.plan.by_options(numbers, of_tree)
        return [(self.prepared.options, np.arange(len(numbers)))]

    def share(self, micro: FlatForest | None) -> TreeShares:
        """Share out the trees by the out-of-bag predictions of the micro-forests."""
        assert self.plan is not None
        forests = None if micro is None else self.micro_forests(micro)
        return self.plan.share(forests, self.prepared.target)

    def micro_forests(self, forest: FlatForest, first_family: int = 0) -> MicroForests:
        """The micro-forests of the plan, or of its families from some on, to be evaluated."""
        plan, prepared = self.plan, self.prepared
        assert plan is not None
        assert prepared.bags is not None  # there are no trees of an earlier fit
        return MicroForests(
            *(forest, plan.micro_trees(self.n_rows), prepared.dataset, prepared.target),
            prepared.bags,
            hard=prepared.request.hard,
            n_threads=self.n_threads,
            first_kind=first_family,
        )

    def join(self, first: FlatForest | None, grown: FlatForest, numbers: Ints64) -> FlatForest:
        """All trees in one forest."""
        return grown if first is None else replace_trees(first, grown, numbers)

    def complete(self, trees: FlatForest, shares: TreeShares) -> FitResult:
        """The fitted forest, with out-of-bag predictions if they are needed."""
        prepared = self.prepared
        fitted = self.with_targets(trees, shares)
        if not needs_out_of_bag(prepared, shares.families is not None):
            return FitResult(fitted)
        rows = (fitted, prepared.dataset.columns, self.n_threads, prepared.target.weights)
        if prepared.request.values["oob_score"] or prepared.request.keeps_out_of_bag:
            return use_out_of_bag(prepared, fitted, predict_out_of_bag(*rows))
        # Only the power depends on the estimates, which need not all be in memory at once.
        power = prepared.request.kind.power(out_of_bag_blocks(*rows), prepared.target)
        return FitResult(_calibrated(fitted, power))

    def assemble(self, forest: FlatForest, shares: TreeShares) -> FittedForest:
        """The fitted forest of all trees, before its probabilities are calibrated."""
        prepared, bags = self.prepared, self.prepared.bags
        if bags is not None and prepared.held_out is not None:
            bags = bags.of_held_out
        return assemble(
            *(prepared.request, forest, prepared.dataset.encoding, prepared.feature_names),
            *(prepared.target.task, bags, shares),
        )

    def with_targets(self, forest: FlatForest, shares: TreeShares) -> FittedForest:
        """The fitted forest of `assemble`, with the training targets of its leaves if asked for."""
        fitted = self.assemble(forest, shares)
        if not self.prepared.request.values.get("keep_targets"):
            return fitted
        return replace(fitted, targets=self._leaf_targets(forest))

    def _leaf_targets(self, forest: FlatForest) -> LeafTargets | None:
        """Training targets of the leaves of all trees."""
        before, prepared = self.prepared.before, self.prepared
        earlier = None if before is None else before.kept_targets
        n_before = 0 if before is None else before.forest.n_trees
        if forest.n_trees == n_before:
            return earlier
        grown = take_trees(forest, range(n_before, forest.n_trees)) if n_before else forest
        X, options, target = prepared.dataset.X, prepared.options, prepared.target
        leaf_rows = collect_leaf_rows(
            grown,
            np.ascontiguousarray(X),
            options.bags(len(X)),
            first_tree=n_before,
            weights=target.weights,
            n_threads=self.n_threads,
        )
        targets = keep_targets(leaf_rows, target.values, target.weights)
        return targets if earlier is None else join_targets(earlier, targets)


# Out-of-bag predictions: which fits need them, and what follows from them.


def needs_out_of_bag(prepared: PreparedFit, families: bool) -> bool:
    """Whether out-of-bag predictions are needed; families: whether families share the trees."""
    request = prepared.request
    wanted = bool(request.values["oob_score"]) or request.keeps_out_of_bag
    return wanted or _calibrates(prepared, families)


def _calibrates(prepared: PreparedFit, families: bool) -> bool:
    """Whether the power of the probabilities is to be chosen."""
    values, bags = prepared.request.values, prepared.bags
    how = values.get("calibration")
    if prepared.target.task.n_outputs > 1:  # "power" has been refused before
        return False
    if how == "auto":
        leaves_out = bags is not None and prepared.options.leaves_rows_out(bags.n_rows)
        return families and leaves_out and not prepared.request.hard  # votes are no shares
    return how is not None


def use_out_of_bag(prepared: PreparedFit, fitted: FittedForest, estimates: OutOfBag) -> FitResult:
    """Choose the power of the probabilities and score out-of-bag predictions, as far as asked for.

    Parameters
    ----------
    prepared : PreparedFit
        Encoded rows and resolved options.
    fitted : FittedForest
        The forest of all trees.
    estimates : OutOfBag
        Its predictions of all rows; changed in place.
    """
    target, request = prepared.target, prepared.request
    if _calibrates(prepared, fitted.provenance.families is not None):
        power = request.kind.power(estimates.blocks(), target)
        fitted = _calibrated(fitted, power)
        fitted.aggregation.calibrate(estimates.predictions)
    return score_out_of_bag(request, fitted, estimates, target, prepared.held_out)


def score_out_of_bag(
    request: FitRequest,
    fitted: FittedForest,
    estimates: OutOfBag,
    target: TrainingTarget,
    held_out: npt.NDArray[np.bool_] | None = None,
) -> FitResult:
    """The result of a fit with its out-of-bag predictions, if `oob_score` asks for them."""
    metric = request.values["oob_score"]
    if not metric:
        return FitResult(fitted, estimates if request.keeps_out_of_bag else None)
    if held_out is None:  # otherwise only these rows are to be predicted
        estimates.warn_of_unknown()
    score = request.kind.score(estimates, target, metric if callable(metric) else None)
    return FitResult(fitted, estimates, score)


def _calibrated(fitted: FittedForest, power: float) -> FittedForest:
    """The forest with a power of its probabilities, none of which is zero."""
    least = least_probability(fitted.forest.n_trees, fitted.task.n_classes)
    return replace(fitted, aggregation=MeanOfTrees(fitted.aggregation.hard, power, least))
