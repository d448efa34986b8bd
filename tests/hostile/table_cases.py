"""Hostile tables: files that are damaged or change, shared folders, odd values, extreme sizes.

A case is a page of JSON whose `kind` names one of the modules below. Each of them has `make`, a
case by a random generator, and `check`, which runs it and returns its outcome.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from . import (
    changing_tables,
    damaged_tables,
    deep_trees,
    many_classes,
    odd_types,
    shared_folders,
    short_memory,
)

KINDS: dict[str, ModuleType] = {
    "damaged": damaged_tables,
    "changing": changing_tables,
    "folders": shared_folders,
    "types": odd_types,
    "deep": deep_trees,
    "classes": many_classes,
    "memory": short_memory,
}
SHARES = (70, 50, 20, 48, 6, 4, 1)


@dataclass(frozen=True)
class TableCase:
    """What a case is made of, and how it reads."""

    spec: dict[str, Any]

    @property
    def how(self) -> str:
        return json.dumps(self.spec)


def make(number: int) -> TableCase:
    """The case of a number, always the same."""
    rng = random.Random(f"tables {number}")
    kind = rng.choices(list(KINDS), SHARES)[0]
    return TableCase({"kind": kind, **KINDS[kind].make(rng)})


def given(case: dict[str, Any]) -> TableCase:
    """A case kept from an earlier run."""
    return TableCase(case)


def check(case: TableCase) -> str:
    """Run a case."""
    return KINDS[case.spec["kind"]].check(case.spec)
