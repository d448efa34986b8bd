"""Columns that count rows sorted by the target: found, with a false-alarm rate below 1e-6."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest

import bevel
from bevel import ObliqueBoostingRegressor, ObliqueForestClassifier, ObliqueForestRegressor
from bevel.data.row_numbers import _chance, _is_sorted_along, find_row_numbers
from bevel.data.tables import read_table
from bevel.errors import RowNumberWarning
from bevel.files.layout import read_layout, write_layout

N = 60
RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=N)
CLASSES = np.repeat([1, 0, 2], 20).astype(np.int32)
VALUES = np.sort(RNG.normal(size=N)).round(1)


def found(column, y, n_classes=0):
    table = read_table(np.column_stack([NOISE[: len(column)], column]))
    return find_row_numbers(table, np.zeros(2, np.int32), y, n_classes)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("y", "n_classes"), [(CLASSES, 3), (VALUES, 0), (-VALUES, 0)])
def test_row_number_of_sorted_rows_is_found_in_any_order_of_the_rows(first, y, n_classes):
    column = np.arange(N) + first
    assert found(column, y, n_classes) == [1]
    shuffled = RNG.permutation(N)
    assert found(column[shuffled], y[shuffled], n_classes) == [1]
    half = np.sort(shuffled[: 2 * N // 3])  # what a split into training and test rows leaves
    assert found(column[half], y[half], n_classes) == [1]


@pytest.mark.parametrize(
    ("column", "y", "n_classes"),
    [
        (np.arange(N) + 1960, VALUES, 0),  # years
        (np.arange(N) / 2, VALUES, 0),
        (np.repeat(np.arange(N // 2), 2), VALUES, 0),
        (3 * np.arange(N), VALUES, 0),
        (np.where(np.arange(N) == 7, np.nan, np.arange(N)), VALUES, 0),
        (RNG.permutation(N), VALUES, 0),
        (np.arange(N), RNG.permutation(CLASSES), 3),
        (np.arange(N), np.where(np.arange(N) == 0, 1, 0), 2),  # one row of a class: may be chance
    ],
)
def test_other_columns_are_not_found(column, y, n_classes):
    assert found(column, y, n_classes) == []


@pytest.mark.parametrize(
    ("y", "n_classes"),
    [
        ([0, 0, 1, 1, 1], 2),
        ([0, 1, 2, 2, 2], 3),
        ([1.0, 2.0, 3.0, 4.0, 5.0], 0),
        ([1.0, 1.0, 3.0, 4.0, 4.0], 0),
    ],
)
def test_chance_is_the_share_of_orders_that_are_sorted(y, n_classes):
    y = np.array(y)
    orders = list(itertools.permutations(range(len(y))))
    n_sorted = sum(_is_sorted_along(np.array(order), y, n_classes) for order in orders)
    assert math.exp(_chance(y, n_classes)) == pytest.approx(n_sorted / len(orders))


def test_no_false_alarm_among_columns_in_random_order():
    # Each has a probability below 1e-6 by the exact count above; 2,000 of them below 0.002.
    X = np.column_stack([RNG.permutation(N) for _ in range(2000)])
    table = read_table(X)
    y = np.repeat([0, 1], N // 2)
    assert find_row_numbers(table, np.zeros(2000, np.int32), y, 2) == []


def test_rows_too_few_to_decide_are_not_warned_of():
    assert found(np.arange(8), np.repeat([0, 1], 4), 2) == []


@pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_forest_warns_and_names_the_column(estimator):
    frame = pd.DataFrame({"x": NOISE, "kind": np.repeat(["u", "v"], 30), "index": np.arange(N)})
    with pytest.warns(RowNumberWarning, match="Column 'index' counts the rows.*Drop the column"):
        estimator(2).fit(frame, np.sort(CLASSES))
    estimator(2).fit(frame[["index"]], np.sort(CLASSES))  # the only one there is
    estimator(2).fit(frame.assign(index=np.arange(N) + 1960), np.sort(CLASSES))


@pytest.mark.parametrize(
    "estimator", [ObliqueForestClassifier, ObliqueForestRegressor, ObliqueBoostingRegressor]
)
def test_names_of_the_rows_are_warned_of(estimator):
    frame = pd.DataFrame({"x": NOISE, "name": [f"row {i}" for i in range(N)]})
    model = estimator(n_estimators=2) if "Forest" in estimator.__name__ else estimator(max_iter=2)
    with pytest.warns(RowNumberWarning, match="Column 'name' has a different label in every row"):
        model.fit(frame, CLASSES)
    model.fit(frame[["name"]], CLASSES)  # the only one there is
    model.fit(frame.assign(name=["row 0", *frame["name"][1:-1], "row 0"]), CLASSES)
    model.fit(frame[:20], CLASSES[:20])


def test_labels_that_say_nothing_are_told_once():
    n = 400
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = x + np.tile([1.0, -1.0], n // 2)  # the rows of a pair differ as much as any
    names = {"key": [f"k{i}" for i in rng.permutation(n)], "pair": [f"p{i // 2}" for i in range(n)]}
    frame = pd.DataFrame({"x": x, **names})
    for model in (ObliqueForestRegressor(2), ObliqueBoostingRegressor(max_iter=2)):
        with pytest.warns(RowNumberWarning) as caught:
            model.fit(frame, y)
        key, pair = (str(each.message) for each in caught)
        assert "'key' has a different label in every row" in key
        assert "'pair' has many labels, between which the target differs by no more than" in pair
        assert "It is left out" in key
        assert "It is left out" in pair
        assert list(model.columns_.left_out) == ["key", "pair"]
        assert model.feature_importances_.tolist() == [1.0, 0.0, 0.0]


def test_index_of_a_data_frame_that_is_a_column_is_warned_of():
    """As pyarrow and polars read it from a Parquet file of pandas."""
    frame = pd.DataFrame({"a": NOISE, "b": RNG.normal(size=N)})
    hidden = frame.assign(__index_level_0__=RNG.permutation(N))
    forest = ObliqueForestRegressor(2, random_state=0)
    with pytest.warns(RowNumberWarning, match="'__index_level_0__' is the index of a pandas"):
        forest.fit(hidden, VALUES)
    with pytest.warns(RowNumberWarning, match="one more column"):
        ObliqueBoostingRegressor(max_iter=2).fit(hidden, VALUES)
    forest.fit(frame, VALUES)
    forest.fit(hidden[["__index_level_0__"]], VALUES)  # the only column: it is meant


def test_scanned_columns_of_nearly_unique_labels_are_left_out(tmp_path):
    """Trees over blocks do not subtract what their levels gain by chance."""
    x = np.random.default_rng(0).normal(size=300)
    frame = pd.DataFrame(
        {
            "x": x,
            "key": [f"k{i}" for i in range(300)],
            "pair": [f"p{i // 2}" for i in range(300)],
            "y": x > 0,
        }
    )
    frame.to_csv(tmp_path / "table.csv", index=False)
    forest = ObliqueForestClassifier(3, random_state=0, n_jobs=1)
    scanned = bevel.scan(tmp_path / "table.csv", target="y")
    with pytest.warns(RowNumberWarning, match="'key' has 300 labels, too many to be levels"):
        forest.fit(scanned)
    assert forest.columns_.left_out == {"key": "300 labels, too many to be levels"}
    path = tmp_path / "model.bevel"
    forest.save(path)
    rows = frame[["x", "key", "pair"]]
    np.testing.assert_array_equal(bevel.load(path).predict(rows), forest.predict(rows))
    layout = read_layout(path.read_bytes())
    arrays = {name: layout.view(name) for name in layout.sections}
    for change in ({"n_too_many": 0}, {"has_missing": False}, {"is_text": True}):
        header = json.loads(json.dumps(layout.header))
        entry = next(each for each in header["nominal"] if "n_too_many" in each)
        entry |= change
        path.write_bytes(b"".join(write_layout(header, arrays)))
        with pytest.raises(bevel.ModelFileError):
            bevel.load(path)
