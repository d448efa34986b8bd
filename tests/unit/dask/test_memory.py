"""Which workers have the memory for a table, and which mode that means."""

from __future__ import annotations

import pytest

from bevel.dask.parts import TableSize, Worker, choose_mode, choose_workers

GIGABYTE = 2**30
TABLE = TableSize(n_rows=10_000_000, n_columns=28, n_bytes=10_000_000 * 28 * 4)  # 1.04 GiB


def workers(*limits: int | None, n_threads: int = 1) -> list[Worker]:
    """Workers with limits in GiB."""
    return [
        Worker(f"tcp://{i}", n_threads, None if limit is None else limit * GIGABYTE)
        for i, limit in enumerate(limits)
    ]


def test_all_workers_are_used_if_all_are_large_enough_or_have_no_limit():
    assert choose_workers(workers(8, 8, None), TABLE) is None
    assert choose_workers([], TABLE) is None


def test_small_workers_are_left_out():
    chosen = choose_workers(workers(1, 8, 2), TABLE)
    assert [worker.address for worker in chosen] == ["tcp://1"]


def test_more_threads_need_more_memory():
    assert choose_workers(workers(5), TABLE) is None
    with pytest.raises(MemoryError, match=r"of 10\.99 GiB .* of 1 workers has 5\.00 GiB"):
        choose_workers(workers(5, n_threads=12), TABLE)


def test_auto_is_sharded_only_if_no_worker_can_hold_the_table():
    assert choose_mode("auto", workers(1, 8), TABLE) == "replicated"
    assert choose_mode("auto", workers(2, 2, 2), TABLE) == "sharded"
    assert choose_mode("auto", [], TABLE) == "replicated"
    assert choose_mode("sharded", workers(8), TABLE) == "sharded"


def test_table_that_does_not_fit_at_all_raises():
    with pytest.raises(MemoryError, match='or mode="sharded"'):
        choose_mode("replicated", workers(2, 2, 2), TABLE)
    with pytest.raises(MemoryError, match=r"limits of 4\.\d\d GiB together .* have 4\.00 GiB"):
        choose_mode("auto", workers(2, 2), TABLE)
    assert choose_mode("auto", workers(2, 2, None), TABLE) == "replicated"
