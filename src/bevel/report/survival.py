"""Findings of a survival forest on some rows, as sections of a page with their figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bevel import plots
from bevel.analysis.results import RiskGroups, SurvivalBands, SurvivalCalibration, SurvivalScores
from bevel.plots.canvas import line
from bevel.report.headline import interval, number, score
from bevel.report.page import (
    FAINT,
    RULE,
    PageSection,
    TableCell,
    canvas,
    figure,
    figures,
    paragraph,
    svg,
    table,
)
from bevel.workflow.survival import SurvivalFindings, concordance_estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "draw_auc",
    "draw_bands",
    "draw_brier",
    "draw_calibration",
    "draw_groups",
    "groups_picture",
    "risk_rules_table",
    "survival_sections",
]

# Drawings of survival forests as SVG text, legible at the width of a phone.

WIDTH, HEIGHT, SIDE = 4.0, 2.9, 3.0  # inches between the axes


def _drawn(draw: Callable[[Axes], object], width: float = WIDTH, height: float = HEIGHT) -> str:
    """SVG text of a drawing function on axes, without a title, which the text around replaces."""
    with canvas(width, height) as figure:
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        draw(axes)
        axes.set_title("", loc="left")
        return svg(figure)


def draw_groups(groups: RiskGroups) -> str:
    """Observed and predicted survival of risk groups."""

    def draw(axes: Axes) -> None:
        plots.risk_groups(groups, ax=axes)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), fontsize=9)

    return _drawn(draw)


def draw_bands(bands: SurvivalBands, names: Sequence[str]) -> str:
    """Curves of single rows."""

    def draw(axes: Axes) -> None:
        plots.survival_curves(bands, names=names, ax=axes)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), fontsize=9)

    return _drawn(draw)


def draw_brier(scores: SurvivalScores) -> str:
    """The Brier score over time."""
    return _drawn(lambda axes: plots.survival_scores(scores, ax=axes))


def draw_auc(scores: SurvivalScores) -> str:
    """The AUC over time."""

    def draw(axes: Axes) -> None:
        axes.grid(color=RULE, lw=0.6)
        axes.axhline(0.5, color=FAINT, lw=1.2, ls=(0, (4, 2)))
        axes.plot(scores.times, scores.auc, lw=1.8, **line(0))
        low = min(0.45, float(np.nanmin(scores.auc)) - 0.05)
        axes.set(xlabel="time", ylabel="AUC", ylim=(low, 1.02))

    return _drawn(draw)


def draw_calibration(result: SurvivalCalibration) -> str:
    """Observed against predicted survival at a time."""
    return _drawn(lambda axes: plots.survival_calibration(result, ax=axes), SIDE, SIDE)


ROWS = {
    "new": "Rows are predicted by all trees; scores of training rows are in-bag: too good.",
    "out-of-bag": "Out-of-bag: each row by the trees that did not see it.",
    "grown on": "In-bag: all trees were grown on these training rows, so that scores are too good.",
}


def survival_sections(found: SurvivalFindings | None, row_kind: str) -> list[PageSection]:
    """Sections on scores, risk groups, curves and calibration; empty for other forests.

    The groups are drawn at the top of the page.
    """
    if found is None:
        return []
    curves = figure(
        draw_bands(found.bands, found.names),
        "Predicted survival of three rows: of low risk (5 % of the rows have less), of median "
        "risk, and of high risk (5 % have more). Bands hold the middle half of the trees.",
    )
    sections = []
    if found.scores is not None:
        sections.append(PageSection("How good is it?", _scores(found.scores, row_kind)))
    words = "" if found.groups is None else _groups(found.groups)
    sections.append(PageSection("Who is at risk?", figures(curves) + words))
    if found.calibrations:
        sections.append(PageSection("Are the probabilities right?", _calibration(found)))
    return sections


def groups_picture(groups: RiskGroups) -> str:
    """Observed and predicted survival of the groups."""
    caption = (
        "Rows in three groups by their predicted risk. Lines: what was observed (Kaplan–Meier); "
        "dashes: the mean of the predicted curves. Where they meet, predictions are right on "
        "average."
    )
    return figure(draw_groups(groups), caption)


def _scores(scores: SurvivalScores, row_kind: str) -> str:
    order = concordance_estimate(scores)
    rows = [
        ["concordance", score("", order), interval("", order), "0.5"],
        ["mean AUC over time", number(scores.mean_auc), "", "0.5"],
        [
            "integrated Brier score",
            number(scores.integrated_brier_score),
            "",
            number(scores.reference),
        ],
    ]
    first, last = number(scores.times[0]), number(scores.times[-1])
    caption = (
        f"{ROWS[row_kind]} Without features: every row gets the Kaplan–Meier curve of all rows. "
        f"AUC and Brier score are taken from time {first} to {last}; censored rows are weighted by "
        "their chance of being seen. The interval covers the choice of the rows that are scored."
    )
    header = ["score", "forest", "95 % interval", "without features"]
    words = table(header, rows, numeric={1, 2, 3}, caption=caption, sortable=False)
    drawing = figure(
        draw_brier(scores),
        "Brier score over time: the mean squared difference of the predicted survival and what was "
        "seen. Lower is better; 0.25 is a prediction of one half.",
    )
    return words + figures(drawing, figure(draw_auc(scores), AUC))


AUC = (
    "AUC over time: how often a row with an event by then has the higher risk than one without. "
    "0.5 is chance."
)


def _groups(groups: RiskGroups) -> str:
    end = number(groups.times[-1])
    rows = [
        [
            name,
            int(count),
            int(events),
            TableCell(f"{100 * observed[-1]:.0f} %", float(observed[-1])),
            TableCell(f"{100 * predicted[-1]:.0f} %", float(predicted[-1])),
        ]
        for name, count, events, observed, predicted in zip(
            groups.names,
            groups.count,
            groups.n_events,
            groups.observed,
            groups.predicted,
            strict=True,
        )
    ]
    p = "below 0.0001" if groups.p_value < 1e-4 else f"{groups.p_value:.2g}"
    caption = f"Log-rank test that the groups do not differ: p is {p}."
    header = ["group", "rows", "events", f"observed survival at {end}", "predicted"]
    return table(header, rows, numeric={1, 2, 3, 4}, caption=caption, sortable=False)


def risk_rules_table(found: SurvivalFindings) -> str:
    """The leaves of the surrogate tree as rules; empty without times and events."""
    if not found.rules:
        return ""
    rows = [
        [
            TableCell(number(float(f"{rule.risk:.3g}")), rule.risk),
            rule.text,
            rule.n_rows,
            rule.n_events,
            TableCell(number(rule.median) if np.isfinite(rule.median) else "not reached"),
        ]
        for rule in found.rules
    ]
    caption = (
        "The same tree as rules, the highest risk first. Every row fulfils one of them. Events and "
        "median survival (Kaplan–Meier) are those of the rows of the page; the tree was made from "
        "the forest's predictions of them, so that groups of new rows differ somewhat less."
    )
    header = ["risk", "if", "rows", "events", "median survival"]
    return table(header, rows, numeric={0, 2, 3, 4}, caption=caption, sortable=False)


def _calibration(found: SurvivalFindings) -> str:
    drawn = [
        figure(
            draw_calibration(each),
            f"Survival at {number(each.time)}: mean distance {each.expected_calibration_error:.3f}"
            f" between predicted and observed, in {len(each.count)} groups of rows.",
        )
        for each in found.calibrations
    ]
    text = (
        "Rows are grouped by their predicted survival at three times, the quartiles of the events. "
        "On the dashed line, as many survive as predicted; lines are 95 % intervals."
    )
    return paragraph(text) + figures(*drawn, small=True)
