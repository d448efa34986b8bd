"""Pickling, worker processes, threads, forks, interruption and progress."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P

BOTH = pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6))
X[::11, 3] = np.nan
y = (np.nan_to_num(X[:, 3]) + X[:, 0] > 0).astype(int)


def run(program):
    """Run a program in a fresh interpreter; a hang is a failure."""
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


@BOTH
@pytest.mark.parametrize("scale", [None, "standard", "rank", "quantile"])
@pytest.mark.parametrize(
    "copied", [lambda f: pickle.loads(pickle.dumps(f)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
def test_copies_predict_the_same(estimator, scale, copied):
    forest = estimator(20, scale=scale, random_state=0).fit(X, y)
    other = copied(forest)
    assert np.array_equal(other.predict(X), forest.predict(X))
    assert np.array_equal(other.apply(X), forest.apply(X))


@BOTH
def test_joblib_dump_with_memory_mapping(estimator, tmp_path):
    forest = estimator(20, random_state=0).fit(X, y)
    path = tmp_path / "forest.joblib"
    joblib.dump(forest, path)
    mapped = joblib.load(path, mmap_mode="r")
    assert np.array_equal(mapped.predict(X), forest.predict(X))


@BOTH
def test_pickle_is_near_the_size_of_the_arrays(estimator):
    forest = estimator(50, random_state=0).fit(X, y)
    assert len(pickle.dumps(forest)) < forest.forest_.nbytes + 20_000


@BOTH
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_workers_give_the_same_scores(estimator, backend):
    forest = estimator(10, random_state=0)
    expected = cross_val_score(forest, X, y, cv=3)
    with joblib.parallel_config(backend, n_jobs=2):
        assert np.array_equal(cross_val_score(forest, X, y, cv=3), expected)


@BOTH
@pytest.mark.parametrize("projection", ["axis", "sparse", P.RandomRotation()])
def test_forest_is_identical_for_any_number_of_threads(estimator, projection):
    forests = [
        estimator(15, projection=projection, n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (1, 2, 7)
    ]
    for other in forests[1:]:
        for name, array in forests[0].forest_.arrays().items():
            assert np.array_equal(array, other.forest_.arrays()[name]), name
        assert np.array_equal(other.predict(X), forests[0].predict(X))


def test_one_forest_serves_many_threads():
    forest = ObliqueForestClassifier(30, random_state=0).fit(X, y)
    expected = forest.predict_proba(X)
    fresh = pickle.loads(pickle.dumps(forest))  # its native view is not built yet
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: fresh.predict_proba(X), range(32)))
    assert all(np.array_equal(result, expected) for result in results)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
def test_fit_and_predict_work_after_fork():
    output = run("""
        import os, sys
        import numpy as np
        from bevel import ObliqueForestClassifier
        X = np.random.default_rng(0).normal(size=(2000, 5)); y = X[:, 0] > 0
        forest = ObliqueForestClassifier(20, random_state=0, n_jobs=2).fit(X, y)
        expected = forest.predict_proba(X)
        pid = os.fork()
        same = np.array_equal(forest.predict_proba(X), expected)
        same = same and np.array_equal(forest.fit(X, y).predict_proba(X), expected)
        if pid == 0:
            os._exit(0 if same else 1)
        _, status = os.waitpid(pid, 0)
        print(same, os.waitstatus_to_exitcode(status))
    """)
    assert output == ["True", "0"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent differently on Windows")
def test_interrupt_ends_a_long_pass_over_rows_out_of_the_bag_within_a_second():
    output = run("""
        import os, signal, threading, time
        import numpy as np
        from bevel import ObliqueForestClassifier
        from bevel.training import forest_fit
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        def of_many_rows(fitted, X, n_threads, weights):
            many = np.asfortranarray(rng.normal(size=(1_000_000, 4)), dtype=np.float32)
            threading.Timer(0.5, interrupt).start()
            options = fitted.provenance.bags.native_options()
            hard = fitted.aggregation.hard
            fitted.packed_predictor.view.out_of_bag(many, options, 0, hard, n_threads)
        forest_fit.predict_out_of_bag = of_many_rows
        rng = np.random.default_rng(0)
        X = rng.normal(size=(500, 4)); y = rng.integers(0, 2, 500)
        try:
            ObliqueForestClassifier(200, n_jobs=1, oob_score=True).fit(X, y)
        except KeyboardInterrupt:
            print(time.monotonic() - sent[0] < 1.0)
    """)
    assert output == ["True"]


def test_other_threads_run_during_fit():
    ticks = 0
    done = threading.Event()

    def count():
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    rng = np.random.default_rng(0)
    thread = threading.Thread(target=count)
    thread.start()
    ObliqueForestClassifier(200, n_jobs=1).fit(
        rng.normal(size=(5000, 10)), rng.integers(0, 2, 5000)
    )
    done.set()
    thread.join()
    assert ticks > 10


def test_progress_bar_goes_to_standard_error(capsys):
    ObliqueForestClassifier(20, verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "20/20" in captured.err


@BOTH
def test_callback_is_called_for_every_tree_and_may_stop_the_fit(estimator):
    calls = []
    estimator(20, callback=lambda *args: calls.append(args)).fit(X, y)
    assert calls[-1] == (20, 20)
    assert all(total == 20 for _, total in calls)

    def stop(n_done, n_total):
        raise TimeoutError(f"{n_done} of {n_total}")

    with pytest.raises(TimeoutError, match="of 20"):
        estimator(20, callback=stop).fit(X, y)
