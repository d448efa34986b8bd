"""Progress of long work: a bar with the remaining time, and the user's callback."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from html import escape
from importlib import import_module
from types import TracebackType
from typing import Any, Protocol, Self, TextIO

__all__ = [
    "Callback",
    "NotebookBar",
    "Progress",
    "in_notebook",
]

# A progress bar in the output of a notebook's cell, redrawn in place.

_SECONDS = 0.1  # between two updates: a browser shows no more


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which shows HTML.

    IPython is imported already in a kernel: it is never imported here.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """A progress bar that is updated in place, as text where HTML is not shown."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._drawn = -_SECONDS
        self._last: tuple[str, int, int, str] | None = None

    def draw(self, label: str, n_done: int, n_total: int, time_text: str) -> None:
        now = time.monotonic()
        finished = 0 < n_total <= n_done
        if not finished and now - self._drawn < _SECONDS:
            return
        self._drawn = now
        self._last = None if finished else (label, n_done, n_total, time_text)
        self._show(label, n_done, n_total, time_text)

    def close(self) -> None:
        """Show that the work was stopped early."""
        if self._last is not None:
            label, n_done, n_total, _ = self._last
            self._last = None
            self._show(label, n_done, n_total, "stopped")

    def _show(self, label: str, n_done: int, n_total: int, time_text: str) -> None:
        display: Any = import_module("IPython.display").display
        counts = f"{n_done:,}/{n_total:,}" if n_total else f"{n_done:,}"
        place = f'value="{n_done}" max="{n_total}" ' if n_total else ""  # unknown: animated
        html = (
            f'<div style="font-variant-numeric:tabular-nums">{escape(label)} '
            f'<progress {place}style="width:16em;vertical-align:middle">'
            f"</progress> {counts} · {escape(time_text)}</div>"
        )
        data = {"text/html": html, "text/plain": f"{label}: {counts}, {time_text}"}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


Callback = Callable[[int, int], object]

_WIDTH = 30


class _Bar(Protocol):
    """Interface of progress bars: in a cell of a notebook, or on a stream of text."""

    def draw(self, label: str, n_done: int, n_total: int, time_text: str) -> None: ...

    def close(self) -> None: ...


class Progress:
    """Reports to the user how many trees the trainer has finished.

    As a context manager it ends the line of the bar when work ends early, by Ctrl-C or an error.

    Parameters
    ----------
    n_before : int
        Trees that exist already (warm start).
    n_total : int
        Trees that will exist in the end; 0 if their number is not known.
    bar : bool
        Whether to draw a bar: in the cell of a notebook, elsewhere on standard error.
    callback : callable or None
        Called with (n_done, n_total).
    stream : file, default=None
        Stream of the bar instead of standard error.
    label : str, default="growing trees"
        Text before the bar; rows or other units then count as trees do.
    """

    def __init__(
        self,
        n_before: int,
        n_total: int,
        bar: bool,
        callback: Callback | None,
        stream: TextIO | None = None,
        label: str = "growing trees",
    ) -> None:
        self._n_before = n_before
        self._n_total = n_total
        self._callback = callback
        self._label = label
        self._bar: _Bar | None = _new_bar(stream) if bar else None
        self._start = time.monotonic()

    @property
    def wanted(self) -> bool:
        """Whether there is a bar or a callback."""
        return self._bar is not None or self._callback is not None

    def after(self, n_grown: int) -> Progress:
        """Return the report of work that begins when `n_grown` trees of this run exist."""
        return self if n_grown == 0 else _LaterProgress(self, n_grown)

    def __call__(self, n_grown: int, note: str = "") -> None:
        """Report the number of trees grown in this run, with a note beside the bar."""
        n_done = self._n_before + n_grown
        if self._callback is not None:
            self._callback(n_done, self._n_total)
        if self._bar is not None:
            time_text = self._time(n_grown, n_done)
            text = f"{note}  {time_text}" if note else time_text
            self._bar.draw(self._label, n_done, self._n_total, text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.stop()

    def stop(self) -> None:
        """End the line of the bar before the work is complete."""
        if self._bar is not None:
            self._bar.close()

    def finish(self, n_grown: int, note: str = "") -> None:
        """Report the final number of trees, if it was not known before or is smaller."""
        self._n_total = self._n_before + n_grown
        if n_grown:
            self(n_grown, note)

    def _time(self, n_grown: int, n_done: int) -> str:
        elapsed = time.monotonic() - self._start
        if n_done >= self._n_total:  # or the total is not known
            return f"in {_clock(elapsed)}"
        if n_grown == 0:
            return "remaining --:--"
        return f"remaining {_clock(elapsed * (self._n_total - n_done) / n_grown)}"


class _LaterProgress(Progress):
    """Forwards the number of trees to another report."""

    def __init__(self, whole: Progress, n_grown: int) -> None:
        self._whole, self._offset = whole, n_grown

    @property
    def wanted(self) -> bool:
        return self._whole.wanted

    def __call__(self, n_grown: int, note: str = "") -> None:
        self._whole(self._offset + n_grown, note)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._whole.__exit__(kind, error, traceback)

    def stop(self) -> None:
        self._whole.stop()


def _new_bar(stream: TextIO | None) -> _Bar:
    if stream is None and in_notebook():
        return NotebookBar()
    return _TextBar(stream or sys.stderr)


class _TextBar:
    """A bar of text: in a log file a line for every tenth, in a terminal one line that moves."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._shown = -1
        self._line_is_open = False
        self._letters = "█░" if _can_write(stream, "█░") else "#."

    def draw(self, label: str, n_done: int, n_total: int, time_text: str) -> None:
        if n_total == 0:
            self._count(label, n_done, time_text)
            return
        tenth = 10 * n_done // n_total
        if not self._live and tenth == self._shown:
            return
        self._shown = tenth
        filled = _WIDTH * n_done // n_total
        bar = self._letters[0] * filled + self._letters[1] * (_WIDTH - filled)
        text = f"{label} {bar} {n_done}/{n_total}  {time_text}"
        self._line_is_open = self._live and n_done < n_total
        self._stream.write(f"\r{text:<78}" if self._live else text)
        self._stream.write("" if self._line_is_open else "\n")
        self._stream.flush()

    def _count(self, label: str, n_done: int, time_text: str) -> None:
        """Write a line to a log file whenever the count has doubled, if the total is not known."""
        if not self._live and n_done < 2 * self._shown:
            return
        self._shown = n_done
        self._line_is_open = self._live
        text = f"{label} {n_done}  {time_text}"
        self._stream.write(f"\r{text:<78}" if self._live else f"{text}\n")
        self._stream.flush()

    def close(self) -> None:
        """End the line, so that later output begins a new one."""
        if self._line_is_open:
            self._line_is_open = False
            self._stream.write("\n")
            self._stream.flush()


def _can_write(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
