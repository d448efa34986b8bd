"""Columns give back the bits that went in, as a whole and value by value, on arrays that Hypothesis
makes up; columns that were tampered with give an error or an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bevel import _core
from bevel.errors import ModelFileError
from bevel.files import columns
from bevel.files.columns import TYPES, Column, decode_column, encode_column, open_column

LENGTHS = (0, 1, 2, 63, 64, 65, 511, 512, 513, 700)
ODD_FLOATS = (0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e-45, 3.5, 1e30)


@pytest.fixture(scope="module", autouse=True)
def _parts_cost_nothing() -> Iterator[None]:
    """Short arrays would all be written as they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "PART_COST", 0)
        yield


def arrays_like(rng: np.random.Generator, kind: str, n: int, shape: str) -> np.ndarray:
    """Arrays as forests have them: few values, noise, holes in it, outliers, offsets."""
    dtype = np.dtype(kind)
    noise = np.frombuffer(rng.bytes(n * dtype.itemsize), dtype)
    if dtype.kind == "f":
        some = np.array(ODD_FLOATS).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        some = np.array([0, 1, 1, 2, 3, 5, 100, limits.min, limits.max], dtype)
    few = rng.choice(rng.choice(some, rng.integers(1, 6)), n)
    share = {"few": 0.0, "noise": 1.0, "holes": 0.5, "outliers": 0.02, "offsets": 0.1}[shape]
    values = np.where(rng.random(n) < share, noise, few)
    if shape == "offsets" and dtype.kind != "f":
        return np.cumsum(rng.integers(0, 4, n) + 100 * (rng.random(n) < 0.03)).astype(dtype)
    return values


SHAPES = ("few", "noise", "holes", "outliers", "offsets")
CONTENTS = st.builds(
    lambda seed, *how: arrays_like(np.random.default_rng(seed), *how),
    st.integers(0, 2**32),
    st.sampled_from(TYPES),
    st.sampled_from(LENGTHS),
    st.sampled_from(SHAPES),
)


@settings(max_examples=400)
@given(values=CONTENTS)
def test_column_gives_back_the_same_bits(values: np.ndarray) -> None:
    column = encode_column(values)
    back = decode_column(column)
    assert back.dtype == values.dtype
    assert back.tobytes() == values.tobytes()


def words_of(values: np.ndarray) -> np.ndarray:
    """Integers as they are, floats by their bits."""
    kind = f"<u{values.itemsize}" if values.dtype.kind == "f" else values.dtype
    return values.view(kind).astype(np.int64)


@settings(max_examples=200)
@given(values=CONTENTS)
def test_single_values_are_those_of_the_whole(values: np.ndarray) -> None:
    reader = open_column(encode_column(values))
    assert [reader.at(i) for i in range(len(values))] == words_of(values).tolist()
    with pytest.raises(ModelFileError, match="index"):
        reader.at(len(values))


@settings(max_examples=200)
@given(values=CONTENTS)
def test_column_is_never_larger_than_the_array(values: np.ndarray) -> None:
    assert encode_column(values).nbytes <= values.nbytes


def test_all_encodings_take_part() -> None:
    """The tests above are about nothing if one of them is never chosen."""
    rng = np.random.default_rng(0)
    at = rng.random(5000)
    few = rng.choice(np.array([0.1, 0.2, 0.3, 0.4], "f4"), 5000)
    noise = np.frombuffer(rng.bytes(20_000), "f4")
    small = rng.integers(0, 8, 5000)
    by_encoding = {
        "raw": noise,
        "constant": np.full(5000, np.nan),
        "packed": small,
        "codes.packed": few,
        "steps.constant": np.arange(5000) * 3,
        "steps.packed": np.cumsum(small),
        "filled.raw": np.where(at < 0.5, 0, noise),
        "filled.packed": np.where(at < 0.5, -1, small + 2**40),
        "filled.codes.packed": np.where(at < 0.6, np.float32(-0.0), few),
    }
    encoded = {name: encode_column(values) for name, values in by_encoding.items()}
    assert [column.encoding for column in encoded.values()] == list(by_encoding)
    for name, column in encoded.items():
        assert decode_column(column).tobytes() == by_encoding[name].tobytes()


