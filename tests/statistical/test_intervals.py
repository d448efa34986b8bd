"""Coverage of prediction intervals."""

import numpy as np
from scipy import stats
from support.false_alarms import FALSE_ALARM_RATE

from bevel import ObliqueForestRegressor


def test_intervals_of_trees_that_do_not_look_at_y_have_the_coverage_of_order_statistics():
    """Exact theory. One tree on all rows, cut without looking at y; noise without any signal.

    Null: in a leaf of m rows the new target is as likely in each of the m + 1 gaps between theirs,
    so the interval from the a-th to the b-th covers it with probability (b - a) / (m + 1), where
    a = ceil(0.1 m), b = ceil(0.9 m). 400 independent forests, one new row each: the number of rows
    covered is a sum of known Bernoulli variables, compared by a z-test.
    """
    rng = np.random.default_rng(0)
    hits, probability = [], []
    for seed in range(400):
        X, y = rng.uniform(size=(81, 2)), rng.standard_cauchy(81)
        forest = ObliqueForestRegressor(
            1,
            projection="axis",
            threshold="purely_random",
            max_leaf_nodes=5,
            bootstrap=False,
            keep_targets=True,
            random_state=seed,
            n_jobs=1,
        ).fit(X[:-1], y[:-1])
        low, high = forest.predict_interval(X[-1:], 0.8)[0]
        m = np.count_nonzero(forest.apply(X[:-1]) == forest.apply(X[-1:]))
        hits.append(low < y[-1] <= high)
        a, b = np.ceil(0.1 * m - 1e-9), np.ceil(0.9 * m - 1e-9)
        probability.append((b - a) / (m + 1))
    p = np.array(probability)
    z = (np.sum(hits) - p.sum()) / np.sqrt((p * (1 - p)).sum())
    assert abs(z) < stats.norm.isf(FALSE_ALARM_RATE / 2)


def test_intervals_of_new_rows_cover_about_what_they_say():
    """A forest on a signal with noise whose spread depends on x, 90 % intervals of 3000 new rows.

    No theory gives the coverage of a forest that has looked at y; it is asked to be within 0.05 of
    0.9 in each half of the noise's range, to which 4.9 binomial standard errors are added. Nodes
    are small, since those that are best for the mean do not follow the spread.
    """
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(4000, 4))
    spread = 0.2 + 2.0 * X[:, 1]
    y = 4 * X[:, 0] + spread * rng.normal(size=len(X))
    forest = ObliqueForestRegressor(
        100, min_samples_split=2, min_samples_leaf=5, keep_targets=True, random_state=0, n_jobs=2
    ).fit(X[:1000], y[:1000])
    low, high = forest.predict_interval(X[1000:], 0.9).T
    covered = (low <= y[1000:]) & (y[1000:] <= high)
    quiet = X[1000:, 1] < 0.5
    for part in (quiet, ~quiet):
        error = np.sqrt(0.9 * 0.1 / part.sum())
        assert abs(covered[part].mean() - 0.9) < 0.05 + 4.9 * error
    width = high - low
    assert width[~quiet].mean() > 1.5 * width[quiet].mean()
