"""Optional packages: imported where they are used, with a message that says how to install them."""

import importlib
from types import ModuleType

__all__ = ["MissingPackageError", "import_optional"]


class MissingPackageError(ImportError):
    """An optional package is not installed; the message holds the command that installs it."""


def import_optional(module: str, *, needed_by: str, install: str) -> ModuleType:
    """Import `module`, or raise an error that names `needed_by` and what to `install` with pip."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"{needed_by} needs {module}, which is not installed. "
            f"Install it with: python -m pip install '{install}'"
        ) from error
