"""Intermediate stages of stacked rotations: models on rotations of the previous outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bevel import _core
from bevel._types import Float32s, Floats, Indices
from bevel.estimators.stacking.folds import Folds, LeftOut
from bevel.estimators.stacking.level0 import Output

__all__ = ["MiddleStage", "columns_without", "turned"]

Passed = Mapping[
    LeftOut, Floats
]  # (n_rows, n_views, width); rows of the folds left out have values


@dataclass(frozen=True, eq=False)
class MiddleStage:
    """A fitted stage.

    Attributes
    ----------
    models : list of fitted learners
        One for each view.
    rotations : ndarray of shape (K + 1, n_columns, n_columns)
        Rotations of the columns that the stage before passes on; the first is the identity.
    """

    models: Sequence[Any]
    rotations: Floats


def turned(columns: Floats, rotation: Floats, view: int) -> Float32s:
    """A view of the columns; the bits of a row do not depend on the others. View 0 is unrotated."""
    numbers = np.asfortranarray(columns, dtype=np.float32)
    if view == 0:
        return numbers
    out = np.empty_like(numbers)
    _core.rotate_rows(numbers, np.asfortranarray(rotation), 1, out)
    return out


def columns_without(
    folds: Folds, left_out: LeftOut, passed: Passed, output: Output
) -> tuple[Floats, Indices, Floats, Indices]:
    """Rows that a model without these folds learns from and predicts, with their numbers.

    A row to learn from was left out, with these folds, by the models that predict it.
    """
    learned, held_out = folds.learned(left_out), folds.held_out(left_out)
    any_passed = next(iter(passed.values()))
    inputs = np.empty((len(learned), *any_passed.shape[1:]))
    for fold in range(len(folds)):
        here = folds.of_row[learned] == fold
        if here.any():
            inputs[here] = passed[tuple(sorted({*left_out, fold}))][learned[here]]
    held_out_inputs = passed[left_out][held_out] if left_out else any_passed[:0]
    return output.columns(inputs), learned, output.columns(held_out_inputs), held_out
