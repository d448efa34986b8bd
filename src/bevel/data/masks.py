"""Masked arrays of NumPy: masked entries are missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["fill_masked"]

# Missing value of each kind of dtype; None in arrays of objects.
_MISSING = {"f": np.nan, "c": np.nan, "M": "NaT", "m": "NaT"}


def fill_masked(value: Any) -> Any:
    """Replace the masked entries of an array by missing values; other objects are returned as is.

    Whole numbers and truth values become floats, in which NaN stands for a missing value.
    """
    if not isinstance(value, np.ma.MaskedArray) or value.dtype.names is not None:
        return value
    hidden = np.ma.getmaskarray(value)
    if not hidden.any():
        return value.data
    kind: Any = value.dtype if value.dtype.kind in _MISSING else object
    filled: npt.NDArray[Any] = value.data.astype(float if value.dtype.kind in "iub" else kind)
    filled[hidden] = _MISSING.get(filled.dtype.kind)
    return filled
