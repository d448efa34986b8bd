"""Compact ways to write an array so that any value can be read without reading the others.

Encodings work on 64-bit words: integers as they are, floats by their bit pattern, so that NaN and
-0.0 survive. They form chains, outermost first, in which each one leaves the numbers it makes to the
next: "filled.codes.packed". Names of parts and numbers begin with the encoding they belong to.

========  =============================================================================
raw       `values`: the array itself
constant  one value throughout; number `word`
packed    `base` + numbers of `width` bits, lowest bit first, then 8 spare bytes in `values`
halves    `base` + numbers of which most are small: `low_width` low bits of all in `low`; high bits
          of those that have any in `high`, `high_width` each; both as in packed. `bitmap` has a
          bit for each number, one if it has high bits; `counts` the ones before each 512 of them,
          and in all
codes     `table` of the distinct values, frequent ones first; then their positions in it
steps     `starts`: every 64th value; then the differences of neighbours
filled    number `word` nearly everywhere; `bitmap` and `counts` of the others as in halves; then
          the others
========  =============================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core

__all__ = ["PART_TYPES", "Encoded", "candidates", "from_words", "to_words"]

Array = npt.NDArray[Any]
Words = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]

# Types of the parts; None: that of the array.
PART_TYPES: Mapping[str, str | None] = {
    "raw.values": None,
    "packed.values": "|u1",
    "halves.low": "|u1",
    "halves.high": "|u1",
    "halves.bitmap": "<u8",
    "halves.counts": "<i8",
    "codes.table": None,
    "steps.starts": "<i8",
    "filled.bitmap": "<u8",
    "filled.counts": "<i8",
}

WIDEST = 57  # bits that one 8-byte load fetches from any bit on
STRIDE = 64  # between two values that steps hold themselves
BLOCK = 512  # bits between two counts
LONGEST_TABLE = 2**16
SAMPLE = 2**15  # values looked at to judge whether a table can pay
PART_COST = 64  # bytes that a part takes beside its own: its place in the directory, alignment


@dataclass(frozen=True)
class Encoded:
    """A chain of encodings with its numbers and parts."""

    chain: str
    meta: Mapping[str, int]
    parts: Mapping[str, Array]

    @property
    def cost(self) -> int:
        """Bytes in a file."""
        return sum(part.nbytes + PART_COST for part in self.parts.values())

    def after(self, name: str, meta: Mapping[str, int], parts: Mapping[str, Array]) -> Encoded:
        """The chain with one more encoding before it."""
        own_meta = {f"{name}.{key}": number for key, number in meta.items()}
        own_parts = {f"{name}.{key}": part for key, part in parts.items()}
        chain = f"{name}.{self.chain}".rstrip(".")
        return Encoded(chain, {**own_meta, **self.meta}, {**own_parts, **self.parts})


NOTHING = Encoded("", {}, {})


def to_words(array: Array) -> Words:
    """An array of numbers as words."""
    if array.dtype.kind == "f":
        array = array.view(f"<u{array.itemsize}")
    return array.astype(np.int64)  # wraps uint64


def from_words(words: Words, dtype: np.dtype[Any]) -> Array:
    """The array of some words that came from one of that type."""
    kind = f"<u{dtype.itemsize}" if dtype.kind == "f" else dtype
    return words.astype(kind).view(dtype)


def candidates(array: Array) -> Iterator[Encoded]:
    """Encodings of an array that may be the smallest."""
    words = to_words(array)
    yield from _values(words, array.dtype)
    if len(words) > STRIDE and (words[1:] >= words[:-1]).all():
        yield from _steps(words)
    yield from _filled(words, array.dtype)


def _values(words: Words, dtype: np.dtype[Any]) -> Iterator[Encoded]:
    yield NOTHING.after("raw", {}, {"values": from_words(words, dtype)})
    yield from _numbers(words)
    yield from _codes(words, dtype)


def _numbers(words: Words) -> Iterator[Encoded]:
    """Encodings that make no further words."""
    if len(words) == 0:
        return
    base = int(words.min())
    above = words.view(np.uint64) - np.array(base, np.int64).view(np.uint64)
    width = int(above.max()).bit_length()
    if width == 0:
        yield NOTHING.after("constant", {"word": base}, {})
        return
    if width <= WIDEST:
        bits = _core.pack_bits(above, width)
        yield NOTHING.after("packed", {"base": base, "width": width}, {"values": bits})
    low_width = _best_low_width(above, width)
    if low_width is not None:
        yield _halves(above, base, low_width, width - low_width)


def _best_low_width(numbers: Numbers, width: int) -> int | None:
    """Number of low bits that makes halves smallest; None if they cannot be smaller than packed."""
    lengths = np.frexp(numbers.astype(np.float64))[1]  # one too many close below 2^54 and up
    longer = len(numbers) - np.cumsum(np.bincount(lengths, minlength=width + 1))
    sizes = {
        low: len(numbers) * (low + 1 + 64 / BLOCK) + longer[low] * (width - low)
        for low in range(1, min(width, WIDEST + 1))
        if width - low <= WIDEST
    }
    best = min(sizes, key=lambda low: sizes[low], default=None)
    return best if best is not None and sizes[best] < len(numbers) * width else None


def _halves(numbers: Numbers, base: int, low_width: int, high_width: int) -> Encoded:
    high = numbers >> np.uint64(low_width)
    has_high = high != 0
    meta = {"base": base, "low_width": low_width, "high_width": high_width}
    parts = {
        "low": _core.pack_bits(numbers, low_width),
        **_bitmap(has_high),
        "high": _core.pack_bits(high[has_high], high_width),
    }
    return NOTHING.after("halves", meta, parts)


def _codes(words: Words, dtype: np.dtype[Any]) -> Iterator[Encoded]:
    sample = words[:: max(1, len(words) // SAMPLE)]
    if len(words) < 2 or len(np.unique(sample)) > len(sample) // 2:
        return
    table = np.unique(words)
    if not 1 < len(table) <= LONGEST_TABLE:
        return
    position = np.searchsorted(table, words)
    by_frequency = np.argsort(-np.bincount(position), kind="stable")
    code = np.empty(len(table), np.int64)
    code[by_frequency] = np.arange(len(table))
    parts = {"table": from_words(table[by_frequency], dtype)}
    for inner in _numbers(code[position]):
        yield inner.after("codes", {}, parts)


def _steps(words: Words) -> Iterator[Encoded]:
    for inner in _numbers(np.diff(words)):
        yield inner.after("steps", {}, {"starts": words[::STRIDE].copy()})


def _filled(words: Words, dtype: np.dtype[Any]) -> Iterator[Encoded]:
    sample = words[:: max(1, len(words) // SAMPLE)]
    if len(sample) == 0:
        return
    seen, times = np.unique(sample, return_counts=True)
    word = seen[times.argmax()]
    is_other = words != word
    if times.max() == 1 or not is_other.any():
        return
    bitmap = _bitmap(is_other)
    for inner in _values(words[is_other], dtype):
        yield inner.after("filled", {"word": int(word)}, bitmap)


def _bitmap(mask: npt.NDArray[np.bool_]) -> dict[str, Array]:
    """Bits of a mask, and how many are set before each block."""
    in_bytes = np.packbits(mask, bitorder="little")
    words = np.zeros(-(-len(mask) // 64), "<u8")
    words.view(np.uint8)[: len(in_bytes)] = in_bytes
    starts = np.arange(0, len(mask), BLOCK)
    counts = np.add.reduceat(mask, starts, dtype=np.int64)
    return {"bitmap": words, "counts": np.concatenate(([0], np.cumsum(counts)))}
