"""The walk over columns answers as the reference predictor does, bit for bit, and reads little."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.families import FAMILIES, TASKS, grow_on, new_rows, training_data
from support.forests import Forest, grow, options, problem
from support.random_forests import random_forest, random_rows

from bevel.errors import ModelFileError
from bevel.files.columns import Column
from bevel.files.trees import (
    ABSENT_IF_EMPTY,
    COLUMN_TYPES,
    MappedPredictor,
    decode_forest,
    encode_forest,
)
from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor


def flat(forest: Forest) -> FlatForest:
    return FlatForest(
        forest.n_features, forest.n_classes, forest.levels, forest.medians, **forest.arrays
    )


def mapped(forest: FlatForest, columns: dict[str, Column] | None = None) -> MappedPredictor:
    columns = encode_forest(forest) if columns is None else columns
    about = (forest.n_features, forest.n_classes, forest.levels, forest.medians)
    return MappedPredictor(columns, *about)


def assert_answers_are_those_of_the_reference(forest: Forest, X: np.ndarray) -> None:
    predictor, X = mapped(flat(forest)), np.ascontiguousarray(X)
    for n_threads in (1, 3):
        leaves = predictor.leaves(X, n_threads)
        np.testing.assert_array_equal(leaves, forest.apply(X), strict=True)
        if forest.n_classes == 0:
            assert predictor.values(X, n_threads).tobytes() == forest.predict(X).tobytes()
            continue
        for hard in (False, True):
            shares = predictor.probabilities(X, n_threads, hard)
            assert shares.tobytes() == forest.predict(X, hard=hard).tobytes()
            classes = predictor.classes(X, n_threads, hard)
            np.testing.assert_array_equal(classes, forest.predict(X, hard=hard).argmax(axis=1))


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("family", FAMILIES)
def test_mapped_forest_predicts_as_the_reference_does(family: str, n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    data = training_data(rng, 300, n_classes)
    forest = grow_on(data, family)
    assert_answers_are_those_of_the_reference(forest, new_rows(rng, data, 100))


@pytest.mark.parametrize("n_classes", [1, 2, 3, 17, 100])
def test_mapped_forest_of_any_number_of_classes_predicts_as_the_reference_does(
    n_classes: int,
) -> None:
    rng = np.random.default_rng(n_classes)
    X, y = rng.normal(size=(500, 6)), rng.integers(0, n_classes, 500)
    data = problem(X, y, n_classes, rng.uniform(0, 2, 500))
    how = options(("signs", 4, 9), bag_size=500, min_samples_leaf=int(rng.integers(1, 9)))
    assert_answers_are_those_of_the_reference(grow(data, how, 6), X[:200].astype(np.float32))


def test_threads_predict_as_one_does() -> None:
    rng = np.random.default_rng(0)
    data = training_data(rng, 500, 5)
    forest = grow_on(data, "mixed", n_trees=25)
    assert_answers_are_those_of_the_reference(forest, new_rows(rng, data, 1000))


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("family", FAMILIES)
def test_columns_give_back_the_forest(family: str, n_classes: int) -> None:
    forest = flat(grow_on(training_data(np.random.default_rng(0), 300, n_classes), family))
    back = mapped(forest).forest
    for name, array in forest.arrays().items():
        assert back.arrays()[name].dtype == array.dtype
        assert back.arrays()[name].tobytes() == array.tobytes()


def test_slimmed_forest_predicts_too() -> None:
    rng = np.random.default_rng(0)
    data = training_data(rng, 300, 2)
    forest = grow_on(data, "mixed")
    none = np.empty(0, np.float32)
    slim = replace(forest, arrays=forest.arrays | {"gain": none, "weight": none})
    assert_answers_are_those_of_the_reference(slim, new_rows(rng, data, 100))
    assert len(mapped(flat(slim)).forest.gain) == 0


def test_paths_are_those_of_the_flat_forest() -> None:
    rng = np.random.default_rng(0)
    data = training_data(rng, 300, 2)
    forest, X = flat(grow_on(data, "mixed")), new_rows(rng, data, 50)
    one, other = mapped(forest).paths(X, 1), PackedPredictor(forest).paths(X, 1)
    assert (one[0] != other[0]).nnz == 0
    np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("n_classes", [0, 1, 2, 7])
@pytest.mark.parametrize("seed", range(10))
def test_mapped_forest_of_every_kind_of_node_predicts_as_the_reference_does(
    seed: int, n_classes: int
) -> None:
    rng = np.random.default_rng(seed)
    n_nominal, n_axes = int(rng.integers(0, 4)), int(rng.integers(0, 4))
    forest = random_forest(rng, 6, n_classes, 7, 6, n_nominal, n_axes)
    plain = Forest(forest.arrays(), 6, n_classes, forest.levels, forest.medians)
    assert_answers_are_those_of_the_reference(plain, random_rows(rng, forest, 200, missing=0.2))


def test_opening_reads_no_nodes() -> None:
    """Parts full of nonsense are found out by the first row, not before."""
    forest = flat(grow_on(training_data(np.random.default_rng(0), 500, 5), "signs", n_trees=9))
    columns = encode_forest(forest)
    for name in set(COLUMN_TYPES) - {"tree_offset"}:
        parts = {
            part: array if part.endswith("counts") else np.full_like(array, 255)
            for part, array in columns[name].parts.items()
        }
        columns[name] = replace(columns[name], parts=parts)
    predictor = mapped(forest, columns)
    with pytest.raises(ModelFileError):
        predictor.leaves(np.zeros((1, forest.n_features), np.float32), 1)


def test_rows_of_another_width_are_refused() -> None:
    forest = flat(grow_on(training_data(np.random.default_rng(0), 100, 2), "axis"))
    with pytest.raises(ValueError, match="number of features"):
        mapped(forest).leaves(np.zeros((1, 3), np.float32), 1)


def damaged(rng: np.random.Generator, column: Column) -> Column:
    """The column with some bytes of its parts, or a number of its description, changed."""
    meta, parts = dict(column.meta), {name: part.copy() for name, part in column.parts.items()}
    if meta and rng.random() < 0.3:
        name = str(rng.choice(sorted(meta)))
        meta[name] += int(rng.integers(-3, 4))
    for part in parts.values():
        raw = part.view(np.uint8)
        for place in rng.integers(0, max(len(raw), 1), rng.integers(0, 4))[: len(raw)]:
            raw[place] = rng.integers(256)
    return replace(column, meta=meta, parts=parts)


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("family", ["axis", "signs", "two_rotations", "categorical", "mixed"])
def test_damaged_columns_give_an_error_or_a_prediction(family: str, n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    data = training_data(rng, 120, n_classes)
    forest, X = flat(grow_on(data, family)), new_rows(rng, data, 20)
    columns = encode_forest(forest)
    about = (forest.n_features, forest.n_classes, forest.levels, forest.medians)
    n_sound = n_refused = 0
    for _ in range(60):
        some = rng.choice(list(COLUMN_TYPES), rng.integers(1, 3))
        changed = columns | {name: damaged(rng, columns[name]) for name in some}
        try:
            back = decode_forest(changed, *about)
        except ModelFileError:
            back, n_refused = None, n_refused + 1
        try:
            leaves = MappedPredictor(changed, *about).leaves(X, 1)
            if back is not None:  # whatever the check accepts is safe for the reference
                n_sound += 1
                np.testing.assert_array_equal(leaves, PackedPredictor(back).leaves(X, 1))
        except ModelFileError:
            assert back is None
    assert n_refused > 10
    assert n_sound > 3


def test_columns_that_claim_to_fill_the_memory_are_refused() -> None:
    forest = flat(grow_on(training_data(np.random.default_rng(0), 100, 2), "axis"))
    columns = encode_forest(forest)
    about = (forest.n_features, forest.n_classes, forest.levels, forest.medians)
    vast = Column("constant", "<f4", 2**40, {"constant.word": 0}, {})
    with pytest.raises(ModelFileError, match="decode to at most"):
        decode_forest(columns | {"entry_weight": vast}, *about)
    trees = Column("constant", "<i8", 2**40, {"constant.word": 0}, {})
    with pytest.raises(ModelFileError, match="tree_offset"):
        MappedPredictor(columns | {"tree_offset": trees}, *about)


@pytest.mark.parametrize("name", sorted(COLUMN_TYPES.keys() - set(ABSENT_IF_EMPTY)))
def test_missing_column_is_named(name: str) -> None:
    forest = flat(grow_on(training_data(np.random.default_rng(0), 100, 2), "axis"))
    columns = encode_forest(forest)
    del columns[name]
    for read in (MappedPredictor, decode_forest):
        with pytest.raises(ModelFileError, match=f"Column {name} "):
            read(columns, forest.n_features, 2, forest.levels, forest.medians)


def test_forest_as_small_as_promised() -> None:
    """A node of two classes takes 80 bytes in a pickle of scikit-learn."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 20))
    data = problem(X, (np.prod(X[:, :3], axis=1) > 0) * 1)
    for family in (("axis", 5), ("signs", 20, 30)):
        forest = flat(grow(data, options(family, bag_size=4000), 10, n_threads=2))
        size = sum(column.nbytes for column in encode_forest(forest).values())
        assert size / forest.n_nodes < 80 / 6
