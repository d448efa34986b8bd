"""The native scaler against the definitions in NumPy, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.naive.scaling import dampen, naive_scale

from bevel import _core
from bevel.data import ranking
from bevel.data.scaling import (
    SCALES,
    IdentityScaler,
    LinearScaler,
    QuantileScaler,
    Scaler,
    learn_scaler,
)
from bevel.data.tiles import LARGEST_READ, LARGEST_STORED

KINDS = [None, *SCALES]
SPECIAL = [np.nan, 0.0, -0.0, 1.0, 5e-324, -1e-310, 1e-45, 1e34, 1e38, LARGEST_READ, -LARGEST_READ]
NUMBERS = st.one_of(
    st.sampled_from(SPECIAL),
    st.integers(-3, 3).map(float),
    st.floats(-10, 10, width=32),
    st.floats(-LARGEST_READ, LARGEST_READ),
)
LAYOUTS: dict[str, Callable[[tuple[int, int], type], np.ndarray]] = {
    "rows": lambda shape, dtype: np.empty(shape, dtype),
    "columns": lambda shape, dtype: np.empty(shape, dtype, order="F"),
    "part": lambda shape, dtype: np.empty((2 * shape[0], 3 * shape[1]), dtype)[::2, 1::3],
    "backwards": lambda shape, dtype: np.empty(shape, dtype)[::-1, ::-1],
}


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Exact equality: zeros have signs, and NaN equals NaN."""
    missing = np.isnan(a)
    same = a.view(np.uint32) == b.view(np.uint32)
    return a.dtype == b.dtype == np.float32 and bool(np.where(missing, np.isnan(b), same).all())


def laid_out(values: np.ndarray, layout: str, dtype: type) -> np.ndarray:
    copy = LAYOUTS[layout](values.shape, dtype)
    copy[...] = values
    return copy


def check(scaler: Scaler, tile: np.ndarray, first: int, target: np.ndarray, threads: int) -> None:
    n_features = first + tile.shape[1]
    scaler.native(n_features).transform(tile, first, threads, target)
    assert same_bits(target, naive_scale(scaler, tile, slice(first, n_features)))


def bounds_of(scaler: Scaler, feature: int) -> list[float]:
    """Where the scaling of a column changes its form."""
    if isinstance(scaler, LinearScaler):
        return [scaler.shift[feature], scaler.shift[feature] + scaler.span[feature]]
    if isinstance(scaler, QuantileScaler):
        return [scaler.low[feature], scaler.high[feature]]
    if isinstance(scaler, ranking.RankScaler):
        return scaler.knots[scaler.offset[feature] : scaler.offset[feature + 1]].tolist()
    return []


def draw_near(draw: st.DrawFn, bounds: list[float]) -> float:
    """A number of any size, or one on or beside a bound."""
    if not bounds or draw(st.booleans()):
        return draw(NUMBERS)
    bound = draw(st.sampled_from(bounds))
    return float(np.nextafter(bound, draw(st.sampled_from([bound, -np.inf, np.inf]))))


@st.composite
def problems(draw: st.DrawFn) -> tuple[Scaler, np.ndarray, int]:
    """A scaler, new rows of its features from the first one given on."""
    n_features, n_train = draw(st.integers(1, 10)), draw(st.integers(0, 12))
    numbers = st.lists(NUMBERS, min_size=n_train, max_size=n_train)
    columns = [draw(numbers) for _ in range(n_features)]
    train = np.array(columns, dtype=np.float64).reshape(n_features, n_train).T
    scaler = learn_scaler(draw(st.sampled_from(KINDS)), np.asfortranarray(train))
    first = draw(st.integers(0, n_features - 1))
    shape = draw(st.integers(1, 12)), n_features - first
    new = np.empty(shape)
    for column in range(shape[1]):
        bounds = bounds_of(scaler, first + column)
        new[:, column] = [draw_near(draw, bounds) for _ in range(shape[0])]
    largest = LARGEST_STORED if isinstance(scaler, IdentityScaler) else LARGEST_READ
    return scaler, np.clip(new, -largest, largest), first


@settings(max_examples=300, deadline=None)
@given(
    problem=problems(),
    dtype=st.sampled_from([np.float32, np.float64]),
    source=st.sampled_from(sorted(LAYOUTS)),
    target=st.sampled_from(sorted(LAYOUTS)),
)
def test_native_scaler_equals_the_definition(problem, dtype, source, target) -> None:
    scaler, new, first = problem
    if dtype is np.float32:
        new = np.clip(new, -1e38, 1e38)
    tile = laid_out(new, source, dtype)
    check(scaler, tile, first, LAYOUTS[target](tile.shape, np.float32), threads=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(70_001, 2), (1000, 130), (3, 1000), (300, 9)])
