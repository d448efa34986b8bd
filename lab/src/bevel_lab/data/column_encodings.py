"""What a recipe makes of one column: numbers, level codes, or indicators of levels.

Each is learned on the training values of its column and then applied to any values. Numbers and
level codes are float64 and NaN is missing, as in `bevel.datasets.LabelledTable`.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Column",
    "Indicators",
    "LevelCodes",
    "NumericColumn",
    "commonest",
    "distinct",
    "is_constant",
    "is_key",
    "is_near_constant",
    "median",
]

Values: TypeAlias = NDArray[np.float64]  # of one column, one for each row

NEAR_CONSTANT = 0.99  # share of one value from which a column has next to no information
MIN_KEYS = 20  # below, distinct values are no sign of a key


@dataclass(frozen=True)
class NumericColumn:
    """A numeric column; missing values become `fill`, or stay if it is None."""

    fill: float | None

    def names(self, name: str) -> list[str]:
        """Names of the columns made."""
        return [name]

    def encode(self, values: Values) -> Values:
        """The columns made, n_rows x 1."""
        filled = values if self.fill is None else np.where(np.isnan(values), self.fill, values)
        return filled[:, None]


@dataclass(frozen=True)
class LevelCodes:
    """A nominal column as codes of its training levels; missing values stay.

    Levels that training never saw share the first unused code, so that codes do not depend on what
    test rows hold.
    """

    levels: tuple[float, ...]

    def names(self, name: str) -> list[str]:
        """Names of the columns made."""
        return [name]

    def encode(self, values: Values) -> Values:
        """The columns made, n_rows x 1."""
        levels = np.array(self.levels)
        codes = np.searchsorted(levels, values).astype(np.float64)
        codes[~np.isin(values, levels)] = len(levels)
        codes[np.isnan(values)] = np.nan
        return codes[:, None]


@dataclass(frozen=True)
class Indicators:
    """A 0/1 column for each level; a level may be NaN, for missing.

    Values become `fill` when they are missing and missing is no level. Rows of a level that
    training never saw are 0 everywhere. `nominal`: whether systems take the columns made
    as nominal, so that they are not rotated.
    """

    levels: tuple[float, ...]
    fill: float = np.nan
    nominal: bool = False

    def names(self, name: str) -> list[str]:
        """Names of the columns made."""
        return [f"{name}=" if np.isnan(level) else f"{name}={level:g}" for level in self.levels]

    def encode(self, values: Values) -> Values:
        """The columns made, n_rows x n_levels."""
        filled = np.where(np.isnan(values), self.fill, values)
        made = [_equals(filled, level) for level in self.levels]
        return np.array(made, dtype=np.float64).reshape(len(made), len(values)).T


Column: TypeAlias = NumericColumn | LevelCodes | Indicators


def distinct(values: Values, *, missing: bool = False) -> tuple[float, ...]:
    """Distinct values, ascending; with `missing`, NaN is one more if there is any."""
    found = np.unique(values)  # all NaN as one, at the end
    present = found[~np.isnan(found)].tolist()
    return (*present, np.nan) if missing and len(present) < len(found) else tuple(present)


def median(values: Values) -> float:
    """Median of what is not missing; 0 for a column that is empty."""
    present = values[~np.isnan(values)]
    return float(np.median(present)) if len(present) else 0.0


def commonest(values: Values) -> float:
    """Most frequent of what is not missing, the smallest of ties; NaN for an empty column."""
    found, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return float(found[counts.argmax()]) if len(found) else np.nan


def is_constant(values: Values) -> bool:
    """Whether there is one value at most, missing not counted."""
    return len(distinct(values)) <= 1


def is_near_constant(values: Values) -> bool:
    """Whether one value, or missing, fills 99 % of the rows."""
    _, counts = np.unique(values, return_counts=True)
    return bool(counts.max() >= NEAR_CONSTANT * len(values))


def is_key(values: Values, nominal: bool) -> bool:
    """Whether a column numbers or names its rows.

    A nominal one does if no level comes twice; a numeric one if it holds distinct integers that lie
    close together, as those of a serial number do even where a third of the rows is elsewhere.
    """
    if len(values) < MIN_KEYS or len(distinct(values)) < len(values):
        return False
    if nominal:
        return True
    whole = bool(np.all(values == np.floor(values)))
    return whole and float(np.ptp(values)) < 2 * len(values)


def _equals(values: Values, level: float) -> NDArray[np.bool_]:
    return np.isnan(values) if np.isnan(level) else values == level
