"""The API pages of the documentation site list every public name."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = (
    "bevel",
    *(f"bevel.{name}" for name in ("analysis", "datasets", "plots", "presets", "projections")),
    "bevel.dask",
    "bevel.scoring",
    "bevel.mlflow",
    "bevel.workflow",
)
NOT_LISTED = {"__version__", "TABLE"}  # values that have no page


def listed_names() -> dict[str, set[str]]:
    """Names below each `currentmodule` of the page."""
    page = (ROOT / "docs/api/index.rst").read_text(encoding="utf-8")
    parts = re.split(r"^\.\. currentmodule:: (\S+)$", page, flags=re.MULTILINE)[1:]
    return {
        module: set(re.findall(r"^   (\w+)$", text, re.MULTILINE))
        for module, text in zip(parts[::2], parts[1::2], strict=True)
    }


@pytest.mark.parametrize("module", MODULES)
def test_page_lists_exactly_the_public_names(module):
    found = importlib.import_module(module)
    public = {name for name in found.__all__ if not inspect.ismodule(getattr(found, name))}
    assert listed_names()[module] == public - NOT_LISTED


def test_every_listed_function_and_class_has_an_example_that_runs():
    without = []
    for module, names in listed_names().items():
        if module == "bevel.mlflow":
            continue  # needs mlflow: tests/clients has them
        for name in sorted(names):
            found = getattr(importlib.import_module(module), name)
            if inspect.isclass(found) and issubclass(found, Exception):
                continue  # raised, not called
            lines = (inspect.getdoc(found) or "").splitlines()
            code = [line for line in lines if line.lstrip().startswith(">>>")]
            if not any("+SKIP" not in line for line in code):
                without.append(f"{module}.{name}")
    assert not without


def test_no_docstring_points_to_a_file_that_a_wheel_does_not_have():
    pointing = []
    for module, names in listed_names().items():
        for name in sorted(names):
            found = getattr(importlib.import_module(module), name)
            parts = [found]
            if inspect.isclass(found):
                parts += [part for key, part in inspect.getmembers(found) if key[0] != "_"]
            texts = [inspect.getdoc(part) or "" for part in parts if callable(part)]
            if any(re.search(r"\b(docs|benchmarks|examples)/|\.md\b", text) for text in texts):
                pointing.append(f"{module}.{name}")
    assert not pointing
