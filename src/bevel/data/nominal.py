"""Nominal columns: which they are, and how their labels become level codes.

A column's labels seen in training get the codes 0, 1, ... in sorted order; missing, if it was seen,
is one level more. A label never seen in training gets the first unused code, which every split
sends to its heavier child.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.tables import Table, is_missing
from bevel.errors import join_names, shorten, wrong_type, wrong_value

__all__ = ["MAX_LEVELS", "Levels", "choose_nominal", "learn_levels"]

MAX_LEVELS = 65_535
_REQUIRED = '"from_dtype", None, or a list of column indices or names, or a boolean mask'


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of one nominal column.

    Attributes
    ----------
    labels : ndarray of object
        Labels seen in training, sorted; the code of a label is its position.
    has_missing : bool
        Whether training rows missed the value; the last code then stands for missing.
    """

    labels: npt.NDArray[np.object_]
    has_missing: bool

    @property
    def n_codes(self) -> int:
        """Number of levels, missing included."""
        return len(self.labels) + self.has_missing

    def encode(self, values: npt.NDArray[Any], name: str) -> npt.NDArray[np.float32]:
        """Codes of a column's labels; `name` is the column's, for messages."""
        distinct, position = _distinct(values, name)
        self._check_same_kind(distinct, name)
        code_of = {label: code for code, label in enumerate(self.labels)}
        missing = len(self.labels)  # one past the labels: a level of its own, or an unseen one
        codes = [missing if is_missing(d) else code_of.get(d, self.n_codes) for d in distinct]
        return np.array(codes, dtype=np.float32)[position]

    def _check_same_kind(self, distinct: Sequence[object], name: str) -> None:
        """Refuse numbers where training saw text, and the reverse: every label would be unseen."""
        before, now = _kind(self.labels), _kind(distinct)
        if before and now and before != now:
            raise ValueError(
                f"X must hold {before} in nominal column {name}, as in fit; got {now}. Pass the "
                "column as it was in fit."
            )


def learn_levels(values: npt.NDArray[Any], name: str) -> Levels:
    """Learn the levels of a nominal column from its training rows."""
    distinct, _ = _distinct(values, name)
    present = [label for label in distinct if not is_missing(label)]
    has_missing = len(present) < len(distinct)
    if len(present) + has_missing > MAX_LEVELS:
        raise ValueError(
            f"Nominal column {name} must have at most {MAX_LEVELS} levels; got {len(present)}. "
            "Drop it if it identifies rows, or join rare levels."
        )
    labels = np.empty(len(present), dtype=object)
    labels[:] = _sorted(present)
    return Levels(labels, has_missing)


def choose_nominal(categorical_features: Any, table: Table) -> list[int]:
    """Indices of the nominal columns of a table, ascending.

    Parameters
    ----------
    categorical_features : "from_dtype", None or sequence
        Choice as given to the estimator.
    table : Table
        The training table.
    """
    if categorical_features is None:
        return []
    if isinstance(categorical_features, str):
        if categorical_features == "from_dtype":
            return table.nominal_by_dtype()
        raise wrong_value("categorical_features", _REQUIRED, categorical_features, _REMEDY)
    chosen = np.asarray(categorical_features)
    if chosen.ndim != 1:
        raise wrong_type("categorical_features", _REQUIRED, categorical_features, _REMEDY)
    if chosen.dtype.kind == "b":
        return _from_mask(chosen, table)
    labels = chosen.tolist()
    if all(isinstance(label, numbers.Integral) and not isinstance(label, bool) for label in labels):
        return _from_indices(labels, table)
    if all(isinstance(label, str) for label in labels):
        return _from_names(labels, table)
    raise wrong_type("categorical_features", _REQUIRED, categorical_features, _REMEDY)


_REMEDY = "Write for example categorical_features=[0, 3] or categorical_features=['city']."


def _from_mask(mask: npt.NDArray[np.bool_], table: Table) -> list[int]:
    if len(mask) != table.n_features:
        required = f"a mask of one entry per column ({table.n_features})"
        raise wrong_value("categorical_features", required, f"{len(mask)} entries", _REMEDY)
    return [int(feature) for feature in np.flatnonzero(mask)]


def _from_indices(indices: Sequence[int], table: Table) -> list[int]:
    outside = [index for index in indices if not 0 <= index < table.n_features]
    if outside:
        required = f"indices from 0 to {table.n_features - 1}"
        raise wrong_value("categorical_features", required, outside[0], "Check the indices.")
    return sorted(set(indices))


def _from_names(names: Sequence[str], table: Table) -> list[int]:
    position = {table.describe(feature): feature for feature in range(table.n_features)}
    unknown = [repr(name) for name in names if repr(name) not in position]
    if unknown:
        known = join_names(list(position))
        raise ValueError(
            f"categorical_features must name columns of X ({known}); got {join_names(unknown)}. "
            "Check the spelling, and pass a data frame: arrays have no names."
        )
    return sorted({position[repr(name)] for name in names})


def _distinct(values: npt.NDArray[Any], name: str) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """Distinct labels of a column, and the position of each row's label among them."""
    if values.dtype.kind in "fiub":
        labels, inverse = np.unique(values, return_inverse=True)
        return labels.tolist(), inverse
    first: dict[Any, int] = {}
    try:
        rows = (first.setdefault(label, len(first)) for label in values.tolist())
        position = np.fromiter(rows, dtype=np.intp, count=len(values))
    except TypeError as error:
        raise TypeError(
            f"Nominal column {name} must hold labels such as strings or numbers; got values that "
            f"cannot be compared ({error}). Convert them to strings."
        ) from error
    return list(first), position


def _sorted(labels: list[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # labels of several types: any order that does not depend on the rows
        return sorted(labels, key=lambda label: (type(label).__name__, shorten(label, 1000)))


def _kind(labels: Sequence[object] | npt.NDArray[np.object_]) -> str | None:
    present = [label for label in labels if not is_missing(label)]
    if present and all(isinstance(label, str) for label in present):
        return "text"
    if present and all(isinstance(label, numbers.Number) for label in present):
        return "numbers"
    return None
