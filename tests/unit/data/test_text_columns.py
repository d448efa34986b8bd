"""Columns of free text are left out of every fit, with a warning, and accepted by predict."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    RegularizedRotationClassifier,
    analysis,
)
from bevel.data.encoding import Levels
from bevel.data.text_columns import holds_text
from bevel.errors import TextColumnWarning
from bevel.workflow.rows import find_keys, read_model_rows

N = 200
WORDS = ["the", "patient", "has", "pain", "and", "comes", "back", "after", "a", "long", "walk"]


def table(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    notes = [" ".join(rng.choice(WORDS, rng.integers(5, 12))) for _ in range(N)]
    notes[::7] = [None] * len(notes[::7])
    site = rng.choice(["A", "B"], N)
    return pd.DataFrame({"dose": rng.normal(size=N), "note": notes, "site": site})


X = table()
Y = np.where((X["dose"] > 0) ^ (X["site"] == "A"), "yes", "no")
Z = X["dose"] + (X["site"] == "A")


@pytest.mark.parametrize(
    ("values", "is_text"),
    [
        ([f"a film of {k} nights" for k in range(40)], True),
        ([f"a film of {k} nights" for k in range(19)], False),  # too few to tell
        ([f"a film of {k // 2} nights" for k in range(40)], False),  # half are distinct
        ([f"a film of {k // 2 if k < 38 else k} nights" for k in range(40)], True),
        ([f"film {k}" for k in range(40)], False),  # short: names and ids
        ([f"https://example.org/page/{k:04d}" for k in range(40)], True),
        ([None] * 100 + [f"a film of {k} nights" for k in range(40)], True),
        ([1.5 + k for k in range(40)], False),
        ([b"a film of some nights %d" % k for k in range(40)], False),
        ([f"a film of {k} nights" for k in range(40)] + [3], False),
        ([None] * 40, False),
        (["a film of two nights"] * 1500 + [f"a film of {k} n" for k in range(5000)], False),
    ],
)
def test_free_text_is_long_and_hardly_repeats(values, is_text):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    assert holds_text(column) == is_text


ESTIMATORS = [
    (ObliqueForestClassifier(10, random_state=0), Y),
    (ObliqueForestClassifier(10, projection="sparse", random_state=0), Y),
    (ObliqueForestRegressor(10, random_state=0), Z),
    (ObliqueForestRegressor(10, random_state=0), np.column_stack([Z, Z])),
    (ObliqueBoostingClassifier(max_iter=5, random_state=0), Y),
    (ObliqueBoostingRegressor(max_iter=5, random_state=0), Z),
    (ObliqueIsolationForest(10, random_state=0), None),
    (RegularizedRotationClassifier(6, n_rotations=2, n_micro_trees=2, random_state=0), Y),
]


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS)
def test_every_estimator_leaves_text_out_with_one_warning(estimator, y, tmp_path):
    with pytest.warns(TextColumnWarning, match="Column 'note' holds free text") as caught:
        model = bevel.estimators._base.copy_with(estimator).fit(X, y)
    assert len(caught) == 1
    assert model.text_columns_ == ("note",)
    assert list(model.feature_names_in_) == ["dose", "note", "site"]
    other = X.assign(note=["anything at all", None, "A", "", "x"] * (N // 5))
    np.testing.assert_array_equal(model.predict(other), model.predict(X))
    if y is not None:
        assert model.feature_importances_[1] == 0.0
    model.save(tmp_path / "model.bevel")
    again = bevel.load(tmp_path / "model.bevel")
    assert again.text_columns_ == ("note",)
    np.testing.assert_array_equal(again.predict(other), model.predict(X))


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: pl.from_pandas(X),
        lambda X: pa.Table.from_pandas(X),
        lambda X: X.astype({"note": "category"}),
    ],
)
def test_frames_of_all_kinds_leave_text_out(convert):
    with pytest.warns(TextColumnWarning):
        model = ObliqueForestClassifier(5, random_state=0).fit(convert(X), Y)
    assert model.text_columns_ == ("note",)


def test_arrays_of_objects_leave_text_out():
    rows = X.to_numpy(dtype=object)
    with pytest.warns(TextColumnWarning, match="Column 1 holds free text"):
        model = ObliqueForestClassifier(5, categorical_features=[2], random_state=0).fit(rows, Y)
    assert model.text_columns_ == (1,)
    with pytest.warns(TextColumnWarning):
        ObliqueForestClassifier(5, random_state=0).fit(X[["dose", "note"]].to_numpy(object), Y)


def test_named_columns_are_levels_all_the_same():
    with warnings.catch_warnings():
        warnings.simplefilter("error", TextColumnWarning)
        model = ObliqueForestClassifier(
            5, projection="axis", categorical_features=["note", "site"], random_state=0
        ).fit(X, Y)
    assert model.text_columns_ == ()
    assert len(model.fitted_forest_.encoding.nominal[1].labels) > 100


def test_a_scanned_table_leaves_text_out():
    batches = [(X[:90], Y[:90]), (X[90:], Y[90:])]
    with pytest.warns(TextColumnWarning, match="'note'"):
        model = ObliqueForestClassifier(5, projection="axis", random_state=0).fit(
            bevel.scan(lambda: iter(batches))
        )
    assert model.text_columns_ == ("note",)
    assert model.feature_importances_[1] == 0.0


def test_a_saved_warm_start_keeps_text_out():
    with pytest.warns(TextColumnWarning):
        model = ObliqueForestClassifier(5, warm_start=True, random_state=0).fit(X, Y)
    model.set_params(n_estimators=8).fit(X, Y)
    assert model.text_columns_ == ("note",)


@pytest.mark.filterwarnings("ignore::bevel.errors.TextColumnWarning")
def test_analyses_work_beside_text():
    model = ObliqueForestClassifier(10, random_state=0).fit(X, Y)
    for found in (
        analysis.rule_set(model, X, Y, source="imitation"),
        analysis.surrogate_tree(model, X, Y),
        analysis.top_rules(model, X, Y),
    ):
        assert "note" not in str(found)
    assert analysis.shapley_values(model, X[:5], background=X).values[:, 1].max() == 0.0
    assert analysis.importance(model, "permutation", X=X, y=Y).values[1] == 0.0


@pytest.mark.filterwarnings("ignore::bevel.errors.TextColumnWarning")
def test_files_are_read_for_a_model_that_leaves_text_out(tmp_path):
    model = ObliqueForestClassifier(10, random_state=0).fit(X, Y)
    X.to_csv(tmp_path / "new.csv", index=False)
    read = read_model_rows(model, tmp_path / "new.csv")
    assert not any("note" in note for note in read.notes)
    np.testing.assert_array_equal(model.predict(read.X), model.predict(X))


def test_the_command_line_leaves_text_out_even_with_missing_cells():
    columns = bevel.data.tables.Columns(
        ("dose", "note"),
        (X["dose"].to_numpy(), X["note"].astype(object).where(X["note"].notna(), None).to_numpy()),
    )
    keys = find_keys(columns, None, ())
    assert [(key.name, key.why) for key in keys] == [("note", "")]
    assert find_keys(columns, None, ("note",)) == []


def test_a_damaged_file_cannot_give_text_labels(tmp_path):
    with pytest.warns(TextColumnWarning):
        model = ObliqueForestClassifier(5, random_state=0).fit(X, Y)
    path = tmp_path / "model.bevel"
    model.save(path)
    contents = path.read_bytes()
    assert contents.count(b'"is_text":true') == 1
    changed = contents.replace(b'"has_missing":true,"labels":', b'"has_missing":null,"labels":')
    path.write_bytes(changed)
    with pytest.raises(bevel.ModelFileError):
        bevel.load(path)
    assert Levels.left_out(is_text=True).encode(
        np.array(["a", None], dtype=object), "note"
    ).tolist() == [0, 0]


@pytest.mark.filterwarnings("ignore::bevel.errors.TextColumnWarning")
def test_a_fit_of_a_file_says_that_text_is_left_out(tmp_path):
    path = tmp_path / "table.csv"
    X.assign(better=Y).to_csv(path, index=False)
    found = bevel.workflow.fit(path, "better", model="forest", n_estimators=5)
    assert list(found.model.feature_names_in_) == ["dose", "site"]
    assert "Left out, because they hold free text: 'note'." in " ".join(found.rows.notes)
    kept = bevel.workflow.fit(path, "better", model="forest", n_estimators=5, keep_id=True)
    assert kept.model.text_columns_ == ("note",)
