"""Boosting reads a table in any memory order, and grows the same trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor
from bevel import projections as P

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 5)).astype(np.float32)
X[:, 3] = np.round(X[:, 3])
Y = X[:, 0] + X[:, 1] * X[:, 2]
MISSING = np.where(RNG.random(X.shape) < 0.05, np.float32(np.nan), X)
WEIGHTS = RNG.integers(0, 3, len(X)) + 0.0


def arrays(model: Any) -> dict[str, np.ndarray]:
    return dict(model.forest_.arrays())


@pytest.mark.parametrize("table", [X, MISSING, X[:1], X[:, :1]], ids=["X", "NaN", "row", "column"])
@pytest.mark.parametrize("projection", ["axis", [(P.Axis(), 3)], "sparse"])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_memory_order_does_not_matter(table: Any, projection: Any, weights: Any) -> None:
    if len(table) == 1 and weights is not None:
        weights = np.ones_like(weights)
    if projection != "axis" and table.shape[1] == 1:
        pytest.skip("one column has one direction")
    settings: dict[str, Any] = {"projection": projection, "scale": None, "random_state": 0}
    target, weights = Y[: len(table)], None if weights is None else weights[: len(table)]
    layouts = (
        np.ascontiguousarray(table),
        np.asfortranarray(table),
        table.astype(np.float64),
        np.repeat(table, 2, axis=0)[::2],
    )
    found = [
        ObliqueBoostingRegressor(max_iter=5, n_jobs=n_jobs, early_stopping=False, **settings).fit(
            layout, target, sample_weight=weights
        )
        for n_jobs, layout in enumerate(layouts, 1)
    ]
    for other in found[1:]:
        for name, array in arrays(found[0]).items():
            np.testing.assert_array_equal(array, arrays(other)[name], err_msg=name)
        np.testing.assert_array_equal(found[0].predict(table), other.predict(table))
        np.testing.assert_array_equal(
            found[0].fitted_forest_.encoding.medians, other.fitted_forest_.encoding.medians
        )


def test_no_copy_of_rows_is_changed_or_kept() -> None:
    rows = X.copy()
    model = ObliqueBoostingClassifier(projection="axis", random_state=0, max_iter=4)
    model.fit(rows, Y > 0, X_val=rows[:50], y_val=Y[:50] > 0)
    np.testing.assert_array_equal(rows, X)
    assert rows.flags.writeable
    first = model.predict_proba(X)
    warm = ObliqueBoostingClassifier(
        projection="axis", random_state=0, max_iter=3, warm_start=True, early_stopping=False
    ).fit(rows, Y > 0)
    whole = ObliqueBoostingClassifier(
        projection="axis", random_state=0, max_iter=6, early_stopping=False
    ).fit(rows, Y > 0)
    warm.set_params(max_iter=6).fit(rows, Y > 0)
    np.testing.assert_array_equal(warm.predict_proba(X), whole.predict_proba(X))
    rows[:] = 0.0
    np.testing.assert_array_equal(model.predict_proba(X), first)


def test_numbers_that_cannot_be_read_are_named() -> None:
    rows = X.copy()
    rows[7, 2] = np.inf
    with pytest.raises(ValueError, match="row index 7"):
        ObliqueBoostingRegressor(projection="axis").fit(rows, Y)
