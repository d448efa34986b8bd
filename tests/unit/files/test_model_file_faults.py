"""Damaged, lying and hostile files give ModelFileError: no crash, no hang, no flood of memory."""

import contextlib
import struct
import tracemalloc
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from support.faults import Outcomes, try_files
from support.model_files import estimator_of, file_of, small_models
from support.mutations import PRELUDE, seal, split

import bevel
from bevel import ModelFileError
from bevel.files.layout import VERSION


@pytest.fixture(scope="module")
def source():
    return file_of(small_models()["nominal"][0])


def assert_refused(file, match=None):
    with pytest.raises(ModelFileError, match=match):
        estimator_of(file)
    with pytest.raises(ModelFileError, match=match):
        estimator_of(file, mapped=True)


def refuse_at_last(file, X=None):
    """Load as a map, predict, which may find the fault, and verify, which must."""
    mapped = estimator_of(file, mapped=True)
    if X is not None:
        with contextlib.suppress(ModelFileError):
            mapped.predict(X)
    mapped.verify()


def test_sealing_a_sound_file_gives_a_sound_file(source):
    header, data = split(source)
    assert estimator_of(seal(header, bytes(data))).n_features_in_ == 3


def test_any_bit_that_flips_is_noticed(source):
    for place in range(0, len(source), 3):
        damaged = bytearray(source)
        damaged[place] ^= 1 << place % 8
        with pytest.raises(ModelFileError):
            estimator_of(bytes(damaged))


def test_any_end_that_is_missing_is_noticed(source):
    for length in range(0, len(source), 7):
        assert_refused(source[:length])


def test_anything_behind_the_end_is_noticed(source):
    assert_refused(source + b"\0", match="bytes, the length in its header")


def test_file_of_something_else_is_refused():
    assert_refused(b"\x80\x04\x95" + bytes(100), match="a Bevel model file")


@pytest.mark.parametrize("version", [0, VERSION + 1, 2**32 - 1])
def test_other_version_is_refused_with_what_to_do(source, version):
    header, data = split(source)
    match = rf"format version {VERSION} .* got version {version}\. Upgrade Bevel.* save the model"
    assert_refused(seal(header, bytes(data), version=version), match=match)


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**32, 10**6])
@pytest.mark.parametrize("place", [16, 24])
def test_lengths_beyond_the_file_are_refused(source, place, length):
    damaged = bytearray(source)
    struct.pack_into("<Q", damaged, place, length)
    assert_refused(bytes(damaged))


