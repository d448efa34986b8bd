"""Targets of hundreds and thousands of classes in few rows."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from .fitted import predictions
from .small_tables import estimator_expressions, estimator_from, is_refusal
from .verdicts import ACCEPTED, REFUSED, check_importances

LABELS = ("numbers", "words", "dates", "objects")
MAX_BOOSTED = 60  # trees of an iteration


def make(rng: random.Random) -> dict[str, Any]:
    """How many classes, of which labels."""
    spec = estimator_expressions(rng, f"Oblique{rng.choice(('Forest', 'Boosting'))}Classifier")
    n_classes = rng.choice((60, 200, 200, 500)) if rng.random() < 0.95 else rng.choice((1500, 3000))
    if "Boosting" in spec["estimator"]:
        n_classes = min(n_classes, MAX_BOOSTED)
    return {
        **spec,
        "n_classes": n_classes,
        "rows_per_class": rng.choice((1, 1, 2)),
        "labels": rng.choice(LABELS),
        "seed": rng.randrange(10**6),
    }


def rows(spec: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and labels, each class in as many rows as another."""
    n_classes = spec["n_classes"]
    numbers = np.tile(np.arange(n_classes), spec["rows_per_class"])
    rng = np.random.default_rng(spec["seed"])
    X = np.column_stack([rng.normal(size=(len(numbers), 2)), numbers])
    if spec["labels"] == "dates":
        return X, np.datetime64("2024-05-31") + numbers
    if spec["labels"] == "words":
        return X, np.array([f"class {number}" for number in numbers])
    if spec["labels"] == "objects":
        return X, np.array([chr(0x4E00 + number) for number in numbers], object)
    return X, numbers


def check(spec: dict[str, Any]) -> str:
    """Fit, predict a few rows, and look at the importances."""
    X, y = rows(spec)
    try:
        estimator = estimator_from(spec).fit(X, y)
    except Exception as error:
        if is_refusal(error):
            return REFUSED
        raise
    predictions(estimator, X[:5])
    check_importances(estimator.feature_importances_)
    return ACCEPTED
