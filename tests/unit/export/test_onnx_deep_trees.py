"""Trees that onnxruntime would follow by a recursion too deep for its stack; `write_onnx`."""

import subprocess
import sys

import numpy as np
import pytest
from support.deep_trees import chain, estimator_with

pytest.importorskip("onnxruntime")

from bevel import ObliqueBoostingRegressor, ObliqueForestClassifier
from bevel.export.onnx import to_onnx, write_onnx
from bevel.export.onnx.leaves import MAX_LEVELS

RUN = """
import sys
import numpy as np
import onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1])
np.save(sys.argv[3], session.run(None, {"X": np.load(sys.argv[2])})[1])
"""


def operators(model):
    loop = next(node for node in model.graph.node if node.op_type == "Loop")
    return {node.op_type for node in loop.attribute[0].g.node}


def test_deep_tree_runs(tmp_path):
    forest = estimator_with(chain(15_000))[0]
    rows = np.random.default_rng(0).uniform(-1, 1, (3, 3)).astype(np.float32)
    files = [tmp_path / name for name in ("model.onnx", "rows.npy", "found.npy")]
    write_onnx(forest, files[0])
    np.save(files[1], rows)
    subprocess.run([sys.executable, "-c", RUN, *map(str, files)], check=True, timeout=300)
    np.testing.assert_allclose(np.load(files[2]), forest.predict_proba(rows), atol=1e-6)


@pytest.mark.parametrize(("n_levels", "is_tree"), [(MAX_LEVELS, True), (MAX_LEVELS + 1, False)])
def test_limit_of_the_tree_operator(n_levels, is_tree):
    found = operators(estimator_with(chain(n_levels))[0].to_onnx())
    assert ("TreeEnsembleRegressor" in found) == is_tree


def test_tree_operator_is_refused_for_deep_trees():
    fitted = estimator_with(chain(MAX_LEVELS + 1))[0].fitted_forest_
    with pytest.raises(ValueError, match='route must be "auto" or "walk" for trees of more than'):
        to_onnx(fitted, route="trees")


@pytest.mark.parametrize("kind", [ObliqueForestClassifier, ObliqueBoostingRegressor])
def test_estimators_are_written(kind, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = kind(random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    write_onnx(model, tmp_path / "a.onnx")
    write_onnx(model.fitted_forest_, tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
