"""`to_onnx`: what a model takes, answers and says of itself, and what cannot be exported."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
import onnx
from support.command_line import invoke
from support.onnx_models import Exported

import bevel
from bevel import ObliqueBoostingRegressor, ObliqueForestClassifier, ObliqueForestRegressor
from bevel.cli.app import app
from bevel.export.onnx import graph, to_onnx, write_onnx
from bevel.extras import MissingPackageError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)).astype(np.float32)
y = (X[:, 0] > X[:, 1]).astype(int)


def classifier(labels=y, rows=X, **options):
    return ObliqueForestClassifier(3, random_state=0, **options).fit(rows, labels)


def signature(tensors):
    """Names, types and shapes of inputs or outputs."""
    kinds = [
        (t.name, onnx.TensorProto.DataType.Name(t.type.tensor_type.elem_type)) for t in tensors
    ]
    shapes = [[d.dim_param or d.dim_value for d in t.type.tensor_type.shape.dim] for t in tensors]
    return [(*kind, shape) for kind, shape in zip(kinds, shapes, strict=True)]


@pytest.mark.parametrize(("dtype", "kind"), [("float32", "FLOAT"), ("float64", "DOUBLE")])
def test_model_of_numbers_takes_one_matrix(dtype, kind):
    model = classifier().to_onnx(dtype=dtype)
    assert signature(model.graph.input) == [("X", kind, ["n", 3])]
    assert signature(model.graph.output) == [
        ("label", "INT64", ["n"]),
        ("probabilities", kind, ["n", 2]),
    ]


def test_regressor_predicts_one_value_for_each_row():
    forest = ObliqueForestRegressor(3, random_state=0).fit(X, X[:, 0])
    model = forest.to_onnx()
    assert signature(model.graph.output) == [("prediction", "FLOAT", ["n"])]
    np.testing.assert_allclose(Exported(forest).answers(X), forest.predict(X), rtol=1e-6)


def frame():
    return pd.DataFrame(
        {
            "label": X[:, 0],
            "city": RNG.choice(["bern", "oslo", "rome"], len(X)),
            "zone": RNG.integers(0, 4, len(X)),
            "rate": RNG.choice([0.5, 1.5, np.nan], len(X)),
        }
    )


def test_model_with_labels_takes_a_column_at_a_time():
    model = classifier(rows=frame(), categorical_features=["city", "zone", "rate"]).to_onnx()
    assert signature(model.graph.input) == [
        ("label_2", "FLOAT", ["n", 1]),  # an output has that name
        ("city", "STRING", ["n", 1]),
        ("zone", "INT64", ["n", 1]),
        ("rate", "FLOAT", ["n", 1]),
    ]


def test_columns_without_names_are_numbered():
    rows = np.column_stack([X.round(), y])
    model = classifier(rows=rows, categorical_features=[3]).to_onnx()
    assert [name for name, *_ in signature(model.graph.input)] == ["x0", "x1", "x2", "x3"]


def test_empty_text_is_missing_and_other_text_unseen():
    table = frame().assign(city=lambda t: t["city"].where(t["city"] != "rome", None))
    forest = classifier(table["city"].fillna("none"), table, categorical_features=["city"])
    rows = table.head(4).assign(city=["bern", "", "paris", "oslo"])
    answered = Exported(forest).run(rows)["probabilities"]
    meant = rows.assign(city=["bern", None, "paris", "oslo"])
    np.testing.assert_allclose(answered, forest.predict_proba(meant), rtol=1e-6)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.where(y, "ja", "nein"), "STRING"),
        (np.where(y, "ja", "nein").astype(object), "STRING"),
        (y.astype(np.uint8), "INT64"),
        (y.astype(bool), "BOOL"),
        (y.astype(np.float64), "DOUBLE"),
    ],
)
def test_labels_are_those_of_predict(labels, kind):
    forest = classifier(labels)
    exported = Exported(forest)
    assert signature(exported.model.graph.output)[0] == ("label", kind, ["n"])
    assert exported.run(X)["label"].tolist() == forest.predict(X).tolist()


def test_labels_that_no_tensor_holds_become_positions():
    forest = classifier(y.astype(np.uint64) + np.uint64(2**63))
    label = Exported(forest).run(X)["label"]
    assert forest.classes_[label].tolist() == forest.predict(X).tolist()


def test_model_says_where_it_comes_from():
    model = classifier(rows=pd.DataFrame(X, columns=["a", "b", "c"])).to_onnx(name="pears")
    assert (model.producer_name, model.producer_version) == ("bevel", version("bevel"))
    assert model.graph.name == "pears"
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert facts["n_trees"] == "3"
    assert json.loads(facts["feature_names"]) == ["a", "b", "c"]


@pytest.mark.parametrize("opset", [17, 18, 20])
def test_model_runs_at_every_opset(opset):
    forest = classifier()
    exported = Exported(forest, target_opset=opset)
    assert exported.model.opset_import[0].version == opset
    np.testing.assert_allclose(exported.answers(X), forest.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"dtype": "float16"}, ValueError, "dtype must be 'float32' or 'float64'; got 'float16'"),
        ({"target_opset": 16}, ValueError, "target_opset must be an integer from 17 to"),
        ({"target_opset": 999}, ValueError, "target_opset must be an integer from 17 to"),
        ({"target_opset": "18"}, TypeError, "target_opset must be an integer from 17 to"),
        ({"target_opset": True}, TypeError, "target_opset must be an integer from 17 to"),
        ({"name": 3}, TypeError, "name must be a string; got 3"),
        ({"name": ""}, ValueError, "name must be a string that is not empty"),
    ],
)
def test_wrong_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        classifier().to_onnx(**options)


def test_forest_must_be_fitted():
    with pytest.raises(NotFittedError):
        ObliqueForestClassifier().to_onnx()


def test_missing_package_is_named(monkeypatch):
    forest = classifier()
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingPackageError, match=r"to_onnx needs onnx.*bevel\[onnx\]"):
        forest.to_onnx()


@pytest.mark.parametrize("route", ["trees", "walk"])
def test_forest_larger_than_a_model_is_refused(route, monkeypatch):
    monkeypatch.setattr(graph, "MAX_MODEL", 200)
    with pytest.raises(ValueError, match=r"An ONNX model must stay below .* GiB"):
        to_onnx(classifier().fitted_forest_, route=route)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([1, "a"], TypeError, "Nominal column 'k' must have labels that are all text or all numb"),
        ([2**63, 1], ValueError, "Nominal column 'k' must have labels that stay apart in int64"),
        ([2.0**25, 2.0**25 + 1], ValueError, "'k' must have labels that stay apart in float32"),
    ],
)
def test_labels_that_no_input_holds_are_refused(labels, error, message):
    column = pd.Series(np.resize(np.array(labels, dtype=object), len(X)))
    forest = classifier(rows=pd.DataFrame({"k": column, "x": X[:, 0]}), categorical_features=["k"])
    with pytest.raises(error, match=message):
        forest.to_onnx()


def test_written_file_is_the_model(tmp_path):
    path = tmp_path / "model.onnx"
    forest = classifier()
    write_onnx(forest.fitted_forest_, path, name="pears")
    assert onnx.load(path) == forest.to_onnx(name="pears")
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


@pytest.mark.parametrize("mmap", [False, True])
def test_loaded_forest_has_the_same_model(tmp_path, mmap):
    forest = classifier()
    forest.save(tmp_path / "model.bevel")
    assert bevel.load(tmp_path / "model.bevel", mmap=mmap).to_onnx() == forest.to_onnx()


def test_command_writes_the_model(tmp_path):
    forest = classifier()
    forest.save(tmp_path / "model.bevel")
    result = invoke(app, ["export", str(tmp_path / "model.bevel"), "--to", "onnx"])
    assert result.exit_code == 0
    assert onnx.load(tmp_path / "model.onnx") == forest.to_onnx()


def test_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="dtype must be"):
        write_onnx(classifier().fitted_forest_, path, dtype="float16")
    assert path.read_bytes() == b"old"


FOREST = ObliqueForestRegressor(3, random_state=0)
BOOSTING = ObliqueBoostingRegressor(max_iter=3, random_state=0)
RATES = ObliqueBoostingRegressor(max_iter=3, loss="poisson", random_state=0)


@pytest.mark.parametrize(
    ("model", "size"),
    [(FOREST, 1e-50), (FOREST, 1e50), (BOOSTING, 1e-50), (BOOSTING, 1e50), (RATES, 1e50)],
    ids=["forest, tiny", "forest, huge", "boosting, tiny", "boosting, huge", "rates, huge"],
)
def test_targets_beyond_float32_need_float64(model, size):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = size * (2.0 + (X[:, 0] > 0))
    fitted = model.fit(X, y).fitted_forest_
    message = r"dtype must be \"float64\" for predictions beyond float32 .*; got 'float32'"
    with pytest.raises(ValueError, match=message):
        to_onnx(fitted)
    assert to_onnx(fitted, dtype="float64").graph.node
    to_onnx(model.fit(X, y / size).fitted_forest_)


def test_a_target_of_zeros_is_exported():
    X = np.random.default_rng(0).normal(size=(60, 2))
    for model in (ObliqueForestRegressor(3), ObliqueBoostingRegressor(max_iter=3)):
        assert to_onnx(model.fit(X, np.zeros(60)).fitted_forest_).graph.node
