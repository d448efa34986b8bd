"""Common arguments of the functions for Shapley values, and the shape of their results."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.data.tables import read_table
from bevel.errors import wrong_type, wrong_value
from bevel.parameters.constraints import Integer

__all__ = ["check_count", "check_limits", "rows_as_given", "single_output"]

MOST_EXACT_FEATURES = 20


def check_limits(max_background: int | None, max_exact_features: int) -> None:
    if max_background is not None:
        check_count("max_background", max_background, 2)
    check_count("max_exact_features", max_exact_features, 0, MOST_EXACT_FEATURES)


def check_count(name: str, value: object, low: int, high: int | None = None) -> None:
    upper = "" if high is None else f" and at most {high}"
    required, remedy = f"{Integer(low)}{upper}", f"Write for example {name}={max(low, 10)}."
    if not Integer().describes(value):
        raise wrong_type(name, required, value, remedy)
    if not Integer(low).allows(value) or (high is not None and int(value) > high):  # type: ignore[call-overload]
        raise wrong_value(name, required, value, remedy)


def single_output(analysed: AnalysedForest, array: Floats) -> Floats:
    """Drop the last dimension in regression, where it has length 1."""
    return array[..., 0] if analysed.classes is None else array


def rows_as_given(X: Any, analysed: AnalysedForest) -> npt.NDArray[Any]:
    """The rows in the user's units: floats, or objects if there are labels among them."""
    table = read_table(X)
    nominal = np.flatnonzero(analysed.forest.levels)
    if len(nominal) == 0:
        return np.array(table.numbers(slice(0, table.n_rows), slice(0, table.n_features)), float)
    rows = np.empty((table.n_rows, table.n_features), dtype=object)
    for feature in range(table.n_features):
        is_nominal = feature in nominal
        column = slice(feature, feature + 1)
        rows[:, feature] = (
            table.labels(feature)
            if is_nominal
            else table.numbers(slice(0, table.n_rows), column)[:, 0]
        )
    return rows
