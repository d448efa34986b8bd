"""Which columns of a file were the index of a pandas data frame."""

import json

import pandas as pd
import pytest

from bevel.data.tables import index_columns


def described(columns):
    return {b"pandas": json.dumps({"index_columns": columns}).encode()}


def test_columns_that_pandas_names_are_found():
    names = ["a", "day", "b", "__index_level_1__"]
    assert index_columns(names, described(["day", "__index_level_1__"])) == (
        "day",
        "__index_level_1__",
    )
    assert index_columns(names, described(["absent"])) == ("__index_level_1__",)


def test_rows_that_are_counted_have_no_column():
    counted = {"kind": "range", "name": None, "start": 0, "stop": 10, "step": 1}
    assert index_columns(["a", "b"], described([counted])) == ()


def test_index_without_a_name_is_known_without_metadata():
    assert index_columns(["a", "__index_level_0__"], None) == ("__index_level_0__",)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[]", b"{}", b'{"index_columns": 3}'])
def test_damaged_metadata_name_no_column(text):
    assert index_columns(["a", "b"], {b"pandas": text}) == ()


def test_metadata_are_those_that_pandas_writes():
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=pd.Index([3, 1, 2], name="key"))
    schema = pa.Table.from_pandas(frame).schema
    assert index_columns(schema.names, schema.metadata) == ("key",)
