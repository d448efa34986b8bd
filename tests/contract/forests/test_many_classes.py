"""Forests of thousands of classes: memory that does not grow with rows times classes."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bevel import ObliqueForestClassifier

pytestmark = [
    pytest.mark.skipif(
        not Path("/proc/self/statm").exists(), reason="the memory of a process is read from /proc"
    ),
    pytest.mark.filterwarnings("ignore:The number of unique classes"),
]

START = """
import resource, sys, warnings
from pathlib import Path
import numpy as np
from bevel import ObliqueForestClassifier

warnings.simplefilter("ignore")

def address_space():
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024

def limit(megabytes):
    size = address_space() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))

def table(n, n_classes):
    return np.random.default_rng(0).normal(size=(n, 4)), np.arange(n) % n_classes

X, y = table(60, 3)
forest = ObliqueForestClassifier(20, oob_score=True, random_state=0, n_jobs=2).fit(X, y)
forest.predict(X), forest.predict_proba(X)
"""


def run(code, *arguments):
    """What a new process prints that has fitted a small forest already."""
    command = [sys.executable, "-c", START + code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# A table of rows x classes is 96 MB, all tables together were 360 MB and more.
def test_the_default_makes_no_table_of_rows_and_classes():
    code = """
X, y = table(4000, 3000)
before = peak()
for options in ({}, {"min_samples_split": 2, "max_depth": 4}, {"oob_score": True, "max_depth": 4}):
    forest = ObliqueForestClassifier(50, random_state=0, n_jobs=2, **options).fit(X, y)
    print(peak() - before)
"""
    calibrated, of_one_size, with_estimates = map(float, run(code).split())
    assert calibrated < 90
    assert of_one_size < 90
    assert with_estimates < 96 + 90


def test_classes_are_predicted_without_a_table_of_rows_and_classes():
    code = """
X, y = table(6000, 3000)
for target in (y, np.column_stack([y, y[::-1]])):
    forest = ObliqueForestClassifier(2, projection="sparse", max_depth=6, n_jobs=2).fit(X, target)
    forest.predict(X[:50])
    before = peak()
    forest.predict(X)
    print(peak() - before)
"""
    of_one, of_several = map(float, run(code).split())
    assert of_one < 30
    assert of_several < 80


def test_predicted_classes_are_the_most_probable_ones_of_many():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 3)), np.arange(900) % 700
    forest = ObliqueForestClassifier(20, random_state=0, n_jobs=2).fit(X, y)
    many = np.repeat(X, 3, axis=0)  # several blocks
    expected = forest.classes_[forest.predict_proba(many).argmax(axis=1)]
    np.testing.assert_array_equal(forest.predict(many), expected)


ERROR = """
X, y = table(4000, 3000)
forest = ObliqueForestClassifier(random_state=0, n_jobs=2, **eval(sys.argv[1]))
limit(60)
try:
    forest.fit(X, y)
except MemoryError as error:
    print(error)
"""
GIVEN = "got 4,000 rows, 4 columns, 3,000 classes, n_estimators="


def test_memory_that_growth_lacks_is_an_error_that_says_what_to_do():
    text = run(ERROR, {"n_estimators": 20_000})
    needed = r"growing [\d,]+ trees of up to 7,999 nodes: up to [\d.]+ GB"
    assert re.match(rf"fit needs more memory than there is \({needed}\); got", text)
    assert GIVEN + "20000, in a process that holds 0." in text
    wanted = 'Use fewer rows, fewer classes, fewer trees, projection="sparse", n_jobs=1, or free'
    assert f"{wanted} memory." in text
    assert "bad_alloc" not in text


def test_memory_that_an_output_lacks_is_an_error_that_says_which():
    text = run(ERROR, {"n_estimators": 2, "projection": "sparse", "oob_score": True})
    assert "Unable to allocate 91.6 MiB for an array with shape (4000, 3000)" in text
    assert GIVEN + "2" in text
    assert "oob_score=False" in text
    assert "projection=" not in text


def test_memory_that_a_prediction_lacks_is_an_error_that_says_what_to_do():
    code = """
X, y = table(4000, 3000)
forest = ObliqueForestClassifier(2, projection="sparse", max_depth=6).fit(X, y)
view = forest.fitted_forest_.packed_predictor.view
rows = np.ascontiguousarray(X, np.float32)
limit(60)
for predict in (lambda: forest.predict_proba(X), lambda: view.predict_proba(rows, 1, False)):
    try:
        predict()
    except MemoryError as error:
        print(error)
print(len(forest.predict(X)))
"""
    text, of_core, n_predicted = run(code).splitlines()
    assert text.startswith("A prediction needs more memory than there is (Unable to allocate 91.6")
    assert GIVEN + "2" in text
    assert text.endswith("Predict fewer rows at a time, or free memory.")
    assert of_core == "a number for each row and class: 0.096 GB"
    assert n_predicted == "4000"
