"""Progress of long work: a bar with the remaining time, and the user's callback."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

__all__ = ["Callback", "Progress"]

Callback = Callable[[int, int], object]

_WIDTH = 30


class Progress:
    """Reports to the user how many trees the trainer has finished.

    Parameters
    ----------
    n_before : int
        Trees that exist already (warm start).
    n_total : int
        Trees that will exist in the end.
    bar : bool
        Whether to draw a bar on standard error.
    callback : callable or None
        Called with (n_done, n_total).
    stream : file, default=None
        Where the bar goes instead of standard error.
    label : str, default="growing trees"
        What is being done, before the bar; rows or other things then count as trees do.
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
        self._stream = (stream or sys.stderr) if bar else None
        self._start = time.monotonic()
        self._shown_tenth = -1

    @property
    def wanted(self) -> bool:
        """Whether anybody listens."""
        return self._stream is not None or self._callback is not None

    def after(self, n_grown: int) -> Progress:
        """The same report, of work that begins when `n_grown` trees of this run exist."""
        return self if n_grown == 0 else _LaterProgress(self, n_grown)

    def __call__(self, n_grown: int) -> None:
        """Report the number of trees grown in this run."""
        n_done = self._n_before + n_grown
        if self._callback is not None:
            self._callback(n_done, self._n_total)
        if self._stream is not None:
            self._draw(self._stream, n_grown, n_done)

    def _draw(self, stream: TextIO, n_grown: int, n_done: int) -> None:
        finished = n_done >= self._n_total
        tenth = 10 * n_done // self._n_total
        live = stream.isatty()
        # A log file gets a line for every tenth, a terminal one line that moves.
        if not live and tenth == self._shown_tenth:
            return
        self._shown_tenth = tenth
        filled = _WIDTH * n_done // self._n_total
        bar = "█" * filled + "░" * (_WIDTH - filled)
        text = f"{self._label} {bar} {n_done}/{self._n_total}  {self._time(n_grown, n_done)}"
        stream.write(f"\r{text:<78}" if live else text)
        stream.write("\n" if finished or not live else "")
        stream.flush()

    def _time(self, n_grown: int, n_done: int) -> str:
        elapsed = time.monotonic() - self._start
        if n_done >= self._n_total:
            return f"in {_clock(elapsed)}"
        if n_grown == 0:
            return "remaining --:--"
        return f"remaining {_clock(elapsed * (self._n_total - n_done) / n_grown)}"


class _LaterProgress(Progress):
    """Passes on to another report how many trees exist."""

    def __init__(self, whole: Progress, n_grown: int) -> None:
        self._whole, self._offset = whole, n_grown

    @property
    def wanted(self) -> bool:
        return self._whole.wanted

    def __call__(self, n_grown: int) -> None:
        self._whole(self._offset + n_grown)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
