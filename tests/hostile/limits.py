"""What a case may cost, and how that is measured and enforced."""

from __future__ import annotations

import os
import resource
from pathlib import Path

# Sanitizers take time, memory, and addresses by the terabyte.
SANITIZED = "san.so" in os.environ.get("LD_PRELOAD", "")
SECONDS = 60.0 if SANITIZED else 5.0  # of wall-clock and of processor time
MAX_SECONDS = 60 * SECONDS  # of wall-clock time, on however busy a machine
SPARE_BYTES = (2000 if SANITIZED else 200) * 2**20
BYTES_PER_FILE_BYTE = 10
ADDRESS_SPACE = 4 * 2**30  # the hard stop, which also ends floods of threads

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def allowed_growth(file_size: int) -> int:
    """Bytes by which a case may raise the peak of resident memory."""
    return SPARE_BYTES + BYTES_PER_FILE_BYTE * file_size


def limit_process() -> None:
    """Make the worst case an error of this process rather than of the machine."""
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def cpu_seconds(pid: int) -> float | None:
    """Processor time of a process so far; None where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / 100.0


class PeakMemory:
    """Peak of resident memory since the last reset; resets need Linux."""

    def __init__(self) -> None:
        self._clear = _CLEAR.open("w") if _CLEAR.exists() else None
        self.reset()

    def reset(self) -> None:
        """Start anew from the memory that is resident now."""
        if self._clear is not None:
            self._clear.write("5")
            self._clear.flush()
        self._before = _peak()

    def growth(self) -> int:
        """Bytes by which the peak rose."""
        return _peak() - self._before


def _peak() -> int:
    """Peak of resident memory, from the system's status of this process where it has one.

    `getrusage` would also count what the parent had when it started this process.
    """
    if _STATUS.exists():
        line = next(line for line in _STATUS.read_text().splitlines() if "VmHWM" in line)
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
