"""Storing a table by blocks against NumPy's copy."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import _core

LIMIT = 1e34


def strided(kind: str, X: np.ndarray) -> np.ndarray:
    """The same numbers in another layout of memory."""
    if kind == "fortran":
        return np.asfortranarray(X)
    if kind == "every second":
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    return X[::-1].copy()[::-1] if kind == "backwards" else X


@pytest.mark.parametrize("kind", ["c", "fortran", "every second", "backwards"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (63, 64), (65, 130), (200, 3)])
def test_storing_is_a_copy(kind: str, dtype: type, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape).astype(dtype)
    X[rng.random(shape) < 0.1] = np.nan
    stored = np.empty(shape, np.float32, order="F")
    beyond, facts = _core.store_columns(strided(kind, X), LIMIT, 2, stored)
    assert beyond is None
    same = _core.summarise_columns(stored, np.zeros(shape[1], np.int32), 1)
    for fact, expected in zip(facts, same, strict=True):
        np.testing.assert_array_equal(fact, expected)
    np.testing.assert_array_equal(stored, X.astype(np.float32))


@pytest.mark.parametrize("value", [np.inf, -np.inf, 2e34, -2e34])
@pytest.mark.parametrize("place", [(0, 0), (70, 100), (149, 199)])
def test_numbers_beyond_the_limit_are_found(value: float, place: tuple[int, int]) -> None:
    X = np.random.default_rng(0).normal(size=(150, 200)).astype(np.float32)
    X[place] = value
    target = np.empty(X.shape, np.float32, order="F")
    assert _core.store_columns(X, LIMIT, 2, target) == (place, None)
