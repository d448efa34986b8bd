"""Tasks of workers in a fit: pure functions, so that tasks lost with a worker are repeated.

Results depend on the arguments only, not on the worker. Arrays in results are sent beside the
pickled rest, without being copied into it.
"""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Float32s, Ints32, Ints64
from bevel.dask.packages import distributed
from bevel.dask.parts import join_parts
from bevel.data.tables import fill_masked, read_table
from bevel.forest.flat_forest import FlatForest, join_all, take_trees
from bevel.forest.training_rows import OutOfBag, predict_out_of_bag
from bevel.scanning.encoding import RowEncoder
from bevel.scanning.sources import Batch
from bevel.scanning.survey import Survey
from bevel.training.automatic import (
    FamilyPlan,
    OutOfBagPredictions,
    StoredPredictions,
    TreeShares,
    TreeSpread,
    predict_family,
    replace_trees,
    share_by_evidence,
    spreads_of_family,
)
from bevel.training.blocks import (
    Block,
    Columns,
    NodeRows,
    SmallNode,
    Subtree,
    SubtreeTask,
    add_histograms,
    grow_subtree,
    join_rows,
    rows_of_nodes,
)
from bevel.training.forest_fit import (
    FitRequest,
    FitResult,
    PreparedFit,
    RowsInMemory,
    needs_out_of_bag,
    prepare,
    use_out_of_bag,
)
from bevel.training.options import TrainingOptions
from bevel.training.progress import Progress
from bevel.training.trainer import native_options

__all__ = [
    "Pieces",
    "Preparation",
    "SentTask",
    "Summary",
    "Warned",
    "add_up",
    "cancellable",
    "complete_forest",
    "encode_part",
    "evaluate_family",
    "gather_rows",
    "grow_subtrees",
    "grow_trees",
    "histograms_of",
    "join_trees",
    "measure_part",
    "predict_rows_out_of_bag",
    "prepare_rows",
    "sample_of",
    "share_trees",
    "slice_rows",
    "summarise",
    "survey_part",
    "worker_threads",
]

SECONDS_BETWEEN_LOOKS = 0.2

Result = TypeVar("Result")


class Warned(NamedTuple):
    """A warning of a task, to be repeated where the user sees it."""

    category: type[Warning]
    text: str


@dataclass(frozen=True, eq=False)
class Preparation:
    """The encoded training rows at a worker, and the decisions made once for a fit.

    Attributes
    ----------
    prepared : PreparedFit
        Encoded rows and resolved options.
    plan : FamilyPlan or None
        Plan of the families, with `projection="auto"`.
    warned : list of Warned
        Warnings during the preparation.
    """

    prepared: PreparedFit
    plan: FamilyPlan | None
    warned: list[Warned]

    def __sizeof__(self) -> int:  # cost for Dask to store and to move it
        target = self.prepared.target
        weights = 0 if target.weights is None else target.weights.nbytes
        return int(self.prepared.dataset.X.nbytes + target.values.nbytes + weights)

    def rows(self, n_threads: int) -> RowsInMemory:
        """The rows, for steps of a fit at the worker."""
        return RowsInMemory(self.prepared, self.plan, n_threads)


@dataclass(frozen=True)
class Summary:
    """The parts of a preparation that the client needs."""

    n_rows: int
    plan: FamilyPlan | None
    warned: list[Warned]
    needs_out_of_bag: bool


def measure_part(part: Any) -> tuple[int, int, int]:
    """Rows, columns and bytes of a part."""
    n_columns = part.shape[1] if part.ndim == 2 else 1
    if hasattr(part, "memory_usage"):
        usage = part.memory_usage(index=False, deep=True)
        return len(part), n_columns, int(np.sum(usage))
    n_bytes = part.nbytes if hasattr(part, "nbytes") else 8 * part.shape[0] * n_columns
    return int(part.shape[0]), n_columns, int(n_bytes)


def prepare_rows(
    request: bytes,
    feature_names: tuple[str, ...] | None,
    X: Sequence[Any],
    y: Sequence[Any],
    sample_weight: Sequence[Any] | None,
) -> Preparation:
    """Read and encode the training rows, and make all decisions of a fit.

    The request is pickled: a task that cannot read it fails, whereas a worker that cannot read an
    argument would stop.
    """
    asked: FitRequest = pickle.loads(request)
    weights = None if sample_weight is None else join_parts(sample_weight)
    with _RecordedWarnings() as warned:
        table = read_table(join_parts(X))
        training = (table, feature_names, join_parts(y), weights)
        prepared = prepare(asked, *training, worker_threads())
    return Preparation(prepared, prepared.plan(), warned)


def summarise(preparation: Preparation) -> Summary:
    """The small part of a preparation."""
    prepared, plan = preparation.prepared, preparation.plan
    needs = needs_out_of_bag(prepared, plan is not None)
    return Summary(len(prepared.dataset.X), plan, preparation.warned, needs)


