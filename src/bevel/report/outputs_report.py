"""The report of a forest with several outputs: a table of all, then each output."""

from __future__ import annotations

import numpy as np

from bevel.analysis import importance
from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.results import Importance
from bevel.report import explain_figures
from bevel.report.data_sheet import data_sheet
from bevel.report.fit_predictions import first_picture
from bevel.report.headline import feature_sentence, quality_sentence
from bevel.report.model_use import model_use
from bevel.report.page import (
    PageSection,
    TableCell,
    beside,
    figure,
    figures,
    page,
    paragraph,
    table,
)
from bevel.report.score_text import interval, score
from bevel.workflow.explaining import MOST_EFFECT_ROWS, OnStep, draw_places
from bevel.workflow.main_effects import find_main_effects
from bevel.workflow.several_targets import OutputFit

__all__ = ["n_steps", "outputs_report"]

MOST_OUTPUTS = 6  # outputs that have a section of their own
MOST_EFFECTS = 3


def n_steps(fitted: OutputFit) -> int:
    """How many times `outputs_report` reports progress."""
    return min(MOST_OUTPUTS, len(fitted.targets))


def outputs_report(
    name: str,
    fitted: OutputFit,
    command: str,
    *,
    model_file: str = "",
    on_step: OnStep = lambda *_: None,
) -> str:
    """Write the page of a forest with several outputs.

    Parameters
    ----------
    name : str
        Name of the data.
    fitted : OutputFit
        The forest and its rows.
    command : str
        The command that makes the page again.
    model_file : str, default=""
        Path of the model file; empty if there is none.
    on_step : callable
        Called with the number of steps done and the name of the next.
    """
    shown = fitted.targets[:MOST_OUTPUTS]
    parts = []
    for done, target in enumerate(shown):
        on_step(done, f"explaining {target}")
        parts.append(PageSection(f"Output {target}", _output(fitted, target)))
    on_step(len(shown), "")
    whole = importance(fitted.model, "gini")
    assert isinstance(whole, Importance)
    sections = [
        PageSection("", _opening(fitted, whole)),
        PageSection("How good is it?", _scores(fitted)),
        PageSection("Which features matter to all outputs?", _features(fitted, whole)),
        *parts,
        PageSection("Data", data_sheet(fitted.rows, fitted.model)),
        PageSection("How to use it", model_use(fitted.rows, model_file)),
    ]
    settings = fitted.settings
    forest = f"{settings.n_trees:,} trees, seed {settings.seed}"
    title = f"{len(fitted.targets)} outputs, predicted from {name}"
    return page(title, sections, command, subtitle=f"A forest of {forest}.")


def _opening(fitted: OutputFit, whole: Importance) -> str:
    names = ", ".join(fitted.targets[:MOST_OUTPUTS])
    more = len(fitted.targets) - MOST_OUTPUTS
    names += f" and {more:,} more" if more > 0 else ""
    n_rows, n_features = fitted.rows.X.shape
    text = (
        f"One forest predicts {len(fitted.targets):,} outputs ({names}) from {n_features:,} "
        f"features of {n_rows:,} rows. Each split is the best for all outputs together."
    )
    best = [whole.names[place] for place in whole.order[:3] if whole.values[place] > 0.0]
    features = f"Splits rely most on {', '.join(best)}." if best else "No tree has a split."
    return paragraph(text, kind="lead") + paragraph(features, kind="lead")


def _scores(fitted: OutputFit) -> str:
    if not fitted.scores:
        return paragraph("No row is out of a bag, so that there are no scores.")
    kinds = list(next(iter(fitted.scores.values())))
    rows = [
        [
            target,
            *(
                TableCell(
                    score(kind, each[kind]), each[kind].value, below=interval(kind, each[kind])
                )
                if kind in each
                else ""
                for kind in kinds
            ),
        ]
        for target, each in fitted.scores.items()
    ]
    caption = (
        "Out-of-bag: each row by the trees that did not see it. Below: 95 % intervals over the "
        "choice of the rows that are scored."
    )
    return table(["output", *kinds], rows, numeric=set(range(1, len(kinds) + 1)), caption=caption)


def _features(fitted: OutputFit, whole: Importance) -> str:
    bars = figure(
        explain_figures.draw_importance(whole),
        "The share of the impurity of all outputs that splits on a feature remove, alone or in a "
        "combination. It is of the training rows, and favours columns with many values.",
    )
    names = whole.names
    order = whole.order[: explain_figures.MOST_BARS]
    shown = fitted.targets[:MOST_OUTPUTS]
    each = [fitted.model.output(target).feature_importances_ for target in shown]
    rows = [
        [names[place], *(TableCell(f"{100 * own[place]:.1f}", float(own[place])) for own in each)]
        for place in order
    ]
    caption = "The same for each output: its share of what splits remove of it, in per cent."
    own = table(["feature", *shown], rows, numeric=set(range(1, len(shown) + 1)), caption=caption)
    return figures(bars) + own


def _output(fitted: OutputFit, target: str) -> str:
    """Quality of one output, its most important features and their directions."""
    rows, model = fitted.rows_of(target), fitted.model.output(target)
    if target not in fitted.scores:
        return paragraph("No row is out of a bag, so that nothing can be measured.")
    by = "out-of-bag"
    scores = fitted.scores[target]
    found = importance(model, "permutation", rows.X, rows.y, random_state=fitted.settings.seed)
    sentences = [
        quality_sentence(scores, by, rows.y, rows.task, target),
        feature_sentence(found, rows.task),
    ]
    words = "".join(map(paragraph, sentences))
    bars = figure(
        explain_figures.draw_importance(found),
        f"Permutation importance: by how much the out-of-bag error of {target} rises when the "
        "values of a feature are shuffled.",
    )
    rng = np.random.default_rng(fitted.settings.seed)
    some = draw_places(np.arange(len(rows.y)), MOST_EFFECT_ROWS, rng)
    analysed = read_forest(model, "explain", trees_only=True)
    effects = find_main_effects(analysed, rows.X.rows(some), found)[:MOST_EFFECTS]
    drawn = []
    if effects:
        heights = explain_figures.shared_heights(effects)
        drawn = [
            figure(
                explain_figures.draw_effect(each, heights),
                f"Mean prediction if {each.names[0]} had the given value in all rows.",
            )
            for each in effects
        ]
    picture = first_picture(rows, fitted.out_of_bag[target], by)
    return beside(words, picture) + figures(bars, *drawn, small=True)
