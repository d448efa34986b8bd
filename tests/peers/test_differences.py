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


X = np.random.default_rng(0).normal(size=(40, 3))
CODES = (X[:, 0] > 0).astype(int)
LABELS = np.where(CODES, "a", "b")
FEW = {
    "bevel": {"max_iter": 2},
    "lightgbm": {"n_estimators": 2, "verbose": -1},
    "xgboost": {"n_estimators": 2},
}


def classifier_of(library):
    """The class of a library; the test is skipped without it."""
    if library == "bevel":
        return ObliqueBoostingClassifier
    module = pytest.importorskip(library, reason=f"{library} is not installed; nox -s peers_tests")
    return module.LGBMClassifier if library == "lightgbm" else module.XGBClassifier


def subclass_of(kind, few):
    class Mine(kind):
        def __init__(self, depth=2):
            super().__init__(max_depth=depth, **few)
            self.depth = depth

    return Mine()


def with_value(value):
    changed = X.copy()
    changed[3, 1] = value
    return changed


TRIALS = {
    "subclass": lambda kind, few: subclass_of(kind, few).fit(X, CODES),
    "nan": lambda kind, few: kind(**few).fit(with_value(np.nan), CODES),
    "infinity": lambda kind, few: kind(**few).fit(with_value(np.inf), CODES),
    "nan target": lambda kind, few: kind(**few).fit(X, np.where(CODES, 1.0, np.nan)),
    "labels": lambda kind, few: kind(**few).fit(X, LABELS).predict(X),
    "unknown": lambda kind, few: kind(**few, steps=0.1).fit(X, CODES),
    "eval_set": lambda kind, few: kind(**few).fit(X, CODES, eval_set=[(X, CODES)]),
    "columns": lambda kind, few: kind(**few).fit(X, CODES).predict(X[:, :2]),
    "no rows": lambda kind, few: kind(**few).fit(np.empty((0, 3)), []),
    "refit": lambda kind, few: kind(**few).fit(X, CODES).fit(X[:, :2], CODES),
}


@pytest.mark.filterwarnings("default")  # of the other libraries
@pytest.mark.parametrize("library", FEW)
@pytest.mark.parametrize("behaviour", behaviours.BEHAVIOURS, ids=lambda each: each.key)
def test_libraries_do_what_the_table_says(behaviour, library):
    kind, few, trial = classifier_of(library), FEW[library], TRIALS[behaviour.key]
    if getattr(behaviour, library) == behaviours.ACCEPTS:
        trial(kind, few)
        return
    with pytest.raises((TypeError, ValueError)):  # those of XGBoost are ValueErrors
        trial(kind, few)
