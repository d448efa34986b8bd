"""Tests of a null hypothesis whose rate of false alarms is about one in a million.

Each statistic is compared with a quantile of its distribution under the null. Seeds are fixed, so
a test that passes goes on to pass; the rate says how often an unlucky choice of seeds would fail.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

FALSE_ALARM_RATE = 1e-6


def assert_counts_follow(
    counts: np.ndarray, probability: np.ndarray | float, *, spread: float = 1.0
) -> None:
    """Pearson's chi-square test: counts of disjoint cells against their probabilities.

    `spread` is the variance of the counts as a share of the multinomial one, below 1 for draws
    without replacement.
    """
    counts = np.asarray(counts, float).ravel()
    probability = np.broadcast_to(probability, counts.shape)
    assert np.isclose(probability.sum(), 1.0)
    expected = counts.sum() * probability
    assert expected.min() > 20, "too few draws for the chi-square distribution"
    statistic = ((counts - expected) ** 2 / expected).sum() / spread
    limit = stats.chi2.isf(FALSE_ALARM_RATE, counts.size - 1)
    assert statistic < limit, f"chi-square {statistic:.1f} above {limit:.1f}"


def assert_uniform(counts: np.ndarray, *, spread: float = 1.0) -> None:
    """All cells are as likely."""
    assert_counts_follow(counts, 1.0 / np.size(counts), spread=spread)


def assert_mean(values: np.ndarray, mean: np.ndarray | float) -> None:
    """z-test of the mean of independent draws (axis 0), each cell of the others by itself."""
    values = np.asarray(values, float)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    z = np.abs(values.mean(axis=0) - mean) / error
    limit = stats.norm.isf(FALSE_ALARM_RATE / (2 * z.size))
    assert np.max(z) < limit, f"mean off by {np.max(z):.1f} standard errors, limit {limit:.1f}"


def assert_covariance(
    values: np.ndarray, mean: np.ndarray | float, covariance: np.ndarray | float
) -> None:
    """z-tests of the means and of all products of deviations of independent rows."""
    assert_mean(values, mean)
    deviations = values - mean
    rows, columns = np.triu_indices(values.shape[1])
    covariance = np.broadcast_to(covariance, (values.shape[1],) * 2)
    assert_mean(deviations[:, rows] * deviations[:, columns], covariance[rows, columns])


def assert_share(hits: np.ndarray, probability: float) -> None:
    """Exact binomial test: each entry is true with this probability, independently."""
    test = stats.binomtest(int(np.count_nonzero(hits)), np.size(hits), probability)
    assert test.pvalue > FALSE_ALARM_RATE, f"share {np.mean(hits):.4f} against {probability:.4f}"


def assert_distribution(values: np.ndarray, null: stats.rv_continuous) -> None:
    """Kolmogorov-Smirnov test of independent draws."""
    values = np.sort(np.ravel(values))
    n = len(values)
    cdf = null.cdf(values)
    steps = np.arange(n + 1) / n
    statistic = np.sqrt(n) * max((steps[1:] - cdf).max(), (cdf - steps[:-1]).max())
    limit = stats.kstwobign.isf(FALSE_ALARM_RATE)
    assert statistic < limit, f"Kolmogorov-Smirnov {statistic:.2f} above {limit:.2f}"


def assert_independent(a: np.ndarray, b: np.ndarray, n_values: int) -> None:
    """Chi-square test on the table of pairs; both are uniform on 0 .. n_values - 1."""
    assert_uniform(np.bincount(a * n_values + b, minlength=n_values**2))
