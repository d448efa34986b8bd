"""Threads are limited by the work and the machine, whatever number was asked for."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="threads and memory are counted as Linux has it"
)

GIGABYTE = 2**30


def run(program, stack=8 * 2**20):
    """Run a program in a fresh interpreter whose threads have a stack of so many bytes."""

    def limit():
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        resource.setrlimit(resource.RLIMIT_STACK, (stack, hard))

    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        preexec_fn=limit,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


# Allows so many bytes more than the process has now.
ALLOW = """
    import resource
    def allow(more):
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * resource.getpagesize() + int(more)
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
"""


@pytest.mark.parametrize("n_jobs", [20_000, 2**31 - 1])
def test_huge_n_jobs_costs_no_more_than_the_work_can_use(n_jobs):
    output = run(
        ALLOW
        + f"""
    import numpy as np
    from bevel import ObliqueForestClassifier, analysis
    allow(3 * 2**30)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 130)); y = (X[:, 0] > 0).astype(int)
    few, many = (
        ObliqueForestClassifier(
            60, scale="standard", oob_score=True, random_state=0, n_jobs=n_jobs
        ).fit(X, y)
        for n_jobs in (1, {n_jobs})
    )
    rows = np.repeat(X, 20, axis=0)
    calls = [
        lambda forest: forest.predict(rows),
        lambda forest: forest.predict_proba(rows),
        lambda forest: forest.apply(rows),
        lambda forest: forest.oob_score_,
        lambda forest: analysis.proximity(forest, X, y).matrix,
        lambda forest: analysis.forest_weights(forest, X, y).toarray(),
        lambda forest: analysis.shapley_values(forest, X[:2], X[:5], random_state=0).values,
        lambda forest: analysis.importance(
            forest, "permutation", X, y, n_repeats=1, random_state=0, error_of="tree"
        ).values,
        lambda forest: analysis.importance(
            forest, "permutation", X, y, n_repeats=1, random_state=0
        ).values,
    ]
    for call in calls:
        print(np.array_equal(call(few), call(many)))
    """
    )
    assert output == ["True"] * 9


def test_loaded_forest_with_a_huge_n_jobs_is_harmless(tmp_path):
    path = tmp_path / "forest.bevel"
    output = run(
        ALLOW
        + f"""
    import numpy as np
    from bevel import ObliqueForestClassifier, load
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)); y = (X[:, 0] > 0).astype(int)
    forest = ObliqueForestClassifier(100, random_state=0, n_jobs=1).fit(X, y)
    expected = forest.predict_proba(X)
    forest.set_params(n_jobs=2**31 - 1).save({str(path)!r})
    allow(2 * 2**30)
    for mmap in (False, True):
        loaded = load({str(path)!r}, mmap=mmap)
        print(loaded.n_jobs, np.array_equal(loaded.predict_proba(X), expected))
    loaded.fit(X, y)
    """
    )
    assert output == ["2147483647", "True"] * 2


@pytest.mark.parametrize("room", [0.5, 1.5])
def test_work_goes_on_with_the_threads_that_the_system_gives(room):
    # A thread takes a gigabyte of addresses, of which there are enough for none, or for one.
    output = run(
        ALLOW
        + f"""
    import threading
    import numpy as np
    from bevel import ObliqueForestClassifier
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 130)); y = (X[:, 0] > 0).astype(int)
    expected = ObliqueForestClassifier(30, random_state=0, n_jobs=1).fit(X, y)
    allow({room} * {GIGABYTE})
    n_started = 0
    done = threading.Event()
    try:
        while n_started < 4:
            threading.Thread(target=done.wait).start()
            n_started += 1
    except RuntimeError:
        pass
    done.set()
    print(n_started)
    forest = ObliqueForestClassifier(30, random_state=0, n_jobs=4).fit(X, y)
    print(np.array_equal(forest.predict_proba(X), expected.predict_proba(X)))
    print(np.array_equal(forest.apply(X), expected.apply(X)))
    """,
        stack=GIGABYTE,
    )
    assert output == [str(int(room)), "True", "True"]
