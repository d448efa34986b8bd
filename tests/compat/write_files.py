"""Writes model files of this version of the format: ``python tests/compat/write_files.py``.

Run for each version of the format, and for models that it has no file of yet: files that exist
stay as they are. Beside each file stands what its estimator predicts.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRanker,
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    ObliqueRegressor,
    ObliqueSurvivalBoosting,
    ObliqueSurvivalForest,
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
)
from bevel import projections as P
from bevel.files.layout import VERSION

FOLDER = Path(__file__).parent / "files"
N_ROWS = 40


def main() -> None:
    folder = FOLDER / f"format{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (estimator, X) in models().items():
        if (folder / f"{name}.bevel").exists():
            continue
        estimator.save(folder / f"{name}.bevel")
        text = json.dumps(expected(estimator, X), indent=1, allow_nan=True)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(folder / f"{name}.bevel", file=sys.stderr)


def models() -> dict[str, tuple[Any, Any]]:
    """Fitted estimators, and rows to predict: new values, missing ones, unseen levels."""
    X, table, y, labels = data()
    few = {"n_estimators": 4, "random_state": 7, "n_jobs": 1, "max_depth": 4}
    fitted = {
        "sparse": ObliqueForestClassifier(class_weight={"no": 2, "yes": 0.5}, **few),
        "votes": ObliqueForestClassifier(voting="hard", projection="axis", **few),
        "ridge": ObliqueForestClassifier(projection=P.Ridge(2, tune="gcv", record=True), **few),
        "custom": ObliqueForestClassifier(projection=P.Custom(signs), scale="minmax_clip", **few),
    }
    result: dict[str, tuple[Any, Any]] = {
        name: (estimator.fit(X, labels), 1.5 * X[:8]) for name, estimator in fitted.items()
    }
    rotated = ObliqueForestRegressor(projection=P.RandomRotation(), scale="rank", **few)
    standard = ObliqueForestRegressor(projection=[P.Custom(np.eye(4)), "sparse"], **few)
    standard.set_params(scale="standard")
    relative = ObliqueForestRegressor(projection="gaussian", scale="relative_rank", **few)
    for name, estimator in (("rank", rotated), ("standard", standard), ("relative", relative)):
        result[name] = (estimator.fit(X, y), 1.5 * X[:8])
    kept = ObliqueForestRegressor(keep_targets=True, **few)
    result["kept"] = (kept.fit(X, y, sample_weight=np.arange(N_ROWS) % 3), 1.5 * X[:8])
    nominal = ObliqueForestClassifier(categorical_features=["city", "floor"], **few)
    unseen = table[:8].assign(city=["Basel", "Bern", None, "Genf"] * 2)
    result["nominal"] = (nominal.fit(table, np.arange(N_ROWS) % 3 - 1), unseen)
    return result | other_kinds(X, y, labels, few)


def other_kinds(
    X: np.ndarray, y: np.ndarray, labels: np.ndarray, few: dict[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Boosting, several outputs, survival, outliers, rotations."""
    seeds = {"random_state": 7, "n_jobs": 1}
    both = np.column_stack([y, 2.0 * y + np.nan_to_num(X[:, 0])])
    named = np.column_stack([labels, np.where(np.nan_to_num(X[:, 1]) > 0, "up", "down")])
    time, event = np.arange(1.0, N_ROWS + 1.0), np.arange(N_ROWS) % 3 > 0
    causes = np.arange(N_ROWS) % 3
    rotations = {"n_rotations": 3, "n_micro_trees": 1, **few}
    fitted = {
        "boosting": ObliqueBoostingClassifier(max_iter=4, **seeds).fit(X, labels),
        "boosted": ObliqueBoostingRegressor(max_iter=4, **seeds).fit(X, y),
        "outputs": ObliqueForestRegressor(**few).fit(X, both),
        "labels": ObliqueForestClassifier(**few).fit(X, named),
        "survival": ObliqueSurvivalForest(4, **seeds).fit(X, (time, event)),
        "isolation": ObliqueIsolationForest(4, **seeds).fit(X),
        "causes": ObliqueSurvivalForest(4, competing_risks=True, **seeds).fit(X, (time, causes)),
        "rotations": RegularizedRotationClassifier(**rotations).fit(X, labels),
        "rotated": RegularizedRotationRegressor(**rotations).fit(X, y),
        "families": ObliqueForestClassifier(16, **seeds).fit(X, labels),
        "combination": ObliqueClassifier(1, **seeds).fit(X, labels),
        "combined": ObliqueRegressor(1, **seeds).fit(X, y),
        "linear": ObliqueBoostingRegressor(max_iter=4, linear_leaves=True, **seeds).fit(X, y),
        "symmetric": ObliqueBoostingClassifier(
            max_iter=4, growth="symmetric", multi_strategy="multi_output_tree", **seeds
        ).fit(X, causes),
        "ranking": ObliqueBoostingRanker(max_iter=4, **seeds).fit(
            X, causes, groups=np.arange(N_ROWS) // 10
        ),
        "times": ObliqueSurvivalBoosting(max_iter=4, **seeds).fit(X, (time, event)),
    }
    return {name: (estimator, 1.5 * X[:8]) for name, estimator in fitted.items()}


def data() -> tuple[np.ndarray, pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(N_ROWS, 4)).round(3)
    X[rng.random(X.shape) < 0.15] = np.nan
    city = rng.choice(np.array(["Basel", "Genf", "Zürich", None], dtype=object), N_ROWS)
    table = pd.DataFrame({"city": city, "floor": rng.integers(0, 40, N_ROWS), "x": X[:, 0]})
    y = rng.normal(size=N_ROWS).round(3)
    return X, table, y, np.where(y > 0, "yes", "no")


def signs(rng: np.random.Generator, X: np.ndarray, *_: Any) -> np.ndarray:
    return rng.choice([-1.0, 0.0, 1.0], size=(X.shape[1], 3))


def expected(estimator: Any, X: Any) -> dict[str, Any]:
    """Rows and answers; JSON writes floats so that the same bits are read."""
    answers = {"predict": estimator.predict(X).tolist()}
    if hasattr(estimator, "apply"):
        answers["leaves"] = estimator.apply(X).tolist()
    if hasattr(estimator, "classes_"):
        answers["predict_proba"] = np.asarray(estimator.predict_proba(X)).tolist()
    if hasattr(estimator, "score_samples"):
        answers["score_samples"] = estimator.score_samples(X).tolist()
    if hasattr(estimator, "event_times_"):
        answers["survival"] = estimator.predict_survival_function(X, return_array=True).tolist()
    if getattr(estimator, "keep_targets", False):
        answers["quantiles"] = estimator.predict_quantiles(X).tolist()
    columns = list(X.columns) if isinstance(X, pd.DataFrame) else None
    rows = X.to_numpy(dtype=object).tolist() if columns else X.tolist()
    return {"columns": columns, "rows": rows, **answers}


if __name__ == "__main__":
    main()
