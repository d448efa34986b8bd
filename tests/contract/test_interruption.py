"""Ctrl-C ends any long call soon, and nothing is broken or still running after it.

Each call would take 20 seconds or more. Calls that share their preparation share a process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="signals are sent differently on Windows"
)

LONGEST_ANSWER = 1.0  # seconds of processor time, of all threads together
LONGEST_WAIT = 60.0  # seconds, on a machine that is busy with other tests

HARNESS = """
import json, os, signal, sys, threading, time
import numpy as np
from bevel import ObliqueForestClassifier, ObliqueForestRegressor, _core, analysis, load
from bevel import projections as P

def n_threads():
    tasks = "/proc/self/task"
    return len(os.listdir(tasks)) if os.path.isdir(tasks) else 0

def interrupted(name, owner, function, call):
    '''Make a call, and send the signal 0.15 seconds after it has entered the core's function.'''
    before = n_threads()
    sent, native = [], getattr(owner, function)
    def interrupt():
        sent.extend([time.process_time(), time.monotonic()])
        os.kill(os.getpid(), signal.SIGINT)
    timer, once = threading.Timer(0.15, interrupt), threading.Lock()
    def enter(*arguments, **named):
        if once.acquire(blocking=False):
            timer.start()
        return native(*arguments, **named)
    setattr(owner, function, enter)
    try:
        call()
    except KeyboardInterrupt:
        seconds = time.process_time() - sent[0], time.monotonic() - sent[1]
        timer.join()
        said[name] = [max(seconds[0], seconds[1] * SHARE_OF_WAIT), n_threads() - before]
    else:
        timer.cancel()
        said[name] = ["finished", 0]
    finally:
        setattr(owner, function, native)

said = {}
rng = np.random.default_rng(0)
"""

# Rows that lie in the same memory: many of them cost nothing but the walk.
PREDICTION = """
X = rng.normal(size=(300, 300)); y = rng.integers(0, 2, 300)
many = np.broadcast_to(X[0].astype(np.float32), (60_000, 300))
forest = ObliqueForestClassifier(40, projection="rotation", n_jobs=N_JOBS, random_state=0)
forest.fit(X, y)
before = forest.predict_proba(X)
leaves = forest.apply(X)
deep = ObliqueForestClassifier(200, projection="gaussian", n_jobs=N_JOBS, random_state=0).fit(X, y)
forest.save("forest.bevel")
mapped = load("forest.bevel", mmap=True)
interrupted("predict", _core.PackedForest, "predict_class", lambda: forest.predict(many))
share = lambda: forest.predict_proba(many)
interrupted("predict_proba", _core.PackedForest, "predict_proba", share)
interrupted("apply", _core.ForestView, "apply", lambda: deep.apply(many))
interrupted("decision_path", _core.ForestView, "apply", lambda: deep.decision_path(many))
interrupted("mapped_predict", _core.MappedForest, "predict_proba", lambda: mapped.predict(many))
interrupted("mapped_apply", _core.MappedForest, "apply", lambda: mapped.apply(many))
same = np.array_equal(forest.predict_proba(X), before)
same = same and np.array_equal(forest.apply(X), leaves)
same = same and np.array_equal(mapped.predict_proba(X), before)
said["same"] = [0.0 if same else "not the same", 0]
"""

ANALYSIS = """
X = rng.normal(size=(3000, 20)); y = rng.integers(0, 2, 3000)
forest = ObliqueForestClassifier(50, n_jobs=N_JOBS, random_state=0).fit(X, y)
broad = ObliqueForestRegressor(100, max_depth=1, n_jobs=N_JOBS, random_state=0)
wide = rng.normal(size=(30_000, 4)); t = rng.normal(size=30_000)
broad.fit(wide, t)
importance = lambda of: analysis.importance(
    forest, "permutation", X, y, n_repeats=2000, error_of=of)
