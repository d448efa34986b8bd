"""Rows, targets and weights of odd types, and those of which something is missing."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Rng = np.random.Generator
Column = Callable[[Rng, int], Any]


def odd_table(name: str, n_rows: int, n_columns: int, seed: int = 0) -> Any:
    """Rows of a kind."""
    return ODD_TABLES[name](np.random.default_rng(seed), n_rows, n_columns)


def odd_target(name: str, n_rows: int, seed: int = 0) -> Any:
    """Targets of a kind, sound ones or with something missing."""
    return {**ODD_COLUMNS, **MISSING}[name](np.random.default_rng(seed), n_rows)


def odd_weights(name: str, n_rows: int, seed: int = 0) -> Any:
    """Weights of a kind."""
    return {**ODD_COLUMNS, **MISSING}[name](np.random.default_rng(seed), n_rows)


def _objects(values: Sequence[Any]) -> np.ndarray:
    made = np.empty(len(values), object)
    for place, value in enumerate(values):
        made[place] = value
    return made


def _some_of(*values: Any) -> Column:
    return lambda rng, n: _objects([values[i] for i in rng.integers(len(values), size=n)])


def _and_one(value: Any, *others: Any) -> Column:
    """Some values, and one that is there for sure."""

    def make(rng: Rng, n: int) -> np.ndarray:
        made = _some_of(*others)(rng, n)
        made[rng.integers(n)] = value
        return made

    return make


def _series(make: Column, dtype: Any) -> Column:
    return lambda rng, n: pd.Series(make(rng, n), dtype=dtype)


def _days(rng: Rng, n: int, dtype: str = "M8[ns]") -> np.ndarray:
    return rng.integers(0, 5, n).astype("M8[D]").astype(dtype)


def _masked(rng: Rng, n: int) -> np.ma.MaskedArray:
    return np.ma.masked_array(rng.integers(0, 3, n), np.arange(n) == rng.integers(n))


def _structured(rng: Rng, n: int) -> np.ndarray:
    made = np.zeros(n, [("a", "f8"), ("b", "U3")])
    made["a"] = rng.normal(size=n)
    return made


def _mixed_frame(rng: Rng, n: int, p: int) -> pd.DataFrame:
    """Columns of odd types."""
    makers = list(ODD_COLUMNS.values()) + list(MISSING.values())
    chosen = rng.integers(len(makers), size=p)
    columns = [_series_of(_flat(makers[i](rng, n), n)) for i in chosen]
    return pd.concat(columns, axis=1, keys=[f"c{i}" for i in range(p)])


def _flat(values: Any, n: int) -> Any:
    """Values that a column of a frame can hold."""
    if isinstance(values, pl.Series | pa.Array | pa.ChunkedArray):
        return _objects(values.to_pylist() if hasattr(values, "to_pylist") else values.to_list())
    if isinstance(values, np.ndarray) and (values.ndim != 1 or values.dtype.names):
        return _objects([None] * n)
    return values


def _series_of(values: Any) -> pd.Series:
    """A series of values as they are, text not made into another type."""
    is_object = isinstance(values, np.ndarray) and values.dtype == object
    return pd.Series(values, dtype=object if is_object else None)


def _twice(rng: Rng, n: int, p: int) -> pd.DataFrame:
    """A frame of which two columns have one name."""
    frame = pd.DataFrame(rng.normal(size=(n, p + 1)))
    return frame.set_axis(["a", *(f"c{i}" for i in range(p - 1)), "a"], axis=1)


def _multi_index(rng: Rng, n: int, p: int) -> pd.DataFrame:
    frame = pd.DataFrame(rng.normal(size=(n, p)))
    return frame.set_axis(pd.MultiIndex.from_product([["a"], range(p)]), axis=1)


def _masked_table(rng: Rng, n: int, p: int) -> np.ma.MaskedArray:
    X = rng.normal(size=(n, p)).round(2)
    hidden = rng.random(X.shape) < 0.3
    X[hidden] = rng.choice([1e20, 0.0, np.nan, np.inf])
    return np.ma.masked_array(X, hidden)


def _odd_names(rng: Rng, n: int, p: int) -> pd.DataFrame:
    names = ["\0", "\ud800", "", " ", "a\nb", 0, 1.5, None, ("t",), True, "x" * 2000, np.nan]
    frame = pd.DataFrame(rng.normal(size=(n, p)))
    return frame.set_axis(
        pd.Index(_objects(names)[rng.permutation(len(names))[:p]], dtype=object), axis=1
    )


def _arrow(rng: Rng, n: int, p: int) -> Any:
    kinds = [
        pa.array(rng.normal(size=n).astype(np.float16)),
        pa.array([Decimal("1.5"), None] * n, pa.decimal128(5, 2))[:n],
        pa.array([[1.0], None] * n)[:n],
        pa.array([{"a": 1}] * n)[:n],
        pa.array([b"\xff", None] * n, pa.binary())[:n],
        pa.array(["a", "\0"] * n, pa.large_string())[:n],
        pa.nulls(n),
        pa.array([datetime.time(1), None] * n)[:n],
        pa.array([2**64 - 1] * n, pa.uint64()),
        pa.array(["a", None] * n).dictionary_encode()[:n],
        pa.array([datetime.timedelta(1)] * n),
    ]
    chosen = rng.permutation(len(kinds))[:p]
    return pa.table([kinds[i] for i in chosen], [f"c{i}" for i in chosen])


# Columns without anything missing.
ODD_COLUMNS: dict[str, Column] = {
    "half": lambda rng, n: rng.integers(0, 3, n).astype(np.float16),
    "half beyond": lambda rng, n: rng.choice(np.array([65504.0, 6e-8, 0.0], np.float16), n),
    "long double": lambda rng, n: rng.normal(size=n).astype(np.longdouble),
    "unsigned": lambda rng, n: (2**53 + rng.integers(0, 3, n)).astype(np.uint64),
    "unsigned end": lambda rng, n: np.uint64(2**64 - 1) - rng.integers(0, 3, n).astype(np.uint64),
    "complex": lambda rng, n: rng.integers(0, 3, n) + 1j,
    "decimals": _some_of(Decimal(1), Decimal("0.1"), Decimal("1e400"), Decimal("-0")),
    "fractions": _some_of(Fraction(1, 3), Fraction(10**400, 3), Fraction(0)),
    "nonnumbers": _some_of(Decimal("sNaN"), Decimal("Infinity"), Decimal(2)),
    "days": _days,
    "months": lambda rng, n: _days(rng, n, "M8[M]"),
    "generic dates": lambda _rng, n: np.zeros(n, "M8[s]"),
    "zones": lambda rng, n: pd.Series(_days(rng, n)).dt.tz_localize("Asia/Kathmandu"),
    "spans": lambda rng, n: rng.integers(0, 3, n).astype("m8[h]"),
    "spans of pandas": lambda rng, n: pd.to_timedelta(rng.integers(0, 3, n), "h"),
    "earliest": _some_of(pd.Timestamp.min, pd.Timestamp.max, pd.Timestamp(0)),
    "periods": lambda rng, n: pd.Series(pd.PeriodIndex(_days(rng, n), freq="D")),
    "intervals": lambda rng, n: pd.Series(pd.cut(rng.normal(size=n), [-9, 0, 9]).astype(object)),
    "bins": lambda rng, n: pd.Series(pd.cut(rng.normal(size=n), [-9, 0, 9])),
    "levels": lambda rng, n: pd.Categorical(rng.integers(0, 2, n), categories=[2, 1, 0]),
    "times": _some_of(datetime.time(1), datetime.time(2)),
    "dates of Python": _some_of(datetime.date(1, 1, 1), datetime.date(9999, 12, 31)),
    "dates and moments": _some_of(datetime.date(2024, 5, 31), datetime.datetime(2024, 5, 31)),
    "mixed zones": _some_of(pd.Timestamp(0, tz="UTC"), pd.Timestamp(0)),
    "zeros in text": _some_of("a", "a\0", "a\0b", "\0", ""),
    "fixed text": lambda rng, n: rng.choice(np.array(["a", "a\0b", ""]), n),
    "halves of characters": _some_of("\ud800", "\udfff", "a"),
    "text of pandas": _series(_some_of("a", "b"), "string"),
    "text of arrow": _series(_some_of("a", "b"), "string[pyarrow]"),
    "bytes": _some_of(b"a", b"\xff\0", b""),
    "long text": _some_of("x" * 70_000, "y"),
    "mixture": _some_of("a", 1, 2.5, True, b"b"),
    "lists": _some_of([1], [1, 2], []),
    "tuples": _some_of((1,), (1, 2)),
    "sets": _some_of({1}, set()),
    "mappings": _some_of({}, {"a": 1}),
    "functions": _some_of(len, print),
    "objects of NumPy": _some_of(np.float32(1), np.int8(2), np.datetime64("2024-05-31")),
    "whole and real": _some_of(2**53 + 1, float(2**53), 2**64),
    "flags of pandas": _series(_some_of(True, False), "boolean"),
    "numbers of pandas": _series(_some_of(1, 2), "UInt8"),
    "numbers of arrow": _series(_some_of(1.5, 2.0), "double[pyarrow]"),
    "sparse of pandas": lambda rng, n: pd.Series(pd.arrays.SparseArray(rng.integers(0, 2, n))),
    "polars": lambda rng, n: pl.Series(rng.integers(0, 2, n)),
    "levels of polars": lambda rng, n: pl.Series(rng.choice(["u", "v"], n), dtype=pl.Categorical),
    "array of arrow": lambda rng, n: pa.array(rng.integers(0, 3, n)),
    "structured": _structured,
    "void": lambda _rng, n: np.zeros(n, "V4"),
    "no columns": lambda _rng, n: np.empty((n, 0)),
    "nothing": lambda _rng, _n: np.empty((0, 0)),
    "scalar": lambda _rng, _n: np.float64(1.0),
    "generator": lambda rng, n: iter(rng.integers(0, 2, n).tolist()),
    "range": lambda _rng, n: range(n),
    "repeats": lambda rng, n: itertools.islice(itertools.cycle([0, 1]), int(n + rng.integers(2))),
    "strided": lambda rng, n: rng.integers(0, 3, 3 * n)[::-3],
    "read only": lambda rng, n: np.broadcast_to(rng.integers(0, 3), n),
    "masked, none": lambda rng, n: np.ma.masked_array(rng.integers(0, 3, n)),
}
# Columns with a value that is missing: no target, and no weight.
MISSING: dict[str, Column] = {
    "NaT": lambda rng, n: np.r_[_days(rng, n - 1), np.array(["NaT"], "M8[ns]")],
    "NaT of days": lambda rng, n: np.r_[_days(rng, n - 1, "M8[D]"), np.array(["NaT"], "M8[D]")],
    "NaT of spans": lambda rng, n: np.r_[
        rng.integers(0, 3, n - 1).astype("m8[s]"), np.array(["NaT"], "m8[s]")
    ],
    "NaT of pandas": _series(_and_one(pd.NaT, pd.Timestamp(0), pd.Timestamp(10**18)), "M8[ns]"),
    "NaT of zones": _series(_and_one(pd.NaT, pd.Timestamp(0, tz="UTC")), "datetime64[ns, UTC]"),
    "NaT of objects": _and_one(pd.NaT, pd.Timestamp(0), pd.Timestamp(10**18)),
    "NaT of NumPy objects": _and_one(np.datetime64("NaT"), np.datetime64("2024-05-31")),
    "NA": _and_one(pd.NA, 0, 1),
    "NA of numbers": _series(_and_one(pd.NA, 0, 1), "Int64"),
    "NA of reals": _series(_and_one(pd.NA, 0.5, 1.5), "Float64"),
    "NA of flags": _series(_and_one(pd.NA, True, False), "boolean"),
    "NA of text": _series(_and_one(pd.NA, "a", "b"), "string"),
    "None of text": _and_one(None, "a", "b"),
    "None of numbers": _and_one(None, 1, 2),
    "NaN of text": _and_one(float("nan"), "a", "b"),
    "NaN of reals": lambda rng, n: np.r_[rng.normal(size=n - 1), np.nan],
    "NaN of halves": lambda rng, n: np.r_[rng.normal(size=n - 1), np.nan].astype(np.float16),
    "NaN of decimals": _and_one(Decimal("NaN"), Decimal(1), Decimal(2)),
    "missing level": lambda rng, n: pd.Categorical.from_codes(
        np.r_[rng.integers(0, 2, n - 1), -1], ["a", "b"]
    ),
    "missing period": lambda rng, n: pd.Series(
        pd.PeriodIndex(np.r_[_days(rng, n - 1), np.array(["NaT"], "M8[ns]")], freq="D")
    ),
    "missing of polars": lambda rng, n: pl.Series([*rng.integers(0, 2, n - 1).tolist(), None]),
    "missing of arrow": lambda rng, n: pa.array([*rng.integers(0, 2, n - 1).tolist(), None]),
    "masked": _masked,
    "masked reals": lambda rng, n: np.ma.masked_array(rng.normal(size=n), np.arange(n) == 0),
    "masked text": lambda rng, n: np.ma.masked_array(rng.choice(["a", "b"], n), np.arange(n) == 0),
}


def _as_table(make: Column) -> Callable[[Rng, int, int], Any]:
    """A column beside others, as an array of objects or a frame."""

    def table(rng: Rng, n: int, p: int) -> Any:
        column = _flat(make(rng, n), n)
        others = {f"x{i}": rng.normal(size=n) for i in range(p - 1)}
        if not hasattr(column, "__len__") or len(column) != n:
            return column
        frame = pd.DataFrame({"odd": _series_of(column), **others})
        return frame if rng.random() < 0.7 else frame.to_numpy()

    return table


ODD_TABLES: dict[str, Callable[[Rng, int, int], Any]] = {
    **{name: _as_table(make) for name, make in {**ODD_COLUMNS, **MISSING}.items()},
    "mixed frame": _mixed_frame,
    "one name twice": _twice,
    "names of two levels": _multi_index,
    "odd names": _odd_names,
    "masked table": _masked_table,
    "arrow": _arrow,
    "no columns at all": lambda _rng, n, _p: pd.DataFrame(index=range(n)),
    "no rows at all": lambda _rng, _n, p: pd.DataFrame(np.empty((0, p))),
    "dates in two dimensions": lambda rng, n, p: _days(rng, n * p).reshape(n, p),
    "complex numbers": lambda rng, n, p: rng.normal(size=(n, p)) + 1j * rng.normal(),
    "four dimensions": lambda _rng, n, p: np.zeros((n, p, 1, 0)),
}
