"""Numbers written with few digits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bevel.text.split_text import counted, percent, round_within, significant, written

FINITE = st.floats(-1e12, 1e12, allow_nan=False)


@given(FINITE, st.floats(1e-9, 1e6))
def test_rounding_stays_within_the_tolerance_and_no_shorter_number_would(value, tolerance):
    rounded = round_within(value, tolerance)
    assert abs(rounded - value) <= tolerance
    digits = significant(rounded)
    shorter = [float(f"{value:.{d}e}") for d in range(digits - 1)]
    assert all(abs(other - value) > tolerance for other in shorter)


@given(FINITE)
def test_without_tolerance_a_number_is_left_alone(value):
    assert round_within(value, 0.0) == value


@pytest.mark.parametrize(
    ("value", "text"), [(-1.5, "−1.5"), (2.0, "2"), (1e-7, "1e−07"), (0.3, "0.3")]
)
def test_numbers_are_written_with_a_true_minus_and_without_noise(value, text):
    assert written(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (1e-4, "1 %"), (0.9999, "99 %"), (1.0, "100 %")],
)
def test_only_all_is_a_hundred_percent(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(("weight", "text"), [(1.0, "1 row"), (12.0, "12 rows"), (1.2, "1.2 rows")])
def test_rows_are_counted_by_weight(weight, text):
    assert counted(weight) == text
