"""Words for the outputs of a model: classes, scores, quantiles, risks."""

import numpy as np
import pytest

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor, ObliqueSurvivalForest, plots
from bevel import analysis as A
from bevel.analysis.analysed_forest import measured, name_of_output, noun_of_outputs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X[:, 0] + X[:, 1] * X[:, 2]


@pytest.fixture(scope="module")
def quantiles():
    return ObliqueBoostingRegressor(
        "quantile", quantile=[0.1, 0.9], max_iter=5, random_state=0, n_jobs=1
    ).fit(X, Y)


@pytest.fixture(scope="module")
def scores():
    y = np.digitize(Y, [-0.5, 0.5])
    return ObliqueBoostingClassifier(max_iter=5, random_state=0, n_jobs=1).fit(X, y)


@pytest.mark.parametrize(
    ("of_all", "one", "noun", "what"),
    [
        ("prediction", "probability of ill", "class", "probability"),
        ("score", "score of ill", "class", "score"),
        ("quantile", "ill", "quantile", "prediction"),
    ],
)
def test_outputs_are_named_after_what_they_are(of_all, one, noun, what):
    assert name_of_output(of_all, "ill") == one
    assert noun_of_outputs(of_all) == noun
    assert measured(of_all) == what


def test_shapley_values_of_quantiles_speak_of_quantiles(quantiles):
    values = A.shapley_values(quantiles, X[:3], X[:9])
    assert "2 quantiles" in str(values)
    assert "class" not in str(values)
    assert values.output("quantile 0.9").output_name == "quantile 0.9"
    assert plots.shapley_waterfall(values).get_title(loc="left").startswith("Quantile 0.9")


def test_effect_of_two_quantiles_draws_both(quantiles):
    ax = plots.effect(A.partial_dependence(quantiles, X, 0, grid_resolution=5))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "quantile 0.1",
        "quantile 0.9",
    ]
    assert ax.get_legend().get_title().get_text() == "quantile"
    assert ax.get_ylabel() == "prediction"


def test_effect_of_boosted_classes_is_one_of_scores(scores):
    effect = A.partial_dependence(scores, X, 0, grid_resolution=5)
    assert plots.effect(effect).get_ylabel() == "score"
    assert effect.output(1).output_name == "score of class 1"


def test_interactions_of_boosting_add_up_to_its_sums(scores, quantiles):
    for model, kind in ((scores, "score"), (quantiles, "quantile")):
        found = A.shapley_interactions(model, X[:3], X[:9])
        values = A.shapley_values(model, X[:3], X[:9])
        np.testing.assert_allclose(found.values.sum(axis=2), values.values, atol=1e-9)
        assert found.output_name == kind


def test_rules_of_quantiles_have_no_share_of_a_variance(quantiles):
    rules = A.rule_set(quantiles, X, Y)
    assert "nan" not in str(rules)
    assert "nan" not in rules._repr_html_()


@pytest.mark.parametrize(("tree", "said"), [(0, "score of class 0"), (4, "score of class 1")])
def test_text_of_a_boosted_tree_says_what_it_adds_to(scores, tree, said):
    assert f"Leaves: what the tree adds to the {said}." in str(A.tree_rules(scores, tree))


def test_effects_of_survival_are_those_of_the_risk():
    y = np.array(
        list(zip(Y > -1, np.exp(Y), strict=True)), dtype=[("event", bool), ("time", float)]
    )
    forest = ObliqueSurvivalForest(10, random_state=0, n_jobs=1).fit(X, y)
    ax = plots.effect(A.partial_dependence(forest, X, 0, grid_resolution=5))
    assert ax.get_ylabel() == "risk"
    assert "direction: of the risk" in str(A.importance(forest))


def test_surrogate_tree_of_boosting_speaks_of_the_model(scores):
    assert "imitates the model" in str(A.surrogate_tree(scores, X, max_depth=2))
