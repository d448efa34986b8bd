"""Ctrl-C while a scanned table is read and while trees grow over it; progress of reading."""

import os
import signal

import numpy as np
import pandas as pd
import pytest

import bevel.training.blocks as blocked_table
from bevel import ObliqueForestClassifier, scan
from bevel.training.blocks import LocalBlocks

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no SIGINT by number there")


def make_batches(n_batches=3, rows=200):
    rng = np.random.default_rng(0)
    return [(X, X[:, 0] > 0) for X in (rng.normal(size=(rows, 3)) for _ in range(n_batches))]


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("number", [1, 3, 4, 6])
def test_ctrl_c_while_rows_are_read_leaves_nothing(number, tmp_path):
    read = []

    def source():
        for batch in make_batches():
            read.append(1)
            if len(read) == number:
                interrupt()
            yield batch

    forest = ObliqueForestClassifier(3)
    with pytest.raises(KeyboardInterrupt):
        forest.fit(scan(source, folder=tmp_path / "blocks", block_rows=50))
    assert len(read) == number
    assert not hasattr(forest, "_fitted")
    left = (tmp_path / "blocks").iterdir() if (tmp_path / "blocks").exists() else []
    assert list(left) == []


@pytest.mark.parametrize("method", ["histograms", "subtrees"])
def test_ctrl_c_while_trees_grow_leaves_nothing(method, tmp_path, monkeypatch):
    monkeypatch.setattr(blocked_table, "MAX_GATHERED", 100)
    monkeypatch.setattr(blocked_table, "MIN_GATHERED", 100)
    work, calls = getattr(LocalBlocks, method), []

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 2:
            interrupt()
        return work(self, *arguments)

    monkeypatch.setattr(LocalBlocks, method, interrupted)
    forest = ObliqueForestClassifier(50, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        forest.fit(scan(make_batches(), folder=tmp_path, block_rows=50, memory="32MB"))
    assert len(calls) == 2
    assert not hasattr(forest, "_fitted")
    assert list(tmp_path.iterdir()) == []


def test_verbose_shows_how_many_rows_are_read(tmp_path, capsys):
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(1000, 2)), columns=["a", "b"])
    rows.assign(label=rows.a > 0).to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    table = scan(tmp_path / "rows.parquet", target="label")
    ObliqueForestClassifier(3, verbose=1).fit(table)
    shown = capsys.readouterr().err
    assert shown.index("looking at rows") < shown.index("encoding rows") < shown.index("growing")
    assert shown.count("1000/1000") == 2
    # Without a number that is known before, rows are counted in the first pass.
    ObliqueForestClassifier(3, verbose=1).fit(scan(make_batches()))
    shown = capsys.readouterr().err.splitlines()
    assert shown[0].startswith("looking at rows 200  in ")
    assert sum("600/600" in line for line in shown) == 2
    ObliqueForestClassifier(3).fit(table)
    assert capsys.readouterr().err == ""
