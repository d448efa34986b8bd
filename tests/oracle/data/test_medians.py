"""Medians by halving intervals against NumPy's, which sorts."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import _core


def numpy_medians(X: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Mean of the two middle values in double precision; NaN is left out, nominal columns are 0."""
    medians = np.zeros(X.shape[1], np.float32)
    for feature in np.flatnonzero(levels == 0):
        present = X[:, feature][~np.isnan(X[:, feature])]
        if present.size:
            medians[feature] = np.median(present.astype(np.float64))
    return medians


@pytest.mark.parametrize("n_rows", [1, 2, 3, 10, 1001, 6000])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_medians_equal_those_of_numpy(n_rows: int, n_threads: int) -> None:
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 150)).astype(np.float32)
    X[:, 10:20] = rng.integers(-2, 3, (n_rows, 10))
    X[:, 20:30] *= np.float32(1e-42)
    X[:, 30:40] *= np.float32(1e37)
    X[:, 40:60][rng.random((n_rows, 20)) < 0.4] = np.nan
    X[:, 60] = np.nan
    X[:, 61] = -0.0
    levels = np.zeros(150, np.int32)
    X[:, 100:110] = rng.integers(0, 3, (n_rows, 10))
    levels[100:110] = 3
    medians, has_nan = _core.summarise_columns(np.asfortranarray(X), levels, n_threads)
    np.testing.assert_array_equal(medians, numpy_medians(X, levels))
    np.testing.assert_array_equal(has_nan, np.isnan(X).any(axis=0))
