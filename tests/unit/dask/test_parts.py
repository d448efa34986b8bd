"""Parts of Dask collections: what a column must be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bevel.dask.parts import column_parts


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_several_targets_are_refused_with_what_is_possible(kind: str) -> None:
    arrays = pytest.importorskip("dask.array", reason="needs bevel[dask]")
    frames = pytest.importorskip("dask.dataframe", reason="needs bevel[dask]")
    values = np.zeros((4, 2))
    y = {
        "array": lambda: arrays.from_array(values),
        "frame": lambda: frames.from_pandas(pd.DataFrame(values, columns=["a", "b"])),
    }[kind]()
    with pytest.raises((TypeError, ValueError), match="fit a forest for each, or the local"):
        column_parts("y", y)
