"""Checks that the training rows fit in the memory of the workers, before trees are grown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["TableSize", "Worker", "choose_mode", "choose_workers"]

# Of a worker's limit: Dask pauses workers above it, and needs the rest itself.
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
