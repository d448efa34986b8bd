"""Growth over blocks of rows: the table is never in one place.

A *block* is some neighbouring rows of the table, encoded in float32, with targets and weights
(`Block`). It may be in memory, in a file, or at a worker of a cluster. The coordinator
(`grow_over_blocks`) has no rows. It talks to the blocks through `Blocks`, which has two methods
with arrays in and arrays out:

- `histograms(request, n_numbers)`: sums over the rows of all blocks, in whole numbers, for the
  nodes and candidates that the request names. The request is bytes. A block answers by
  `add_histograms`; answers of blocks are added in any order.
- `subtrees(request, nodes, task)`: the subtrees of nodes that have become small. A block finds its
  rows of these nodes by `rows_of_nodes`; rows of a node from all blocks, in the order of the
  blocks, are joined by `join_rows`, and `grow_subtree` grows its subtree, anywhere.

These four functions are pure: they depend on their arguments alone, and any block may be asked
again. Nothing is remembered at a block between two requests: a request holds the trees as far as
they are grown. A worker that is lost costs time only.

What must be known of the table before is in `BlockedTable`: the encoding, totals, and a sample of
rows chosen by their number. The forest depends on the rows and their order, the options and the
seed; never on the number of blocks, their sizes, threads, workers or memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Float32s, Floats, Ints32, Ints64
from bevel.data.encoding import Encoding
from bevel.errors import shorten, wrong_value
from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor
from bevel.forest.task import Task
from bevel.forest.training_rows import OutOfBag
from bevel.projections.families import ProjectionDraws, TableShape, read_projection
from bevel.training.automatic import TreeShares
from bevel.training.forest_fit import FitRequest, FitResult, Rows, assemble, score_out_of_bag
from bevel.training.options import TrainingOptions, resolve_options
from bevel.training.progress import Progress
from bevel.training.threads import run_jobs
from bevel.training.trainer import TrainingTarget, native_options

__all__ = [
    "Block",
    "BlockedTable",
    "Blocks",
    "Columns",
    "GrownOverBlocks",
    "LocalBlocks",
    "NodeRows",
    "RowsInBlocks",
    "SmallNode",
    "Subtree",
    "SubtreeTask",
    "TableBlocks",
    "WorkSpace",
    "add_histograms",
    "check_blocks_support",
    "grow_over_blocks",
    "grow_subtree",
    "join_rows",
    "members_over_blocks",
    "predict_blocks_out_of_bag",
    "rows_of_nodes",
    "rows_to_gather",
    "sample_size",
]

# A block of rows and its pure functions, arrays in and arrays out.


class Columns(NamedTuple):
    """Properties of the columns that all blocks share.

    Attributes
    ----------
    levels : ndarray of int32, shape (p,)
        Number of levels of each column, 0 for numeric ones.
    medians : ndarray of float32, shape (p,)
        Values that replace missing ones where features are combined.
    has_nan : ndarray of uint8, shape (p,)
        1 for numeric columns with missing values, in any block.
    """

    levels: npt.NDArray[np.int32]
    medians: Float32s
    has_nan: npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Block:
    """Neighbouring rows of a table.

    Attributes
    ----------
    X : ndarray of float32, shape (n, p), Fortran order
        Encoded rows.
    target : ndarray of shape (n,)
        int32 classes, or float64 targets of a regression.
    weights : ndarray of float64, shape (n,), or None
        Weights of the rows; None when all are one.
    first_row : int
        Number of the first row in the table.
    """

    X: Float32s
    target: npt.NDArray[Any]
    weights: Floats | None
    first_row: int


class SmallNode(NamedTuple):
    """A node whose rows are gathered."""

    tree: int  # index in the grower
    node: int
    tree_number: int
    key: int  # identifies the node for random streams
    depth: int
    n_rows: int  # upper bound
    tree_weight: float  # of all rows of its tree; 0: the node is the root


class SubtreeTask(NamedTuple):
    """Arguments of the growth of a subtree besides its rows."""

    columns: Columns
    n_classes: int  # 0: regression
    options: _core.Options
    gain_unit: float
    settings: TrainingOptions  # source of the options, which can be pickled


class NodeRows(NamedTuple):
    """Rows of one node.

    Attributes
    ----------
    X : ndarray of float32, shape (p, n), C order
        Columns of the rows.
    target, weights
        Targets and weights as in a block.
    draws : ndarray of int32
        How often each row is in the bag of the tree.
    """

    X: Float32s
    target: npt.NDArray[Any]
    weights: Floats | None
    draws: npt.NDArray[np.int32]


def add_histograms(
    block: Block, columns: Columns, request: bytes, cells: npt.NDArray[np.int64], n_threads: int
) -> None:
    """Add the histograms of a block, for the nodes and candidates of a request, to `cells`."""
    _core.add_block_histograms(*_native(block, columns), request, cells, n_threads)


def rows_of_nodes(
    block: Block, columns: Columns, request: bytes, n_nodes: int, n_threads: int
) -> list[NodeRows]:
    """Rows of a block that are in the nodes of a request, for each of them."""
    native = _native(block, columns)
    offset, row, draws = _core.find_block_rows(*native, request, n_nodes, n_threads)
    by_columns = block.X.T
    parts = []
    for node in range(n_nodes):
        chosen = slice(int(offset[node]), int(offset[node + 1]))
        rows = row[chosen]
        weights = None if block.weights is None else block.weights[rows]
        X = np.take(by_columns, rows, axis=1)
        parts.append(NodeRows(X, block.target[rows], weights, draws[chosen].copy()))
    return parts


def join_rows(parts: Sequence[NodeRows]) -> NodeRows:
    """Rows of one node, from the parts of all blocks in the order of the blocks."""
    weights = [part.weights for part in parts if part.weights is not None]
    return NodeRows(
        np.concatenate([part.X for part in parts], axis=1),
        np.concatenate([part.target for part in parts]),
        np.concatenate(weights) if weights else None,
        np.concatenate([part.draws for part in parts]),
    )


def grow_subtree(
    rows: NodeRows, node: SmallNode, task: SubtreeTask, n_threads: int = 1
) -> dict[str, npt.NDArray[Any]] | None:
    """Arrays of the subtree below a node; None for a root whose bag is empty."""
    if len(rows.target) == 0:
        return None
    levels, medians, has_nan = task.columns
    return _core.grow_block_subtree(
        rows.X.T,
        levels,
        medians,
        has_nan,
        rows.target,
        task.n_classes,
        rows.weights,
        rows.draws,
        task.options,
        node.tree_number,
        node.key,
        node.depth,
        node.tree_weight,
        task.gain_unit,
        n_threads,
    )


def _native(block: Block, columns: Columns) -> tuple[Any, Any, Any, Any, Any, int]:
    levels, medians, _ = columns
    return block.X, levels, medians, block.target, block.weights, block.first_row


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


# A table whose rows are in blocks, as the coordinator knows it.

# Limits of nodes, in rows and bytes, that are gathered and grown by the ordinary builder.
MAX_GATHERED, GATHERED_BYTES = 2**17, 2**25
MIN_GATHERED = 4096
# A sample of this many rows has this many in a node of 1/1024 of the table: enough for edges.
SAMPLE_ROWS, SAMPLE_BYTES = 2**16, 2**27
MIN_SAMPLE = 4096


@dataclass(frozen=True, eq=False)
class BlockedTable:
    """A table in blocks, without its rows.

    Attributes
    ----------
    n_rows : int
        Rows of all blocks.
    encoding : Encoding
        How rows were read, and how new ones must be read.
    has_nan : ndarray of uint8, shape (p,)
        1 for numeric columns with missing values.
    sample : ndarray of float32, shape (n_sample, p), Fortran order
        Encoded rows, chosen by a hash of their number. Edges of bins are quantiles of them.
    n_classes : int
        Number of classes, 0 in regression.
    whole_weights : bool
        Whether all weights are whole numbers up to 255.
    largest_weight : float
        An upper bound of the weights.
    low, high : float
        Range of the targets of a regression.
    """

    n_rows: int
    encoding: Encoding
    has_nan: npt.NDArray[np.uint8]
    sample: Float32s
    n_classes: int
    whole_weights: bool = True
    largest_weight: float = 1.0
    low: float = 0.0
    high: float = 0.0

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.encoding.levels)

    @property
    def columns(self) -> Columns:
        """Properties of the columns that blocks need."""
        return Columns(self.encoding.levels, self.encoding.medians, self.has_nan)


def rows_to_gather(n_rows: int, n_features: int) -> int:
    """Rows of the largest node that is gathered; depends on the table alone, as the forest does."""
    by_bytes = GATHERED_BYTES // (4 * n_features)
    return max(min(MAX_GATHERED, max(MIN_GATHERED, by_bytes)), n_rows // 1024)


def sample_size(n_features: int) -> int:
    """Rows of the sample, if the table has as many."""
    return min(SAMPLE_ROWS, max(MIN_SAMPLE, SAMPLE_BYTES // (8 * n_features)))


# Grows a forest over blocks: requests sums, chooses cuts, and has small nodes grown.


class Subtree(NamedTuple):
    """A node and the arrays of the subtree below it; None for a root without rows."""

    node: SmallNode
    arrays: dict[str, npt.NDArray[Any]] | None


class Blocks(Protocol):
    """All blocks of a table, wherever they are stored."""

    def histograms(self, request: bytes, n_numbers: int) -> npt.NDArray[np.int64]:
        """Sums over the rows of all blocks: the answer to a request, `n_numbers` long."""
        ...

    def subtrees(
        self, request: bytes, nodes: Sequence[SmallNode], task: SubtreeTask
    ) -> Iterator[Subtree]:
        """Subtrees of the nodes of a request, in any order."""
        ...


class GrownOverBlocks(NamedTuple):
    """Trees, and which of them have every row once instead of a bag, which would be empty."""

    forest: FlatForest
    takes_all: npt.NDArray[np.uint8]


class WorkSpace(NamedTuple):
    """Limits on the size of requests; they do not change the forest."""

    numbers: int  # length of an answer
    rows: int  # rows that are gathered


def grow_over_blocks(
    blocks: Blocks,
    table: BlockedTable,
    options: TrainingOptions,
    trees: Sequence[int] | Ints64,
    space: WorkSpace,
    n_threads: int,
    progress: Progress,
) -> GrownOverBlocks:
    """Grow trees on a table in blocks.

    Parameters
    ----------
    blocks : Blocks
        The rows.
    table : BlockedTable
        Encoding, totals and sample of the rows.
    options : TrainingOptions
        How to grow. Families draw directions without looking at rows.
    trees : sequence of int
        Numbers of the trees.
    space : WorkSpace
        Limits on the size of requests.
    n_threads : int
        Threads of the coordinator, which draws candidates and finds edges of bins.
    progress : Progress
        Called with the number of trees that are done.
    """
    grower = _core.BlockGrower(
        native_options(options),
        np.asarray(trees, dtype=np.uint64),
        table.n_rows,
        table.n_classes,
        table.whole_weights,
        table.largest_weight,
        table.low,
        table.high,
        table.sample,
        table.encoding.levels,
        table.encoding.medians,
        rows_to_gather(table.n_rows, table.n_features),
    )
    rest = (native_options(options), grower.gain_unit, options)
    task = SubtreeTask(table.columns, table.n_classes, *rest)
    with progress:
        while grower.n_trees_done < len(trees):  # some trees at a time
            _grow_upper_levels(blocks, grower, space, n_threads)
            _grow_subtrees(blocks, grower, task, space, progress)
        takes_all = np.array([grower.takes_all(tree) for tree in range(len(trees))], dtype=np.uint8)
        arrays = grower.finish()
    forest = FlatForest(
        n_features=table.n_features,
        n_classes=table.n_classes,
        levels=table.encoding.levels,
        medians=table.encoding.medians,
        **arrays,
    )
    return GrownOverBlocks(forest, takes_all)


def _grow_upper_levels(
    blocks: Blocks, grower: _core.BlockGrower, space: WorkSpace, n_threads: int
) -> None:
    while True:
        request, n_numbers = grower.histogram_request(space.numbers, n_threads)
        if not request:
            return
        grower.take_histograms(blocks.histograms(request, n_numbers))


def _grow_subtrees(
    blocks: Blocks,
    grower: _core.BlockGrower,
    task: SubtreeTask,
    space: WorkSpace,
    progress: Progress,
) -> None:
    while True:
        request, described = grower.rows_request(space.rows)
        if not request:
            return
        nodes = [SmallNode(*values) for values in described]
        for node, arrays in blocks.subtrees(request, nodes, task):
            if arrays is None:
                grower.take_all_rows(node.tree)
            else:
                grower.put_subtree(node.tree, node.node, arrays)
            if progress.wanted:
                progress(grower.n_trees_done)


class LocalBlocks:
    """Blocks that this process loads when it needs them.

    Parameters
    ----------
    loaders : sequence of callable
        Callables that return a block each, in the order of the rows.
    columns : Columns
        Properties of the columns that the blocks share.
    n_threads : int
        Threads to use.
    read_ahead : bool
        Whether the next block is loaded while one is processed.
    """

    def __init__(
        self,
        loaders: Sequence[Callable[[], Block]],
        columns: Columns,
        n_threads: int,
        read_ahead: bool,
    ) -> None:
        self._loaders = loaders
        self._columns = columns
        self._n_threads = n_threads
        self._read_ahead = read_ahead

    def histograms(self, request: bytes, n_numbers: int) -> npt.NDArray[np.int64]:
        """Sums over the rows of all blocks."""
        cells = np.zeros(n_numbers, dtype=np.int64)
        for block in self.blocks():
            add_histograms(block, self._columns, request, cells, self._n_threads)
        return cells

    def subtrees(
        self, request: bytes, nodes: Sequence[SmallNode], task: SubtreeTask
    ) -> Iterator[Subtree]:
        """Subtrees of the nodes of a request, those of many rows first."""
        parts: list[list[NodeRows]] = [[] for _ in nodes]
        for block in self.blocks():
            found = rows_of_nodes(block, self._columns, request, len(nodes), self._n_threads)
            for node, rows in enumerate(found):
                parts[node].append(rows)
        order = sorted(range(len(nodes)), key=lambda node: -nodes[node].n_rows)

        def grow(node: int) -> Subtree:
            rows = join_rows(parts[node])
            parts[node] = []
            # A single node gets all threads; several get one each.
            n_threads = self._n_threads if len(nodes) == 1 else 1
            return Subtree(nodes[node], grow_subtree(rows, nodes[node], task, n_threads))

        yield from run_jobs(grow, order, self._n_threads, Progress(0, len(order), False, None))

    def blocks(self) -> Iterator[Block]:
        """All blocks, in the order of the rows."""
        if not self._read_ahead:
            yield from (load() for load in self._loaders)
            return
        with ThreadPoolExecutor(1) as reader:
            waiting = reader.submit(self._loaders[0])
            for load in self._loaders[1:]:
                block = waiting.result()
                waiting = reader.submit(load)
                yield block
            yield waiting.result()


# The fit of a forest to rows in blocks.

# Projection that "auto" stands for, whose directions do not depend on rows.
AUTOMATIC = "sparse"
CRITERIA = ("auto", "gini", "entropy", "log_loss", "squared_error")


def members_over_blocks() -> list[ProjectionDraws]:
    """The projections that `projection="auto"` stands for over blocks."""
    return read_projection(AUTOMATIC, "auto")


def check_blocks_support(values: Mapping[str, Any], members: Sequence[ProjectionDraws]) -> None:
    """Raise for a parameter of a forest, or a projection, that is not supported over blocks."""
    where = "with a scanned table"
    for name, allowed, remedy in (
        ("threshold", ("best",), "Leave it out, or fit rows that are in memory."),
        ("split_pure_nodes", (False,), "Leave it out, or fit rows that are in memory."),
        ("split_search", ("auto", "histogram"), "Leave it out: large nodes are cut at bins."),
        ("max_leaf_nodes", (None,), "Limit max_depth or min_samples_leaf."),
        ("max_redraws", ("auto", 0), "Leave it out, or fit rows that are in memory."),
        ("warm_start", (False,), "Grow all trees in one fit."),
        ("keep_targets", (False,), "Fit rows that are in memory."),
        ("honest", (False,), "Fit rows that are in memory."),
        ("calibration", ("auto", None), "Leave it out."),
        ("criterion", CRITERIA, "Fit rows that are in memory."),
        ("monotonic_cst", (None,), "Fit rows that are in memory."),
        ("interaction_cst", (None,), "Fit rows that are in memory."),
    ):
        got = values.get(name, allowed[0])
        if not any(got is each or got == each for each in allowed):
            required = " or ".join(repr(each) for each in allowed) + f" {where}"
            raise wrong_value(name, required, got, remedy)
    weights = values.get("class_weight")
    if isinstance(weights, str) and weights == "balanced_subsample":
        remedy = 'Use class_weight="balanced".'
        raise wrong_value("class_weight", f'None, "balanced" or a mapping {where}', weights, remedy)
    _check_members(members)


def _check_members(members: Sequence[ProjectionDraws]) -> None:
    for projection in (member.projection for member in members):
        if not projection.draws_without_rows:
            raise ValueError(
                "projection must draw its directions without looking at rows with a scanned "
                f"table, whose rows are in blocks; got {shorten(projection)}. Use "
                '"sparse", "axis", "combination", "rotation", P.MultiRotation(), P.Patches or '
                "P.Custom with a matrix; or fit rows that are in memory."
            )


class TableBlocks(Blocks, Protocol):
    """The blocks of a table, with access to single blocks."""

    def blocks(self) -> Iterator[Block]:
        """All blocks, in the order of the rows."""
        ...


class RowsInBlocks(Rows[GrownOverBlocks]):
    """Training rows in blocks, in this process or at the workers of a cluster.

    Parameters
    ----------
    request : FitRequest
        What is asked for.
    blocks : TableBlocks
        The rows.
    table : BlockedTable
        Encoding, totals and sample of the rows.
    feature_names : tuple of str or None
        Names of the columns, if the table has names.
    task : Task
        What is learned.
    space : WorkSpace
        Limits on the size of requests.
    n_threads : int
        Threads to use; does not change the forest.
    """

    def __init__(
        self,
        request: FitRequest,
        blocks: TableBlocks,
        table: BlockedTable,
        feature_names: tuple[str, ...] | None,
        task: Task,
        space: WorkSpace,
        n_threads: int,
    ) -> None:
        self._request, self._blocks, self._table = request, blocks, table
        self._feature_names, self._task = feature_names, task
        self._space, self._n_threads = space, n_threads
        self.n_rows = table.n_rows
        n_nominal = int(np.count_nonzero(table.encoding.levels))
        shape = TableShape(table.n_rows, table.n_features - n_nominal, n_nominal)
        self._options = resolve_options(request.values, request.members, shape, request.seed)

    def grow(
        self,
        numbers: Ints64,
        of_tree: Ints32,  # noqa: ARG002
        min_samples_split: int | None,  # noqa: ARG002
        progress: Progress,
    ) -> GrownOverBlocks:
        """Grow trees of the projection."""
        rows = (self._blocks, self._table, self._options)
        return grow_over_blocks(*rows, numbers, self._space, self._n_threads, progress)

    def share(self, micro: GrownOverBlocks | None) -> TreeShares:
        """Not called: all trees are of one projection."""
        raise NotImplementedError

    def join(
        self,
        first: GrownOverBlocks | None,  # noqa: ARG002
        grown: GrownOverBlocks,
        numbers: Ints64,  # noqa: ARG002
    ) -> GrownOverBlocks:
        """The grown trees, which are all."""
        return grown

    def complete(self, trees: GrownOverBlocks, shares: TreeShares) -> FitResult:
        """The fitted forest, with out-of-bag predictions if they are asked for."""
        request, table, task = self._request, self._table, self._task
        encoded = (table.encoding, self._feature_names)
        fitted = assemble(request, trees.forest, *encoded, task, None, shares)
        if not request.values["oob_score"]:
            return FitResult(fitted)
        estimates, values = predict_blocks_out_of_bag(
            fitted.packed_predictor,
            self._blocks.blocks(),
            native_options(self._options),
            table.n_rows,
            trees.takes_all,
            request.hard,
            self._n_threads,
        )
        target = TrainingTarget(values, table.n_classes, None, task)
        return score_out_of_bag(request, fitted, estimates, target)
