"""Formats numbers, alike on pages and in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bevel.text.node_predictions import called
from bevel.workflow.scores import Estimate

__all__ = [
    "class_words",
    "family_rows",
    "interval",
    "number",
    "probability_words",
    "score",
    "score_line",
]

SHARES = {"error", "coverage"}


def number(value: float) -> str:
    """A number with four digits and a typographic minus sign."""
    return f"{value:.4g}".replace("-", "−")


def score(name: str, estimate: Estimate) -> str:
    """The value of a score, shares as percentages."""
    return f"{100 * estimate.value:.1f} %" if name in SHARES else number(estimate.value)


def interval(name: str, estimate: Estimate) -> str:
    """The interval of a score."""
    if name in SHARES:
        return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f} %"
    return f"{number(estimate.low)} to {number(estimate.high)}"


def score_line(name: str, estimate: Estimate) -> str:
    """Value and interval in one line."""
    return f"{score(name, estimate)} (95 % interval {interval(name, estimate)})"


def class_words(label: object, target: str) -> str:
    """Name of a class in a sentence: a number is preceded by the target, if its name is known."""
    text = str(label)
    return f"{target} = {text}" if target and called(text) != text else called(text)


def probability_words(label: object, target: str) -> str:
    """The probability of a class."""
    words = class_words(label, target)
    return f"probability {'that' if words.endswith(f' = {label}') else 'of'} {words}"


def family_rows(
    families: Sequence[Mapping[str, Any]], *, is_classifier: bool
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and cells of the table of the families that share a model's trees."""
    error = "out-of-bag error" if is_classifier else "out-of-bag squared error"
    head = ("family", error, "standard error", "share", "trees")
    return head, [
        (
            each["family"],
            *_family_errors(each["error"], each["standard_error"], is_classifier),
            f"{100 * each['weight']:.0f} %",
            f"{each['n_trees']:,}",
        )
        for each in families
    ]


def _family_errors(
    error: float | None, spread: float | None, is_classifier: bool
) -> tuple[str, str]:
    if error is None or spread is None:
        return "–", "–"
    if is_classifier:
        return f"{100 * error:.1f} %", f"{100 * spread:.1f}"
    return number(error), number(float(f"{spread:.2g}"))
