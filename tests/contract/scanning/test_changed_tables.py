"""Tables that change between the two passes over them: a clear error, never a crash."""

import numpy as np
import pandas as pd
import pytest

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    scan,
)
from bevel.scanning import sources
from bevel.scanning.survey import Survey

CLASSIFIERS = [
    ObliqueForestClassifier(n_estimators=3, random_state=0),
    ObliqueBoostingClassifier(max_iter=3, early_stopping=False, random_state=0),
]
REGRESSORS = [
    ObliqueForestRegressor(n_estimators=3, random_state=0),
    ObliqueBoostingRegressor(max_iter=3, early_stopping=False, random_state=0),
]
CHANGED = r"The table must not change while it is read.*got "


def make_frame(n_rows=900):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    return frame.assign(city=np.resize(["Oslo", "Rome"], n_rows))


def missing_number(X, _y, _w):
    X.loc[700, "b"] = np.nan


def many_missing_numbers(X, _y, _w):
    X.loc[::7, "b"] = np.nan


def number_out_of_range(X, _y, _w):
    X.loc[700, "c"] = 1e6


def new_level(X, _y, _w):
    X.loc[700, "city"] = "Bonn"


def missing_level(X, _y, _w):
    X.loc[700, "city"] = None


def other_names(X, _y, _w):
    X.columns = ["b", "a", "c", "city"]


def larger_weight(_X, _y, w):
    w[700] = 9.0


def broken_weight(_X, _y, w):
    w[700] = 0.5


CHANGES = [
    (missing_number, "the first missing value of column 'b'.*from row 600 on"),
    (many_missing_numbers, "the first missing value of column 'b'"),
    (number_out_of_range, "a number beyond the range of column 'c'.*from row 600 on"),
    (new_level, "a new level in column 'city'"),
    (missing_level, "a new level in column 'city'"),
    (other_names, "other names of columns"),
    (larger_weight, "a weight above the largest"),
    (broken_weight, "the first weight that is no whole number"),
]


def changing(change, target):
    """A source of batches of 300 rows; `change` is applied from the second call on."""
    calls = []

    def batches():
        calls.append(1)
        X, w = make_frame(), np.resize([1.0, 2.0], 900)
        y = np.array(target(X))
        if len(calls) > 1:
            change(X, y, w)
        for start in range(0, 900, 300):
            rows = slice(start, start + 300)
            yield X.iloc[rows], y[rows], w[rows]

    return batches


@pytest.mark.parametrize(("change", "message"), CHANGES)
@pytest.mark.parametrize("on_disk", [False, True])
def test_rows_that_change_are_refused(change, message, on_disk, tmp_path):
    folder = tmp_path if on_disk else None
    for model in CLASSIFIERS:
        with pytest.raises(ValueError, match=CHANGED + message):
            model.fit(scan(changing(change, lambda X: X.a > 0), folder=folder))
    for model in REGRESSORS:
        with pytest.raises(ValueError, match=CHANGED + message):
            model.fit(scan(changing(change, lambda X: X.a), folder=folder))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("model", REGRESSORS)
def test_target_out_of_its_range_is_refused(model):
    def change(_X, y, _w):
        y[700] = 1e9

    with pytest.raises(ValueError, match=CHANGED + "a target beyond their range"):
        model.fit(scan(changing(change, lambda X: X.a)))


@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS)
@pytest.mark.parametrize("first", [True, False])
def test_weights_in_one_pass_only_are_refused(model, first):
    calls = []

    def batches():
        calls.append(1)
        X = np.random.default_rng(0).normal(size=(50, 2))
        has_weights = (len(calls) == 1) == first
        yield (X, X[:, 0] > 0, np.ones(50)) if has_weights else (X, X[:, 0] > 0)

    with pytest.raises(ValueError, match=CHANGED + f"rows {'without' if first else 'with'} weigh"):
        model.fit(scan(batches))


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows.arrow"])
def test_file_that_is_written_again_between_passes_is_refused(model, name, tmp_path, monkeypatch):
    frame = make_frame().assign(label=lambda rows: rows.a > 0)
    path = tmp_path / name

    def write(rows):
        if name.endswith("parquet"):
            rows.to_parquet(path)
        elif name.endswith("csv"):
            rows.to_csv(path, index=False)
        else:
            rows.to_feather(path)

    write(frame)
    finish = Survey.finish

    def finish_and_write(self):
        # The same rows in another order: nothing but the file itself tells.
        write(frame[::-1].reset_index(drop=True))
        path.touch()
        return finish(self)

    monkeypatch.setattr(Survey, "finish", finish_and_write)
    with pytest.raises(ValueError, match=CHANGED + "files of another size or time"):
        model.fit(scan(path, target="label"))


def test_rows_that_stay_the_same_in_other_batches_are_taken():
    frame = make_frame()
    frame.loc[::5, "b"] = np.nan
    calls = []

    def batches():
        calls.append(1)
        size = 100 * len(calls)
        for start in range(0, 900, size):
            rows = frame.iloc[start : start + size]
            yield rows, rows.a > 0

    for model in CLASSIFIERS:
        calls.clear()
        assert model.fit(scan(batches)).n_features_in_ == 4


def test_fingerprint_of_files_tells_their_size_and_time(tmp_path):
    path = tmp_path / "rows.csv"
    make_frame().to_csv(path)
    source = sources.TableFiles([path], "a", None, None)
    before = source.fingerprint()
    assert source.fingerprint() == before
    path.write_text(path.read_text() + " ")
    assert source.fingerprint() != before
