"""Scores of survival forests: concordance, Brier score, AUC and calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bevel._types import Bools, Float32s, Floats, Ints32
from bevel.analysis.accuracy.evaluation_rows import ROW_WORDS, notes_of
from bevel.analysis.analysed_forest import (
    AnalysedForest,
    check_count,
    check_out_of_bag,
    read_forest,
)
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.analysis.survival.metrics import (
    brier_score,
    dynamic_auc,
    end_of_weights,
    integrated_brier_score,
    kaplan_meier,
)
from bevel.data.row_weights import read_weights
from bevel.data.survival import SurvivalTarget
from bevel.errors import wrong_value
from bevel.forest.survival import concordance_and_error, curves, read_times, survival_task
from bevel.forest.training_rows import survival_rows_of
from bevel.printable import rounded

__all__ = [
    "SurvivalCalibration",
    "SurvivalScores",
    "mean_risk",
    "read_rows",
    "rows_out_of_bag",
    "survival_calibration",
    "survival_scores",
]

N_TIMES = 50  # times of the default grid


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalScores(PrintedResult):
    """Scores of a survival forest.

    Attributes
    ----------
    concordance : float
        Harrell's concordance of the risks.
    concordance_error : float
        Standard error of the concordance over the choice of the rows.
    integrated_brier_score : float
        Mean of `brier_score` over the times.
    reference : float
        Mean Brier score of the Kaplan-Meier curve of all rows, which uses no features.
    times : ndarray
        Times of the following scores.
    brier_score, auc : ndarray
        Scores at each time, with weights that correct for censored rows.
    reference_score : ndarray
        The Brier score of the Kaplan-Meier curve of all rows at each time.
    n_rows : int
        Number of rows that were scored.
    out_of_bag : bool
        Whether each row was predicted by the trees whose bags it is out of.
    row_kind : {"new", "out-of-bag", "grown on"}
        Kind of the rows; "grown on": rows of the fit, predicted by trees that have seen them.
    """

    concordance: float
    concordance_error: float
    integrated_brier_score: float
    reference: float
    times: Floats
    brier_score: Floats
    auc: Floats
    reference_score: Floats
    n_rows: int
    out_of_bag: bool
    row_kind: str = "new"

    @property
    def mean_auc(self) -> float:
        """Mean of the AUC over the times at which it is defined."""
        return float(np.nanmean(self.auc))

    def to_pandas(self) -> Any:
        """A line for each time."""
        names = ("brier_score", "reference_score", "auc")
        return data_frame({"time": self.times, **{name: getattr(self, name) for name in names}})

    def _printed(self) -> PrintedTable:
        rows: list[tuple[str, float | str]] = [
            ("concordance", f"{self.concordance:.4f} ± {self.concordance_error:.4f}"),
            ("mean AUC", self.mean_auc),
            ("integrated Brier score", self.integrated_brier_score),
            ("the same without features", self.reference),
        ]
        span = f"times from {rounded(self.times[0], 4)} to {rounded(self.times[-1], 4)}"
        title = f"Survival of {self.n_rows} rows, {ROW_WORDS[self.row_kind]}"
        return PrintedTable(title, (), rows, (span, *notes_of(self.row_kind)))


def survival_scores(
    forest: Any,
    X: Any,
    y: Any,
    *,
    times: Any = None,
    out_of_bag: bool | str = "auto",
    y_train: Any = None,
    sample_weight: Any = None,
) -> SurvivalScores:
    """Scores of a survival forest, on the rows of its fit out of bag, or on new rows.

    Parameters
    ----------
    forest : ObliqueSurvivalForest
        A fitted survival forest.
    X, y : array-like
        Rows with their times and events: those of the fit in their order, or rows that the forest
        has not seen.
    times : array-like of ascending times, default=None
        Times of the Brier score and the AUC; None for 50 times from the 5 % to the 90 %
        quantile of the event times of y, as far as rows that enter late have weights.
    out_of_bag : bool or "auto", default="auto"
        Whether each row is predicted only by the trees whose bags it is out of. "auto": if these
        are the rows of the fit, which is recognised if they are in its order. False: by all trees.
    y_train : as y, default=None
        Rows from which the censoring is estimated; None takes y.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the fit, if these are its rows: those of weight 0 are in no bag. Scores count
        all rows equally.

    Returns
    -------
    SurvivalScores
        Scores, printed as a table.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest
    >>> from bevel.analysis import survival_scores
    >>> from bevel.datasets import weibull
    >>> X, y = weibull(200, random_state=0)
    >>> forest = ObliqueSurvivalForest(50, random_state=0).fit(X, y)
    >>> scores = survival_scores(forest, X, y)
    >>> 0.5 < scores.concordance < 1.0, scores.out_of_bag
    (True, True)
    """
    analysed = read_forest(forest, "survival_scores")
    target, leaves, row_kind = read_rows(analysed, X, y, out_of_bag, sample_weight)
    grid = _grid(times, target)
    survival = curves(analysed.fitted, leaves, grid, "survival", analysed.n_threads)
    risk = mean_risk(analysed, leaves)
    known = (leaves >= 0).any(axis=1)
    truth, train = target[known], target if y_train is None else y_train
    at_risk = 1.0 - survival[known]
    alone = np.broadcast_to(kaplan_meier(truth)(grid), (len(truth), len(grid)))
    concordance, error = concordance_and_error(truth, risk[known])
    return SurvivalScores(
        concordance=concordance,
        concordance_error=error,
        integrated_brier_score=integrated_brier_score(truth, survival[known], grid, train),
        reference=integrated_brier_score(truth, alone, grid, train),
        times=grid,
        brier_score=brier_score(truth, survival[known], grid, train),
        auc=dynamic_auc(truth, at_risk, grid, train),
        reference_score=brier_score(truth, alone, grid, train),
        n_rows=len(truth),
        out_of_bag=row_kind == "out-of-bag",
        row_kind=row_kind,
    )


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalCalibration(PrintedResult):
    """Predicted against observed survival at a time, in groups of rows.

    Attributes
    ----------
    time : float
        Time of the survival.
    predicted : ndarray
        Mean predicted survival of each group, ascending.
    observed : ndarray
        Kaplan-Meier survival of the group at that time.
    standard_error : ndarray
        Standard error of `observed`, after Greenwood.
    count : ndarray of int
        Number of rows of each group.
    row_kind : {"new", "out-of-bag", "grown on"}
        Kind of the rows, as in `SurvivalScores`.
    """

    time: float
    predicted: Floats
    observed: Floats
    standard_error: Floats
    count: Ints32
    row_kind: str = "new"

    @property
    def expected_calibration_error(self) -> float:
        """Mean distance between observed and predicted survival, over the rows."""
        distance = np.abs(self.predicted - self.observed)
        return float((self.count * distance).sum() / self.count.sum())

    def to_pandas(self) -> Any:
        """A line for each group."""
        names = ("predicted", "observed", "standard_error", "count")
        return data_frame({name: getattr(self, name) for name in names})

    def _printed(self) -> PrintedTable:
        columns = (self.predicted, self.observed, self.standard_error)
        rows = [
            (*(f"{value:.3f}" for value in line), str(count))
            for *line, count in zip(*columns, self.count, strict=True)
        ]
        header = ("predicted", "observed", "std. error", "rows")
        error = f"expected calibration error {self.expected_calibration_error:.3f}"
        title = f"Survival at time {rounded(self.time, 4)}, {ROW_WORDS[self.row_kind]}"
        return PrintedTable(title, header, rows, (error, *notes_of(self.row_kind)))


def survival_calibration(
    forest: Any,
    X: Any,
    y: Any,
    time: float,
    *,
    n_groups: int = 10,
    out_of_bag: bool | str = "auto",
    sample_weight: Any = None,
) -> SurvivalCalibration:
    """Compare predicted with observed survival at a time.

    Rows are grouped by their predicted survival; the survival of a group is its Kaplan-Meier
    estimate, which takes censored rows into account.

    Parameters
    ----------
    forest : ObliqueSurvivalForest
        A fitted survival forest.
    X, y : array-like
        Rows with their times and events: those of the fit in their order, or rows that the forest
        has not seen.
    time : float
        Time of the survival.
    n_groups : int, default=10
        Number of groups of about equal size; fewer where predictions are tied.
    out_of_bag : bool or "auto", default="auto"
        Whether each row is predicted only by the trees whose bags it is out of. "auto": if these
        are the rows of the fit, which is recognised if they are in its order. False: by all trees.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the fit, as in `survival_scores`.

    Returns
    -------
    SurvivalCalibration
        Calibration, drawn by `bevel.plots.survival_calibration`.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> result = analysis.survival_calibration(forest, X[200:], y[200:], time=1.0, n_groups=4)
    """
    analysed = read_forest(forest, "survival_calibration")
    target, leaves, row_kind = read_rows(analysed, X, y, out_of_bag, sample_weight)
    check_count("n_groups", n_groups, low=1)
    when = read_times(time, survival_task(analysed.fitted, "survival_calibration"))
    if len(when) != 1:
        raise wrong_value("time", "a single time", time, "Call it for each of them.")
    known = (leaves >= 0).any(axis=1)
    predicted = curves(analysed.fitted, leaves[known], when, "survival", analysed.n_threads)[:, 0]
    truth = target[known]
    edges = np.unique(np.quantile(predicted, np.linspace(0.0, 1.0, n_groups + 1)[1:-1]))
    group = np.searchsorted(edges, predicted, side="left")
    members = [group == g for g in np.unique(group)]
    observed = [_survival_at(truth[rows], float(when[0])) for rows in members]
    return SurvivalCalibration(
        time=float(when[0]),
        predicted=np.array([predicted[rows].mean() for rows in members]),
        observed=np.array([each[0] for each in observed]),
        standard_error=np.array([each[1] for each in observed]),
        count=np.array([np.count_nonzero(rows) for rows in members], dtype=np.int32),
        row_kind=row_kind,
    )


def _survival_at(target: SurvivalTarget, time: float) -> tuple[float, float]:
    """Kaplan-Meier survival at a time, and Greenwood's standard error."""
    survival, variance = 1.0, 0.0
    for when in target.event_times[target.event_times <= time]:
        n = float(np.count_nonzero(target.at_risk(when)))
        d = float(np.count_nonzero(target.event & (target.time == when)))
        survival *= 1.0 - d / n
        variance += d / (n * (n - d)) if n > d else 0.0
    return survival, survival * float(np.sqrt(variance))


