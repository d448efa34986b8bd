"""One voice for what is wrong with a model file."""

from __future__ import annotations

from bevel.errors import ModelFileError, shorten

__all__ = ["damaged"]

_REMEDY = "The file is damaged or was not written by Bevel: copy it again, or save the model again."


def damaged(name: str, required: str, got: object) -> ModelFileError:
    """Build the error for a part of a file that is not what it must be."""
    return ModelFileError(f"{name} must be {required}; got {_describe(got)}. {_REMEDY}")


def _describe(got: object) -> str:
    """Containers by their size only: a hostile one may be too deep to be shown."""
    if isinstance(got, list | tuple | dict):
        return f"a {type(got).__name__} of {len(got)}"
    return shorten(got)
