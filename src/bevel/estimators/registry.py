"""The estimators that files can hold, by the names of their classes."""

from __future__ import annotations

from typing import Any, TypeVar

from bevel.files.model import StorableKind

__all__ = ["KINDS", "SAVABLE", "kind_of", "savable"]

SAVABLE: dict[str, type[Any]] = {}
KINDS: dict[str, StorableKind] = {}

Estimator = TypeVar("Estimator", bound=type[Any])


def savable(cls: Estimator) -> Estimator:
    """Class decorator that registers a class for `save` and `bevel.load`."""
    KINDS[cls.__name__] = StorableKind(
        parameters=cls._parameters,
        tasks=cls._tasks,
        aggregation=cls._aggregation,
        has_rotations=cls._has_rotations,
    )
    SAVABLE[cls.__name__] = cls
    return cls


def kind_of(estimator: object) -> StorableKind:
    """How an estimator is stored in files; raises TypeError if it cannot be."""
    name = type(estimator).__name__
    if SAVABLE.get(name) is not type(estimator):
        raise TypeError(
            f"An estimator must be of class {' or '.join(SAVABLE)} to be saved, because files hold "
            f"no code of other classes; got {name}. Pickle it instead."
        )
    return KINDS[name]