def read_rows(
    analysed: AnalysedForest, X: Any, y: Any, out_of_bag: bool | str, sample_weight: Any = None
) -> tuple[SurvivalTarget, Ints32, str]:
    """Times and events of rows, their leaves, -1 where a tree does not count, and their kind."""
    record = survival_task(analysed.fitted, analysed.caller)
    rows = analysed.encode(X)
    target = record.read_times(y, len(rows))
    weights = read_weights(sample_weight, None, None, len(rows))
    out, row_kind = rows_out_of_bag(analysed, rows, target, out_of_bag, weights)
    if sample_weight is not None and row_kind == "new":
        required = "None for new rows: it tells which rows of the fit can be in a bag"
        raise wrong_value("sample_weight", required, "weights", "Leave it out.")
    leaves = analysed.predictor.leaves(rows, analysed.n_threads)
    if out is not None:
        leaves[~out] = -1
    return target, leaves, row_kind


def rows_out_of_bag(
    analysed: AnalysedForest,
    rows: Float32s,
    target: SurvivalTarget,
    out_of_bag: bool | str,
    weights: Floats | None = None,
) -> tuple[Bools | None, str]:
    """Trees that count for each row, None if all do, and the kind of the rows."""
    wanted = check_out_of_bag(out_of_bag)
    if wanted:
        analysed.bags_with_rows_out()
        found = survival_rows_of(analysed.fitted, rows, target, analysed.caller, weights)
        analysed.check_some_row_is_out(found)
        return found.out, "out-of-bag"
    try:
        found = survival_rows_of(analysed.fitted, rows, target, analysed.caller, weights)
    except ValueError:  # other rows, or bags that cannot be drawn again
        return None, "new"
    if wanted is None and analysed.leaves_rows_out() and found.out.any():
        return found.out, "out-of-bag"
    return None, "grown on"


