"""Model files that were written once are still read, and predict what they did, bit for bit."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bevel
from bevel.estimators.registry import SAVABLE

FILES = sorted((Path(__file__).parent / "files").rglob("*.bevel"))


def read_expected(file):
    expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    rows = expected["rows"]
    if expected["columns"] is None:
        return expected, np.array(rows)
    return expected, pd.DataFrame(rows, columns=expected["columns"]).astype({"x": float})


def test_there_are_files_of_every_estimator():
    assert {type(bevel.load(file)).__name__ for file in FILES} == SAVABLE.keys()


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_kept_files_predict_what_they_did(file, mmap):
    expected, X = read_expected(file)
    estimator = bevel.load(file, mmap=mmap)
    assert estimator.predict(X).tolist() == expected["predict"]
    if "leaves" in expected:
        assert estimator.apply(X).tolist() == expected["leaves"]
    if "predict_proba" in expected:
        assert np.asarray(estimator.predict_proba(X)).tolist() == expected["predict_proba"]
    if "score_samples" in expected:
        # The digamma function of other releases of SciPy may differ in the last digits.
        scores = expected["score_samples"]
        np.testing.assert_allclose(estimator.score_samples(X), scores, rtol=1e-11, atol=0.0)
    if "survival" in expected:
        curves = estimator.predict_survival_function(X, return_array=True)
        assert curves.tolist() == expected["survival"]
    if "quantiles" in expected:
        assert estimator.predict_quantiles(X).tolist() == expected["quantiles"]
    estimator.verify()
    assert estimator.predict(X).tolist() == expected["predict"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_kept_files_are_written_again_with_the_same_meaning(file, tmp_path):
    expected, X = read_expected(file)
    bevel.load(file).save(tmp_path / "again.bevel")
    assert bevel.load(tmp_path / "again.bevel").predict(X).tolist() == expected["predict"]
