"""SPORF's grid: d and λ chosen by out-of-bag error, without cross-validation (section 3.2).

d, the number of directions tried at a node, is p^¼, p^½, p^¾, p and, where it is affordable, p²; λ
is 1/p to 5/p, so that a direction combines λp = 1 to 5 features on average.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bevel.projections import SparseSigns
from bevel.projections.counts import resolve_count
from bevel.workflow.fitting import Settings, coded, fit
from bevel.workflow.labelled_rows import CLASSIFICATION, LabelledRows
from bevel.workflow.scores import Estimate, mean_estimate, row_losses, share_estimate

__all__ = ["Point", "Tried", "best_of", "grid", "python_line", "tune"]

POWERS = ("p**0.25", "p**0.5", "p**0.75", "p", "p**2")
DENSITIES = (1, 2, 3, 4, 5)
AFFORDABLE_DRAWS = 1000  # p² up to here; time grows in proportion


@dataclass(frozen=True)
class Point:
    """A point of the grid: d in words and as a number, and λp."""

    d: str
    n_projections: int
    density: int

    def settings(self, base: Settings) -> Settings:
        return replace(base, projection=SparseSigns(self.density), n_projections=self.d)


@dataclass(frozen=True)
class Tried:
    """A point and what its forest lost out of bag: error, or mean squared error."""

    point: Point
    loss: Estimate
    seconds: float


def grid(data: LabelledRows, *, all_powers: bool = False) -> list[Point]:
    """The points for a table, each number of draws once; p² if affordable, or with `all_powers`."""
    n_features = data.X.shape[1]
    n_numeric = n_features - len(data.X.nominal)
    draws: dict[int, str] = {}
    for power in POWERS:
        n = resolve_count("d", power, n_features)
        if power != "p**2" or all_powers or n <= AFFORDABLE_DRAWS:
            draws.setdefault(n, power)
    densities = [density for density in DENSITIES if density <= n_numeric]
    return [Point(d, n, density) for n, d in draws.items() for density in densities]


def tune(
    data: LabelledRows,
    points: Sequence[Point],
    settings: Settings,
    *,
    on_point: Callable[[int], object] = lambda _: None,
) -> list[Tried]:
    """Grow a forest at every point, on the same bags, and look at its out-of-bag rows."""
    if not points:
        raise ValueError(
            "Tuning needs at least one numeric column to make directions of; got nominal columns "
            "only. Use fit instead."
        )
    tried = []
    for number, point in enumerate(points, start=1):
        start = time.perf_counter()
        fitted = fit(data, point.settings(settings))
        assert fitted.out_of_bag is not None
        loss = row_losses(coded(data), fitted.out_of_bag, data.task)
        tried.append(Tried(point, _estimate(loss, data.task), time.perf_counter() - start))
        on_point(number)
    return tried


def _estimate(loss: Any, task: str) -> Estimate:
    known = loss[~np.isnan(loss)]
    if len(known) == 0:
        raise ValueError(
            "Tuning needs rows out of the bags; with so few trees every row was in all of them. "
            "Raise `tuning_trees`."
        )
    if task == CLASSIFICATION:
        return share_estimate(int(known.sum()), len(known))
    return mean_estimate(known)


def best_of(tried: Sequence[Tried]) -> Tried:
    """The point of least loss; of equals the first, which is the cheapest."""
    return min(tried, key=lambda each: each.loss.value)


def python_line(data: LabelledRows, best: Tried, settings: Settings) -> str:
    """What to write in Python to get the best forest."""
    kind = "Classifier" if data.task == CLASSIFICATION else "Regressor"
    point = best.point
    return (
        f"bevel.ObliqueForest{kind}(n_estimators={settings.n_trees}, "
        f'projection=bevel.projections.SparseSigns({point.density}), n_projections="{point.d}", '
        f"random_state={settings.seed})"
    )
