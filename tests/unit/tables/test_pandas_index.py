"""The index of a pandas data frame in a Parquet file is no feature of the commands."""

import numpy as np
import pandas as pd
import pytest

from bevel.tables.table_file import open_table
from bevel.workflow.rows import read_labelled_rows

pytest.importorskip("pyarrow")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    frame["y"] = frame.a + rng.normal(size=60)
    frame = frame.sort_values("y")
    frame.index = np.arange(60) // 2  # no key: numbers come twice
    return frame


@pytest.mark.parametrize("name", [None, "visit"])
def test_index_is_left_out_with_a_note(name, frame, tmp_path):
    path = tmp_path / "rows.parquet"
    frame.rename_axis(name).to_parquet(path)
    stored = name or "__index_level_0__"
    assert open_table(path).index == (stored,)
    rows = read_labelled_rows(path, "y")
    assert rows.X.names == ("a", "b")
    assert any(f"{stored!r} (the index of a pandas data frame)" in note for note in rows.notes)
    rows = read_labelled_rows(path, "y", keep_id=True)
    assert rows.X.names == ("a", "b", stored)
    rows = read_labelled_rows(path, "y", nominal=[stored])
    assert rows.X.names == ("a", "b", stored)  # wanted by name


def test_rows_that_are_counted_leave_no_column(frame, tmp_path):
    path = tmp_path / "rows.parquet"
    frame.reset_index(drop=True).to_parquet(path)
    assert open_table(path).index == ()
    assert read_labelled_rows(path, "y").X.names == ("a", "b")
