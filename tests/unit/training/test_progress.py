"""`bevel.training.progress`: the bar and the callback."""

from __future__ import annotations

import io
import sys
import types

import pytest

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


def test_callback_is_called_for_all_trees():
    calls = []
    progress = Progress(5, 20, bar=False, callback=lambda *args: calls.append(args))
    progress(0)
    progress(15)
    assert calls == [(5, 20), (20, 20)]


def test_nobody_listening_is_not_wanted():
    assert not Progress(0, 10, bar=False, callback=None).wanted
    assert Progress(0, 10, bar=False, callback=print).wanted


def test_line_of_a_bar_is_ended_when_work_is_interrupted():
    stream = Terminal()
    with pytest.raises(KeyboardInterrupt):
        work_until_interrupted(Progress(0, 10, bar=True, callback=None, stream=stream))
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().endswith("\n")


def test_log_file_has_no_empty_line_after_an_interruption():
    stream = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        work_until_interrupted(Progress(0, 10, bar=True, callback=None, stream=stream))
    assert stream.getvalue().count("\n") == 1


def work_until_interrupted(progress):
    with progress:
        progress(3)
        raise KeyboardInterrupt


def test_finished_bar_is_not_ended_twice():
    stream = Terminal()
    with Progress(0, 10, bar=True, callback=None, stream=stream) as progress:
        progress(10)
    assert stream.getvalue().count("\n") == 1


def test_terminal_without_blocks_gets_a_bar_of_ascii():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    Progress(0, 10, bar=True, callback=None, stream=stream)(5)
    stream.seek(0)
    assert f"{'#' * 15}{'.' * 15} 5/10" in stream.read()


class Handle:
    """What IPython's `display` returns."""

    def __init__(self, shown):
        self.shown = shown

    def update(self, data, *, raw):
        assert raw
        self.shown.append(("again", data))


@pytest.fixture
def notebook(monkeypatch):
    """What the cell of a pretended notebook shows."""
    shown = []

    def display(data, *, raw, display_id):
        assert raw
        assert display_id
        shown.append(("first", data))
        return Handle(shown)

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    return shown


def test_notebook_has_one_output_that_changes(notebook, clock, capsys):
    progress = Progress(0, 200, bar=True, callback=None, label="a < b")
    for n_done in range(1, 201):
        clock[0] += 0.04
        progress(n_done)
    assert capsys.readouterr().err == ""
    assert [how for how, _ in notebook].count("first") == 1
    assert 60 < len(notebook) < 110  # not more often than every tenth of a second
    last = notebook[-1][1]
    assert 'value="200" max="200"' in last["text/html"]
    assert "a &lt; b" in last["text/html"]
    assert last["text/plain"] == "a < b: 200/200, in 00:08"


def test_notebook_says_that_work_was_stopped(notebook):
    with pytest.raises(KeyboardInterrupt):
        work_until_interrupted(Progress(0, 10, bar=True, callback=None))
    assert notebook[-1][1]["text/plain"] == "growing trees: 3/10, stopped"


def test_terminal_of_ipython_is_no_notebook(monkeypatch, capsys):
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    Progress(0, 10, bar=True, callback=None)(10)
    assert "10/10" in capsys.readouterr().err
