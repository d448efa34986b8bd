"""Estimators used by several Python threads at once, with Python's lock and without it."""

from __future__ import annotations

import pickle
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import bevel
from bevel import analysis
from bevel import projections as P

N_THREADS = 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
TIMES = np.array(
    list(zip(Y == 1, np.exp(X[:, 0]), strict=True)), dtype=[("event", bool), ("time", float)]
)


def at_once(work, n_threads=N_THREADS):
    """Results of work(0), work(1), ..., all begun together, each in a thread."""
    barrier = Barrier(n_threads)

    def begin(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(n_threads) as executor:
        return list(executor.map(begin, range(n_threads)))


def random_directions(rng, X_node, y_node, weight_node):  # noqa: ARG001
    return rng.normal(size=(X_node.shape[1], 2))


MODELS = {
    "default": lambda seed: bevel.ObliqueForestClassifier(20, random_state=seed, n_jobs=2),
    "function": lambda seed: bevel.ObliqueForestRegressor(
        5, projection=P.Custom(random_directions), random_state=seed, n_jobs=2
    ),
    "boosting": lambda seed: bevel.ObliqueBoostingRegressor(
        max_iter=10, random_state=seed, n_jobs=2
    ),
    "isolation": lambda seed: bevel.ObliqueIsolationForest(20, random_state=seed, n_jobs=2),
    "survival": lambda seed: bevel.ObliqueSurvivalForest(10, random_state=seed, n_jobs=2),
    "rotated": lambda seed: bevel.RegularizedRotationClassifier(4, random_state=seed, n_jobs=2),
}


def fitted(kind, seed=0):
    return MODELS[kind](seed).fit(X, TIMES if kind == "survival" else Y)


@pytest.mark.parametrize("kind", MODELS)
def test_threads_that_fit_get_the_forests_of_one_thread(kind):
    expected = [fitted(kind, seed).predict(X) for seed in range(2)]
    for number, found in enumerate(at_once(lambda number: fitted(kind, number % 2).predict(X))):
        np.testing.assert_array_equal(found, expected[number % 2])


@pytest.mark.parametrize("mmap", [False, True])
def test_threads_share_a_forest_whose_parts_are_made_on_first_use(mmap, tmp_path):
    forest = fitted("default")
    forest.save(tmp_path / "shared.bevel")
    uses = [
        lambda used, _: used.predict_proba(X),
        lambda used, _: used.apply(X),
        lambda used, path: used.save(path) or path.read_bytes(),
        lambda used, _: str(used.forest_.tree(0)),
        lambda used, _: used.feature_importances_,
        lambda used, _: analysis.shapley_values(used, X[:2], X[:3], random_state=0).values,
        lambda used, _: pickle.loads(pickle.dumps(used)).predict(X),
        lambda used, _: used.to_c(),
    ]
    expected = [use(forest, tmp_path / "expected.bevel") for use in uses]
    for _ in range(3):
        shared = bevel.load(tmp_path / "shared.bevel", mmap=mmap)

        def use_all(first, shared=shared):
            turns = [(first + k) % len(uses) for k in range(len(uses))]
            return [(k, uses[k](shared, tmp_path / f"{first}.bevel")) for k in turns]

        for found in at_once(use_all):
            for k, result in found:
                np.testing.assert_array_equal(result, expected[k])


def test_fit_beside_predictions_gives_old_rows_new_rows_or_an_error():
    forest = fitted("default")
    old, new = forest.predict_proba(X), fitted("default", 1).predict_proba(X)
    forest.set_params(random_state=1)

    def work(number):
        if number == 0:
            return forest.fit(X, Y) and []
        found = []
        for _ in range(20):
            try:
                found.append(forest.predict_proba(X))
            except (NotFittedError, AttributeError):  # the old forest is gone, the new one not made
                continue
        return found

    for found in at_once(work):
        for rows in found:
            assert np.array_equal(rows, old) or np.array_equal(rows, new)
    np.testing.assert_array_equal(forest.predict_proba(X), new)


def test_users_function_may_be_called_by_several_threads():
    calls = []

    def counted(rng, X_node, y_node, weight_node):
        calls.append(len(y_node))  # a list may grow from any thread
        return random_directions(rng, X_node, y_node, weight_node)

    def forest(n_jobs):
        projection = P.Custom(counted)
        return bevel.ObliqueForestClassifier(
            8, projection=projection, random_state=0, n_jobs=n_jobs
        )

    expected = forest(1).fit(X, Y).predict_proba(X)
    n_calls = len(calls)
    np.testing.assert_array_equal(forest(4).fit(X, Y).predict_proba(X), expected)
    assert len(calls) == 2 * n_calls


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has its lock"
)
def test_import_does_not_bring_back_the_lock():
    program = "import sys, bevel._core, bevel.analysis; print(sys._is_gil_enabled())"
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False", done.stderr
