"""Replaces characters that the terminal cannot print, such as Windows in code page 1252."""

import codecs
import io
import sys
from typing import TextIO

__all__ = ["write_any_text"]

PLAIN = "bevel_plain"
_INSTEAD = {
    "−": "-",
    "–": "-",
    "—": "-",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "×": "x",
    "·": "*",
    "±": "+/-",
    "√": "sqrt",
    "λ": "lambda",
    "κ": "kappa",
    "Σ": "sum",
    "²": "^2",
    "³": "^3",
    "¼": "1/4",
    "½": "1/2",
    "¾": "3/4",
    "…": "...",
    "→": "->",
    "█": "#",
    "░": ".",
    "│": "|",
    "─": "-",
    "━": "-",
    "╸": "-",
    "╺": "-",
    "├": "|",
    "└": "`",
    "’": "'",
    "‘": "'",
    "“": '"',
    "”": '"',
}


def write_any_text(*streams: TextIO) -> None:
    """Let streams replace characters that they cannot encode, instead of raising."""
    codecs.register_error(PLAIN, _plain)
    for stream in streams or (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors=PLAIN)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_letter(letter) for letter in letters), error.end


def _letter(letter: str) -> str:
    return _INSTEAD.get(letter, letter.encode("ascii", "backslashreplace").decode())
