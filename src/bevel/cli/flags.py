"""Parameters as they are written on the command line: in a command that repeats a result, and in
messages of the library, which name parameters in backquotes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Command", "as_flags", "flag", "words"]

# Parameters whose options are called otherwise.
OPTION_NAMES = {"row_id": "id", "rows": "row"}

# Parameters that messages name and that are options of a command.
# fmt: off
IN_MESSAGES = frozenset((
    "budget", "class_weight", "competing_risks", "decimal", "delimiter", "drop", "encoding",
    "entry", "event", "first_trees", "header", "interval", "keep_id", "keep_targets", "missing",
    "nominal", "params", "positive", "proba", "projection", "row_id", "rows", "seconds", "store",
    "target",
    "task", "time", "types", "weights",
))
# fmt: on

# A parameter in a message: `drop`, `header=True`, `task="regression"`, `types={'a': "number"}`.
PARAMETER = re.compile(r"`(\w+)(?:=(?:\"([^\"`]+)\"|\{'([^`]+)': \"(\w+)\"\}|(\w+)))?`")


def flag(name: str) -> str:
    """The option of a parameter."""
    return f"--{OPTION_NAMES.get(name, name).replace('_', '-')}"


def words(name: str, value: Any) -> list[str]:
    """A parameter as words of a command line; none for a value of None.

    A list gives the option several times, a mapping once for each pair.
    """
    if value is None:
        return []
    if isinstance(value, bool):
        return [flag(name) if value else flag(name).replace("--", "--no-", 1)]
    if isinstance(value, Mapping):
        value = [f"{key}={each}" for key, each in value.items()]
    elif isinstance(value, str) or not isinstance(value, Sequence):
        value = [f"{value:g}" if isinstance(value, float) else value]
    return [word for each in value for word in (flag(name), str(each))]


@dataclass(frozen=True)
class Command:
    """A command with its arguments and its options in the order in which they are written."""

    name: str
    arguments: Sequence[object]
    options: Mapping[str, Any]

    def __str__(self) -> str:
        options = [word for pair in self.options.items() for word in words(*pair)]
        return shlex.join(["bevel", self.name, *map(str, self.arguments), *options])


def as_flags(text: str) -> str:
    """A message with the parameters in it written as options; other text stays."""
    return PARAMETER.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    name, word, column, kind, value = found.groups()
    if name not in IN_MESSAGES:
        return found.group()
    return shlex.join(words(name, {column: kind} if column else word or value != "False"))
