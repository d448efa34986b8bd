"""Bad input to scanned tables: clear errors, nothing half-written."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bevel import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    StackedRotationClassifier,
    scan,
)
from bevel import projections as P
from bevel.scanning import store


def make_batches(n_batches=3, rows=200, seed=0):
    rng = np.random.default_rng(seed)
    batches = []
    for _ in range(n_batches):
        X = rng.normal(size=(rows, 3))
        batches.append((X, X[:, 0] > X[:, 1]))
    return batches


def fit(table, kind=ObliqueForestClassifier, **parameters):
    return kind(**{"n_estimators": 3, "random_state": 0, **parameters}).fit(table)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    frame["label"] = np.where(frame.a > 0, "yes", "no")
    return frame


def test_label_that_appears_only_in_the_last_batch_is_a_class():
    batches = [(np.ones((50, 1)) * k, np.full(50, f"class {k}")) for k in range(4)]
    forest = fit(scan(batches), bootstrap=False)
    assert forest.classes_.tolist() == ["class 0", "class 1", "class 2", "class 3"]
    assert forest.predict([[3.0]]) == ["class 3"]


def test_labels_of_two_types_are_refused():
    batches = [(np.ones((5, 1)), np.arange(5)), (np.ones((5, 1)), np.array(list("abcde")))]
    with pytest.raises(ValueError, match=r"labels of one type.*from row 5 on"):
        fit(scan(batches))


def test_batch_with_other_columns_is_refused(frame):
    other = frame.rename(columns={"b": "B"})
    batches = [(f[f.columns[:3]], f["label"]) for f in (frame, other)]
    with pytest.raises(ValueError, match=r"columns of the first.*from row 300 on"):
        fit(scan(batches))


def test_file_with_other_columns_is_refused(frame, tmp_path):
    frame.to_parquet(tmp_path / "1.parquet")
    frame.drop(columns="c").to_parquet(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match="columns of the first"):
        fit(scan(tmp_path, target="label"))
    with pytest.raises(ValueError, match=r"needs the column 'c' in every file.*2\.parquet"):
        fit(scan(tmp_path, target="label", columns=["a", "c"]))


def test_batch_with_text_in_a_column_of_numbers_is_refused(frame):
    other = frame.assign(b="high")
    batches = [(f[["a", "b", "c"]], f["label"]) for f in (frame, other)]
    with pytest.raises(ValueError, match="another type in column 'b'"):
        fit(scan(batches))


@pytest.mark.parametrize("change", [1, -1])
def test_row_count_that_changes_between_passes_is_refused(change, tmp_path):
    calls = []

    def batches():
        calls.append(1)
        yield from make_batches(3 if len(calls) == 1 else 3 + change)

    with pytest.raises(ValueError, match=r"must not change while it is read.*600 rows in the"):
        fit(scan(batches, folder=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_label_that_is_new_in_the_second_pass_is_refused():
    calls = []

    def batches():
        calls.append(1)
        yield np.ones((3, 1)), np.array(["a", "b", "a" if len(calls) == 1 else "c"])

    with pytest.raises(ValueError, match="new label 'c' in the second"):
        fit(scan(batches))


def test_level_that_is_new_in_the_second_pass_is_refused():
    calls = []

    def batches():
        calls.append(1)
        city = ["x", "y", "x" if len(calls) == 1 else "z"]
        yield pd.DataFrame({"city": city}), np.array([0, 1, 0])

    with pytest.raises(ValueError, match="a new level in column 'city'"):
        fit(scan(batches))


def test_disk_that_is_full_is_reported_and_nothing_is_left(tmp_path, monkeypatch):
    real, written = Path.open, []

    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    def open_path(self, mode="r", *rest, **others):
        if self.suffix == ".bin" and "w" in mode:
            written.append(self)
            if len(written) > 2:
                return Full()
        return real(self, mode, *rest, **others)

    monkeypatch.setattr(Path, "open", open_path)
    with pytest.raises(OSError, match=r"could not write encoded rows \(No space left") as caught:
        fit(scan(make_batches(), folder=tmp_path, block_rows=100))
    assert caught.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


def test_unreadable_file_is_named(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"this is no table")
    with pytest.raises(Exception, match=r"could not read '.*rows\.parquet' as parquet"):
        fit(scan(tmp_path / "rows.parquet", target="label"))
    with pytest.raises(FileNotFoundError, match="names none"):
        scan(tmp_path / "*.csv", target="label")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes there")
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow", ".npy"])
def test_pipe_is_refused_at_once(suffix, tmp_path):
    """A table is read twice, and whoever opens a pipe waits for a writer."""
    pipe = tmp_path / f"rows{suffix}"
    os.mkfifo(pipe)
    for source in (pipe, tmp_path, [pipe], str(tmp_path / f"*{suffix}")):
        with pytest.raises(ValueError, match=r"ordinary files.*rows.*a pipe"):
            scan(source, target="label")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes there")
def test_pipe_of_targets_is_refused_at_once(tmp_path):
    np.save(tmp_path / "rows.npy", np.ones((5, 2)))
    np.save(tmp_path / "y.npy", np.ones(5))
    os.mkfifo(tmp_path / "pipe.npy")
    for target, weight in (("pipe.npy", None), ("y.npy", "pipe.npy")):
        weights = None if weight is None else tmp_path / weight
        with pytest.raises(ValueError, match=r"ordinary files.*pipe\.npy"):
            scan(tmp_path / "rows.npy", target=tmp_path / target, weight=weights)


def test_block_file_that_was_cut_short_is_reported(tmp_path, monkeypatch):
    complete = store.BlockFolder.complete

    def damage(self):
        complete(self)
        path = next(self._path.glob("block-*.bin"))
        path.write_bytes(path.read_bytes()[:100])

    monkeypatch.setattr(store.BlockFolder, "complete", damage)
    with pytest.raises(OSError, match="cut short"):
        fit(scan(make_batches(), folder=tmp_path))
    assert list(tmp_path.iterdir()) == []


KILLED = """
import sys, time
from pathlib import Path
import numpy as np
from bevel import ObliqueForestClassifier, scan

