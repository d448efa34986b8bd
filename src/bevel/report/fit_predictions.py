"""Predictions of a model beside the truth: pictures, the rows it is most mistaken on, and the
learning curve of boosting.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bevel import plots
from bevel._types import AnyInts, Floats
from bevel.analysis.accuracy.reliability import calibration_of
from bevel.analysis.results import OutOfBagCurve
from bevel.extras import import_optional
from bevel.plots.canvas import INK
from bevel.plots.planes import CLASS_COLOURS
from bevel.report.headline import class_words, number
from bevel.report.page import TableCell, figure, figures, paragraph, table
from bevel.workflow.fitting import coded
from bevel.workflow.rows import CLASSIFICATION, LabelledRows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "draw_calibration",
    "draw_confusion",
    "draw_curve",
    "draw_learning_curve",
    "draw_predicted",
    "draw_residuals",
    "draw_roc",
    "first_picture",
    "learning_curve",
    "mistakes",
    "predictions",
    "truth_and_predictions",
]

# Drawings of one model's predictions, as SVG text; matplotlib is imported inside functions.

SIZE = (4.6, 3.7)  # inches; legible at the width of a phone
GREY, ACCENT = "#9aa5b1", "#005a8c"
MAX_POINTS = 1500
LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (1.2, 1.2)))  # dashes
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bevel",
    "text.parse_math": False,  # column names may contain dollar signs
    "font.family": "sans-serif",
    "font.size": 10.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def _drawn(draw: Callable[[Axes], object], size: tuple[float, float] = SIZE) -> str:
    """SVG text of a drawing function on axes."""
    import_optional("matplotlib", needed_by="A report", install="bevel[plot]")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()


def draw_confusion(counts: npt.NDArray[Any], labels: Sequence[str], target: str) -> str:
    """Confusion matrix: rows are true classes, shades the share of each row."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    n = len(labels)

    def draw(axes: Axes) -> None:
        edges = np.arange(n + 1) - 0.5
        axes.pcolormesh(edges, edges, shares, cmap="Blues", vmin=0.0, vmax=1.0)
        axes.set_aspect("equal")
        axes.invert_yaxis()
        ticks = [_short(label, 12) for label in labels]
        axes.set_xticks(range(n), ticks, rotation=0 if n <= 4 else 60, ha="center")
        axes.set_yticks(range(n), ticks)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        name = _short(target, 24)
        axes.set_xlabel(f"predicted {name}", parse_math=False)
        axes.set_ylabel(f"true {name}", parse_math=False)
        for row, column in np.ndindex(n, n):
            if n <= 12 and counts[row, column]:
                colour = "white" if shares[row, column] > 0.55 else INK
                text = f"{counts[row, column]:,}"
                axes.text(column, row, text, ha="center", va="center", color=colour)

    side = min(7.0, 2.6 + 0.36 * n)
    return _drawn(draw, (max(side, SIZE[0]), max(side, SIZE[1])))


def draw_roc(codes: AnyInts, probabilities: Floats, labels: Sequence[str]) -> str:
    """ROC curves: of the second class if there are two, otherwise of each against the rest."""
    n_classes = len(labels)
    chosen = [1] if n_classes == 2 else [k for k in range(n_classes) if np.any(codes == k)]
    in_colour = n_classes <= len(CLASS_COLOURS)

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color=GREY, lw=1, ls=(0, (4, 3)))
        for at, k in enumerate(chosen):
            axes.step(
                *_roc(codes == k, probabilities[:, k]),
                where="post",
                color=CLASS_COLOURS[at] if in_colour else ACCENT,
                alpha=1.0 if in_colour else 0.4,
                lw=1.6 if in_colour else 0.8,
                ls=LINES[at % len(LINES)] if in_colour else "-",
                label=_short(labels[k], 18),
            )
        axes.set(xlabel="false positive rate", ylabel="true positive rate")
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        if in_colour and len(chosen) > 1:
            axes.legend(frameon=False, loc="lower right", fontsize=9.5)

    return _drawn(draw)


def _roc(positive: npt.NDArray[np.bool_], score: Floats) -> tuple[Floats, Floats]:
    """False and true positive rates at every threshold; equal scores are one step."""
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    true = np.append(0, np.cumsum(positive[order])[ends])
    false = np.append(0, ends + 1) - true
    rates = false / max(1, false[-1]), true / max(1, true[-1])
    return _thinned(rates[0]), _thinned(rates[1])


def _thinned(values: Floats) -> Floats:
    """A few hundred points of a curve, as many as a screen can show."""
    most = 400
    if len(values) <= most:
        return values
    return np.asarray(values[np.linspace(0, len(values) - 1, most).round().astype(int)])


