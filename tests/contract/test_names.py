"""Names that a star import brings, other names of choices, and lists of choices in messages."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

import bevel
from bevel import estimators
from bevel.analysis import importance


def all_parameters():
    """Every parameter of every estimator."""
    for name in estimators.__all__:
        yield from getattr(getattr(estimators, name), "_parameters", {}).values()


def test_star_import_leaves_other_packages_alone():
    """Names of packages that many programs import beside Bevel."""
    program = """
import sys, types
names = ("dask", "datasets", "sklearn", "numpy", "tests", "text", "report")
for name in names:
    globals()[name] = types.ModuleType(name)
mine = {name: globals()[name] for name in names}
from bevel import *
assert all(globals()[name] is mine[name] for name in names)
assert load and ObliqueForestClassifier
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=100)
    assert {"dask", "datasets"} <= set(dir(bevel))
    assert bevel.datasets.__name__ == "bevel.datasets"


@pytest.mark.parametrize("kind", ["gain", "impurity"])
@pytest.mark.parametrize("make", [bevel.ObliqueForestClassifier, bevel.ObliqueBoostingClassifier])
def test_other_names_of_gini(kind, make):
    X, y = load_iris(return_X_y=True)
    model = make(random_state=0).fit(X, y)
    np.testing.assert_array_equal(importance(model, kind).values, importance(model, "gini").values)


def test_lists_of_choices_are_well_formed():
    seen = list(all_parameters())
    assert len(seen) > 50
    for each in seen:
        assert ",," not in each.required, each.name
        assert not each.required.startswith(","), each.name
