"""Small fitted estimators that have, among them, everything a model file can hold."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.estimators.loading import restore
from bevel.estimators.registry import KINDS, kind_of
from bevel.files.model import read_model, write_model


def file_of(estimator: Any) -> bytes:
    """The file of an estimator, in memory."""
    return b"".join(write_model(estimator._to_store(), kind_of(estimator)))


def estimator_of(source: bytes, *, mapped: bool = False) -> Any:
    """The estimator of a file in memory."""
    return restore(read_model(source, KINDS, mapped=mapped))


def numbers(n_rows: int = 60, n_features: int = 4, missing: float = 0.0) -> np.ndarray:
    """Rows of numbers, some of them missing."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_rows, n_features))
    X[rng.random(X.shape) < missing] = np.nan
    return X


def frame(n_rows: int = 60) -> pd.DataFrame:
    """Rows with a nominal column of text, one of integers, and one of numbers, with holes."""
    rng = np.random.default_rng(6)
    city = rng.choice(["Basel", "Genf", "Zürich"], n_rows).astype(object)
    city[::7] = None
    x = np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows))
    return pd.DataFrame({"city": city, "floor": rng.integers(0, 40, n_rows), "x": x})


def classes(n_rows: int = 60) -> np.ndarray:
    return np.random.default_rng(7).choice(["no", "perhaps", "yes"], n_rows)


def target(n_rows: int = 60) -> np.ndarray:
    return np.random.default_rng(8).normal(size=n_rows)


@cache
def small_models() -> dict[str, tuple[Any, Any]]:
    """Fitted estimators and rows that they predict, by name."""
    X, holes = numbers(), numbers(missing=0.2)
    few = {"n_estimators": 12, "random_state": 1, "n_jobs": 1}
    matrix = np.eye(4)[:, :3] + 0.5
    sparse = ObliqueForestClassifier(
        projection="sparse", oob_score=True, class_weight={"no": 2, "yes": 0.5}, **few
    )
    shared = ObliqueForestClassifier(**few)
    ranks = ObliqueForestRegressor(projection=P.RandomRotation(), scale="rank", **few)
    nominal = ObliqueForestClassifier(
        voting="hard", categorical_features=["city", "floor"], scale="standard", **few
    )
    custom = ObliqueForestClassifier(projection=[P.Custom(matrix), (P.Axis(), 2)], **few)
    leaf = ObliqueForestRegressor(n_estimators=1, random_state=0, min_samples_split=61)
    kept = ObliqueForestRegressor(keep_targets=True, max_depth=3, **few)
    weights = np.arange(60) % 4 / 2.0
    return {
        "kept": (kept.fit(X, target(), sample_weight=weights), X),
        "sparse": (sparse.fit(holes, classes()), holes),
        "families": (shared.fit(X, classes()), X),
        "ranks": (ranks.fit(holes, target()), holes),
        "nominal": (nominal.fit(frame(), classes()), frame()),
        "custom": (custom.fit(X, classes() == "no"), X),
        "leaf": (leaf.fit(X, target()), X),
    }
