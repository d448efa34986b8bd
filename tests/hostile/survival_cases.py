"""Survival forests: hostile times and events, sound files, and what their curves must be like."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from bevel import ObliqueSurvivalForest

from .verdicts import WrongAnswerError, check_answers

Rng = np.random.Generator
SOUND = ("tuple", "structured", "frame")
TIMES = (1e60, 5e-324, 1.0, 1e-300, 1e300, 0.0, -1.0, np.nan, np.inf)


def _pair(time: Any, event: Any) -> tuple[Any, Any]:
    return time, event


def _structured(time: Any, event: Any) -> np.ndarray:
    made = np.empty(len(time), [("event", bool), ("time", float)])
    made["time"], made["event"] = time, event
    return made


def _frame(time: Any, event: Any) -> pd.DataFrame:
    return pd.DataFrame({"time": time, "event": event})


def _late(rng: Rng, time: Any, event: Any) -> tuple[Any, Any, Any]:
    """Rows that enter late, some of them at once before their time."""
    share = rng.choice([0.0, 0.5, 1.0 - 2.0**-52], len(time))
    return time * share, time, event


def _times(rng: Rng, n: int) -> np.ndarray:
    return rng.exponential(size=n).round(2) + 0.01


def _events(rng: Rng, n: int) -> np.ndarray:
    return np.append(rng.random(max(n - 1, 0)) < 0.6, n > 0)[:n]


TARGETS: dict[str, Callable[[Rng, int], Any]] = {
    "tuple": lambda rng, n: _pair(_times(rng, n), _events(rng, n)),
    "structured": lambda rng, n: _structured(_times(rng, n), _events(rng, n)),
    "frame": lambda rng, n: _frame(_times(rng, n), _events(rng, n)),
    "numbers for events": lambda rng, n: _pair(_times(rng, n), rng.integers(0, 2, n)),
    "odd events": lambda rng, n: _pair(_times(rng, n), rng.choice([0.0, 1.0, 2.0, np.nan], n)),
    "late": lambda rng, n: _late(rng, _times(rng, n), _events(rng, n)),
    "too late": lambda rng, n: (_times(rng, n), _times(rng, n), _events(rng, n)),
    "odd entries": lambda rng, n: (rng.choice(TIMES, n), _times(rng, n), _events(rng, n)),
    "causes": lambda rng, n: _pair(_times(rng, n), rng.integers(0, 4, n)),
    "words for events": lambda rng, n: _pair(_times(rng, n), rng.choice(["yes", "no"], n)),
    "none seen": lambda rng, n: _pair(_times(rng, n), np.zeros(n, bool)),
    "all seen": lambda rng, n: _pair(_times(rng, n), np.ones(n, bool)),
    "all at once": lambda rng, n: _pair(np.full(n, 3.0), _events(rng, n)),
    "first event last": lambda _rng, n: _pair(np.arange(1.0, n + 1), np.arange(n) == n - 1),
    "extreme": lambda rng, n: _pair(rng.choice(TIMES[:5], n), _events(rng, n)),
    "beyond": lambda rng, n: _pair(rng.choice(TIMES, n), _events(rng, n)),
    "close": lambda rng, n: _pair(1.0 + rng.integers(0, 3, n) * 2.0**-52, _events(rng, n)),
    "objects": lambda rng, n: _pair(_times(rng, n).astype(object), _events(rng, n).astype(object)),
    "spans": lambda rng, n: _pair(rng.integers(1, 9, n).astype("m8[D]"), _events(rng, n)),
    "short": lambda rng, n: _pair(_times(rng, n)[1:], _events(rng, n)),
    "table": lambda rng, n: np.column_stack([_times(rng, n), _events(rng, n)]),
    "times alone": lambda rng, n: _times(rng, n),
    "nothing": lambda _rng, _n: None,
}


def survival(name: str, n_rows: int, seed: int = 0) -> Any:
    """Times and events of a kind."""
    return TARGETS[name](np.random.default_rng(seed), n_rows)


def expression(odd: bool, n_rows: int, seed: int, rng: random.Random) -> str:
    """A target as an expression."""
    return f"survival({rng.choice(list(TARGETS) if odd else SOUND)!r}, {n_rows}, {seed})"


def recipes(X: Any, holes: Any, table: Any) -> dict[str, Any]:
    """Survival forests, as `models` has the others."""
    y = survival("structured", len(X), 3)
    sparse = {"projection": "sparse"}
    return {
        "survival": (ObliqueSurvivalForest, {**sparse, "oob_score": True}, holes, y),
        "survival automatic": (ObliqueSurvivalForest, {}, X, y),
        "survival weighted": (ObliqueSurvivalForest, {"criterion": "log_rank_score"}, table, y),
        "survival causes": (
            ObliqueSurvivalForest,
            {**sparse, "competing_risks": True},
            holes,
            _late(np.random.default_rng(4), y["time"], y["event"] * (1 + np.arange(len(X)) % 2)),
        ),
        "survival slim": (ObliqueSurvivalForest, {"projection": "axis"}, X, y),
    }


def curves(estimator: Any, rows: Any) -> Any:
    """Both kinds of curves of some rows, checked; None of an estimator without."""
    if not hasattr(estimator, "predict_survival_function"):
        return None
    alive = estimator.predict_survival_function(rows, return_array=True)
    hazard = estimator.predict_cumulative_hazard_function(rows, return_array=True)
    for name, found in (("survival curves", alive), ("hazards", hazard)):
        check_answers(name, found)
    falls = (np.diff(alive) <= 1e-12).all() and (alive >= 0).all() and (alive <= 1 + 1e-12).all()
    rises = (np.diff(hazard) >= -1e-12).all() and (hazard >= 0).all()
    if not (falls and rises):
        raise WrongAnswerError("answer", "curves of survival do not fall, or hazards do not rise")
    if hasattr(estimator, "n_causes_"):
        _check_incidences(estimator, rows, alive)
    if np.isnan(estimator.predict_median(rows)).any():
        raise WrongAnswerError("answer", "a median time is not a number")
    return np.concatenate([alive, hazard], axis=1)


def _check_incidences(estimator: Any, rows: Any, alive: np.ndarray) -> None:
    incidences = [
        estimator.predict_cumulative_incidence_function(rows, cause, return_array=True)
        for cause in range(1, estimator.n_causes_ + 1)
    ]
    whole = alive + np.sum(incidences, axis=0)
    if not (np.abs(whole - 1.0) < 1e-5).all():
        raise WrongAnswerError("answer", "incidences and survival do not add up to one")
