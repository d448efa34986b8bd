"""Interface of the distributions of directions, and the checks they share."""

from __future__ import annotations

import math
import numbers
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import numpy.typing as npt

from bevel.errors import wrong_type, wrong_value

__all__ = [
    "Count",
    "resolve_count",
    "round_up",
]

# Turns the words for a number of things ("sqrt", "p**2", 0.5, 7) into that number.
#
# The same words serve `n_projections` (draws per node) and `n_features` of a projection (features
# per draw). The caller checks whether there are so many.

Count = int | float | str

_POWER = re.compile(r"p\*\*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)")
_REQUIRED = 'a positive integer, a share in (0, 1], "sqrt", "log2", "p" or "p**k" for a number k'
# The native core counts draws in 32 bits; nothing near this many fits in memory or time anyway.
MAX_COUNT = 2**31 - 1


def resolve_count(name: str, count: Count, n_features: int, also: str = "") -> int:
    """Number of things that `count` stands for when there are `n_features` features.

    Parameters
    ----------
    name : str
        The parameter being read, for messages.
    count : int, float or str
        An integer stands for itself. "sqrt", "log2" and a share are rounded down, as scikit-learn
        does for `max_features`; "p**k" is rounded up, so that every positive power reaches at least
        one feature. All are at least 1.
    n_features : int
        The number p that the words refer to.
    also : str, default=""
        Further words the caller accepts, for messages.

    Returns
    -------
    int
        The resolved number, between 1 and 2**31 - 1.
    """
    required = also + _REQUIRED
    remedy = f'Write for example {name}="sqrt" or {name}=10.'
    if isinstance(count, bool) or not isinstance(count, numbers.Real | str):
        raise wrong_type(name, required, count, remedy)
    value = _words(count, n_features) if isinstance(count, str) else _number(count, n_features)
    if value is None:
        raise wrong_value(name, required, count, remedy)
    if value > MAX_COUNT:
        raise wrong_value(
            name, f"at most {MAX_COUNT} for {n_features} features", count, "Choose fewer."
        )
    return value


def _number(count: float, n_features: int) -> int | None:
    if isinstance(count, numbers.Integral):
        return int(count) if count >= 1 else None
    return max(1, int(count * n_features)) if 0.0 < count <= 1.0 else None


def _words(words: str, n_features: int) -> int | None:
    if words == "sqrt":
        return max(1, math.isqrt(n_features))
    if words == "log2":
        return max(1, n_features.bit_length() - 1)
    if words == "p":
        return n_features
    match = _POWER.fullmatch(words.replace(" ", ""))
    return None if match is None else _power(n_features, float(match.group(1)))


def _power(base: int, exponent: float) -> int:
    if exponent * math.log(base) > math.log(MAX_COUNT) + 1.0:
        return MAX_COUNT + 1
    return max(1, round_up(base**exponent))


def round_up(value: float) -> int:
    """Ceiling that forgives the last bits of a product or power: 243**0.2 is 3, not 4."""
    return math.ceil(value * (1.0 - 1e-12))