LINKS = ("raw", "constant", "packed", "codes", "steps", "filled", "", "ra")


def damaged(rng: np.random.Generator, column: Column) -> Column:
    """The column with one number of its description, or one byte of its parts, changed."""
    meta, parts = dict(column.meta), dict(column.parts)
    anything = int(rng.choice([rng.integers(-3, 70), rng.integers(-(2**63), 2**63 - 1)]))
    what = rng.choice(["meta", "bytes", "size", "length", "chain"], p=[0.3, 0.4, 0.1, 0.1, 0.1])
    if what == "meta" and meta:
        meta[str(rng.choice(sorted(meta)))] = anything
    elif what == "length":
        column = replace(column, length=anything)
    elif what == "chain":
        column = replace(column, encoding=".".join(rng.choice(LINKS, rng.integers(1, 4))))
    elif parts:
        name = str(rng.choice(sorted(parts)))
        parts[name] = parts[name].copy()
        if what == "size":
            parts[name] = parts[name][: rng.integers(0, 4)]
        elif parts[name].nbytes:
            place = rng.integers(parts[name].nbytes)
            parts[name].view(np.uint8)[place] = rng.integers(256)
    return replace(column, meta=meta, parts=parts)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["|u1", "<i4", "<i8", "<f4", "<f8"])
def test_damaged_column_gives_an_error_or_values(kind: str, shape: str) -> None:
    rng = np.random.default_rng([TYPES.index(kind), SHAPES.index(shape)])
    n_errors = 0
    for _ in range(10):
        column = encode_column(arrays_like(rng, kind, int(rng.choice(LENGTHS)), shape))
        n_errors += sum(raises_or_is_consistent(damaged(rng, column)) for _ in range(20))
    assert 10 < n_errors < 190


def raises_or_is_consistent(column: Column) -> bool:
    """Whether it raises as it is opened or read; values that can be read are the same both ways."""
    try:
        reader = open_column(column)
    except ModelFileError:
        return True
    places = [*range(0, min(column.length, 900), 7), max(column.length - 1, 0)]
    one_by_one = [value_at(reader, i) for i in places]
    try:
        values = decode_column(column)
    except ModelFileError:
        return True
    assert values.dtype.str == column.dtype
    assert len(values) == column.length
    # What decodes reads alike value by value: the walk over a mapped file sees the same forest.
    words = words_of(values)
    assert one_by_one == [int(words[i]) if i < len(words) else None for i in places]
    return False


@pytest.mark.parametrize(
    ("shape", "part", "place"),
    [
        ("holes", "filled.counts", 0),
        ("holes", "filled.counts", 1),
        ("holes", "filled.bitmap", 10),  # bits beyond the last value
        ("offsets", "steps.starts", 0),
        ("offsets", "steps.starts", 10),
    ],
)
def test_checkpoints_that_contradict_the_values_are_found(
    shape: str, part: str, place: int
) -> None:
    rng = np.random.default_rng(0)
    values = {
        "holes": np.where(rng.random(700) < 0.5, rng.integers(0, 2**40, 700), -1),
        "offsets": np.cumsum(rng.integers(0, 8, 700)),
    }[shape]
    column = encode_column(values)
    damaged_part = column.parts[part].copy()
    damaged_part.view(np.uint8)[8 * place + (7 if "bitmap" in part else 0)] ^= 0x80
    with pytest.raises(ModelFileError, match=r"counts must|starts must"):
        decode_column(replace(column, parts={**column.parts, part: damaged_part}))


def value_at(reader: _core.ColumnReader, i: int) -> int | None:
    try:
        return reader.at(i)
    except ModelFileError:
        return None
