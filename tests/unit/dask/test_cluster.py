"""How a fit waits for its tasks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bevel.dask import cluster

pytest.importorskip("distributed", reason="needs bevel[dask]")


class Task:
    """A future whose status goes through a list, and stays at its end."""

    key = "grow-trees"

    def __init__(self, *statuses: str) -> None:
        self._statuses = list(statuses)

    @property
    def status(self) -> str:
        return self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]


@pytest.fixture
def fit(monkeypatch) -> cluster.Fit:
    monkeypatch.setattr(cluster.Fit, "_look", lambda *_: None)
    monkeypatch.setattr(cluster.Fit, "_has_workers", lambda *_: True)
    return cluster.Fit(SimpleNamespace(status="running"))


def test_result_that_died_with_its_worker_is_waited_for(fit):
    reported = []
    tasks = {Task("pending", "lost", "lost", "pending", "finished"): 2, Task("finished"): 3}
    fit.wait(tasks, reported.append)
    assert reported == [3, 5]


@pytest.mark.parametrize("status", ["lost", "cancelled"])
def test_task_that_is_lost_for_good_raises(fit, status, monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS_LOST", 0.01)
    from distributed import CancelledError

    with pytest.raises(CancelledError, match="scattered to a worker that has died"):
        fit.wait([Task("pending", status)], lambda _: None)
