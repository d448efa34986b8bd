"""Text to show: names without control characters, and the one rule for numbers."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

__all__ = ["grouped", "json_escaped", "number", "printable", "rounded", "shorten_names"]

# Control characters, formats such as those that turn the direction of text, lone surrogates,
# private and unassigned characters, and separators of lines and paragraphs.
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINERS = "\u200c\u200d"  # parts of words in some scripts, and of emoji


def printable(text: str) -> str:
    """Text in which characters that cannot be seen are written as Python writes them: ``\\x1b``.

    Whatever text holds names, labels or paths of others goes through here before it is shown.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_seen(letter) for letter in text)


MINUS = "−"
_LARGE, _SMALL = 1e9, 1e-4  # numbers beyond are written with an exponent
_LONG = 10_000  # numbers from here on have separators: years have none


def number(value: float, spread: float | None = None, *, digits: int = 4) -> str:
    """A number as people read it, on pages, in text and in pictures.

    It has four significant digits and all those before the decimal point, or as many decimals as
    its column needs. Numbers from 10,000 on have separators, those from a billion on and below
    0.0001 an exponent. The minus sign is U+2212.

    Parameters
    ----------
    value : float
        The number.
    spread : float, optional
        Spread of the column that it is of, of which a hundredth at most is rounded away.
    digits : int, default=4
        Significant digits if there is no spread; fewer than four are kept in large numbers too.

    Examples
    --------
    >>> number(17329.4), number(2015.0), number(-0.00413), number(-122.2571, spread=0.14)
    ('17,329', '2015', '−0.00413', '−122.257')
    >>> number(186.3, digits=2), number(31_480_000_000.0), number(0.00001234)
    ('190', '3.148e10', '1.234e−5')
    """
    value = float(value)
    if not math.isfinite(value):
        return str(value).replace("-", MINUS)
    if spread is not None and 0.0 < spread < math.inf:
        decimals = max(0, 2 - math.floor(math.log10(spread)))
        value = round(value, decimals)
    else:
        decimals = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
        decimals = max(decimals, 0) if digits >= 4 else decimals
        value = round(value, decimals)
    if value == 0.0:
        return "0"
    if not _SMALL <= abs(value) < _LARGE:
        mantissa, exponent = f"{value:.{max(digits, 4) - 1}e}".split("e")
        text = f"{_without_zeros(mantissa)}e{int(exponent)}"
    else:
        text = _without_zeros(grouped(value, min(max(decimals, 0), 20)))
    return text.replace("-", MINUS)


def rounded(value: float, digits: int) -> str:
    """A number to so many significant digits, as `number` writes it, with a hyphen as minus sign.

    >>> rounded(186.3, 2), rounded(30244.0, 4), rounded(0.00413, 2), rounded(1.234e9, 2)
    ('190', '30,244', '0.0041', '1.2e9')
    """
    few = float(f"{value:.{digits}g}") if digits < 4 and math.isfinite(value) else value
    return number(few, digits=digits).replace(MINUS, "-")


def grouped(value: float, decimals: int) -> str:
    """A number with so many decimals, and separators if it is long; a hyphen as minus sign.

    >>> grouped(17329.4, 0), grouped(2015.0, 1)
    ('17,329', '2015.0')
    """
    return f"{value:,.{decimals}f}" if abs(value) >= _LONG else f"{value:.{decimals}f}"


def _without_zeros(text: str) -> str:
    return text.rstrip("0").removesuffix(".") if "." in text else text


def shorten_names(names: Sequence[str], longest: int) -> list[str]:
    """Names side by side, long ones shortened where they do not differ.

    What all long names begin and end with is left out first; then the middle of each.

    >>> shorten_names(["a rather long measurement, mean", "a rather long measurement, error"], 16)
    ['…mean', '…error']
    >>> shorten_names(["the first of many words", "another"], 16)
    ['the first …words', 'another']
    """
    long = [name for name in names if len(name) > longest]
    if len(set(long)) > 1:
        start = _boundary(_common(long))
        end = _boundary(_common([name[start:][::-1] for name in long]))
        cut = {
            name: ("…" if start > 3 else name[:start])
            + name[start : len(name) - end]
            + ("…" if end > 3 else name[len(name) - end :])
            for name in long
        }
    else:
        cut = {name: name for name in long}
    short = {name: _without_middle(text, longest) for name, text in cut.items()}
    if len(set(short.values())) < len(short):
        short = {name: _without_middle(text, 2 * longest) for name, text in cut.items()}
    return [short.get(name, name) for name in names]


def _common(names: Sequence[str]) -> str:
    """The beginning that all names share."""
    first, last = min(names), max(names)
    pairs = zip(first, last, strict=False)
    return first[: next((i for i, (a, b) in enumerate(pairs) if a != b), len(first))]


def _boundary(common: str) -> int:
    """Length of the part of a common beginning that ends between words."""
    for length in range(len(common), 0, -1):
        if not common[length - 1].isalnum():
            return length
    return 0


def _without_middle(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    end = longest // 3
    return f"{name[: longest - end - 1]}…{name[-end:]}"


def json_escaped(text: str) -> str:
    """A JSON document of the same value in which no character is unseen; line breaks stay."""
    return "".join(c if c == "\n" or _is_seen(c) else _json_escape(c) for c in text)


def _is_seen(letter: str) -> bool:
    return unicodedata.category(letter) not in _UNSEEN or letter in _JOINERS


def _seen(letter: str) -> str:
    return letter if _is_seen(letter) else letter.encode("unicode_escape").decode("ascii")


def _json_escape(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