def lie(source, *path, to):
    """The file with one field of the header changed and all checksums right."""
    header, data = split(source)
    place = header
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return seal(header, bytes(data))


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("estimator",), "ObliqueForestRegressor"),
        (("estimator",), "os.system"),
        (("n_features",), 2),
        (("n_features",), 2**40),
        (("n_features",), True),
        (("feature_names",), ["a"]),
        (("feature_names",), ["a", "b", 3]),
        (("classes",), None),
        (("classes", "values"), []),
        (("classes", "values"), ["no", "no", "no"]),
        (("classes", "dtype"), "|V8"),
        (("nominal", 0, "feature"), 3),
        (("nominal", 0, "feature"), 1),
        (("nominal", 0, "labels", "values"), ["a", "a", "b"]),
        (("nominal", 0, "labels", "dtype"), "U"),
        (("scaler", "kind"), "quantile"),
        (("scaler", "clip"), 1),
        (("seed",), -1),
        (("seed",), 2**64),
        (("bags",), [1, 2, 3]),
        (("bags",), [0, 0, True]),
        (("bags",), [60, 61, True]),
        (("bags",), [60, 2**40, True]),
        (("bags",), [2**40, 60, True]),
        (("leaf_share",), 0.0),
        (("leaf_share",), 1.5),
        (("leaf_share",), "half"),
        (("leaf_share",), float("nan")),
        (("oob_score",), "high"),
        (("parameters", "n_estimators"), 0),
        (("parameters", "n_estimators"), "many"),
        (("parameters", "projection"), "diagonal"),
        (("parameters", "projection"), []),
        (("parameters", "n_jobs"), 0),
        (("parameters", "n_jobs"), 2**40),
        (("parameters", "min_impurity_decrease"), 10**400),
        (("parameters", "random_state"), "now"),
        (("parameters", "secret"), 1),
        (("more",), 1),
        (("columns", "threshold", "length"), 2**60),
        (("columns", "threshold", "length"), -1),
        (("columns", "threshold", "length"), 1.0),
        (("columns", "threshold", "dtype"), "<f8"),
        (("columns", "threshold", "encoding"), "zip"),
        (("columns", "threshold", "parts"), []),
        (("columns", "threshold", "parts"), 3),
        (("columns", "threshold", "parts"), ["../../etc/passwd"]),
        (("columns", "threshold", "meta"), {"raw.base": 2**64}),
        (("columns", "threshold", "meta"), {"raw.base": 0}),
        (("columns", "threshold", "meta"), {"\ud800": 0}),
        (("columns", "threshold", "encoding"), "\ud800"),
        (("columns", "threshold", "encoding"), ""),
        (("columns", "threshold", "parts"), ["\ud800"]),
        (("columns", "\ud800"), {}),
        (("estimator",), "\ud800"),
        (("parameters", "\ud800"), 1),
        (("parameters", "projection"), "\ud800"),
        (("sections", 0, "name"), "\ud800"),
        (("sections", 0, "dtype"), "\ud800"),
        (("columns", "more"), {}),
        (("sections", 0, "length"), 2**62),
        (("sections", 0, "length"), 2**64),
        (("sections", 0, "length"), 0),
        (("sections", 1, "offset"), 0),
        (("sections", 1, "offset"), -8),
        (("sections", 0, "dtype"), "|O8"),
        (("sections", 0, "name"), "more"),
        (("sections",), None),
        (("sections",), [1, 2]),
    ],
    ids=str,
)
def test_lies_in_the_header_are_refused(source, path, to):
    file = lie(source, *path, to=to)
    with pytest.raises(ModelFileError):
        estimator_of(file)
    with pytest.raises(ModelFileError):
        refuse_at_last(file)


def test_repeated_sections_are_refused(source):
    header, data = split(source)
    header["sections"][1]["name"] = header["sections"][0]["name"]
    assert_refused(seal(header, bytes(data)), match="named once")


def test_sections_that_the_header_does_not_name_are_refused(source):
    header, data = split(source)
    entry = {"name": "more", "dtype": "|u1", "length": 8, "offset": len(data)}
    header["sections"].append(entry)
    assert_refused(seal(header, bytes(data) + bytes(8)), match="those that the header lists")


def test_fields_that_are_missing_are_refused(source):
    header, _ = split(source)
    for name in header:
        header, data = split(source)
        del header[name]
        assert_refused(seal(header, bytes(data)))


def test_short_file_that_claims_endless_columns_takes_no_memory(source):
    header, data = split(source)
    for name, column in header["columns"].items():
        if column["length"]:
            column["length"] += 2**40
            column["encoding"], column["parts"] = "constant", []
            column["meta"] = {"constant.word": 0}
        assert name
    kept = [entry for entry in header["sections"] if entry["name"].split(".")[0] == "medians"]
    kept += [entry for entry in header["sections"] if entry["name"].startswith("scaler.")]
    size = max(entry["offset"] for entry in kept) + 64
    header["sections"] = kept
    tracemalloc.start()
    assert_refused(seal(header, bytes(data[:size])))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


def raw_columns(estimator):
    """A file whose columns are plain arrays, so that tests can write into them."""
    from bevel.files import trees

    before = trees.largest_decoded
    trees.largest_decoded = lambda _: 0
    try:
        return file_of(estimator)
    finally:
        trees.largest_decoded = before


def with_number(source, column, place, number):
    header, data = split(source)
    section = next(s for s in header["sections"] if s["name"] == f"{column}.raw.values")
    numbers = np.frombuffer(data, section["dtype"], section["length"], section["offset"])
    numbers = numbers.copy()
    numbers[place] = number
    data[section["offset"] : section["offset"] + numbers.nbytes] = numbers.tobytes()
    return seal(header, bytes(data))


