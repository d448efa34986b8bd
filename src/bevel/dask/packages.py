"""Dask's packages, imported when they are first needed."""

from __future__ import annotations

from types import ModuleType

from bevel.extras import import_optional

__all__ = [
    "cloudpickle",
    "dask_array",
    "dask_base",
    "dask_dataframe",
    "dask_delayed",
    "distributed",
]

_NEEDED_BY, _INSTALL = "bevel.dask", "bevel[dask]"


def distributed() -> ModuleType:
    """Clients, schedulers and workers."""
    return import_optional("distributed", needed_by=_NEEDED_BY, install=_INSTALL)


def cloudpickle() -> ModuleType:
    """Pickling that includes functions."""
    return import_optional("cloudpickle", needed_by=_NEEDED_BY, install=_INSTALL)


def dask_array() -> ModuleType:
    """Arrays in chunks."""
    return import_optional("dask.array", needed_by=_NEEDED_BY, install=_INSTALL)


def dask_base() -> ModuleType:
    """Base of all collections."""
    return import_optional("dask.base", needed_by=_NEEDED_BY, install=_INSTALL)


def dask_dataframe() -> ModuleType:
    """Data frames in partitions."""
    return import_optional("dask.dataframe", needed_by=_NEEDED_BY, install=_INSTALL)


def dask_delayed() -> ModuleType:
    """Single lazy values."""
    return import_optional("dask.delayed", needed_by=_NEEDED_BY, install=_INSTALL)
