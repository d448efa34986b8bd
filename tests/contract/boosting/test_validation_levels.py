"""Validation rows with levels that the training rows lack."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor

EFFECT = {"a": 0.0, "b": 2.0, "c": 4.0, "d": -1.0}


def _table(n: int, levels: str, seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    level = pd.Series(rng.choice(list(levels), n), dtype=object)
    table = pd.DataFrame({"size": rng.normal(size=n), "kind": level})
    return table, table["size"] + level.map(EFFECT).fillna(1.0) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("n_levels", [4, 300])
@pytest.mark.parametrize("classify", [False, True])
def test_unseen_levels_and_missing_values_validate_as_they_are_predicted(
    classify: bool, n_levels: int
) -> None:
    X, y = _table(400, "abcd", 0)
    if n_levels > 4:  # more than have codes of their own
        X.loc[:n_levels, "kind"] = [f"level {i}" for i in range(n_levels + 1)]
    rows, truth = _table(100, "abcdz", 1)
    rows.loc[[3, 7], "kind"] = None
    kind = ObliqueBoostingClassifier if classify else ObliqueBoostingRegressor
    if classify:
        y, truth = y > 1, truth > 1
    model = kind(max_iter=40, random_state=0).fit(X, y, X_val=rows, y_val=truth)
    if classify:
        expected = log_loss(truth, model.predict_proba(rows))
    else:
        expected = 0.5 * float(np.mean((model.predict(rows) - truth) ** 2))
    assert -model.validation_score_[model.n_iter_ - 1] == pytest.approx(expected)
