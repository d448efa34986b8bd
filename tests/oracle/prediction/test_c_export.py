"""Exported C against Python: the same answers bit for bit, for every kind of forest and table.

Models are compiled many at a time, since a compiler takes longer to start than to compile one.
"""

from __future__ import annotations

import ctypes
import platform
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.c_models import COMPILER, STRICT, CModels, needs_compiler, random_estimator
from support.naive.scaling import scale_in_double
from support.random_forests import random_rows

import bevel.data.scaling
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.data.scaling import SCALES
from bevel.data.tables import is_missing
from bevel.estimators._base import encode_rows
from bevel.forest.flat_forest import FlatForest

pytestmark = needs_compiler

NAN = np.nan
PROJECTIONS = {
    "axis": P.Axis(),
    "signs": P.SparseSigns(2),
    "combination": P.RandomCombination(3),
    "gaussian": P.Gaussian(2),
    "rotation": P.RandomRotation(),
    "rotation_of_some": P.RandomRotation(max_features=3),
    "rotation_per_node": P.RandomRotation(per="node"),
    "multirotation": P.MultiRotation(3),
    "principal": P.PrincipalRotation(4),
    "ridge": P.Ridge(),
    "lda": P.LDA(),
    "logistic": P.Logistic(),
    "pls": P.PLS(),
    "cca": P.CCA(),
    "patches": P.Patches((2, 3)),
    "list": [P.Axis(), P.SparseSigns(2), P.RandomRotation()],
}
ONLY_CLASSES = ("lda", "logistic")
# What makes compilers round a * b + c once, if the file lets them.
FUSING = ("-O3", "-ffp-contract=fast") + ("-march=native",) * (platform.machine() == "x86_64")


def training_rows(seed: int = 0, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Six columns of several kinds with missing values, and a noisy sum of some of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * [1, 10, 1e-3, 1, 1, 1e6]
    X[:, 3] = rng.integers(0, 5, n)
    y = X[:, 0] + X[:, 1] / 10 + X[:, 3] + rng.normal(size=n)
    X[:, 4] = 7.0
    X[rng.random(X.shape) < 0.05] = NAN
    return X, y


def unlike_rows(X: np.ndarray, seed: int = 1) -> np.ndarray:
    """Rows of training, others between and far beyond them, and others with much missing."""
    rng = np.random.default_rng(seed)
    between = (X[:-1] + X[1:]) / 2
    beyond = X * 10.0 ** rng.integers(-5, 25, X.shape) * rng.choice([-1, 1], X.shape)
    holes = np.where(rng.random(X.shape) < 0.5, NAN, X)
    return np.concatenate([X, between, beyond, holes])


def fitted(y: np.ndarray, n_classes: int, X: Any, **values: Any) -> Any:
    """A small forest, of classes cut from y or for y itself."""
    values = {"n_estimators": 3, "random_state": 0, "n_jobs": 1, **values}
    if n_classes == 0:
        return ObliqueForestRegressor(**values).fit(X, y)
    edges = np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1])
    return ObliqueForestClassifier(**values).fit(X, np.digitize(y, edges))


def test_every_projection_predicts_as_python_does(tmp_path: Path) -> None:
    X, y = training_rows()
    models = {}
    for name, projection in PROJECTIONS.items():
        models[f"c_{name}"] = fitted(y, 3, X, projection=projection)
        if name not in ONLY_CLASSES:
            models[f"r_{name}"] = fitted(y, 0, X, projection=projection, min_samples_leaf=5)
    compiled = CModels(models, tmp_path)
    rows = unlike_rows(X)
    for name in models:
        compiled.assert_equal(name, rows, rows)


def test_every_scale_predicts_as_python_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = training_rows()
    X[:, 1] = np.round(X[:, 1])  # ties
    models = {f"s_{scale}": fitted(y, 3, X, scale=scale) for scale in (None, *SCALES)}
    monkeypatch.setattr(bevel.data.scaling, "MAX_KNOTS", 20)
    models["few_ranks"] = fitted(y, 0, X, scale="rank")
    models["few_relative_ranks"] = fitted(y, 0, X, scale="relative_rank")
    narrow = X.astype(np.float32).astype(np.float64)  # knots that float32 holds
    models["narrow_ranks"] = fitted(y, 2, narrow, scale="rank")
    compiled = CModels(models, tmp_path)
    rows = unlike_rows(X)
    huge = np.concatenate([rows, 1e149 * np.sign(X), narrow])
    for name in models:
        chosen = rows if name == "s_None" else huge
        compiled.assert_equal(name, chosen, chosen)


