"""Memory budget of a fit over blocks, and its division among the parts of the fit."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from bevel.errors import wrong_type, wrong_value

__all__ = ["RowBytes", "Shares", "check_memory", "read_memory", "share_out"]

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
DEFAULT_SHARE = 0.5
LEAST_BYTES = 32 * 10**6
MOST_BYTES = 2**60  # more than any machine has
MOST_BLOCK_BYTES = 2**26
_REMEDY = 'Write for example memory="2GB", or memory=2_000_000_000.'
_REQUIRED = "a number of bytes, a text such as '2GB', or None"


def read_memory(memory: Any) -> int:
    """Bytes that `memory=` stands for; None is half of the available memory."""
    if memory is None:
        return max(LEAST_BYTES, int(DEFAULT_SHARE * available()))
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([A-Za-z]*)\s*", memory)
        if match is None or match.group(2).upper() not in UNITS:
            raise wrong_value("memory", _REQUIRED, memory, _REMEDY)
        wanted = float(match.group(1)) * UNITS[match.group(2).upper()]
    elif isinstance(memory, int | float) and not isinstance(memory, bool):
        wanted = memory
    else:
        raise wrong_type("memory", _REQUIRED, memory, _REMEDY)
    if not wanted >= LEAST_BYTES:
        raise wrong_value("memory", f"at least {LEAST_BYTES:,} bytes", memory, _REMEDY)
    return int(min(wanted, MOST_BYTES))


def available() -> float:
    """Bytes of free memory, within the limit of the process's container."""
    free = float("inf")
    try:
        text = Path("/proc/meminfo").read_text()
        found = re.search(r"MemAvailable:\s+(\d+) kB", text)
        free = float(found.group(1)) * 1024 if found else free
    except OSError:
        try:
            free = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE") / 2
        except (AttributeError, ValueError, OSError):
            free = 4e9  # not known on this system
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            limit = Path("/sys/fs/cgroup", name).read_text().strip()
        except OSError:
            continue
        if limit.isdigit():
            free = min(free, float(limit))
    return free


class Shares(NamedTuple):
    """Memory limits of the parts of a fit; they do not change the forest."""

    in_memory: bool  # whether blocks stay in memory
    block_rows: int
    numbers: int  # histogram entries requested at once
    rows: int  # rows gathered at once


def share_out(memory: int, n_rows: int, n_features: int, on_disk: bool) -> Shares:
    """Divide memory among blocks, histograms and gathered rows.

    Parameters
    ----------
    memory : int
        Bytes to divide.
    n_rows, n_features : int
        Size of the table.
    on_disk : bool
        Whether blocks go to files even if they fit in memory.
    """
    row_bytes = 4 * n_features + 16
    in_memory = not on_disk and n_rows * row_bytes <= 0.4 * memory
    block_bytes = min(MOST_BLOCK_BYTES, memory // 24)
    # Rows are held twice while they are joined, and the builder adds about 60 bytes for each.
    gathered = 0.25 * memory / (2 * row_bytes + 60)
    return Shares(
        in_memory,
        max(1024, block_bytes // row_bytes),
        max(1, int(0.15 * memory) // 8),
        max(1024, int(gathered)),
    )


class RowBytes(NamedTuple):
    """Bytes of a row in a fit that reads whole columns, without its encoded values."""

    in_memory: int
    of_columns: int  # in memory or on disk, including the values


def check_memory(memory: int, n_rows: int, needed: RowBytes) -> None:
    """Raise if the state of all rows does not fit in memory.

    Parameters
    ----------
    memory : int
        Bytes that the fit may use.
    n_rows : int
        Rows of the table.
    needed : RowBytes
        Bytes of a row.
    """
    in_memory = n_rows * needed.in_memory
    if in_memory > memory:
        raise MemoryError(
            f"memory must be at least {needed.in_memory} bytes for each of the {n_rows:,} rows, "
            f"{in_memory / 10**6:,.0f} MB: boosting keeps targets, predictions and gradients of "
            f"all rows in memory; got {memory / 10**6:,.0f} MB. Pass scan(..., "
            f'memory="{-(-in_memory // 10**6)}MB") if there is as much, or fit an ObliqueForest.'
        )
