"""How numbers and commands are written, alike on pages and in the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from bevel.workflow import FitResult
from bevel.workflow.scores import Estimate

__all__ = ["fit_command", "interval", "number", "score", "score_line"]

SHARES = {"error", "coverage"}


def number(value: float) -> str:
    """Four digits, with a real minus sign."""
    return f"{value:.4g}".replace("-", "−")


def score(name: str, estimate: Estimate) -> str:
    """The value of a score: shares as percentages."""
    return f"{100 * estimate.value:.1f} %" if name in SHARES else number(estimate.value)


def interval(name: str, estimate: Estimate) -> str:
    """The interval of a score."""
    if name in SHARES:
        return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f} %"
    return f"{number(estimate.low)} to {number(estimate.high)}"


def score_line(name: str, estimate: Estimate) -> str:
    """Value and interval in one line."""
    return f"{score(name, estimate)} (95 % interval {interval(name, estimate)})"


def fit_command(
    data: Path,
    found: FitResult,
    out: Path | None,
    report: Path | None,
    drop: Sequence[str] | None,
    nominal: Sequence[str] | None,
    header: bool | None,
    keep_targets: bool,
) -> str:
    """The command line that makes a fit again, with whatever was guessed spelled out."""
    rows, settings = found.rows, found.settings
    projection = settings.projection
    words = ["bevel", "fit", str(data), "--target", rows.target, "--task", rows.task]
    words += ["--projection", projection if isinstance(projection, str) else ",".join(projection)]
    words += ["--trees", str(settings.n_trees), "--seed", str(settings.seed)]
    words += ["--keep-targets"] if keep_targets else []
    for option, columns in (("--drop", drop), ("--nominal", nominal)):
        for column in columns or ():
            words += [option, column]
    if header is not None:
        words.append("--header" if header else "--no-header")
    for option, path in (("--out", out), ("--report", report)):
        if path is not None:
            words += [option, str(path)]
    return shlex.join(words)
