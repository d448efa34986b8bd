"""Weighted sums of features as text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bevel.printable import printable
from bevel.text.decimals import MINUS, written

__all__ = ["write_direction", "write_sum"]

MOST_TERMS = 6  # terms of a direction


def write_sum(
    names: Sequence[str], weights: Sequence[float] | npt.NDArray[np.floating], most_terms: int
) -> str:
    """Terms in the given order, such as ``x − 0.5·y``; only the first `most_terms` are written."""
    text = ""
    for name, weight in zip(names[:most_terms], weights[:most_terms], strict=True):
        sign = MINUS if weight < 0 else "+"
        size = abs(float(weight))
        term = name if size == 1.0 else f"{written(size)}·{name}"
        text += f" {sign} {term}" if text else f"{sign}{term}".removeprefix("+")
    hidden = len(names) - most_terms
    return f"{text} + {hidden} more term{'s' if hidden > 1 else ''}" if hidden > 0 else text


def write_direction(
    names: Sequence[str], weights: npt.NDArray[np.floating], most_terms: int = MOST_TERMS
) -> str:
    """A direction, such as ``sepal_length − 0.5·petal_width``, with weights of two digits.

    Terms are in descending order of absolute weight, ties in the given order.
    """
    order = np.argsort(-np.abs(weights), kind="stable")
    rounded = [float(f"{float(weights[i]):.2g}") for i in order]
    return write_sum([printable(names[i]) for i in order], rounded, most_terms)
