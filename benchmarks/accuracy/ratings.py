"""Ratings of Bevel and its peers from stored outcomes: ``python -m benchmarks.accuracy.ratings``.

    python -m benchmarks.accuracy.ratings --since 2026-11-19T05:50

Two systems meet on each data set that both have done; the one of the lower loss, in the mean of
the folds, wins. Ratings are those of Elo, fitted to all meetings at once (Bradley and Terry 1952):
400 points more stand for odds of 10 : 1, and a random forest has 1000. Every pair of systems counts
one further draw, so that a system that always wins has a rating too. Intervals of 95 % are over
data sets drawn again with replacement. Outcomes come from `benchmarks.accuracy.peers`; with
`--since` those of Bevel are left out that are older, since it has changed. By default only the sets
count on which nothing was chosen.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import machine
from benchmarks.accuracy.peers import N_FOLDS, half_of
from benchmarks.tables import markdown

MEASURES = {
    "auc_loss": "AUC, classification",
    "log_loss": "log loss, classification",
    "rmse": "root mean squared error, regression",
}
NAMES = {
    "bevel_combined": "Bevel, forest and boosting",
    "bevel_forest": "Bevel, forest",
    "bevel": "Bevel, boosting",
    "catboost": "CatBoost",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "hist_gb": "scikit-learn HistGradientBoosting",
    "random_forest": "scikit-learn RandomForest",
    "extra_trees": "scikit-learn ExtraTrees",
    "ydf": "ydf GradientBoostedTrees",
    "ydf_forest": "ydf RandomForest, sparse oblique",
    "ydf_oblique": "ydf GradientBoostedTrees, sparse oblique",
}
ANCHOR, ANCHOR_RATING = "random_forest", 1000.0
POINTS = 400.0 / np.log(10.0)  # of a rating for one of log-odds
PRIOR_DRAWS = 1.0  # of each pair
MAX_STEPS, TOLERANCE = 100, 1e-9


def losses(outcomes: pd.DataFrame, measure: str, systems: Sequence[str]) -> pd.DataFrame:
    """Mean loss of the folds for each set and system; NaN where a fold is missing."""
    is_number = outcomes["log_loss"].isna()
    if measure == "rmse":
        own = outcomes[is_number].assign(rmse=np.sqrt(outcomes["error"]))
    else:
        own = outcomes[~is_number & outcomes["auc_loss"].notna()]  # others are of older versions
    table = own.pivot_table(measure, "set", "system", aggfunc=["mean", "count"])
    means = table["mean"].where(table["count"] == N_FOLDS)
    return means.reindex(columns=[each for each in systems if each in means]).dropna(how="all")


def meetings(means: np.ndarray) -> np.ndarray:
    """Wins of the systems over each other on each set, of shape (n_sets, n, n); a tie is half."""
    first, second = means[:, :, None], means[:, None, :]
    wins = (first < second) + 0.5 * (first == second)
    wins[:, np.arange(means.shape[1]), np.arange(means.shape[1])] = 0.0
    return wins


def ratings(wins: np.ndarray, anchor: int) -> np.ndarray:
    """Ratings of most likelihood, by Newton's method, for wins of each system over each other."""
    n = len(wins)
    wins = wins + 0.5 * PRIOR_DRAWS * (1.0 - np.eye(n))
    met = wins + wins.T
    strength = np.zeros(n)
    for _ in range(MAX_STEPS):
        expected = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
        gradient = wins.sum(axis=1) - (met * expected).sum(axis=1)
        curvature = met * expected * (1.0 - expected)
        hessian = np.diag(curvature.sum(axis=1)) - curvature
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        strength += step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < TOLERANCE:
            break
    return ANCHOR_RATING + POINTS * (strength - strength[anchor])


def rate(means: pd.DataFrame, n_draws: int, seed: int) -> pd.DataFrame:
    """Rating of each system with the ends of its interval, and the number of its sets."""
    wins = meetings(means.to_numpy())
    anchor = list(means.columns).index(ANCHOR)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(wins), size=(n_draws, len(wins)))
    again = np.array([ratings(wins[rows].sum(axis=0), anchor) for rows in drawn])
    low, high = np.quantile(again, [0.025, 0.975], axis=0)
    found = {"rating": ratings(wins.sum(axis=0), anchor), "low": low, "high": high}
    table = pd.DataFrame({**found, "sets": means.notna().sum().to_numpy()}, index=means.columns)
    return table.sort_values("rating", ascending=False)


def report(outcomes: pd.DataFrame, systems: Sequence[str], n_draws: int, seed: int) -> str:
    """A table of each measure."""
    parts = []
    for measure, title in MEASURES.items():
        means = losses(outcomes, measure, systems)
        if ANCHOR not in means:
            continue
        lines = [
            [
                NAMES[system],
                f"{row.rating:.0f}",
                "" if system == ANCHOR else f"{row.low:.0f} to {row.high:.0f}",
                f"{row.sets:.0f}",
            ]
            for system, row in rate(means, n_draws, seed).iterrows()
        ]
        head = [title, "rating", "95 % interval", "sets"]
        parts.append(markdown(head, lines))
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    results = machine.ROOT / "benchmarks/results/accuracy.csv"
    parser.add_argument("--outcomes", type=Path, default=results)
    parser.add_argument("--half", choices=("both", "chosen", "report"), default="report")
    parser.add_argument("--systems", default=",".join(NAMES), help="names, separated by commas")
    parser.add_argument("--since", default="", help="date of the oldest outcomes of Bevel")
    parser.add_argument("--draws", type=int, default=500, help="of the bootstrap")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    outcomes = pd.read_csv(options.outcomes)
    outcomes = outcomes[[options.half in ("both", half_of(name)) for name in outcomes["set"]]]
    is_own = outcomes["system"].str.startswith("bevel")
    outcomes = outcomes[~is_own | (outcomes["date"] >= options.since)]
    print(report(outcomes, options.systems.split(","), options.draws, options.seed))


if __name__ == "__main__":
    main()
