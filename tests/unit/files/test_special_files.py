"""Files that are no ordinary files, no models, or change while they are mapped."""

import os
import shutil
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support.command_line import run

import bevel
from bevel.estimators.registry import KINDS
from bevel.files import layout
from bevel.files.model import summarise

DESCRIPTORS = Path("/proc/self/fd")
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes there")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture
def path(tmp_path, rows):
    forest = bevel.ObliqueForestClassifier(3, random_state=0).fit(rows, rows[:, 0] > 0)
    forest.save(tmp_path / "model.bevel")
    return tmp_path / "model.bevel"


@pytest.fixture
def pipe(tmp_path):
    """A pipe; whoever opens it for good waits ten seconds, then reads nothing."""
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Timer(10.0, lambda: os.close(os.open(tmp_path / "pipe", os.O_RDWR)))
    writer.daemon = True
    writer.start()
    yield tmp_path / "pipe"
    assert writer.is_alive(), "the pipe was opened and waited for"
    writer.cancel()


@needs_pipes
@pytest.mark.parametrize("mmap", [False, True])
def test_pipe_is_refused_at_once(pipe, mmap):
    with pytest.raises(bevel.ModelFileError, match="read from an ordinary file; got a pipe"):
        bevel.load(pipe, mmap=mmap)


@needs_pipes
@pytest.mark.parametrize("verify", [False, True])
def test_pipe_is_not_summarised(pipe, verify):
    with pytest.raises(bevel.ModelFileError, match="got a pipe"):
        summarise(pipe, KINDS, verify)


@needs_pipes
@pytest.mark.parametrize("command", ["inspect", "predict", "explain", "export"])
def test_commands_refuse_a_pipe_as_a_model(command, pipe, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,c\n1,2,3\n")
    table = [] if command in ("inspect", "export") else [tmp_path / "rows.csv"]
    out = ["--to", "c", "--out", tmp_path / "out"] if command == "export" else []
    result = run(command, pipe, *table, *out)
    assert result.exit_code == 1
    assert "ordinary file" in result.stderr


def test_folder_is_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError):  # noqa: PT011  # the words are the system's
        bevel.load(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="files have no holes there")
def test_huge_file_of_another_kind_is_refused_by_its_first_bytes(tmp_path):
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(2**42)  # no machine could read it
    with pytest.raises(bevel.ModelFileError, match="a Bevel model file"):
        bevel.load(tmp_path / "huge")


def test_too_little_memory_is_no_damage():
    words = r"x\.bevel: Reading the file takes more memory"
    with pytest.raises(MemoryError, match=words), layout.only_file_errors("x.bevel"):
        np.empty(2**60, np.uint8)


def change_in_place(path, how):
    before = path.stat()
    if how == "shorter":
        os.truncate(path, 100)
    else:
        with path.open("r+b") as stream:
            stream.seek(200)
            stream.write(bytes(8))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000))


@pytest.mark.skipif(sys.platform == "win32", reason="mapped files cannot be changed there")
@pytest.mark.parametrize("how", ["shorter", "other bytes"])
@pytest.mark.parametrize(
    "call",
    [
        lambda model, rows: model.predict(rows),
        lambda model, rows: model.predict_proba(rows),
        lambda model, rows: model.apply(rows),
        lambda model, rows: model.decision_path(rows),
        lambda model, _rows: model.verify(),
        lambda model, _rows: model.forest_,
        lambda model, _rows: model.to_c(),
    ],
)
def test_mapped_file_that_was_written_to_raises(path, rows, how, call):
    model = bevel.load(path, mmap=True)
    change_in_place(path, how)
    with pytest.raises(bevel.ModelFileError, match="written to after it was loaded"):
        call(model, rows)


@pytest.mark.skipif(sys.platform == "win32", reason="mapped files cannot be changed there")
def test_mapped_file_that_was_replaced_still_predicts(path, rows):
    model = bevel.load(path, mmap=True)
    before = model.predict_proba(rows)
    bevel.ObliqueForestClassifier(2, random_state=1).fit(rows, rows[:, 1] > 0).save(path)
    np.testing.assert_array_equal(model.predict_proba(rows), before)
    shutil.copy(path, path.with_name("new"))
    path.with_name("new").replace(path)
    path.unlink()
    np.testing.assert_array_equal(model.predict_proba(rows), before)


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="descriptors are counted in /proc")
def test_descriptor_of_a_map_is_closed_with_it(path, rows):
    n_before = len(list(DESCRIPTORS.iterdir()))
    for _ in range(5):
        bevel.load(path, mmap=True).predict(rows)
    assert len(list(DESCRIPTORS.iterdir())) <= n_before + 2
