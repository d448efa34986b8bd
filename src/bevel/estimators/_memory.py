"""The error of a fit or prediction for which there is not enough memory."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["explained"]


def explained(error: MemoryError, caller: str, estimator: Any, X: Any) -> MemoryError:
    """An error with a message that says what needed memory, how much, and what to do.

    Parameters
    ----------
    error : MemoryError
        Of the core, NumPy or Python. Errors of the package, whose messages are sentences, are
        returned as they are.
    caller : str
        Name of the method.
    estimator : object
        Whose method it is.
    X : object
        The rows that it was given.
    """
    text = str(error).strip()
    if text.endswith("."):
        return error
    traceback.clear_frames(error.__traceback__)  # whose tables may be what fills the memory
    needed = f" ({text})" if text else ""
    return MemoryError(
        f"{caller} needs more memory than there is{needed}; got {_given(estimator, X)}"
        f"{_held()}. {_remedy(caller, estimator)}"
    )


def _given(estimator: Any, X: Any) -> str:
    shape: Any = getattr(X, "shape", ())
    parts = [f"{n:,} {what}" for n, what in zip(shape, ("rows", "columns"), strict=False)]
    n_classes = getattr(estimator, "n_classes_", None)
    if n_classes is not None:
        parts.append(f"{int(np.sum(n_classes)):,} classes")
    sizes = (name for name in ("n_estimators", "max_iter") if hasattr(estimator, name))
    parts.extend(f"{name}={getattr(estimator, name)}" for name in sizes)
    return ", ".join(parts) or "a table"


def _held() -> str:
    """What the process holds, where the system says so."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        size = pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return ""
    return f", in a process that holds {size / 1e9:.2f} GB"


def _remedy(caller: str, estimator: Any) -> str:
    if caller != "fit":
        return "Predict fewer rows at a time, or free memory."
    steps = ["fewer rows"]
    if hasattr(estimator, "n_classes_"):
        steps.append("fewer classes")
    if hasattr(estimator, "n_estimators"):
        steps.append("fewer trees")
    if getattr(estimator, "oob_score", False):
        steps.append("oob_score=False")
    if getattr(estimator, "projection", "") == "auto":
        steps.append('projection="sparse"')
    if getattr(estimator, "n_jobs", 1) != 1:
        steps.append("n_jobs=1")
    return f"Use {', '.join(steps)}, or free memory."
