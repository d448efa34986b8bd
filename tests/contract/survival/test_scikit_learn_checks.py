"""scikit-learn's suite of estimator checks for the survival forest, whose y is not a number.

An adapter takes the numbers that the checks make as times whose events were all seen. Everything
else is the forest's own.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.estimator_checks import parametrize_with_checks

from bevel import ObliqueSurvivalForest

BAGS_ARE_DRAWN_BY_ROW = (
    "Bags and scales are drawn and learned from the rows of X, whatever their weights, so that a "
    "repeated row counts twice there and one of double weight once. The checks pass without them."
)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": BAGS_ARE_DRAWN_BY_ROW,
    "check_sample_weight_equivalence_on_sparse_data": BAGS_ARE_DRAWN_BY_ROW,
}


class TimesFromNumbers(ObliqueSurvivalForest):
    """A survival forest whose y are numbers, taken for times of events after shifting them."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        return super().fit(X, None if y is None else times_of(y), sample_weight)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return super().score(X, times_of(y), sample_weight)


def times_of(y: Any) -> tuple[np.ndarray, np.ndarray]:
    numbers = check_array(y, ensure_2d=False, dtype=None)
    if numbers.dtype.kind not in "iuf":
        _, numbers = np.unique(numbers, return_inverse=True)
    numbers = numbers[:, 0] if numbers.shape[1:] == (1,) else numbers
    if numbers.ndim != 1:
        raise ValueError("y must be one-dimensional")
    return numbers - numbers.min() + 1.0, np.ones(len(numbers), dtype=bool)


SMALL: dict[str, Any] = {"n_estimators": 10, "n_jobs": 1}


def expected_failed_checks(estimator: BaseEstimator) -> dict[str, str]:
    return EXPECTED if getattr(estimator, "bootstrap", True) else {}


@parametrize_with_checks(
    [
        TimesFromNumbers(**SMALL),
        TimesFromNumbers(**SMALL, projection="axis", criterion="log_rank_score"),
        TimesFromNumbers(
            **SMALL,
            projection="cox",
            bootstrap=False,
            scale=None,
            min_samples_leaf=1,
            min_samples_split=2,
        ),
    ],
    expected_failed_checks=expected_failed_checks,
)
def test_survival_forest_passes_scikit_learns_checks(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


def test_numbers_alone_are_refused_by_the_forest_itself() -> None:
    with pytest.raises(ValueError, match="y must be a structured array"):
        ObliqueSurvivalForest(2).fit(np.eye(3), np.arange(3.0))