interrupted("shapley", _core, "shapley_values", lambda: analysis.shapley_values(forest, X, X))
interrupted("permutation_of_forest", _core, "forest_errors", lambda: importance("forest"))
interrupted("permutation_of_trees", _core, "tree_errors", lambda: importance("tree"))
meet = lambda: analysis.proximity(broad, wide, t, kind="all", k=5)
interrupted("proximity", _core.LeafSharing, "nearest", meet)
weigh = lambda: analysis.forest_weights(broad, wide, t, wide[:20_000])
interrupted("neighbours", _core, "neighbour_weights", weigh)
"""

EFFECTS = """
from bevel import ObliqueBoostingClassifier
X = rng.normal(size=(3000, 20)); y = rng.integers(0, 2, 3000)
settings = {"n_jobs": N_JOBS, "random_state": 0}
forest = ObliqueForestClassifier(50, projection="sparse", **settings).fit(X, y)
boosted = ObliqueBoostingClassifier(max_iter=30, early_stopping=False, **settings).fit(X, y)
many = np.tile(X, (200, 1))
effect = lambda **how: analysis.partial_dependence(forest, many, grid_resolution=100, **how)
interrupted("surface", _core, "tree_curves", lambda: effect(features=(0, 1)))
interrupted("curves", _core, "row_curves", lambda: effect(features=[0], kind="both"))
along = lambda: analysis.shapley_values(forest, many, feature_perturbation="tree_path_dependent")
interrupted("shapley_along_paths", _core, "path_values", along)
values = lambda: analysis.shapley_values(boosted, many, X)
interrupted("shapley_of_boosting", _core, "shapley_values", values)
permute = lambda: analysis.importance(
    boosted, "permutation", X, y, n_repeats=100_000, out_of_bag=False)
interrupted("permutation_of_boosting", _core.PackedForest, "add_values", permute)
"""

FITS = """
def classifier(*arguments, **settings):
    return ObliqueForestClassifier(*arguments, n_jobs=N_JOBS, random_state=0, **settings)
def fit(forest, X, y):
    forest.fit(X, y)
sparse = lambda *arguments, **settings: classifier(*arguments, projection="sparse", **settings)
narrow = rng.normal(size=(20_000, 20)); label = rng.integers(0, 2, 20_000)
wide = rng.normal(size=(4000, 2500)).astype(np.float32); wide_label = rng.integers(0, 4, 4000)
one = classifier(1, projection=P.RandomRotation(max_features=2500))
interrupted("sparse", _core, "train", lambda: fit(sparse(100_000), narrow, label))
small, small_label = narrow[:100], label[:100]
for name in ("sparse", "gaussian", "combination"):
    many = classifier(1, projection=name, n_projections=8_000_000)
    interrupted(f"many_{name}", _core, "train", lambda: fit(many, small, small_label))
interrupted("rotation", _core, "train", lambda: fit(one, wide[:100], wide_label[:100]))
said["unfitted"] = [0.0 if not hasattr(one, "forest_") else "fitted", 0]
for name, projection in {
    "ridge": P.Ridge(n_features=2500),
    "lda_of_few_rows": P.LDA(n_features=2500),
    "cca": P.CCA(n_features=2500),
    "logistic": P.Logistic(n_features=2500),
    "pls": P.PLS(n_features=2500, n_components=1000),
    "principal": P.PrincipalRotation(group_size=2500),
}.items():
    forest = classifier(1, projection=projection)
    interrupted(name, _core, "train", lambda: fit(forest, wide, wide_label))
warm = sparse(10, warm_start=True).fit(narrow, label)
before = warm.predict_proba(narrow)
warm.set_params(n_estimators=100_000)
interrupted("warm_start", _core, "train", lambda: fit(warm, narrow, label))
same = warm.forest_.n_trees == 10 and np.array_equal(warm.predict_proba(narrow), before)
said["warm_forest"] = [0.0 if same else "not the same", 0]
warm.set_params(n_estimators=20)
fit(warm, narrow, label)
whole = sparse(20).fit(narrow, label)
same = np.array_equal(warm.predict_proba(narrow), whole.predict_proba(narrow))
said["warm_start_again"] = [0.0 if same else "not the same", 0]
"""

BOOSTING = """
from bevel import ObliqueBoostingClassifier, RotatedBoostingClassifier
X = rng.normal(size=(4000, 20)); y = rng.integers(0, 2, 4000)
def boosting(**settings):
    settings |= {"n_jobs": N_JOBS, "random_state": 0, "early_stopping": False}
    return ObliqueBoostingClassifier(**settings)
