"""That a value is missing is learned by every criterion, where trees split single features."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, ObliqueSurvivalForest
from bevel import projections as P

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
X[RNG.random(300) < 0.4, 2] = np.nan
MISSING = np.isnan(X[:, 2])
HALVES = np.arange(300) < 150


def accuracy(estimator: object, y: np.ndarray) -> float:
    """R² or accuracy on rows that the forest has not seen."""
    return float(estimator.fit(X[HALVES], y[HALVES]).score(X[~HALVES], y[~HALVES]))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize(
    "projection", ["auto", [(P.Axis(), "p")], [(P.Axis(), "p"), "sparse"]], ids=str
)
def test_regression_of_missingness_is_nearly_exact(criterion: str, projection: object) -> None:
    forest = ObliqueForestRegressor(50, projection=projection, criterion=criterion, random_state=0)
    assert accuracy(forest, 1.0 + 2.0 * MISSING) > 0.9


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_classes_of_missingness_are_nearly_exact(criterion: str) -> None:
    forest = ObliqueForestClassifier(50, projection="axis", criterion=criterion, random_state=0)
    assert accuracy(forest, MISSING) > 0.95


def test_combinations_alone_do_not_see_that_a_value_is_missing() -> None:
    """What the guide says of them: they see the median, which other rows have nearly as well."""
    forest = ObliqueForestRegressor(
        50, projection="gaussian", criterion="squared_error", random_state=0
    )
    with_axis = ObliqueForestRegressor(50, projection=["axis", "gaussian"], random_state=0)
    y = 1.0 + 2.0 * MISSING
    assert accuracy(with_axis, y) > accuracy(forest, y)


def times(signal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Exponential times, ten times as long where the signal is; a fifth of them censored."""
    rng = np.random.default_rng(1)
    return rng.exponential(np.where(signal, 10.0, 1.0)), rng.random(len(signal)) < 0.8


@pytest.mark.parametrize(
    ("criterion", "causes"), [("log_rank", False), ("log_rank_score", False), ("log_rank", True)]
)
def test_survival_of_missingness_is_seen(criterion: str, causes: bool) -> None:
    time, event = times(MISSING)
    y = event * np.where(np.arange(300) % 2, 1, 2) if causes else event
    forest = ObliqueSurvivalForest(
        50, criterion=criterion, competing_risks=causes, random_state=0
    ).fit(X[HALVES], (time[HALVES], y[HALVES]))
    risk = forest.predict(X[~HALVES])
    assert risk[MISSING[~HALVES]].max() < np.median(risk[~MISSING[~HALVES]])


def test_survival_of_missing_labels_is_seen() -> None:
    pandas = pytest.importorskip("pandas")
    labels = np.where(X[:, 0] > 0, "a", "b").astype(object)
    labels[MISSING] = None
    frame = pandas.DataFrame({"label": pandas.Categorical(labels), "noise": X[:, 1]})
    time, event = times(MISSING)
    forest = ObliqueSurvivalForest(50, random_state=0)
    forest.fit(frame[HALVES], (time[HALVES], event[HALVES]))
    risk = forest.predict(frame[~HALVES])
    assert np.median(risk[MISSING[~HALVES]]) < risk[~MISSING[~HALVES]].min()


def test_several_outputs_see_that_a_value_is_missing() -> None:
    y = np.column_stack([1.0 + 2.0 * MISSING, 5.0 - MISSING])
    forest = ObliqueForestRegressor(50, projection=[(P.Axis(), "p")], random_state=0)
    assert accuracy(forest, y) > 0.9
    classes = np.column_stack([MISSING, MISSING & HALVES | (X[:, 0] > 0)]).astype(int)
    both = ObliqueForestClassifier(50, projection=[(P.Axis(), "p")], random_state=0)
    both.fit(X[HALVES], classes[HALVES])
    assert (both.predict(X[~HALVES])[:, 0] == MISSING[~HALVES]).mean() > 0.95
