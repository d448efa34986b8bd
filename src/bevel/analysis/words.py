"""Directions as a person would write them, and small tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["write_direction", "write_table"]


def write_direction(
    names: Sequence[str], weight: npt.NDArray[np.floating], most_terms: int = 6
) -> str:
    """A weighted sum of named features, such as ``sepal_length − 0.5·petal_width``.

    Largest weights come first, equal ones in the given order; what exceeds `most_terms` is counted.
    """
    order = np.argsort(-np.abs(weight), kind="stable")
    terms = [_write_term(names[i], float(weight[i])) for i in order[:most_terms]]
    text = " ".join(terms).removeprefix("+ ")
    text = f"−{text[2:]}" if text.startswith("− ") else text
    hidden = len(order) - most_terms
    return text if hidden <= 0 else f"{text} + {hidden} more"


def _write_term(name: str, weight: float) -> str:
    size = f"{abs(weight):.2g}"
    return f"{'−' if weight < 0 else '+'} {name if size == '1' else f'{size}·{name}'}"


def write_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines of a table: the first column to the left, numbers to the right."""
    lines = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = []
    for first, *others in lines:
        cells = [cell.rjust(w) for cell, w in zip(others, widths[1:], strict=True)]
        text.append("  ".join((first.ljust(widths[0]), *cells)).rstrip())
    return "\n".join(text)
