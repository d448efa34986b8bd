"""Data frames of every library, with missing values and nominal columns."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from bevel import ObliqueBoostingClassifier, ObliqueForestClassifier, ObliqueForestRegressor


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "city": rng.choice(["bern", "oslo", "rome", "wien"], n),
            "income": rng.lognormal(10, 1, n),
            "member": rng.random(n) < 0.4,
        }
    )
    y = (frame["city"].isin(["oslo", "rome"])) ^ (frame["age"] > 50)
    frame.loc[::13, "income"] = np.nan
    frame.loc[::17, "city"] = None
    return frame, y.to_numpy()


LIBRARIES = {
    "pandas": lambda frame: frame,
    "pandas category": lambda frame: frame.astype({"city": "category"}),
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("projection", ["axis", "sparse", "rotation"])
def test_forest_is_the_same_for_every_library(library, projection):
    frame, y = table()
    forest = ObliqueForestClassifier(20, projection=projection, random_state=0)
    expected = forest.fit(frame, y).predict_proba(frame)
    other = LIBRARIES[library](frame)
    assert np.array_equal(forest.fit(other, y).predict_proba(other), expected)
    assert forest.feature_names_in_.tolist() == ["age", "city", "income", "member"]


@pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_nominal_columns_are_learned(estimator):
    frame, y = table()
    forest = estimator(100, random_state=0, oob_score=True).fit(frame, y)
    assert forest.oob_score_ > (0.85 if estimator is ObliqueForestClassifier else 0.4)
    assert forest.feature_importances_[1] > 0.2


def test_unseen_level_and_missing_value_are_predicted():
    frame, y = table()
    forest = ObliqueForestClassifier(20, random_state=0).fit(frame, y)
    strange = frame.head(3).assign(city=["paris", None, "rome"], income=np.nan)
    assert np.isfinite(forest.predict_proba(strange)).all()


def test_numbers_where_fit_saw_text_raise():
    frame, y = table()
    forest = ObliqueForestClassifier(5).fit(frame, y)
    with pytest.raises(ValueError, match="X must hold text in nominal column 'city', as in fit"):
        forest.predict(frame.assign(city=1.0))


@pytest.mark.parametrize("nominal", [[1], ["city"], [False, True, False, False]])
def test_nominal_columns_can_be_named(nominal):
    frame, y = table()
    expected = ObliqueForestClassifier(10, random_state=0).fit(frame, y)
    forest = ObliqueForestClassifier(10, random_state=0, categorical_features=nominal)
    assert np.array_equal(forest.fit(frame, y).apply(frame), expected.apply(frame))


def test_nominal_codes_in_an_array_equal_labels_in_a_frame():
    frame, y = table()
    codes = frame.assign(city=frame["city"].map({"bern": 0, "oslo": 1, "rome": 2, "wien": 3}))
    forest = ObliqueForestClassifier(10, random_state=0, categorical_features=[1])
    array = forest.fit(codes.to_numpy(dtype=float), y).apply(codes.to_numpy(dtype=float))
    labels = ObliqueForestClassifier(10, random_state=0).fit(frame, y).apply(frame)
    assert np.array_equal(array, labels)


def changed_frames(frame):
    """Rows of a frame, and frames that differ from it in one thing each."""
    rng = np.random.default_rng(1)
    row, several = frame[7:8], frame[3:20]
    yield from (row, several, frame, row, row.copy(), pd.DataFrame([row.iloc[0].to_dict()]))
    yield from (several.reset_index(drop=True), several[several.columns[::-1]])
    yield from (row.rename(columns={"age": "years"}), row.drop(columns="age"), row.assign(new=1.0))
    yield from (row.astype({"age": kind}) for kind in ("float32", "int8", "Int64", "str", "object"))
    yield from (several.assign(**{name: np.nan}) for name in ("age", "city", "income", "member"))
    yield from (several.assign(income=value) for value in (np.inf, 1e300, 3, "much", None))
    yield several.assign(income=pd.Timestamp("2020-01-01"))
    yield several.assign(age=2**53 + 1)
    yield from (several.assign(city=value) for value in ("nowhere", None, 7, pd.NA))
    yield from (several.astype({"city": kind}) for kind in ("category", "string", "object"))
    yield several.assign(city=pd.Categorical(rng.choice(["oslo", "new"], len(several))))
    yield several.assign(member=several["member"].astype(int))
    yield several.set_axis(range(several.shape[1]), axis=1)
    for age in (30, "30", pd.Timestamp("1990-01-01"), None):
        yield several.assign(age=np.full(len(several), age, dtype=object))
    yield several.to_numpy()
    for each in (row, several, several.assign(income=np.nan), several.assign(city=None)):
        yield pl.from_pandas(each)
        yield pl.from_pandas(each)[::-1]
        yield pl.from_pandas(each).select(each.columns[::-1].tolist())
        yield pl.from_pandas(each).with_columns(pl.col("city").cast(pl.String).cast(pl.Categorical))
        yield pl.from_pandas(each).with_columns(pl.col("income").cast(pl.Float32))
        yield pl.from_pandas(each).with_columns(pl.col("age").cast(pl.String))
        yield pl.from_pandas(each).with_columns(pl.lit(None, pl.Int64).alias("age"))
        yield pa.Table.from_pandas(each)


def outcome(predict, rows):
    """What a call returns, raises and warns of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = predict(rows).tolist()
        except (TypeError, ValueError) as error:
            result = type(error), str(error)
    return result, [str(each.message) for each in warned]


