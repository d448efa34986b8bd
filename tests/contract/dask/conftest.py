"""A cluster of two worker processes, which the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

REASON = "needs Dask: python -m pip install 'bevel[dask]'"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason=REASON)
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        memory_limit="2GiB",
        dashboard_address="127.0.0.1:0",
        silence_logs="CRITICAL",
    ) as started:
        yield started


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason=REASON)
    with distributed.Client(cluster) as connected:
        connected.wait_for_workers(2)
        yield connected
