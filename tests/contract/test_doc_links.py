"""Links of estimators in notebooks lead to a section of a document that there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from sklearn.utils import estimator_html_repr

import bevel
from bevel import estimators
from bevel.analysis import ProximityImputer

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "estimators.md"
CLASSES = [*(getattr(estimators, name) for name in estimators.__all__), ProximityImputer]


@pytest.mark.parametrize("kind", CLASSES)
def test_estimator_links_to_its_section(kind):
    forest = bevel.ObliqueForestClassifier()
    estimator = kind(forest) if kind is ProximityImputer else kind()
    html = estimator_html_repr(estimator)
    assert f"/reference/estimators.html#{kind.__name__.lower()}" in html
    assert f"\n## {kind.__name__}\n" in DOCUMENT.read_text("utf-8")
