"""Errors of damaged model files, in a common form."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bevel.errors import ModelFileError, shorten
from bevel.printable import printable

__all__ = ["damaged", "only_file_errors"]

LONGEST_NAME = 100

_REMEDY = "The file is damaged or was not written by Bevel: copy it again, or save the model again."


def damaged(name: str, required: str, got: object) -> ModelFileError:
    """Make the error for a part of a file that is invalid."""
    shown = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."
    return ModelFileError(printable(f"{shown} must be {required}; got {_describe(got)}. {_REMEDY}"))


@contextmanager
def only_file_errors(path: object = None) -> Iterator[None]:
    """Turn any error while a file is read into ModelFileError, with the file's name.

    The checks have precise messages; this catches what they miss. Errors of the operating
    system, such as an absent file, and MemoryError are passed on unchanged.
    """
    where = "" if path is None else f"{printable(str(path))}: "
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{where}{error}") from None
    except OSError:
        raise
    except MemoryError as error:
        raise MemoryError(
            f"{where}Reading the file takes more memory than there is. Free memory, or load the "
            "file with mmap=True."
        ) from error
    except Exception as error:
        got = f"{type(error).__name__}: {shorten(str(error))}"
        raise ModelFileError(f"{where}{damaged('The file', 'readable', got)}") from error


def _describe(got: object) -> str:
    """Describe a value, containers by their size only: a hostile one may be too deep to print."""
    if isinstance(got, list | tuple | dict):
        return f"a {type(got).__name__} of {len(got)}"
    return shorten(got)
