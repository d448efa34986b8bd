"""A progress bar in the output of a notebook's cell, redrawn in place."""

from __future__ import annotations

import sys
import time
from html import escape
from importlib import import_module
from typing import Any

__all__ = ["NotebookBar", "in_notebook"]

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