@dataclass(frozen=True, eq=False)
class SparseDirections:
    """SparseDirections over the numeric features: entries of each, back to back."""

    offset: npt.NDArray[np.uint32]
    index: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float32]

    @property
    def n_directions(self) -> int:
        return len(self.offset) - 1

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays, as the core reads them."""
        return self.offset, self.index, self.weight


@dataclass(frozen=True)
class FamilySpec:
    """One of the families that nodes draw their candidates from, in resolved numbers."""

    kind: str
    n_draws: int
    n_nonzeros: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)  # by the names of the core
    fits_models: bool = False  # to the rows of each node

    @property
    def n_weights(self) -> int:
        """Weights, about, of the directions that are drawn at a node."""
        if self.kind == "signs":
            return self.n_nonzeros  # of all draws
        # Axes of a tree are stored once, and directions of one's own are in memory already.
        is_stored = self.kind in ("rotation", "multirotation", "principal", "custom")
        return self.n_draws if is_stored else self.n_draws * max(1, self.n_nonzeros)


@dataclass(frozen=True)
class Projection(ABC):
    """Base class of the distributions of directions; not used by itself.

    Examples
    --------
    >>> from bevel import projections as P
    >>> isinstance(P.SparseSigns(), P.Projection)
    True
    >>> P.SparseSigns(density=2)
    SparseSigns(density=2)
    """

    name: ClassVar[str]
    combines_units: ClassVar[bool] = True  # features that may be in different units
    reads_target: ClassVar[bool] = False
    few_features: ClassVar[bool] = False  # of a direction, however many columns there are
    # Directions are drawn without the rows of a node, as over blocks of rows and in boosting.
    draws_without_rows: ClassVar[bool] = False
    # Levels of nominal columns may take part in directions, with projection="auto".
    combines_levels: ClassVar[bool] = False
    # Directions are of few features, and drawn without the rows: sparse columns need not be dense.
    works_on_sparse: ClassVar[bool] = False
    # Directions can be chosen that satisfy monotone and interaction constraints.
    can_be_constrained: ClassVar[bool] = False

    @property
    def needs_out_of_bag(self) -> bool:
        """Whether it learns from the rows out of a tree's bag."""
        return False

    @property
    def takes_all_rows(self) -> bool:
        """Whether every tree must be grown on all rows."""
        return False

    def default_draws(self, n_features: int, regression: bool) -> int:
        """Draws per node when `n_projections="auto"`: √p, or p/3 in regression."""
        return max(1, n_features // 3) if regression else resolve_count("auto", "sqrt", n_features)

    def most_draws(self, n_numeric: int) -> int | None:  # noqa: ARG002
        """Distinct directions that exist, None when they are drawn with replacement."""
        return None

    @property
    def tries_all(self) -> bool:
        """Whether `n_projections="auto"` means all directions, beside any nominal columns."""
        return False

    def check_draws(self, n_projections: Count) -> None:  # noqa: B027
        """Raise if draws per node other than "auto" mean nothing to it."""

    def check_columns(self, n_numeric: int, n_nominal: int) -> None:  # noqa: B027
        """Raise if it cannot work on a table of such columns."""

    def check_task(self, regression: bool) -> None:  # noqa: B027
        """Raise if it has no meaning for the task."""

    def check_survival(self) -> None:  # noqa: B027
        """Raise if it has no meaning for right-censored times."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Settings by name; an estimator lists them as ``projection__density`` and the like."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def set_params(self, **settings: Any) -> NoReturn:
        """Refused: a projection does not change."""
        raise TypeError(
            f"{type(self).__name__} does not change after it was made. Use set_params("
            f"{', '.join(f'projection__{name}=...' for name in settings)}) of the estimator, which "
            "replaces its projection, or with_params, which returns a copy."
        )

    def with_params(self, **settings: Any) -> Self:
        """A copy with other settings."""
        known = list(self.get_params())
        for name in settings:
            if name not in known:
                has = f"It has {', '.join(known)}." if known else "It has none."
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}. {has}")
        return replace(self, **settings)

    def __sklearn_clone__(self) -> Self:
        """Itself: it does not change."""
        return self

    @abstractmethod
    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        """Describe draws among the numeric features to the trainer; raises if impossible."""

    def shrunk_to(self, n_numeric: int) -> Projection:  # noqa: ARG002
        """Reduce default settings to what so few features allow; for projections given by name."""
        return self


def check_real(name: str, value: object) -> None:
    remedy = "Values from 1 to 5 are usual."
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise wrong_type(name, "a positive number", value, remedy)
    if not is_positive(value):
        raise wrong_value(name, "a positive number", value, remedy)


def is_positive(value: numbers.Real) -> bool:
    """Whether a number is above zero, and finite as a float."""
    try:
        return 0.0 < float(value) < float("inf")
    except OverflowError:
        return False


def check_integer(name: str, value: object, things: str = "features") -> None:
    remedy = f"Pass a whole number of {things}."
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise wrong_type(name, "an integer of at least 1", value, remedy)
    if value < 1:
        raise wrong_value(name, "an integer of at least 1", value, remedy)
    if int(value) > MAX_COUNT:
        raise wrong_value(name, f"an integer of at most {MAX_COUNT}", value, remedy)


def check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise wrong_type(name, "a bool", value, "Choose True or False.")


def check_option(name: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        *others, last = (f'"{word}"' for word in words)
        raise wrong_value(name, f"{', '.join(others)} or {last}", value, "Choose one.")


def check_fits(name: str, value: float, n_numeric: int) -> None:
    if value > n_numeric:
        required = f"at most the number of numeric features ({n_numeric})"
        raise wrong_value(name, required, value, f"Use {n_numeric} or less.")
