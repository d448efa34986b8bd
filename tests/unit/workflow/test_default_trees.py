"""A fit from a file lets the estimator choose the number of trees by default."""

from __future__ import annotations

import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.workflow.tasks import CLASSIFICATION, FOREST, REGRESSION, Settings


@pytest.mark.parametrize(
    ("task", "kind"),
    [(CLASSIFICATION, ObliqueForestClassifier), (REGRESSION, ObliqueForestRegressor)],
)
def test_trees_are_chosen_by_the_estimator(task, kind):
    assert kind().n_estimators == "auto"
    assert task.default_trees(FOREST) == 0
    assert task.make(Settings(n_trees=0)).n_estimators == "auto"
