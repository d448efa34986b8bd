"""The report of one model: a summary, followed by the details.

All figures are those of the model itself, on rows that its trees have not seen; only the forest
that it is compared with is grown for the page.
"""

from __future__ import annotations

from dataclasses import replace

from bevel._types import Floats
from bevel.forest.overview import overview_lines
from bevel.report import fit_figures
from bevel.report.boosting_report import learning_curve
from bevel.report.data_sheet import data_sheet
from bevel.report.explain_sections import explain_sections
from bevel.report.family_table import advice_table, family_table
from bevel.report.fit_predictions import first_picture, mistakes, predictions
from bevel.report.headline import headline
from bevel.report.model_use import model_use
from bevel.report.page import (
    PageSection,
    TableCell,
    beside,
    definitions,
    figure,
    page,
    paragraph,
    table,
)
from bevel.report.score_text import interval, score
from bevel.workflow import FitResult
from bevel.workflow.advice import Advice, advise, rivals_of
from bevel.workflow.explaining import N_STEPS, OnStep, explain
from bevel.workflow.fitting import BOOSTING, Settings, coded, cross_validate
from bevel.workflow.labelled_rows import CLASSIFICATION
from bevel.workflow.scores import zero_probability_note

__all__ = ["fit_report", "n_steps"]

N_FOLDS = 5


def n_steps(fitted: FitResult) -> int:
    """How many times `fit_report` reports progress."""
    return _n_folds(fitted) + len(rivals_of(fitted.rows, fitted.settings)) + N_STEPS


def _n_folds(fitted: FitResult) -> int:
    return 0 if fitted.scored_by == "out-of-bag" else N_FOLDS


def fit_report(
    name: str,
    fitted: FitResult,
    command: str,
    *,
    model_file: str = "",
    on_step: OnStep = lambda *_: None,
) -> str:
    """Write the page of a fitted model.

    Parameters
    ----------
    name : str
        Name of the data.
    fitted : FitResult
        The forest and its rows, with the out-of-bag curve.
    command : str
        The command that makes the page again.
    model_file : str, default=""
        Path of the model file; empty if there is none.
    on_step : callable
        Called with the number of steps done and the name of the next.
    """
    data, settings, by = fitted.rows, fitted.settings, fitted.scored_by
    evaluated = _evaluated(fitted, on_step)
    n_done = _n_folds(fitted)
    advice = advise(
        data,
        settings,
        fitted.model,
        evaluated,
        by=by,
        on_rival=lambda done, rival: on_step(n_done + done, f"comparing with {rival}"),
    )
    n_done += len(rivals_of(data, settings))
    found = explain(
        fitted.model,
        data.X,
        data.y,
        number=data.number,
        target_name=data.target,
        seed=settings.seed,
        on_step=lambda done, text: on_step(n_done + done, text),
    )
    is_boosting = settings.model == BOOSTING
    if is_boosting:  # permutation importance on its own training rows would be too high
        found = replace(found, importances=found.importances[:1])
    sentences = headline(fitted, advice, found.importances)
    lead = "".join(paragraph(each, kind="lead") for each in sentences)
    curve = learning_curve(fitted.model) if is_boosting else _curve(fitted)
    sections = [
        PageSection("", beside(lead, first_picture(data, evaluated, by))),
        PageSection("How good is it?", _scores(fitted, evaluated)),
        *explain_sections(found),
        PageSection("Predictions", predictions(data, evaluated, by, curve)),
        PageSection("Mistakes", mistakes(data, evaluated, by)),
        PageSection("Which directions?", _directions(fitted, advice)),
        PageSection("Data", data_sheet(data, fitted.model)),
        PageSection("How to use it", model_use(data, model_file)),
    ]
    how = f"projection {_projection(settings)}, seed {settings.seed}"
    what = (
        f"Gradient boosting, {fitted.model.n_iter_:,} iterations"
        if is_boosting
        else f"A forest of {settings.n_trees:,} trees"
    )
    title = f"{data.target}, predicted from {name}"
    return page(title, sections, command, subtitle=f"{what}, {how}.")


def _evaluated(fitted: FitResult, on_step: OnStep) -> Floats:
    """The predictions that the scores of the model come from."""
    if fitted.scored_by == "out-of-bag":
        assert fitted.out_of_bag is not None
        return fitted.out_of_bag
    return cross_validate(
        fitted.rows,
        fitted.settings,
        n_folds=N_FOLDS,
        on_fold=lambda done, _: on_step(done, "cross-validating"),
    )


def _projection(settings: Settings) -> str:
    chosen = settings.projection
    return " and ".join(map(str, chosen)) if isinstance(chosen, list | tuple) else str(chosen)


def _scores(fitted: FitResult, evaluated: Floats) -> str:
    rows = [
        [name, TableCell(score(name, each)), TableCell(interval(name, each))]
        for name, each in fitted.scores.items()
    ]
    how = {
        "out-of-bag": "Out-of-bag: each row by the trees that did not see it.",
        "cross-validated": f"Cross-validated in {N_FOLDS} folds, by models like this one, as no "
        "row is out of bag.",
    }[fitted.scored_by]
    caption = (
        f"{how} Intervals cover the choice of the rows that are scored, not the choice of the "
        "training rows."
    )
    if fitted.rows.task == CLASSIFICATION:
        caption += f" {zero_probability_note(coded(fitted.rows), evaluated)}".rstrip()
    header = ["score", fitted.scored_by, "95 % interval"]
    return table(header, rows, numeric={1, 2}, caption=caption, sortable=False)


def _directions(fitted: FitResult, advice: Advice | None) -> str:
    words = "" if advice is None else paragraph(advice.sentence())
    trees = paragraph("The trees:") + definitions(dict(overview_lines(fitted.model.forest_)))
    return words + advice_table(advice) + family_table(fitted.model) + trees


def _curve(fitted: FitResult) -> list[str]:
    if fitted.curve is None or len(fitted.curve.n_trees) < 2:
        return []
    caption = "Number of trees: where the curve is flat, more of them change little."
    return [figure(fit_figures.draw_curve(fitted.curve), caption)]
