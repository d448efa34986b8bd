"""Columns that name rows are left out; measurements are not."""

import numpy as np
import pytest

from bevel.data.tables import Columns
from bevel.workflow.rows import find_keys

N = 40
RNG = np.random.default_rng(0)
COUNT = np.arange(N, dtype=float)


def keys(name, values, row_names=None, wanted=()):
    column = np.asarray(values)
    other = Columns((name, "x"), (column, RNG.normal(size=len(column))))
    return [key.name for key in find_keys(other, row_names, wanted)]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("c1", COUNT),
        ("x1", COUNT + 1),
        ("Unnamed: 0", COUNT + 17),
        ("patient_id", COUNT + 1001),
        ("PassengerId", RNG.permutation(COUNT) * 7),
        ("customerID", RNG.permutation(COUNT)),
        ("ID", COUNT * 10),
        ("id_no", COUNT * 10),
        ("account", np.sort(RNG.integers(10**17, 10**18, N)).astype(float)),
        ("name", np.array([f"n{i}" for i in range(N)], dtype=object)),
        ("ticket", np.array([f"n{i // 1.5}" for i in range(N)], dtype=object)),
    ],
)
def test_row_numbers_and_keys_are_found(name, values):
    assert keys(name, values) == [name]
    assert keys(name, values, wanted={name}) == []


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("year", COUNT + 1980),
        ("year", COUNT + 1),
        ("day", COUNT),
        ("time_step", COUNT),
        ("income", np.sort(RNG.permutation(1000)[:N]).astype(float)),
        ("rank", RNG.permutation(COUNT) + 1),
        ("height", COUNT + 150),
        ("half", COUNT / 2),
        ("user_id", COUNT // 2),
        ("paid", COUNT * 3),
        ("grid", COUNT * 3),
        ("timestamp", COUNT + 1.6e18),
        ("city", np.array([f"c{i % 20}" for i in range(N)], dtype=object)),
    ],
)
def test_measurements_are_kept(name, values):
    assert keys(name, values) == []


def test_column_without_a_name_is_a_row_number_in_few_rows_too():
    assert keys("c1", [0.0, 1.0, 2.0], row_names="c1") == ["c1"]
    assert keys("c1", [0.0, 1.0, 2.0]) == []


def test_dates_are_no_keys():
    X = Columns(("id", "x"), (COUNT, RNG.normal(size=N)), frozenset({"id"}))
    assert find_keys(X, None, ()) == []
