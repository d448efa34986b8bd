"""Text to show: names without control characters, numbers without needless exponents."""

from __future__ import annotations

import unicodedata

__all__ = ["json_escaped", "printable", "rounded"]

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


def rounded(value: float, digits: int) -> str:
    """A number to so many significant digits; an exponent from 10 million on and below 0.0001.

    >>> rounded(186.3, 2), rounded(30244.0, 4), rounded(0.00413, 2), rounded(1.234e9, 2)
    ('190', '30240', '0.0041', '1.2e+09')
    """
    few = f"{value:.{digits}g}"
    return few if abs(value) >= 1e7 else f"{float(few):.7g}"


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
