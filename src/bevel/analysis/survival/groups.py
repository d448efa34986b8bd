"""Data for plots of survival forests: curves with bands, and risk groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from bevel._types import AnyInts, Floats
from bevel.analysis.accuracy.evaluation_rows import ROW_WORDS, notes_of
from bevel.analysis.analysed_forest import check_count, read_forest
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.analysis.survival.metrics import kaplan_meier
from bevel.analysis.survival.scores import mean_risk, read_rows
from bevel.data.survival import SurvivalTarget
from bevel.errors import wrong_value
from bevel.forest.survival import curves, read_times, survival_task
from bevel.forest.task import Survival
from bevel.printable import rounded

__all__ = ["RiskGroups", "SurvivalBands", "risk_groups", "survival_bands"]

MAX_ROWS = 1000  # rows whose curves in single trees fit in memory
N_TIMES = 200


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalBands(PrintedResult):
    """Survival curves of rows, and their spread over the trees.

    Attributes
    ----------
    times : ndarray
        Times of the curves.
    survival : ndarray of shape (n_rows, n_times)
        Mean curve of the trees.
    low, high : ndarray of shape (n_rows, n_times)
        Quantiles over the trees: the spread of the trees, not the error of their mean.
    level : float
        Share of the trees between these quantiles.
    """

    times: Floats
    survival: Floats
    low: Floats
    high: Floats
    level: float

    def _printed(self) -> PrintedTable:
        rows = [
            (f"row {row}", f"{self._time_below(curve)}") for row, curve in enumerate(self.survival)
        ]
        return PrintedTable("Survival curves", ("row", "median time"), rows[:20])

    def to_pandas(self) -> Any:
        """A line for each row and time."""
        n_rows, n_times = self.survival.shape
        return data_frame(
            {
                "row": np.repeat(np.arange(n_rows), n_times),
                "time": np.tile(self.times, n_rows),
                "survival": self.survival.ravel(),
                "low": self.low.ravel(),
                "high": self.high.ravel(),
            }
        )

    def _time_below(self, curve: Floats) -> str:
        below = np.flatnonzero(curve <= 0.5)
        last = rounded(self.times[-1], 4)
        return rounded(self.times[below[0]], 4) if len(below) else f"above {last}"


def survival_bands(forest: Any, X: Any, *, times: Any = None, level: float = 0.5) -> SurvivalBands:
    """Survival curves of rows with the quantiles of the curves of single trees.

    Parameters
    ----------
    forest : ObliqueSurvivalForest
        A fitted survival forest.
    X : array-like of shape (n_rows, n_features)
        Rows to predict, at most 1000.
    times : array-like of ascending times, default=None
        Times of the curves; None for 200 times up to the 95 % quantile of the event times of the
        fit.
    level : float, default=0.5
        Share of the trees within the band.

    Returns
    -------
    SurvivalBands
        Curves, drawn by `bevel.plots.survival_curves`.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> bands = analysis.survival_bands(forest, X[200:203], times=[0.5, 1.0, 2.0])
    """
    analysed = read_forest(forest, "survival_bands")
    record = survival_task(analysed.fitted, "survival_bands")
    if not (isinstance(level, float) and 0.0 < level < 1.0):
        raise wrong_value("level", "a share above 0 and below 1", level, "Use 0.5.")
    rows = analysed.encode(X)
    if len(rows) > MAX_ROWS:
        raise wrong_value("X", f"of at most {MAX_ROWS} rows", len(rows), "Pass some of them.")
    grid = _grid(times, record)
    leaves = analysed.predictor.leaves(rows, analysed.n_threads)
    mean = curves(analysed.fitted, leaves, grid, "survival", analysed.n_threads)
    low, high = np.empty_like(mean), np.empty_like(mean)
    n_trees = leaves.shape[1]
    for row in range(len(rows)):
        alone = np.full((n_trees, n_trees), -1, dtype=np.int32)
        np.fill_diagonal(alone, leaves[row])
        each = curves(analysed.fitted, alone, grid, "survival", analysed.n_threads)
        ends = ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
        low[row], high[row] = np.quantile(each, ends, axis=0)
    return SurvivalBands(grid, mean, low, high, level)


@dataclass(frozen=True, eq=False, repr=False)
class RiskGroups(PrintedResult):
    """Rows in groups by their predicted risk, with observed and predicted survival.

    Attributes
    ----------
    names : tuple of str
        Names of the groups, from the lowest risk up.
    times : ndarray
        Times of the curves.
    observed : ndarray of shape (n_groups, n_times)
        Kaplan-Meier curves of the rows.
    predicted : ndarray of shape (n_groups, n_times)
        Means of the predicted curves of the rows.
    count, n_events : ndarray of int
        Number of rows and of events of each group.
    p_value : float
        p-value of the log-rank test that the groups do not differ.
    group : ndarray of int, shape (n_rows,)
        Group of each row; -1 for a row that was in every bag.
    row_kind : {"new", "out-of-bag", "grown on"}
        Kind of the rows, as in `SurvivalScores`.
    """

    names: tuple[str, ...]
    times: Floats
    observed: Floats
    predicted: Floats
    count: AnyInts
    n_events: AnyInts
    p_value: float
    group: AnyInts
    row_kind: str = "new"

    def to_pandas(self) -> Any:
        """A line for each group."""
        return data_frame({"group": self.names, "rows": self.count, "events": self.n_events})

    def _printed(self) -> PrintedTable:
        rows = [
            (name, str(count), str(events), f"{curve[-1]:.3f}")
            for name, count, events, curve in zip(
                self.names, self.count, self.n_events, self.observed, strict=True
            )
        ]
        header = ("group", "rows", "events", f"survival at {rounded(self.times[-1], 4)}")
        notes = (f"log-rank p = {self.p_value:.2g}", *notes_of(self.row_kind))
        return PrintedTable(f"Groups of risk, {ROW_WORDS[self.row_kind]}", header, rows, notes)


def risk_groups(
    forest: Any,
    X: Any,
    y: Any,
    *,
    n_groups: int = 3,
    times: Any = None,
    out_of_bag: bool | str = "auto",
    sample_weight: Any = None,
) -> RiskGroups:
    """Rows in groups of about equal size by their predicted risk, and the survival of each.

    Parameters
    ----------
    forest : ObliqueSurvivalForest
        A fitted survival forest.
    X, y : array-like
        Rows with their times and events: those of the fit in their order, or rows that the forest
        has not seen.
    n_groups : int, default=3
        Number of groups, at least 2.
    times : array-like of ascending times, default=None
        Times of the curves; None for 200 times up to the 95 % quantile of the event times of the
        fit.
    out_of_bag : bool or "auto", default="auto"
        Whether each row is predicted only by the trees whose bags it is out of. "auto": if these
        are the rows of the fit, which is recognised if they are in its order. False: by all trees.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the fit, as in `survival_scores`.

    Returns
    -------
    RiskGroups
        Groups, drawn by `bevel.plots.risk_groups`.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> groups = analysis.risk_groups(forest, X[200:], y[200:], n_groups=3)
    """
    analysed = read_forest(forest, "risk_groups")
    check_count("n_groups", n_groups, low=2)
    target, leaves, row_kind = read_rows(analysed, X, y, out_of_bag, sample_weight)
    record = survival_task(analysed.fitted, "risk_groups")
    grid = _grid(times, record)
    risk = mean_risk(analysed, leaves)
    known = np.flatnonzero(np.isfinite(risk))
    edges = np.quantile(risk[known], np.linspace(0.0, 1.0, n_groups + 1)[1:-1])
    group = np.full(len(risk), -1)
    group[known] = np.searchsorted(edges, risk[known], side="left")
    members = [np.flatnonzero(group == g) for g in range(n_groups)]
    if min(map(len, members)) == 0:
        remedy = "Ask for fewer, or grow more trees."
        raise wrong_value("n_groups", "so small that each group has a row", n_groups, remedy)
    survival = curves(analysed.fitted, leaves, grid, "survival", analysed.n_threads)
    return RiskGroups(
        names=_names(n_groups),
        times=grid,
        observed=np.array([kaplan_meier(target[rows])(grid) for rows in members]),
        predicted=np.array([survival[rows].mean(axis=0) for rows in members]),
        count=np.array([len(rows) for rows in members]),
        n_events=np.array([np.count_nonzero(target.event[rows]) for rows in members]),
        p_value=_log_rank_p_value(target[known], group[known], n_groups),
        group=group,
        row_kind=row_kind,
    )


def _grid(times: Any, record: Survival) -> Floats:
    """Given times, or an even grid that ends before the few last events."""
    if times is not None:
        return read_times(times, record)
    last = float(np.quantile(record.event_times, 0.95))
    grid: Floats = np.linspace(last / N_TIMES, last, N_TIMES)
    return grid


def _names(n_groups: int) -> tuple[str, ...]:
    if n_groups == 3:
        return ("low risk", "middle", "high risk")
    ends = {0: "lowest risk", n_groups - 1: "highest risk"}
    return tuple(ends.get(g, f"group {g + 1}") for g in range(n_groups))


def _log_rank_p_value(target: SurvivalTarget, group: AnyInts, n_groups: int) -> float:
    """p-value of the log-rank test of several groups; the quadratic form leaves one out."""
    surplus, covariance = np.zeros(n_groups), np.zeros((n_groups, n_groups))
    for time in target.event_times:
        at_risk = np.bincount(group[target.at_risk(time)], minlength=n_groups).astype(float)
        died = np.bincount(group[target.event & (target.time == time)], minlength=n_groups)
        n, d = at_risk.sum(), died.sum()
        share = at_risk / n
        surplus += died - d * share
        if n > 1:
            spread = np.diag(share) - np.outer(share, share)
            covariance += d * (n - d) / (n - 1) * spread
    part = surplus[1:]
    statistic = float(part @ np.linalg.pinv(covariance[1:, 1:]) @ part)
    return float(chi2.sf(statistic, n_groups - 1))
