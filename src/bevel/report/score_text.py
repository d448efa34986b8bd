"""How numbers are written, alike on pages and in the terminal."""

from __future__ import annotations

from bevel.workflow.scores import Estimate

__all__ = ["interval", "number", "score", "score_line"]

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