@pytest.mark.parametrize("options", [("-O1",), FUSING], ids=["plain", "fusing"])
def test_values_equal_those_of_python_before_anything_is_compared(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    X, y = training_rows()
    rows = unlike_rows(X)
    models = {f"s_{scale}": fitted(y, 2, X, scale=scale) for scale in SCALES}
    models["turned"] = turned = fitted(y, 2, X, projection="rotation", scale="standard")
    extra = "".join(
        f"double {name}_scaled(double value, int i) {{ return {name}_scale(value, i); }}\n"
        for name in models
    )
    extra += "float turned_along(const float *row, int i) { return turned_axis(row, i); }\n"
    compiled = CModels(models, tmp_path, *options, extra=extra)
    for name, model in models.items():
        scale = compiled.function(f"{name}_scaled", ctypes.c_double, ctypes.c_double, ctypes.c_int)
        scaled = [[scale(value, feature) for feature, value in enumerate(row)] for row in rows]
        expected = scale_in_double(
            model.fitted_forest_.encoding.scaler, rows, slice(0, rows.shape[1])
        )
        np.testing.assert_array_equal(np.array(scaled), expected, err_msg=name)
    along = compiled.function("turned_along", ctypes.c_float, ctypes.c_void_p, ctypes.c_int)
    stored = np.ascontiguousarray(encode_rows(turned, rows))
    found = [along(row.ctypes.data, 0) for row in stored]
    np.testing.assert_array_equal(np.array(found, np.float32), first_axis(turned.forest_, stored))


def first_axis(forest: FlatForest, rows: np.ndarray) -> np.ndarray:
    """Values of rows along the first axis of a forest, each operation rounded to float32."""
    filled = np.where(np.isnan(rows), forest.medians, rows)
    value = np.zeros(len(rows), np.float32)
    for entry in range(forest.rotation_entry_offset[1]):
        value += forest.rotation_weight[entry] * filled[:, forest.rotation_index[entry]]
    return value


def test_numbers_that_python_refuses_count_as_the_largest_it_takes(tmp_path: Path) -> None:
    X, y = training_rows()
    models = {"plain": fitted(y, 2, X, scale=None), "scaled": fitted(y, 2, X, scale="quantile")}
    compiled = CModels(models, tmp_path)
    for name, most in (("plain", 1e34), ("scaled", 1e150)):
        asked = X.copy()
        asked[:, 0], asked[:, 1], asked[:, 5] = np.inf, -np.inf, 1e300
        taken = X.copy()
        taken[:, 0], taken[:, 1], taken[:, 5] = most, -most, most
        compiled.assert_equal(name, taken, asked)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=4, phases=[Phase.generate])  # a smaller seed is no simpler forest
def test_random_forests_predict_as_python_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    models = {f"m{number}": random_estimator(rng) for number in range(20)}
    with TemporaryDirectory() as folder:
        compiled = CModels(models, Path(folder), "-O0")
        for name, estimator in models.items():
            rows = random_rows(rng, estimator.forest_, 40, missing=float(rng.choice([0, 0.2])))
            compiled.assert_equal(name, rows, compiled.codes(name, rows))


@pytest.mark.parametrize("suffix", ["c", "cpp"])
def test_compilers_that_may_fuse_and_cpp_compilers_give_the_same_bits(
    tmp_path: Path, suffix: str
) -> None:
    rng = np.random.default_rng(5)
    X, y = training_rows()
    models = {
        f"{name}_{n_classes}": fitted(y, n_classes, X, projection=PROJECTIONS[name])
        for name in ("gaussian", "rotation", "list")
        for n_classes in (0, 4)
    } | {f"m{number}": random_estimator(rng) for number in range(6)}
    compiled = CModels(models, tmp_path, *FUSING, suffix=suffix)
    for name, estimator in models.items():
        rows = random_rows(rng, estimator.forest_, 40) if name[0] == "m" else unlike_rows(X)
        codes = compiled.codes(name, rows) if name[0] == "m" else rows
        compiled.assert_equal(name, rows, codes)


