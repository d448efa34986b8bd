"""Where and with what a measurement was made: processor, cores, versions, commit, date."""

import datetime
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

__all__ = ["ROOT", "clock", "commit", "cores", "describe", "now", "version"]

ROOT = Path(__file__).resolve().parent.parent


def now() -> str:
    """Date and time to the minute, with the offset from UTC."""
    return datetime.datetime.now().astimezone().isoformat(timespec="minutes")


def clock(processor_time: bool) -> str:
    """Which time was measured: that of the wall clock, or that of all processors together."""
    return "processor" if processor_time else "wall"


def version(package: str) -> str:
    """Version of an installed package, or a dash."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "-"


def cores() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """Name of the processor as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def commit() -> str:
    """Short hash of the checkout's commit, with "+" when source files differ from it."""
    sources = ["src", "cpp", "CMakeLists.txt", "pyproject.toml"]
    try:
        head = _git("rev-parse", "--short=10", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=normal", "--", *sources)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed else "")


def simd_level() -> str:
    """Instruction set the core chose on this machine."""
    try:
        from bevel import _core
    except ImportError:
        return "-"
    return _core.simd_level()


def describe() -> str:
    """One line for the head of a report."""
    return (
        f"{now()} · {processor()}, {cores()} cores, {platform.system()} · Bevel "
        f"{version('bevel')} at {commit()}, SIMD {simd_level()} · Python "
        f"{platform.python_version()}, NumPy {version('numpy')}, "
        f"scikit-learn {version('scikit-learn')}, intelex {version('scikit-learn-intelex')}, "
        f"ydf {version('ydf')}"
    )


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()
