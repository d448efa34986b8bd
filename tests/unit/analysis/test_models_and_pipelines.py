"""Analyses of boosting, of forest and boosting together, and of pipelines that end with one."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueRegressor,
    analysis,
)
from bevel.errors import NoOutOfBagError

RNG = np.random.default_rng(0)
N = 60
X = pd.DataFrame(
    {
        "a": RNG.integers(0, 6, N) / 2.0,
        "b": RNG.normal(size=N),
        "c": pd.Categorical(RNG.choice(list("uvw"), N)),
    }
)
X.loc[::9, "a"] = np.nan
SIGNAL = X["a"].fillna(1.0) * X["b"] + (X["c"] == "u")
NUMBERS = SIGNAL + 0.1 * RNG.normal(size=N)
TWO = np.where(SIGNAL > 0.5, "yes", "no")
THREE = np.where(SIGNAL > 1.0, "high", np.where(SIGNAL > 0.0, "middle", "low"))


def combined(y):
    return ObliqueClassifier(quality=1, time_limit=None, random_state=0).fit(X, y)


def boosted(y):
    return ObliqueBoostingClassifier(max_iter=8, early_stopping=False, random_state=0).fit(X, y)


def changed(column, value):
    other = X.copy()
    other[column] = (
        pd.Categorical([value] * N, X[column].cat.categories) if column == "c" else value
    )
    return other


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(("feature", "grid"), [("a", [0.0, 1.5, 2.5]), ("c", ["u", "w"])])
def test_partial_dependence_of_a_forest_and_boosting_is_the_mean_probability(y, feature, grid):
    model = combined(y)
    found = analysis.partial_dependence(model, X, feature, values=grid, kind="both")
    curves = np.array([model.predict_proba(changed(feature, value)) for value in grid])
    np.testing.assert_allclose(found.values, curves.mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(found.individual, np.swapaxes(curves, 0, 1), atol=1e-6)
    averaged = analysis.partial_dependence(model, X, feature, values=grid)
    np.testing.assert_allclose(averaged.values, found.values, atol=1e-9)


def test_effects_along_a_direction_of_a_forest_and_boosting_are_mean_probabilities():
    model = combined(TWO)
    found = analysis.effect_along(model, X, {"b": 1.0}, steps=[-1.0, 0.0, 1.0])
    expected = [
        model.predict_proba(X.assign(b=X["b"] + step)).mean(axis=0) for step in (-1.0, 0.0, 1.0)
    ]
    np.testing.assert_allclose(found.values, expected, atol=1e-6)


def test_local_effects_of_a_forest_and_boosting_add_up_probabilities():
    model = combined(TWO)
    found = analysis.accumulated_local_effects(model, X, "b", n_bins=1)
    low, high = (model.predict_proba(X.assign(b=edge)).mean(axis=0) for edge in found.grid[0])
    np.testing.assert_allclose(found.values[-1] - found.values[0], high - low, atol=1e-6)


def naive_interactions(predict, features):
    """H squared of the pairs of features, from predictions of changed rows alone."""

    def effect(columns):
        at_rows = []
        for _, row in X.iterrows():
            other = X
            for column in columns:
                other = other.assign(**{column: changed(column, row[column])[column]})
            at_rows.append(predict(other).mean(axis=0))
        return np.array(at_rows) - np.mean(at_rows, axis=0)

    own = {feature: effect([feature]) for feature in features}
    found = []
    for first, second in itertools.combinations(features, 2):
        joint = effect([first, second])
        found.append(np.square(joint - own[first] - own[second]).sum() / np.square(joint).sum())
    return found


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_interactions_of_boosting_are_those_of_its_scores(y):
    model = boosted(y)
    found = analysis.interactions(model, X, max_rows=N)

    def scores(rows):
        return model.decision_function(rows).reshape(len(rows), -1)

    np.testing.assert_allclose(
        found.h_squared, naive_interactions(scores, ["a", "b", "c"]), atol=1e-5
    )


def test_interactions_of_a_forest_and_boosting_are_those_of_its_probabilities():
    model = combined(TWO)
    found = analysis.interactions(model, X, ["a", "b"], max_rows=N)
    expected = naive_interactions(model.predict_proba, ["a", "b"])
    np.testing.assert_allclose(found.h_squared, expected, atol=1e-5)


@pytest.mark.parametrize("make", [boosted, combined])
def test_calibration_of_other_rows_reads_their_probabilities(make):
    model = make(TWO)
    rows, y = X[::2], TWO[::2]
    found = analysis.calibration(model, rows, y, n_bins=4)
    assert found.row_kind == "new"
    share = model.predict_proba(rows)[:, 1]
    mean = np.average(found.predicted, weights=found.n_rows)
    np.testing.assert_allclose(mean, share.mean())
    np.testing.assert_allclose(
        np.average(found.observed, weights=found.n_rows), np.mean(y == "yes")
    )


def test_rows_of_a_forest_are_recognised_and_others_are_not():
    forest = ObliqueForestClassifier(30, random_state=0).fit(X, TWO)
    assert analysis.calibration(forest, X, TWO).row_kind == "out-of-bag"
    assert analysis.calibration(forest, X[:50], TWO[:50]).row_kind == "new"
    options = {"n_repeats": 1, "random_state": 0}
    out = analysis.importance(forest, "permutation", X, TWO, **options)
    assert "out-of-bag rows" in out.measures
    same = analysis.importance(forest, "permutation", X, TWO, out_of_bag=True, **options)
    np.testing.assert_array_equal(out.values, same.values)
    other = analysis.importance(forest, "permutation", X[:50], TWO[:50], **options)
    assert "too good if they are training rows" in other.measures


def test_a_forest_and_boosting_know_their_training_rows():
    assert analysis.calibration(combined(TWO), X, TWO).row_kind == "grown on"


@pytest.mark.parametrize("make", [boosted, combined])
def test_out_of_bag_rows_of_boosting_are_refused(make):
    with pytest.raises(NoOutOfBagError, match="Pass rows that were not in the fit"):
        analysis.importance(make(TWO), "permutation", X, TWO, out_of_bag=True)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (ObliqueClassifier(quality=1, random_state=0), TWO),
        (ObliqueRegressor(quality=1, random_state=0), NUMBERS),
    ],
)
def test_rules_imitate_a_forest_and_boosting(model, y):
    model.fit(X, y)
    found = analysis.rule_set(model, X, y, n=3)
    assert found.source == "imitation"
    assert len(found.rules) > 0
    assert "a forest and boosting together" in str(found)
    with pytest.raises(ValueError, match="ask the models of `estimators_`"):
        analysis.rule_set(model, X, y, source="forest")
    assert "predicts the same for all of these rows" in str(analysis.rule_set(model, X[:1], y[:1]))


@pytest.mark.parametrize("kind", [ObliqueClassifier, ObliqueForestClassifier])
def test_rules_of_a_model_that_predicts_one_class_are_of_a_rare_one(kind):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3))
    rare = np.where((rows[:, 0] > 1) & (rng.random(400) < 0.3), "rare", "common")
    options = {"quality": 1} if kind is ObliqueClassifier else {"n_estimators": 50}
    model = kind(random_state=0, **options).fit(rows, rare)
    same = model.predict(rows) == "common"
    found = analysis.rule_set(model, rows[same], rare[same], source="imitation", out_of_bag=False)
    assert {rule.prediction for rule in found.rules} == {"rare"}
    assert all(rule.lift > 1 for rule in found.rules)
    assert "The model predicts common for all of these rows" in str(found)
    assert "as the model does" not in str(found)


# Pipelines

MODELS = {
    "forest": ObliqueForestRegressor(20, keep_targets=True, random_state=0),
    "boosting": ObliqueBoostingRegressor(max_iter=5, random_state=0),
    "both": ObliqueRegressor(quality=1, random_state=0),
}


def steps():
    return make_column_transformer(
        (SimpleImputer(strategy="median"), ["a"]),
        (OneHotEncoder(sparse_output=False), ["c"]),
        remainder="passthrough",
        verbose_feature_names_out=False,
    )


NAMES = ("a", "c_u", "c_v", "c_w", "b")

ANALYSES = {
    "importance": lambda m, rows, y: analysis.importance(m, "permutation", rows, y, random_state=0),
    "gini": lambda m, _rows, _y: analysis.importance(m),
    "partial_dependence": lambda m, rows, _y: analysis.partial_dependence(m, rows, 0),
    "local_effects": lambda m, rows, _y: analysis.accumulated_local_effects(m, rows, 0),
    "interactions": lambda m, rows, _y: analysis.interactions(m, rows, [0, 4], random_state=0),
    "shapley": lambda m, rows, _y: analysis.shapley_values(m, rows[:5], rows, random_state=0),
    "rules": lambda m, rows, y: analysis.rule_set(m, rows, y, n=2),
    "surrogate": lambda m, rows, _y: analysis.surrogate_tree(m, rows, max_depth=2),
}
OF_FORESTS = {
    "proximity": lambda m, rows, y: analysis.proximity(m, rows, y).matrix,
    "nearest_rows": lambda m, rows, _y: analysis.nearest_rows(m, rows, rows[:3], kind="all").rows,
    "path": lambda m, rows, _y: analysis.path_rules(m, rows[:1]),
    "tree": lambda m, rows, _y: analysis.tree_rules(m, 0, X=rows),
    "quantiles": lambda m, rows, y: analysis.quantiles(m, rows, y).values,
    "standard_error": lambda m, rows, _y: analysis.predict_standard_error(m, rows[:3]),
    "test": lambda m, rows, y: analysis.importance_test(
        m, rows, y, n_permutations=3, random_state=0
    ),
}


def same(found, expected):
    if isinstance(found, tuple):
        return all(same(one, other) for one, other in zip(found, expected, strict=True))
    if isinstance(found, np.ndarray):
        return np.array_equal(found, expected, equal_nan=True)
    return str(found) == str(expected)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("name", [*ANALYSES, *OF_FORESTS])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_pipeline_is_analysed_as_its_model_on_the_rows_that_the_steps_make(kind, name):
    if name in OF_FORESTS and kind != "forest":
        pytest.skip("needs a forest")
    analyse = {**ANALYSES, **OF_FORESTS}[name]
    pipeline = make_pipeline(steps(), MODELS[kind]).fit(X, NUMBERS)
    table = pd.DataFrame(steps().fit_transform(X), columns=NAMES)
    model = MODELS[kind].fit(table, NUMBERS)
    assert same(analyse(pipeline, X, NUMBERS), analyse(model, table, NUMBERS))


def test_names_of_a_pipeline_are_those_that_its_steps_give():
    pipeline = make_pipeline(steps(), ObliqueForestClassifier(10, random_state=0)).fit(X, TWO)
    assert analysis.importance(pipeline).names == NAMES
    assert not hasattr(pipeline[-1], "feature_names_in_")
    effect = analysis.partial_dependence(pipeline, X, "b")
    assert effect.names == ("b",)


def test_a_pipeline_whose_steps_know_no_names_has_numbered_features():
    step = FunctionTransformer(lambda table: table[["a", "b"]].to_numpy())
    pipeline = make_pipeline(step, ObliqueForestClassifier(10, random_state=0)).fit(X, TWO)
    assert analysis.importance(pipeline).names == ("x0", "x1")


def test_a_pipeline_of_one_step_is_its_model():
    forest = ObliqueForestClassifier(10, random_state=0)
    pipeline = make_pipeline(forest).fit(X, TWO)
    assert str(analysis.importance(pipeline)) == str(analysis.importance(pipeline[-1]))


def test_a_pipeline_that_ends_with_another_model_is_refused():
    pipeline = make_pipeline(SimpleImputer(), SimpleImputer())
    with pytest.raises(TypeError, match="or a pipeline that ends with one"):
        analysis.importance(pipeline)
