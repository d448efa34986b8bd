"""The report of one model: data, scores, mistakes, importance, and whether going oblique helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.columns import Columns
from bevel.errors import join_names
from bevel.report import fit_figures
from bevel.report.explain_sections import explain_sections
from bevel.report.page import PageSection, TableCell, facts, figure, figures, page, paragraph, table
from bevel.report.score_text import interval, number, score
from bevel.workflow import FitResult
from bevel.workflow.advice import DEFAULT, Advice, advise, families_for
from bevel.workflow.explaining import N_STEPS, OnStep, explain
from bevel.workflow.fitting import Settings, coded, cross_validate, scores_of
from bevel.workflow.labelled_rows import CLASSIFICATION, LabelledRows
from bevel.workflow.metrics import row_log_losses
from bevel.workflow.scores import Estimate

__all__ = ["fit_report", "n_steps"]

N_FOLDS = 5
MOST_MISTAKES, MOST_LINES, MOST_CLASSES_DRAWN = 20, 200, 25
ROW_WITHOUT_VOTES = float(row_log_losses(np.zeros(1))[0])  # its log loss
N_EXAMPLES = 3  # labels of a nominal column that are shown


def n_steps(data: LabelledRows) -> int:
    """How many times `fit_report` reports progress."""
    return N_FOLDS + len(families_for(data)) + N_STEPS


def fit_report(
    name: str,
    fitted: FitResult,
    command: str,
    *,
    on_step: OnStep = lambda *_: None,
) -> str:
    """The page.

    Parameters
    ----------
    name : str
        Of the data.
    fitted : FitResult
        The forest and its rows, with the out-of-bag curve.
    command : str
        The command that makes the page again.
    on_step : callable
        Called with the number of steps done and the name of the next.
    """
    data, settings = fitted.rows, fitted.settings
    predictions = cross_validate(
        data, settings, n_folds=N_FOLDS, on_fold=lambda done, _: on_step(done, "cross-validating")
    )
    advice = advise(
        data, settings, on_family=lambda done, family: on_step(N_FOLDS + done, f"trying {family}")
    )
    n_done = N_FOLDS + len(families_for(data))
    found = explain(
        fitted.model,
        data.X,
        data.y,
        number=data.number,
        seed=settings.seed,
        on_step=lambda done, text: on_step(n_done + done, text),
    )
    evaluated, by = predictions, "cross-validated"
    if fitted.out_of_bag is not None and not np.isnan(fitted.out_of_bag).all():
        evaluated, by = fitted.out_of_bag, "out-of-bag"
    sections = [
        PageSection("", _opening(advice)),
        PageSection("Scores", _scores(data, fitted, predictions)),
        PageSection("Predictions", _predictions(data, evaluated, by, _curve(fitted))),
        PageSection("Which directions?", _families(advice)),
        *explain_sections(found),
        PageSection("Columns", _columns(data.X, fitted.model)),
        PageSection("Data", _data(data)),
    ]
    forest = f"{settings.n_trees:,} trees, projection {_projection(settings)}, seed {settings.seed}"
    title = f"{data.target}, predicted from {name}"
    return page(title, sections, command, subtitle=f"A forest of {forest}.")


def _projection(settings: Settings) -> str:
    chosen = settings.projection
    return " and ".join(map(str, chosen)) if isinstance(chosen, list | tuple) else str(chosen)


def _opening(advice: Advice | None) -> str:
    if advice is None:
        text = "Without two numeric columns there is nothing to combine: all cuts are along axes."
        return paragraph(text, kind="lead")
    return paragraph(advice.sentence(), kind="lead")


def _scores(data: LabelledRows, fitted: FitResult, predictions: Floats) -> str:
    crossed = scores_of(data, predictions)
    bags = {} if fitted.out_of_bag is None else scores_of(data, fitted.out_of_bag)
    rows = [[name, _score_cell(name, bags), _score_cell(name, crossed)] for name in crossed or bags]
    caption = (
        f"Out-of-bag: each row by the trees that did not see it. Cross-validated: {N_FOLDS} folds. "
        "Intervals are of 95 %; they cover the choice of the rows that are scored, not the choice "
        "of the training rows."
    )
    if data.task == CLASSIFICATION:
        caption += _on_zeros(
            {"out-of-bag": fitted.out_of_bag, "cross-validated": predictions}, data
        )
    return table(
        ["score", "out-of-bag", "cross-validated"],
        rows,
        numeric={1, 2},
        caption=caption,
        sortable=False,
    )


def _on_zeros(predictions: Mapping[str, Floats | None], data: LabelledRows) -> str:
    """A word on log loss where true classes got no vote at all: it then counts these rows."""
    rows, codes = np.arange(len(data.y)), coded(data)
    counts = {
        by: int(np.count_nonzero(given[rows, codes] == 0.0))
        for by, given in predictions.items()
        if given is not None
    }
    listed = join_names([f"{count:,} {by}" for by, count in counts.items() if count])
    cost = f"{ROW_WITHOUT_VOTES:.0f}"
    return (
        f" Rows whose true class got no vote cost {cost} of log loss ({listed})." if listed else ""
    )


def _score_cell(name: str, scores: Mapping[str, Estimate]) -> TableCell:
    if name not in scores:
        return TableCell("–")
    return TableCell(score(name, scores[name]), below=interval(name, scores[name]))


def _predictions(data: LabelledRows, evaluated: Floats, by: str, curve: Sequence[str]) -> str:
    known = ~np.isnan(evaluated).reshape(len(data.y), -1).any(axis=1)
    y, seen = coded(data)[known], evaluated[known]
    if data.task != CLASSIFICATION:
        return figures(
            figure(
                fit_figures.draw_predicted(y, seen, data.target),
                f"True values against {by} predictions; on the dashed line they agree.",
            ),
            figure(
                fit_figures.draw_residuals(y, seen),
                f"Residuals of {by} predictions; the line joins the means of ten groups of rows.",
            ),
            *curve,
            small=True,
        )
    labels = [str(label) for label in data.classes]
    area = "one class against the rest" if len(labels) > 2 else f"of class {labels[1]}"
    drawn = [
        figure(fit_figures.draw_roc(y, seen, labels), f"ROC, {area}, {by}."),
        figure(
            fit_figures.draw_calibration(y, seen, labels),
            f"Calibration, {by}, in bins of equally many rows with 95 % intervals; on the dashed "
            "line, probabilities equal frequencies.",
        ),
    ]
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(counts, (y, seen.argmax(axis=1)), 1)
    if len(labels) > MOST_CLASSES_DRAWN:
        return figures(*drawn, *curve, small=True) + _confusions(counts, labels)
    matrix = fit_figures.draw_confusion(counts, labels)
    caption = f"Confusion matrix, {by}; shades are shares of the true class."
    return figures(figure(matrix, caption), *drawn, *curve, small=True)


def _confusions(counts: npt.NDArray[np.int64], labels: list[str]) -> str:
    """The most frequent mistakes, where there are too many classes to draw."""
    mistakes = counts - np.diag(np.diag(counts))
    order = np.argsort(-mistakes, axis=None, kind="stable")[:MOST_MISTAKES]
    places = [tuple(np.unravel_index(place, counts.shape)) for place in order]
    rows = [[labels[a], labels[b], int(mistakes[a, b])] for a, b in places if mistakes[a, b]]
    return table(["true", "predicted", "rows"], rows, caption="The most frequent confusions.")


def _curve(fitted: FitResult) -> list[str]:
    if fitted.curve is None or len(fitted.curve.n_trees) < 2:
        return []
    caption = "Number of trees: where the curve is flat, more of them change little."
    return [figure(fit_figures.draw_curve(fitted.curve), caption)]


def _families(advice: Advice | None) -> str:
    if advice is None:
        return paragraph("There is nothing to compare.")
    what = "error, %" if advice.task == CLASSIFICATION else "unexplained variance, %"
    rows = [
        [
            line.family,
            TableCell(f"{100 * line.loss:.2f}", line.loss, strong=line is advice.best),
            _gain_cell(line.gain),
        ]
        for line in advice.lines
    ]
    caption = (
        f"Out-of-bag, {advice.n_trees} trees each on the same bags, otherwise at their defaults. "
        "Gains over axis, in points, are paired row by row; their 95 % intervals are widened for "
        f"the number of families, but not that of {DEFAULT}, the choice before looking."
    )
    return table(["projection", what, "gain"], rows, caption=caption, numeric={1, 2})


def _gain_cell(gain: Estimate | None) -> TableCell:
    if gain is None:
        return TableCell("")
    value, low, high = (
        f"{100 * each:+.2f}".replace("-", "−") for each in (gain.value, gain.low, gain.high)
    )
    return TableCell(value, gain.value, below=f"{low} to {high}")


def _columns(X: Columns, model: Any) -> str:
    importances = model.feature_importances_
    order = np.argsort(-importances, kind="stable")[:MOST_LINES]
    rows = [_column_cells(X, int(index), float(importances[index])) for index in order]
    many = X.shape[1] > MOST_LINES
    return table(
        ["column", "impurity", "kind", "missing", "distinct", "values"],
        rows,
        caption=f"The {MOST_LINES} most important of {X.shape[1]:,} columns." if many else "",
    )


def _column_cells(X: Columns, index: int, importance: float) -> list[object]:
    absent = X.missing(index)
    present = X.values[index][~absent]
    share = float(absent.mean())
    if index in set(X.nominal):
        labels, counts = np.unique(present.astype(np.str_), return_counts=True)
        frequent = labels[np.argsort(-counts, kind="stable")]
        values = ", ".join(frequent[:N_EXAMPLES]) + (" …" if len(labels) > N_EXAMPLES else "")
        kind, n_distinct = "nominal", len(labels)
    else:
        low, middle, high = np.quantile(present, [0.0, 0.5, 1.0])
        values = f"{number(low)} to {number(high)}, median {number(middle)}"
        kind, n_distinct = "numeric", len(np.unique(present))
    missing = TableCell(f"{100 * share:.1f} %" if share else "", share)
    return [
        X.names[index],
        TableCell(f"{importance:.4f}", importance),
        kind,
        missing,
        n_distinct,
        values,
    ]


def _data(data: LabelledRows) -> str:
    n_rows, n_features = data.X.shape
    cells = n_rows * n_features
    n_missing = sum(int(data.X.missing(index).sum()) for index in range(n_features))
    lines: dict[str, object] = {
        "rows": f"{n_rows:,}",
        "features": f"{n_features:,}, {len(data.X.nominal):,} of them nominal",
        "missing": f"{n_missing:,} of {cells:,} cells ({100 * n_missing / cells:.1f} %)",
        "task": data.task,
    }
    if data.task == CLASSIFICATION:
        classes, counts = np.unique(data.y, return_counts=True)
        rows = [
            [str(label), int(count), TableCell(f"{100 * count / n_rows:.1f}", float(count))]
            for label, count in zip(classes, counts, strict=True)
        ]
        target = table(["class", "rows", "%"], rows, caption=f"The target, {data.target}.")
    else:
        low, middle, high = np.quantile(data.y, [0.0, 0.5, 1.0])
        lines["target"] = f"{number(low)} to {number(high)}, median {number(middle)}"
        target = ""
    notes = "".join(paragraph(text, kind="note") for text in data.notes)
    return facts(lines) + target + notes
