"""A fit from a file has as many trees as the estimator has by default."""

from __future__ import annotations

import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.workflow.tasks import CLASSIFICATION, FOREST, REGRESSION


@pytest.mark.parametrize(
    ("task", "kind"),
    [(CLASSIFICATION, ObliqueForestClassifier), (REGRESSION, ObliqueForestRegressor)],
)
def test_trees_are_those_of_the_estimator(task, kind):
    assert task.default_trees(FOREST) == kind().n_estimators
