"""Weighted means of losses over rows, without BLAS.

BLAS would start its own threads, regardless of `n_jobs`, and choose its own order of addition.
"""

from __future__ import annotations

import numpy as np

from bevel._types import Floats

__all__ = ["mean_and_noise", "weighted_mean"]


def weighted_mean(values: Floats, share: Floats) -> Floats:
    """Means along the last axis, with weights that sum to one."""
    return np.asarray(np.einsum("...i,i->...", values, share))


def mean_and_noise(values: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Means along the last axis, and their standard errors."""
    means = weighted_mean(values, share)
    return means, np.sqrt(weighted_mean((values - means[..., None]) ** 2, share**2))
