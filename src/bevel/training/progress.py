"""Progress of long work: a bar with the remaining time, and the user's callback."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

__all__ = ["Callback", "Progress"]

Callback = Callable[[int, int], object]

_WIDTH = 30


class Progress:
    """Reports to the user how many trees the trainer has finished.

    As a context manager it ends the line of a bar that is not full when the work stops.

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
        self._line_is_open = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the line of the bar to itself, so that what follows begins a new one."""
        if self._stream is not None and self._line_is_open:
            self._stream.write("\n")
            self._stream.flush()
            self._line_is_open = False

    @property
    def wanted(self) -> bool:
        """Whether anybody listens."""
        return self._stream is not None or self._callback is not None

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
        full, empty = _marks(stream)
        bar = full * filled + empty * (_WIDTH - filled)
        text = f"{self._label} {bar} {n_done}/{self._n_total}  {self._time(n_grown, n_done)}"
        stream.write(f"\r{text:<78}" if live else text)
        stream.write("\n" if finished or not live else "")
        stream.flush()
        self._line_is_open = live and not finished

    def _time(self, n_grown: int, n_done: int) -> str:
        elapsed = time.monotonic() - self._start
        if n_done >= self._n_total:
            return f"in {_clock(elapsed)}"
        if n_grown == 0:
            return "remaining --:--"
        return f"remaining {_clock(elapsed * (self._n_total - n_done) / n_grown)}"


def _marks(stream: TextIO) -> tuple[str, str]:
    """Full and empty part of a bar, in characters that the stream can write."""
    try:
        "█░".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return "#", "."
    return "█", "░"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
