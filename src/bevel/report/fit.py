"""The report of one model: its accuracy first, then the details. Models of several outputs and
survival forests have pages of their own.

All figures are those of the model itself, from rows that its trees have not seen; only the forest
that it is compared with is grown for the page.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import numpy as np

from bevel._types import Floats
from bevel.analysis import importance
from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.results import Importance
from bevel.forest.flat_forest import overview_lines
from bevel.report import explain as explain_figures
from bevel.report import fit_predictions
from bevel.report.data_sheet import advice_table, data_columns, data_sheet, family_table
from bevel.report.explain import explain_sections
from bevel.report.fit_predictions import first_picture, learning_curve, mistakes, predictions
from bevel.report.headline import (
    feature_sentence,
    headline,
    interval,
    number,
    quality_sentence,
    score,
    survival_feature_sentence,
    survival_sentence,
)
from bevel.report.page import (
    PageSection,
    TableCell,
    beside,
    bullets,
    code,
    definitions,
    figure,
    figures,
    model_use,
    page,
    paragraph,
    table,
)
from bevel.report.survival import groups_picture, survival_sections
from bevel.workflow import FitResult
from bevel.workflow.advice import Advice, advise, rivals_of
from bevel.workflow.explaining import (
    MAX_EFFECT_ROWS,
    N_STEPS,
    Explanation,
    OnStep,
    draw_places,
    explain,
    explain_survival,
    find_main_effects,
)
from bevel.workflow.fitting import BOOSTING, Settings, coded, cross_validate
from bevel.workflow.rows import CLASSIFICATION
from bevel.workflow.scores import zero_probability_note
from bevel.workflow.several_targets import OutputFit
from bevel.workflow.survival import SurvivalFit

__all__ = [
    "fit_report",
    "n_steps",
    "n_steps_of_outputs",
    "outputs_report",
    "survival_report",
]

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
    return [figure(fit_predictions.draw_curve(fitted.curve), caption)]


# The report of a forest with several outputs: a table of all, then each output.

MAX_OUTPUTS = 6  # outputs that have a section of their own
MAX_EFFECTS = 3


def n_steps_of_outputs(fitted: OutputFit) -> int:
    """How many times `outputs_report` reports progress."""
    return min(MAX_OUTPUTS, len(fitted.targets))


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
    shown = fitted.targets[:MAX_OUTPUTS]
    parts = []
    for done, target in enumerate(shown):
        on_step(done, f"explaining {target}")
        parts.append(PageSection(f"Output {target}", _output(fitted, target)))
    on_step(len(shown), "")
    whole = importance(fitted.model, "gini")
    assert isinstance(whole, Importance)
    sections = [
        PageSection("", _opening_of_outputs(fitted, whole)),
        PageSection("How good is it?", _scores_of_outputs(fitted)),
        PageSection("Which features matter to all outputs?", _features_of_outputs(fitted, whole)),
        *parts,
        PageSection("Data", data_sheet(fitted.rows, fitted.model)),
        PageSection("How to use it", model_use(fitted.rows, model_file)),
    ]
    settings = fitted.settings
    forest = f"{settings.n_trees:,} trees, seed {settings.seed}"
    title = f"{len(fitted.targets)} outputs, predicted from {name}"
    return page(title, sections, command, subtitle=f"A forest of {forest}.")


def _opening_of_outputs(fitted: OutputFit, whole: Importance) -> str:
    names = ", ".join(fitted.targets[:MAX_OUTPUTS])
    more = len(fitted.targets) - MAX_OUTPUTS
    names += f" and {more:,} more" if more > 0 else ""
    n_rows, n_features = fitted.rows.X.shape
    text = (
        f"One forest predicts {len(fitted.targets):,} outputs ({names}) from {n_features:,} "
        f"features of {n_rows:,} rows. Each split is the best for all outputs together."
    )
    best = [whole.names[place] for place in whole.order[:3] if whole.values[place] > 0.0]
    features = f"Splits rely most on {', '.join(best)}." if best else "No tree has a split."
    return paragraph(text, kind="lead") + paragraph(features, kind="lead")


def _scores_of_outputs(fitted: OutputFit) -> str:
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


def _features_of_outputs(fitted: OutputFit, whole: Importance) -> str:
    bars = figure(
        explain_figures.draw_importance(whole),
        "The share of the impurity of all outputs that splits on a feature remove, alone or in a "
        "combination. It is of the training rows, and favours columns with many values.",
    )
    names = whole.names
    order = whole.order[: explain_figures.MAX_BARS]
    shown = fitted.targets[:MAX_OUTPUTS]
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
    some = draw_places(np.arange(len(rows.y)), MAX_EFFECT_ROWS, rng)
    analysed = read_forest(model, "explain", trees_only=True)
    effects = find_main_effects(analysed, rows.X.rows(some), found)[:MAX_EFFECTS]
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


def survival_report(
    name: str,
    fitted: SurvivalFit,
    command: str,
    *,
    model_file: str = "",
    on_step: OnStep = lambda *_: None,
) -> str:
    """Write the page of a survival forest.

    Parameters
    ----------
    name : str
        Name of the data.
    fitted : SurvivalFit
        The forest and its rows.
    command : str
        The command that makes the page again.
    model_file : str, default=""
        Path of the model file; empty if there is none.
    on_step : callable
        Called with the number of steps done and the name of the next.
    """
    rows, model = fitted.rows, fitted.model
    found = explain_survival(
        model,
        rows.X,
        fitted.target,
        weights=rows.weights,
        number=rows.number,
        seed=fitted.seed or 0,
        on_step=on_step,
    )
    sections = [
        PageSection("", _survival_opening(found)),
        *survival_sections(found.survival, found.row_kind, with_groups=False),
        *explain_sections(found),
        PageSection("Data", _survival_data(fitted)),
        PageSection("How to use it", _survival_use(model_file)),
    ]
    forest = f"{model.forest_.n_trees:,} trees, seed {fitted.seed}"
    title = f"Time until {fitted.event_column}, predicted from {name}"
    return page(title, sections, command, subtitle=f"A survival forest of {forest}.")


def _survival_opening(found: Explanation) -> str:
    """Summary sentences, beside the risk groups."""
    survival = found.survival
    assert survival is not None
    sentences = [survival_feature_sentence(found.importances[-1])]
    if survival.scores is not None:
        by = "out-of-bag" if found.row_kind == "out-of-bag" else "in-bag, on training rows"
        sentences.insert(0, survival_sentence(survival.scores, by))
    if survival.groups is not None:
        sentences.insert(
            1, _groups_sentence(survival.groups.names, survival.groups.observed[:, -1])
        )
    words = "".join(paragraph(each, kind="lead") for each in sentences)
    return words if survival.groups is None else beside(words, groups_picture(survival.groups))


def _groups_sentence(names: tuple[str, ...], left: np.ndarray) -> str:
    lowest, highest = 100 * float(left[0]), 100 * float(left[-1])
    return (
        f"At the end of the picture {lowest:.0f} % of the group of {names[0]} and {highest:.0f} % "
        f"of the group of {names[-1]} are without the event."
    )


def _survival_data(fitted: SurvivalFit) -> str:
    rows, target = fitted.rows, fitted.target
    n_rows, n_features = rows.X.shape
    events = int(target.event.sum())
    cells = n_rows * n_features
    n_missing = sum(int(rows.X.missing(index).sum()) for index in range(n_features))
    low, middle, high = np.quantile(target.time, [0.0, 0.5, 1.0])
    lines = {
        "rows": f"{n_rows:,}",
        "features": f"{n_features:,}, {len(rows.X.nominal):,} of them nominal",
        "missing": f"{n_missing:,} of {cells:,} cells ({100 * n_missing / cells:.1f} %)",
        "events": f"{events:,} of {n_rows:,} rows ({100 * events / n_rows:.1f} %); the others are "
        "censored",
        "time": f"{rows.target}, {number(low)} to {number(high)}, median {number(middle)}",
    }
    if target.cause is not None:
        counts = np.bincount(target.cause, minlength=target.n_causes + 1)[1:]
        words = ", ".join(f"{n:,} of cause {k}" for k, n in enumerate(counts, 1))
        lines["causes"] = f"{words}; curves and scores are of all causes together"
    if target.entry is not None:
        n_late = int((target.entry > 0.0).sum())
        lines["entry"] = f"{fitted.entry_column}, above 0 in {n_late:,} rows, which are seen since"
    remarks = bullets(rows.notes) if rows.notes else ""
    return definitions(lines) + remarks + data_columns(rows.X, fitted.model)


def _survival_use(model_file: str) -> str:
    """Lines of Python and a command."""
    file = model_file or "model.bevel"
    lines = [
        "import bevel, pandas as pd",
        f"model = bevel.load({json.dumps(file, ensure_ascii=False)})",
        'rows = pd.read_csv("new.csv")[model.feature_names_in_]',
        "print(model.predict(rows))  # risks",
        "print(model.predict_median(rows))  # times",
        "print(model.predict_survival_function(rows, times=[1.0, 2.0], return_array=True))",
    ]
    command = f"bevel predict {shlex.quote(file)} new.csv --out risks.csv"
    note = "" if model_file else "The model was not kept: add --out model.bevel to the command. "
    text = (
        f"{note}New rows need columns of the same names, in any order. A risk is the number of "
        "events to be expected if all training rows were like the row."
    )
    return paragraph(text) + code("\n".join(lines)) + code(command)
