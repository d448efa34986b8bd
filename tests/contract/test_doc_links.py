"""Links of estimators in notebooks lead to a document that there is, or are not shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from sklearn.utils import estimator_html_repr

import bevel
from bevel import estimators
from bevel.analysis import ProximityImputer
from bevel.estimators._doc_link import DOCUMENTATION, LinksToDocuments, published_at

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "estimators.md"
CLASSES = [*(getattr(estimators, name) for name in estimators.__all__), ProximityImputer]


ADDRESS = "https://example.org/bevel"


def html_of(kind):
    forest = bevel.ObliqueForestClassifier()
    return estimator_html_repr(kind(forest) if kind is ProximityImputer else kind())


@pytest.mark.parametrize("kind", CLASSES)
def test_estimator_links_to_its_section_where_the_documents_are_published(kind, monkeypatch):
    monkeypatch.setattr(LinksToDocuments, "_doc_link_module", "bevel")
    template = f"{ADDRESS}/reference/estimators.html#{{section}}"
    monkeypatch.setattr(LinksToDocuments, "_doc_link_template", template)
    assert f"{ADDRESS}/reference/estimators.html#{kind.__name__.lower()}" in html_of(kind)
    assert f"\n## {kind.__name__}\n" in DOCUMENT.read_text("utf-8")


@pytest.mark.parametrize("kind", CLASSES)
def test_estimator_shows_no_link_while_nothing_is_published(kind, monkeypatch):
    monkeypatch.setattr(LinksToDocuments, "_doc_link_module", "")
    html = html_of(kind)
    assert "estimators.html" not in html
    assert "Documentation for" not in html


def test_address_is_the_one_of_the_distribution():
    assert published_at(()) == ""
    assert published_at(["Source, https://a.org", f"Documentation, {ADDRESS}/"]) == ADDRESS
    assert LinksToDocuments._doc_link_module == ("bevel" if DOCUMENTATION else "")
