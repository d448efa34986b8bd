"""Reads JSON objects field by field: everything of the right kind, and nothing left over."""

from __future__ import annotations

from typing import Any, TypeVar

from bevel.errors import join_names
from bevel.files.faults import damaged

__all__ = ["Fields", "check_kind"]

Kind = TypeVar("Kind")

_WORDS: dict[type, str] = {
    bool: "true or false",
    int: "an integer",
    float: "a number with a fraction",
    str: "a string",
    list: "an array",
    dict: "an object",
}


def check_kind(name: str, value: object, kind: type[Kind]) -> Kind:
    """Return the value if it is of the kind; a bool does not count as an integer."""
    if type(value) is not kind:
        raise damaged(name, _WORDS[kind], value)
    return value


class Fields:
    """A JSON object of which every field is taken once.

    Parameters
    ----------
    value : object
        Decoded value; raises ModelFileError unless it is an object.
    name : str
        Name of the object in messages.
    """

    def __init__(self, value: object, name: str) -> None:
        self._left = dict(check_kind(name, value, dict))
        self.name = name

    def take(self, field: str, kind: type[Kind]) -> Kind:
        """Take a required field of the kind."""
        return check_kind(f"{self.name}.{field}", self.take_any(field), kind)

    def take_count(self, field: str, least: int = 0, most: int = 2**63 - 1) -> int:
        """Take a required integer within bounds."""
        count = self.take(field, int)
        if not least <= count <= most:
            raise damaged(f"{self.name}.{field}", f"from {least} to {most}", count)
        return count

    def take_count_or_null(self, field: str, least: int = 0, most: int = 2**63 - 1) -> int | None:
        """Take a required field that is an integer within bounds, or null."""
        if self._left.get(field, 0) is not None:
            return self.take_count(field, least, most)
        self._left.pop(field)
        return None

    def has(self, field: str) -> bool:
        """Whether an optional field is present."""
        return field in self._left

    def take_any(self, field: str) -> Any:
        """Take a required field of any kind."""
        if field not in self._left:
            raise damaged(self.name, f'an object with the field "{field}"', "none of that name")
        return self._left.pop(field)

    def finish(self) -> None:
        """Raise if there are fields that were not taken."""
        if self._left:
            unknown = join_names([repr(name) for name in self._left])
            raise damaged(f"Fields of {self.name}", "those of the format's version", unknown)
