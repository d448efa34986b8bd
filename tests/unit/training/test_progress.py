"""`bevel.training.progress`: the bar and the callback."""

from __future__ import annotations

import io
from contextlib import suppress

import numpy as np
import pytest

from bevel import ObliqueForestClassifier
from bevel.training import progress as module
from bevel.training.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_bar_shows_count_and_remaining_time(clock):
    stream = Terminal()
    progress = Progress(0, 200, bar=True, callback=None, stream=stream)
    clock[0] += 30.0
    progress(50)
    assert "50/200  remaining 01:30" in stream.getvalue()
    assert not stream.getvalue().endswith("\n")
    clock[0] += 3600.0
    progress(200)
    assert "200/200  in 1:00:30" in stream.getvalue()
    assert stream.getvalue().endswith("\n")


def test_bar_without_finished_trees_does_not_guess(clock):  # noqa: ARG001
    stream = Terminal()
    Progress(0, 10, bar=True, callback=None, stream=stream)(0)
    assert "remaining --:--" in stream.getvalue()


def test_bar_of_a_warm_start_counts_from_the_trees_there_were(clock):
    stream = Terminal()
    progress = Progress(100, 200, bar=True, callback=None, stream=stream)
    clock[0] += 10.0
    progress(50)
    assert "150/200  remaining 00:10" in stream.getvalue()


def test_log_file_gets_a_line_for_every_tenth():
    stream = io.StringIO()
    progress = Progress(0, 100, bar=True, callback=None, stream=stream)
    for n_done in range(101):
        progress(n_done)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 11
    assert "\r" not in stream.getvalue()


def test_callback_hears_of_all_trees():
    calls = []
    progress = Progress(5, 20, bar=False, callback=lambda *args: calls.append(args))
    progress(0)
    progress(15)
    assert calls == [(5, 20), (20, 20)]


def test_nobody_listening_is_not_wanted():
    assert not Progress(0, 10, bar=False, callback=None).wanted
    assert Progress(0, 10, bar=False, callback=print).wanted


def test_line_of_a_bar_that_is_stopped_is_ended():
    stream = Terminal()
    with suppress(KeyboardInterrupt), Progress(0, 10, True, None, stream) as progress:
        progress(3)
        raise KeyboardInterrupt
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().endswith("\n")


@pytest.mark.parametrize("n_done", [0, 10])
def test_line_of_a_full_bar_is_ended_once(n_done):
    stream = Terminal()
    with Progress(0, 10, True, None, stream) as progress:
        progress(n_done)
    assert stream.getvalue().count("\n") == 1


def test_forest_that_is_stopped_ends_the_line_of_its_bar(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(module.sys, "stderr", stream)

    def stop(*_):
        if stream.getvalue():  # something was drawn
            raise KeyboardInterrupt

    X = np.random.default_rng(0).normal(size=(50, 3))
    forest = ObliqueForestClassifier(5000, verbose=1, callback=stop, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        forest.fit(X, X[:, 0] > 0)
    assert stream.getvalue().endswith("\n")
    assert "5000/5000" not in stream.getvalue()


def test_bar_on_a_stream_that_has_no_blocks_is_plain():
    bytes_written = io.BytesIO()
    stream = io.TextIOWrapper(bytes_written, encoding="cp1252", write_through=True)
    Progress(0, 2, True, None, stream)(1)
    assert b"###...." in bytes_written.getvalue()
