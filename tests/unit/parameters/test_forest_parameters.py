"""`bevel.parameters`: the tables behind messages and docstrings."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pandas as pd
import pytest

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.parameters.forest_parameters import (
    CLASSIFIER_PARAMETERS,
    REGRESSOR_PARAMETERS,
)
from bevel.parameters.parameter import check_each

BOTH = [
    (ObliqueForestClassifier, CLASSIFIER_PARAMETERS),
    (ObliqueForestRegressor, REGRESSOR_PARAMETERS),
]
NAMES = [name for name in bevel.__all__ if name.endswith(("Classifier", "Regressor"))]
ALL = [(getattr(bevel, name), getattr(bevel, name)._parameters) for name in NAMES]


@pytest.mark.parametrize(("estimator", "table"), ALL)
def test_table_has_the_parameters_and_defaults_of_the_constructor(estimator, table):
    signature = inspect.signature(estimator).parameters
    assert list(signature) == list(table)
    for name, parameter in signature.items():
        assert parameter.default == table[name].default, name


@pytest.mark.parametrize(("estimator", "table"), ALL)
def test_docstring_describes_every_parameter(estimator, table):
    document = inspect.getdoc(estimator)
    assert not re.search(r"^\s*\{", document, re.MULTILINE)  # nothing is left to be filled in
    for name, parameter in table.items():
        assert f"\n{name} : " in document
        assert parameter.meaning.endswith((".", "`."))


SMALL = {
    "n_estimators": 6,
    "n_rotations": 1,
    "n_groups": 2,
    "oob_score": True,
    "random_state": 0,
    "n_jobs": 1,
}


@pytest.mark.parametrize(("estimator", "table"), ALL)
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_docstring_names_every_public_attribute_of_a_fitted_estimator(estimator, table):
    _, _, part = inspect.getdoc(estimator).partition("\nAttributes\n----------\n")
    heads = [line for line in part.partition("\nExamples\n")[0].split("\n") if line[:1].strip()]
    described = {name for line in heads for name in line.partition(" : ")[0].split(", ")}
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["a", "b"])
    small = {name: value for name, value in SMALL.items() if name in table}
    fitted = estimator(**small).fit(X, np.arange(30) % 2)
    public = {name for name in dir(fitted) if name.endswith("_") and not name.startswith("_")}
    public = {name for name in public if hasattr(fitted, name)}  # as newer `dir` of scikit-learn
    assert described == public


@pytest.mark.parametrize(("estimator", "table"), BOTH)
def test_defaults_pass_their_own_checks(estimator, table):
    check_each(estimator().get_params(), table)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("n_estimators", 0, ValueError),
        ("n_estimators", 10.0, TypeError),
        ("criterion", "log", ValueError),
        ("threshold", "median", ValueError),
        ("n_thresholds", 0, ValueError),
        ("split_search", "fast", ValueError),
        ("max_depth", 0, ValueError),
        ("min_samples_split", 1, ValueError),
        ("min_samples_split", 1.5, ValueError),
        ("min_samples_leaf", 0, ValueError),
        ("min_samples_leaf", 1.0, ValueError),
        ("min_weight_fraction_leaf", 0.6, ValueError),
        ("max_leaf_nodes", 1, ValueError),
        ("growth", "depth_first", ValueError),
        ("min_impurity_decrease", -0.1, ValueError),
        ("max_redraws", -1, ValueError),
        ("max_redraws", 1001, ValueError),
        ("max_redraws", None, TypeError),
        ("max_redraws", "none", ValueError),
        ("bootstrap", "yes", ValueError),
        ("max_samples", 0, ValueError),
        ("max_samples", 1.5, ValueError),
        ("replace", None, TypeError),
        ("scale", "robust", ValueError),
        ("oob_score", "accuracy", TypeError),
        ("n_jobs", 2.5, TypeError),
        ("warm_start", 1, TypeError),
        ("verbose", -1, ValueError),
        ("callback", 3, TypeError),
    ],
)
@pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_fit_with_a_parameter_out_of_range_names_it(estimator, name, value, error):
    with pytest.raises(error, match=f"^{name} must be .*; got "):
        estimator(**{name: value}).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("voting", "loud", ValueError),
        ("class_weight", "fair", ValueError),
        ("class_weight", 3, TypeError),
        ("criterion", "squared_error", ValueError),
    ],
)
def test_classifier_with_a_parameter_out_of_range_names_it(name, value, error):
    with pytest.raises(error, match=f"^{name} must be .*; got "):
        ObliqueForestClassifier(**{name: value}).fit([[0.0], [1.0]], [0, 1])
