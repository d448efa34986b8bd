"""Parameters: their ranges, which are checked and described in messages and docstrings, and the
fitted attributes of estimators.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bevel.errors import wrong_type, wrong_value
from bevel.parameters.other_names import UNKNOWN, same_value

__all__ = [
    "ATTRIBUTES",
    "MAX_INTEGER",
    "Constraint",
    "Flag",
    "Float",
    "Function",
    "InstanceOf",
    "Integer",
    "NoneOption",
    "Number",
    "Parameter",
    "StrOptions",
    "check_each",
]

# What the core counts in: 32 bits with a sign.
MAX_INTEGER = 2**31 - 1


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
    high: int = MAX_INTEGER

    def describes(self, value: object) -> bool:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool)

    def allows(self, value: object) -> bool:
        return (self.low is None or value >= self.low) and not self.exceeded_by(value)  # type: ignore[operator]

    def exceeded_by(self, value: object) -> bool:
        return value > self.high  # type: ignore[operator]

    def __str__(self) -> str:
        return "an integer" if self.low is None else f"an integer of at least {self.low}"


@dataclass(frozen=True)
class Float:
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
class Number(Float):
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
class InstanceOf:
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
            raise wrong_value(
                self.name, self._required_of(kinds, value), value, self._remedy_of(value)
            )

    def _remedy_of(self, value: object) -> str:
        """What to write instead of a value, also of one that another library has."""
        ours = same_value(self.name, value, UNKNOWN)
        kinds = [each for each in self.accepts if each.describes(ours)]
        if ours is UNKNOWN or not any(each.allows(ours) for each in kinds):
            return self.remedy
        return f"{value!r} elsewhere is {self.name}={ours!r} here."

    def _required_of(self, kinds: Sequence[Constraint], value: object) -> str:
        """What a value of some kinds, out of their range, should have been."""
        for kind in kinds:
            if isinstance(kind, Integer) and kind.exceeded_by(value):
                return f"an integer of at most {kind.high}"
        return self.required


def check_each(values: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> None:
    """Check every parameter by itself; raises TypeError or ValueError on the first wrong one."""
    for name, parameter in parameters.items():
        parameter.check(values[name])


# The attributes that several fitted estimators have: type and meaning of each, in one place.
#
# Docstrings are rendered from these, where they say {classes}, {columns} and so on.

_READING = """\
columns_ : ColumnRecord
    How each column is read: as a number, by its levels, as means of the target, or not at all.
text_columns_ : tuple of str or int
    Columns of free text, which are left out: their names, or positions if X had none.
"""

ATTRIBUTES: Mapping[str, str] = {
    "classes": """\
classes_ : ndarray of shape (n_classes_,)
    Class labels, sorted.
n_classes_ : int
    Number of classes.
""",
    "columns": """\
n_features_in_ : int
    Number of columns seen in fit.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Column names seen in fit, if X had names that are all strings.
""",
    "reading": _READING,
    "trees": f"""\
feature_importances_ : ndarray of shape (n_features_in_,)
    Gain importance of each feature, summing to one.
forest_ : FlatForest
    The trees.
fitted_forest_ : FittedForest
    The trees with all that files, exports and analysis need beside them.
{_READING}predictor_ : RowPredictor
    The forest for servers: no checks, any thread.
""",
    "outputs": """\
n_outputs_ : int
    Number of targets. Of several outputs `classes_` and `n_classes_` are lists.
output_names_ : tuple of str
    Names of the outputs: the columns of y, or y0, y1, ...
output_importances_ : ndarray of shape (n_outputs_, n_features_in_)
    Gain importance of each feature for each output.
""",
    "families": """\
families_ : FamilyRecord
    With `projection="auto"`: the families that share the trees, with out-of-bag error, its standard
    error, weight and number of trees of each, and the families that do not fit the table.
""",
    "weighted_rotations": """\
rotations_ : ndarray of shape (R, n_numeric, n_numeric)
    Rotations of the numeric features as trees read them; columns are axes. The first is the
    identity. Drawn again from the seed at each access.
complexities_ : ndarray of shape (R,)
    Median over the trees of a micro-forest of #nodes + depth/N.
oob_errors_ : ndarray of shape (R,)
    Out-of-bag error of each micro-forest (in regression the mean squared error), rows by their
    weights; NaN if the weights did not need it.
rotation_weights_ : ndarray of shape (R,)
    Weights of the rotations, summing to one.
h_ : float or None
    The tuning parameter of "cut" and "exp".
trees_per_rotation_ : ndarray of shape (R,)
    Number of trees on each rotation, summing to M.
rotation_of_tree_ : ndarray of shape (M,)
    Rotation of each tree.
""",
    "group_rotations": """\
rotations_ : ndarray of shape (n_groups, n_numeric, n_numeric)
    The rotation of each group; columns are axes.
""",
}
