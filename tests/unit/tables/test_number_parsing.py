"""Numbers as spreadsheets write them."""

import numpy as np
import pytest

from bevel.tables.parsing import AmbiguousDecimalError, decimal_of, parse_number, read_numbers


@pytest.mark.parametrize(
    ("cell", "point", "comma"),
    [
        ("50,123.4", 50123.4, None),
        ("50.123,4", None, 50123.4),
        ("1,234,567", 1234567, None),
        ("1.234.567", None, 1234567),
        ("1,234", 1234, 1.234),
        ("1.234", 1.234, 1234),
        ("0,123", None, 0.123),
        ("12,5", None, 12.5),
        ("1 234,5", None, 1234.5),
        ("1\u202f234,5", None, 1234.5),
        ("1'234.5", 1234.5, None),
        ("1,23,456.7", 123456.7, None),
        ("1.2%", 1.2, None),
        ("3 %", 3, 3),
        ("$5", 5, 5),
        ("-$5.00", -5, None),
        ("$-5", -5, -5),
        ("($3.50)", -3.5, None),
        ("1.234,50 €", None, 1234.5),
        ("CHF 1'200.50", 1200.5, None),
        ("−3", -3, -3),
        (".5", 0.5, None),
        ("1.5e3", 1500, None),
        ("1,2,3", None, None),
        ("1,2345.6", None, None),
        ("12,34.5", None, None),
        ("1,234.567,8", None, None),
        ("A5", None, None),
        ("5 kg", None, None),
        ("--5", None, None),
        ("(5", None, None),
        ("$5%", None, None),
        ("1_000", None, None),
        ("", None, None),
    ],
)
def test_cell_is_read_with_either_decimal_sign(cell, point, comma):
    for sign, expected in ((".", point), (",", comma)):
        read = parse_number(cell, sign)
        assert (None if read is None else read[0]) == expected


def test_numbers_that_python_writes_with_groups_are_read_back():
    rng = np.random.default_rng(0)
    for value in rng.normal(size=300) * 10.0 ** rng.integers(0, 9, 300):
        text = f"{value:,.3f}"
        assert parse_number(text, ".")[0] == float(text.replace(",", ""))
        other = text.translate(str.maketrans(",.", ".,"))
        assert parse_number(other, ",")[0] == float(text.replace(",", ""))


def read(*cells, decimal=None, preferred=None, grouped_by_comma=False):
    found = read_numbers(cells, decimal, preferred, grouped_by_comma)
    return None if found is None else list(found.values.values())


def test_a_column_has_one_decimal_sign():
    assert read("1,234", "12,5") == [1.234, 12.5]
    assert read("1,234", "12.5") == [1234, 12.5]
    assert read("12,5", "12.5") is None


def test_cells_that_may_be_either_are_decided_by_the_file_or_the_user_or_not_at_all():
    with pytest.raises(AmbiguousDecimalError):
        read("1,234", "5")
    assert read("1,234", "5", preferred=",") == [1.234, 5]
    assert read("1,234", "5", decimal=".") == [1234, 5]
    assert read("1,234", "5", grouped_by_comma=True) == [1234, 5]


def test_percentages_and_currencies_do_not_mix():
    assert read("5%", "7%") == [5, 7]
    assert read("5%", "5") is None
    assert read("$5", "7") == [5, 7]
    assert read("$5", "€7") is None


@pytest.mark.parametrize(
    ("cells", "sign"),
    [
        (["1,5", "word"], ","),
        (["1.5", "1,234"], "."),
        (["1,234", "5"], None),
        (["1,5", "1.5"], None),
    ],
)
def test_decimal_sign_of_a_file_is_what_its_cells_prove(cells, sign):
    assert decimal_of(cells) == sign
