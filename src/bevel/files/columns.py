"""Compact ways to write an array so that any value can be read without reading the others.

Encodings work on 64-bit words: integers as they are, floats by their bit pattern, so that NaN and
-0.0 survive. They form chains, outermost first, in which each encoding passes the numbers it makes
to the next: "filled.codes.packed". Names of parts and numbers begin with their encoding's.

========  =============================================================================
raw       `values`: the array itself
constant  one value throughout; number `word`
packed    `base` + numbers of `width` bits, lowest bit first, then 8 spare bytes in `values`
codes     `table` of the distinct values; then their positions in it
steps     `starts`: every 64th value; then the differences of neighbours
filled    number `word` nearly everywhere; `bitmap` has a bit for each number, one for the others;
          `counts` the ones before each 512 of them, and in all; then the others
========  =============================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Array, Ints64, UInts64
from bevel.errors import ModelFileError, join_names, wrong_type
from bevel.files.layout import damaged

__all__ = [
    "LINKS",
    "PART_TYPES",
    "Column",
    "Encoded",
    "best_plan",
    "decode_column",
    "encode_column",
    "largest_decoded",
    "open_column",
]

# Types of the parts; None stands for the type of the array.
PART_TYPES: Mapping[str, str | None] = {
    "raw.values": None,
    "packed.values": "|u1",
    "codes.table": None,
    "steps.starts": "<i8",
    "filled.bitmap": "<u8",
    "filled.counts": "<i8",
}

# Numbers and parts of each encoding.
LINKS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "raw": ((), ("values",)),
    "constant": (("word",), ()),
    "packed": (("base", "width"), ("values",)),
    "codes": ((), ("table",)),
    "steps": ((), ("starts",)),
    "filled": (("word",), ("bitmap", "counts")),
}

WIDEST = 57  # bits that one 8-byte load can fetch from any bit offset
STRIDE = 64  # distance between the values that `steps` stores
BLOCK = 512  # bits between two counts
LONGEST_TABLE = 2**16
SAMPLE = 2**15  # values sampled to decide whether a table can pay
SPARE_BYTES = 8  # padding after packed numbers, for that load
PART_COST = 64  # overhead of a part in bytes: directory entry and alignment


@dataclass(frozen=True)
class Encoded:
    """A chain of encodings with its numbers and parts."""

    chain: str
    meta: Mapping[str, int]
    parts: Mapping[str, Array]

    def after(self, name: str, meta: Mapping[str, int], parts: Mapping[str, Array]) -> Encoded:
        """Return the chain with one more encoding before it."""
        own_meta = {f"{name}.{key}": number for key, number in meta.items()}
        own_parts = {f"{name}.{key}": part for key, part in parts.items()}
        chain = f"{name}.{self.chain}".rstrip(".")
        return Encoded(chain, {**own_meta, **self.meta}, {**own_parts, **self.parts})


@dataclass(frozen=True)
class EncodingPlan:
    """A planned encoding with its cost."""

    cost: int  # bytes in a file
    build: Callable[[], Encoded]


NOTHING = Encoded("", {}, {})


def best_plan(array: Array) -> EncodingPlan:
    """The smallest encoding of an array; ties go to the simplest."""
    words = _to_words(array)
    plans = [*_value_plans(words, array.dtype), _steps(words), _filled(words, array.dtype)]
    return _cheapest(plans)


def _cheapest(plans: Sequence[EncodingPlan | None]) -> EncodingPlan:
    return min((plan for plan in plans if plan is not None), key=lambda plan: plan.cost)


def _to_words(array: Array) -> Ints64:
    if array.dtype.kind == "f":
        array = array.view(f"<u{array.itemsize}")
    return array.astype(np.int64)  # wraps uint64


def _from_words(words: Ints64, dtype: np.dtype[Any]) -> Array:
    kind = f"<u{dtype.itemsize}" if dtype.kind == "f" else dtype
    return words.astype(kind).view(dtype)


def _value_plans(words: Ints64, dtype: np.dtype[Any]) -> list[EncodingPlan | None]:
    """Encodings of words in any order."""
    return [_raw(words, dtype), _numbers(words), _codes(words, dtype)]


def _raw(words: Ints64, dtype: np.dtype[Any]) -> EncodingPlan:
    def build() -> Encoded:
        return NOTHING.after("raw", {}, {"values": _from_words(words, dtype)})

    return EncodingPlan(PART_COST + len(words) * dtype.itemsize, build)


def _numbers(words: Ints64) -> EncodingPlan | None:
    """The smaller of constant and packed, which produce no further words."""
    if len(words) == 0:
        return None
    base = int(words.min())
    width = (int(words.max()) - base).bit_length()
    if width == 0:
        return EncodingPlan(0, lambda: NOTHING.after("constant", {"word": base}, {}))
    return _packed(len(words), width, lambda: _above(words, base), base)


def _above(words: Ints64, base: int) -> UInts64:
    return words.view(np.uint64) - np.array(base, np.int64).view(np.uint64)


def _packed(
    n: int, width: int, numbers: Callable[[], UInts64], base: int = 0
) -> EncodingPlan | None:
    """Plan for `n` numbers of at most `width` bits, which are computed when it is carried out."""
    if width > WIDEST:
        return None

    def build() -> Encoded:
        bits = _core.pack_bits(numbers(), width)
        return NOTHING.after("packed", {"base": base, "width": width}, {"values": bits})

    return EncodingPlan(PART_COST + (n * width + 7) // 8 + SPARE_BYTES, build)


def _codes(words: Ints64, dtype: np.dtype[Any]) -> EncodingPlan | None:
    sample = _sample(words)
    if len(words) < 2 or len(_distinct(sample)[0]) > len(sample) // 2:
        return None
    table = _distinct(words)[0]
    if not 1 < len(table) <= LONGEST_TABLE:
        return None
    width = (len(table) - 1).bit_length()
    inner = _packed(len(words), width, lambda: np.searchsorted(table, words).astype(np.uint64))
    parts = {"table": _from_words(table, dtype)}
    return inner and EncodingPlan(
        PART_COST + parts["table"].nbytes + inner.cost,
        lambda: inner.build().after("codes", {}, parts),
    )


def _steps(words: Ints64) -> EncodingPlan | None:
    if len(words) <= STRIDE or (words[1:] < words[:-1]).any():
        return None
    starts = words[::STRIDE].copy()
    inner = _numbers(np.diff(words))
    return inner and EncodingPlan(
        PART_COST + starts.nbytes + inner.cost,
        lambda: inner.build().after("steps", {}, {"starts": starts}),
    )


def _filled(words: Ints64, dtype: np.dtype[Any]) -> EncodingPlan | None:
    if len(words) == 0:
        return None
    seen, times = _distinct(_sample(words))
    word = seen[times.argmax()]
    is_other = words != word
    if times.max() == 1 or not is_other.any():
        return None
    inner = _cheapest(_value_plans(words[is_other], dtype))
    return EncodingPlan(
        _bitmap_cost(len(words)) + inner.cost,
        lambda: inner.build().after("filled", {"word": int(word)}, _bitmap(is_other)),
    )


def _bitmap_cost(n: int) -> int:
    return 2 * PART_COST + 8 * -(-n // 64) + 8 * (-(-n // BLOCK) + 1)


def _bitmap(mask: npt.NDArray[np.bool_]) -> dict[str, Array]:
    """Bits of a mask, and how many are set before each block and in all."""
    in_bytes = np.packbits(mask, bitorder="little")
    words = np.zeros(-(-len(mask) // 64), "<u8")
    words.view(np.uint8)[: len(in_bytes)] = in_bytes
    counts = np.add.reduceat(mask, np.arange(0, len(mask), BLOCK), dtype=np.int64)
    return {"bitmap": words, "counts": np.concatenate(([0], np.cumsum(counts)))}


def _sample(words: Ints64) -> Ints64:
    return words[:: max(1, len(words) // SAMPLE)]


def _distinct(words: Ints64) -> tuple[Ints64, Ints64]:
    """Distinct words in order, and how often each occurs; by a sort, which is quick on integers."""
    ordered = np.sort(words)
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return ordered[first], np.diff(first, append=len(words))


# One array as a compact column of which any value can be read without reading the others.

TYPES = ("|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8")


@dataclass(frozen=True, eq=False)
class Column:
    """An encoded array of numbers.

    Attributes
    ----------
    encoding : str
        How the values are written, such as "raw" or "filled.packed"; see above.
    dtype : str
        Type of the decoded array, one of TYPES.
    length : int
        Length of the decoded array.
    meta : mapping of str to int
        Numbers that the encoding needs, from -2^63 to 2^63 - 1.
    parts : mapping of str to ndarray
        One-dimensional little-endian arrays that hold the values; they may lie in a mapped file.
    """

    encoding: str
    dtype: str
    length: int
    meta: Mapping[str, int]
    parts: Mapping[str, Array]

    @property
    def nbytes(self) -> int:
        """Bytes of the parts."""
        return sum(part.nbytes for part in self.parts.values())

    @property
    def decoded_nbytes(self) -> int:
        """Bytes of the decoded array, as the column claims."""
        return self.length * np.dtype(self.dtype).itemsize


def encode_column(array: Array) -> Column:
    """Write an array in the smallest encoding; decoding gives the same bits."""
    dtype = array.dtype.newbyteorder("<")
    if array.ndim != 1 or dtype.str not in TYPES:
        required = "an array of one dimension of integers or of float32 or float64"
        raise wrong_type("array", required, array, "Convert it first.")
    values = np.ascontiguousarray(array, dtype=dtype)
    best = best_plan(values).build()
    return Column(best.chain, dtype.str, len(values), best.meta, best.parts)


def largest_decoded(nbytes: int) -> int:
    """Bytes that columns of `nbytes` bytes may decode to; a file that claims more is hostile.

    Forests grow by a factor of 2 to 20 when they are read; `store_columns` in `trees.py` writes
    those that would grow more with fewer columns encoded. Time and memory of operations on a forest
    are proportional to its decoded size, so this limits the cost of a small file.
    """
    return 2**22 + 32 * nbytes


def decode_column(column: Column, limit: int | None = None) -> Array:
    """Read a whole column; raises ModelFileError if it contradicts itself.

    Parameters
    ----------
    column : Column
        Column of a file that may be damaged.
    limit : int, default=None
        Bytes that it may decode to; None: bounded by the size of the column alone.
    """
    reader = open_column(column)
    limit = largest_decoded(column.nbytes) if limit is None else limit
    if column.decoded_nbytes > limit:
        raise ModelFileError(
            f"A column of {column.nbytes} bytes must decode to at most {limit} bytes; "
            f"got {column.length} values of type {column.dtype}. The file is damaged."
        )
    if column.encoding == "raw":
        values = column.parts["raw.values"]
        return values if values.flags.aligned else values.copy()
    return reader.decode().view(column.dtype)


def open_column(column: Column) -> _core.ColumnReader:
    """Reader of single values; checks the sizes of the parts in constant time."""
    _check_names(column)
    if column.dtype not in TYPES:
        raise damaged("The type of a column", f"one of {', '.join(TYPES)}", column.dtype)
    if type(column.length) is not int or not 0 <= column.length < 2**48:
        raise damaged("The length of a column", "an integer from 0 to 2^48", column.length)
    parts = {name: _bytes(name, part, column.dtype) for name, part in column.parts.items()}
    meta = {name: _integer(name, number) for name, number in column.meta.items()}
    return _core.ColumnReader(column.encoding, column.dtype, column.length, meta, parts)


def _check_names(column: Column) -> None:
    """Raise for numbers and parts that the encoding does not need, and for missing ones."""
    links = column.encoding.split(".") if isinstance(column.encoding, str) else [""]
    if not set(links) <= LINKS.keys():
        raise damaged("The encoding of a column", f"made of {', '.join(LINKS)}", column.encoding)
    for what, names, place in (("numbers", column.meta, 0), ("parts", column.parts, 1)):
        needed = {f"{link}.{name}" for link in links for name in LINKS[link][place]}
        if names.keys() != needed:
            odd = join_names(sorted(map(repr, names.keys() ^ needed)))
            required = f"those of {column.encoding}"
            raise damaged(f"The {what} of a column", required, f"{odd} too much or missing")


def _integer(name: str, number: object) -> int:
    if type(number) is not int or not -(2**63) <= number < 2**63:
        raise damaged(f"Number {name} of a column", "an integer of 64 bits", number)
    return number


def _bytes(name: str, part: Array, dtype: str) -> npt.NDArray[np.uint8]:
    required = PART_TYPES.get(name, dtype) or dtype
    if part.dtype.str != required or part.ndim != 1:
        raise damaged(f"Part {name} of a column", f"a list of type {required}", part.dtype.str)
    return np.ascontiguousarray(part).view(np.uint8)
