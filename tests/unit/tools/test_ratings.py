"""Ratings of `benchmarks.accuracy.ratings` against their definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmarks.accuracy import ratings
from benchmarks.accuracy.peers import half_of, sealed_names


def likelihood(strength, wins):
    """Logarithm of the probability of all meetings and of one further draw of each pair."""
    total = 0.0
    for i in range(len(wins)):
        for j in range(len(wins)):
            if i != j:
                draw = 0.5 * ratings.PRIOR_DRAWS
                total -= (wins[i, j] + draw) * np.log1p(np.exp(strength[j] - strength[i]))
    return total


def test_two_systems_differ_by_the_odds_of_their_meetings():
    found = ratings.ratings(np.array([[0.0, 10.0], [3.0, 0.0]]), anchor=1)
    assert found[1] == ratings.ANCHOR_RATING
    assert found[0] - found[1] == pytest.approx(400.0 * np.log10(10.5 / 3.5))


@pytest.mark.parametrize("seed", range(5))
def test_no_other_ratings_are_more_likely(seed):
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 12, (4, 4)).astype(float)
    wins[0] = [0, 9, 8, 7]
    wins[1:, 0] = 0.0  # the first always wins
    found = ratings.ratings(wins, anchor=2)
    strength = (found - ratings.ANCHOR_RATING) / ratings.POINTS
    best = likelihood(strength, wins)
    for _ in range(50):
        assert likelihood(strength + 0.05 * rng.normal(size=4), wins) <= best
    assert np.isfinite(found).all()


def test_a_system_meets_others_where_both_have_outcomes():
    wins = ratings.meetings(np.array([[1.0, 2.0, np.nan], [3.0, 3.0, 1.0]]))
    assert wins[0].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert wins[1].tolist() == [[0, 0.5, 0], [0.5, 0, 0], [1, 1, 0]]


def test_a_set_counts_if_all_of_its_folds_are_there():
    def row(name, system, error, log_loss=np.nan):
        loss = {"error": error, "log_loss": log_loss, "auc_loss": log_loss}
        return {"set": name, "system": system, **loss}

    outcomes = pd.DataFrame(
        [
            *(row("numbers", "catboost", error) for error in (4.0, 16.0)),
            row("numbers", "lightgbm", 1.0),
            *(row("classes", "catboost", 0.1, 0.3) for _ in range(2)),
        ]
    )
    systems = ["catboost", "lightgbm"]
    numbers = ratings.losses(outcomes, "rmse", systems)
    assert numbers.loc["numbers", "catboost"] == 3.0
    assert np.isnan(numbers["lightgbm"]).all()
    assert list(ratings.losses(outcomes, "log_loss", systems).index) == ["classes"]


def test_sealed_sets_are_in_no_half_that_settings_are_chosen_on():
    assert {"concrete", "mlc_churn"} <= sealed_names()
    assert "chosen" not in {half_of(name) for name in sealed_names() if name}
    assert half_of("mlc_churn") == "sealed"
    assert half_of("concrete") == "report"
