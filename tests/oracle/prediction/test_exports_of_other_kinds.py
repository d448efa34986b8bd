"""Exports of forests whose value is not a mean target: path lengths and risks."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.c_models import STRICT, CModels, compile_source, needs_compiler
from support.nominal_tables import classes_of, n_level_terms, new_rows, nominal_table

from bevel import (
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    ObliqueSurvivalForest,
)
from bevel.datasets import weibull

X, Y = weibull(200, random_state=0)
HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
HOLES = HOLES.astype(np.float32).astype(np.float64)  # what ONNX reads is exact


def path_lengths(forest: Any) -> np.ndarray:
    """The mean path length h, from the score -2^(-h / c): c is that of a tree of all its rows."""
    n = forest.max_samples_
    c = 2.0 * sum(1.0 / k for k in range(1, n)) - 2.0 * (n - 1.0) / n
    return -c * np.log2(-forest.score_samples(HOLES))


MADE = {
    "isolation": lambda: (ObliqueIsolationForest(20, random_state=0).fit(HOLES), path_lengths),
    "survival": lambda: (
        ObliqueSurvivalForest(20, random_state=0).fit(HOLES, Y),
        lambda forest: forest.predict(HOLES),
    ),
}


@needs_compiler
@pytest.mark.parametrize("kind", MADE)
def test_c_gives_what_the_documents_say(kind: str, tmp_path: Path) -> None:
    forest, expected = MADE[kind]()
    (tmp_path / "model.c").write_text(forest.to_c())
    library = ctypes.CDLL(str(compile_source(tmp_path / "model.c", *STRICT)))
    library.model_predict.restype = ctypes.c_double
    rows = np.ascontiguousarray(HOLES)
    found = [library.model_predict(ctypes.c_void_p(row.ctypes.data)) for row in rows]
    np.testing.assert_allclose(found, expected(forest), rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "words"), [("isolation", "the mean path length"), ("survival", "the risk")]
)
def test_comment_of_c_says_what_is_returned(kind: str, words: str) -> None:
    text = MADE[kind]()[0].to_c()
    assert words in text
    assert "the predicted value" not in text


@pytest.mark.parametrize("kind", MADE)
def test_onnx_gives_what_the_documents_say(kind: str) -> None:
    runtime = pytest.importorskip("onnxruntime")
    forest, expected = MADE[kind]()
    session = runtime.InferenceSession(forest.to_onnx().SerializeToString())
    (found,) = session.run(None, {session.get_inputs()[0].name: HOLES.astype(np.float32)})
    np.testing.assert_allclose(np.ravel(found), expected(forest), rtol=1e-4)


FRAME, TARGET = nominal_table(500, n_places=130)
NOMINAL_MODELS = {
    "forest_values": lambda: ObliqueForestRegressor(30, random_state=0).fit(FRAME, TARGET),
    "forest_classes": lambda: ObliqueForestClassifier(30, random_state=0).fit(
        FRAME, classes_of(TARGET, 3)
    ),
    "boosting_values": lambda: ObliqueBoostingRegressor(max_iter=20, random_state=0).fit(
        FRAME, TARGET
    ),
}


def with_codes(model: Any, rows: Any) -> np.ndarray:
    """Rows as the C file takes them: numbers, and codes of labels."""
    table = np.zeros(rows.shape)
    nominal = model.fitted_forest_.encoding.nominal
    for feature, name in enumerate(rows.columns):
        column = rows[name].to_numpy(object)
        table[:, feature] = nominal[feature].encode(column, name) if feature in nominal else column
    return table


@needs_compiler
def test_c_reads_levels_in_directions_and_means_of_the_target_as_python_does(
    tmp_path: Path,
) -> None:
    models = {name: make() for name, make in NOMINAL_MODELS.items()}
    compiled = CModels(models, tmp_path)
    for name, model in models.items():
        assert n_level_terms(model) > 0
        assert model.fitted_forest_.encoding.means
        for rows in (FRAME, new_rows(FRAME)):
            compiled.assert_equal(name, rows, with_codes(model, rows))


@pytest.mark.parametrize("kind", NOMINAL_MODELS)
def test_onnx_reads_levels_in_directions_and_means_of_the_target_as_python_does(kind: str) -> None:
    pytest.importorskip("onnxruntime")
    from support.onnx_models import Exported

    model = NOMINAL_MODELS[kind]()
    exported = Exported(model, dtype="float64") if kind != "boosting_values" else Exported(model)
    rows = new_rows(FRAME)
    rows = rows.assign(**{c: rows[c].astype(np.float32).astype(float) for c in ("a", "b", "same")})
    predict = model.predict_proba if kind == "forest_classes" else model.predict
    found = exported.answers(rows)
    np.testing.assert_allclose(
        found.reshape(len(rows), -1), predict(rows).reshape(len(rows), -1), rtol=1e-4, atol=1e-5
    )
