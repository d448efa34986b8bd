"""What a small file can cost, when it is loaded and later, is in proportion to its size."""

import time
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from support.deep_trees import chain, estimator_with
from support.model_files import classes, estimator_of, file_of, numbers, small_models
from support.mutations import seal, split

from bevel import ModelFileError, ObliqueForestClassifier
from bevel.files.columns import largest_decoded
from bevel.files.layout import ROOM


@contextmanager
def at_most(n_bytes, seconds=60.0):
    """Assert what a block allocates, and that it ends; the machine may be busy."""
    tracemalloc.start()
    start = time.perf_counter()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n_bytes
    assert time.perf_counter() - start < seconds


def refuse(file, match):
    for mapped in (False, True):
        with at_most(2**26), pytest.raises(ModelFileError, match=match):
            estimator_of(file, mapped=mapped)


def with_parameter(name, value, arrays=()):
    """A file with another value of a parameter, and further sections."""
    header, data = split(file_of(small_models()["custom"][0]))
    header["parameters"][name] = value
    for section, dtype, content in arrays:
        entry = {"name": section, "dtype": dtype, "length": len(content), "offset": len(data)}
        header["sections"].append(entry)
        data += content.astype(dtype).tobytes()
        data += bytes(-len(data) % 8)
    return seal(header, bytes(data))


def test_section_that_is_used_twice_is_refused():
    array = {"array": {"shape": [5000], "numbers": "more"}}
    once = with_parameter("categorical_features", [array], [("more", "<f8", np.zeros(5000))])
    assert len(once) > 40_000
    many = with_parameter("categorical_features", [array] * 4000, [("more", "<f8", np.zeros(5000))])
    refuse(many, "must be used once")


def test_strings_padded_to_the_longest_share_one_room():
    labels = {"labels": {"dtype": "U", "values": ["", *["x"] * 500, "y" * 5000]}}
    refuse(with_parameter("categorical_features", [labels] * 30), "within the memory")


def test_sparse_matrices_without_entries_share_one_room():
    def matrix(number):
        names = [f"m{number}.{part}" for part in range(3)]
        fields = dict(zip(("numbers", "rows", "columns"), names, strict=True))
        shape = {"format": "csr", "class": "array", "shape": [2**22, 2**22]}
        arrays = zip(names, ("<f8", "<i4", "<i4"), [np.zeros(0)] * 3, strict=True)
        return {"sparse": shape | fields}, list(arrays)

    matrices = [matrix(number) for number in range(20)]
    arrays = [array for _, own in matrices for array in own]
    file = with_parameter("categorical_features", [value for value, _ in matrices], arrays)
    refuse(file, "within the memory")


@pytest.mark.parametrize("wrap", [lambda n: n, lambda n: {"tuple": [n]}], ids=["int", "tuple"])
def test_keys_of_equal_hashes_are_refused(wrap):
    keys = [1 + number * (2**61 - 1) for number in range(5000)]
    refuse(with_parameter("class_weight", {"dict": [[wrap(key), 1] for key in keys]}), "hashes")


def test_labels_of_equal_hashes_are_refused():
    header, data = split(file_of(small_models()["custom"][0]))
    same = [1 + number * (2**61 - 1) for number in range(5000)]
    header["classes"] = {"dtype": "object", "values": same}
    refuse(seal(header, bytes(data)), "hashes")


def test_column_that_claims_much_more_than_the_file_has_is_refused():
    header, data = split(file_of(small_models()["sparse"][0]))
    column = header["columns"]["rotation_entry_offset"]
    assert column["parts"] == []
    column["length"] = 8 * 10**6
    refuse(seal(header, bytes(data)), "must decode to at most")


def test_columns_may_decode_to_little_more_than_forests_do():
    assert largest_decoded(0) <= 2**22
    assert largest_decoded(10**6) - largest_decoded(0) <= 32 * 10**6
    assert ROOM <= 2**25


def test_forest_more_compact_than_a_file_may_be_is_written_out_in_part(monkeypatch):
    from bevel.files import trees

    X, y = numbers(), classes()
    forest = ObliqueForestClassifier(2000, min_samples_split=61, random_state=0).fit(X, y)
    plain = file_of(forest)
    same = estimator_of(plain)
    monkeypatch.setattr(trees, "largest_decoded", lambda n_bytes: 8 * n_bytes)
    larger = file_of(forest)
    described = split(larger)[0]["columns"]
    assert len(plain) < len(larger) < 3 * len(plain)
    assert 1 <= sum(column["encoding"] == "raw" for column in described.values()) < len(described)
    assert file_of(same) == larger


@pytest.mark.parametrize("left", [False, True], ids=["right", "left"])
@pytest.mark.parametrize("n_classes", [0, 2])
def test_deep_tree_is_saved_loaded_and_measured(left, n_classes):
    estimator, X, _ = estimator_with(chain(20_000, left=left, n_classes=n_classes))
    file = file_of(estimator)
    with at_most(10 * len(file) + 2**26):
        loaded = estimator_of(file)
        assert np.array_equal(loaded.predict(X), estimator.predict(X))
        assert np.array_equal(estimator_of(file, mapped=True).predict(X), loaded.predict(X))
        assert loaded.forest_.depth.max() == 20_000
        assert np.isfinite(loaded.forest_.mean_depth)
        assert loaded.feature_importances_.sum() == pytest.approx(1.0)
