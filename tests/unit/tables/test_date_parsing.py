"""Dates as people write them."""

import datetime as dt

import pytest

from bevel.tables.parsing import AmbiguousOrderError, parse_date, read_dates

DAY = float((dt.date(2024, 12, 31) - dt.date(1970, 1, 1)).days)


@pytest.mark.parametrize(
    ("cell", "order"),
    [
        ("2024-12-31", "ymd"),
        ("2024/12/31", "ymd"),
        ("31.12.2024", "dmy"),
        ("31/12/2024", "dmy"),
        ("31-12-24", "dmy"),
        ("12/31/2024", "mdy"),
        ("12/31/24", "mdy"),
        ("31-Dec-2024", "dmy"),
        ("31DEC2024", "dmy"),
        ("December 31, 2024", "mdy"),
    ],
)
def test_dates_are_read(cell, order):
    assert parse_date(cell)[order] == DAY


@pytest.mark.parametrize(
    ("cell", "hours"),
    [
        ("31.12.2024 18:30", 18.5),
        ("12/31/2024 6:30 PM", 18.5),
        ("12/31/2024 12:15 am", 0.25),
        ("12/31/2024, 12:00 PM", 12),
        ("2024-12-31T18:30:00+02:00", 16.5),
        ("2024-12-31 00:00:00.9", 0.9 / 3600),
    ],
)
def test_times_of_day_are_read(cell, hours):
    (value,) = set(parse_date(cell).values())
    assert value == pytest.approx(DAY + hours / 24, abs=1e-11)


@pytest.mark.parametrize(
    "cell",
    [
        "1.2.10",
        "32.12.2024",
        "30.2.2024",
        "13/13/2024",
        "12/31/2024 13:00 PM",
        "31-Foo-2024",
        "1-2",
        "2024",
        "1.2.3.4",
        "12.31.2024",
        "31.12-2024",
        "99/99/9999",
        "",
    ],
)
def test_other_cells_are_no_dates(cell):
    assert parse_date(cell) == {}


def test_all_cells_of_a_column_decide_the_order():
    assert read_dates(["1/2/2024", "13/2/2024"])[1] == "dmy"
    assert read_dates(["1/2/2024", "2/13/2024"])[1] == "mdy"
    assert read_dates(["13/2/2024", "2/13/2024"]) is None
    assert read_dates(["5/5/2024"])[0] == {"5/5/2024": 19848.0}
    with pytest.raises(AmbiguousOrderError):
        read_dates(["1/2/2024", "5/5/2024"])
    assert read_dates(["1/2/2024"], "mdy")[0]["1/2/2024"] == 19724.0
    assert read_dates(["1/2/2024"], "dmy")[0]["1/2/2024"] == 19754.0
