"""Corrections of p-values for multiple tests."""

from __future__ import annotations

import numpy as np

from bevel._types import Floats
from bevel.errors import wrong_value

__all__ = ["CORRECTIONS", "check_correction", "correct"]

CORRECTIONS = ("holm", "bonferroni", "fdr", None)


def check_correction(correction: object) -> None:
    """Raise unless it is the name of a correction, or None."""
    if correction not in CORRECTIONS:
        names = ", ".join(f'"{name}"' if name else "None" for name in CORRECTIONS)
        raise wrong_value("correction", f"one of {names}", correction, "Check the spelling.")


def correct(p_values: Floats, correction: str | None) -> Floats:
    """p-values to compare with the level of all tests together.

    Parameters
    ----------
    p_values : ndarray of shape (m,)
        p-values of the single tests.
    correction : {"holm", "bonferroni", "fdr"} or None
        "holm" and "bonferroni" bound the probability of any false discovery, Holm's being the
        sharper; "fdr" bounds the expected share of false ones (Benjamini and Hochberg).
    """
    m = len(p_values)
    if correction is None or m == 0:
        return p_values
    if correction == "bonferroni":
        return np.minimum(m * p_values, 1.0)
    order = np.argsort(p_values, kind="stable")
    ascending, rank = p_values[order], np.arange(1, m + 1)
    if correction == "holm":
        stepped = np.maximum.accumulate((m - rank + 1) * ascending)
    else:
        stepped = np.minimum.accumulate((m / rank * ascending)[::-1])[::-1]
    corrected = np.empty(m)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected
