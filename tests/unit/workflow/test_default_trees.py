"""A fit from a file has as many trees as the estimator has by default."""

from __future__ import annotations

import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.workflow.fitting import default_trees


@pytest.mark.parametrize(
    ("task", "kind"),
    [("classification", ObliqueForestClassifier), ("regression", ObliqueForestRegressor)],
)
def test_trees_are_those_of_the_estimator(task, kind):
    assert default_trees(task) == kind().n_estimators
