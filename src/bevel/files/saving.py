"""Saves an estimator to a file."""

from __future__ import annotations

import os
from typing import Any

from bevel.files.atomic import write_whole
from bevel.files.model import write_model

__all__ = ["save"]


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, whole or not at all; see `bevel.load`."""
    write_whole(path, write_model(estimator))
