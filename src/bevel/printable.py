"""Names and labels as text that a terminal, a log or a page can show without obeying it."""

from __future__ import annotations

import unicodedata

__all__ = ["printable"]

# Control characters, formats such as those that turn the direction of text, lone surrogates,
# private and unassigned characters, and separators of lines and paragraphs.
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def printable(text: str) -> str:
    """Text in which characters that cannot be seen are written as Python writes them: ``\\x1b``.

    Whatever text holds names, labels or paths of others goes through here before it is shown.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_seen(letter) for letter in text)


def _seen(letter: str) -> str:
    if unicodedata.category(letter) not in _UNSEEN:
        return letter
    return letter.encode("unicode_escape").decode("ascii")
