"""Numbers, text and tables as C literals: exact, compact, and safe for any labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from string import Template

import numpy as np

from bevel._types import Array

__all__ = ["code", "comment_text", "narrow", "remark", "string", "table", "text_table"]


_C_TYPES = {"f4": "float", "f8": "double"} | {
    f"{kind}{size}": f"{'u' if kind == 'u' else ''}int{8 * size}_t"
    for kind in "iu"
    for size in (1, 2, 4, 8)
}
_PER_LINE = 16
_PER_CHUNK = 2**16  # numbers formatted at once: some megabytes of text
_LONGEST_LITERAL = 4000  # bytes; C99 promises 4095
_PREFIX = re.compile(r"\b(model|MODEL)_")
# In a comment these would end it, open another, or form a trigraph.
_UNSAFE_IN_COMMENT = re.compile(r"\*(?=/)|/(?=\*)|\?(?=\?)")


def code(template: str, name: str, /, **values: object) -> str:
    """C code from a template in which `model_` stands for the prefix and `$word` for a value."""
    named = _PREFIX.sub(lambda m: _prefixed(m.group(1), name), template)
    return Template(named).substitute(values)


def _prefixed(word: str, name: str) -> str:
    return f"{name.upper() if word.isupper() else name}_"


def remark(text: str) -> str:
    """A comment of one line between parts of the file, without the user's text."""
    return f"\n/* {text} */\n"


def narrow(values: Array) -> Array:
    """Whole numbers converted to the narrowest integer type of C."""
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    kind = "i" if low < 0 else "u"
    fitting = (np.dtype(f"{kind}{size}") for size in (1, 2, 4, 8))
    dtype = next(d for d in fitting if np.iinfo(d).min <= low and high <= np.iinfo(d).max)
    return values.astype(dtype)


def table(name: str, values: Array) -> Iterator[str]:
    """A constant table, in pieces; the type is that of the array."""
    kind = _C_TYPES[values.dtype.str[1:]]
    yield f"static const {kind} {name}[{len(values)}] = {{\n"
    for start in range(0, len(values), _PER_CHUNK):
        yield from _lines(_numbers(values[start : start + _PER_CHUNK]))
    yield "};\n"


def _lines(texts: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(texts), _PER_LINE):
        yield ",".join(texts[start : start + _PER_LINE]) + ",\n"


def _numbers(values: Array) -> list[str]:
    if values.dtype.kind != "f":
        return list(map(str, values.tolist()))
    whole = (np.trunc(values) == values) & (np.abs(values) < 1e5)
    texts = np.empty(len(values), dtype=object)
    texts[whole] = list(map(str, values[whole].astype(np.int32).tolist()))
    texts[~whole] = _hexadecimal(values[~whole])
    return texts.tolist()


def _hexadecimal(values: Array) -> list[str]:
    """Exact literals such as -0x3p-4f: an odd whole number times a power of two."""
    suffix = "f" if values.dtype == np.float32 else ""
    mantissa, exponent = np.frexp(values.astype(np.float64))
    finite = np.isfinite(values)
    digits = np.where(finite, np.abs(mantissa) * 2.0**53, 1.0).astype(np.int64)
    zeros = np.frexp((digits & -digits).astype(np.float64))[1] - 1  # trailing binary zeros
    signs = np.where(np.signbit(values), "-", "").tolist()
    parts = zip(signs, (digits >> zeros).tolist(), (exponent - 53 + zeros).tolist(), strict=True)
    texts = [f"{sign}0x{odd:x}p{power}{suffix}" for sign, odd, power in parts]
    for place in np.flatnonzero(~finite):
        texts[place] = _special(float(values[place]), suffix)
    return texts


def _special(value: float, suffix: str) -> str:
    sign = "-" if value < 0 else ""
    return f"({sign}{'1.0' if value == value else '0.0'}{suffix} / 0.0{suffix})"


def string(text: str) -> str:
    """A string literal of the text in UTF-8, in printable ASCII; cut at a null character."""
    escaped = "".join(map(_ESCAPED.__getitem__, _encoded(text)))
    return f'"{escaped}"'


def _encoded(text: str) -> bytes:
    return text.partition("\0")[0].encode("utf-8", "surrogatepass")


# "?" is escaped because of trigraphs; octal escapes, unlike hexadecimal ones, have a fixed length.
_ESCAPED = [chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" for byte in range(256)]
for _byte in b"\"'\\?":
    _ESCAPED[_byte] = "\\" + chr(_byte)
_ESCAPED[ord("\n")] = "\\n"


def text_table(name: str, texts: Iterable[str]) -> Iterator[str]:
    """A table of strings; a text that is too long for a literal gets an array of its own."""
    places = []
    for number, text in enumerate(texts):
        encoded = _encoded(text)
        if len(encoded) > _LONGEST_LITERAL:
            places.append(f"{name}_{number}")
            yield f"static const char {places[-1]}[{len(encoded) + 1}] = {{\n"
            yield from _lines([f"'{_ESCAPED[byte]}'" for byte in encoded + b"\0"])
            yield "};\n"
        else:
            places.append(string(text))
    yield f"static const char *const {name}[{len(places)}] = {{\n"
    yield from (f"    {place},\n" for place in places)
    yield "};\n"


def comment_text(text: str, limit: int = 60) -> str:
    """A quoted text that is safe in a comment."""
    shown = text if len(text) <= limit else text[: limit - 3] + "..."
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown)
    return f'"{_UNSAFE_IN_COMMENT.sub(lambda m: m.group() + " ", shown)}"'
