"""`bevel.parameters.parameter`: ranges of parameters as data."""

from __future__ import annotations

import numpy as np
import pytest

from bevel.parameters.parameter import (
    Flag,
    Float,
    Function,
    InstanceOf,
    Integer,
    NoneOption,
    Number,
    Parameter,
    StrOptions,
)


def parameter(*accepts):
    return Parameter("size", None, accepts, "Meaning.", "Do this.")


@pytest.mark.parametrize(
    ("accepts", "good"),
    [
        ([Integer(1)], [1, np.int32(7)]),
        ([Integer()], [-3, 0]),
        ([Float("(0, 1]")], [0.5, 1.0, np.float32(0.1)]),
        ([Number("[0, inf)")], [0, 0.0, 1e9]),
        ([StrOptions(("a", "b"))], ["a", "b"]),
        ([NoneOption()], [None]),
        ([Flag()], [True, np.False_]),
        ([Function("(x)")], [len, str]),
        ([InstanceOf("a dict", dict)], [{}, {"a": 1}]),
        ([NoneOption(), Integer(1), Float("(0, 1)")], [None, 4, 0.4]),
    ],
)
def test_values_in_range_pass(accepts, good):
    for value in good:
        parameter(*accepts).check(value)


@pytest.mark.parametrize(
    ("accepts", "value", "message"),
    [
        (Integer(1), 0, "size must be an integer of at least 1; got 0. Do this."),
        (Integer(1), 2**31, "size must be an integer of at most 2147483647; got 2147483648. Do"),
        (Integer(1, 9), np.int64(10), "size must be an integer of at most 9; got"),
        (Number("[0, inf)"), 10**400, r"size must be a number in \[0, inf\); got 1000"),
        (Number("[0, 1]"), -(10**400), r"size must be a number in \[0, 1\]; got -1000"),
        (Float("(0, 1]"), 0.0, r"size must be a float in \(0, 1\]; got 0.0"),
        (Float("(0, 1]"), 1.5, "got 1.5"),
        (Float("(0, 1)"), 1.0, "got 1.0"),
        (Number("[0, inf)"), float("inf"), "got inf"),
        (Number("[0, inf)"), float("nan"), "got nan"),
        (StrOptions(("a", "b")), "c", 'size must be "a" or "b"; got \'c\''),
    ],
)
def test_values_out_of_range_raise_value_error(accepts, value, message):
    with pytest.raises(ValueError, match=message):
        parameter(accepts).check(value)


@pytest.mark.parametrize(
    ("accepts", "value"),
    [
        (Integer(1), 1.0),
        (Integer(1), True),
        (Integer(1), "1"),
        (Float("(0, 1]"), 1),
        (Number("[0, 1]"), True),
        (StrOptions(("a",)), None),
        (Flag(), 1),
        (Function("(x)"), "len"),
        (InstanceOf("a dict", dict), [1]),
    ],
)
def test_values_of_another_kind_raise_type_error(accepts, value):
    with pytest.raises(TypeError, match="size must be"):
        parameter(accepts).check(value)


def test_required_lists_all_kinds():
    text = parameter(NoneOption(), Integer(1), Float("(0, 1]")).required
    assert text == "None, an integer of at least 1 or a float in (0, 1]"
