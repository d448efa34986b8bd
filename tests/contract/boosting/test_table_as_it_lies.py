"""Large float32 tables are read where they lie; the models are those of copied ones, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor
from bevel import projections as P
from bevel.projections.families import TableShape
from bevel.training import boosting

N, WITH_NAN, CONSTANT = 1400, 3, 5
Float32s = npt.NDArray[np.float32]


def table() -> tuple[Float32s, npt.NDArray[np.float64]]:
    """Ties, missing values, heavy tails, a constant column; more rows than a tile has."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(N, 7)).astype(np.float32)
    X[:, 2] = np.round(X[:, 2])
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=N)
    X[rng.random(N) < 0.1, WITH_NAN] = np.nan
    X[:, CONSTANT] = 2.0
    return X, y


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Float32s]:
    """Tables of any size are read where they lie; what the core was given, fit by fit."""
    monkeypatch.setattr(boosting, "LARGE_TABLE", 0)
    given: list[Float32s] = []
    core = boosting._core.BoostingData

    def data(*, X: Float32s, **rest: Any) -> Any:
        given.append(X)
        return core(X=X, **rest)

    monkeypatch.setattr(boosting._core, "BoostingData", data)
    return given


def arrays(model: Any, X: Float32s) -> list[npt.NDArray[Any]]:
    made = [*model.forest_.arrays().values(), model.predict(X), model.train_score_]
    if len(model.validation_score_):
        made.append(model.validation_score_)
        if isinstance(model, ObliqueBoostingRegressor):
            made.append(np.asarray(model.predict_interval(X[:50])))
    return made


SETTINGS: list[dict[str, Any]] = [
    {},
    {"projection": "sparse"},
    {"projection": "sparse", "scale": None, "n_jobs": 2},
    {"projection": [P.Axis(), P.RandomCombination(2)], "scale": "standard"},
    {"projection": "axis", "scale": "minmax_clip"},
    {"projection": "axis", "scale": None},
    {"subsample": 0.5, "row_sampling": "gradient", "n_jobs": 2},
    {"early_stopping": True, "validation_fraction": 0.2},
    {"monotonic_cst": [1, 0, 0, 0, 0, 0, 0]},
]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", [ObliqueBoostingClassifier, ObliqueBoostingRegressor])
def test_model_is_that_of_a_copied_table(
    kind: Any, settings: dict[str, Any], order: Any, seen: list[Float32s]
) -> None:
    X, y = table()
    y = (y > 0).astype(float) if kind is ObliqueBoostingClassifier else y
    X = np.asarray(X, order=order)
    settings = {"max_iter": 4, "random_state": 1, "early_stopping": False} | settings
    viewed = kind(**settings).fit(X, y)
    copied = kind(**settings).fit(X.astype(np.float64), y)
    n_fits = len(seen) // 2  # for each of the two, those that held-out rows compare
    shared = [np.shares_memory(X, each) for each in seen]
    assert shared == [True] * n_fits + [False] * n_fits
    for ours, theirs in zip(arrays(viewed, X), arrays(copied, X), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ({"categorical_features": [2]}, {}),
        ({"scale": "rank"}, {}),
        ({"projection": "rotation"}, {}),
        ({}, {"with_validation": True}),
    ],
)
def test_what_needs_a_copy_gets_one(
    settings: dict[str, Any], given: dict[str, bool], seen: list[Float32s]
) -> None:
    X, y = table()
    X[:, 2] = np.abs(X[:, 2]) % 4
    validation = {"X_val": X[:100], "y_val": y[:100]} if given else {}
    model = ObliqueBoostingRegressor(max_iter=2, random_state=0, **settings)
    model.fit(X, y, **validation)
    assert not any(np.shares_memory(X, each) for each in seen)
    assert np.isfinite(model.predict(X)).all()


def test_more_iterations_on_a_table_that_was_read_where_it_lies(seen: list[Float32s]) -> None:
    X, y = table()
    first = ObliqueBoostingRegressor(
        max_iter=2, early_stopping=False, warm_start=True, random_state=0
    ).fit(X, y)
    more = first.set_params(max_iter=4).fit(X, y)
    whole = ObliqueBoostingRegressor(max_iter=4, early_stopping=False, random_state=0).fit(X, y)
    assert [np.shares_memory(X, each) for each in seen] == [True, False, True]
    np.testing.assert_allclose(more.predict(X), whole.predict(X), rtol=1e-12)


def test_default_has_fewer_combinations_of_large_tables() -> None:
    count = [
        boosting.default_combinations(TableShape(n, p, 0))
        for n, p in ((100_000, 28), (1_000_000, 28), (10_000_000, 5), (100_000, 300))
    ]
    assert count == [100, 64, 16, 300]


def test_small_tables_are_copied() -> None:
    assert not boosting.can_train_in_place(None, 100_000, 28, "quantile")
    assert boosting.can_train_in_place(None, 1_000_000, 28, "quantile")
    assert not boosting.can_train_in_place(None, 100_000, 5000, "quantile")
