"""Predictions of a model beside the truth: figures, and the rows with the largest errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.report import fit_figures
from bevel.report.page import TableCell, figure, figures, paragraph, table
from bevel.report.score_text import class_words, number
from bevel.workflow.fitting import coded
from bevel.workflow.labelled_rows import CLASSIFICATION, LabelledRows

__all__ = ["first_picture", "mistakes", "predictions", "truth_and_predictions"]

LONGEST_TARGET = 12  # characters, in drawings
MOST_CONFUSIONS, MOST_CLASSES_DRAWN, MOST_WRONG = 20, 25, 10


def first_picture(data: LabelledRows, evaluated: Floats, by: str) -> str:
    """The most informative figure: the confusion matrix, or true against predicted values."""
    y, seen = _known(data, evaluated)
    classes = data.classes if data.task == CLASSIFICATION else None
    return truth_and_predictions(y, seen, classes, data.target, by)


def truth_and_predictions(
    y: npt.NDArray[Any], seen: Floats, classes: npt.NDArray[Any] | None, target: str, by: str
) -> str:
    """The first figure for given targets and predictions, classes by their position."""
    if classes is None:
        return figure(
            fit_figures.draw_predicted(y, seen, target),
            f"True values against {f'{by} ' if by else ''}predictions; on the dashed line they "
            "agree.",
        )
    labels = [str(label) for label in classes]
    if len(labels) > MOST_CLASSES_DRAWN:
        return figure(
            fit_figures.draw_roc(y, seen, labels), f"{_of('ROC, one class against the rest', by)}."
        )
    return figure(
        fit_figures.draw_confusion(_counts(y, seen), labels, target),
        f"{_of('Confusion matrix', by)}; shades are shares of the true class.",
    )


def _of(what: str, by: str) -> str:
    return f"{what}, {by}" if by else what


def predictions(data: LabelledRows, evaluated: Floats, by: str, curve: Sequence[str]) -> str:
    """Calibration and ROC, or residuals; and the curve of the number of trees."""
    y, seen = _known(data, evaluated)
    if data.task != CLASSIFICATION:
        residuals = figure(
            fit_figures.draw_residuals(y, seen),
            f"Residuals of {by} predictions; the line joins the means of ten groups of rows.",
        )
        return figures(residuals, *curve, small=True)
    labels = [str(label) for label in data.classes]
    name = data.target
    target = name if len(name) <= LONGEST_TARGET else f"{name[: LONGEST_TARGET - 1]}…"
    calibration = figure(
        fit_figures.draw_calibration(y, seen, [class_words(each, target) for each in labels]),
        f"Calibration, {by}, in bins of equally many rows with 95 % intervals; on the dashed "
        "line, probabilities equal frequencies.",
    )
    if len(labels) > MOST_CLASSES_DRAWN:  # ROC is at the top in that case
        return figures(calibration, *curve, small=True)
    area = (
        "one class against the rest"
        if len(labels) > 2
        else f"of {class_words(labels[1], data.target)}"
    )
    roc = figure(fit_figures.draw_roc(y, seen, labels), f"ROC, {area}, {by}.")
    return figures(calibration, roc, *curve, small=True)


def mistakes(data: LabelledRows, evaluated: Floats, by: str) -> str:
    """The rows with the worst predictions."""
    known = np.flatnonzero(~np.isnan(evaluated).reshape(len(data.y), -1).any(axis=1))
    y, seen = _known(data, evaluated)
    if data.task != CLASSIFICATION:
        return _largest_residuals(data, known, y, seen, by)
    labels = [str(label) for label in data.classes]
    given, predicted = seen[np.arange(len(y)), y], seen.argmax(axis=1)
    wrong = np.flatnonzero(predicted != y)
    confusions = ""
    if len(labels) > MOST_CLASSES_DRAWN:
        confusions = _confusions(_counts(y, seen), labels)
    if len(wrong) == 0:
        return paragraph(f"None: every row is predicted correctly, {by}.")
    worst = wrong[np.argsort(given[wrong], kind="stable")][:MOST_WRONG]
    rows = [
        [
            *_names(data, int(known[place])),
            labels[y[place]],
            labels[predicted[place]],
            TableCell(f"{100 * seen[place, predicted[place]]:.0f} %"),
            TableCell(f"{100 * given[place]:.0f} %"),
        ]
        for place in worst
    ]
    shown = "all of them" if len(wrong) <= MOST_WRONG else f"the {MOST_WRONG} worst"
    text = (
        f"{len(wrong):,} of {len(y):,} rows are predicted wrongly, {by}; these are {shown}. A row "
        "whose true class has a probability near 0 may be mislabelled."
    )
    header = [*_name_heads(data), "true", "predicted", "probability", "of true class"]
    n = len(header)
    return paragraph(text) + confusions + table(header, rows, numeric={0, n - 2, n - 1})


def _largest_residuals(
    data: LabelledRows, known: npt.NDArray[np.intp], y: Floats, seen: Floats, by: str
) -> str:
    worst = np.argsort(-np.abs(y - seen), kind="stable")[:MOST_WRONG]
    rows = [
        [
            *_names(data, int(known[place])),
            *(
                TableCell(number(each), float(each))
                for each in (y[place], seen[place], y[place] - seen[place])
            ),
        ]
        for place in worst
    ]
    text = f"The rows whose {by} predictions are farthest from the truth."
    header = [*_name_heads(data), "true", "predicted", "difference"]
    n = len(header)
    return paragraph(text) + table(header, rows, numeric={0, n - 3, n - 2, n - 1})


def _name_heads(data: LabelledRows) -> list[str]:
    return ["row", *data.ids]


def _names(data: LabelledRows, place: int) -> list[object]:
    """Number of a row in the file, and the values of its identifier columns."""
    row = place + 1 if data.number is None else int(data.number[place])
    return [row, *(str(column[place]) for column in data.ids.values())]


def _known(data: LabelledRows, evaluated: Floats) -> tuple[npt.NDArray[Any], Floats]:
    """Targets and predictions of the rows that have a prediction."""
    known = ~np.isnan(evaluated).reshape(len(data.y), -1).any(axis=1)
    return coded(data)[known], evaluated[known]


def _counts(y: npt.NDArray[np.int64], seen: Floats) -> npt.NDArray[np.int64]:
    counts = np.zeros((seen.shape[1], seen.shape[1]), dtype=np.int64)
    np.add.at(counts, (y, seen.argmax(axis=1)), 1)
    return counts


def _confusions(counts: npt.NDArray[np.int64], labels: list[str]) -> str:
    """The most frequent mistakes, where there are too many classes to draw."""
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_CONFUSIONS]
    places = [tuple(np.unravel_index(place, counts.shape)) for place in order]
    rows = [[labels[a], labels[b], int(wrong[a, b])] for a, b in places if wrong[a, b]]
    return table(["true", "predicted", "rows"], rows, caption="The most frequent confusions.")
