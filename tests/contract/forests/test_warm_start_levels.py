"""Rows of a warm start must have the levels of the first fit."""

import re

import numpy as np
import pandas as pd
import pytest

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueForestClassifier,
    ObliqueIsolationForest,
    ObliqueSurvivalForest,
)

ROWS = 40
LABELS = np.arange(ROWS) % 2
SURVIVAL = (1.0 + np.arange(ROWS) % 7, LABELS.astype(bool))

ESTIMATORS = {
    "forest": (ObliqueForestClassifier, "n_estimators", LABELS, {"projection": "sparse"}),
    "boosting": (ObliqueBoostingClassifier, "max_iter", LABELS, {"early_stopping": False}),
    "survival": (ObliqueSurvivalForest, "n_estimators", SURVIVAL, {}),
    "isolation": (ObliqueIsolationForest, "n_estimators", None, {}),
}


def _table(third: object) -> pd.DataFrame:
    city = np.resize(np.array(["Bern", "Cairo"], dtype=object), ROWS)
    city[3] = third
    return pd.DataFrame({"size": np.arange(ROWS, dtype=float) % 9, "city": city})


def _fitted(name: str):
    estimator, trees, y, settings = ESTIMATORS[name]
    model = estimator(**{trees: 3}, warm_start=True, random_state=0, **settings)
    return model.fit(_table("Bern"), y).set_params(**{trees: 5}), y


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(("unseen", "got"), [("Delhi", "'Delhi'"), (None, "a missing value")])
def test_unseen_level_is_refused_with_column_and_row(name, unseen, got):
    model, y = _fitted(name)
    said = f"in nominal column 'city' when warm_start=True; got {got} in row index 3."
    with pytest.raises(ValueError, match=re.escape(said)):
        model.fit(_table(unseen), y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_known_levels_in_another_order_are_taken(name):
    model, y = _fitted(name)
    model.fit(_table("Cairo"), y)
    assert model.forest_.n_trees == 5