@pytest.mark.parametrize("columns", ["all", "numbers"])
@pytest.mark.parametrize(
    "estimator",
    [
        ObliqueForestClassifier(20, random_state=0),
        ObliqueForestClassifier(20, projection="sparse", categorical_features=None),
        ObliqueBoostingClassifier(max_iter=20, random_state=0),
    ],
    ids=["default", "sparse", "boosting"],
)
def test_frames_after_others_are_read_as_if_they_were_the_first(estimator, columns):
    frame, y = table()
    place = np.arange(len(frame))
    side = y ^ (place % 5 == 0)  # its labels say something, and become means of the target
    frame["town"] = [f"town {number}" for number in place % 60 + 60 * side]
    if columns == "numbers" or estimator.get_params().get("categorical_features", "") is None:
        frame = frame[["age", "income"]].assign(city=frame["age"] // 7, member=frame["member"])
    fitted = estimator.fit(frame, y)
    remembers_nothing = pickle.dumps(fitted)
    frames = list(changed_frames(frame))
    fitted.predict(frame[:1])
    expected = [outcome(pickle.loads(remembers_nothing).predict, each) for each in frames]
    twice = np.repeat(np.arange(len(frames)), 2)
    for place in [*twice, *np.random.default_rng(0).permutation(len(frames))]:
        assert outcome(fitted.predict, frames[place]) == expected[place]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_second_row_of_a_layout_is_read_without_checks(library, monkeypatch):
    frame, y = table()
    frame = library(frame.assign(city=pd.Categorical(frame["city"])))
    forest = ObliqueForestClassifier(5).fit(frame, y)
    forest.predict(frame[:1])
    monkeypatch.setattr(forest, "_read", None)  # checks would raise
    assert forest.predict(frame[1:3]).shape == (2,)
    with pytest.raises(TypeError, match="not callable"):
        forest.predict(frame[:300])  # an array of objects of many rows would be slow


def test_names_unlike_those_of_fit_warn_as_in_scikit_learn():
    frame, y = table()
    numeric = frame[["age", "income"]]
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        ObliqueForestClassifier(5).fit(numeric, y).predict(numeric.to_numpy())
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        ObliqueForestClassifier(5).fit(numeric.to_numpy(), y).predict(numeric)


def test_sparse_and_dense_rows_grow_the_same_forest():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((200, 8)) * (rng.random((200, 8)) < 0.3))
    y = X.toarray()[:, 0] > 0
    sparse = ObliqueForestClassifier(10, random_state=0).fit(X, y)
    dense = ObliqueForestClassifier(10, random_state=0).fit(X.toarray(), y)
    assert np.array_equal(sparse.predict_proba(X.tocsc()), dense.predict_proba(X.toarray()))


def test_forest_works_without_data_frame_libraries():
    program = """
import sys
class NotInstalled:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("pandas", "polars", "pyarrow"):
            raise ImportError(name)
sys.meta_path.insert(0, NotInstalled())
import numpy as np
from bevel import ObliqueForestClassifier
X = np.random.default_rng(0).normal(size=(50, 3))
print(ObliqueForestClassifier(20, random_state=0).fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0))
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert float(result.stdout) > 0.9
