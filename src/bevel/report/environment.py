"""The environment of results: the command, the versions, the machine."""

import datetime
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from bevel.training.threads import count_threads

__all__ = ["WITH_PEERS", "describe_environment", "environment_lines"]

OWN = ("bevel", "numpy", "scipy", "scikit-learn")
WITH_PEERS = (*OWN, "xgboost", "lightgbm", "catboost", "ydf", "aeon", "sktime")


def describe_environment(packages: Sequence[str] = OWN) -> dict[str, Any]:
    """Description of the environment as JSON values, with the installed ones of `packages`."""
    return {
        "started": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "versions": {
            "python": platform.python_version(),
            **{name: version for name in packages if (version := _version(name))},
        },
        "machine": {
            "processor": _processor(),
            "cores": count_threads(None),
            "memory_gb": _memory_gb(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        },
    }


def environment_lines(description: Mapping[str, Any]) -> dict[str, str]:
    """Versions and machine of such a description, as lines for a page."""
    words = {"memory_gb": "GB of memory:", "processor": "on", "cores": "cores:", "system": "under"}
    known = {**description.get("versions", {}), **description.get("machine", {})}
    return {words.get(name, name): str(what) for name, what in known.items() if what}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    """Name of the processor as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, OSError, ValueError):
        return None
