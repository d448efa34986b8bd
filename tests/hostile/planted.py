"""Faults that are planted: what the campaign must notice, so that its silence means something."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .verdicts import ACCEPTED, check_answers


@dataclass(frozen=True)
class PlantedCase:
    """One fault, or none."""

    how: str


def make(number: int) -> PlantedCase:
    """The fault of a number; every other case is sound."""
    names = list(FAULTS)
    return PlantedCase(names[number // 2 % len(names)] if number % 2 else "none")


def given(case: str) -> PlantedCase:
    """A fault by name."""
    return PlantedCase(case)


def check(case: PlantedCase) -> str:
    """Commit the fault."""
    if case.how != "none":
        FAULTS[case.how]()
    return ACCEPTED


def _crash() -> None:
    ctypes.string_at(1)


def _hang() -> None:
    while True:
        pass


def _flood() -> None:
    np.ones(30_000_000)


def _overrun() -> None:
    np.ones(10**12)


def _raise() -> None:
    raise KeyError("undocumented")


def _answer() -> None:
    check_answers("probabilities", np.array([[0.5, 0.4]]))


FAULTS: dict[str, Callable[[], Any]] = {
    "crash": _crash,
    "hang": _hang,
    "memory": _flood,
    "exception": _raise,
    "answer": _answer,
    "no memory": _overrun,
}
