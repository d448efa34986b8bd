"""The table of the documents names things that exist, and the page is the table."""

import re
from pathlib import Path

import pytest

import bevel
from bevel_lab.paper_figures import FIGURES
from bevel_lab.papers import VERDICTS, page, read_documents
from bevel_lab.papers.rows import KINDS
from bevel_lab.protocols import PROTOCOLS

ROOT = Path(__file__).parents[3]
ROWS = [row for document in read_documents() for row in document.rows]
MODULES = {
    "presets": bevel.presets,
    "P": bevel.projections,
    "bevel.analysis": bevel.analysis,
    "bevel.plots": bevel.plots,
}


def names_in(row):
    return re.findall(r"\b(presets|P|bevel\.analysis|bevel\.plots)\.(\w+)", row.where)


def test_there_are_five_documents():
    assert [each.key for each in read_documents()] == ["sporf", "tomita", "menze", "lin", "blaser"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.place)
def test_row_is_complete_and_names_what_exists(row):
    assert row.kind in KINDS
    assert row.verdict in VERDICTS
    assert row.place
    assert row.what
    assert (row.where == "") <= (row.verdict in ("not built", "not run"))
    for module, name in names_in(row):
        assert hasattr(MODULES[module], name), f"{module}.{name}"
    for experiment in re.findall(r"bevel lab run ([\w-]+)", row.run):
        assert experiment in PROTOCOLS
    for figure in re.findall(r"bevel lab figure ([\w.-]+)", row.run):
        assert figure in FIGURES
    for name in re.findall(r"\b([A-Z]\w+(?:Classifier|Regressor|Forest|Features))\b", row.where):
        assert hasattr(bevel, name), name
    if row.verdict in ("holds", "undecided", "fails"):
        assert row.ours
    if row.run.startswith("docs: "):
        assert (ROOT / "docs" / f"{row.run.removeprefix('docs: ')}.md").exists()


def test_an_unknown_name_would_be_found():
    """The pattern of the test above sees every way that the table writes a name."""
    seen = {module for row in ROWS for module, _ in names_in(row)}
    assert seen == set(MODULES)


def test_page_is_the_table():
    written = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert written == page(), "run: bevel lab papers --out docs/papers.md"


def test_every_experiment_of_the_lab_with_a_paper_is_in_the_table():
    named = " ".join(f"{row.where} {row.run}" for row in ROWS)
    assert [name for name in FIGURES if name not in named] == []
    of_papers = [each.name for each in PROTOCOLS.values() if not each.paper.startswith("No paper")]
    assert [name for name in of_papers if name not in named] == []
