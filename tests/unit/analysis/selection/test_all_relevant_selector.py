"""The selector of all relevant features, alone, in pipelines and beside SelectFromModel."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.analysis import AllRelevantSelector

SMALL = {"n_estimators": 30, "n_jobs": 1}


def problem(n=250, seed=0):
    """Relevant: a, b, a copy of a, and a nominal column; the rest is noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["a", "noise", "b", "more noise"])
    frame["a again"] = frame["a"] + 0.1 * rng.normal(size=n)
    frame["kind"] = pd.Categorical(rng.choice(["u", "v"], n))
    y = frame["a"] + frame["b"] + 2.0 * (frame["kind"] == "u")
    frame.loc[::9, "b"] = np.nan
    return frame, y.to_numpy()


@pytest.mark.parametrize("importance", ["permutation", "gini"])
def test_selector_finds_exactly_the_relevant_features(importance):
    X, y = problem()
    selector = AllRelevantSelector(
        ObliqueForestRegressor(**SMALL, projection="axis"), importance=importance, random_state=0
    ).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["a", "b", "a again", "kind"]
    assert not selector.tentative_.any()
    assert selector.hits_.max() <= selector.n_rounds_ <= 50


def test_selector_confirms_nothing_in_noise_and_says_what_is_undecided():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), rng.integers(0, 2, 80)
    forest = ObliqueForestClassifier(**SMALL)
    selector = AllRelevantSelector(forest, max_rounds=20, random_state=0).fit(X, y)
    assert not selector.support_.any()
    short = AllRelevantSelector(forest, max_rounds=2, random_state=0).fit(X, y)
    assert short.tentative_.all()
    assert short.n_rounds_ == 2


def test_selector_works_in_pipelines_and_keeps_frames():
    X, y = problem(120)
    labels = np.where(y > np.median(y), "high", "low")
    selector = AllRelevantSelector(
        ObliqueForestClassifier(**SMALL), max_rounds=15, importance="gini", random_state=0
    ).set_output(transform="pandas")
    pipeline = make_pipeline(selector, ObliqueForestClassifier(**SMALL, random_state=0))
    pipeline.fit(X, labels)
    kept = pipeline[0].transform(X)
    assert "a" in kept.columns
    assert kept["a"].equals(X["a"])
    assert pipeline.score(X, labels) > 0.8


def test_select_from_model_takes_forests():
    X, y = problem()
    numbers = X[["a", "noise", "b", "more noise"]]
    forest = ObliqueForestRegressor(**SMALL, projection="axis", random_state=0)
    chosen = SelectFromModel(forest).fit(numbers, y)
    assert chosen.get_feature_names_out().tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": 3}, "a forest of Bevel"),
        ({"max_rounds": 0}, "max_rounds must be"),
        ({"alpha": 2}, "alpha must be"),
        ({"importance": "anova"}, "importance must be"),
    ],
)
def test_selector_refuses_bad_parameters(options, message):
    X, y = problem(40)
    selector = AllRelevantSelector(**{"estimator": ObliqueForestRegressor(3), **options})
    with pytest.raises((ValueError, TypeError), match=message):
        selector.fit(X, y)
    with pytest.raises((ValueError, TypeError), match=r"needs y|must be"):
        selector.fit(X, None)
