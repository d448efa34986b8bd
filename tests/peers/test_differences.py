"""The page of documented differences is complete, and true of Bevel."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from bevel import ObliqueBoostingClassifier
from peers import behaviours, differences

PAGE = Path(__file__).parents[2] / "docs" / "coming_from" / "differences.md"
SUITES = (
    "sklearn.ensemble.tests.test_forest",
    "sklearn.ensemble.tests.test_iforest",
    "sklearn.ensemble._hist_gradient_boosting.tests.test_gradient_boosting",
)


@pytest.mark.parametrize("table", [differences.table(), behaviours.table()], ids=["tests", "libs"])
def test_the_page_shows_every_difference_and_no_other(table):
    page = PAGE.read_text(encoding="utf-8")
    assert table in page
    tables = differences.table() + behaviours.table()
    assert [row for row in page.splitlines() if row.startswith("|") and row not in tables] == []


def test_no_case_has_two_reasons():
    named = [test for each in differences.DIFFERENCES for test in each.tests]
    assert len(named) == len(set(named))


def test_the_tests_that_are_named_exist():
    source = ""
    for suite in SUITES:
        spec = importlib.util.find_spec(suite)
        if spec is None or spec.origin is None:
            pytest.skip(f"this installation of scikit-learn has no {suite}")
        source += Path(spec.origin).read_text(encoding="utf-8")
    named = {test.partition(":")[0] for each in differences.DIFFERENCES for test in each.tests}
    if "def test_X_val_in_fit" not in source:
        pytest.skip("the table is that of a later scikit-learn")
    assert [test for test in sorted(named) if f"def {test}(" not in source] == []


def rows():
    X = np.random.default_rng(0).normal(size=(40, 3))
    return X, np.where(X[:, 0] > 0, "a", "b")


def model(**parameters):
    return ObliqueBoostingClassifier(max_iter=2, **parameters)


class Mine(ObliqueBoostingClassifier):
    def __init__(self, depth=2):
        super().__init__(max_iter=2, max_depth=depth)
        self.depth = depth


def try_features(value):
    X, y = rows()
    X[3, 1] = value
    model().fit(X, y)


def try_nan_target():
    X, _ = rows()
    model().fit(X, np.where(X[:, 0] > 0, 1.0, np.nan))


def try_other_columns():
    X, y = rows()
    model().fit(X, y).predict(X[:, :2])


def try_second_fit():
    X, y = rows()
    assert model().fit(X, y).fit(X[:, :2], y).n_features_in_ == 2


TRIALS = {
    "subclass": lambda: Mine().fit(*rows()),
    "nan": lambda: try_features(np.nan),
    "infinity": lambda: try_features(np.inf),
    "nan target": try_nan_target,
    "labels": lambda: model().fit(*rows()).predict(rows()[0]),
    "unknown": lambda: model(eta=0.1),
    "eval_set": lambda: model().fit(*rows(), eval_set=[rows()]),
    "columns": try_other_columns,
    "no rows": lambda: model().fit(np.empty((0, 3)), []),
    "refit": try_second_fit,
}


@pytest.mark.parametrize("behaviour", behaviours.BEHAVIOURS, ids=lambda each: each.key)
def test_bevel_does_what_the_table_says(behaviour):
    trial = TRIALS[behaviour.key]
    if behaviour.bevel == behaviours.ACCEPTS:
        trial()
        return
    with pytest.raises((TypeError, ValueError)):
        trial()
