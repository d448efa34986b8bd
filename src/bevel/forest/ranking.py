"""How well scores rank the rows of queries."""

from __future__ import annotations

import numpy as np

from bevel._types import Array, Floats

__all__ = ["MAX_RELEVANCE", "mean_ndcg", "ndcg"]

MAX_RELEVANCE = 30.0  # kMaxRelevance in ranking.cpp


def mean_ndcg(
    relevance: Floats, score: Floats, query: Array, k: int, weights: Floats | None = None
) -> float:
    """Mean NDCG at k of queries, each weighted by the mean weight of its rows.

    Queries without a relevant row do not count; NaN if there are no others.

    Parameters
    ----------
    relevance, score : ndarray of float64, shape (n,)
        Relevance of the rows, and what they are ranked by.
    query : ndarray of shape (n,)
        Label of the query of each row.
    k : int
        Number of places that count.
    weights : ndarray of float64 or None, default=None
        Weights of the rows, of which those of weight zero are in no ranking; None if all are one.
    """
    if weights is not None and not weights.all():
        kept = weights > 0.0
        relevance, score, query, weights = (
            each[kept] for each in (relevance, score, query, weights)
        )
    code = np.unique(query, return_inverse=True)[1]
    order = np.argsort(code, kind="stable")
    total = found = 0.0
    for rows in np.split(order, np.flatnonzero(np.diff(code[order])) + 1):
        value = ndcg(relevance[rows], score[rows], k)
        if not np.isnan(value):
            weight = 1.0 if weights is None else float(weights[rows].mean())
            total += weight
            found += weight * value
    return found / total if total > 0.0 else float("nan")


def ndcg(relevance: Floats, score: Floats, k: int) -> float:
    """Normalised discounted cumulative gain of the rows of a query; NaN without a relevant row.

    A row of relevance r gains 2^r - 1, divided by log2(1 + place), at the first k places (Järvelin
    and Kekäläinen 2002; Burges et al. 2005). Rows of one score share their places.
    """
    gains = 2.0**relevance - 1.0
    discounts = np.zeros(len(gains))
    discounts[:k] = 1.0 / np.log2(np.arange(2, min(k, len(gains)) + 2))
    ideal = float(np.sort(gains)[::-1] @ discounts)
    if not ideal > 0.0:
        return float("nan")
    _, tied, count = np.unique(-score, return_inverse=True, return_counts=True)
    shared = np.bincount(np.sort(tied), weights=discounts) / count  # a discount for each score
    return float(gains @ shared[tied]) / ideal
