"""Brier scores and AUC of rows that enter late: by definition, and against those of everybody."""

from __future__ import annotations

import numpy as np
import pytest
from support.naive.survival import rows_at_risk

from bevel import ObliqueSurvivalForest
from bevel.analysis import brier_score, dynamic_auc, integrated_brier_score, survival_scores


def late_rows(seed: int, n: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries, tied times and events; many have entered before the first event."""
    rng = np.random.default_rng(seed)
    time = 2.0 + rng.exponential(10, n).round()
    entry = np.where(rng.random(n) < 0.5, 0.0, np.minimum(rng.integers(0, 8, n), time - 1.0))
    return entry, time, rng.random(n) < 0.7


def survival_before(t: float, entry: np.ndarray, time: np.ndarray, event: np.ndarray) -> float:
    """Product-limit estimate of the chance of no event before a time."""
    out = 1.0
    for s in np.unique(time[event]):
        if s < t:
            out *= 1.0 - (event & (time == s)).sum() / rows_at_risk(time, entry, s).sum()
    return out


def weight_at(t: float, entry: np.ndarray, time: np.ndarray, event: np.ndarray) -> float:
    """Number of rows times survival before a time, for each row at risk then."""
    at_risk = rows_at_risk(time, entry, t).sum()
    return len(time) * survival_before(t, entry, time, event) / at_risk


def weights_of(y: tuple, train: tuple, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Of rows with an event up to a time, and of rows seen without one just after it."""
    entry, time, event = y
    died = np.array(
        [weight_at(s, *train) if e and s <= t else 0.0 for s, e in zip(time, event, strict=True)]
    )
    after = np.nextafter(t, np.inf)
    alive = rows_at_risk(time, entry, after)
    return died, alive * weight_at(after, *train)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("own", [True, False], ids=["own rows", "other rows"])
def test_scores_of_late_rows_are_those_of_the_definition(seed: int, own: bool) -> None:
    y, other = late_rows(seed), late_rows(seed + 50, 120)
    train = y if own else other
    rng = np.random.default_rng(seed)
    times = np.array([2.0, 3.0, 5.5, 9.0])
    survival, risk = rng.random((80, 4)), rng.normal(size=80).round(1)
    brier, auc = [], []
    for k, t in enumerate(times):
        died, alive = weights_of(y, train, t)
        errors = died * survival[:, k] ** 2 + alive * (1.0 - survival[:, k]) ** 2
        brier.append(errors.mean())
        wins = (risk[:, None] > risk[None, :]) + 0.5 * (risk[:, None] == risk[None, :])
        pairs = died[:, None] * (alive > 0)[None, :]
        auc.append((pairs * wins).sum() / pairs.sum())
    given = None if own else train
    np.testing.assert_allclose(brier_score(y, survival, times, given), brier, rtol=1e-12)
    np.testing.assert_allclose(dynamic_auc(y, risk, times, given), auc, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_weights_of_late_rows_add_up_to_their_number(seed: int) -> None:
    y = late_rows(seed)
    for t in (2.0, 4.5, 9.0):
        died, alive = weights_of(y, y, t)
        assert died.sum() + alive.sum() == pytest.approx(len(y[0]))
    # A prediction of one half is off by one quarter, whoever is seen.
    np.testing.assert_allclose(brier_score(y, np.full((80, 2), 0.5), [3.0, 6.0]), 0.25)


def test_scores_of_late_rows_are_those_of_everybody() -> None:
    """Null: the weighted scores estimate those of the whole population, all of it seen.

    Of 60 000, those whose event comes before their entry are lost, and of the others some are
    censored. Over 30 repeats the differences have standard deviations of 0.0006 (Brier score) and
    0.0013 (AUC), and no bias. Bounds of six of them fail by chance less than once in a million
    runs. Without the entries the Brier score is off by 0.018.
    """
    rng = np.random.default_rng(0)
    n, t = 60_000, np.array([1.0])
    x = rng.normal(size=n)
    time = rng.exponential(size=n) * np.exp(-x)
    survival = np.exp(-np.exp(0.7 * x))[:, None]  # calibrated no more, so that errors matter
    truth = (time > 1.0).astype(float)
    brier = ((truth - survival[:, 0]) ** 2).mean()
    auc = dynamic_auc((time, np.ones(n, bool)), x, t)[0]
    entry = np.where(rng.random(n) < 0.4, 0.0, rng.exponential(1.0, n))
    censored = entry + rng.exponential(4.0, n)
    seen = time > entry
    y = (entry[seen], np.minimum(time, censored)[seen], (time <= censored)[seen])
    assert brier_score(y, survival[seen], t)[0] == pytest.approx(brier, abs=0.0036)
    assert dynamic_auc(y, x[seen], t)[0] == pytest.approx(auc, abs=0.008)
    unweighted = brier_score(y[1:], survival[seen], t)[0]
    assert unweighted - brier > 0.012


def test_late_rows_that_cannot_be_weighed_are_refused() -> None:
    y = late_rows(0)
    half = np.full((80, 1), 0.5)
    with pytest.raises(ValueError, match="y_train none"):
        brier_score(y, half, [5.0], y[1:])
    later = (y[0] + 1.0, y[1] + 1.0, y[2])
    with pytest.raises(ValueError, match="before the first entry of y_train, 1"):
        brier_score(later, half, [0.5])
    few = ([0.0, 0.0, 3.0, 3.0], [1.0, 2.0, 5.0, 6.0], [True] * 4)
    with pytest.raises(ValueError, match="times must be below 2 for these late rows"):
        dynamic_auc(few, [4.0, 3.0, 2.0, 1.0], [4.0])


def test_rows_seen_from_the_start_are_scored_with_late_training_rows() -> None:
    """The chance of not being censored is estimated from the late rows at risk."""
    rng = np.random.default_rng(1)
    entry, time, event = late_rows(2, 400)
    y = (time[:100], event[:100])
    times = np.array([4.0, 8.0])
    found = brier_score(y, np.full((100, 2), 0.5), times, (entry, time, event))
    assert np.abs(found - 0.25).max() < 0.05
    with pytest.raises(ValueError, match="two or more"):
        integrated_brier_score(y, rng.random((100, 1)), [4.0])


def test_survival_scores_take_late_rows_out_of_bag() -> None:
    entry, time, event = late_rows(3, 200)
    X = np.column_stack([time + np.random.default_rng(0).normal(size=200), event])
    forest = ObliqueSurvivalForest(20, random_state=0).fit(X, (entry, time, event))
    scores = survival_scores(forest, X, (entry, time, event), out_of_bag=True)
    assert scores.integrated_brier_score < scores.reference
    assert scores.mean_auc > 0.8
