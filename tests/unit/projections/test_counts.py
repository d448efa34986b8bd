"""`bevel.projections.base`: words for numbers."""

from __future__ import annotations

import numpy as np
import pytest

from bevel.projections.base import resolve_count, round_up


@pytest.mark.parametrize(
    ("count", "p", "expected"),
    [
        (7, 3, 7),
        (np.int64(4), 3, 4),
        ("sqrt", 20, 4),
        ("sqrt", 1, 1),
        ("log2", 20, 4),
        ("log2", 1, 1),
        ("p", 20, 20),
        ("p**2", 20, 400),
        ("p ** 1.5", 4, 8),
        ("p**0.25", 20, 3),
        ("p**0.2", 243, 3),
        ("p**-1", 20, 1),
        (0.5, 9, 4),
        (1.0, 9, 9),
        (0.01, 9, 1),
    ],
)
def test_count_of_each_form_is_resolved(count, p, expected):
    assert resolve_count("n_projections", count, p) == expected


@pytest.mark.parametrize("count", [0, -3, 0.0, 1.5, float("nan"), "sqr", "p**", "p**k", "2*p", ""])
def test_count_out_of_range_names_parameter_and_value(count):
    with pytest.raises(ValueError, match=r"n_projections must be a positive integer.*got") as error:
        resolve_count("n_projections", count, 10)
    assert repr(count) in str(error.value)
    assert 'Write for example n_projections="sqrt"' in str(error.value)


@pytest.mark.parametrize("count", [None, True, [3], (1, 2)])
def test_count_of_wrong_kind_raises_type_error(count):
    with pytest.raises(TypeError, match="n_projections must be a positive integer"):
        resolve_count("n_projections", count, 10)


@pytest.mark.parametrize("count", ["p**9", "p**1000", 2**40])
def test_count_beyond_32_bits_raises(count):
    with pytest.raises(ValueError, match="at most 2147483647 for 50 features"):
        resolve_count("n_projections", count, 50)


def test_round_up_forgives_the_last_bits_only():
    assert round_up(3.0000000000000004) == 3
    assert round_up(3.001) == 4
    assert round_up(0.1 * 30) == 3