def grow_trees(
    preparation: Preparation, numbers: Ints64, of_tree: Ints32, min_samples_split: int | None
) -> FlatForest:
    """Grow trees of the given numbers and families; None keeps the node size of the options."""
    quiet = Progress(0, len(numbers), bar=False, callback=None)
    rows = preparation.rows(1)
    return cancellable(lambda: rows.grow(numbers, of_tree, min_samples_split, quiet))


EvaluatedFamily = tuple[OutOfBagPredictions, list[TreeSpread]]


def evaluate_family(
    preparation: Preparation, family: int, parts: Sequence[FlatForest], n_before: int
) -> EvaluatedFamily:
    """Out-of-bag predictions by the micro-forest of a family, and the spread of its trees.

    Parameters
    ----------
    preparation : Preparation
        Training rows.
    family : int
        Number of the family.
    parts : sequence of FlatForest
        Trees that include all of the micro-forest, in the order of their numbers.
    n_before : int
        Number of trees among them that come before it.
    """
    plan, rows = preparation.plan, preparation.rows(worker_threads())
    assert plan is not None
    n_trees = plan.micro_trees(rows.n_rows)
    own = take_trees(join_all(parts), range(n_before, n_before + n_trees))
    forests, target = rows.micro_forests(own, family), preparation.prepared.target
    about = (forests, family, plan, target)
    return cancellable(lambda: (predict_family(*about), spreads_of_family(*about)))


def share_trees(preparation: Preparation, families: Sequence[EvaluatedFamily]) -> TreeShares:
    """Divide the trees among the families."""
    assert preparation.plan is not None
    evaluated = StoredPredictions([predictions for predictions, _ in families])
    target = preparation.prepared.target

    def spread(family: int, size: int) -> TreeSpread:
        return families[family][1][size]

    return share_by_evidence(preparation.plan, evaluated, target, spread)


def join_trees(
    first: Sequence[FlatForest], grown: Sequence[FlatForest], numbers: Ints64
) -> FlatForest:
    """Join all trees.

    Parameters
    ----------
    first : sequence of FlatForest
        Trees of micro-forests; empty if there are none.
    grown : sequence of FlatForest
        The trees of `numbers`, in their order.
    numbers : ndarray of int64
        Numbers of the grown trees.
    """
    forest = join_all(grown)
    return replace_trees(join_all(first), forest, numbers) if first else forest


def predict_rows_out_of_bag(
    preparation: Preparation, forest: FlatForest, rows: tuple[int, int]
) -> OutOfBag:
    """Out-of-bag predictions of some rows by all trees, in one thread."""
    prepared = preparation.prepared
    nothing = TreeShares(np.zeros(0, np.int32), np.arange(0))
    fitted = preparation.rows(1).assemble(forest, nothing)
    arguments = (fitted, prepared.dataset.X, 1, prepared.target.weights, rows)
    return cancellable(lambda: predict_out_of_bag(*arguments))


def complete_forest(
    preparation: Preparation,
    forest: FlatForest,
    shares: TreeShares,
    estimates: Sequence[OutOfBag],
) -> tuple[FitResult, list[Warned]]:
    """Complete the fit with what depends on all trees; also warnings.

    Parameters
    ----------
    preparation : Preparation
        Training rows.
    forest : FlatForest
        All trees.
    shares : TreeShares
        Shares of families.
    estimates : sequence of OutOfBag
        Out-of-bag predictions of all rows, in their order; empty if not needed.
    """
    rows = preparation.rows(worker_threads())
    with _RecordedWarnings() as warned:
        fitted = cancellable(lambda: rows.with_targets(forest, shares))
        result = FitResult(fitted)
        if estimates:
            predictions = np.concatenate([each.predictions for each in estimates])
            known = np.concatenate([each.known for each in estimates])
            joined = OutOfBag(predictions, known)
            result = use_out_of_bag(preparation.prepared, fitted, joined)
    return result, warned


class _RecordedWarnings:
    """Context manager that collects warnings, which would be lost on a worker."""

    def __enter__(self) -> list[Warned]:
        self._catcher = warnings.catch_warnings(record=True)
        self._caught = self._catcher.__enter__()
        warnings.simplefilter("always")
        self._warned: list[Warned] = []
        return self._warned

    def __exit__(self, *error: object) -> None:
        assert self._caught is not None
        self._warned += [Warned(each.category, str(each.message)) for each in self._caught]
        self._catcher.__exit__(*error)  # type: ignore[arg-type]


def worker_threads() -> int:
    """Threads of the worker that this is called in."""
    try:
        return int(distributed().get_worker().state.nthreads)
    except ValueError:  # not called in a worker
        return 1


