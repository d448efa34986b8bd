"""Tests of rows, as SQL: a database takes the rows that the test takes, whatever its bounds are."""

import math
import sqlite3

import numpy as np
import pytest

from bevel.analysis.rules.tests_of_rows import NumberTest

BOUNDS = (-math.inf, -1.0, 0.5, math.inf)
VALUES = [-2.0, -1.0, 0.0, 0.5, 3.0, None]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("high", BOUNDS)
@pytest.mark.parametrize("low", BOUNDS)
def test_database_takes_the_same_rows_for_finite_and_infinite_bounds(low, high, missing):
    test = NumberTest((0,), (1.0,), (0.0,), low, high, False, True, missing)
    numbers = np.array(VALUES, dtype=float)
    expected = [value for value, holds in zip(VALUES, test.holds([numbers]), strict=True) if holds]
    with sqlite3.connect(":memory:") as database:
        database.execute('CREATE TABLE rows ("x")')
        database.executemany("INSERT INTO rows VALUES (?)", [(value,) for value in VALUES])
        found = database.execute(f"SELECT x FROM rows WHERE {test.sql(['x'])}").fetchall()
    assert [value for (value,) in found] == expected
