"""`bevel export`: what it writes, where, and what it refuses to write over."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from support.command_line import invoke

from bevel import ObliqueForestClassifier
from bevel.cli.app import app


@pytest.fixture
def estimator(tmp_path):
    """A fitted forest, saved as iris.bevel."""
    X = np.arange(20.0).reshape(-1, 2)
    fitted = ObliqueForestClassifier(2, random_state=0, n_jobs=1).fit(X, X[:, 0] > 8)
    fitted.save(tmp_path / "iris.bevel")
    return fitted


def run(*arguments):
    return invoke(app, ["export", *map(str, arguments)])


def test_c_is_written_beside_the_model_by_default(estimator, tmp_path):
    result = run(tmp_path / "iris.bevel", "--to", "c")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "iris.c").read_text(encoding="utf-8") == estimator.to_c()
    assert "iris.c" in result.output.replace("\n", "")


def test_name_and_place_are_those_asked_for(estimator, tmp_path):
    out = tmp_path / "other.c"
    result = run(tmp_path / "iris.bevel", "--to", "c", "--out", out, "--name", "iris")
    assert result.exit_code == 0, result.output
    assert out.read_text(encoding="utf-8") == estimator.to_c("iris")


@pytest.mark.usefixtures("estimator")
def test_file_that_exists_is_replaced_only_by_force(tmp_path):
    out = tmp_path / "iris.c"
    out.write_text("mine")
    result = run(tmp_path / "iris.bevel", "--to", "c")
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert out.read_text() == "mine"
    assert run(tmp_path / "iris.bevel", "--to", "c", "--force").exit_code == 0
    assert out.read_text() != "mine"


@pytest.mark.usefixtures("estimator")
def test_model_itself_is_never_replaced(tmp_path):
    model = tmp_path / "iris.bevel"
    before = model.read_bytes()
    assert run(model, "--to", "c", "--out", model, "--force").exit_code == 1
    assert model.read_bytes() == before


@pytest.mark.usefixtures("estimator")
def test_bad_name_writes_nothing(tmp_path):
    result = run(tmp_path / "iris.bevel", "--to", "c", "--name", "my model")
    assert result.exit_code == 1
    assert "C identifier" in result.stderr
    assert not (tmp_path / "iris.c").exists()


@pytest.mark.usefixtures("estimator")
def test_name_without_c_is_refused(tmp_path):
    assert "--name" in run(tmp_path / "iris.bevel", "--to", "onnx", "--name", "iris").stderr


def test_onnx_is_written_by_its_own_room(estimator, tmp_path, monkeypatch):
    def write_onnx(written, path):
        path.write_bytes(written.forest.threshold.tobytes())

    room = ModuleType("bevel.export.onnx")
    room.write_onnx = write_onnx
    monkeypatch.setitem(sys.modules, "bevel.export.onnx", room)
    result = run(tmp_path / "iris.bevel", "--to", "onnx")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "iris.onnx").read_bytes() == estimator.forest_.threshold.tobytes()


def test_file_that_cannot_be_read_ends_with_a_message(tmp_path):
    (tmp_path / "bad.bevel").write_text("no model")
    for name in ("none.bevel", "bad.bevel"):
        result = run(tmp_path / name, "--to", "c")
        assert result.exit_code == 1
        assert name in result.stderr


def test_unknown_format_is_refused():
    assert run("iris.bevel", "--to", "java").exit_code == 2
