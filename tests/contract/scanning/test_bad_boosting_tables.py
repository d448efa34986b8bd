"""What boosting refuses of scanned tables, and what it leaves behind when it fails."""

import errno
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor, scan
from bevel.scanning import store


def make_batches(n_batches=3, rows=200):
    rng = np.random.default_rng(0)
    return [(X, X[:, 0] > 0) for X in (rng.normal(size=(rows, 3)) for _ in range(n_batches))]


def fit(table, **parameters):
    return ObliqueBoostingClassifier(**{"max_iter": 2, **parameters}).fit(table)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"warm_start": True}, "warm_start must be False with a scanned table"),
        ({"scoring": "accuracy"}, 'scoring must be "loss" with a scanned table'),
        ({"loss": lambda y, raw: (raw - y, y)}, "loss must be the name of a loss"),
        ({"projection": "lda"}, "do not depend on the rows of a node"),
        ({"learning_rate": -1.0}, "learning_rate must be"),
        ({"refit": True, "early_stopping": False}, "refit=True needs rows"),
        ({"monotonic_cst": [1, 0]}, "one entry per column"),
        ({"monotonic_cst": {"a": 1}}, "must name columns of X"),
    ],
)
def test_parameter_that_cannot_be_honoured_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(scan(make_batches()), **parameters)


def test_arrays_beside_a_scanned_table_are_refused():
    X, y = make_batches()[0]
    with pytest.raises(ValueError, match="y must be None with a scanned table"):
        ObliqueBoostingClassifier().fit(scan(make_batches()), y)
    with pytest.raises(ValueError, match="X_val must be None with a scanned table"):
        ObliqueBoostingClassifier().fit(scan(make_batches()), X_val=X, y_val=y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        ObliqueBoostingClassifier().fit(X)


def test_targets_that_the_loss_cannot_have_are_refused():
    with pytest.raises(ValueError, match='positive numbers with loss="gamma"'):
        ObliqueBoostingRegressor(loss="gamma").fit(scan([(X, X[:, 0]) for X, _ in make_batches()]))


def test_table_whose_gradients_need_more_than_the_memory_is_refused_before_it_is_encoded(tmp_path):
    rows = np.zeros((100_000, 1), dtype=np.float32)
    batches = [(rows, np.arange(100_000) % 2)] * 4
    with pytest.raises(MemoryError, match=r"106 bytes for each of the 400,000 rows, 42 MB"):
        fit(scan(batches, folder=tmp_path, memory="32MB"))
    assert list(tmp_path.iterdir()) == []


def test_table_that_exceeds_the_memory_goes_to_files(monkeypatch):
    used = []
    make = store.ColumnFolder.__init__
    monkeypatch.setattr(
        store.ColumnFolder, "__init__", lambda self, *a: used.append(1) or make(self, *a)
    )
    rows = np.random.default_rng(0).normal(size=(100_000, 24)).astype(np.float32)
    for memory, n_used in (("200MB", 0), ("32MB", 1)):
        fit(scan(rows, target=rows[:, 0] > 0, memory=memory), early_stopping=False, max_iter=1)
        assert len(used) == n_used


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("where", ["rows", "codes"])
def test_disk_that_is_full_is_reported_and_nothing_is_left(where, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    if where == "codes":
        monkeypatch.setattr(store, "_reserve", full)
        message = r"could not write its table of codes \(No space left"
    else:
        monkeypatch.setattr(store.ColumnFolder, "_file", lambda *_: Path("/dev/full"))
        message = r"could not write encoded rows \(No space left"
    with pytest.raises(OSError, match=message) as caught:
        fit(scan(make_batches(), folder=tmp_path))
    assert caught.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [1, 2, 5, 6])
def test_ctrl_c_while_rows_are_read_leaves_nothing(number, tmp_path):
    batches, read = make_batches(), []

    def source():
        for batch in batches:
            read.append(1)
            if len(read) == number:
                os.kill(os.getpid(), signal.SIGINT)
            yield batch

    with pytest.raises(KeyboardInterrupt):
        fit(scan(source, folder=tmp_path))
    assert len(read) == number
    assert not tmp_path.exists() or list(tmp_path.iterdir()) == []


def test_ctrl_c_while_trees_grow_keeps_the_iterations_that_are_done_and_raises(tmp_path):
    rows = np.random.default_rng(0).normal(size=(20_000, 5))
    table = scan(rows, target=rows[:, 0] > rows[:, 1], folder=tmp_path)
    stop = threading.Event()

    def interrupt(n_done, _):
        if n_done >= 3 and not stop.is_set():
            stop.set()
            os.kill(os.getpid(), signal.SIGINT)

    settings = {"max_iter": 100_000, "early_stopping": False, "callback": interrupt}
    model = ObliqueBoostingClassifier(random_state=0, **settings)
    with pytest.raises(KeyboardInterrupt, match="fit was interrupted"):
        model.fit(table)
    assert 3 <= model.n_iter_ < 100_000
    assert list(tmp_path.iterdir()) == []
