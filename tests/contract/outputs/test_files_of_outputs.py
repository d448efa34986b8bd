"""Hostile files of several outputs are refused, or predict finite numbers."""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from support.model_files import estimator_of, file_of
from support.mutations import mutate, seal, split

from bevel import ModelFileError, ObliqueForestClassifier, ObliqueForestRegressor
from bevel.forest.flat_forest import check_forest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
NUMBERS = np.column_stack([X[:, 0], X[:, 1] + 1.0])
CLASSES = np.column_stack([X[:, 0] > 0, np.digitize(X[:, 1], [-0.5, 0.5])]).astype(int)
FEW = {"n_estimators": 2, "max_depth": 3, "projection": "axis", "random_state": 0, "n_jobs": 1}
FORESTS = {
    "regression": ObliqueForestRegressor(**FEW).fit(X, NUMBERS),
    "classification": ObliqueForestClassifier(**FEW).fit(X, CLASSES),
}

HEADERS = {
    "one name": ("names", ["a"]),
    "names twice": ("names", ["a", "a"]),
    "names that are numbers": ("names", [1, 2]),
    "a name more": ("names", ["a", "b", "c"]),
    "classes of the other task": ("classes", "other"),
    "no names": ("names", None),
}


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize(("field", "value"), HEADERS.values(), ids=HEADERS.keys())
@pytest.mark.parametrize("mapped", [False, True])
def test_lies_about_the_outputs_are_refused(kind, field, value, mapped):
    header, data = split(file_of(FORESTS[kind]))
    if value == "other":
        value = None if kind == "classification" else []
    header["outputs"][field] = value
    with pytest.raises(ModelFileError):
        estimator_of(seal(header, bytes(data)), mapped=mapped)


@pytest.mark.parametrize("kind", FORESTS)
def test_outputs_of_a_forest_of_one_are_refused(kind):
    header, data = split(file_of(FORESTS[kind]))
    header["outputs"] = None
    with pytest.raises(ModelFileError):
        estimator_of(seal(header, bytes(data)))
    header = deepcopy(header)
    header["classes"] = {"dtype": "<i8", "values": [0, 1, 2, 3, 4]}
    with pytest.raises(ModelFileError):
        estimator_of(seal(header, bytes(data)), mapped=True)


FAULTS = {
    "infinite value": ("output_value", 3, np.inf),
    "value that is no number": ("output_value", 0, np.nan),
    "value too large": ("output_value", -1, 1e70),
    "classes in a regression": ("output_classes", 0, 2),
    "negative classes": ("output_classes", 1, -1),
}


@pytest.mark.parametrize(("array", "place", "value"), FAULTS.values(), ids=FAULTS.keys())
def test_arrays_of_outputs_are_checked(array, place, value):
    forest = FORESTS["regression"].forest_
    changed = getattr(forest, array).copy()
    changed[place] = value
    with pytest.raises(ValueError, match=r"value|output_classes"):
        check_forest(replace(forest, **{array: changed}))


def test_lengths_of_arrays_of_outputs_are_checked():
    forest = FORESTS["regression"].forest_
    for array in ("output_value", "output_classes"):
        for changed in (getattr(forest, array)[:-1], np.append(getattr(forest, array), 0)):
            kept = changed.astype(getattr(forest, array).dtype)
            with pytest.raises(ValueError, match="must have"):
                check_forest(replace(forest, **{array: kept}))


def test_shares_of_each_output_are_checked():
    forest = FORESTS["classification"].forest_
    leaf = int(np.flatnonzero(forest.right < 0)[0])
    own = slice(forest.entry_offset[leaf], forest.entry_offset[leaf + 1])
    first = forest.entry_index[own] < 2
    share = forest.entry_weight.copy()
    share[own][first] *= 0.5  # the other output sums to one still
    with pytest.raises(ValueError, match="sum to 1"):
        check_forest(replace(forest, entry_weight=share))
    index = forest.entry_index.copy()
    index[own.stop - 1] = 1  # a class of the first output where one of the second should be
    with pytest.raises(ValueError, match=r"classes|sum to 1"):
        check_forest(replace(forest, entry_index=index))
    with pytest.raises(ValueError, match="output_classes must sum"):
        check_forest(replace(forest, output_classes=np.array([2, 4], np.int32)))


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("mapped", [False, True])
def test_damaged_files_are_refused_or_predict_finite_numbers(kind, mapped):
    source, rng = file_of(FORESTS[kind]), random.Random(7)
    refused = 0
    for _ in range(400):
        _, changed = mutate(source, rng)
        try:
            estimator = estimator_of(changed, mapped=mapped)
            predicted = estimator.predict(X[:3])
            if kind == "regression":
                assert np.isfinite(predicted).all()
            else:
                shares = estimator.predict_proba(X[:3])
                for each in shares if isinstance(shares, list) else [shares]:
                    np.testing.assert_allclose(each.sum(axis=1), 1.0, atol=1e-3)
        except (ModelFileError, ValueError):
            refused += 1
    assert refused > 200
