"""How far the memory of this process rises while something is done."""

import ctypes
import gc
import math
import re
import sys
from pathlib import Path

__all__ = ["MemoryRise"]

STATUS = Path("/proc/self/status")
RESET_PEAK = Path("/proc/self/clear_refs")


class MemoryRise:
    """Resident memory at its peak since `__init__`, above its level then, in MB.

    Linux can reset the peak, so that one worker can measure cell after
    cell. Other systems only know the peak of a whole process, which says nothing about a later
    cell: there the rise is NaN.
    """

    def __init__(self) -> None:
        gc.collect()
        _return_free_memory()
        self._known = _reset_peak()
        self._level = _status("VmRSS") if self._known else math.nan

    def mb(self) -> float:
        """The rise so far."""
        return max(_status("VmHWM") - self._level, 0.0) if self._known else math.nan


def _status(field: str) -> float:
    match = re.search(rf"^{field}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    return int(match[1]) * 1024 / 1e6 if match else math.nan


def _reset_peak() -> bool:
    try:
        RESET_PEAK.write_text("5")
    except OSError:
        return False
    return STATUS.is_file()


def _return_free_memory() -> None:
    """What earlier cells have freed would otherwise hide what this one takes."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not
        if trim is not None:
            trim(0)
