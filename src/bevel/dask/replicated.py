"""Growth with the whole encoded table at each worker, which grows some of the trees.

The table is encoded once, by one worker. The others fetch it when they get their first trees. A
tree depends on the seed and its number alone, so the union of the parts is the forest of a local
fit.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Ints64
from bevel.dask.cluster import Fit, warn_again, workers_of
from bevel.dask.parts import PartedRows, Worker
from bevel.dask.tasks import (
    FitRequest,
    FitResult,
    Summary,
    evaluate_family,
    finish_forest,
    grow_trees,
    join_trees,
    predict_rows_out_of_bag,
    prepare,
    share_trees,
    summarise,
)
from bevel.training.automatic import FamilyShares, share_equally
from bevel.training.progress import Progress

__all__ = ["GrownParts", "fit_replicated"]

# Tasks for each thread of the cluster: more of them balance the end of a stage, and lose less with
# a worker; fewer save messages.
TASKS_PER_THREAD = 6

ProgressFor = Callable[[range, str], Progress]


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


def fit_replicated(
    fit: Fit, request: FitRequest, rows: PartedRows, n_trees: int, progress_for: ProgressFor
) -> FitResult:
    """Grow a forest.

    Parameters
    ----------
    fit : Fit
        Tasks of the fit.
    request : FitRequest
        Estimator and parameters to fit.
    rows : PartedRows
        Training rows.
    n_trees : int
        Trees of the forest.
    progress_for : callable
        ``progress_for(trees, label)`` makes the progress report of some trees.
    """
    table = fit.submit("encode-table", prepare, request, rows.X, rows.y, rows.sample_weight)
    summary: Summary = fit.result(fit.submit("summarise-table", summarise, table))
    fit.release_parts()
    warn_again(summary.warned, stacklevel=4)
    micro, shares = _share_trees(fit, table, summary, progress_for)
    if shares is None:
        numbers, of_tree, size = np.arange(n_trees), np.zeros(n_trees, np.int32), None
    else:
        numbers, of_tree = shares.missing, shares.record.of_tree[shares.missing]
        size = shares.record.min_samples_split
    progress = progress_for(range(n_trees - len(numbers), n_trees), "growing trees")
    grown = _grow(fit, table, numbers, of_tree, progress, min_samples_split=size)
    micro_forests = [] if micro is None else micro.forests
    forest = fit.submit("join-trees", join_trees, micro_forests, grown.forests, shares)
    estimates = _predict_out_of_bag(fit, table, forest, summary)
    arguments = (table, forest, shares, estimates)
    result: FitResult = fit.result(fit.submit("finish-forest", finish_forest, *arguments))
    warn_again(result.warned, stacklevel=4)
    return result


def _share_trees(
    fit: Fit, table: Any, summary: Summary, progress_for: ProgressFor
) -> tuple[GrownParts | None, FamilyShares | None]:
    """Grow micro-forests, and divide the trees among the families; None without families."""
    plan = summary.plan
    if plan is None:
        return None, None
    of_micro = plan.families_of_micro_trees(summary.n_rows)
    if len(of_micro) == 0:
        return None, share_equally(plan)
    progress = progress_for(range(len(of_micro)), "comparing families")
    micro = _grow(fit, table, np.arange(len(of_micro)), of_micro, progress)
    n_micro_trees = plan.micro_trees(summary.n_rows)
    evaluated = []
    for family in range(len(plan.names)):
        first = family * n_micro_trees
        parts, n_before = micro.covering(first, first + n_micro_trees)
        arguments = (table, family, parts, n_before)
        evaluated.append(fit.submit("evaluate-family", evaluate_family, *arguments))
    shares = fit.result(fit.submit("share-trees", share_trees, table, evaluated))
    return micro, shares


def _predict_out_of_bag(fit: Fit, table: Any, forest: Any, summary: Summary) -> list[Any]:
    """Out-of-bag predictions, of equally many rows for each thread; empty if not needed."""
    if not summary.needs_out_of_bag:
        return []
    workers = _workers(fit)
    n_tasks = max(1, min(summary.n_rows, sum(worker.n_threads for worker in workers)))
    bounds = [summary.n_rows * i // n_tasks for i in range(n_tasks + 1)]
    return [
        fit.submit("predict-out-of-bag", predict_rows_out_of_bag, table, forest, rows, on=place)
        for rows, place in zip(itertools.pairwise(bounds), _places(workers, n_tasks), strict=True)
    ]


def _workers(fit: Fit) -> list[Worker]:
    """The workers that tasks may run on."""
    workers = workers_of(fit.client)
    if fit.workers is None:
        return workers
    return [worker for worker in workers if worker.address in fit.workers]


def _grow(
    fit: Fit,
    table: Any,
    numbers: Ints64,
    of_tree: npt.NDArray[np.int32],
    progress: Progress,
    min_samples_split: int | None = None,
) -> GrownParts:
    """Grow trees of the given numbers and families; None keeps the node size of the options."""
    workers = _workers(fit)
    pieces = _pieces(len(numbers), sum(worker.n_threads for worker in workers))
    places = _places(workers, len(pieces))
    forests = [
        fit.submit(
            *("grow-trees", grow_trees, table, numbers[piece], of_tree[piece], min_samples_split),
            on=place,
        )
        for piece, place in zip(pieces, places, strict=True)
    ]
    sizes = [piece.stop - piece.start for piece in pieces]
    with progress:
        fit.wait(dict(zip(forests, sizes, strict=True)), progress)
    return GrownParts(forests, [piece.start for piece in pieces])


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
