"""Results of the systems over all cases of a run: one line per system, against a reference."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bevel_lab import statistics
from bevel_lab.report.tally import Tally
from bevel_lab.statistics import Interval

__all__ = ["Standing", "alike_with_best", "choose_reference", "standings"]

FAVOURITES = ("sporf", "random-forest", "rf", "sklearn-rf")


@dataclass(frozen=True)
class Standing:
    """A system over the cases that all systems have finished.

    `wins`, `ties`, `losses` and the difference are its own against the reference's; `p_value` is
    that of the two-sided test of Wilcoxon, `p_reference_better` that of the one-sided test whether
    the reference is better (SPORF, Fig. 5), `p_better` that of whether the system is. They are None
    for the reference itself.
    """

    system: str
    n_cases: int
    mean: float
    kappa: float
    auc: float
    log_loss: float
    rank: float
    best_or_alike: int
    within_one_deviation: int
    seconds_fit: float
    difference: Interval | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    p_value: float | None = None
    p_reference_better: float | None = None
    p_better: float | None = None


def choose_reference(systems: tuple[str, ...], chosen: str | None = None) -> str:
    """The system that others are compared with: SPORF, or else a random forest, or the first."""
    return chosen or next((name for name in FAVOURITES if name in systems), systems[0])


def alike_with_best(tally: Tally) -> NDArray[np.bool_]:
    """``[case, system]``: the best of a case and those not significantly worse (Menze, Table 1)."""
    scores = tally.scores(tally.measure)
    marks = np.zeros(scores.shape[:2], dtype=np.bool_)
    for number, case in enumerate(tally.cases):
        due = tally.present[number].any(axis=0)
        marks[number] = statistics.best_or_alike(scores[number][:, due], test_share=case.test_share)
    return marks


def standings(tally: Tally, reference: str) -> list[Standing]:
    """One line per system, by rising mean rank; empty while no case is finished by all systems."""
    table = tally.table(tally.measure)
    complete = statistics.complete_rows(table)
    if not complete.any():
        return []
    values = table[complete]
    kappa, auc, loss, seconds = (
        _means(tally.table(name)[complete]) for name in ("kappa", "auc", "log_loss", "seconds_fit")
    )
    ranks = statistics.mean_ranks(values)
    alike = alike_with_best(tally)[complete].sum(axis=0)
    near = (
        statistics.within_one_deviation(values).sum(axis=0)
        if values.shape[1] > 1
        else np.full(1, len(values))
    )
    against = values[:, tally.systems.index(reference)]
    lines = []
    for number, system in enumerate(tally.systems):
        own = values[:, number]
        line = Standing(
            system,
            len(values),
            float(own.mean()),
            float(kappa[number]),
            float(auc[number]),
            float(loss[number]),
            float(ranks[number]),
            int(alike[number]),
            int(near[number]),
            float(seconds[number]),
            *(() if system == reference else _against(own, against)),
        )
        lines.append(line)
    return sorted(lines, key=lambda line: (line.rank, line.mean))


def _against(
    own: NDArray[np.float64], reference: NDArray[np.float64]
) -> tuple[Interval, int, int, int, float, float, float]:
    return (
        statistics.paired_interval(own, reference),
        *statistics.wins_ties_losses(own, reference),
        statistics.wilcoxon(own, reference),
        statistics.wilcoxon(own, reference, "greater"),
        statistics.wilcoxon(own, reference, "less"),
    )


def _means(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Column means over the rows where all systems have a value; NaN when there are none."""
    rows = statistics.complete_rows(table)
    return np.asarray(table[rows].mean(axis=0)) if rows.any() else np.full(table.shape[1], np.nan)
