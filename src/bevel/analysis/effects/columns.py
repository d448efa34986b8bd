"""Features of an effect: found by name, read in the user's units, encoded for the trees."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Array, Float32s, Floats
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.data.encoding import Encoding
from bevel.data.tables import Table, read_table
from bevel.errors import join_names, wrong_type, wrong_value

__all__ = ["EffectColumn", "encode_column", "find_feature", "read_effect_column", "read_features"]


@dataclass(frozen=True, eq=False)
class EffectColumn:
    """One feature of an effect.

    Attributes
    ----------
    name : str
        Name of the feature.
    feature : int
        Position of the column.
    values : ndarray of shape (n,)
        Values of the rows: float64 with NaN for missing ones, or labels of a nominal feature.
    levels : ndarray of object or None
        Labels of a nominal feature, in the order of their codes; None for numbers.
    """

    name: str
    feature: int
    values: Array
    levels: npt.NDArray[np.object_] | None

    @property
    def is_nominal(self) -> bool:
        """Whether the values are labels."""
        return self.levels is not None

    @property
    def known(self) -> Floats:
        """Numbers that are not missing."""
        return np.asarray(self.values[~np.isnan(self.values)], np.float64)


def read_features(features: object, analysed: AnalysedForest, most: int = 2) -> list[int]:
    """Positions of one feature, or of a pair, given by name or by number."""
    single = isinstance(features, str | numbers.Integral)
    chosen: Sequence[object] = [features] if single else _as_list(features, most)
    found = [find_feature(feature, analysed, "features") for feature in chosen]
    if not 1 <= len(found) <= most or len(set(found)) < len(found):
        required = "one feature, or two different ones" if most == 2 else "different features"
        raise wrong_value("features", required, features, "Call it once for each of more.")
    return found


def _as_list(features: object, most: int) -> list[object]:
    if isinstance(features, Sequence | np.ndarray):
        return list(features)
    remedy = f"Write for example features={'0 or features=[0, 1]' if most == 2 else '[0, 1]'}."
    raise wrong_type("features", "the name or number of a feature, or a pair", features, remedy)


def find_feature(feature: object, analysed: AnalysedForest, what: str) -> int:
    """Position of a feature that is given by its name or position."""
    names = analysed.names
    required = f"columns of the fit, by name or from 0 to {len(names) - 1}"
    remedy = f"Choose from {join_names(list(names))}."
    if isinstance(feature, str):
        if feature not in names:
            raise wrong_value(what, required, feature, remedy)
        return names.index(feature)
    if not isinstance(feature, numbers.Integral) or isinstance(feature, bool):
        raise wrong_type(what, required, feature, remedy)
    if not 0 <= int(feature) < len(names):
        raise wrong_value(what, required, feature, remedy)
    return int(feature)


def read_effect_column(analysed: AnalysedForest, X: Any, feature: int) -> EffectColumn:
    """The values of a feature in the user's units."""
    table: Table = read_table(X)
    name, nominal = analysed.names[feature], analysed.fitted.encoding.nominal
    if feature in nominal:
        return EffectColumn(name, feature, table.labels(feature), nominal[feature].labels)
    tile = table.numbers(slice(0, table.n_rows), slice(feature, feature + 1))
    return EffectColumn(name, feature, np.array(tile[:, 0], np.float64), None)


def encode_column(encoding: Encoding, column: EffectColumn, values: Array) -> Float32s:
    """Values of one feature as the trees read them; raises for numbers that are too large."""
    if column.is_nominal:
        return encoding.nominal[column.feature].encode(values, column.name)
    limit = encoding.reading.limit
    if not np.all(np.abs(values) <= limit):
        worst = values[np.argmax(~(np.abs(values) <= limit))]
        required = f"finite numbers up to {limit:g} in size"
        raise wrong_value(f"Values of {column.name}", required, worst, "Choose smaller ones.")
    target = np.empty((len(values), 1), np.float32)
    source = np.ascontiguousarray(values, np.float64)[:, None]
    encoding.native_scaler.transform(source, column.feature, 1, target)
    return target[:, 0]
