"""Is a difference more than chance? The paired tests of the papers."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from bevel_lab.statistics.ranks import DECIMALS, mean_ranks, ranks

__all__ = [
    "Friedman",
    "corrected_t_test",
    "critical_difference",
    "friedman",
    "groups_alike",
    "wilcoxon",
]

Alternative = Literal["two-sided", "less", "greater"]


def wilcoxon(a: ArrayLike, b: ArrayLike, alternative: Alternative = "two-sided") -> float:
    """P-value of Wilcoxon's signed-rank test of paired values; pairs that are equal drop out.

    ``alternative="less"`` asks whether `a` is below `b`: for errors, whether `a` is better. When
    nothing differs there is nothing to doubt: the value is 1.
    """
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    difference = np.round(difference, DECIMALS)
    difference = difference[difference != 0.0]
    if len(difference) == 0:
        return 1.0
    return float(stats.wilcoxon(difference, alternative=alternative).pvalue)


def corrected_t_test(a: ArrayLike, b: ArrayLike, test_share: float) -> float:
    """Two-sided p-value of Nadeau and Bengio's t-test of paired scores on resampled data.

    Folds share training rows, so their differences vary less than those of independent draws; the
    variance is corrected by n_test / n_train. Unlike Wilcoxon's test it can reach 5 % on five
    folds.

    Parameters
    ----------
    a, b : array-like, shape (n_splits,)
    test_share : float
        Rows tested as a share of all: 0.2 with five folds.
    """
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    n = len(difference)
    deviation = float(np.round(difference, DECIMALS).std(ddof=1)) if n > 1 else float("nan")
    if n < 2 or deviation == 0.0:
        return 1.0 if n < 2 or abs(difference.mean()) < 10.0**-DECIMALS else 0.0
    scale = deviation * (1.0 / n + test_share / (1.0 - test_share)) ** 0.5
    return float(2.0 * stats.t.sf(abs(difference.mean()) / scale, n - 1))


@dataclass(frozen=True)
class Friedman:
    """Friedman's test that all systems are alike, corrected for ties; Iman and Davenport's F."""

    chi_squared: float
    p_value: float
    f: float
    f_p_value: float


def friedman(table: ArrayLike) -> Friedman:
    """Test whether mean ranks differ more than chance (Demšar 2006, section 3.2.2)."""
    values = np.asarray(table, dtype=np.float64)
    n_sets, n_systems = values.shape
    given = ranks(values)
    spread = float(((given - (n_systems + 1) / 2) ** 2).sum())  # falls with every tie
    if spread == 0.0:
        return Friedman(0.0, 1.0, 0.0, 1.0)
    sums = given.sum(axis=0) - n_sets * (n_systems + 1) / 2
    chi = float((n_systems - 1) * (sums**2).sum() / spread)
    rest = n_sets * (n_systems - 1) - chi
    f = (n_sets - 1) * chi / rest if rest > 1e-9 else float("inf")
    freedom = (n_systems - 1, (n_systems - 1) * (n_sets - 1))
    return Friedman(
        chi,
        float(stats.chi2.sf(chi, n_systems - 1)),
        f,
        float(stats.f.sf(f, *freedom)) if freedom[1] else 1.0,
    )


def critical_difference(n_systems: int, n_sets: int, alpha: float = 0.05) -> float:
    """Nemenyi's difference of mean ranks beyond which two systems differ (Demšar 2006)."""
    q = float(stats.studentized_range.ppf(1.0 - alpha, n_systems, np.inf)) / 2.0**0.5
    return float(q * (n_systems * (n_systems + 1) / (6.0 * n_sets)) ** 0.5)


def groups_alike(table: ArrayLike, alpha: float = 0.05) -> list[NDArray[np.int64]]:
    """Largest groups of systems whose mean ranks lie within the critical difference.

    Returns
    -------
    list of arrays
        Column numbers by rising mean rank; groups of one are left out, and none is part of another.
    """
    values = np.asarray(table, dtype=np.float64)
    n_sets, n_systems = values.shape
    mean = mean_ranks(values)
    order = np.argsort(mean, kind="stable")
    reach = critical_difference(n_systems, n_sets, alpha)
    groups: list[NDArray[np.int64]] = []
    furthest = 0
    for first in range(n_systems):
        last = int(np.sum(mean[order] - mean[order[first]] <= reach))
        if last > max(furthest, first + 1):
            groups.append(order[first:last])
            furthest = last
    return groups
