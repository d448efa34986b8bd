"""The Python code in documents runs as it stands, and prints what the document shows."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from printed_outputs import BLOCK, rerun

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(each, id=str(each.relative_to(ROOT)))
        for each in DOCUMENTS
        if BLOCK.search(each.read_text("utf-8"))
    ],
)
def test_code_of_document_runs_and_prints_what_is_shown(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some save models and pictures
    mpl.use("Agg")
    shown = document.read_text(encoding="utf-8")
    printed = rerun(shown)
    plt.close("all")
    # Mathematics libraries of other systems may round the last digit otherwise.
    if sys.platform == "linux":
        assert printed == shown, f"python tools/printed_outputs.py --write {document} mends it"
