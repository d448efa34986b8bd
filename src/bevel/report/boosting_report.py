"""Parts of the page of a boosting model: its learning curve, features and directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel.analysis import importance, partial_dependence
from bevel.analysis.results import Directions, Importance
from bevel.report import explain_figures, fit_figures
from bevel.report.page import PageSection, TableCell, figure, figures, paragraph, table
from bevel.workflow import FitResult

__all__ = ["boosting_sections", "gain_importance", "learning_curve"]

MOST_EFFECTS = 4
MOST_EFFECT_ROWS = 500
MOST_DIRECTIONS = 10


def gain_importance(model: Any) -> Importance:
    """Share of each feature in the loss that splits remove."""
    found = importance(model, "gini")
    assert isinstance(found, Importance)
    return found


def learning_curve(model: Any) -> list[str]:
    """The loss after each iteration, as a figure."""
    training, validation = -model.train_score_, -model.validation_score_
    if np.isnan(training).all():
        return []  # a loss without values
    caption = "Mean loss after each iteration, on the rows that the trees are grown on"
    if len(validation):
        caption += (
            " and on held-out rows. The dotted line is where the loss of these is lowest; all rows "
            f"were then fitted again with {model.n_iter_:,} iterations"
            if model.n_iter_ == len(training) != int(np.argmin(validation)) + 1
            else " and on held-out rows. The dotted line is where the loss of these is lowest"
        )
    return [figure(fit_figures.draw_learning_curve(training, validation), f"{caption}.")]


def boosting_sections(fitted: FitResult, found: Importance) -> list[PageSection]:
    """Sections on features, their effects, and directions."""
    model = fitted.model
    bars = figure(
        explain_figures.draw_importance(found),
        "Share of the loss that splits on a feature remove, alone or in a combination, over all "
        "trees. It is of the training rows, and favours columns with many values.",
    )
    return [
        PageSection("Which features matter?", figures(bars)),
        PageSection("Which way do they push?", _effects(fitted, found)),
        PageSection("Which combinations matter?", _directions(model)),
    ]


def _effects(fitted: FitResult, found: Importance) -> str:
    rows = fitted.rows
    rng = np.random.default_rng(fitted.settings.seed)
    n = len(rows.y)
    some = np.sort(rng.choice(n, min(n, MOST_EFFECT_ROWS), replace=False))
    X = rows.X.rows(some)
    chosen = [int(place) for place in found.order[:MOST_EFFECTS] if found.values[place] > 0.0]
    if not chosen:
        return paragraph("No tree has a split: every row gets the same prediction.")
    effects = [partial_dependence(fitted.model, X, feature) for feature in chosen]
    text = (
        f"Mean {effects[0].output_name} over {len(some):,} rows if a feature had the given value "
        "in all of them (partial dependence), on the scale on which the trees are added up."
    )
    heights = explain_figures.shared_heights(effects)
    drawn = [
        figure(explain_figures.draw_effect(each, heights), f"The effect of {each.names[0]}.")
        for each in effects
    ]
    return paragraph(text) + figures(*drawn, small=True)


def _directions(model: Any) -> str:
    found = importance(model, "projection")
    assert isinstance(found, Directions)
    if len(found) == 0:
        return paragraph("No tree has a split.")
    listed = found.top(MOST_DIRECTIONS).to_pandas()
    name = listed.columns[0]
    rows = [
        [str(each[name]), TableCell(f"{100 * each['share']:.1f}", float(each["share"]))]
        for _, each in listed.iterrows()
    ]
    caption = "Directions that splits cut along, by their share of the loss that is removed."
    return table(["direction", "share, %"], rows, numeric={1}, caption=caption)
