"""Codes of large tables are prefetched: the trees must be those of a small table."""

import numpy as np

from bevel import ObliqueBoostingRegressor

BEYOND_CACHE = 2**18 + 500  # rows from which on the core prefetches


def test_trees_do_not_depend_on_the_number_of_rows_that_only_pass_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=len(X))
    X_val = rng.normal(size=(BEYOND_CACHE, 20)).astype(np.float32)
    y_val = X_val[:, 0] * X_val[:, 1] + X_val[:, 2]
    large, small = (
        ObliqueBoostingRegressor(max_iter=3, early_stopping=True, random_state=0).fit(
            X, y, X_val=X_val[:n], y_val=y_val[:n]
        )
        for n in (BEYOND_CACHE, 500)
    )
    assert large.n_iter_ == small.n_iter_ == 3
    np.testing.assert_array_equal(large.predict(X), small.predict(X))
    for tree in range(3):
        assert str(large.forest_.tree(tree)) == str(small.forest_.tree(tree))
    # Rows that only pass the trees are parted by the same loop.
    error = np.mean((large.predict(X_val) - y_val) ** 2)
    np.testing.assert_allclose(large.validation_score_[-1], -error / 2, rtol=1e-6)


def test_trees_do_not_depend_on_threads_that_share_the_rows_of_a_node():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(70_000, 20)).astype(np.float32)  # two groups of columns
    y = X[:, 0] * X[:, 1] + X[:, 19] + 0.1 * rng.normal(size=len(X))
    settings = {"max_iter": 3, "early_stopping": False, "projection": "axis", "random_state": 0}
    alone = ObliqueBoostingRegressor(n_jobs=1, **settings).fit(X, y)
    for n_threads in (2, 3, 4):
        shared = ObliqueBoostingRegressor(n_jobs=n_threads, **settings).fit(X, y)
        np.testing.assert_array_equal(alone.forest_.threshold, shared.forest_.threshold)
        np.testing.assert_array_equal(alone.forest_.gain, shared.forest_.gain)
        np.testing.assert_array_equal(alone.predict(X), shared.predict(X))