def batches():
    for k in range(10**6):
        X = np.ones((1000, 3)) * k
        yield X, X[:, 0] % 2
        if (Path(sys.argv[1]) / "second").exists() and k == 5:
            (Path(sys.argv[1]) / "ready").touch()
            time.sleep(60)
        if k == 10:
            (Path(sys.argv[1]) / "second").touch()
            return

ObliqueForestClassifier(3).fit(scan(batches, folder=sys.argv[1] + "/blocks", block_rows=1000))
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL there")
def test_run_after_one_that_was_killed_works_and_removes_what_it_left(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)])
    try:
        for _ in range(6000):
            if (tmp_path / "ready").exists():
                break
            assert process.poll() is None
            time.sleep(0.01)
        left = [path for path in (tmp_path / "blocks").iterdir() if path.is_dir()]
        assert len(left) == 1
        assert list(left[0].glob("*.bin"))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    fit(scan(make_batches(), folder=tmp_path / "blocks"))
    assert list((tmp_path / "blocks").iterdir()) == []


def test_iterator_that_can_be_read_once_is_refused():
    with pytest.raises(TypeError, match="must be read twice"):
        scan(iter(make_batches()))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"projection": P.LDA()}, "without looking at rows"),
        ({"projection": P.CCA()}, "without looking at rows"),
        ({"projection": P.Gaussian()}, "without looking at rows"),
        ({"projection": P.PrincipalRotation()}, "without looking at rows"),
        ({"projection": P.Custom(lambda *_: None)}, "P.Custom with a matrix"),
        ({"threshold": "random"}, "threshold must be 'best'"),
        ({"split_search": "exact"}, "split_search must be"),
        ({"split_pure_nodes": True, "projection": "axis"}, "split_pure_nodes must be False"),
        ({"max_leaf_nodes": 5}, "max_leaf_nodes must be None"),
        ({"max_redraws": 3}, "max_redraws must be 'auto' or 0 with a scanned table"),
        ({"warm_start": True}, "warm_start must be False"),
        ({"class_weight": "balanced_subsample"}, 'Use class_weight="balanced"'),
        ({"calibration": "power"}, "calibration must be"),
    ],
)
def test_parameter_that_cannot_be_honoured_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(scan(make_batches()), **parameters)


def test_kept_targets_are_refused():
    batches = [(X, X[:, 0]) for X, _ in make_batches()]
    with pytest.raises(ValueError, match="keep_targets must be False"):
        fit(scan(batches), ObliqueForestRegressor, keep_targets=True)


def test_y_and_weights_beside_a_scanned_table_are_refused():
    with pytest.raises(ValueError, match="y must be None with a scanned table"):
        ObliqueForestClassifier().fit(scan(make_batches()), np.ones(600))


@pytest.mark.parametrize(
    ("value", "where"), [(np.inf, "Replace infinities"), (1e200, "Rescale the column")]
)
def test_number_that_is_too_large_is_named_with_its_row(value, where):
    batches = make_batches()
    batches[1][0][7, 2] = value
    with pytest.raises(ValueError, match=rf"column 2, row 207\. {where}"):
        fit(scan(batches))


