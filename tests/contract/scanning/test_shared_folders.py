"""Folders of encoded rows: shared by fits, kept, damaged, and read by their owner alone."""

import os
import stat
import subprocess
import sys
import threading
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from bevel import ObliqueBoostingClassifier, ObliqueForestClassifier, scan
from bevel.scanning import reading
from bevel.scanning.store import BlockFolder, FileLock
from bevel.training.blocks import Block

MODELS = [
    ObliqueForestClassifier(n_estimators=3, random_state=0, n_jobs=1),
    ObliqueBoostingClassifier(max_iter=5, early_stopping=False, random_state=0, n_jobs=1),
]


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(500, 3)), columns=["a", "b", "c"])
    frame["label"] = np.where(frame.a + frame.b > 0, "yes", "no")
    frame.to_parquet(tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def table_of(rows, **options):
    return scan(rows, target="label", folder=rows.parent / "blocks", block_rows=100, **options)


def probabilities(model, rows):
    return model.predict_proba(pd.read_parquet(rows).drop(columns="label"))


FIT = """
import sys
import numpy as np
import pandas as pd
from bevel import ObliqueBoostingClassifier, ObliqueForestClassifier, scan

rows, folder, kind = sys.argv[1:]
table = scan(rows, target="label", folder=folder, block_rows=100)
for _ in range(6):
    if kind == "forest":
        model = ObliqueForestClassifier(n_estimators=3, random_state=0, n_jobs=1)
    else:
        model = ObliqueBoostingClassifier(max_iter=3, early_stopping=False, n_jobs=1)
    model.fit(table)
    X = np.arange(1500.0).reshape(-1, 3)
    ObliqueForestClassifier(n_estimators=2, n_jobs=1).fit(
        scan([(X, X[:, 0] % 2)], folder=folder, block_rows=50)
    )
"""


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_fits_of_several_processes_may_share_a_folder(rows, kind):
    folder = rows.parent / "blocks"
    arguments = [sys.executable, "-c", FIT, str(rows), str(folder), kind]
    fits = [
        subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        for _ in range(3)
    ]
    errors = [fit.communicate(timeout=120)[1] for fit in fits]
    assert [fit.returncode for fit in fits] == [0, 0, 0], "\n".join(errors)
    assert len(list(folder.glob("*/manifest.json"))) == 1
    assert [path for path in folder.iterdir() if path.name.startswith(".")] == []


def test_fits_of_several_threads_may_share_a_folder(rows):
    expected = probabilities(ObliqueForestClassifier(3, random_state=0).fit(table_of(rows)), rows)
    wrong = []

    def fit():
        for _ in range(5):
            model = ObliqueForestClassifier(3, random_state=0, n_jobs=1).fit(table_of(rows))
            if not np.array_equal(probabilities(model, rows), expected):
                wrong.append(1)

    def damage():
        for _ in range(20):
            for path in (rows.parent / "blocks").glob("*/table.json"):
                with suppress(OSError):
                    path.write_text("{}")

    threads = [threading.Thread(target=fit) for _ in range(3)]
    threads.append(threading.Thread(target=damage))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def leave_folder(place):
    """A hidden folder as a fit leaves it that is killed, and its lock."""
    path = place / f".bevel-blocks.{'0' * 16}"
    path.mkdir()
    (path / "block-000000.bin").write_bytes(b"rows")
    return path, place / f"{path.name}.lock"


def test_folder_in_use_is_left_alone_and_a_leftover_removed(tmp_path):
    X = np.arange(30.0).reshape(10, 3)
    path, lock_file = leave_folder(tmp_path)
    lock = FileLock.make(lock_file)
    ObliqueForestClassifier(2).fit(scan([(X, X[:, 0] > 5)], folder=tmp_path))
    assert (path / "block-000000.bin").exists()
    lock.release()
    ObliqueForestClassifier(2).fit(scan([(X, X[:, 0] > 5)], folder=tmp_path))
    assert list(tmp_path.iterdir()) == []
    leave_folder(tmp_path)  # without a lock
    ObliqueForestClassifier(2).fit(scan([(X, X[:, 0] > 5)], folder=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_new_folder_does_not_lose_its_lock_to_those_who_remove_leftovers(tmp_path):
    first = BlockFolder(tmp_path)
    second = BlockFolder(tmp_path)
    assert first.path.exists()
    assert second.path.exists()
    first.close()
    second.close()
    assert list(tmp_path.iterdir()) == []


def test_rows_that_a_fit_reads_are_not_replaced_by_those_of_another(tmp_path):
    first, second = BlockFolder(tmp_path), BlockFolder(tmp_path)
    for value, folder in enumerate((first, second)):
        X = np.full((3, 2), value, dtype=np.float32, order="F")
        folder.add(Block(X, np.zeros(3), None, 0))
        folder.keep("bevel-blocks-1")
    for value, folder in enumerate((first, second)):
        (load,) = folder.loaders()
        np.testing.assert_array_equal(load().X, value)
        folder.close()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["bevel-blocks-1"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["block-000000.bin", "table.npz", "table.json", "manifest.json"])
@pytest.mark.parametrize("kind", ["zeros", "one bit", "cut"])
def test_kept_file_that_was_changed_is_written_again(rows, model, name, kind):
    before = probabilities(model.fit(table_of(rows)), rows)
    (path,) = (rows.parent / "blocks").glob(f"*/{name}")
    content = bytearray(path.read_bytes())
    good = bytes(content)
    if kind == "zeros":
        content[:] = bytes(len(content))
    elif kind == "one bit":
        content[len(content) // 2] ^= 1
    else:
        del content[len(content) // 2 :]
    path.write_bytes(content)
    np.testing.assert_array_equal(probabilities(model.fit(table_of(rows)), rows), before)
    if name != "table.npz":  # which has the time in it
        assert path.read_bytes() == good
    assert path.read_bytes() != content


@pytest.mark.parametrize("model", MODELS)
def test_kept_folder_in_use_is_not_replaced(rows, model):
    before = probabilities(model.fit(table_of(rows)), rows)
    (path,) = (rows.parent / "blocks").glob("*/table.json")
    path.write_text("{}")
    lock = FileLock.take(path.parent.with_name(f"{path.parent.name}.lock"), shared=True)
    np.testing.assert_array_equal(probabilities(model.fit(table_of(rows)), rows), before)
    assert path.read_text() == "{}"
    lock.release()
    model.fit(table_of(rows))
    assert path.read_text() != "{}"


@pytest.mark.parametrize("model", MODELS)
def test_too_little_memory_for_a_kept_table_is_not_taken_for_damage(rows, model, monkeypatch):
    model.fit(table_of(rows))
    (path,) = (rows.parent / "blocks").glob("*/table.npz")
    before = path.read_bytes()

    def load(_folder):
        raise MemoryError("Unable to allocate 3.00 GiB")

    with monkeypatch.context() as patch:
        patch.setattr(reading, "load_table", load)
        with pytest.raises(MemoryError, match="Unable to allocate"):
            model.fit(table_of(rows))
    assert path.read_bytes() == before
    lock = FileLock.take(path.parent.with_name(f"{path.parent.name}.lock"))
    assert lock is not None  # nobody holds it any more
    lock.release()


@pytest.mark.skipif(os.name == "nt", reason="no such modes there")
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("model", MODELS)
def test_encoded_rows_can_be_read_by_their_owner_alone(rows, model, kept, monkeypatch):
    folder, folders, files = rows.parent / "blocks", {}, {}
    loaders = BlockFolder.loaders

    def look(self):
        for path in folder.rglob("*"):
            seen = folders if path.is_dir() else files
            seen[path.name] = stat.S_IMODE(path.stat().st_mode)
        return loaders(self)

    monkeypatch.setattr(BlockFolder, "loaders", look)
    frame = pd.read_parquet(rows)
    source = [(frame[["a", "b", "c"]], frame["label"])]
    old = os.umask(0)
    try:
        model.fit(table_of(rows) if kept else scan(source, folder=folder))
    finally:
        os.umask(old)
    assert set(folders.values()) == {0o700}
    assert set(files.values()) == {0o600}
    assert ("manifest.json" in files) == kept
    assert "block-000000.bin" in files
