"""Fits of random models to tiny tables with extreme numbers; run in a process of its own.

`python extreme_inputs.py SEED N` fits N models. A crash or a hang ends or outlasts the process, any
other fault is an AssertionError. The last line that it prints says what was fitted last.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from bevel import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
    RotatedBoostingClassifier,
    RotatedBoostingRegressor,
    StackedRotationClassifier,
    StackedRotationRegressor,
)
from bevel import projections as P

SIZES = (0.0, 1e-320, 1e-300, 1e-160, 1e-40, 1e-20, 1e-15, 1e-3, 1.0, 1e3, 1e15, 1e18, 1e40, 1e300)
PROJECTIONS = (
    *("axis", "sparse", "combination", "gaussian", "rotation", "multirotation", "principal"),
    *("ridge", "lda", "logistic", "pls", "cca"),
    P.RandomRotation(per="node"),
    P.PrincipalRotation(2, per="node"),
    P.Patches((3,)),
    P.Custom(np.eye(3)),
    P.Ridge(tune="oob"),
    P.Ridge(record=True),
    P.LDA(record=True),
    P.Logistic(record=True),
)
FORESTS = (ObliqueForestClassifier, ObliqueForestRegressor)
ENSEMBLES = (
    *(RegularizedRotationClassifier, RegularizedRotationRegressor, StackedRotationClassifier),
    *(StackedRotationRegressor, RotatedBoostingClassifier, RotatedBoostingRegressor),
)


def fit_and_check(rng: np.random.Generator) -> str:
    """Fit one model; what became of it."""
    model = draw_model(rng)
    X, weights = draw_table(rng), draw_weights(rng)
    y: Any = rng.integers(0, rng.integers(2, 5), len(X))
    if not hasattr(model, "predict_proba"):
        y = draw_numbers(rng, len(X))
    print(model, flush=True)
    try:
        model.fit(X, y, weights)
    except ValueError as error:
        if not {"must", "needs"} & set(str(error).split()):
            raise
        return "refused"
    check_answers(model, X)
    return "fitted"


def check_answers(model: Any, X: np.ndarray) -> None:
    prediction = model.predict(X)
    assert len(prediction) == len(X)
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        assert (shares >= 0.0).all(), shares
        assert np.allclose(shares.sum(axis=1), 1.0, atol=1e-5), shares
        assert np.isin(prediction, model.classes_).all()
    else:
        assert np.isfinite(prediction).all(), prediction
    if hasattr(model, "forest_"):
        forest = model.forest_
        assert np.isfinite(forest.gain).all()
        assert (np.isfinite(forest.weight) & (forest.weight > 0.0)).all()
        assert np.isfinite(model.feature_importances_).all()


def draw_model(rng: np.random.Generator) -> Any:
    if rng.random() < 0.15:
        kind = ENSEMBLES[rng.integers(len(ENSEMBLES))]
        size = {"n_estimators": 20, "weighting": pick(rng, "exp", "oob", "lin")}
        if kind in (StackedRotationClassifier, StackedRotationRegressor):
            own = FORESTS[kind is StackedRotationRegressor]
            learner = own(5, projection="axis", n_jobs=1)
            size = {"n_rotations": 1, "cv": 2, "level0": learner, "level1": learner}
        elif kind in (RotatedBoostingClassifier, RotatedBoostingRegressor):
            size = {"n_groups": 2}
        return kind(**size, n_jobs=1, random_state=0)
    kind = FORESTS[rng.integers(2)]
    settings: dict[str, Any] = {"projection": PROJECTIONS[rng.integers(len(PROJECTIONS))]}
    if kind is ObliqueForestClassifier:
        settings["voting"] = pick(rng, "soft", "hard")
        settings["criterion"] = pick(rng, "gini", "entropy")
        settings["class_weight"] = draw_class_weight(rng)
    settings["max_leaf_nodes"] = pick(rng, None, 3)
    settings["oob_score"] = bool(rng.random() < 0.3) and not isinstance(
        settings["projection"], P.Ridge | str
    )
    settings["min_impurity_decrease"] = pick(rng, 0.0, 0.0, 1e-300, 1e300)
    settings["min_weight_fraction_leaf"] = pick(rng, 0.0, 0.0, 0.1)
    settings["scale"] = pick(rng, "auto", None)
    settings["max_redraws"] = pick(rng, "auto", 0, 2)
    return kind(int(rng.integers(1, 6)), n_jobs=1, random_state=0, **settings)


def draw_class_weight(rng: np.random.Generator) -> Any:
    if rng.random() < 0.5:
        return pick(rng, None, "balanced", "balanced_subsample")
    return {label: float(size) for label, size in enumerate(draw_sizes(rng, 4))}


def draw_weights(rng: np.random.Generator) -> np.ndarray | None:
    return None if rng.random() < 0.2 else draw_sizes(rng, 12) * rng.uniform(0.5, 2.0, 12)


def draw_numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    offset = pick(rng, 0.0, 0.0, 1.0, 1e17, 1e99, 1.7e308)
    return draw_sizes(rng, n) * rng.uniform(-1.0, 1.0, n) + offset


def draw_table(rng: np.random.Generator) -> np.ndarray:
    X = rng.normal(size=(12, 3)) * pick(rng, 1.0, 1.0, 1e-300, 1e-30, 1e20)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def draw_sizes(rng: np.random.Generator, n: int) -> np.ndarray:
    """One to three sizes, each given to some of n numbers."""
    some = rng.choice(SIZES[: pick(rng, 11, 14)], rng.integers(1, 4))
    return rng.choice(some, n)


def pick(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def main(seed: int, n_fits: int) -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    outcomes = [fit_and_check(rng) for _ in range(n_fits)]
    assert min(outcomes.count("refused"), outcomes.count("fitted")) > n_fits // 10, outcomes
    print("done")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
