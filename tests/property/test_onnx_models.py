"""ONNX models answer what the forests answer, on forests and rows that Hypothesis makes up.

Values are small multiples of 1/8, so that ties and values on thresholds are common. Where
onnxruntime may add in another order (long directions by matrix products), see the last test.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from support.onnx_models import Exported, answers

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.data.scaling import SCALES

FAMILIES = {
    "axis": "axis",
    "sparse": "sparse",
    "long signs": P.SparseSigns(density=0.9),
    "combination": "combination",
    "gaussian": "gaussian",
    "rotation": "rotation",
    "rotation per node": P.RandomRotation(per="node"),
    "multirotation": P.MultiRotation(3),
    "principal": "principal",
    "ridge": "ridge",
    "lda": "lda",
    "axes and dense": ["axis", P.RandomRotation(per="node")],
    "axes and rotation": ["axis", "sparse", "rotation"],
}
ROUTES = pytest.mark.parametrize("route", ["trees", "walk"])


@st.composite
def numbers(draw: st.DrawFn, n_rows: int, n_features: int) -> np.ndarray:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.integers(-16, 17, (n_rows, n_features)) / 8.0
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.1, 0.6]))] = np.nan
    return X


@st.composite
def targets(draw: st.DrawFn, X: np.ndarray) -> np.ndarray:
    """Classes, from one to a hundred, or values (floats), that partly follow the first column."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = np.nan_to_num(X[:, 0]) + rng.normal(size=len(X))
    if draw(st.booleans()):
        return values
    n_classes = draw(st.sampled_from([1, 2, 3, 10, 100]))
    return (values * 1000).astype(int) // 200 % n_classes


@st.composite
def forests(draw: st.DrawFn, y: np.ndarray, families: Any = tuple(FAMILIES)) -> Any:
    common = {
        "n_estimators": draw(st.integers(1, 4)),
        "projection": FAMILIES[draw(st.sampled_from(families))],
        "scale": draw(st.sampled_from(["auto", None, *SCALES])),
        "max_depth": draw(st.sampled_from([1, 3, None])),
        "min_samples_leaf": draw(st.sampled_from([1, 5])),
        "random_state": draw(st.integers(0, 1000)),
    }
    if y.dtype.kind == "f":
        return ObliqueForestRegressor(**common)
    return ObliqueForestClassifier(voting=draw(st.sampled_from(["soft", "hard"])), **common)


@st.composite
def numeric_problems(draw: st.DrawFn) -> tuple[Any, np.ndarray, np.ndarray]:
    n = draw(st.sampled_from([1, 2, 15, 60, 150]))
    X = draw(numbers(n, draw(st.integers(1, 6))))
    y = draw(targets(X))
    return draw(forests(y)), X, y


def quietly_fitted(forest: Any, X: Any, y: np.ndarray) -> Any:
    with warnings.catch_warnings():  # classes that scikit-learn takes for values, constant columns
        warnings.simplefilter("ignore")
        return forest.fit(X, y)


def expected(forest: Any, X: Any) -> np.ndarray:
    return forest.predict_proba(X) if hasattr(forest, "classes_") else forest.predict(X)


def fresh(X: np.ndarray) -> np.ndarray:
    """Training rows, and others between and far beyond them."""
    rng = np.random.default_rng(0)
    others = rng.normal(scale=3.0, size=(30, X.shape[1])).round(2)
    others[::7, 0] = np.nan
    others[0] = 1e6
    return np.vstack([X, others])


@ROUTES
@settings(max_examples=40)
@given(problem=numeric_problems())
def test_model_of_numbers_predicts_what_the_forest_predicts(
    route: str, problem: tuple[Any, np.ndarray, np.ndarray]
) -> None:
    forest, X, y = problem
    quietly_fitted(forest, X, y)
    rows = fresh(X)
    answered = answers(forest, rows, route=route, dtype="float64")
    np.testing.assert_allclose(answered, expected(forest, rows), rtol=1e-14, atol=1e-15)