def draw_calibration(codes: AnyInts, probabilities: Floats, labels: Sequence[str]) -> str:
    """Observed against predicted probability in bins of equally many rows."""
    shown = [_short(label, 18) for label in labels]
    n_bins = min(10, max(1, len(codes) // 10))
    result = calibration_of(codes, probabilities, shown, n_bins=n_bins)
    return _drawn(lambda axes: plots.calibration(result, ax=axes))


def draw_curve(curve: OutOfBagCurve) -> str:
    """Out-of-bag loss against the number of trees."""
    return _drawn(lambda axes: plots.out_of_bag_curve(curve, ax=axes))


def draw_learning_curve(training: Floats, validation: Floats) -> str:
    """Loss of boosting against the number of iterations."""

    def draw(axes: Axes) -> None:
        axes.plot(np.arange(1, len(training) + 1), training, color=GREY, label="training rows")
        if len(validation):
            best = int(np.argmin(validation)) + 1
            axes.plot(
                np.arange(1, len(validation) + 1),
                validation,
                color=ACCENT,
                ls=LINES[1],
                label="held-out rows",
            )
            axes.axvline(best, color=INK, lw=1, ls=LINES[3])
            axes.legend(frameon=False)
        axes.set(xlabel="iterations", ylabel="mean loss")

    return _drawn(draw)


def draw_predicted(y: Floats, predicted: Floats, target: str) -> str:
    """True values against predictions."""

    def draw(axes: Axes) -> None:
        chosen = _sample(len(y))
        low, high = float(min(y.min(), predicted.min())), float(max(y.max(), predicted.max()))
        axes.plot([low, high], [low, high], color=GREY, lw=1, ls=(0, (4, 3)))
        _scatter(axes, predicted[chosen], y[chosen])
        axes.set(xlabel="predicted", ylabel=f"true {_short(target, 24)}")

    return _drawn(draw)


def draw_residuals(y: Floats, predicted: Floats) -> str:
    """Residuals against predictions, with the mean of ten groups of equally many rows."""

    def draw(axes: Axes) -> None:
        residual = y - predicted
        chosen = _sample(len(y))
        _scatter(axes, predicted[chosen], residual[chosen])
        axes.axhline(0.0, color=GREY, lw=1, ls=(0, (4, 3)))
        groups = np.array_split(np.argsort(predicted, kind="stable"), min(10, len(y)))
        means = [(predicted[rows].mean(), residual[rows].mean()) for rows in groups]
        axes.plot(*zip(*means, strict=True), "o-", ms=4, lw=1.4, color=CLASS_COLOURS[5])
        axes.set(xlabel="predicted", ylabel="true − predicted")

    return _drawn(draw)


def _sample(n_rows: int) -> npt.NDArray[np.int64]:
    """Rows to draw: all of them, or a fixed sample of some thousand."""
    if n_rows <= MAX_POINTS:
        return np.arange(n_rows)
    return np.random.default_rng(0).choice(n_rows, MAX_POINTS, replace=False)


def _scatter(axes: Axes, x: Floats, y: Floats) -> None:
    axes.plot(x, y, "o", ms=3, mew=0, alpha=0.45, color=ACCENT)


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


LONGEST_TARGET = 12  # characters, in drawings
MAX_CONFUSIONS, MAX_CLASSES_DRAWN, MAX_WRONG = 20, 25, 10


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
            draw_predicted(y, seen, target),
            f"True values against {f'{by} ' if by else ''}predictions; on the dashed line they "
            "agree.",
        )
    labels = [str(label) for label in classes]
    if len(labels) > MAX_CLASSES_DRAWN:
        return figure(draw_roc(y, seen, labels), f"{_of('ROC, one class against the rest', by)}.")
    return figure(
        draw_confusion(_counts(y, seen), labels, target),
        f"{_of('Confusion matrix', by)}; shades are shares of the true class.",
    )


def _of(what: str, by: str) -> str:
    return f"{what}, {by}" if by else what


def predictions(data: LabelledRows, evaluated: Floats, by: str, curve: Sequence[str]) -> str:
    """Calibration and ROC, or residuals; and the curve of the number of trees."""
    y, seen = _known(data, evaluated)
    if data.task != CLASSIFICATION:
        residuals = figure(
            draw_residuals(y, seen),
            f"Residuals of {by} predictions; the line joins the means of ten groups of rows.",
        )
        return figures(residuals, *curve, small=True)
    labels = [str(label) for label in data.classes]
    name = data.target
    target = name if len(name) <= LONGEST_TARGET else f"{name[: LONGEST_TARGET - 1]}…"
    calibration = figure(
        draw_calibration(y, seen, [class_words(each, target) for each in labels]),
        f"Calibration, {by}, in bins of equally many rows with 95 % intervals; on the dashed "
        "line, probabilities equal frequencies.",
    )
    if len(labels) > MAX_CLASSES_DRAWN:  # ROC is at the top in that case
        return figures(calibration, *curve, small=True)
    area = (
        "one class against the rest"
        if len(labels) > 2
        else f"of {class_words(labels[1], data.target)}"
    )
    roc = figure(draw_roc(y, seen, labels), f"ROC, {area}, {by}.")
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
    if len(labels) > MAX_CLASSES_DRAWN:
        confusions = _confusions(_counts(y, seen), labels)
    if len(wrong) == 0:
        return paragraph(f"None: every row is predicted correctly, {by}.")
    worst = wrong[np.argsort(given[wrong], kind="stable")][:MAX_WRONG]
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
    shown = "all of them" if len(wrong) <= MAX_WRONG else f"the {MAX_WRONG} worst"
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
    worst = np.argsort(-np.abs(y - seen), kind="stable")[:MAX_WRONG]
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
    order = np.argsort(-wrong, axis=None, kind="stable")[:MAX_CONFUSIONS]
    places = [tuple(np.unravel_index(place, counts.shape)) for place in order]
    rows = [[labels[a], labels[b], int(wrong[a, b])] for a, b in places if wrong[a, b]]
    return table(["true", "predicted", "rows"], rows, caption="The most frequent confusions.")


def learning_curve(model: Any) -> list[str]:
    """The loss after each iteration, as a figure."""
    training, validation = -model.train_score_, -model.validation_score_
    if np.isnan(training).all():
        return []  # the loss has no values
    caption = "Mean loss after each iteration, on the rows that the trees are grown on"
    if len(validation):
        caption += (
            " and on held-out rows. The dotted line is where the loss of these is lowest; all rows "
            f"were then fitted again with {model.n_iter_:,} iterations"
            if model.n_iter_ == len(training) != int(np.argmin(validation)) + 1
            else " and on held-out rows. The dotted line is where the loss of these is lowest"
        )
    return [figure(draw_learning_curve(training, validation), f"{caption}.")]
