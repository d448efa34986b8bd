"""Survival statistics from their definitions, slow and plainly right."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def log_rank(
    time: np.ndarray,
    event: np.ndarray,
    weight: np.ndarray,
    left: np.ndarray,
    *,
    whole: bool = True,
    entry: np.ndarray | None = None,
) -> float:
    """Log-rank statistic of the rows in `left` against the others; 0 without a variance."""
    observed = variance = 0.0
    for t in np.unique(time[event]):
        at_risk, dies = rows_at_risk(time, entry, t), event & (time == t)
        n, d = weight[at_risk].sum(), weight[dies].sum()
        n1, d1 = weight[at_risk & left].sum(), weight[dies & left].sum()
        observed += d1 - n1 * d / n
        if whole and n > 1:
            variance += d * (n - d) * n1 * (n - n1) / (n * n * (n - 1))
        rows = np.count_nonzero(at_risk & (weight > 0))
        if not whole and rows > 1:
            variance += d * max(0.0, n - d) * n1 * (n - n1) * rows / (n**3 * (rows - 1))
    return observed**2 / variance if variance > 1e-12 * weight.sum() ** 2 else 0.0


def rows_at_risk(time: np.ndarray, entry: np.ndarray | None, t: float) -> np.ndarray:
    """Rows that have entered before a time and are seen up to it."""
    return time >= t if entry is None else (time >= t) & (entry < t)


def log_rank_scores(
    time: np.ndarray, event: np.ndarray, weight: np.ndarray, entry: np.ndarray | None = None
) -> np.ndarray:
    """Event less the hazard while a row was at risk."""
    hazard = np.zeros(len(time))
    for t in np.unique(time[event]):
        at_risk = rows_at_risk(time, entry, t)
        hazard[at_risk] += weight[event & (time == t)].sum() / weight[at_risk].sum()
    return event - hazard


def score_statistic(
    time: np.ndarray,
    event: np.ndarray,
    weight: np.ndarray,
    left: np.ndarray,
    entry: np.ndarray | None = None,
) -> float:
    """The statistic of the log-rank scores, with the variance of a random division."""
    score = log_rank_scores(time, event, weight, entry)
    total, part = weight.sum(), weight[left].sum()
    variance = (weight * score**2).sum() / total
    if not (0 < part < total and variance > 0):
        return 0.0
    return float((weight * score)[left].sum() ** 2 * total / (part * (total - part) * variance))


def hazard_jumps(
    time: np.ndarray, event: np.ndarray, weight: np.ndarray, entry: np.ndarray | None = None
) -> dict[float, float]:
    """Jumps d / n of the cumulative hazard by event time."""
    return {
        float(t): weight[event & (time == t)].sum() / weight[rows_at_risk(time, entry, t)].sum()
        for t in np.unique(time[event & (weight > 0)])
    }


def incidence(
    time: np.ndarray,
    cause: np.ndarray,
    weight: np.ndarray,
    of: int,
    times: np.ndarray,
    entry: np.ndarray | None = None,
) -> np.ndarray:
    """Aalen-Johansen: share of rows with an event of a cause up to each time."""
    survival, total, curve = 1.0, 0.0, {0.0: 0.0}
    for t in np.unique(time[(cause > 0) & (weight > 0)]):
        n = weight[rows_at_risk(time, entry, t)].sum()
        total += survival * weight[(cause == of) & (time == t)].sum() / n
        survival *= 1.0 - weight[(cause > 0) & (time == t)].sum() / n
        curve[float(t)] = total
    known = np.array(list(curve))
    return np.array([curve[known[known <= t][-1]] for t in times])


def cuts(values: np.ndarray) -> list[np.ndarray]:
    """Rows on the left of every cut of a numeric column, missing ones on either side."""
    missing = np.isnan(values)
    distinct = np.unique(values[~missing])
    masks = [values <= low for low, _ in pairwise(distinct)]
    if missing.any() and len(distinct):
        masks += [mask | missing for mask in masks] + [~missing]
    return masks


def level_cuts(codes: np.ndarray, scores: np.ndarray, weight: np.ndarray) -> list[np.ndarray]:
    """Rows on the left of every prefix of the levels in the order of their mean scores."""
    levels = np.unique(codes)
    mean = [
        (weight * scores)[codes == level].sum() / weight[codes == level].sum() for level in levels
    ]
    order = levels[np.argsort(mean, kind="stable")]
    return [np.isin(codes, order[:size]) for size in range(1, len(order))]


def concordance(
    time: np.ndarray, event: np.ndarray, risk: np.ndarray, entry: np.ndarray | None = None
) -> float:
    """Harrell's concordance, pair by pair."""
    return concordance_and_error(time, event, risk, entry)[0]


def concordance_and_error(
    time: np.ndarray, event: np.ndarray, risk: np.ndarray, entry: np.ndarray | None = None
) -> tuple[float, float]:
    """Harrell's concordance, pair by pair, and its standard error from the rows' shares in it."""
    good, pairs = np.zeros(len(time)), np.zeros(len(time))
    for i in range(len(time)):
        for j in range(len(time)):
            later = time[i] < time[j] or (time[i] == time[j] and not event[j])
            later = later and (entry is None or entry[j] < time[i])
            if i == j or not event[i] or not later:
                continue
            difference = risk[i] - risk[j]
            won = 0.5 if abs(difference) <= 1e-8 else float(difference > 0)
            for row in (i, j):
                good[row] += won
                pairs[row] += 1
    total = pairs.sum() / 2
    if not total:
        return float("nan"), float("nan")
    share = good.sum() / 2 / total
    return share, float(np.sqrt(((good - share * pairs) ** 2).sum()) / total)
