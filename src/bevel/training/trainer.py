"""The one call into the trainer: dataset, target and options in, flat forest out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel.data.dataset import Dataset
from bevel.data.sparse_columns import MOST_STORED
from bevel.data.survival import SurvivalTarget
from bevel.data.tables import SparseTable, Table
from bevel.errors import shorten, wrong_value
from bevel.forest.flat_forest import FlatForest
from bevel.forest.task import Regression, Task
from bevel.projections.base import FamilySpec, SparseDirections
from bevel.projections.custom import check_sums
from bevel.projections.families import ProjectionDraws
from bevel.training.honest_leaves import with_honest_leaves
from bevel.training.options import TrainingOptions
from bevel.training.progress import Progress

__all__ = ["TrainingTarget", "keeps_sparse", "native_family", "native_options", "train"]

BYTES_OF_NODE = 100  # roughly, with the entries of a split of a few features


@dataclass(frozen=True, eq=False)
class TrainingTarget:
    """Target of a fit.

    Attributes
    ----------
    values : ndarray
        int32 class of each row, or float64 target of a regression.
    n_classes : int
        Number of classes, 0 in regression.
    weights : ndarray of float64 or None
        Weight of each row; None when all are one.
    task : Task
        What is learned. With several outputs `values` is of shape (n_rows, n_outputs), and classes
        are numbered consecutively over all outputs.
    survival : SurvivalTarget or None
        Right-censored times, for survival forests; `values` are then the times.
    """

    values: npt.NDArray[Any]
    n_classes: int
    weights: npt.NDArray[np.float64] | None
    task: Task = field(default_factory=Regression)
    survival: SurvivalTarget | None = None

    @property
    def output_classes(self) -> npt.NDArray[np.int32] | None:
        """Number of classes of each of several outputs, 0 in regression; None for one output."""
        return self.task.output_classes

    @property
    def values_by_output(self) -> npt.NDArray[Any]:
        """Targets whose classes are numbered within their output."""
        return self.task.within_outputs(self.values)

    @property
    def counted_survival(self) -> SurvivalTarget | None:
        """Right-censored times in which events of rows of weight 0 count as censored."""
        truth = self.survival
        if truth is None or self.weights is None:
            return truth
        return truth.where_seen(self.weights > 0.0)


def train(
    dataset: Dataset,
    target: TrainingTarget,
    options: TrainingOptions,
    trees: Sequence[int] | npt.NDArray[np.integer[Any]],
    n_threads: int,
    progress: Progress,
) -> FlatForest:
    """Grow trees.

    Parameters
    ----------
    dataset : Dataset
        Training rows.
    target : TrainingTarget
        Their targets and weights.
    options : TrainingOptions
        How to grow.
    trees : sequence of int
        Numbers of the trees to grow. A tree depends on the seed and its own number only: growing
        `range(10)` and then `range(10, 30)` gives the trees of `range(30)`.
    n_threads : int
        Threads to use; does not change the forest.
    progress : Progress
        Progress report of finished trees.
    """
    encoding = dataset.encoding
    _check_directions(dataset, options)
    data = training_data(dataset, target)
    with progress:
        try:
            arrays = _core.train(
                data,
                native_options(options),
                np.asarray(trees, dtype=np.uint64),
                n_threads,
                progress if progress.wanted else None,
            )
        except MemoryError as error:
            raise MemoryError(_needed_for(dataset, options, len(trees))) from error
        if progress.wanted:
            progress(len(trees))
    forest = FlatForest(
        n_features=dataset.shape[1],
        n_classes=target.n_classes,
        levels=encoding.levels,
        medians=encoding.medians,
        **arrays,
    )
    if not options.leaf_share:
        return forest
    return with_honest_leaves(
        *(forest, dataset, target.values, target.weights, options.bags(dataset.shape[0]), trees),
        balances=options.balanced_subsample,
        n_threads=n_threads,
    )


def _needed_for(dataset: Dataset, options: TrainingOptions, n_trees: int) -> str:
    """What growth needs at most, for the message of an error."""
    n_rows = dataset.shape[0]
    n_draws = options.bag_size if options.groups is None else n_rows
    n_nodes = 2 * min(n_rows, n_draws or n_rows) - 1
    size = n_trees * n_nodes * BYTES_OF_NODE
    return f"growing {n_trees:,} trees of up to {n_nodes:,} nodes: up to {size / 1e9:.2g} GB"


def training_data(dataset: Dataset, target: TrainingTarget) -> _core.TrainingData:
    """The training set as the core reads it."""
    columns = dataset.native
    if target.survival is not None:
        return _rows_by_time(columns, target)
    values = target.values.ravel()
    return _core.TrainingData(
        **columns,
        weights=target.weights,
        n_classes=target.n_classes,
        labels=values if target.n_classes else None,
        targets=None if target.n_classes else values,
        output_classes=target.output_classes,
    )


def _rows_by_time(columns: Mapping[str, Any], target: TrainingTarget) -> _core.TrainingData:
    """Training rows in the order of their times, from which every node finds its risk sets."""
    truth = target.counted_survival
    assert truth is not None
    order = truth.time.argsort(kind="stable")
    times = truth.event_times
    event = truth.event if truth.cause is None else truth.cause

    def rank(of: npt.NDArray[np.float64]) -> npt.NDArray[np.uint32]:
        return np.searchsorted(times, of[order], side="right").astype(np.uint32)

    survival = _core.SurvivalTimes(
        rank=rank(truth.time),
        event=event[order].astype(np.uint8),
        row=order.astype(np.uint32),
        n_times=len(times),
        entry=None if truth.entry is None else rank(truth.entry),
        n_causes=truth.n_causes,
    )
    return _core.TrainingData(
        **{**columns, "X": np.asfortranarray(columns["X"][order])},
        weights=None if target.weights is None else target.weights[order],
        survival=survival,
    )


def _check_directions(dataset: Dataset, options: TrainingOptions) -> None:
    """Raise if directions given by the user are too large for the training rows."""
    numeric = np.flatnonzero(dataset.encoding.levels == 0)
    for family in options.families:
        if "pool" in family.settings:
            check_sums(family.settings["pool"], dataset.X, "Custom(sampler=)", numeric)


def native_options(options: TrainingOptions) -> _core.Options:
    """Options as the core reads them."""
    native = _core.Options()
    for name, value in vars(options).items():
        if name not in ("families", "chooses_node_size", "groups"):
            setattr(native, name, value)
    if options.groups is not None:
        native.set_bag_groups(options.groups.codes, options.groups.n_groups)
    native.families = [native_family(family) for family in options.families]
    return native


def native_family(family: FamilySpec) -> _core.Family:
    """One sampler as the core reads it."""
    settings = {
        name: value.arrays if isinstance(value, SparseDirections) else value
        for name, value in family.settings.items()
    }
    return _core.Family(family.kind, family.n_draws, family.n_nonzeros, **settings)


# Bytes up to which a sparse table is made dense for families that need it.
MOST_DENSE = 2**30


def keeps_sparse(table: Table, members: Sequence[ProjectionDraws]) -> bool:
    """Whether a table is sparse, and trees are grown on its columns as they are.

    Raises for a table that would have to be made dense and is very large then.

    Parameters
    ----------
    table : Table
        Training rows.
    members : sequence of ProjectionDraws
        The projections; empty where the library chooses them.
    """
    if not isinstance(table, SparseTable) or table.share_stored > MOST_STORED:
        return False
    unable = [each.projection for each in members if not each.projection.works_on_sparse]
    size = 4 * table.n_rows * table.n_features
    if unable and size > MOST_DENSE:
        required = (
            '"axis", "sparse", "combination" or "auto" with a sparse table, which other families '
            f"make dense, in {size / 2**30:.1f} GiB of float32 here"
        )
        remedy = "Reduce the columns, such as by TruncatedSVD, or pass X.toarray()."
        raise wrong_value("projection", required, shorten(unable[0]), remedy)
    return not unable