def cancellable(work: Callable[[], Result]) -> Result:
    """Run native work that ends when the task is cancelled, which Dask alone cannot do."""
    try:
        worker = distributed().get_worker()
    except ValueError:
        return work()
    key = worker.get_current_task()
    token, done = _core.CancellationToken(), threading.Event()

    def watch() -> None:
        while not done.wait(SECONDS_BETWEEN_LOOKS):
            task = worker.state.tasks.get(key)
            if task is None or task.state in ("cancelled", "released", "forgotten"):
                token.cancel()
                return

    watcher = threading.Thread(target=watch, name="bevel-cancellation", daemon=True)
    watcher.start()
    try:
        return token.run(work)  # type: ignore[no-any-return]
    except KeyboardInterrupt:
        raise CancelledError("The task was cancelled.") from None
    finally:
        done.set()


# Tasks of workers in a fit over blocks: each worker has the blocks of its own partitions.
#
# The survey of the table goes from part to part; all other tasks treat each part by itself.

# Rows of blocks for each node of a bundle, with the numbers of the blocks.
Pieces = Mapping[int, Sequence[tuple[int, NodeRows]]]


class SentTask(NamedTuple):
    """A `SubtreeTask` that can be sent to a worker."""

    columns: Columns
    n_classes: int
    options: TrainingOptions
    gain_unit: float

    def native(self) -> SubtreeTask:
        """The task in the form that blocks use."""
        native = native_options(self.options)
        return SubtreeTask(self.columns, self.n_classes, native, self.gain_unit, self.options)


def slice_rows(parts: Sequence[Any], start: int, stop: int) -> Any:
    """Rows of neighbouring parts of a column, counted from the first row of the first part."""
    column = join_parts(parts)
    return column.iloc[start:stop] if hasattr(column, "iloc") else column[start:stop]


def survey_part(survey: Survey, X: Any, y: Any, sample_weight: Any) -> Survey:
    """Survey of all rows up to and including this part."""
    if X.shape[0] == 0:
        return survey
    survey = copy.deepcopy(survey)  # tasks must not change their arguments
    survey.add(Batch(X, _array(y), _array(sample_weight)))
    return survey


def encode_part(
    encoder: RowEncoder, X: Any, y: Any, sample_weight: Any, first_row: int
) -> Block | None:
    """Encode a part as a block; None if it has no rows."""
    if X.shape[0] == 0:
        return None
    batch = Batch(X, _array(y), _array(sample_weight))
    return encoder.encode(batch, first_row, worker_threads())


def _array(values: Any) -> Any:
    return None if values is None else np.asarray(fill_masked(values))


def sample_of(block: Block | None, rows: npt.NDArray[np.int64]) -> Float32s | None:
    """Rows of a block that are in the sample; None if the block has no rows."""
    if block is None:
        return None
    start, stop = np.searchsorted(rows, [block.first_row, block.first_row + len(block.target)])
    return np.asarray(block.X[rows[start:stop] - block.first_row])


def histograms_of(
    blocks: Sequence[Block], columns: Columns, request: npt.NDArray[np.uint8], n_numbers: int
) -> npt.NDArray[np.int64]:
    """Histograms of some blocks for a request."""
    cells = np.zeros(n_numbers, dtype=np.int64)
    content, n_threads = request.tobytes(), worker_threads()

    def add() -> None:
        for block in blocks:
            add_histograms(block, columns, content, cells, n_threads)

    cancellable(add)
    return cells


def add_up(answers: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Sum of several histograms."""
    total = answers[0].copy()
    for answer in answers[1:]:
        total += answer
    return total


def gather_rows(
    blocks: Sequence[Block],
    numbers: Sequence[int],
    columns: Columns,
    request: npt.NDArray[np.uint8],
    bundles: Sequence[Sequence[int]],
) -> list[Pieces]:
    """Rows of some blocks in the nodes of a request, for each bundle of nodes.

    Parameters
    ----------
    blocks : sequence of Block
        Blocks to read.
    numbers : sequence of int
        Numbers of the blocks in the order of the rows.
    columns : Columns
        Properties of the columns that the blocks share.
    request : ndarray of uint8
        Request that names the nodes.
    bundles : sequence of sequences of int
        Nodes that are grown together, by their positions in the request.
    """
    n_nodes, n_threads = sum(map(len, bundles)), worker_threads()
    content = request.tobytes()
    found = cancellable(
        lambda: [rows_of_nodes(each, columns, content, n_nodes, n_threads) for each in blocks]
    )
    return [
        {
            node: [(number, rows[node]) for number, rows in zip(numbers, found, strict=True)]
            for node in bundle
        }
        for bundle in bundles
    ]


def grow_subtrees(
    pieces: Sequence[Pieces], nodes: Mapping[int, SmallNode], task: SentTask
) -> list[Subtree]:
    """Subtrees of the nodes of a bundle, from the pieces of all workers."""
    native, grown = task.native(), []
    for place, node in nodes.items():
        parts = sorted((part for piece in pieces for part in piece[place]), key=lambda p: p[0])
        rows = join_rows([rows for _, rows in parts])
        grown.append(Subtree(node, cancellable(lambda: grow_subtree(rows, node, native))))  # noqa: B023
    return grown
