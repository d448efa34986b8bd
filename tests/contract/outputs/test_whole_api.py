# ruff: noqa: ARG005  (all entries of the tables are called alike)
"""Every public function takes a forest of several outputs and answers rightly, or refuses it."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor, analysis, plots
from bevel.errors import SeveralOutputsError

N, P = 60, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, P))
NUMBERS = np.column_stack([X[:, 0] + X[:, 1], X[:, 2], RNG.normal(size=N)])
LABELS = np.column_stack([NUMBERS[:, 0] > 0, np.digitize(NUMBERS[:, 1], [-0.5, 0.5])]).astype(int)
SETTINGS = {"n_estimators": 12, "projection": "axis", "random_state": 0, "n_jobs": 1}

# Functions that read no prediction: they answer for the trees.
ANSWERS = {
    "forest_rules": lambda f, y: analysis.forest_rules(f, max_depth=2),
    "forest_weights": lambda f, y: analysis.forest_weights(f, X, y, X[:5]),
    "importance": lambda f, y: analysis.importance(f, "split_frequency"),
    "nearest_rows": lambda f, y: analysis.nearest_rows(f, X, X[:3], y),
    "path_rules": lambda f, y: analysis.path_rules(f, X[:1]),
    "potential_neighbours": lambda f, y: analysis.potential_neighbours(f, X, X[:3], k=2),
    "principal_coordinates": lambda f, y: analysis.principal_coordinates(f, X, y),
    "proximity": lambda f, y: analysis.proximity(f, X, y),
    "tree_complexity": lambda f, y: analysis.tree_complexity(f),
    "tree_rules": lambda f, y: analysis.tree_rules(f, 0),
}
REFUSES = {
    "accumulated_local_effects": lambda f, y: analysis.accumulated_local_effects(f, X, 0),
    "calibration": lambda f, y: analysis.calibration(f, X, y),
    "conformal": lambda f, y: analysis.conformal(f, X, y),
    "effect_along": lambda f, y: analysis.effect_along(f, X, [1.0, 0.0, 0.0]),
    "error_and_correlation": lambda f, y: analysis.error_and_correlation(f, X, y),
    "importance(permutation)": lambda f, y: analysis.importance(f, "permutation", X, y),
    "importance(negation)": lambda f, y: analysis.importance(f, "negation", X, y),
    "importance(corrected)": lambda f, y: analysis.importance(f, "corrected", X, y),
    "importance(t_test)": lambda f, y: analysis.importance(f, "t_test", X, y),
    "importance(effects)": lambda f, y: analysis.importance(f, "gini", effects_on=X),
    "importance_test": lambda f, y: analysis.importance_test(f, X, y),
    "interactions": lambda f, y: analysis.interactions(f, X),
    "out_of_bag_curve": lambda f, y: analysis.out_of_bag_curve(f, X, y),
    "outlier_scores": lambda f, y: analysis.outlier_scores(f, X, y),
    "partial_dependence": lambda f, y: analysis.partial_dependence(f, X, 0),
    "predict_standard_error": lambda f, y: analysis.predict_standard_error(f, X[:3]),
    "prototypes": lambda f, y: analysis.prototypes(f, X, y),
    "quantiles": lambda f, y: analysis.quantiles(f, X, y),
    "refit_best_rotations": lambda f, y: analysis.refit_best_rotations(f, X, y, 3),
    "rule_set": lambda f, y: analysis.rule_set(f, X, y),
    "shapley_interactions": lambda f, y: analysis.shapley_interactions(f, X[:2], X),
    "shapley_values": lambda f, y: analysis.shapley_values(f, X[:2]),
    "neighbour_survival": lambda f, y: analysis.neighbour_survival(f, X, y),
    "risk_groups": lambda f, y: analysis.risk_groups(f, X, y),
    "single_tree": lambda f, y: analysis.single_tree(f),
    "survival_bands": lambda f, y: analysis.survival_bands(f, X),
    "survival_calibration": lambda f, y: analysis.survival_calibration(f, X, y, 1.0),
    "survival_scores": lambda f, y: analysis.survival_scores(f, X, y),
    "strength_and_correlation": lambda f, y: analysis.strength_and_correlation(f, X, y),
    "surrogate_tree": lambda f, y: analysis.surrogate_tree(f, X),
    "top_rules": lambda f, y: analysis.top_rules(f, X, y),
    "to_c": lambda f, y: f.to_c(),
    "to_onnx": lambda f, y: f.to_onnx(),
    "predictor_": lambda f, y: f.predictor_,
    "prune_trees": lambda f, y: f.prune_trees(3, X, y),
    "plots.tree": lambda f, y: plots.tree(f.forest_.tree(0)),
    "plots.posterior_map": lambda f, y: plots.posterior_map(f, X[:, :2], y[:, 0]),
}
# They take no fitted forest: results, estimators that they fit, or numbers.
OTHERS = {"AllRelevantSelector", "ProximityImputer", "bias_and_variance", "correlated_groups"}
OTHERS |= {"geometry", "hellinger_distance", "results", "voting_points"}
OTHERS |= {"brier_score", "concordance_index", "dynamic_auc", "integrated_brier_score"}
OTHERS |= {"kaplan_meier", "unsupervised_forest", "forward_selection", "group_selections"}
OTHERS |= {"expected_potential_neighbours", "mean_squared_error_bound"}


@pytest.fixture(scope="module", params=["regression", "classification"])
def fitted(request):
    if request.param == "regression":
        return ObliqueForestRegressor(**SETTINGS).fit(X, NUMBERS), NUMBERS
    return ObliqueForestClassifier(**SETTINGS).fit(X, LABELS), LABELS


def test_every_public_function_of_analysis_is_listed():
    assert set(analysis.__all__) == {
        name for name in ANSWERS | REFUSES if name in analysis.__all__
    } | (OTHERS & set(analysis.__all__))


@pytest.mark.parametrize("name", ANSWERS)
def test_functions_of_the_trees_answer_as_for_a_single_output(name, fitted):
    forest, y = fitted
    found = ANSWERS[name](forest, y)
    single = ANSWERS[name](forest.output(0), y[:, 0])
    if hasattr(found, "toarray"):
        np.testing.assert_array_equal(found.toarray(), single.toarray())
    elif name == "importance":
        assert found.names == single.names
        np.testing.assert_array_equal(found.values, single.values)
    elif "rules" in name:
        assert "y0" in str(found)
        assert str(found).count("\n") == str(single).count("\n")
    else:
        assert str(found) == str(single)


@pytest.mark.parametrize("name", REFUSES)
def test_functions_of_one_target_refuse_several(name, fitted):
    forest, y = fitted
    with pytest.raises(SeveralOutputsError, match=r"forest\.output\('y0'\)"):
        REFUSES[name](forest, y)


def test_rows_of_a_fit_are_recognised_with_weights_of_several_outputs():
    weight = [{0: 1.0, 1: 3.0}, {0: 2.0, 1: 1.0, 2: 1.0}]
    forest = ObliqueForestClassifier(**SETTINGS, class_weight=weight).fit(X, LABELS)
    weights = analysis.forest_weights(forest, X, LABELS, X[:7])
    for k, shares in enumerate(forest.predict_proba(X[:7])):
        expected = weights @ (LABELS[:, [k]] == forest.classes_[k])
        np.testing.assert_allclose(shares, expected, atol=1e-6)


def test_methods_without_arguments_work_or_refuse(fitted):
    forest, _ = fitted
    for name, _ in inspect.getmembers(type(forest), lambda m: isinstance(m, property)):
        try:
            getattr(forest, name)
        except (SeveralOutputsError, AttributeError):
            assert name in {"predictor_", "families_"} or not hasattr(forest, name)


def test_tune_and_boosting_say_what_they_need():
    with pytest.raises(ValueError, match=r"1d array|one target|several outputs"):
        bevel.tune(ObliqueForestRegressor(**SETTINGS), X, NUMBERS)
    with pytest.raises(ValueError, match="1d array"):
        bevel.ObliqueBoostingRegressor(max_iter=2).fit(X, NUMBERS)
