"""The tables of a flat forest's arrays agree in Python, in the core and in the dataclass."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

import numpy as np

from bevel import _core
from bevel.forest.flat_forest import FOREST_FIELDS, FlatForest

NOT_OF_TREES = {"n_features", "n_classes", "levels", "medians"}


def test_tables_of_python_and_of_the_core_agree() -> None:
    core = {name: tuple(rest) for name, *rest in _core.forest_fields()}
    assert core == {name: tuple(field) for name, field in FOREST_FIELDS.items()}


def test_table_lists_the_arrays_of_the_dataclass_in_their_order() -> None:
    names = [field.name for field in fields(FlatForest)]
    assert list(FOREST_FIELDS) == [name for name in names if name not in NOT_OF_TREES]


def test_types_of_the_table_are_those_of_the_annotations() -> None:
    import bevel.forest.flat_forest as module

    hints = {
        name: eval(text, vars(module))  # the annotations are strings
        for name, text in FlatForest.__annotations__.items()
        if name in FOREST_FIELDS
    }
    for name, hint in hints.items():
        assert np.dtype(_element(hint)).str == FOREST_FIELDS[name].dtype, name


def _element(hint: Any) -> Any:
    """The scalar type of `NDArray[scalar]`, an alias of its own from NumPy 2.5 on."""
    *_, last = get_args(hint)
    return last if isinstance(last, type) else get_args(last)[0]
