"""Messages and the few exception types of the package.

A message has four parts: what was requested, what was required, what was got, what to do. The
functions here put them in that order, so that all messages of the package have the same form.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Sequence

__all__ = [
    "LeakWarning",
    "ModelFileError",
    "NoOutOfBagError",
    "PrecisionWarning",
    "RowNumberWarning",
    "SeveralOutputsError",
    "SlimForestError",
    "TextColumnWarning",
    "join_names",
    "nearest",
    "shorten",
    "warn_user",
    "wrong_type",
    "wrong_value",
]


class PrecisionWarning(UserWarning):
    """Distinct values of a column became equal when they were stored as float32."""


class RowNumberWarning(UserWarning):
    """A column numbers or names the rows or is an index, or its labels say nothing about others."""


class TextColumnWarning(UserWarning):
    """A column holds free text, which the model leaves out."""


class LeakWarning(UserWarning):
    """A column alone predicts the target, or rows occur more often than by chance."""


class NoOutOfBagError(ValueError):
    """Out-of-bag estimates were requested from a forest that leaves no row out of its bags."""


class SeveralOutputsError(ValueError, AttributeError):
    """A forest of several outputs was given to a function that answers for one of them.

    An AttributeError too, so that attributes of one output are absent: notebooks list the others.
    """


class SlimForestError(ValueError, AttributeError):
    """A slim forest was asked for what it has dropped; an AttributeError for the same reason."""


class ModelFileError(ValueError):
    """A file is damaged, truncated, or not a model file at all."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line outside the package that led here, however many calls lie between."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bevel."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def shorten(value: object, limit: int = 60) -> str:
    """Represent a value for a message, cut to a readable length."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def join_names(names: Sequence[str], limit: int = 5) -> str:
    """List names for a message, the first few of them when there are many."""
    shown = ", ".join(names[:limit])
    hidden = len(names) - limit
    return shown if hidden <= 0 else f"{shown} and {hidden} more"


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that a misspelt one most likely stands for, None if none is close."""
    by_small_letters = {each.lower(): each for each in reversed(known)}
    close = difflib.get_close_matches(name.lower(), list(by_small_letters), n=1, cutoff=0.7)
    return by_small_letters[close[0]] if close else None


def wrong_value(name: str, required: str, got: object, remedy: str) -> ValueError:
    """Build the error for a value of the right kind outside its range."""
    return ValueError(f"{name} must be {required}; got {shorten(got)}. {remedy}")


def wrong_type(name: str, required: str, got: object, remedy: str) -> TypeError:
    """Build the error for a value of the wrong kind."""
    kind = type(got).__name__
    return TypeError(f"{name} must be {required}; got {shorten(got)} of type {kind}. {remedy}")