def test_labels_of_nominal_columns_have_the_codes_of_python(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 200
    texts = np.array(
        ["red", "Red", "blue", "", "?" * 3 + "/", 'a"b\\c\n', "größe", "*/"], dtype=object
    )
    mixed = np.array(["x", 2, True, ("t", 1)], dtype=object)
    frame = pd.DataFrame(
        {
            "text": rng.choice(texts, n),
            "holed": np.where(rng.random(n) < 0.2, None, rng.choice(texts, n)),
            "plain": rng.normal(size=n),
            "number": rng.choice([1.5, -2.0, 1e10, NAN], n),
            "flag": rng.random(n) < 0.5,
            "mixed": pd.Series([mixed[k] for k in rng.integers(0, 4, n)], dtype=object),
        }
    )
    score = frame["plain"] + (frame["text"] == "red") + 2 * (frame["mixed"] == "x") + frame["flag"]
    nominal = ["text", "holed", "number", "flag", "mixed"]
    model = fitted(score.to_numpy(), 3, frame, n_estimators=8, categorical_features=nominal)
    compiled = CModels({"shop": model}, tmp_path)
    new = frame.copy()
    new.loc[:20, "text"] = None  # missing, never seen so
    new.loc[20:40, "text"] = "never seen"
    new.loc[20:40, "holed"] = "never seen"
    new.loc[20:40, "number"] = 3.5
    compiled.assert_equal("shop", new, shop_codes(compiled, new))
    level = compiled.function("shop_level", ctypes.c_int, ctypes.c_int, ctypes.c_char_p)
    assert level(2, b"red") == level(3, b"red") == level(99, b"red") == level(-1, b"red") == -1


def shop_codes(compiled: CModels, frame: pd.DataFrame) -> np.ndarray:
    """The rows of the shop as a C program would pass them."""
    level = compiled.function("shop_level", ctypes.c_int, ctypes.c_int, ctypes.c_char_p)
    number = compiled.function("shop_level_of_number", ctypes.c_int, ctypes.c_int, ctypes.c_double)
    columns = []
    for feature, name in enumerate(frame.columns):
        values = frame[name].tolist()
        if name == "plain":
            columns.append(values)
        elif name in ("number", "flag"):
            columns.append([number(feature, value) for value in values])
        else:
            texts = [None if is_missing(value) else str(value).encode() for value in values]
            columns.append([level(feature, text) for text in texts])
    return np.array(columns, dtype=np.float64).T


def test_missing_value_of_a_nominal_column_may_be_passed_as_nan(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    models, tables = {}, {}
    for name, missing in (("seen", 0.1), ("never", 0.0)):
        X = rng.integers(0, 4, size=(200, 2)).astype(float)
        X[rng.random(200) < missing, 0] = NAN
        y = np.nan_to_num(X[:, 0], nan=-5) * 3 + X[:, 1]
        models[name] = fitted(y, 3, X, categorical_features=[0, 1])
        tables[name] = X
    unseen = np.full((1, 2), 77.0)
    missing = np.array([[NAN, 77.0]])
    assert (models["seen"].predict_proba(unseen) != models["seen"].predict_proba(missing)).any()
    compiled = CModels(models, tmp_path)
    for name, X in tables.items():
        rows = X.copy()
        rows[::3, 0] = rows[1::3, 1] = NAN
        compiled.assert_equal(name, rows, rows)


def test_texts_of_classes_and_names_of_columns_cannot_break_the_file(tmp_path: Path) -> None:
    texts = ['"', "\\", "\n??/\n", "*/ #error", "größe\u202e", "\ud800", "%s??)", "/*", "x" * 5000]
    X = np.arange(len(texts) * 4.0).reshape(-1, 2) % 7
    frame = pd.DataFrame(X, columns=["*/ int x; /*", "??/\n\\"])
    y = np.array(texts * 2, dtype=object)
    model = ObliqueForestClassifier(5, random_state=0, n_jobs=1).fit(frame, y)
    compiled = CModels({"odd": model}, tmp_path)
    compiled.assert_equal("odd", frame, X)
    name = compiled.function("odd_class_name", ctypes.c_char_p, ctypes.c_int)
    assert [name(k).decode("utf-8", "surrogatepass") for k in range(len(texts))] == sorted(texts)
    assert name(-1) is name(len(texts)) is None


def test_labels_of_5000_characters_can_be_read(tmp_path: Path) -> None:
    long = ["é'\"\\" * 1250 + end for end in "ab"]
    frame = pd.DataFrame({"x": [*long, "c"] * 5})
    model = ObliqueForestClassifier(3, random_state=0, n_jobs=1).fit(frame, [0, 1, 1] * 5)
    compiled = CModels({"long": model}, tmp_path)
    level = compiled.function("long_level", ctypes.c_int, ctypes.c_int, ctypes.c_char_p)
    labels = model.fitted_forest_.encoding.nominal[0].labels.tolist()
    assert [level(0, label.encode()) for label in labels] == [0, 1, 2]
    assert level(0, long[0][:-1].encode()) == 3


def test_program_takes_declarations_from_the_file_itself(tmp_path: Path) -> None:
    X, y = training_rows()
    model = fitted(y, 3, X)
    (tmp_path / "model.c").write_text(model.to_c(), encoding="utf-8")
    (tmp_path / "main.c").write_text(PROGRAM)
    sources = [str(tmp_path / name) for name in ("model.c", "main.c")]
    program = str(tmp_path / "main")
    command = [str(COMPILER), "-std=c99", *STRICT, *sources, "-o", program]
    subprocess.run(command, check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    row = [[0.5, NAN, 1e-3, 2, 7, -1e6]]
    expected = model.predict_proba(row)[0]
    assert [float.fromhex(text) for text in said.split()[1:]] == expected.tolist()
    assert said.split()[0] == str(model.predict(row)[0])


PROGRAM = """
#include <math.h>
#include <stdio.h>
#define MODEL_DECLARATIONS_ONLY
#include "model.c"

int main(void)
{
    const double row[MODEL_N_FEATURES] = {0.5, NAN, 1e-3, 2, 7, -1e6};
    double probabilities[MODEL_N_CLASSES];
    int i;
    model_predict_proba(row, probabilities);
    printf("%s", model_class_name(model_predict(row)));
    for (i = 0; i < MODEL_N_CLASSES; ++i) printf(" %a", probabilities[i]);
    return 0;
}
"""
