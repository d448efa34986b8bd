"""Small saved estimators of every kind: what hostile files are made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from support.model_files import file_of

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRanker,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    ObliqueSurvivalBoosting,
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
)
from bevel import projections as P

from . import isolation_cases, survival_cases

N_ROWS = 40
KEPT_FILES = Path(__file__).parents[1] / "compat" / "files"


@dataclass(frozen=True, eq=False)
class Source:
    """A sound file, and the training rows of its estimator where they are known."""

    name: str
    data: bytes
    X: Any = None
    y: Any = None


@cache
def sources() -> tuple[Source, ...]:
    """All sound files, the same in every run."""
    return tuple(_grown()) + tuple(
        Source(f"kept {path.stem} of {path.parent.name}", path.read_bytes())
        for path in sorted(KEPT_FILES.rglob("*.bevel"))
    )


def _grown() -> list[Source]:
    small = {"max_depth": 3, "random_state": 1, "n_jobs": 1}
    few = {**small, "n_estimators": 2}
    rotations = {**small, "n_estimators": 4, "n_rotations": 2, "n_micro_trees": 1}
    boosted = {**small, "max_iter": 3, "min_samples_leaf": 2}
    made = []
    for name, (kind, parameters, X, y) in _all_recipes().items():
        common = rotations if kind in _OF_ROTATIONS else boosted if kind in _BOOSTED else few
        weights = np.arange(N_ROWS) % 4 / 2.0 if "weighted" in name else None
        if kind is ObliqueIsolationForest:
            common = {key: value for key, value in few.items() if key != "max_depth"}
        given = {"groups": np.arange(N_ROWS) // 5} if kind is ObliqueBoostingRanker else {}
        estimator = kind(**{**common, **parameters}).fit(X, y, sample_weight=weights, **given)
        estimator = estimator.slim() if "slim" in name else estimator
        made.append(Source(name, file_of(estimator), X, y))
    return made


_BOOSTED = (
    ObliqueBoostingClassifier,
    ObliqueBoostingRanker,
    ObliqueBoostingRegressor,
    ObliqueSurvivalBoosting,
)
_OF_ROTATIONS = (RegularizedRotationClassifier, RegularizedRotationRegressor)
Recipe = tuple[Callable[..., Any], dict[str, Any], Any, Any]


def _recipes() -> dict[str, Recipe]:
    X, holes, table, y, text = _numbers(0.0), _numbers(0.2), _frame(), _target(), _labels()
    sparse = {"projection": "sparse"}
    return {
        "axis": (ObliqueForestClassifier, {"projection": "axis", "voting": "hard"}, X, y > 0),
        "sparse": (ObliqueForestClassifier, {**sparse, "oob_score": True}, holes, text),
        "weighted": (
            ObliqueForestClassifier,
            {"class_weight": {"no": 2, "yes": 0.5}, "scale": "minmax_clip"},
            X,
            text,
        ),
        "rotation ranks": (
            ObliqueForestRegressor,
            {"projection": P.RandomRotation(), "scale": "rank"},
            holes,
            y,
        ),
        "relative ranks": (
            ObliqueForestRegressor,
            {"projection": "gaussian", "scale": "relative_rank", "oob_score": True},
            X,
            y,
        ),
        "multirotation": (
            ObliqueForestRegressor,
            {"projection": P.MultiRotation(3), "scale": "standard"},
            X,
            y,
        ),
        "ridge": (
            ObliqueForestClassifier,
            {"projection": P.Ridge(2, tune="gcv", record=True)},
            X,
            text,
        ),
        "custom": (
            ObliqueForestClassifier,
            {"projection": [P.Custom(np.eye(4)[:, :3] + 0.5), (P.Axis(), 2)]},
            X,
            (y > 0).astype(int),
        ),
        "function": (ObliqueForestRegressor, {"projection": P.Custom(_signs)}, X, y),
        "nominal": (
            ObliqueForestClassifier,
            {"categorical_features": ["city", "floor"], "scale": "standard"},
            table,
            text,
        ),
        "nominal values": (ObliqueForestRegressor, {"keep_targets": True}, table, y),
        "kept weighted": (ObliqueForestRegressor, {"keep_targets": True}, X, y),
        "slim": (ObliqueForestClassifier, {"projection": "axis"}, X, np.arange(N_ROWS) % 3 - 1),
        "slim values": (ObliqueForestRegressor, {"max_samples": 0.5, "replace": False}, X, y),
        "all rows": (ObliqueForestRegressor, {"bootstrap": False, "max_leaf_nodes": 4}, X, y),
        "root": (ObliqueForestRegressor, {"min_samples_split": N_ROWS + 1}, X, y),
        "rotations": (RegularizedRotationClassifier, {}, holes, text),
        "rotation values": (RegularizedRotationRegressor, {"weighting": "oob"}, X, y),
    }


def _all_recipes() -> dict[str, Recipe]:
    numbers = (_numbers(0.0), _numbers(0.2), _frame())
    isolation = isolation_cases.recipes(*numbers)
    survival = survival_cases.recipes(*numbers)
    boosting = _recipes_of_boosting()
    return _recipes() | _newer_recipes() | _recipes_of_outputs() | survival | isolation | boosting


def _recipes_of_outputs() -> dict[str, Recipe]:
    """Forests of several outputs."""
    X, holes, table, y, text = _numbers(0.0), _numbers(0.2), _frame(), _target(), _labels()
    words = pd.DataFrame({"answer": text, "sign": y > 0, "size": np.arange(N_ROWS) % 4})
    values = np.column_stack([y, 3.0 * y + X[:, 0], np.arange(N_ROWS)])
    sparse = {"projection": "sparse"}
    return {
        "outputs": (ObliqueForestClassifier, {**sparse, "oob_score": True}, holes, words),
        "outputs hard weighted": (
            ObliqueForestClassifier,
            {"projection": "axis", "voting": "hard"},
            table,
            words[["sign", "answer"]],
        ),
        "outputs of values": (ObliqueForestRegressor, sparse, holes, values),
        "outputs of values slim": (ObliqueForestRegressor, sparse, table, values[:, :2]),
        "outputs families": (ObliqueForestClassifier, {"n_estimators": 24}, X, words),
    }


def _newer_recipes() -> dict[str, Recipe]:
    """Families that are chosen by the data, boosting, and columns of dates."""
    X, holes, table, y, text = _numbers(0.0), _numbers(0.2), _frame(), _target(), _labels()
    dates = _frame().assign(
        day=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N_ROWS), "D")
    )
    axes = {"projection": "axis"}
    return {
        "families": (ObliqueForestClassifier, {"n_estimators": 24, "max_depth": 2}, holes, text),
        "families of values": (ObliqueForestRegressor, {"n_estimators": 24, "max_depth": 2}, X, y),
        "entropy": (ObliqueForestClassifier, {"criterion": "entropy"}, X, text),
        "dates": (ObliqueForestClassifier, {"projection": "sparse"}, dates, text),
        "boosted two weighted": (ObliqueBoostingClassifier, {}, holes, y > 0),
        "boosted three": (ObliqueBoostingClassifier, {"max_iter": 2}, X, text),
        "boosted nominal": (ObliqueBoostingClassifier, axes, table, y > 0),
        "boosted values": (ObliqueBoostingRegressor, {"subsample": 0.8}, holes, y),
        "boosted counts": (ObliqueBoostingRegressor, {"loss": "poisson"}, X, np.arange(N_ROWS) % 5),
        "boosted quantile": (
            ObliqueBoostingRegressor,
            {"loss": "quantile", "quantile": 0.9, "early_stopping": True},
            dates,
            y,
        ),
    }


def _recipes_of_boosting() -> dict[str, Recipe]:
    """Trees whose splits are shared, linear leaves, rankings and survival."""
    X, holes, table, y = _numbers(0.0), _numbers(0.2), _frame(), _target()
    shared = {"growth": "symmetric", "multi_strategy": "multi_output_tree"}
    linear, times = {"linear_leaves": True}, (np.exp(y), y < 0.5)
    return {
        "boosted linear": (ObliqueBoostingRegressor, linear, holes, y),
        "boosted linear nominal": (ObliqueBoostingRegressor, {**linear, **shared}, table, y),
        "boosted shared": (ObliqueBoostingClassifier, shared, X, _labels()),
        "ranking": (ObliqueBoostingRanker, {}, holes, np.arange(N_ROWS) % 4),
        "hazards": (ObliqueSurvivalBoosting, {}, table, times),
        "failure times weighted": (ObliqueSurvivalBoosting, {"loss": "weibull"}, X, times),
    }


def _numbers(missing: float) -> np.ndarray:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N_ROWS, 4)).round(3)
    X[rng.random(X.shape) < missing] = np.nan
    return X


def _frame() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    city = rng.choice(np.array(["Basel", "Genf", "Zürich", None], dtype=object), N_ROWS)
    x = np.where(rng.random(N_ROWS) < 0.2, np.nan, rng.normal(size=N_ROWS))
    return pd.DataFrame({"city": city, "floor": rng.integers(0, 40, N_ROWS), "x": x})


def _target() -> np.ndarray:
    return np.random.default_rng(8).normal(size=N_ROWS).round(3)


def _labels() -> np.ndarray:
    return np.random.default_rng(7).choice(["no", "perhaps", "yes"], N_ROWS)


def _signs(rng: np.random.Generator, X: np.ndarray, *_: Any) -> np.ndarray:
    return rng.choice([-1.0, 0.0, 1.0], size=(X.shape[1], 3))
