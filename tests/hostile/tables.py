"""Hostile tables, targets and weights, by name, size and seed."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

Rng = np.random.Generator
Maker = Callable[[Rng, int, int], Any]

MAX32, MAX64 = float(np.finfo(np.float32).max), float(np.finfo(np.float64).max)
EXTREMES = (0.0, -0.0, 1.0, MAX32, -MAX32, MAX64, -MAX64, 5e-324, 1e-45, 1e-38, 1e38, 1e154, 1e300)
BEYOND = (*EXTREMES, np.nan, np.inf, -np.inf)


def table(name: str, n_rows: int, n_columns: int, seed: int = 0) -> Any:
    """Rows of a kind."""
    return TABLES[name](np.random.default_rng(seed), n_rows, n_columns)


def target(name: str, n_rows: int, seed: int = 0) -> Any:
    """Targets of a kind."""
    return TARGETS[name](np.random.default_rng(seed), n_rows, 1)


def weights(name: str, n_rows: int, seed: int = 0) -> Any:
    """Weights of a kind."""
    return WEIGHTS[name](np.random.default_rng(seed), n_rows, 1)


def _normal(rng: Rng, n: int, p: int) -> np.ndarray:
    return rng.normal(size=(n, p)).round(3)


def _with(*values: Any) -> Maker:
    """Numbers of which some are among given ones."""

    def make(rng: Rng, n: int, p: int) -> np.ndarray:
        X = _normal(rng, n, p)
        mask = rng.random(X.shape) < rng.choice([0.02, 0.3, 1.0])
        with np.errstate(all="ignore"):
            X[mask] = rng.choice(np.array(values, float), int(mask.sum()))
        return X

    return make


def _float32(rng: Rng, n: int, p: int) -> np.ndarray:
    X = _normal(rng, n, p).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = rng.choice(
        np.array([MAX32, -MAX32, 1e-45, np.nan, 1e-38, 0.0], np.float32)
    )
    return X


def _objects(*values: Any) -> Maker:
    def make(rng: Rng, n: int, p: int) -> np.ndarray:
        X = _normal(rng, n, p).astype(object)
        for row, column in zip(*np.nonzero(rng.random(X.shape) < 0.3), strict=True):
            X[row, column] = values[rng.integers(len(values))]
        return X

    return make


def _frame(rng: Rng, n: int, p: int) -> pd.DataFrame:
    """Columns of many types, some of them without any value."""
    columns: list[Any] = [
        rng.normal(size=n),
        np.full(n, np.nan),
        pd.Series([None] * n, dtype=object),
        pd.Categorical(rng.choice(["a", "b", "é"], n)),
        pd.Categorical([None] * n, categories=["a"]),
        pd.Series(rng.choice(np.array(["u", "", "nan", None], object), n)),
        rng.integers(0, 2**62, n),
        rng.random(n) < 0.5,
        pd.array([1, None] * n, dtype="Int64")[:n],
        pd.array([True, None] * n, dtype="boolean")[:n],
        np.full(n, 7),
    ]
    chosen = rng.permutation(len(columns))[:p]
    names: list[Any] = [f"c{i}" for i in chosen]
    if rng.random() < 0.1:
        names = list(rng.choice(np.array(["", "é", "a b", "\ud800", "x" * 200]), len(chosen)))
    frame = pd.DataFrame(dict(enumerate(columns[i] for i in chosen)))
    frame.columns = pd.Index(names, dtype=object) if rng.random() < 0.9 else range(len(names))
    return frame


def _polars(rng: Rng, n: int, p: int) -> pl.DataFrame:
    columns = {
        "x": rng.normal(size=n),
        "none": pl.Series([None] * n, dtype=pl.Float64),
        "text": pl.Series(["a", None, "b"] * n)[:n],
        "level": pl.Series(["u", "v"] * n, dtype=pl.Categorical)[:n],
        "flag": pl.Series([True, None] * n)[:n],
        "nothing": pl.Series([None] * n, dtype=pl.Null),
        "count": rng.integers(0, 5, n),
    }
    chosen = rng.permutation(list(columns))[:p]
    return pl.DataFrame({name: columns[name] for name in chosen})


def _times(rng: Rng, n: int, p: int) -> pd.DataFrame:
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D")
    return pd.DataFrame({"day": days, **{f"x{i}": rng.normal(size=n) for i in range(p - 1)}})


def _dates(rng: Rng, n: int, p: int) -> Any:
    """Dates of every kind: the earliest, the latest, none, in time zones, of several libraries."""
    kind = rng.integers(6)
    far = np.array(["0001-01-01", "9999-12-31", "1970-01-01", "NaT", "2024-05-31"], "M8[D]")
    days = rng.choice(far, n)
    numbers = {f"x{i}": rng.normal(size=n) for i in range(p - 1)}
    if kind == 0:
        return np.tile(days[:, None], p)
    if kind == 1:
        return pl.DataFrame({"day": days.astype("M8[ms]"), **numbers})
    if kind == 2:
        zone = rng.choice(["UTC", "Europe/Zurich", "Asia/Kathmandu"])
        times = pd.date_range("2024-03-30", periods=n, freq="7h", tz=str(zone))
        return pd.DataFrame({"time": times.where(rng.random(n) < 0.8), **numbers})
    if kind == 3:
        own = [None if np.isnat(day) else day.astype(object) for day in days]
        return pd.DataFrame({"day": pd.Series(own, dtype=object), **numbers})
    if kind == 4:
        extremes = np.array([2**63 - 1, -(2**63) + 1, 0, 2**62], np.int64)
        return rng.choice(extremes, (n, p)).view(rng.choice(["M8[ns]", "M8[us]", "M8[s]", "M8[Y]"]))
    return pd.DataFrame({"span": pd.to_timedelta(rng.integers(0, 9, n), "h"), **numbers})


def _sparse(rng: Rng, n: int, p: int) -> Any:
    made = sp.random(n, p, 0.4, rng.choice(["csr", "csc", "coo", "lil"]), random_state=rng)
    if made.nnz and made.format in ("csr", "csc", "coo") and rng.random() < 0.3:
        made.data[0] = rng.choice(np.array(BEYOND))
    return made


def _few_values(rng: Rng, n: int, p: int) -> np.ndarray:
    return rng.integers(0, 2, (n, p)).astype(rng.choice(["f8", "f4", "i1", "u1", "i8", "?"]))


def _close(rng: Rng, n: int, p: int) -> np.ndarray:
    """Neighbouring numbers around a large one: differences near the last bit."""
    base = rng.choice([1.0, 2.0**24, 1e8, 1e15, 2.0**53, 1e300])
    return base + np.spacing(base) * rng.integers(-3, 4, (n, p))


def _read_only(rng: Rng, n: int, p: int) -> np.ndarray:
    X = (
        _normal(rng, 2 * n, 3 * p)[::2, ::-3]
        if rng.random() < 0.5
        else _normal(rng, n, p).T.copy().T
    )
    X.flags.writeable = False
    return X


def _integers(rng: Rng, n: int, p: int) -> np.ndarray:
    return rng.choice(np.array([0, 1, -1, 2**53, 2**62, -(2**63), 2**24 + 1]), (n, p))


TABLES: dict[str, Maker] = {
    "normal": _normal,
    "missing": _with(np.nan),
    "infinite": _with(np.inf, -np.inf, np.nan),
    "extreme": _with(*EXTREMES),
    "beyond": _with(*BEYOND),
    "largest": _with(MAX64, -MAX64),
    "largest float32": _with(MAX32, -MAX32, np.nan),
    "tiny": _with(5e-324, 1e-310, 1e-45, 1e-40, -1e-40, 0.0),
    "float32": _float32,
    "large": lambda rng, n, p: _normal(rng, n, p) * 10.0 ** rng.integers(20, 309),
    "small": lambda rng, n, p: _normal(rng, n, p) * 10.0 ** -rng.integers(20, 320),
    "constant": lambda rng, n, p: np.full((n, p), rng.choice([0.0, 7.5, MAX32, 1e-45, np.nan])),
    "few values": _few_values,
    "close": _close,
    "integers": _integers,
    "unsigned": lambda rng, n, p: rng.integers(0, 2**64, (n, p), np.uint64),
    "half": lambda rng, n, p: _normal(rng, n, p).astype(np.float16),
    "long double": lambda rng, n, p: (
        _normal(rng, n, p).astype(np.longdouble) * np.longdouble(1e-4000)
    ),
    "big endian": lambda rng, n, p: _normal(rng, n, p).astype(">f8"),
    "read only": _read_only,
    "objects": _objects(None, 1, True, 2.5, np.float32(3), Decimal("0.1"), Fraction(1, 3)),
    "big objects": _objects(2**63, 10**400, -(2**64)),
    "text objects": _objects("a", "", "1", b"x", None, float("nan")),
    "odd objects": _objects([1], {}, object, 1j, datetime.date(2024, 5, 31), np.array([1, 2])),
    "text": lambda rng, n, p: rng.choice(np.array(["1", "2.5", "a", ""]), (n, p)),
    "bytes": lambda rng, n, p: rng.choice(np.array([b"1", b"a"]), (n, p)),
    "complex": lambda rng, n, p: _normal(rng, n, p) + 1j,
    "masked": lambda rng, n, p: np.ma.masked_less(_normal(rng, n, p), 0),
    "matrix": lambda rng, n, p: np.asmatrix(_normal(rng, n, p)),
    "list": lambda rng, n, p: _normal(rng, n, p).tolist(),
    "ragged": lambda rng, n, p: [[1.0] * int(k) for k in rng.integers(1, p + 2, n)],
    "frame": _frame,
    "polars": _polars,
    "times": _times,
    "dates": _dates,
    "no columns": lambda _rng, n, _p: np.empty((n, 0)),
    "no rows": lambda _rng, _n, p: np.empty((0, p)),
    "one dimension": lambda rng, n, _p: _normal(rng, n, 1)[:, 0],
    "three dimensions": lambda rng, n, p: _normal(rng, n, p)[:, :, None],
    "no dimension": lambda _rng, _n, _p: np.array(1.0),
    "nothing": lambda _rng, _n, _p: None,
    "word": lambda _rng, _n, _p: "abc",
    "mapping": lambda rng, n, _p: {"a": rng.normal(size=n)},
    "sparse": _sparse,
    "structured": lambda _rng, n, _p: np.zeros(n, [("a", "f8"), ("b", "i4")]),
}


def _choice(*values: Any) -> Maker:
    def make(rng: Rng, n: int, _p: int) -> np.ndarray:
        made = np.empty(n, object)
        for row, place in enumerate(rng.integers(len(values), size=n)):
            made[row] = values[place]
        return made

    return make


def _column(dtype: str) -> Maker:
    return lambda rng, n, _p: rng.integers(0, 3, n).astype(dtype)


def _outputs(rng: Rng, n: int) -> pd.DataFrame:
    """Outputs of several types, by name."""
    columns = {
        "word": rng.choice(["no", "perhaps", "yes"], n),
        "number": rng.integers(0, 3, n),
        "same": np.full(n, "x"),
        "\x1b[31m": rng.random(n) < 0.5,
    }
    chosen = rng.permutation(list(columns))[: rng.integers(2, 5)]
    return pd.DataFrame({name: columns[name] for name in chosen})


TARGETS: dict[str, Maker] = {
    "numbers": lambda rng, n, _p: rng.normal(size=n),
    "two": lambda rng, n, _p: rng.integers(0, 2, n),
    "positive": lambda rng, n, _p: rng.exponential(size=n),
    "within the limit": lambda rng, n, _p: rng.choice([1e60, -1e60, 9e59, 0.0], n),
    "counts": lambda rng, n, _p: rng.choice([0.0, 1.0, 1e15, 1e60], n),
    "three": lambda rng, n, _p: rng.integers(0, 3, n) - 1,
    "words": lambda rng, n, _p: rng.choice(["no", "perhaps", "yes"], n),
    "one": lambda _rng, n, _p: np.full(n, 4),
    "each its own": lambda _rng, n, _p: np.arange(n),
    "flags": lambda rng, n, _p: rng.random(n) < 0.5,
    "large": lambda rng, n, _p: rng.choice([MAX64, -MAX64, 0.0, 1e300], n),
    "large alike": lambda rng, n, _p: MAX64 * (1 - rng.random(n) * 1e-10),
    "tiny": lambda rng, n, _p: rng.choice([5e-324, -5e-324, 0.0, 1e-310], n),
    "offset": lambda rng, n, _p: 1e15 + rng.normal(size=n),
    "far apart": lambda rng, n, _p: 10.0 ** rng.uniform(-300, 300, n),
    "float32": lambda rng, n, _p: rng.normal(size=n).astype(np.float32),
    "missing": lambda rng, n, _p: np.where(rng.random(n) < 0.3, np.nan, 1.0),
    "infinite": lambda rng, n, _p: np.where(rng.random(n) < 0.3, np.inf, 1.0),
    "objects": _choice("a", "b", "c"),
    "mixed": _choice("a", 1, 2.5),
    "none": _choice("a", None),
    "big": _choice(2**63, 10**30, 10**400),
    "equal": _choice(1, 1.0, True),
    "dates": lambda rng, n, _p: np.datetime64("2024-05-31") + rng.integers(0, 3, n),
    "bytes": lambda rng, n, _p: rng.choice(np.array([b"u", b"v"]), n),
    "unsigned": lambda rng, n, _p: rng.integers(2**64 - 3, 2**64, n, np.uint64),
    "int8": _column("i1"),
    "half": _column("f2"),
    "complex": lambda rng, n, _p: rng.normal(size=n) + 1j,
    "column": lambda rng, n, _p: rng.integers(0, 2, (n, 1)),
    "two columns": lambda rng, n, _p: rng.integers(0, 2, (n, 2)),
    "several numbers": lambda rng, n, _p: rng.normal(size=(n, 3)),
    "several words": lambda rng, n, _p: _outputs(rng, n).to_numpy(),
    "frame": lambda rng, n, _p: _outputs(rng, n),
    "several extremes": lambda rng, n, _p: rng.choice([1e60, -1e60, 5e-324, 0.0, 1e61], (n, 2)),
    "several beyond": lambda rng, n, _p: rng.choice([MAX64, np.nan, np.inf, 1.0], (n, 2)),
    "several alike": lambda _rng, n, _p: np.tile([[4.0, 7.0]], (n, 1)),
    "many": lambda rng, n, _p: rng.integers(0, 2, (n, 200)),
    "no outputs": lambda _rng, n, _p: np.empty((n, 0)),
    "cube": lambda rng, n, _p: rng.integers(0, 2, (n, 2, 2)),
    "short": lambda rng, n, _p: rng.integers(0, 2, max(0, n - 1)),
    "empty": lambda _rng, _n, _p: np.empty(0),
    "nothing": lambda _rng, _n, _p: None,
    "word": lambda _rng, _n, _p: "abc",
    "list": lambda rng, n, _p: rng.integers(0, 2, n).tolist(),
    "series": lambda rng, n, _p: pd.Series(rng.integers(0, 2, n), index=range(n, 0, -1)),
    "levels": lambda rng, n, _p: pd.Series(pd.Categorical(rng.choice(["a", "b"], n))),
    "nullable": lambda _rng, n, _p: pd.Series([1, None] * n, dtype="Int64")[:n],
    "polars": lambda rng, n, _p: pl.Series(rng.integers(0, 2, n)),
}


def _weights_with(*values: float) -> Maker:
    return lambda rng, n, _p: rng.choice(np.array(values), n)


WEIGHTS: dict[str, Maker] = {
    "ones": lambda _rng, n, _p: np.ones(n),
    "counts": lambda rng, n, _p: rng.integers(0, 4, n),
    "reals": lambda rng, n, _p: rng.random(n),
    "mostly zero": lambda _rng, n, _p: np.r_[1.0, np.zeros(max(0, n - 1))][:n],
    "zeros": lambda _rng, n, _p: np.zeros(n),
    "negative": _weights_with(-1.0, 1.0),
    "large": _weights_with(MAX64, 0.0, MAX64),
    "huge": _weights_with(1e300, 1e-300, 1e308),
    "float32 and up": _weights_with(MAX32, 2 * MAX32, 1.0),
    "tiny": _weights_with(5e-324, 1e-310, 0.0),
    "small": _weights_with(1e-200, 1e-45),
    "apart": lambda rng, n, _p: 10.0 ** rng.uniform(-300, 300, n),
    "many": _weights_with(2.0**53, 2.0**31, 2.0**32, 1.0),
    "missing": _weights_with(np.nan, 1.0),
    "infinite": _weights_with(np.inf, 1.0),
    "short": lambda _rng, n, _p: np.ones(max(0, n - 1)),
    "words": lambda _rng, n, _p: np.array(["a"] * n),
    "objects": _choice(None, 1),
    "column": lambda _rng, n, _p: np.ones((n, 1)),
    "number": lambda _rng, _n, _p: 2.0,
    "flags": lambda rng, n, _p: rng.random(n) < 0.7,
    "complex": lambda _rng, n, _p: np.ones(n) * 1j,
}