@pytest.mark.parametrize("memory", ["lots", "3 apples", 1000, -1, True, [1], float("nan")])
def test_memory_that_is_none_is_refused(memory):
    with pytest.raises((ValueError, TypeError), match="memory must be"):
        scan(make_batches(), memory=memory)


@pytest.mark.parametrize("memory", [float("inf"), 10**400, "9" * 400])
def test_more_memory_than_any_machine_has_is_taken_for_enough(memory):
    assert fit(scan(make_batches(), memory=memory)).n_features_in_ == 3


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({True: float("inf")}, r"class_weight\[True\] must be a number from 0 to 1e\+15; got inf"),
        ({True: float("nan")}, r"class_weight\[True\] must be a number from 0"),
        ({True: -1.0}, "must be a number from 0"),
        ({True: 10**400}, "must be a number from 0"),
        ({True: 0.0, False: 0.0}, "at least one weight above zero"),
        ({"yes": 1.0}, "must name classes of y"),
        ({True: 1e15}, r"times class_weight must have a largest one .* got 1e\+16"),
    ],
)
def test_class_weights_are_checked_as_those_of_rows_in_memory(class_weight, message):
    batches = [(X, y, np.full(len(y), 10.0)) for X, y in make_batches()]
    with pytest.raises(ValueError, match=message):
        fit(scan(batches), class_weight=class_weight)


def test_table_without_rows_is_refused():
    with pytest.raises(ValueError, match="at least one row"):
        fit(scan([]))


def test_negative_weight_is_named_with_its_row():
    batches = [(X, y, np.ones(len(y))) for X, y in make_batches()]
    batches[2][2][3] = -1.0
    with pytest.raises(ValueError, match=r"got -1 \(row 403\)"):
        fit(scan(batches))


def test_weights_in_some_batches_only_are_refused():
    (X, y), other, _ = make_batches()
    with pytest.raises(ValueError, match="Every batch must have weights"):
        fit(scan([(X, y, np.ones(len(y))), other]))


def test_ordinary_fit_without_y_is_refused():
    with pytest.raises(ValueError, match="requires y to be passed"):
        ObliqueForestClassifier().fit(np.ones((3, 1)))


def test_rows_of_files_are_encoded_once_for_a_folder(frame, tmp_path, monkeypatch):
    frame["city"] = np.resize(["Rome", "Oslo", None], len(frame))
    frame.to_parquet(tmp_path / "rows.parquet")
    table = scan(tmp_path / "rows.parquet", target="label", folder=tmp_path / "blocks")
    first = fit(table)
    assert len(list((tmp_path / "blocks").glob("*/manifest.json"))) == 1
    monkeypatch.setattr(type(table.source), "batches", None)  # reading would raise
    second = fit(table)
    np.testing.assert_array_equal(first.forest_.threshold, second.forest_.threshold)
    rows = frame.drop(columns="label")
    np.testing.assert_array_equal(first.predict_proba(rows), second.predict_proba(rows))


def test_kept_rows_are_not_used_when_files_or_parameters_change(frame, tmp_path):
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    table = scan(path, target="label", folder=tmp_path / "blocks")
    assert fit(table).n_features_in_ == 3
    fit(table, scale="minmax")
    assert len(list((tmp_path / "blocks").glob("*/manifest.json"))) == 2
    frame.assign(d=1.0).to_parquet(path)
    assert fit(table).n_features_in_ == 4


def test_kept_rows_that_are_damaged_are_written_again(frame, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet")
    table = scan(tmp_path / "rows.parquet", target="label", folder=tmp_path / "blocks")
    first = fit(table)
    block = next((tmp_path / "blocks").glob("*/block-*.bin"))
    size = block.stat().st_size
    block.write_bytes(b"")
    second = fit(table)
    assert block.stat().st_size == size
    np.testing.assert_array_equal(first.forest_.threshold, second.forest_.threshold)


def test_estimators_that_need_rows_in_memory_say_so():
    X = np.random.default_rng(0).normal(size=(20, 3))
    table = scan(X, target=X[:, 0] > 0)
    with pytest.raises(TypeError, match=r"table from bevel\.scan.*ObliqueForestClassifier"):
        StackedRotationClassifier().fit(table, X[:, 0] > 0)
    with pytest.raises(TypeError, match=r"table from bevel\.scan"):
        ObliqueIsolationForest(5).fit(table)