wide = boosting(max_iter=10, projection="sparse", n_projections=200_000)
interrupted("wide_boosting", _core, "boost", lambda: wide.fit(X, y))
long = boosting(max_iter=1_000_000)
interrupted("boosting", _core, "boost", lambda: long.fit(X, y))
kept = 0 < long.n_iter_ < 1_000_000 and len(long.predict(X)) == 4000
said["kept_boosting"] = [0.0 if kept else "not kept", 0]
from sklearn.model_selection import cross_val_score
def cross_validate():
    cross_val_score(boosting(max_iter=1_000_000), X, y, cv=3)
interrupted("cross_validation", _core, "boost", cross_validate)
model = boosting(max_iter=100).fit(X, y)
many = np.broadcast_to(X[0], (4_000_000, 20))
interrupted("boosting_predict", _core.PackedForest, "add_values", lambda: model.predict(many))
class Endless:
    def fit(self, X, y, sample_weight=None):
        Endless.begin()
        while True:
            time.sleep(0.001)
    def predict_proba(self, X):
        pass
    def begin():
        pass
from sklearn.base import BaseEstimator, ClassifierMixin
class Learner(ClassifierMixin, BaseEstimator, Endless):
    pass
rotated = RotatedBoostingClassifier(n_groups=4, booster=Learner(), n_jobs=N_JOBS)
interrupted("foreign_learner", Endless, "begin", lambda: rotated.fit(X, y))
"""

# Tables whose rows all lie in the same memory.
TABLES = """
from numpy.lib.stride_tricks import as_strided
p = 3000
knots = np.arange(1000.0)
scaler = _core.Scaler.rank(
    False, np.full(p, 1000), np.zeros(p, bool), np.arange(p + 1) * 1000, np.tile(knots, p),
    np.tile(knots + 1.0, p))
