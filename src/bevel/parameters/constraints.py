"""The values that a parameter may take: checked, and described in messages and docstrings."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bevel.errors import wrong_type, wrong_value

__all__ = [
    "LARGEST_INTEGER",
    "Constraint",
    "Flag",
    "Function",
    "Integer",
    "NoneOption",
    "Number",
    "Parameter",
    "Real",
    "Special",
    "StrOptions",
]


# What the core counts in: 32 bits with a sign.
LARGEST_INTEGER = 2**31 - 1


class Constraint(Protocol):
    """One kind of value."""

    def describes(self, value: object) -> bool:
        """Whether the value is of this kind, in range or not."""
        ...

    def allows(self, value: object) -> bool:
        """Whether a value of this kind is in range."""
        ...


@dataclass(frozen=True)
class Integer:
    """A whole number from `low` to `high`; messages mention `high` only if a number exceeds it."""

    low: int | None = None
    high: int = LARGEST_INTEGER

    def describes(self, value: object) -> bool:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool)

    def allows(self, value: object) -> bool:
        return (self.low is None or value >= self.low) and not self.exceeded_by(value)  # type: ignore[operator]

    def exceeded_by(self, value: object) -> bool:
        return value > self.high  # type: ignore[operator]

    def __str__(self) -> str:
        return "an integer" if self.low is None else f"an integer of at least {self.low}"


@dataclass(frozen=True)
class Real:
    """A number in an interval such as "[0, 0.5]" or "(0, 1)"; not an integer."""

    interval: str

    def describes(self, value: object) -> bool:
        return isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral)

    def allows(self, value: object) -> bool:
        low, high = (float(end) for end in self.interval[1:-1].split(","))
        number = _as_float(value)
        above = number >= low if self.interval[0] == "[" else number > low
        below = number <= high if self.interval[-1] == "]" else number < high
        return above and below

    def __str__(self) -> str:
        return f"a float in {self.interval}"


def _as_float(number: object) -> float:
    """A real number as a float; infinity for an integer beyond all floats."""
    try:
        return float(number)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf if number > 0 else -math.inf  # type: ignore[operator]


@dataclass(frozen=True)
class Number(Real):
    """A number in an interval, integers included."""

    def describes(self, value: object) -> bool:
        return isinstance(value, numbers.Real) and not isinstance(value, bool)

    def __str__(self) -> str:
        return f"a number in {self.interval}"


@dataclass(frozen=True)
class StrOptions:
    """One of a few strings."""

    words: Sequence[str]

    def describes(self, value: object) -> bool:
        return isinstance(value, str)

    def allows(self, value: object) -> bool:
        return value in self.words

    def __str__(self) -> str:
        return " or ".join(f'"{word}"' for word in self.words)


@dataclass(frozen=True)
class NoneOption:
    """None."""

    def describes(self, value: object) -> bool:
        return value is None

    def allows(self, value: object) -> bool:  # noqa: ARG002
        return True

    def __str__(self) -> str:
        return "None"


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def describes(self, value: object) -> bool:
        return type(value).__name__ in ("bool", "bool_")

    def allows(self, value: object) -> bool:  # noqa: ARG002
        return True

    def __str__(self) -> str:
        return "a bool"


@dataclass(frozen=True)
class Function:
    """Something to call."""

    signature: str

    def describes(self, value: object) -> bool:
        return callable(value)

    def allows(self, value: object) -> bool:  # noqa: ARG002
        return True

    def __str__(self) -> str:
        return f"a function {self.signature}"


@dataclass(frozen=True)
class Special:
    """A value of some type that is read, and checked further, elsewhere."""

    text: str
    kind: type = object

    def describes(self, value: object) -> bool:
        return isinstance(value, self.kind)

    def allows(self, value: object) -> bool:  # noqa: ARG002
        return True

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Parameter:
    """A parameter of an estimator: its name, default, range and meaning."""

    name: str
    default: object
    accepts: Sequence[Constraint]
    meaning: str
    remedy: str = "See the class documentation."

    @property
    def required(self) -> str:
        """The accepted values in words."""
        # Words and kinds alike, in one enumeration with a single "or".
        words = " or ".join(map(str, self.accepts)).split(" or ")
        *others, last = [word.rstrip(",") for word in words]
        return ", ".join(others) + " or " + last if others else last

    def check(self, value: object) -> None:
        """Raise TypeError for the wrong kind of value, ValueError for one out of range."""
        kinds = [constraint for constraint in self.accepts if constraint.describes(value)]
        if not kinds:
            raise wrong_type(self.name, self.required, value, self.remedy)
        if not any(constraint.allows(value) for constraint in kinds):
            raise wrong_value(self.name, self._required_of(kinds, value), value, self.remedy)

    def _required_of(self, kinds: Sequence[Constraint], value: object) -> str:
        """What a value of some kinds, out of their range, should have been."""
        for kind in kinds:
            if isinstance(kind, Integer) and kind.exceeded_by(value):
                return f"an integer of at most {kind.high}"
        return self.required
