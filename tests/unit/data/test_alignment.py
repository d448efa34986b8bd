"""Arrays that lie at odd addresses, as parts of messages and files do, are copied before use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.data.tables import align


def unaligned(array):
    """The same numbers one byte after an aligned address."""
    array = np.asarray(array)
    memory = np.zeros(array.nbytes + array.itemsize, np.uint8)
    order = "F" if array.flags.f_contiguous and array.ndim > 1 else "C"
    moved = np.ndarray(array.shape, array.dtype, memory, offset=1, order=order)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


class Pair(NamedTuple):
    first: Any
    second: Any


def test_arrays_are_found_in_containers():
    odd, even = unaligned(np.arange(5.0)), np.arange(3)
    found = align({"list": [odd, even], "tuple": (odd, "text"), "pair": Pair(odd, None)})
    for copy in (found["list"][0], found["tuple"][0], found["pair"].first):
        assert copy.flags.aligned
        np.testing.assert_array_equal(copy, odd)
    assert found["list"][1] is even
    assert found["tuple"][1] == "text"
    assert type(found["pair"]) is Pair


def test_arrays_are_found_in_attributes_of_the_librarys_objects():
    @dataclass(frozen=True)
    class Holder:
        values: Any
        name: str = "a"

    Holder.__module__ = "bevel.tests"
    odd = Holder(unaligned(np.arange(5)))
    copy = align([odd])[0]
    assert copy.values.flags.aligned
    assert copy.name == "a"
    assert not odd.values.flags.aligned  # the argument stays as it is
    even = Holder(np.arange(5))
    assert align(even) is even


def test_order_of_columns_is_kept():
    table = unaligned(np.asfortranarray(np.arange(12.0).reshape(4, 3)))
    assert align(table).flags.f_contiguous


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_users_arrays_may_lie_anywhere(estimator, dtype, order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(60, 3)), dtype=dtype, order=order)
    y, weights = (X[:, 0] > 0).astype(np.float64), rng.uniform(size=60)
    forest = estimator(5, random_state=0)
    expected = forest.fit(X, y, sample_weight=weights).predict(X)
    moved = forest.fit(unaligned(X), unaligned(y), sample_weight=unaligned(weights))
    np.testing.assert_array_equal(moved.predict(unaligned(X)), expected)
    with pytest.raises(ValueError, match=r"X must be an aligned array; got .*Pass X.copy\(\)"):
        moved.predictor_.predict(unaligned(X))


def test_tasks_on_dask_get_aligned_arrays():
    pytest.importorskip("distributed")
    from bevel.dask.cluster import _run_aligned

    assert _run_aligned(lambda pair: pair[0].flags.aligned, [unaligned(np.arange(3.0))])