source = as_strided(rng.normal(size=p), (1_000_000, p), (0, 8))
target = as_strided(np.empty(p, np.float32), (1_000_000, p), (0, 4))
scale = lambda: scaler.transform(source, 0, N_JOBS, target)
interrupted("scale", _core.Scaler, "transform", scale)
draw = lambda: _core.haar_rotation(p, False, 0, 0)
interrupted("draw_rotation", _core, "haar_rotation", draw)
rows = np.asfortranarray(rng.normal(size=(10_000, p)), np.float32)
rotation = np.asfortranarray(rng.normal(size=(p, p)))
rotated = np.empty_like(rows)
rotate = lambda: _core.rotate_rows(rows, rotation, N_JOBS, rotated)
interrupted("rotate", _core, "rotate_rows", rotate)
"""

NEWER = """
import warnings
from bevel import ObliqueIsolationForest, ObliqueSurvivalForest, scan
warnings.simplefilter("ignore")
settings = {"n_jobs": N_JOBS, "random_state": 0}
X = rng.normal(size=(4000, 20)).astype(np.float32); time_to = rng.exponential(size=4000) + 0.1
risk = (time_to, rng.random(4000) < 0.7)
cox = ObliqueSurvivalForest(100_000, projection="cox", **settings)
interrupted("survival_with_cox", _core, "train", lambda: cox.fit(X, risk))
wide = rng.normal(size=(2000, 2000)).astype(np.float32)
one = ObliqueSurvivalForest(1, projection=P.Cox(2000), **settings)
interrupted("wide_cox", _core, "train", lambda: one.fit(wide, (time_to[:2000], risk[1][:2000])))
ranks = ObliqueSurvivalForest(100_000, projection="sparse", **settings)
interrupted("survival", _core, "train", lambda: ranks.fit(X, risk))
isolation = ObliqueIsolationForest(100_000, max_samples=1.0, **settings)
interrupted("isolation", _core, "train", lambda: isolation.fit(X))
outputs = rng.normal(size=(4000, 1000))
several = ObliqueForestRegressor(1000, projection="sparse", **settings)
interrupted("many_outputs", _core, "train", lambda: several.fit(X, outputs))
labels = rng.integers(0, 3, (4000, 1000))
classes = ObliqueForestClassifier(1000, projection="sparse", **settings)
interrupted("many_outputs_of_classes", _core, "train", lambda: classes.fit(X, labels))
from bevel.scanning.sources import ArraySource
n = 5_000_000
rows = np.broadcast_to(X[0], (n, 20)); target = np.arange(n) % 2
forest = ObliqueForestClassifier(1000, projection="sparse", **settings)
read = lambda: forest.fit(scan(rows, target=target))
interrupted("scan", ArraySource, "batches", read)
table = lambda: scan(np.tile(X, (30, 1)), target=target[:120_000], block_rows=30_000)
interrupted("rows_of_blocks", _core, "grow_block_subtree", lambda: forest.fit(table()))
from bevel.training import blocks
blocks.rows_to_gather = lambda *_: 500  # as of a much larger table
interrupted("blocks", _core, "add_block_histograms", lambda: forest.fit(table()))
"""

GROUPS = {
    "newer": NEWER,
    "tables": TABLES,
    "prediction": PREDICTION,
    "analysis": ANALYSIS,
    "effects": EFFECTS,
    "fits": FITS,
    "boosting": BOOSTING,
}
CASES = {
    "tables": ["scale", "draw_rotation", "rotate"],
    "prediction": [
        "predict",
        "predict_proba",
        "apply",
        "decision_path",
        "mapped_predict",
        "mapped_apply",
        "same",
    ],
    "analysis": [
        "shapley",
        "permutation_of_forest",
        "permutation_of_trees",
        "proximity",
        "neighbours",
    ],
    "newer": [
        "survival_with_cox",
        "wide_cox",
        "survival",
        "isolation",
        "many_outputs",
        "many_outputs_of_classes",
        "scan",
        "blocks",
        "rows_of_blocks",
    ],
    "effects": [
        "surface",
        "curves",
        "shapley_along_paths",
        "shapley_of_boosting",
        "permutation_of_boosting",
    ],
    "fits": [
        "sparse",
        "many_sparse",
        "many_gaussian",
        "many_combination",
        "rotation",
        "unfitted",
        "ridge",
        "lda_of_few_rows",
        "cca",
        "logistic",
        "principal",
        "pls",
        "warm_start",
        "warm_forest",
        "warm_start_again",
    ],
    "boosting": [
        "wide_boosting",
        "boosting",
        "kept_boosting",
        "cross_validation",
        "boosting_predict",
        "foreign_learner",
    ],
}


def outcomes(group, n_jobs, folder):
    """What came of each call of a group: seconds until the answer, and threads left over.

    Seconds are of the processor, so that a busy machine does not make calls slow; a call that
    sleeps instead counts by the clock, at a much lower rate.
    """
    settings = f"N_JOBS = {n_jobs}\nSHARE_OF_WAIT = {LONGEST_ANSWER / LONGEST_WAIT}\n"
    program = HARNESS + settings + GROUPS[group] + "print(json.dumps(said))"
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=folder,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


# With one thread the calling thread works itself, but for analyses and fits.
ASKED = [
    (group, n_jobs)
    for group in CASES
    for n_jobs in ([1, 2] if group in ("tables", "prediction") else [2])
]


@pytest.mark.parametrize(("group", "n_jobs"), ASKED)
def test_interrupt_ends_long_calls_soon_and_leaves_all_in_order(group, n_jobs, tmp_path):
    if (group, n_jobs) == ("tables", 2) and "tsan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("threads write to rows that share their memory")
    found = outcomes(group, n_jobs, tmp_path)
    assert sorted(found) == sorted(CASES[group])
    unlike = {
        case: (answer, n_left_over)
        for case, (answer, n_left_over) in found.items()
        if not isinstance(answer, float) or answer >= LONGEST_ANSWER or n_left_over > 0
    }
    assert unlike == {}
