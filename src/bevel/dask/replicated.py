"""Growth with the whole encoded table at each worker, which grows some of the trees.

The table is encoded once, by one worker. The others fetch it when they get their first trees. A
tree depends on the seed and its number alone, so the union of the parts is the forest of a local
fit.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bevel._types import Ints32, Ints64
from bevel.dask.cluster import Fit, warn_again, workers_of
from bevel.dask.parts import PartedRows, Worker
from bevel.dask.tasks import (
    Summary,
    complete_forest,
    evaluate_family,
    grow_trees,
    join_trees,
    predict_rows_out_of_bag,
    prepare_rows,
    share_trees,
    summarise,
)
from bevel.training.automatic import FamilyPlan, TreeShares, share_equally
from bevel.training.forest_fit import FitResult, Rows
from bevel.training.progress import Progress

__all__ = ["GrownParts", "RowsAtWorkers"]

# Tasks for each thread of the cluster: more of them balance the end of a stage, and lose less with
# a worker; fewer save messages.
TASKS_PER_THREAD = 6


@dataclass(frozen=True, eq=False)
class GrownParts:
    """Trees in parts, in the order of their numbers.

    Attributes
    ----------
    forests : list of Future
        The parts.
    starts : list of int
        Number of trees before each part.
    """

    forests: list[Any]
    starts: list[int]

    def covering(self, first: int, last: int) -> tuple[list[Any], int]:
        """Parts with the trees from `first` up to `last`, and the position of `first` in them."""
        ends = [*self.starts[1:], self.starts[-1] + np.iinfo(np.int32).max]
        chosen = [i for i, end in enumerate(ends) if end > first and self.starts[i] < last]
        return [self.forests[i] for i in chosen], first - self.starts[chosen[0]]


class RowsAtWorkers(Rows[Any]):
    """Training rows of which each worker that grows trees has a copy, encoded.

    Grown trees are `GrownParts` of futures; joined trees are one future.

    Parameters
    ----------
    fit : Fit
        Tasks of the fit.
    request : bytes
        What is asked for, pickled.
    feature_names : tuple of str or None
        Names of the columns, if the table has names.
    rows : PartedRows
        Training rows.
    stacklevel : int
        Level of the warnings of tasks, as in `warnings.warn`, from the caller.
    """

    plan: FamilyPlan | None

    def __init__(
        self,
        fit: Fit,
        request: bytes,
        feature_names: tuple[str, ...] | None,
        rows: PartedRows,
        stacklevel: int,
    ) -> None:
        self._fit, self._stacklevel = fit, stacklevel
        training = (rows.X, rows.y, rows.sample_weight)
        self._table = fit.submit("encode-table", prepare_rows, request, feature_names, *training)
        summary: Summary = fit.result(fit.submit("summarise-table", summarise, self._table))
        fit.release_parts()
        warn_again(summary.warned, stacklevel + 1)
        self.n_rows, self.plan = summary.n_rows, summary.plan
        self._needs_out_of_bag = summary.needs_out_of_bag

    def grow(
        self, numbers: Ints64, of_tree: Ints32, min_samples_split: int | None, progress: Progress
    ) -> GrownParts:
        """Grow trees in tasks of a few each."""
        fit, workers = self._fit, _workers(self._fit)
        pieces = _pieces(len(numbers), sum(worker.n_threads for worker in workers))
        forests = [
            fit.submit(
                *("grow-trees", grow_trees, self._table, numbers[piece], of_tree[piece]),
                min_samples_split,
                on=place,
            )
            for piece, place in zip(pieces, _places(workers, len(pieces)), strict=True)
        ]
        sizes = [piece.stop - piece.start for piece in pieces]
        with progress:
            fit.wait(dict(zip(forests, sizes, strict=True)), progress)
        return GrownParts(forests, [piece.start for piece in pieces])

    def share(self, micro: GrownParts | None) -> TreeShares:
        """Share out the trees by out-of-bag predictions, those of each family in one task."""
        plan, table = self.plan, self._table
        assert plan is not None
        if micro is None:
            return share_equally(plan)
        n_trees, evaluated = plan.micro_trees(self.n_rows), []
        for family in range(len(plan.names)):
            first = family * n_trees
            arguments = (table, family, *micro.covering(first, first + n_trees))
            evaluated.append(self._fit.submit("evaluate-family", evaluate_family, *arguments))
        shares: TreeShares = self._fit.result(
            self._fit.submit("share-trees", share_trees, table, evaluated)
        )
        return shares

    def join(self, first: GrownParts | None, grown: GrownParts, numbers: Ints64) -> Any:
        """All trees in one forest, at a worker."""
        arguments = ([] if first is None else first.forests, grown.forests, numbers)
        return self._fit.submit("join-trees", join_trees, *arguments)

    def complete(self, trees: Any, shares: TreeShares) -> FitResult:
        """The fitted forest, with out-of-bag predictions of equally many rows for each thread."""
        estimates = self._predict_out_of_bag(trees) if self._needs_out_of_bag else []
        arguments = (self._table, trees, shares, estimates)
        future = self._fit.submit("finish-forest", complete_forest, *arguments)
        result, warned = self._fit.result(future)
        warn_again(warned, self._stacklevel + 2)
        return result  # type: ignore[no-any-return]

    def _predict_out_of_bag(self, trees: Any) -> list[Any]:
        workers = _workers(self._fit)
        n_tasks = max(1, min(self.n_rows, sum(worker.n_threads for worker in workers)))
        bounds = [self.n_rows * i // n_tasks for i in range(n_tasks + 1)]
        places = zip(itertools.pairwise(bounds), _places(workers, n_tasks), strict=True)
        arguments = ("predict-out-of-bag", predict_rows_out_of_bag, self._table, trees)
        return [self._fit.submit(*arguments, rows, on=place) for rows, place in places]


def _workers(fit: Fit) -> list[Worker]:
    """The workers that tasks may run on."""
    workers = workers_of(fit.client)
    if fit.workers is None:
        return workers
    return [worker for worker in workers if worker.address in fit.workers]


def _pieces(n_trees: int, n_threads: int) -> list[slice]:
    """Trees of each task, in nearly equal numbers."""
    n_pieces = min(n_trees, TASKS_PER_THREAD * max(n_threads, 1))
    bounds = [round(i * n_trees / n_pieces) for i in range(n_pieces + 1)]
    return [slice(*pair) for pair in itertools.pairwise(bounds)]


def _places(workers: Sequence[Worker], n_tasks: int) -> list[str | None]:
    """A worker for each task, in proportion to their threads."""
    slots = [worker.address for worker in workers for _ in range(worker.n_threads)]
    if not slots:
        return [None] * n_tasks
    return [slots[i % len(slots)] for i in range(n_tasks)]
