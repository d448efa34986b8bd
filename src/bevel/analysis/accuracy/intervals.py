"""Confidence intervals of shares."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from bevel._types import Floats

__all__ = ["TWO_SIDED_5_PERCENT", "wilson_interval"]

TWO_SIDED_5_PERCENT = float(norm.ppf(0.975))


def wilson_interval(n_hits: npt.ArrayLike, n_rows: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Ends of Wilson's 95 % interval, which suits few rows and shares near 0 and 1."""
    n = np.asarray(n_rows, dtype=np.float64)
    share, z2 = np.asarray(n_hits) / n, TWO_SIDED_5_PERCENT**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * share * (1 - share) / n + z2**2 / (4 * n**2)) / (1 + z2 / n)
    return np.maximum(0.0, centre - half), np.minimum(1.0, centre + half)
