"""Fitted estimators of all kinds show themselves in notebooks, whatever attributes they lack."""

import numpy as np
import pytest

import bevel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=60)
TIMES = np.array(
    list(zip(RNG.random(60) < 0.7, RNG.exponential(size=60), strict=True)),
    dtype=[("event", bool), ("time", float)],
)
KINDS = {
    "classifier": lambda: bevel.ObliqueForestClassifier(5, random_state=0).fit(X, Y > 0),
    "regressor": lambda: bevel.ObliqueForestRegressor(5, random_state=0).fit(X, Y),
    "slim": lambda: bevel.ObliqueForestRegressor(5, random_state=0).fit(X, Y).slim(),
    "several outputs": lambda: bevel.ObliqueForestRegressor(5, random_state=0).fit(X, X),
    "classes of several outputs": lambda: bevel.ObliqueForestClassifier(5, random_state=0).fit(
        X, X > 0
    ),
    "boosting": lambda: bevel.ObliqueBoostingClassifier(max_iter=3, random_state=0).fit(X, Y > 0),
    "quantiles": lambda: bevel.ObliqueBoostingRegressor(
        loss="quantile", quantile=[0.1, 0.9], max_iter=3, random_state=0
    ).fit(X, Y),
    "isolation": lambda: bevel.ObliqueIsolationForest(5, random_state=0).fit(X),
    "survival": lambda: bevel.ObliqueSurvivalForest(5, random_state=0).fit(X, TIMES),
}


@pytest.mark.parametrize("kind", KINDS)
def test_fitted_estimator_and_its_trees_have_html(kind):
    estimator = KINDS[kind]()
    shown = estimator if estimator is not None else pytest.fail("fit gave nothing")
    html = shown._repr_html_()
    assert type(shown).__name__ in html
    assert "Traceback" not in html
    trees = shown.forest_._repr_html_()
    assert "forest of" in trees
    assert "array(" not in trees


def test_several_outputs_lack_the_attributes_of_one():
    forest = KINDS["several outputs"]()
    assert not hasattr(forest, "predictor_")
    with pytest.raises(ValueError, match="predictor_ needs a forest of one target"):
        forest.predictor_  # noqa: B018
    assert hasattr(forest.output(0), "predictor_")
