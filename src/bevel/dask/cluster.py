"""Access to the cluster in a fit: its client, its workers and their memory, and its tasks."""

from __future__ import annotations

import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from bevel.dask.packages import distributed
from bevel.dask.parts import Worker
from bevel.dask.tasks import Warned
from bevel.data.tables import align

__all__ = ["Fit", "find_client", "warn_again", "workers_of"]

SECONDS_BETWEEN_LOOKS = 0.5
# Time that a fit waits for a first worker, which may be starting.
SECONDS_WITHOUT_WORKERS = 120.0
# Results of a dead worker are missing until the scheduler has them computed again; after this time
# they count as lost.
SECONDS_LOST = 120.0


def find_client(client: Any) -> Any:
    """The given client, or the current one; raises if there is none, or if it is closed."""
    dd = distributed()
    if client is None:
        try:
            client = dd.default_client()
        except ValueError:
            raise ValueError(
                "client must be a dask.distributed.Client, or None for the current one; got None, "
                "and there is no current one. Start one: client = dask.distributed.Client()."
            ) from None
    if not isinstance(client, dd.Client):
        raise TypeError(
            f"client must be a dask.distributed.Client or None; got {type(client).__name__}. "
            "Start one: client = dask.distributed.Client()."
        )
    if client.asynchronous:
        raise ValueError(
            "client must be a blocking one; got an asynchronous client. Start it without "
            "asynchronous=True, and call fit from a thread."
        )
    if client.status != "running":
        raise ValueError(
            f"client must be connected to a scheduler; got one that is {client.status}. Start a "
            "new one: client = dask.distributed.Client()."
        )
    return client


def workers_of(client: Any) -> list[Worker]:
    """The current workers, in the order of their addresses."""
    found = client.scheduler_info(n_workers=-1)["workers"]
    return [
        Worker(address, int(each["nthreads"]), int(each["memory_limit"]) or None)
        for address, each in sorted(found.items())
    ]


def warn_again(warned: Iterable[Warned], stacklevel: int) -> None:
    """Repeat warnings of tasks for the user; `stacklevel` as in `warnings.warn`, from here."""
    for category, text in warned:
        warnings.warn(text, category, stacklevel=stacklevel + 1)


@dataclass
class Fit:
    """The tasks of one fit, which end with it.

    As a context manager it cancels running tasks when the fit fails or is interrupted.

    Parameters
    ----------
    client : Client
        Client of the cluster.
    workers : sequence of str or None
        Addresses that tasks are confined to; None for all workers.
    """

    client: Any
    workers: Sequence[str] | None = None
    _futures: list[Any] = field(default_factory=list)
    _parts: list[Any] = field(default_factory=list)
    _n_submitted: int = 0
    _number: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __enter__(self) -> Fit:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None and self.client.status == "running":
            self.client.cancel(self._futures, force=True)
        self.drop(list(self._futures))
        self.release_parts()

    def submit(
        self,
        name: str,
        work: Callable[..., Any],
        *arguments: Any,
        on: str | None = None,
        priority: int = 0,
    ) -> Any:
        """Submit a task.

        Parameters
        ----------
        name : str
            Name of the task on the dashboard.
        work : callable
            Called with the arguments, in which futures are replaced by their results.
        on : str, default=None
            Address of the preferred worker.
        priority : int, default=0
            Tasks of higher priority go first.
        """
        places: dict[str, Any] = {}
        if self.workers is not None:
            places = {"workers": list(self.workers)}
        elif on is not None:
            places = {"workers": [on], "allow_other_workers": True}
        key = f"bevel-{name}-{self._n_submitted}-{self._number}"
        self._n_submitted += 1
        future = self.client.submit(
            _run_aligned, work, *arguments, key=key, pure=False, priority=priority, **places
        )
        self._futures.append(future)
        return future

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Futures of parts of the user's collections, perhaps those of persisted ones."""
        parts = list(self.client.compute(list(delayed)))
        self._parts += parts
        return parts

    def release_parts(self) -> None:
        """Release parts, which the cluster can compute again.

        They are not cancelled, since the user may have persisted them.
        """
        for part in self._parts:
            part.release()
        self._parts.clear()

    def drop(self, futures: Sequence[Any]) -> None:
        """Release results that are no longer needed."""
        gone = {future.key for future in futures}
        self._futures = [future for future in self._futures if future.key not in gone]
        for future in futures:
            future.release()

    def wait(self, sizes: Mapping[Any, int] | Sequence[Any], report: Callable[[int], None]) -> None:
        """Wait for tasks; raises the first error of any.

        Parameters
        ----------
        sizes : mapping of future to int, or sequence of futures
            Tasks to wait for, and the weight of each; 1 by default.
        report : callable
            Called with the sum of the sizes of finished tasks as it grows.
        """
        pending = dict(sizes) if isinstance(sizes, Mapping) else dict.fromkeys(sizes, 1)
        n_done, seen_worker = 0, time.monotonic()
        seen_whole = seen_worker
        while pending:
            finished = [future for future in pending if future.status not in ("pending", "lost")]
            for future in finished:
                _raise_error(future)
                n_done += pending.pop(future)
            if finished:
                report(n_done)
                continue
            self._look(list(pending))
            lost = [future for future in pending if future.status == "lost"]
            if not lost:
                seen_whole = time.monotonic()
            elif time.monotonic() - seen_whole > SECONDS_LOST:
                _raise_error(lost[0])
            if self._has_workers():
                seen_worker = time.monotonic()
            elif time.monotonic() - seen_worker > SECONDS_WITHOUT_WORKERS:
                raise RuntimeError(
                    f"A fit needs at least one worker{self._confined()}; the cluster has had none "
                    f"for {SECONDS_WITHOUT_WORKERS:.0f} seconds. Start workers and fit again."
                )

    def result(self, future: Any) -> Any:
        """The result of a task."""
        self.wait([future], lambda _: None)
        return align(future.result())

    def _look(self, pending: list[Any]) -> None:
        """Wait until a task ends, for a short time."""
        package = distributed()
        # The statuses of futures, which are checked next, show what happened.
        expected = (TimeoutError, package.client.FutureCancelledError)
        with suppress(*expected), self.client.as_current():
            package.wait(pending, timeout=SECONDS_BETWEEN_LOOKS, return_when="FIRST_COMPLETED")

    def _has_workers(self) -> bool:
        if self.client.status != "running":
            raise ConnectionError(
                f"A fit needs its scheduler; the client is {self.client.status}. Connect a new "
                "client and fit again."
            )
        there = {worker.address for worker in workers_of(self.client)}
        return bool(there if self.workers is None else there.intersection(self.workers))

    def _confined(self) -> str:
        return "" if self.workers is None else f" with enough memory ({', '.join(self.workers)})"


def _run_aligned(work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with arguments from messages, whose arrays may be unaligned."""
    return work(*align(arguments))


def _raise_error(future: Any) -> None:
    """Raise the error of a task, unless it has a result."""
    if future.status == "finished":
        return
    if future.status == "error":
        error = future.exception()
        if isinstance(error, distributed().KilledWorker):
            raise RuntimeError(
                "A fit needs workers that live long enough for one task; several workers died "
                f"during the same task ({error.task}), which is often a lack of memory. Look at "
                "the workers' logs; use workers with more memory, or fewer threads each."
            ) from error
        raise error
    raise distributed().CancelledError(
        f"The task {future.key} of a fit was {future.status}: somebody cancelled it, or it needs "
        "data that were scattered to a worker that has died. Fit again, with collections that can "
        "be computed again."
    )
