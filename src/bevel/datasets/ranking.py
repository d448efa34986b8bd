"""Simulated search results: rows of queries, graded by how relevant they are."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bevel._types import Floats
from bevel.datasets.conventions import RandomState, check_at_least
from bevel.errors import wrong_value

__all__ = ["search_results"]

Ranked: TypeAlias = tuple[Floats, NDArray[np.int64], NDArray[np.int64]]

SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)  # of the grades in MSLR-WEB30K
MIN_FEATURES = 12


def search_results(
    n_queries: int = 200,
    n_features: int = 40,
    *,
    rows_per_query: int = 60,
    combined: bool = True,
    noise: float = 1.0,
    random_state: RandomState = None,
) -> Ranked:
    """Results of queries with grades of relevance, of the shape of Microsoft's MSLR sets.

    Queries have different numbers of results. The grades 0 to 4 have the shares of MSLR-WEB30K. An
    eighth of the features is the same for all results of a query. The first eight are matches of
    parts of a document and their lengths, which share the length of the document; the others are
    noise, half of it with heavy tails.

    Parameters
    ----------
    n_queries : int, default=200
        Queries.
    n_features : int, default=40
        Columns, at least 12.
    rows_per_query : int, default=60
        Mean number of results of a query, at least 2.
    combined : bool, default=True
        Whether relevance depends on differences and sums of features, as where a match counts for
        its length; otherwise on single features.
    noise : float, default=1.0
        Standard deviation of what the features do not know of the relevance.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_rows, n_features)
    y : ndarray of int64, shape (n_rows,)
        Grades, 0 to 4.
    query : ndarray of int64, shape (n_rows,)
        Number of the query of each row; the rows of a query follow each other.

    References
    ----------
    Qin and Liu (2013), Introducing LETOR 4.0 datasets, arXiv:1306.2597.

    Examples
    --------
    >>> X, y, query = search_results(10, random_state=0)
    >>> X.shape[1], query.max()
    (40, np.int64(9))
    """
    check_at_least("n_queries", n_queries, 1)
    check_at_least("n_features", n_features, MIN_FEATURES)
    check_at_least("rows_per_query", rows_per_query, 2)
    if not (np.isfinite(noise) and noise >= 0.0):
        raise wrong_value("noise", "finite and not negative", noise, "The default is 1.")
    rng = np.random.default_rng(random_state)
    sizes = 2 + rng.poisson(rng.gamma(3.0, (rows_per_query - 2) / 3.0, size=n_queries))
    query = np.repeat(np.arange(n_queries), sizes)
    X = rng.normal(size=(len(query), n_features))
    n_of_queries = n_features // 8
    X[:, -n_of_queries:] = rng.normal(size=(n_queries, n_of_queries))[query]
    X[:, 8:-n_of_queries:2] = np.exp(X[:, 8:-n_of_queries:2])
    X[:, :8] += 0.5 * X[:, -1:]  # long queries match more everywhere
    if combined:
        X[:, :8] += rng.normal(size=(len(query), 1))  # and so do long documents
        score = X[:, 0] - X[:, 1] + np.tanh(X[:, 2] - X[:, 3]) + np.abs(X[:, 4] - X[:, 5])
        score += 0.5 * np.maximum(X[:, 6] - X[:, 7], 0.0)
    else:
        score = X[:, 0] - 0.5 * X[:, 1] + np.tanh(X[:, 2]) + np.abs(X[:, 3]) + 0.5 * X[:, 4] ** 2
    score += noise * rng.normal(size=len(query)) + 0.5 * rng.normal(size=n_queries)[query]
    edges = np.quantile(score, np.cumsum(SHARES)[:-1])
    return X, np.searchsorted(edges, score), query
