"""One voice for what is wrong with a model file."""

from __future__ import annotations

from bevel.errors import ModelFileError, shorten

__all__ = ["damaged", "printable"]

LONGEST_NAME = 100

_REMEDY = "The file is damaged or was not written by Bevel: copy it again, or save the model again."


def damaged(name: str, required: str, got: object) -> ModelFileError:
    """Build the error for a part of a file that is not what it must be."""
    shown = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."
    return ModelFileError(printable(f"{shown} must be {required}; got {_describe(got)}. {_REMEDY}"))


def printable(text: str) -> str:
    """Text of a file without characters that a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _describe(got: object) -> str:
    """Containers by their size only: a hostile one may be too deep to be shown."""
    if isinstance(got, list | tuple | dict):
        return f"a {type(got).__name__} of {len(got)}"
    return shorten(got)
