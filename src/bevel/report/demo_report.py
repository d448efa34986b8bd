"""The output of the demo: a comparison as CSV, as a dictionary and as a page."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bevel.report.page import PageSection, TableCell, page, paragraph, picture, table
from bevel.workflow.comparison import Measurement

__all__ = [
    "Comparison",
    "as_csv",
    "as_facts",
    "as_html",
    "best_contenders",
    "percent",
    "speed_ratios",
]

PLANE = """\
Both forests learned from the dots. Colour is the predicted probability, the black line is where \
the prediction changes, and the dashed white lines are the truth. A random forest can only cut \
along the axes and builds a staircase; an oblique forest may cut along sums and differences of \
features."""
ALTERNATIVE = """\
Decision boundaries of a random forest (a staircase) and of an oblique forest (slanted lines)"""
READING = """\
Errors are shares of wrong labels on rows that were not learned from: cross-validation on the \
real sets, fresh draws on the simulations. The lowest error of a row is bold; on sets this small a \
point or two may be chance. All forests have the same number of trees and threads and are \
otherwise at their defaults: at each node the oblique forest tries p directions, the random \
forests √p features. Seconds are those of the fastest fit, and “times faster” compares them with \
{reference}; times of a few hundredths of a second are not reliable."""
SIMULATIONS = """\
The simulations are the papers' own: sparse_parity and hyperplanes hide the signal from any single \
feature, and trunk spreads it over all of them. On orthant cuts along the axes are the right ones, \
and a forest with oblique splits has a higher error."""


@dataclass(frozen=True)
class Comparison:
    """Contenders and what was measured of them; the last contender is the one to compare with."""

    contenders: tuple[str, ...]
    measurements: Sequence[Measurement]
    settings: str  # one line: trees, threads, seed


def percent(share: float) -> str:
    """Write a share as a percentage with one decimal, as tables and titles show it."""
    return f"{100.0 * share:.1f}"


def best_contenders(measurement: Measurement) -> list[bool]:
    """Mark the contenders with the lowest error, all of them when they print alike."""
    shown = [float(percent(error)) for error in measurement.errors]
    return [error == min(shown) for error in shown]


def speed_ratios(measurement: Measurement) -> list[float]:
    """How many times faster than the last contender each of the others was fitted."""
    *others, reference = measurement.seconds
    return [reference / seconds for seconds in others]


def as_csv(comparison: Comparison) -> str:
    """One line per problem: sizes, then error, seconds and speed ratio of each contender."""
    slugs = [name.lower().replace(" ", "_").replace("-", "_") for name in comparison.contenders]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(
        ["dataset", "n", "p", "classes"]
        + [f"error_{slug}" for slug in slugs]
        + [f"fit_seconds_{slug}" for slug in slugs]
        + [f"speed_ratio_{slug}" for slug in slugs[:-1]]
    )
    for row in comparison.measurements:
        writer.writerow(
            [row.problem, row.n_rows, row.n_features, row.n_classes]
            + [f"{error:.6f}" for error in row.errors]
            + [f"{seconds:.6f}" for seconds in row.seconds]
            + [f"{ratio:.3f}" for ratio in speed_ratios(row)]
        )
    return text.getvalue()


def as_facts(comparison: Comparison) -> dict[str, Any]:
    """The same as JSON can hold it."""
    return {
        "contenders": list(comparison.contenders),
        "settings": comparison.settings,
        "measurements": [asdict(each) for each in comparison.measurements],
    }


def as_html(comparison: Comparison, png: bytes, command: str) -> str:
    """The page: the picture, the table, how to read both, the command and the versions."""
    names = comparison.contenders
    n = len(names)
    numbers = table(
        ["data set", "n", "p", "classes", *names, *names, *names[:-1]],
        [_row(each) for each in comparison.measurements],
        groups=[("", 4), ("test error, %", n), ("fit, seconds", n), ("times faster", n - 1)],
    )
    reading = paragraph(READING.format(reference=names[-1])) + paragraph(SIMULATIONS)
    return page(
        "Bevel: forests that cut on the slant",
        [
            PageSection("Two forests, one plane", picture(png, PLANE, ALTERNATIVE)),
            PageSection("Errors and fit times", numbers),
            PageSection("How to read it", reading),
        ],
        command,
        subtitle=f"Three forests compared: {comparison.settings} each.",
    )


def _row(measurement: Measurement) -> list[object]:
    errors = zip(measurement.errors, best_contenders(measurement), strict=True)
    return [
        measurement.problem,
        measurement.n_rows,
        measurement.n_features,
        measurement.n_classes,
        *(TableCell(percent(error), error, strong=best) for error, best in errors),
        *(TableCell(f"{seconds:.3f}", seconds) for seconds in measurement.seconds),
        *(TableCell(f"{ratio:.1f} ×", ratio) for ratio in speed_ratios(measurement)),
    ]
