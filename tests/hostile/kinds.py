"""The kinds of cases: how a number becomes a case, and how a case is checked."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

# Imported when wanted: each has functions `make` (of a number), `given` (of what a case is made of)
# and `check`.
MODULES = {"files": "file_cases", "inputs": "input_cases", "tables": "table_cases"}
MODULES |= {"planted": "planted"}


def kind_of(cases: str) -> ModuleType:
    """The module that makes and checks cases of a kind."""
    return import_module(f".{MODULES[cases]}", __package__)