@pytest.mark.parametrize("order", ["rows", "columns"])
def test_large_tables_are_scaled_alike_by_any_number_of_threads(kind, shape, order) -> None:
    rng = np.random.default_rng(0)
    train = np.asfortranarray(rng.standard_cauchy((200, shape[1])))
    new = rng.standard_cauchy(shape).astype(np.float32)
    new[rng.random(shape) < 0.01] = np.nan
    for threads in (1, 2):
        check(learn_scaler(kind, train), new, 0, LAYOUTS[order](shape, np.float32), threads)


@pytest.mark.parametrize("relative", [False, True])
def test_values_between_the_knots_of_a_long_column_are_interpolated(relative, monkeypatch) -> None:
    monkeypatch.setattr(ranking, "MOST_KNOTS", 50)
    values = np.random.default_rng(1).normal(size=(1000, 2))
    scaler = ranking.learn_ranks(values, relative)
    assert not scaler.complete.any()
    new = np.concatenate([values, 3 * values, [[-99.0, np.nan], [99.0, 0.0]]])
    check(scaler, new, 0, np.empty(new.shape, np.float32), threads=1)


def test_logarithm_is_the_series_to_its_last_terms_that_count() -> None:
    # Where the series converges most slowly: a wrong term rounds one in 20 000 values otherwise.
    outer = np.random.default_rng(4).uniform(1.38, 1.4142, 300_000)
    scaler = QuantileScaler(np.zeros(1), np.ones(1))
    new = -np.expm1(outer - 1.0)[:, None]
    check(scaler, new, 0, np.empty(new.shape, np.float32), threads=2)


def test_dampening_takes_logarithms() -> None:
    for distance in [0.0, 1e-9, 0.3, 1.0, 5.0, 1e6, 1e150]:
        expected = 0.01 * math.log1p(math.log1p(distance))
        assert dampen(np.array([distance]))[0] == pytest.approx(expected, rel=1e-6, abs=1e-17)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["rows", "columns"])
@pytest.mark.parametrize("n_rows", [1, 40])
def test_codes_of_nominal_columns_pass(kind, order, n_rows) -> None:
    train = np.asfortranarray(np.random.default_rng(2).normal(size=(30, 10)))
    levels = np.array([0, 3, 0, 0, 0, 0, 0, 0, 40_000, 0], np.int32)
    scaler = learn_scaler(kind, train)
    new = np.random.default_rng(3).integers(0, 40_000, (n_rows, 10)).astype(np.float64)
    for first in (0, 1, 2):
        target = LAYOUTS[order]((n_rows, 10 - first), np.float32)
        scaler.native(10).with_codes(levels).transform(new[:, first:], first, 1, target)
        expected = naive_scale(scaler, new[:, first:], slice(first, 10))
        codes = np.flatnonzero(levels[first:])
        expected[:, codes] = new[:, first:][:, codes]
        assert same_bits(target, expected)


def test_arrays_that_do_not_fit_are_refused() -> None:
    two, three = np.zeros(2), np.zeros(3)
    with pytest.raises(ValueError, match="shift and span"):
        _core.Scaler.linear(two, three, False)
    with pytest.raises(ValueError, match="low and high"):
        _core.Scaler.quantile(two, three)
    with pytest.raises(ValueError, match="levels"):
        _core.Scaler.identity(2).with_codes(np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="shapes differ"):
        _core.Scaler.identity(2).transform(np.zeros((2, 2)), 0, 1, np.zeros((3, 2), np.float32))
    target = np.zeros((2, 2), np.float32)
    for first in (1, 2**64 - 1):
        with pytest.raises(ValueError, match="beyond"):
            _core.Scaler.identity(2).transform(np.zeros((2, 2)), first, 1, target)


@pytest.mark.parametrize(
    "offset", [[0, 2], [0, 1, 3], [1, 1, 2], [0, 3, 2], [0, -1, 2], [-1, 0, 2]]
)
def test_offsets_that_lead_outside_the_knots_are_refused(offset) -> None:
    with pytest.raises(ValueError, match="offset"):
        _core.Scaler.rank(
            False,
            np.ones(2, np.int64),
            np.ones(2, np.bool_),
            np.array(offset, np.int64),
            np.zeros(2),
            np.zeros(2),
        )
