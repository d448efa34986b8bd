"""Labels and parameters as JSON: what goes in comes out, and what is no value is refused."""

import datetime
import json
import math

import numpy as np
import pytest

from bevel import ModelFileError
from bevel.files.layout import Sections, read_json, read_layout, write_json, write_layout
from bevel.files.values import (
    UnstorableError,
    decode_labels,
    decode_scalar,
    decode_value,
    encode_labels,
    encode_scalar,
    encode_value,
)

SCALARS = [
    *(None, True, False, 0, -1, 10**300, 0.1, -0.0, 5e-324, "", "é\u0000\ud800", b"", b"\x00\xff"),
    *(math.inf, -math.inf, np.float32(0.1), np.float64("inf"), np.int8(-1), np.uint64(2**64 - 1)),
    *(np.bool_(True), np.str_("a"), np.bytes_(b"\xff"), np.float16(2.5)),
    *(np.datetime64("2024-05-31"), np.datetime64("2024-05-31T12:00", "ns"), np.timedelta64(5, "s")),
    datetime.date(1, 1, 1),
    datetime.datetime(2024, 5, 31, 12, 30, 1, 7),
    datetime.datetime(2024, 5, 31, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
]
ARRAYS = [
    np.array([b"a", b"\xff\x00b"]),
    np.array(["", "längst"]),
    np.array(["2024-05-31", "2025-01-01"], "M8[D]"),
    np.array([1, 2], "m8[ms]"),
    np.array([1, 300], ">u2"),
    np.array([0.5, np.nan], np.float16),
    np.array([True, False]),
    np.array([2**70, None, "a", 1.5, np.int8(3)], dtype=object),
    np.array([], dtype=object),
]


def nothing():
    """The sections of an empty file."""
    return Sections(read_layout(b"".join(write_layout({}, {}))))


def through_json(value):
    return read_json(write_json(value))


@pytest.mark.parametrize("value", SCALARS, ids=repr)
def test_scalars_come_back_with_their_types(value):
    back = decode_scalar(through_json(encode_scalar(value)))
    assert type(back) is type(value)
    assert back == value
    assert repr(back) == repr(value)  # signs of zero, units of times


def test_many_huge_integers_come_back_unless_their_hashes_are_equal():
    labels = np.array([10**25 + number for number in range(5000)], dtype=object)
    assert decode_labels(encode_labels(labels), "labels", nothing()).tolist() == labels.tolist()
    alike = np.array([1 + number * (2**61 - 1) for number in range(5000)], dtype=object)
    with pytest.raises(UnstorableError):
        encode_labels(alike)


def test_nan_comes_back():
    assert math.isnan(decode_scalar(through_json(encode_scalar(math.nan))))
    assert np.isnan(decode_scalar(through_json(encode_scalar(np.float32("nan")))))


@pytest.mark.parametrize("labels", ARRAYS, ids=str)
def test_arrays_of_labels_come_back_with_their_types(labels):
    back = decode_labels(through_json(encode_labels(labels)), "labels", nothing())
    assert back.dtype == labels.dtype
    assert repr(back) == repr(labels)


@pytest.mark.parametrize(
    "value", [1j, object(), np.longdouble(1), len, bytearray(b"a"), 10**5000], ids=type
)
def test_other_types_are_unstorable(value):
    with pytest.raises(UnstorableError):
        encode_value(value, {})


def test_endless_containers_are_unstorable():
    endless = []
    endless.append(endless)
    with pytest.raises(UnstorableError):
        encode_value(endless, {})


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"float": "1"},
        {"float": 1},
        {"bytes": "a"},
        {"bytes": "é"},
        {"date": "2024-13-01"},
        {"datetime": "now"},
        {"numpy": 3},
        {"numpy": ["<i4"]},
        {"numpy": ["<i4", 2**31]},
        {"numpy": ["<i4", 1.0]},
        {"numpy": ["<i4", True]},
        {"numpy": ["<f4", 1e300]},
        {"numpy": ["<f4", 0.1]},
        {"numpy": ["|O8", 1]},
        {"numpy": ["V8", 1]},
        {"numpy": ["<M8[25s]", 1]},
        {"numpy": ["U", 3]},
        {"numpy": ["S", "a"]},
        {"complex": "1j"},
        {"tuple": 1},
        {"dict": [[1]]},
        {"dict": [[[], 1]]},
        {"dict": [[1, 2], [1, 3]]},
        {"function": 3},
        {"labels": {"dtype": "<i4", "values": ["a"]}},
        {"labels": {"dtype": "<i4"}},
        {"labels": {"dtype": "U", "values": [1]}},
        {"labels": {"dtype": "U", "values": ["a"], "more": 1}},
        {"labels": {"dtype": "U", "values": ["x" * 70_000] + [""] * 1000}},
        {"labels": {"dtype": "object", "values": [k * (2**61 - 1) for k in range(5000)]}},
        {"dict": [[k * (2**61 - 1), 0] for k in range(5000)]},
        {"projection": {"class": "os.system", "arguments": {}}},
        {"projection": {"class": "Projection", "arguments": {}}},
        {"projection": {"class": "Ridge", "arguments": {"secret": 1}}},
        {"projection": {"class": "SparseSigns", "arguments": {"density": -1}}},
        {"projection": {"class": "SparseSigns", "arguments": {"density": 10**400}}},
        {"projection": {"class": "Patches", "arguments": {"shape": {"tuple": [2] * 65}}}},
        {"projection": {"class": "Patches", "arguments": {}}},
        [[[[[[[[[[[[[[[1]]]]]]]]]]]]]]],
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_what_is_no_value_is_refused(value):
    with pytest.raises(ModelFileError):
        decode_value(value, nothing())


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\xff",
        b"[NaN]",
        b"[-Infinity]",
        b"[1e999]",
        b'{"a":1,"a":1}',
        b"1" * 5000,
        b"[" * 1_000_000,
        b"\xef\xbb\xbf1",
    ],
    ids=lambda text: repr(text[:10]),
)
def test_what_is_no_plain_json_is_refused(text):
    with pytest.raises(ModelFileError):
        read_json(text)
