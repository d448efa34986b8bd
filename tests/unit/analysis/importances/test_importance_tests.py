"""Importances with p-values, groups of correlated features, and signs of effects."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    analysis,
    plots,
)
from bevel.analysis.importances.significance import correct


def problem(n=150, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "fdr"])
def test_corrected_p_values_follow_their_definitions(correction):
    rng = np.random.default_rng(0)
    for m in (1, 2, 7):
        p_values = np.round(rng.random(m) ** 3, 2)
        found = correct(p_values, correction)
        if correction == "bonferroni":
            expected = [min(1.0, m * p) for p in p_values]
        elif correction == "fdr":
            expected = stats.false_discovery_control(p_values)
        else:
            expected = [
                min(1.0, max((m - np.sum(p_values < q)) * q for q in p_values if q <= p))
                for p in p_values
            ]
        np.testing.assert_allclose(found, expected)
    assert correct(np.empty(0), correction).size == 0


@pytest.mark.parametrize(
    ("kind", "null"),
    [("permutation", "pooled"), ("gini", "pooled"), ("gini", "empirical"), ("gini", "normal")],
)
def test_altmanns_test_finds_the_features_that_matter(kind, null):
    X, y = problem()
    forest = ObliqueForestRegressor(30, random_state=0).fit(X, y)
    test = analysis.importance_test(
        forest, X, y, kind=kind, null=null, n_permutations=39, correction="fdr", random_state=0
    )
    assert set(test.selected(0.07)) >= {"x0", "x1"}
    assert test.p_values[:2].max() < 0.05 < np.median(test.p_values[2:])


@pytest.mark.parametrize("kind", ["permutation", "gini"])
def test_altmanns_test_gives_the_same_p_values_for_the_same_seed(kind):
    X, y = problem()
    forest = ObliqueForestRegressor(10, random_state=0).fit(X, y)
    how = {"kind": kind, "n_permutations": 9, "random_state": 0}
    one, other = (analysis.importance_test(forest, X, y, **how) for _ in range(2))
    assert np.array_equal(one.p_values, other.p_values)


@pytest.mark.parametrize("rows", ["holdout", "out_of_bag"])
def test_janitzas_p_values_are_shares_of_negative_importances(rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 150))
    y = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    forest = ObliqueForestClassifier(60, random_state=0).fit(X, y)
    test = analysis.importance_test(
        forest, X, y, method="janitza", rows=rows, correction=None, random_state=0
    )
    values = test.values
    null = np.concatenate([values[values < 0], -values[values < 0], values[values == 0]])
    expected = [(1 + np.sum(null >= value)) / (1 + len(null)) for value in values]
    np.testing.assert_allclose(test.p_values, expected)
    assert np.array_equal(test.corrected, test.p_values)
    assert test.p_values[:2].max() < 0.02


def test_janitzas_test_warns_of_few_negative_importances():
    X, y = problem()
    forest = ObliqueForestRegressor(20, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match='method="altmann"'):
        analysis.importance_test(forest, X, y, method="janitza", rows="out_of_bag", random_state=1)


def test_importance_test_takes_groups():
    X, y = problem()
    forest = ObliqueForestRegressor(30, random_state=0).fit(X, y)
    groups = {"good": [0, 1], "bad": [2, 3, 4]}
    test = analysis.importance_test(forest, X, y, groups=groups, n_permutations=20, random_state=0)
    assert test.names == ("good", "bad")
    assert test.selected() == ("good",)
    assert list(test.to_pandas().columns) == ["values", "p_values", "corrected"]
    assert "corrected by holm for 2 tests" in repr(test)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "x"}, "method must be"),
        ({"kind": "anova"}, "kind must be"),
        ({"null": "x"}, "null must be"),
        ({"rows": "holdout"}, "rows must be left out"),
        ({"method": "janitza", "n_permutations": 5}, "n_permutations must be left out"),
        ({"method": "janitza", "rows": "x"}, "rows must be"),
        ({"correction": "x"}, "correction must be"),
        ({"kind": "gini", "groups": {"a": [0]}}, "groups must be"),
        ({"n_permutations": 1}, "n_permutations must be"),
    ],
)
def test_importance_test_refuses_what_it_cannot_honour(options, message):
    X, y = problem(40)
    forest = ObliqueForestRegressor(5, random_state=0).fit(X, y)
    with pytest.raises((ValueError, TypeError), match=message):
        analysis.importance_test(forest, X, y, **options)


def test_correlated_groups_join_features_of_equal_ranks():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100))
    frame = pd.DataFrame(
        {"a": a, "b": b, "exp": np.exp(-a), "const": 1.0, "nom": pd.Categorical(["u", "v"] * 50)}
    )
    frame.loc[3, "a"] = np.nan
    forest = ObliqueForestRegressor(5, random_state=0).fit(frame, a)
    groups = analysis.correlated_groups(forest, frame)
    assert list(groups.values()) == [[0, 2], [1], [3], [4]]
    assert next(iter(groups)) == "a + exp"
    analysis.importance(forest, "permutation", frame, a, groups=groups)
    with pytest.raises(ValueError, match="threshold must be"):
        analysis.correlated_groups(forest, frame, threshold=2)


def test_importances_have_signs_of_effects():
    X, y = problem()
    forest = ObliqueForestRegressor(30, random_state=0).fit(X, y)
    found = analysis.importance(forest, "gini", effects_on=X)
    assert found.effect[0] > 1 > 0 > -1 > found.effect[1]
    assert np.abs(found.effect[2:]).max() < 0.5
    assert "+" in repr(found)
    assert found.direction[:2].tolist() == ["rises", "falls"]
    assert "rises" in repr(found)
    assert "falls" in found._repr_html_()
    both = ObliqueForestClassifier(30, random_state=0).fit(X, y > 0)
    assert np.sign(analysis.importance(both, "gini", effects_on=X).effect[:2]).tolist() == [1, -1]
    three = ObliqueForestClassifier(30, random_state=0).fit(X, np.digitize(y, [-1, 1]))
    with_class = analysis.importance(three, "split_frequency", effects_on=X)
    assert set(with_class.effect_of) <= {"0", "1", "2"}


BOOSTED = {
    "numbers": (ObliqueBoostingRegressor, {"loss": "squared_error"}),
    "linear leaves": (ObliqueBoostingRegressor, {"linear_leaves": True}),
    "quantiles": (ObliqueBoostingRegressor, {"loss": "quantile", "quantile": [0.1, 0.9]}),
    "two classes": (ObliqueBoostingClassifier, {}),
    "three classes": (ObliqueBoostingClassifier, {"multi_strategy": "multi_output_tree"}),
}


@pytest.mark.parametrize("name", BOOSTED)
def test_effects_of_boosting_are_those_of_its_sums(name):
    kind, settings = BOOSTED[name]
    X, y = problem(120)
    target = {"two classes": y > 0, "three classes": np.digitize(y, [-1, 1])}.get(name, y)
    model = kind(max_iter=20, random_state=0, **settings).fit(X, target)
    found = analysis.importance(model, "gini", effects_on=X)
    for feature in range(2):
        curve = analysis.accumulated_local_effects(model, X, [feature], n_bins=20).values
        change = np.atleast_1d(curve[-2] - curve[1])
        assert found.effect[feature] == pytest.approx(change[np.argmax(np.abs(change))], rel=1e-6)
    several = name in ("quantiles", "three classes")
    assert (found.effect_of is not None) == several
    what = {"two": "log odds of True", "three": "score of a class", "quantiles": "quantile"}
    assert f"change of the {what.get(name.split()[0], 'prediction')} from" in found.hint


def test_effect_that_turns_is_mixed_and_nominal_features_have_no_direction():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(-1, 1, 300), "b": rng.choice(["u", "v"], 300)})
    forest = ObliqueForestRegressor(30, random_state=0).fit(X, X["a"] ** 2)
    found = analysis.importance(forest, "gini", effects_on=X)
    assert found.direction.tolist() == ["mixed", ""]
    drawn = [text.get_text() for text in plots.importance_bars(found).texts]
    assert any("▲▼" in text for text in drawn)


@pytest.mark.parametrize("kind", ["gini", "split_frequency", "t_test", "corrected", "permutation"])
def test_every_kind_of_importance_shows_directions(kind):
    X, y = problem(120)
    forest = ObliqueForestRegressor(20, random_state=0).fit(X, y)
    rows = (X, y) if kind in ("t_test", "corrected", "permutation") else ()
    found = analysis.importance(forest, kind, *rows, effects_on=X)
    assert found.direction[:2].tolist() == ["rises", "falls"]
    assert "falls" in str(found)
    assert "direction" in found.to_pandas().columns


@pytest.mark.parametrize("kind", ["gini", "split_frequency", "t_test", "corrected", "permutation"])
def test_every_kind_of_importance_shows_directions_without_being_asked(kind):
    X, y = problem(120)
    forest = ObliqueForestRegressor(20, random_state=0).fit(X, y)
    rows = (X, y) if kind in ("t_test", "corrected", "permutation") else ()
    found = analysis.importance(forest, kind, *rows)
    assert found.direction[:2].tolist() == ["rises", "falls"]
    assert found.effect is None
    assert "direction: of the prediction over the splits" in str(found)
    drawn = [text.get_text() for text in plots.importance_bars(found).texts]
    assert any("▲" in text for text in drawn)
    assert any("▼" in text for text in drawn)


def test_importance_test_shows_directions_without_being_asked():
    X, y = problem(120)
    forest = ObliqueForestRegressor(20, random_state=0).fit(X, y)
    found = analysis.importance_test(forest, X, y, n_permutations=5, random_state=0)
    assert found.direction[:2].tolist() == ["rises", "falls"]
    drawn = [text.get_text() for text in plots.importance_bars(found).texts]
    assert any("p " in text and "▼" in text for text in drawn)


def test_directions_name_the_class_that_they_are_of():
    X, y = problem(120)
    two = ObliqueForestClassifier(20, random_state=0).fit(X, np.where(y > 0, "up", "down"))
    found = analysis.importance(two, "gini")
    assert found.effect_of is None
    assert found.direction[:2].tolist() == ["rises", "falls"]
    assert "probability of up" in str(found)
    three = ObliqueForestClassifier(20, random_state=0).fit(X, np.digitize(y, [-1, 1]))
    found = analysis.importance(three, "gini")
    assert "of class" in str(found)
    assert set(zip(found.direction[:1], found.effect_of[:1], strict=True)) <= {
        ("rises", "2"),
        ("falls", "0"),
    }


def test_slim_forests_and_groups_have_no_directions():
    X, y = problem(120)
    forest = ObliqueForestRegressor(5, random_state=0).fit(X, y)
    grouped = analysis.importance(forest, "permutation", X, y, groups={"g": [0, 1]})
    assert grouped.direction is None
    slim = analysis.importance(forest.slim(), "permutation", X, y)
    assert slim.direction is None
    assert "direction" not in str(slim)


def test_importance_test_shows_directions():
    X, y = problem(120)
    forest = ObliqueForestRegressor(20, random_state=0).fit(X, y)
    found = analysis.importance_test(forest, X, y, n_permutations=5, effects_on=X, random_state=0)
    assert found.direction[:2].tolist() == ["rises", "falls"]
    assert found.p_values is not None


def test_signs_are_refused_for_groups_and_directions():
    X, y = problem(60)
    forest = ObliqueForestRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="effects_on must be"):
        analysis.importance(forest, "projection", effects_on=X)
    with pytest.raises(ValueError, match="effects_on must be"):
        analysis.importance(forest, "permutation", X, y, groups={"g": [0, 1]}, effects_on=X)
