"""The output of the demo: a comparison as CSV, as a dictionary and as a page."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bevel.report.page import PageSection, TableCell, code, link, page, paragraph, picture, table
from bevel.workflow.demo_problems import Measurement

__all__ = [
    "Comparison",
    "as_csv",
    "as_dict",
    "as_html",
    "best_contenders",
    "headline",
    "percent",
    "speed_ratios",
]

PLANE = """\
Both forests learned from the dots. Colour is the predicted probability, the black line is where \
the prediction changes, and the dashed white lines are the truth. A random forest can only cut \
along the axes and builds a staircase; Bevel may also cut along combinations of features."""
ALTERNATIVE = """\
Decision boundaries of a random forest (a staircase) and of an oblique forest (slanted lines)"""
READING = """\
Errors are shares of wrong labels on rows that were not learned from: cross-validation on the \
real sets, fresh draws on the simulations. The lowest error of a row is bold; on sets this small a \
point or two may be chance. All forests have the same number of trees and threads and are \
otherwise at their defaults: Bevel shares its trees among families of directions by their \
out-of-bag errors, the random forests try √p features at each node. Seconds are those of the \
fastest fit, and “times faster” compares them with \
{reference}; times of a few hundredths of a second are not reliable."""
SIMULATIONS = """\
The simulations are the papers' own: sparse_parity and hyperplanes hide the signal from any single \
feature, and trunk spreads it over all of them. On orthant cuts along the axes are the right ones, \
which is why Bevel tries them too."""


@dataclass(frozen=True)
class Comparison:
    """Contenders and their measurements; the last contender is the reference."""

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
    """Speed of the fits of all other contenders relative to the last one."""
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


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """The comparison as values that JSON can hold."""
    return {
        "contenders": list(comparison.contenders),
        "settings": comparison.settings,
        "measurements": [asdict(each) for each in comparison.measurements],
    }


def headline(comparison: Comparison) -> list[str]:
    """Findings in three sentences that depend on the numbers."""
    rows, names = comparison.measurements, comparison.contenders
    first, reference = names[0], names[-1]
    means = [sum(errors) / len(rows) for errors in zip(*(row.errors for row in rows), strict=True)]
    others = [
        f"{percent(mean)} % with {_called(name)}"
        for name, mean in zip(names[1:], means[1:], strict=True)
    ]
    best = [row.problem for row in rows if best_contenders(row)[0]]
    worse = [
        f"{row.problem} ({percent(row.errors[0])} against {percent(min(row.errors))} %)"
        for row in rows
        if not best_contenders(row)[0]
    ]
    ratios = sorted(speed_ratios(row)[0] for row in rows)
    return [
        f"Over {len(rows)} problems {first}, as it is without any settings, has a mean error of "
        f"{percent(means[0])} % on unseen rows; it is {' and '.join(others)}.",
        f"It has the lowest error, alone or level, on {len(best)} of {len(rows)}; "
        + (f"another forest errs less on {', '.join(worse)}." if worse else "no other errs less."),
        f"It was fitted {ratios[0]:.2g} to {ratios[-1]:.2g} times as fast as "
        f"{_called(reference)}, with as many trees and threads.",
    ]


def _called(name: str) -> str:
    return {"Bevel axis": "Bevel's own random forest"}.get(name, f"{name}'s random forest")


def as_html(
    comparison: Comparison, png: bytes, command: str, example: str, example_command: str
) -> str:
    """The page: sentences and the picture, the table, how to read both, and next steps.

    `example` is the name of the page of a single model, in the same folder, and `example_command`
    is the command that makes it again.
    """
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
            PageSection("", _first_screen(comparison, png)),
            PageSection("Errors and fit times", numbers),
            PageSection("How to read it", reading),
            PageSection("A model in detail", _example(example, example_command)),
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


def _first_screen(comparison: Comparison, png: bytes) -> str:
    lead = "".join(paragraph(each, kind="lead") for each in headline(comparison))
    return lead + picture(png, PLANE, ALTERNATIVE)


def _example(name: str, command: str) -> str:
    """Link to the page of one model, with the commands that make and use it."""
    stem = name.removesuffix(".html")
    words = paragraph(
        "In the same folder is the page of one model, the diagnosis of breast tumours, as "
        "bevel fit writes it for any file of rows:"
    )
    return words + link(name) + code(f"{command}\nbevel predict {stem}.bevel {stem}.csv")
