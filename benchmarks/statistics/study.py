"""What a study of forests is: cases with splits and forests, measured values, findings.

A fact of `facts.py` compares two forests that are tuned; a study compares any number of forests
with fixed settings, in several cases, and may say several things.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.intervals import Interval, paired

__all__ = ["METRICS", "Case", "Finding", "Results", "Split", "Study", "halves", "worse_than"]

# Of a fit: share of wrong labels, area under the ROC curve (mean over classes, each against the
# others), leaves of the median tree, mean depth of a leaf.
METRICS = ("error", "auc", "leaves", "depth")


@dataclass(frozen=True)
class Split:
    """Training and test rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@dataclass(frozen=True)
class Case:
    """One problem in one setting; all forests get the same rows.

    `splits` gives the splits of a repeat: one, or the folds of a cross-validation, whose
    predictions are pooled before they are measured.
    """

    name: str
    splits: Callable[[int], list[Split]]
    forests: Mapping[str, Mapping[str, Any]]  # name -> parameters of the classifier
    n_trees: int | None = None  # None: the study's


@dataclass(frozen=True)
class Finding:
    """One claim, what was seen, and whether it holds (None: for information)."""

    claim: str
    seen: str
    holds: bool | None

    @property
    def verdict(self) -> str:
        return {True: "holds", False: "does not hold", None: "–"}[self.holds]


@dataclass
class Results:
    """Values of all fits: (case, forest) -> metric -> one value for each repeat."""

    cells: dict[tuple[str, str], dict[str, np.ndarray]] = field(default_factory=dict)

    def add(self, case: str, forest: str, values: list[Mapping[str, float]]) -> None:
        self.cells[case, forest] = {
            metric: np.array([float(value[metric]) for value in values]) for metric in METRICS
        }

    @property
    def cases(self) -> list[str]:
        return list(dict.fromkeys(case for case, _ in self.cells))

    @property
    def forests(self) -> list[str]:
        return list(dict.fromkeys(forest for _, forest in self.cells))

    def values(self, case: str, forest: str, metric: str = "error") -> np.ndarray:
        return self.cells[case, forest][metric]

    def mean(self, case: str, forest: str, metric: str = "error") -> Interval:
        """The mean over repeats with its interval."""
        values = self.values(case, forest, metric)
        return paired(values, np.zeros_like(values))

    def difference(self, case: str, one: str, other: str, metric: str = "error") -> Interval:
        """`one` − `other`, paired over repeats."""
        return paired(self.values(case, one, metric), self.values(case, other, metric))


@dataclass(frozen=True)
class Study:
    """A fact with its cases. `metric` is the one shown in the table of means."""

    name: str
    source: str
    cases: Callable[[Path | None], list[Case]]  # folder of data, if given -> cases
    judge: Callable[[Results], list[Finding]]
    n_repeats: int
    n_trees: int
    metric: str = "error"
    needs_data: bool = False


def halves(X: np.ndarray, y: np.ndarray, seed: int, share: float = 0.5) -> Split:
    """Rows divided at random; every class of the test rows is in the training rows."""
    rng = np.random.default_rng(seed)
    n_train = round(share * len(y))
    while True:
        order = rng.permutation(len(y))
        train, test = order[:n_train], order[n_train:]
        if np.isin(y[test], y[train]).all():
            return Split(X[train], y[train], X[test], y[test])


def worse_than(results: Results, case: str, plain: str, rotated: str) -> Finding:
    """Does `plain` err more than `rotated`, with the whole interval?"""
    interval = results.difference(case, rotated, plain)
    wins = 100 * np.mean(results.values(case, rotated) < results.values(case, plain))
    losses = 100 * np.mean(results.values(case, rotated) > results.values(case, plain))
    seen = f"{rotated} − {plain}: {interval.in_points()} points; wins {wins:.0f} %, losses"
    return Finding(
        f"{case}: {rotated} errs less than {plain}",
        f"{seen} {losses:.0f} %",
        bool(interval.high < 0),
    )