@pytest.mark.parametrize(
    ("column", "place", "number"),
    [
        ("left_leaves", 0, -1),  # a child before its parent: a cycle
        ("left_leaves", 0, 0),  # nodes that nobody leads to
        ("left_leaves", 0, 2**31 - 1),
        ("tree_offset", 0, 1),
        ("tree_offset", 1, 2**40),
        ("tree_offset", 1, 0),
        ("tree_offset", -1, 5),
        ("entry_offset", 1, -1),
        ("entry_offset", 2, 2**50),
        ("entry_index", 0, -1),
        ("entry_index", 0, 2**30),
        ("entry_index", -1, 3),
        ("entry_weight", -1, np.nan),
        ("threshold", 0, np.nan),
        ("flags", 0, 8),
        ("bits_index", 0, 10**6),
        ("bits_offset", -1, 10**6),
        ("rotation_offset", -1, 10**6),
        ("rotation_entry_offset", 0, -1),
    ],
)
def test_arrays_that_are_no_forest_are_refused(column, place, number):
    estimator, X = small_models()["nominal"]
    file = with_number(raw_columns(estimator), column, place, number)
    with pytest.raises(ModelFileError):
        estimator_of(file)
    with pytest.raises(ModelFileError):
        refuse_at_last(file, X)


@pytest.mark.parametrize(
    ("name", "column", "number"),
    [
        ("kept", "leaf_value", 1.7e308),
        ("kept", "leaf_value", 1.1e65),
        ("kept", "leaf_value", -np.inf),
        ("kept", "leaf_value", np.nan),
        ("sparse", "entry_weight", 3e38),
        ("sparse", "entry_weight", np.nan),
        ("sparse", "entry_weight", -0.5),
        ("sparse", "entry_weight", 0.0),
    ],
)
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_mapped_file_that_was_not_verified_predicts_no_infinity(name, column, number, voting):
    estimator, X = small_models()[name]
    if voting == "hard" and hasattr(estimator, "classes_"):
        estimator = copy(estimator).set_params(voting="hard")
    forest = estimator.forest_
    leaf = int(np.flatnonzero(forest.right < 0)[0])
    place = leaf if column == "leaf_value" else slice(*forest.entry_offset[leaf : leaf + 2])
    mapped = estimator_of(with_number(raw_columns(estimator), column, place, number), mapped=True)
    reached = estimator.apply(X)[:, 0] == leaf
    assert reached.any()
    assert not reached.all()
    predict = mapped.predict_proba if hasattr(mapped, "classes_") else mapped.predict
    with pytest.raises(ModelFileError):
        predict(X)
    assert np.isfinite(predict(X[~reached])).all()


@pytest.mark.parametrize(
    ("name", "section", "place", "number"),
    [
        ("ranks", "scaler.offset", 1, -1),
        ("ranks", "scaler.offset", 1, 10**9),
        ("ranks", "scaler.knots", 1, np.inf),
        ("ranks", "scaler.knots", 1, 1e9),
        ("ranks", "scaler.ranks", 2, 0),
        ("ranks", "scaler.complete", 0, 2),
        ("ranks", "scaler.n_present", 0, -1),
        ("sparse", "scaler.low", 0, np.nan),
        ("sparse", "scaler.low", 0, 1e9),
        ("nominal", "scaler.span", 2, 0.0),
        ("nominal", "medians", 0, np.inf),
    ],
)
def test_scalers_that_are_none_are_refused(name, section, place, number):
    header, data = split(file_of(small_models()[name][0]))
    entry = next(s for s in header["sections"] if s["name"] == section)
    kind = entry["dtype"].replace("b1", "u1")
    numbers = np.frombuffer(data, kind, entry["length"], entry["offset"]).copy()
    numbers[place] = number
    data[entry["offset"] : entry["offset"] + numbers.nbytes] = numbers.tobytes()
    assert_refused(seal(header, bytes(data)))


def test_thousand_damaged_files_are_refused_or_predict():
    outcomes = Outcomes()
    try_files(0, 1000, 0, outcomes)
    assert outcomes.n_files == 1000
    assert outcomes.counts["load", "refused"] > 700
    assert outcomes.counts["load", "accepted"] == outcomes.counts["mmap", "accepted"] > 50
    assert outcomes.counts["mmap", "refused by verify"] > 50


