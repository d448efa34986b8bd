"""Dask collections as lists of parts: chunks of rows of an array, partitions of a frame; and
whether they fit into the memory of the workers, known before trees are grown.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bevel.dask.packages import dask_array, dask_dataframe
from bevel.data.tables import fill_masked
from bevel.errors import wrong_type

__all__ = [
    "PartedRows",
    "Parts",
    "TableSize",
    "Worker",
    "choose_mode",
    "choose_workers",
    "column_parts",
    "is_array",
    "is_frame",
    "join_parts",
    "table_parts",
]

# The share of a worker's memory limit that a fit uses: Dask pauses workers that use more, and needs
# the rest itself.
USABLE_SHARE = 0.8
SHARE_OF_BLOCKS = 0.5  # the rest is for histograms, gathered rows, and Dask
BYTES_PER_ROW_AND_THREAD = 40  # row numbers, bag, classes and projected values of a growing tree


@dataclass(frozen=True)
class Worker:
    """A worker of the cluster.

    Attributes
    ----------
    address : str
        Address of the worker at the scheduler.
    n_threads : int
        Number of tasks that it runs at a time.
    memory : int or None
        Memory limit in bytes; None if there is none.
    """

    address: str
    n_threads: int
    memory: int | None


@dataclass(frozen=True)
class TableSize:
    """Size of a training table.

    Attributes
    ----------
    n_rows, n_columns : int
        Shape of the table.
    n_bytes : int
        Bytes of the table in the user's types.
    """

    n_rows: int
    n_columns: int
    n_bytes: int

    @property
    def encoded_bytes(self) -> int:
        """Bytes of the encoded table: float32, and targets and weights in float64."""
        return self.n_rows * (4 * self.n_columns + 16)

    @property
    def bytes_to_encode(self) -> int:
        """Memory of the worker that encodes the table: its parts, their join, the result."""
        return 2 * self.n_bytes + self.encoded_bytes

    def bytes_to_grow(self, n_threads: int) -> int:
        """Memory of a worker that grows one tree in each thread, with codes of one byte each."""
        per_thread = self.n_rows * (self.n_columns + BYTES_PER_ROW_AND_THREAD)
        return self.encoded_bytes + n_threads * per_thread


def choose_mode(mode: str, workers: Sequence[Worker], size: TableSize) -> str:
    """ "replicated" or "sharded"; raises MemoryError if the workers cannot hold the table that way.

    Without workers the check is skipped: some may be starting.
    """
    if mode == "replicated" or (mode == "auto" and (not workers or _any_suffices(workers, size))):
        choose_workers(workers, size)
        return "replicated"
    _check_all_together(workers, size)
    return "sharded"


def _any_suffices(workers: Sequence[Worker], size: TableSize) -> bool:
    return any(_suffices(worker, size) for worker in workers)


def _check_all_together(workers: Sequence[Worker], size: TableSize) -> None:
    """Raise if the workers together cannot hold the parts, the blocks and the histograms."""
    limits = [worker.memory for worker in workers if worker.memory is not None]
    needed = (size.encoded_bytes + size.n_bytes) / SHARE_OF_BLOCKS
    if limits and len(limits) == len(workers) and needed > sum(limits):
        raise MemoryError(
            f'mode="sharded" needs workers with memory limits of {_gigabytes(needed)} together for '
            f"{size.n_rows:,} rows of {size.n_columns:,} columns; {len(workers)} workers have "
            f"{_gigabytes(sum(limits))}. Start more or larger workers, or fit a table of "
            "bevel.scan on one machine, which keeps blocks on disk."
        )


def choose_workers(workers: Sequence[Worker], size: TableSize) -> list[Worker] | None:
    """Workers with enough memory to encode the table and to grow trees; None if all have it.

    Raises MemoryError if none has. Without workers the check is skipped: some may be starting.
    """
    if not workers:
        return None
    large = [worker for worker in workers if _suffices(worker, size)]
    if not large:
        raise MemoryError(_complaint(workers, size))
    return None if len(large) == len(workers) else large


def _suffices(worker: Worker, size: TableSize) -> bool:
    return worker.memory is None or _needed(worker, size) <= USABLE_SHARE * worker.memory


def _needed(worker: Worker, size: TableSize) -> int:
    return max(size.bytes_to_encode, size.bytes_to_grow(worker.n_threads))


def _complaint(workers: Sequence[Worker], size: TableSize) -> str:
    largest = max(workers, key=lambda worker: worker.memory or 0)
    assert largest.memory is not None
    needed = _needed(largest, size) / USABLE_SHARE
    return (
        f'mode="replicated" needs a worker with a memory limit of {_gigabytes(needed)} for '
        f"{size.n_rows:,} rows of {size.n_columns:,} columns ({_gigabytes(size.n_bytes)} as they "
        f"are); the largest of {len(workers)} workers has {_gigabytes(largest.memory)}. Start "
        "workers with a larger memory_limit, or fewer and larger ones; or use fewer rows or "
        'columns, or mode="sharded".'
    )


def _gigabytes(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:.2f} GiB"


_TABLE = "a Dask array or data frame"
_COLUMN = "a Dask array or series"


@dataclass(frozen=True, eq=False)
class Parts:
    """Rows in parts, in order.

    Attributes
    ----------
    delayed : list of Delayed
        The parts.
    n_rows : int or None
        Number of rows of all parts, if it is known before they are computed.
    size : TableSize or None
        Size of a table, if it is known.
    """

    delayed: list[Any]
    n_rows: int | None = None
    size: TableSize | None = None


@dataclass(frozen=True, eq=False)
class PartedRows:
    """Futures of the parts of the training rows, and the number of rows of each part."""

    X: list[Any]
    y: list[Any]
    sample_weight: list[Any] | None
    n_rows: tuple[list[int], ...]

    def first_rows(self) -> list[int]:
        """Number of the first row of each part of X."""
        return list(itertools.accumulate(self.n_rows[0], initial=0))[:-1]


def is_array(X: object) -> bool:
    """Whether X is a Dask array."""
    return isinstance(X, dask_array().Array)


def is_frame(X: object) -> bool:
    """Whether X is a Dask data frame."""
    return isinstance(X, dask_dataframe().DataFrame)


def check_table(X: object) -> None:
    """Raise unless X is a two-dimensional Dask array or data frame."""
    if is_frame(X):
        return
    if not is_array(X):
        remedy = (
            "Use dask.array.from_array or dask.dataframe.from_pandas, or an estimator of bevel "
            "itself (to_local() of a fitted one) for data in memory."
        )
        raise wrong_type("X", _TABLE, X, remedy)
    if X.ndim != 2:  # type: ignore[attr-defined]
        raise ValueError(
            f"X must have two dimensions, rows and columns; got a Dask array of {X.ndim}. "  # type: ignore[attr-defined]
            "Use X.reshape(-1, 1) for one column."
        )


def table_parts(X: Any) -> Parts:
    """Parts of a table, each with all of its columns."""
    check_table(X)
    if is_frame(X):
        return Parts(list(X.to_delayed()))
    whole_rows = X.rechunk({1: -1})
    parts = list(whole_rows.to_delayed().ravel())
    if np.isnan(X.shape[0]):
        return Parts(parts)
    n_rows, n_columns = map(int, X.shape)
    return Parts(parts, n_rows, TableSize(n_rows, n_columns, int(X.nbytes)))


_SEVERAL = (
    "A fit on a cluster has one target: fit a forest for each, or the local estimator, which "
    "learns several targets together from rows of one machine."
)


def column_parts(name: str, column: Any) -> Parts:
    """Parts of one column, such as the target; `name` is its name in messages."""
    if is_frame(column):
        if len(column.columns) != 1:
            remedy = f"Choose one, for example frame['target']. {_SEVERAL}"
            raise wrong_type(name, "one column", list(column.columns), remedy)
        column = column[column.columns[0]]
    if isinstance(column, dask_dataframe().Series):
        return Parts(list(column.to_delayed()))
    if not is_array(column):
        remedy = "Use dask.array.from_array or dask.dataframe.from_pandas."
        raise wrong_type(name, _COLUMN, column, remedy)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column.rechunk({1: -1})[:, 0]
    if column.ndim != 1:
        raise ValueError(
            f"{name} must have one entry for each row; got a Dask array of shape {column.shape}. "
            f"Choose one column. {_SEVERAL}"
        )
    known = not np.isnan(column.shape[0])
    return Parts(list(column.to_delayed()), int(column.shape[0]) if known else None)


def join_parts(parts: Sequence[Any]) -> Any:
    """Join computed parts to one table or column, as `compute` of the collection would."""
    # Empty partitions are dropped, since pandas would let them change the types of columns.
    filled = [part for part in parts if part.shape[0]] or list(parts[:1])
    if len(filled) == 1:
        return filled[0]
    if isinstance(filled[0], np.ndarray):
        return np.concatenate([fill_masked(part) for part in filled])
    if sp.issparse(filled[0]):
        return sp.vstack(filled, format="csr")
    from dask.dataframe.dispatch import concat

    return concat(filled)  # type: ignore[no-untyped-call]