def mean_risk(analysed: AnalysedForest, leaves: Ints32) -> Floats:
    """Mean mortality over the trees that count; NaN if there are none."""
    forest = analysed.forest
    node = leaves + forest.tree_offset[:-1]
    counts = leaves >= 0
    sums = np.where(counts, forest.leaf_value[np.where(counts, node, 0)], 0.0).sum(axis=1)
    number = counts.sum(axis=1)
    known = number > 0
    risk = np.full(len(sums), np.nan)
    risk[known] = sums[known] / number[known]
    return risk


def _grid(times: Any, target: SurvivalTarget) -> Floats:
    if times is not None:
        return np.atleast_1d(np.asarray(times, dtype=np.float64))
    if not target.event.any():
        raise ValueError(
            "y must have an event to choose times from; got censored rows only. Pass times."
        )
    low, high = np.quantile(target.time[target.event], (0.05, 0.9))
    if target.entry is not None:  # as far as late rows have weights
        known = target.time[target.event & (target.time < end_of_weights(target))]
        high = min(high, known.max(initial=low))
        if not low < high:
            raise ValueError(
                "The Brier score and AUC of rows that enter late need rows at risk from the first "
                "event on; got events of all rows that had entered by then, so that survival is "
                "estimated as 0 from there. Leave out rows with such early events, or use "
                "concordance_index."
            )
    if not low < high:
        raise ValueError(
            "y must have events at different times to choose times from; got one time. Pass times."
        )
    grid: Floats = np.linspace(low, high, N_TIMES)
    return grid