def test_files_that_are_not_there_or_empty_say_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        bevel.load(tmp_path / "none.bevel")
    with pytest.raises(FileNotFoundError):
        bevel.load(tmp_path / "none.bevel", mmap=True)
    (tmp_path / "empty.bevel").touch()
    for mmap in (False, True):
        with pytest.raises(ModelFileError, match=r"empty\.bevel: The file must be"):
            bevel.load(tmp_path / "empty.bevel", mmap=mmap)
    with pytest.raises(IsADirectoryError):
        bevel.load(tmp_path)


def test_prelude_is_as_documented(source):
    magic, version, _, header_length, file_length = PRELUDE.unpack_from(source)
    assert (magic, version, file_length) == (b"\x89BEVEL\r\n", VERSION, len(source))
    assert source[32:33] == b"{"
    assert source[32 + header_length - 1 : 32 + header_length] == b"}"


def changed(array, place, value):
    copy = array.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    ("name", "change", "match"),
    [
        ("value", lambda a: changed(a, 3, np.nan), "target_value must be finite"),
        ("value", lambda a: a[::-1].copy(), "target_value must be finite numbers that ascend"),
        ("value", lambda a: a[:-1], "target_weight must be none or 59 numbers"),
        ("weight", lambda a: changed(a, 3, -1.0), "target_weight must be finite numbers from"),
        ("weight", lambda a: changed(a, 3, np.inf), "target_weight must be finite numbers from"),
        ("weight", lambda a: np.full_like(a, 1.7e308), "target_weight must be finite numbers from"),
        ("value", lambda a: changed(a, 59, 1.7e308), "target_value must be finite .* up to 1e.60"),
        ("weight", lambda a: 0.0 * a, "target_weight must be above 0 for rows in leaves"),
        ("offset", lambda a: a[:-1], "target_offset must be"),
        ("offset", lambda a: a + 1, "target_offset must be"),
        ("offset", lambda a: changed(a, 5, 2**62), "leaves have rows and splits have none"),
        ("offset", lambda a: changed(a, slice(1, 2), 1), "leaves have rows and splits have none"),
        ("row", lambda a: changed(a, 7, -1), "target_row must be from 0 to 59"),
        ("row", lambda a: changed(a, 7, 60), "target_row must be from 0 to 59"),
    ],
)
def test_kept_targets_that_contradict_the_forest_are_refused(name, change, match):
    liar = copy(small_models()["kept"][0])
    targets = liar.fitted_forest_.kept_targets
    targets = replace(targets, **{name: change(getattr(targets, name))})
    liar._fitted = replace(liar._fitted, targets=targets)
    file = file_of(liar)
    with pytest.raises(ModelFileError, match=match):
        estimator_of(file)
    with pytest.raises(ModelFileError, match=match):
        refuse_at_last(file)
    with pytest.raises(ModelFileError, match=match):
        estimator_of(file, mapped=True).predict_interval(small_models()["kept"][1])


def test_kept_targets_of_a_classifier_are_refused():
    header, data = split(file_of(small_models()["kept"][0]))
    other, _ = split(file_of(small_models()["sparse"][0]))
    header |= {name: other[name] for name in ("estimator", "classes", "parameters")}
    assert_refused(seal(header, bytes(data)), match="header.targets must be null for a classifier")


@pytest.mark.parametrize("field", ["targets", "outputs", "families", "calibration_power"])
def test_missing_field_is_named(field):
    header, data = split(file_of(small_models()["sparse"][0]))
    del header[field]
    assert_refused(seal(header, bytes(data)), match=f'the field "{field}"')


@pytest.mark.parametrize("power", [0.0, -1.0, 1.25, 7.0, 1e300, 2, "2", None])
def test_powers_are_those_of_calibration(power):
    header, data = split(file_of(small_models()["sparse"][0]))
    header["calibration_power"] = power
    assert_refused(seal(header, bytes(data)), match="calibration_power")
