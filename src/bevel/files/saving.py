"""Saves an estimator to a file."""

from __future__ import annotations

import os

from bevel.files.atomic import write_whole
from bevel.files.model import StorableKind, StoredEstimator, write_model

__all__ = ["save"]


def save(stored: StoredEstimator, kind: StorableKind, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, whole or not at all; see `bevel.load`."""
    write_whole(path, write_model(stored, kind))
