"""Biomarkers from few samples
===========================

A study has measured 318 peptides in the blood of 27 healthy people and 7 patients; 10 and 22 more
are for testing. Which peptides separate patients from healthy people, and how well?

The example follows chapter 4 of Tomita's thesis, on simulated samples of the same shape. There the
informative peptides are known: 0 and 1 (see `bevel.datasets.biomarkers`). Logistic regression
chooses its peptides by stepwise forward selection, forests by the importance of their directions;
then each learner is fitted to all peptides and to its own two.

    python examples/biomarkers.py --folder pictures
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

from bevel import presets
from bevel.analysis import forward_selection, importance
from bevel.analysis.results import Directions
from bevel.datasets import biomarkers
from bevel.plots.canvas import COLOURS, MARKERS, RULE

FORESTS: Mapping[str, Callable[..., Any]] = {"RF": presets.random_forest, "SPORF": presets.sporf}
LEARNERS = ("LR", *FORESTS)
# Candidates at a node, as powers of the number of features; RF has no more than the features.
POWERS = {"RF": (0.5, 0.75, 1.0), "SPORF": (0.5, 1.0, 1.5)}
PENALTY = 0.1  # of logistic regressions: separable samples have no finite fit without one


@dataclass(frozen=True, eq=False)
class Study:
    """Results of one study.

    `chosen` holds two features for each learner; `rates` the false positive and false negative
    rate for each learner and "all" or "two" features.
    """

    train: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]
    chosen: Mapping[str, tuple[int, ...]]
    rates: Mapping[tuple[str, str], tuple[float, float]]
    directions: Directions  # SPORF's, with their shares
    small_forest: Any  # SPORF on its two features


def run_study(seed: int, n_trees: int, n_features: int = 318) -> Study:
    """Simulate a study, choose features and test."""
    rng = np.random.default_rng(seed)
    train = X, y = biomarkers(27, 7, n_features, random_state=rng)
    test = biomarkers(10, 22, n_features, random_state=rng)
    chosen: dict[str, tuple[int, ...]] = {
        "LR": tuple(forward_selection(X, y, n_features=2).features.tolist())
    }
    directions: dict[str, Directions] = {}
    fitted: dict[tuple[str, str], Any] = {}
    for name in FORESTS:
        fitted[name, "all"] = best_forest(name, X, y, n_trees)
        directions[name] = importance(fitted[name, "all"], "projection")
        chosen[name] = first_two(directions[name])
        fitted[name, "two"] = best_forest(name, X[:, chosen[name]], y, n_trees)
    fitted["LR", "all"] = logistic_regression().fit(X, y)
    fitted["LR", "two"] = logistic_regression().fit(X[:, chosen["LR"]], y)
    rates = {}
    for name, which in fitted:
        columns = chosen[name] if which == "two" else slice(None)
        rates[name, which] = error_rates(fitted[name, which].predict(test[0][:, columns]), test[1])
    return Study(train, test, chosen, rates, directions["SPORF"], fitted["SPORF", "two"])


def error_rates(predicted: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """False positives among the healthy, false negatives among the patients."""
    return float(np.mean(predicted[y == 0] == 1)), float(np.mean(predicted[y == 1] == 0))


# Forests ------------------------------------------------------------------------------------------


def best_forest(name: str, X: np.ndarray, y: np.ndarray, n_trees: int) -> Any:
    """The forest with the lowest out-of-bag error over numbers of candidates at a node."""
    numbers = sorted({round(X.shape[1] ** power) for power in POWERS[name]})
    forests = [
        FORESTS[name](n_estimators=n_trees, n_projections=n, oob_score=True, random_state=0).fit(
            X, y
        )
        for n in numbers
    ]
    return max(forests, key=lambda forest: forest.oob_score_)


def first_two(directions: Directions) -> tuple[int, ...]:
    """The first two features met in the directions, the most important direction first."""
    return tuple(dict.fromkeys(directions.index.tolist()))[:2]


# Logistic regression ------------------------------------------------------------------------------


def logistic_regression() -> LogisticRegression:
    return LogisticRegression(C=1.0 / PENALTY, max_iter=1000)


# Tables and plot ----------------------------------------------------------------------------------


def write_table(rates: Mapping[tuple[str, str], tuple[float, float]]) -> str:
    """Rates in percent."""
    lines = [f"{'':<6} {'all: FPR':>9} {'FNR':>6}   {'two: FPR':>9} {'FNR':>6}"]
    for name in LEARNERS:
        numbers = [100 * rate for which in ("all", "two") for rate in rates[name, which]]
        lines.append("{:<6} {:>9.1f} {:>6.1f}   {:>9.1f} {:>6.1f}".format(name, *numbers))
    return "\n".join(lines)


def mean_rates(studies: Sequence[Study]) -> dict[tuple[str, str], tuple[float, float]]:
    """Mean of the rates over studies."""
    means = {}
    for key in studies[0].rates:
        positive, negative = np.mean([study.rates[key] for study in studies], axis=0)
        means[key] = (float(positive), float(negative))
    return means


def draw(study: Study, means: Mapping[tuple[str, str], tuple[float, float]]) -> Figure:
    """The best directions, the plane of the two chosen features, and the mean error rates."""
    figure = Figure(figsize=(12.5, 3.9), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    draw_directions(left, study)
    draw_plane(middle, study)
    draw_rates(right, means)
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_directions(axes: Any, study: Study) -> None:
    top = study.directions.top(10)
    has_marker = top.dense()[:, :2].any(axis=1)
    colours = [COLOURS[0] if marked else RULE for marked in has_marker]
    axes.barh(range(len(top)), 100 * top.share, color=colours)
    axes.set_yticks(range(len(top)), top.words)
    axes.invert_yaxis()
    axes.set(
        xlabel="share of the gain, %", title="SPORF, ten best directions\n(dark: with a marker)"
    )


def draw_plane(axes: Any, study: Study) -> None:
    first, second = study.chosen["SPORF"]
    X, y = study.test
    X = X[:, [first, second]]
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 200).T), axis=-1)
    share = study.small_forest.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(200, 200)
    axes.contourf(grid[..., 0], grid[..., 1], share, levels=[0.5, 1.01], colors=[RULE])
    for label, name in enumerate(("healthy", "patients")):
        mine = X[y == label]
        look = {"marker": MARKERS[label], "color": COLOURS[label], "edgecolors": "white"}
        axes.scatter(*mine.T, s=38, label=name, **look)
    axes.set(xlabel=f"x{first}", ylabel=f"x{second}", title="test samples; grey: called patients")
    axes.legend(frameon=False)


def draw_rates(axes: Any, means: Mapping[tuple[str, str], tuple[float, float]]) -> None:
    labels = [f"{name}, {which}" for which in ("all", "two") for name in LEARNERS]
    rates = [means[name, which] for which in ("all", "two") for name in LEARNERS]
    place = np.arange(len(labels))
    kinds = ("false positive", "false negative")
    for kind, (name, hatch) in enumerate(zip(kinds, ("", "///"), strict=True)):
        values = [100 * rate[kind] for rate in rates]
        look = {"color": COLOURS[1 - kind], "hatch": hatch, "edgecolor": "white"}
        axes.barh(place + 0.4 * kind - 0.2, values, height=0.38, label=name, **look)
    axes.set_yticks(place, labels)
    axes.invert_yaxis()
    axes.set(xlabel="rate, % (mean over studies)", title="error rates on test samples")
    axes.legend(frameon=False, loc="lower right")


def main(folder: Path, n_trees: int, n_studies: int, n_features: int = 318) -> None:
    """Run the studies, print the results and plot the first study."""
    studies = [run_study(seed, n_trees, n_features) for seed in range(n_studies)]
    first, means = studies[0], mean_rates(studies)
    print("Features chosen in the first study:")
    for name in LEARNERS:
        print(f"  {name:<6} {', '.join(f'x{feature}' for feature in first.chosen[name])}")
    print("\nError rates of the first study, % of 10 healthy and 22 patients:\n")
    print(write_table(first.rates))
    print(f"\nMean over {n_studies} studies:\n")
    print(write_table(means))
    print("\nHow often the two features were the markers x0 and x1, and one of them:")
    for name in LEARNERS:
        n_right = [len({0, 1} & set(study.chosen[name])) for study in studies]
        print(f"  {name:<6} both {n_right.count(2)}, one {n_right.count(1)} of {n_studies}")
    folder.mkdir(parents=True, exist_ok=True)
    draw(first, means).savefig(folder / "biomarkers.png", dpi=110)
    print(f"\nPicture: {folder / 'biomarkers.png'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Biomarkers from few samples.")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the picture goes")
    parser.add_argument("--trees", type=int, default=500, help="trees of each forest")
    parser.add_argument("--studies", type=int, default=20, help="simulated studies")
    asked = parser.parse_args()
    main(asked.folder, asked.trees, asked.studies)
