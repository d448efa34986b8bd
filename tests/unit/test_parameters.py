"""`bevel.parameters`: the tables behind messages and docstrings."""

from __future__ import annotations

import inspect

import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.parameters import CLASSIFIER_PARAMETERS, REGRESSOR_PARAMETERS, check_each

BOTH = [
    (ObliqueForestClassifier, CLASSIFIER_PARAMETERS),
    (ObliqueForestRegressor, REGRESSOR_PARAMETERS),
]


@pytest.mark.parametrize(("estimator", "table"), BOTH)
def test_table_has_the_parameters_and_defaults_of_the_constructor(estimator, table):
    signature = inspect.signature(estimator).parameters
    assert list(signature) == list(table)
    for name, parameter in signature.items():
        assert parameter.default == table[name].default, name


@pytest.mark.parametrize(("estimator", "table"), BOTH)
def test_docstring_describes_every_parameter(estimator, table):
    document = inspect.getdoc(estimator)
    assert "{parameters}" not in document
    for name, parameter in table.items():
        assert f"\n{name} : " in document
        assert parameter.meaning.endswith((".", "`."))


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
