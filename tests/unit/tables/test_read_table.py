"""`bevel.read_table` reads what the commands and `bevel.scan` read."""

import numpy as np
import pandas as pd
import pytest

import bevel
from bevel import ObliqueForestClassifier

ROWS = "age;city;paid;seen\n41;Rome;1.200,50;2024-03-01\n?;Oslo;990,00;2024-03-02\n28;;7,10;\n"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text(ROWS, encoding="utf-8")
    return file


def test_types_are_those_that_the_commands_find(path):
    table = bevel.read_table(path)
    assert repr(table) == "Columns: 3 rows, 4 columns (3 numeric, 1 nominal)"
    np.testing.assert_array_equal(table["age"], [41.0, np.nan, 28.0])
    np.testing.assert_array_equal(table["paid"], [1200.5, 990.0, 7.1])
    assert table["city"].tolist() == ["Rome", "Oslo", None]
    assert table.dates == {"seen"}


def test_columns_options_and_types_are_honoured(path):
    table = bevel.read_table(str(path), ["paid", "age"], types={"age": "nominal"})
    assert table.names == ("paid", "age")
    assert table["age"].tolist() == ["41", None, "28"]
    with pytest.raises(ValueError, match="has no column 'price'"):
        bevel.read_table(path, ["price"])
    with pytest.raises(ValueError, match="a single character"):
        bevel.read_table(path, delimiter=";;")


def test_columns_become_a_data_frame_and_lose_columns_by_name(path):
    table = bevel.read_table(path)
    frame = table.to_pandas()
    assert frame["seen"].tolist()[0] == pd.Timestamp("2024-03-01")
    assert frame["city"].dtype == "category"
    assert table.drop("city", "seen").names == ("age", "paid")
    with pytest.raises(KeyError, match="no column 'town'"):
        table.drop("town")


def test_rows_of_a_fit_are_read_as_in_the_fit(tmp_path):
    rng = np.random.default_rng(0)
    code, x = rng.choice(["7", "12", "north"], 80), rng.normal(size=80).round(3)
    y = np.where((code == "7") ^ (x > 0), "yes", "no")
    train, new = tmp_path / "train.csv", tmp_path / "new.csv"
    pd.DataFrame({"code": code, "x": x, "y": y}).to_csv(train, index=False)
    # Another order, a column more, and only numbers among the labels.
    some = pd.DataFrame({"more": 1, "x": x, "code": code})[code != "north"]
    some.to_csv(new, index=False)
    table = bevel.read_table(train)
    forest = ObliqueForestClassifier(20, random_state=0).fit(table.drop("y"), table["y"])
    rows = bevel.read_table(new, like=forest)
    assert rows.names == ("code", "x")
    expected = forest.predict(table.drop("y"))[code != "north"]
    np.testing.assert_array_equal(forest.predict(rows), expected)


def test_like_needs_a_fit_on_named_columns_and_no_columns(path):
    forest = ObliqueForestClassifier(2).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(TypeError, match="like must be a fitted estimator with names of columns"):
        bevel.read_table(path, like=forest)
    with pytest.raises(ValueError, match="columns must be None with like"):
        bevel.read_table(path, ["age"], like=forest)


def test_index_of_a_data_frame_in_parquet_is_left_out(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=[5, 9])
    frame.to_parquet(tmp_path / "rows.parquet")
    assert bevel.read_table(tmp_path / "rows.parquet").names == ("x",)
