"""The Python code in documents runs as it stands, block after block in one session."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def python_blocks(document: Path) -> list[tuple[int, str]]:
    """Line and code of each block."""
    text = document.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start(1)), found[1]) for found in BLOCK.finditer(text)]


@pytest.mark.parametrize(
    "name",
    [
        "README",
        "docs/tutorial",
        "docs/coming_from/boosting_libraries",
        "docs/coming_from/scikit_learn",
        "docs/coming_from/treeple",
        "docs/guide/defaults",
        "docs/guide/many_features",
        "docs/guide/missing_and_nominal",
        "docs/guide/projections",
        "docs/guide/reproducibility",
        "docs/guide/serving",
        "docs/guide/structured",
        "docs/guide/tuning",
        "docs/guide/uncertainty",
        "docs/guide/understanding",
        "docs/guide/weights",
        "docs/reference/boosting",
        "docs/reference/effects",
        "docs/reference/importance",
        "docs/reference/importance_tests",
        "docs/reference/permutation",
        "docs/reference/plots",
        "docs/reference/proximity",
        "docs/reference/rotated_ensembles",
        "docs/reference/rotation_ensembles",
        "docs/reference/tuning",
        "docs/reference/why_it_works",
    ],
)
def test_code_of_document_runs(name, tmp_path, monkeypatch):
    document = ROOT / f"{name}.md"
    monkeypatch.chdir(tmp_path)  # some save models and pictures
    mpl.use("Agg")
    session: dict[str, object] = {}
    for line, code in python_blocks(document):
        # As many lines before the code as in the file, so that a traceback names the right one.
        exec(compile("\n" * line + code, document, "exec"), session)
    plt.close("all")
    assert session
