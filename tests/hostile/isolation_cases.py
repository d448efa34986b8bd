"""Isolation forests: sound files, and what their scores must be like."""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel import ObliqueIsolationForest

from .verdicts import WrongAnswerError, check_answers


def recipes(X: Any, holes: Any, table: Any) -> dict[str, Any]:
    """Isolation forests, as `models` has the others."""
    share = {"contamination": 0.2}
    return {
        "isolation": (ObliqueIsolationForest, {}, X, None),
        "isolation axis weighted": (
            ObliqueIsolationForest,
            {**share, "projection": "axis", "max_samples": 0.5},
            holes,
            None,
        ),
        "isolation nominal": (ObliqueIsolationForest, {**share, "bootstrap": True}, table, None),
        "isolation slim": (ObliqueIsolationForest, {"projection": "sparse"}, holes, None),
    }


def scores(estimator: Any, rows: Any) -> Any:
    """Scores of some rows, checked; None of an estimator without."""
    if not hasattr(estimator, "score_samples"):
        return None
    found = estimator.score_samples(rows)
    check_answers("scores", found)
    if (found < -1.0).any() or (found > 0.0).any():
        raise WrongAnswerError("answer", "scores of isolation are not from -1 to 0")
    if not -1.0 <= estimator.offset_ <= 0.0:
        raise WrongAnswerError("answer", "the offset of scores is not from -1 to 0")
    outlying = estimator.predict(rows) == -1
    if not np.array_equal(outlying, found < estimator.offset_):
        raise WrongAnswerError("differs", "outliers are not those of low scores")
    return found
