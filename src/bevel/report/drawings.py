"""Drawings of the predictions of a model beside the truth, as SVG text."""

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
from bevel.plots.canvas import INK, plain_ticks
from bevel.plots.planes import CLASS_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "LONGEST_TARGET",
    "MAX_CLASSES_DRAWN",
    "draw_calibration",
    "draw_confusion",
    "draw_curve",
    "draw_learning_curve",
    "draw_predicted",
    "draw_residuals",
    "draw_roc",
]

SIZE = (4.6, 3.7)  # inches; legible at the width of a phone
GREY, ACCENT = "#9aa5b1", "#005a8c"
MAX_POINTS = 1500
LONGEST_TARGET = 12  # characters
MAX_CLASSES_DRAWN = 25
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
        axes = figure.add_subplot()
        draw(axes)
        plain_ticks(axes)
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


def draw_learning_curve(training: Floats, validation: Floats, measure: str) -> str:
    """Loss of boosting, or another measure, against the number of iterations."""

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
        axes.set(xlabel="iterations", ylabel=measure)

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
        axes.locator_params(axis="x", nbins=6)

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
