"""Bars with long names beside them: shortened names, and numbers at the ends."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bevel.plots.canvas import FAINT, decimals_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["shorten_name", "shorten_sum", "value_texts", "write_values"]

LONGEST_NAME = 50  # characters


def shorten_name(name: str, longest: int = LONGEST_NAME) -> str:
    """The name, or its beginning and end, since column names often differ at their ends."""
    if len(name) <= longest:
        return name
    end = longest // 3
    return f"{name[: longest - end - 1]}…{name[-end:]}"


def shorten_sum(words: str, longest: int = LONGEST_NAME) -> str:
    """A sum of features, or its first terms as far as they fit."""
    if len(words) <= longest:
        return words
    ends = [words.rfind(sign, 0, longest - 1) for sign in (" + ", " − ")]
    return f"{words[: max(ends)]} …" if max(ends) > 0 else shorten_name(words, longest)


def value_texts(values: NDArray[np.float64]) -> list[str]:
    """Numbers with a common number of decimals; empty for those that are not finite."""
    known = values[np.isfinite(values)]
    decimals = decimals_for(float(np.abs(known).max())) if len(known) else 0
    texts = [f"{value:.{decimals}f}".replace("-", "−") for value in values.tolist()]
    return [text if np.isfinite(x) else "" for text, x in zip(texts, values, strict=True)]


def write_values(axes: "Axes", values: NDArray[np.float64]) -> None:
    """Write numbers at the ends of the bars, with a common number of decimals."""
    for place, text in enumerate(value_texts(values)):
        value = float(values[place])
        if text:
            axes.annotate(
                text,
                (max(value, 0.0), place),
                (4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
                color=FAINT,
            )
    axes.margins(x=0.12)
