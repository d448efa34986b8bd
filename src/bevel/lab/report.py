"""A comparison as files: CSV for machines, one self-contained HTML page for people."""

import base64
import csv
import html
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from string import Template

from bevel.lab.comparison import Measurement

__all__ = ["Comparison", "best_contenders", "percent", "speed_ratios", "write_csv", "write_html"]


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


def write_csv(path: Path, comparison: Comparison) -> None:
    """Write one line per problem: sizes, then error, seconds and speed ratio of each contender."""
    slugs = [name.lower().replace(" ", "_").replace("-", "_") for name in comparison.contenders]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
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


def write_html(path: Path, comparison: Comparison, picture: bytes) -> None:
    """Write the page: the picture (PNG, embedded), the table, how to read both, and versions."""
    page = Template(resources.files(__package__).joinpath("report.html").read_text("utf-8"))
    path.write_text(
        page.substitute(
            picture=base64.b64encode(picture).decode("ascii"),
            settings=html.escape(comparison.settings),
            reference=html.escape(comparison.contenders[-1]),
            groups=_groups(comparison.contenders),
            head=_head(comparison.contenders),
            body="\n".join(_row(each) for each in comparison.measurements),
            versions=html.escape(_versions()),
        ),
        encoding="utf-8",
    )


def _groups(contenders: Sequence[str]) -> str:
    n = len(contenders)
    return (
        f'<th colspan="4"></th><th colspan="{n}">test error, %</th>'
        f'<th colspan="{n}">fit, seconds</th><th colspan="{n - 1}">times faster</th>'
    )


def _head(contenders: Sequence[str]) -> str:
    names = [*contenders, *contenders, *contenders[:-1]]
    return "".join(f"<th>{html.escape(name)}</th>" for name in names)


def _row(measurement: Measurement) -> str:
    cells = [
        f'<td class="name">{html.escape(measurement.problem)}</td>',
        *_cells([measurement.n_rows, measurement.n_features, measurement.n_classes]),
    ]
    for error, best in zip(measurement.errors, best_contenders(measurement), strict=True):
        cells.append(
            f'<td class="best">{percent(error)}</td>' if best else f"<td>{percent(error)}</td>"
        )
    cells += _cells(f"{seconds:.3f}" for seconds in measurement.seconds)
    cells += _cells(f"{ratio:.1f} ×" for ratio in speed_ratios(measurement))
    return f"<tr>{''.join(cells)}</tr>"


def _cells(values: Iterable[object]) -> list[str]:
    return [f"<td>{value}</td>" for value in values]


def _versions() -> str:
    packages = ("bevel", "numpy", "scikit-learn")
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{platform.system()} {platform.machine()}"
    return ", ".join([f"{name} {version(name)}" for name in packages] + [python, machine])
