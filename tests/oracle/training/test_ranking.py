"""Rankings against naive gradients of all pairs, and NDCG against scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import ndcg_score
from tests.support.plain_boosting import check_leaf_steps

from bevel import ObliqueBoostingRanker
from bevel.forest.ranking import mean_ndcg, ndcg

Floats = npt.NDArray[np.float64]
MASK = (1 << 64) - 1


def _mix(z: int) -> int:
    """The hash that orders rows of equal scores (`mix` in stream.h)."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def _problem(seed: int, n_queries: int = 12) -> tuple[Floats, Floats, Any]:
    """Queries of 1 to 40 rows in any order, ties of features and relevance, some all irrelevant."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), rng.integers(1, 40, n_queries))
    query = rng.permutation(query)
    X = np.round(rng.normal(size=(len(query), 4)), 1)
    X[rng.random(len(X)) < 0.1, 1] = np.nan
    y = np.clip(np.round(X[:, 0] - X[:, 2] + rng.normal(size=len(query))), 0, 4)
    y[query == 3] = 0.0
    return X, y, query


def _pairs(raw: Floats, y: Floats, query: Any, k: int, by_gain: bool) -> tuple[Floats, Floats]:
    """Gradients and hessians by one loop over all pairs of each query."""
    gradient, hessian = np.zeros(len(y)), np.zeros(len(y))
    for label in np.unique(query):
        rows = sorted(np.flatnonzero(query == label), key=lambda row: (-raw[row], _mix(int(row))))
        gains = 2.0 ** y[rows] - 1.0
        discounts = 1.0 / np.log2(np.arange(len(rows)) + 2.0)
        ideal = (np.sort(gains)[::-1] * discounts)[: k + 20].sum()
        if ideal == 0.0:
            continue
        total, own_g, own_h = 0.0, np.zeros(len(y)), np.zeros(len(y))
        for i in range(min(k + 20, len(rows))):
            for j in range(i + 1, len(rows)):
                if gains[i] == gains[j]:
                    continue
                better, worse = (rows[i], rows[j]) if gains[i] > gains[j] else (rows[j], rows[i])
                ahead = raw[better] - raw[worse]
                weight = 1.0
                if by_gain:
                    weight = abs(gains[i] - gains[j]) * (discounts[i] - discounts[j]) / ideal
                    if len(np.unique(raw[rows])) > 1:
                        weight /= 0.01 + abs(ahead)
                wrong = 1.0 / (1.0 + np.exp(ahead))
                own_g[better] -= weight * wrong
                own_g[worse] += weight * wrong
                own_h[[better, worse]] += weight * wrong * (1.0 - wrong)
                total += 2.0 * weight * wrong
        if total > 0.0:
            gradient += own_g * np.log2(1.0 + total) / total
            hessian += own_h * np.log2(1.0 + total) / total
    return gradient, hessian


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
def test_leaves_hold_the_steps_of_all_pairs(loss: str, seed: int) -> None:
    X, y, query = _problem(seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(y)) if seed else np.ones(len(y))
    model = ObliqueBoostingRanker(
        loss,
        eval_at=3,
        max_iter=4,
        learning_rate=0.3,
        growth="best_first",
        l2_regularization=0.5 * seed,
        early_stopping=False,
        random_state=seed,
    ).fit(X, y, sample_weight=weights, groups=query)

    def gradients(raw: Floats) -> tuple[Floats, Floats]:
        gradient, hessian = _pairs(raw, y, query, 3, loss == "lambdarank")
        return weights * gradient, weights * hessian

    check_leaf_steps(model, X, gradients)
    scores = mean_ndcg(y, model.predict(X), query, 3, weights)
    assert model.train_score_[-1] == pytest.approx(scores, rel=1e-12)
    assert model.score(X, y, sample_weight=weights, groups=query) == pytest.approx(scores)


@pytest.mark.parametrize("seed", range(20))
def test_ndcg_is_that_of_scikit_learn_with_gains_and_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    y, score = rng.integers(0, 5, n).astype(float), np.round(rng.normal(size=n), seed % 2)
    k = int(rng.integers(1, n + 3))
    if not y.any():
        assert np.isnan(ndcg(y, score, k))
        return
    expected = ndcg_score([2.0**y - 1.0], [score], k=k)
    assert ndcg(y, score, k) == pytest.approx(expected, rel=1e-12)


def test_rows_of_weight_zero_have_no_effect_on_a_ranking() -> None:
    X, y, query = _problem(5)
    weights = (np.random.default_rng(0).random(len(y)) < 0.7).astype(float)
    kept = weights > 0.0
    settings: dict[str, Any] = {"max_iter": 5, "early_stopping": False, "random_state": 0}
    one = ObliqueBoostingRanker(**settings).fit(X, y, sample_weight=weights, groups=query)
    other = ObliqueBoostingRanker(**settings).fit(X[kept], y[kept], groups=query[kept])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    scores = [
        one.score(X, y, weights, groups=query),
        one.score(X[kept], y[kept], groups=query[kept]),
    ]
    assert scores[0] == scores[1] != one.score(X, y, groups=query)


def test_validation_rows_of_weight_zero_are_in_no_ranking() -> None:
    X, y, query = _problem(5)
    weights = (np.random.default_rng(0).random(len(y)) < 0.7).astype(float)
    kept = weights > 0.0
    model = ObliqueBoostingRanker(max_iter=5, random_state=0)
    curves = [
        model.fit(
            *(X, y),
            groups=query,
            X_val=X[rows],
            y_val=y[rows],
            sample_weight_val=own,
            groups_val=query[rows],
        ).validation_score_
        for rows, own in ((slice(None), weights), (kept, None), (slice(None), None))
    ]
    np.testing.assert_allclose(curves[0], curves[1], rtol=1e-12)
    assert (curves[0] != curves[2]).any()