@settings(max_examples=30)
@given(problem=numeric_problems())
def test_model_of_float32_predicts_up_to_float32(
    problem: tuple[Any, np.ndarray, np.ndarray],
) -> None:
    forest, X, y = problem
    quietly_fitted(forest, X.astype(np.float32), y)
    rows = fresh(X).astype(np.float32)
    answered = answers(forest, rows)
    assert answered.dtype == np.float32
    np.testing.assert_allclose(answered, expected(forest, rows), rtol=1e-6, atol=1e-7)


LABELS: dict[str, Any] = {
    "text": np.array([f"level {i}" for i in range(70)], dtype=object),
    "few": np.array(["", "a", "b", "ä"], dtype=object),
    "whole": np.arange(33) * 7 - 3,
    "broken": np.arange(32) / 4.0,
    "flags": np.array([False, True]),
}


@st.composite
def nominal_problems(draw: st.DrawFn) -> tuple[Any, pd.DataFrame, pd.DataFrame, np.ndarray]:
    n = draw(st.sampled_from([5, 40, 120]))
    numeric = draw(numbers(n, draw(st.integers(1, 3))))
    X = pd.DataFrame(numeric)
    X.columns = [f"number {i}" for i in range(X.shape[1])]
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    rows = X.copy()
    kinds = draw(st.lists(st.sampled_from(sorted(LABELS)), min_size=1, max_size=3, unique=True))
    for kind in kinds:
        place = draw(st.integers(0, X.shape[1]))
        labels = LABELS[kind]
        seen = rng.choice(labels[: 1 + len(labels) // 2], n)
        later = rng.choice(labels, n)  # half of them never seen
        if kind in ("text", "broken") and draw(st.booleans()):
            seen = np.where(rng.random(n) < 0.2, np.nan if kind == "broken" else None, seen)
        if kind in ("text", "broken"):
            later = np.where(rng.random(n) < 0.2, np.nan if kind == "broken" else None, later)
        X.insert(place, kind, seen)
        rows.insert(place, kind, later)
    y = draw(targets(numeric))
    forest = draw(forests(y, ("axis", "sparse", "gaussian", "rotation", "axes and dense")))
    forest.set_params(categorical_features=kinds)
    return forest, X, rows, y


@ROUTES
@settings(max_examples=30)
@given(problem=nominal_problems())
def test_model_with_labels_predicts_what_the_forest_predicts(
    route: str, problem: tuple[Any, pd.DataFrame, pd.DataFrame, np.ndarray]
) -> None:
    forest, X, rows, y = problem
    quietly_fitted(forest, X, y)
    exported = Exported(forest, route=route, dtype="float64")
    for table in (X, rows, rows.head(1)):
        answered = exported.answers(table)
        np.testing.assert_allclose(answered, expected(forest, table), rtol=1e-14, atol=1e-15)


@ROUTES
@pytest.mark.parametrize("projection", ["rotation", "principal", P.RandomRotation(per="node")])
def test_long_directions_differ_only_within_rounding_of_a_threshold(
    route: str, projection: Any
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    forest = ObliqueForestClassifier(10, projection=projection, scale=None, random_state=0)
    forest.fit(X, y)
    rows = rng.normal(size=(500, 12)).astype(np.float32)
    clear = ~near_a_threshold(forest.forest_, rows)
    assert clear.mean() > 0.9
    answered = answers(forest, rows, route=route, dtype="float64")
    np.testing.assert_allclose(answered[clear], forest.predict_proba(rows)[clear], atol=1e-14)


def near_a_threshold(forest: Any, rows: np.ndarray) -> np.ndarray:
    """Rows that some split of the forest puts within rounding of its threshold."""
    near = np.zeros(len(rows), bool)
    for tree in forest:
        for node in np.flatnonzero(tree.children_right >= 0):
            features, weights = tree.projection(node)
            terms = rows[:, features].astype(np.float64) * weights
            size = np.abs(terms).sum(axis=1) + abs(float(tree.threshold[node]))
            near |= np.abs(terms.sum(axis=1) - tree.threshold[node]) < 1e-6 * size
    return near
