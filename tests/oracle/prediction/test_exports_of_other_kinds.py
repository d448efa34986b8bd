"""Exports of forests whose value is not a mean target: path lengths and risks."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.c_models import STRICT, compile_source, needs_compiler

from bevel import ObliqueIsolationForest, ObliqueSurvivalForest
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
