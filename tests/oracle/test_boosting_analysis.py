"""Analysis of boosted trees against slow definitions, on the scale of the sums."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor, analysis
from bevel.errors import NoOutOfBagError

Floats = npt.NDArray[np.float64]
SETTINGS: dict[str, Any] = {"max_iter": 12, "learning_rate": 0.3, "random_state": 0}


def _table(n: int = 200) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    filled = np.nan_to_num(X)
    return X, np.exp(filled[:, 0]) + filled[:, 1] * filled[:, 2] + 3.0


MODELS = {
    "regression": lambda X, y: ObliqueBoostingRegressor(**SETTINGS).fit(X, y),
    "gamma": lambda X, y: ObliqueBoostingRegressor("gamma", **SETTINGS).fit(X, np.exp(y / 3)),
    "two classes": lambda X, y: ObliqueBoostingClassifier(**SETTINGS).fit(X, y > 4),
    "three classes": lambda X, y: ObliqueBoostingClassifier(**SETTINGS).fit(
        X, np.digitize(y, [3.5, 4.5])
    ),
    "quantiles": lambda X, y: ObliqueBoostingRegressor(
        "quantile", quantile=[0.2, 0.8], **SETTINGS
    ).fit(X, y),
}


@pytest.fixture(scope="module", params=MODELS)
def fitted(request: pytest.FixtureRequest) -> tuple[Any, Floats]:
    X, y = _table()
    return MODELS[request.param](X, y), X


def _outputs(found: Floats, model: Any) -> Floats:
    """With the outputs last, also if there is one."""
    return found if len(model.baseline_prediction_) > 1 else found[..., np.newaxis]


def test_shapley_values_are_those_of_all_coalitions(fitted: tuple[Any, Floats]) -> None:
    model, X = fitted
    rows, background = X[:4], X[50:60]
    found = analysis.shapley_values(model, rows, background, max_background=10)
    values = _outputs(found.values, model)
    p = X.shape[1]
    for i, row in enumerate(rows):
        worth = {}
        for mask in itertools.product([False, True], repeat=p):
            mixed = np.where(mask, row, background)
            worth[mask] = model._raw(mixed).mean(axis=0)
        for feature in range(p):
            expected = np.zeros(values.shape[-1])
            for mask, value in worth.items():
                if mask[feature]:
                    continue
                size = sum(mask)
                share = math.factorial(size) * math.factorial(p - size - 1) / math.factorial(p)
                joined = tuple(known or f == feature for f, known in enumerate(mask))
                expected += share * (worth[joined] - value)
            np.testing.assert_allclose(values[i, feature], expected, atol=1e-9)
    whole = _outputs(found.values.sum(axis=1) + found.base_values, model)
    np.testing.assert_allclose(whole, model._raw(rows), atol=1e-9)


def test_path_dependent_values_add_up(fitted: tuple[Any, Floats]) -> None:
    model, X = fitted
    found = analysis.shapley_values(model, X[:5], None, feature_perturbation="tree_path_dependent")
    whole = _outputs(found.values.sum(axis=1) + found.base_values, model)
    np.testing.assert_allclose(whole, model._raw(X[:5]), atol=1e-9)


def test_partial_dependence_is_the_mean_of_the_sums(fitted: tuple[Any, Floats]) -> None:
    model, X = fitted
    grid = np.array([-1.0, 0.0, 1.5])
    effect = analysis.partial_dependence(model, X, 1, values=grid)
    values = _outputs(effect.values, model)
    for at, value in enumerate(grid):
        changed = X.copy()
        changed[:, 1] = value
        np.testing.assert_allclose(values[at], model._raw(changed).mean(axis=0), atol=1e-9)
    assert analysis.accumulated_local_effects(model, X, 0).n_rows <= len(X)
    along = analysis.effect_along(model, X, {0: 1.0, 1: -1.0}, steps=[0.0, 0.5])
    moved = X.copy()
    moved[:, 0] += 0.5
    moved[:, 1] -= 0.5
    expected = model._raw(moved).mean(axis=0)
    np.testing.assert_allclose(_outputs(along.values, model)[1], expected, atol=1e-9)


def test_results_name_the_scale() -> None:
    X, y = _table()
    two = MODELS["two classes"](X, y)
    assert analysis.partial_dependence(two, X, 0).output_name == "log odds of True"
    gamma = MODELS["gamma"](X, y)
    assert analysis.shapley_values(gamma, X[:2], X).output_name == "logarithm of the prediction"


def test_gain_importance_adds_up_the_gains_of_all_trees(fitted: tuple[Any, Floats]) -> None:
    model, X = fitted
    forest = model.forest_
    total = np.zeros(X.shape[1])
    for node in np.flatnonzero(forest.right >= 0):
        entries = slice(forest.entry_offset[node], forest.entry_offset[node + 1])
        weights = np.abs(forest.entry_weight[entries])
        total[forest.entry_index[entries]] += forest.gain[node] * weights / weights.sum()
    expected = total / total.sum()
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-5)
    np.testing.assert_allclose(analysis.importance(model).values, expected, rtol=1e-5)
    directions = analysis.importance(model, "projection")
    assert len(directions.top(3).to_pandas()) == 3
    assert analysis.importance(model, "split_frequency").values.sum() > 0


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
def test_permutation_importance_is_the_rise_of_the_error(kind: str) -> None:
    X, y = _table(400)
    model = MODELS[kind](X[:300], y[:300])
    target = {"regression": y, "two classes": y > 4, "three classes": np.digitize(y, [3.5, 4.5])}
    new, truth = X[300:], target[kind][300:]
    found = analysis.importance(
        model, "permutation", new, truth, out_of_bag=False, n_repeats=3, random_state=5
    )
    rng = np.random.default_rng(5)

    def error(rows: Floats) -> float:
        predicted = model.predict(rows)
        wrong = (predicted - truth) ** 2 if kind == "regression" else predicted != truth
        return float(np.mean(wrong))

    assert found.error == pytest.approx(error(new))
    for feature in range(4):
        for repeat in range(3):
            changed = new.copy()
            changed[:, feature] = new[rng.permutation(len(new)), feature]
            assert found.repeats[feature, repeat] == pytest.approx(error(changed) - error(new))
    assert np.argmax(found.values) == 0
    with pytest.raises(NoOutOfBagError, match="out_of_bag=False"):
        analysis.importance(model, "permutation", new, truth, out_of_bag=True)


def test_rules_of_boosted_trees_route_rows_as_the_trees_do(fitted: tuple[Any, Floats]) -> None:
    model, X = fitted
    text = str(analysis.tree_rules(model, 0, X=X))
    assert f"tree 0 of {model.forest_.n_trees}" in text
    forest = model.forest_
    written = analysis.tree_rules(model, 0).predictions
    leaves = forest.right[: forest.tree_offset[1]] < 0
    np.testing.assert_array_equal(
        written.means[leaves, 0], forest.leaf_value[: forest.tree_offset[1]][leaves]
    )
    assert not written.classes  # leaves are steps of a score, also of classes
    assert len(analysis.forest_rules(model, range(2)).to_pandas()) > 2
    assert str(model.forest_.tree(0))


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
def test_rules_of_groups_are_evaluated_on_the_targets(kind: str) -> None:
    X, y = _table()
    model = MODELS[kind](X, y)
    target = {"regression": y, "two classes": y > 4, "three classes": np.digitize(y, [3.5, 4.5])}[
        kind
    ]
    top = analysis.top_rules(model, X, target, n=3)
    leaves, forest = model.apply(X), model.forest_
    Y = target[:, None] if kind == "regression" else np.eye(len(model.classes_))[target.astype(int)]
    assert len(top) == 3
    for place in range(3):
        tree, node = int(top.tree[place]), int(top.node[place])
        paths = [_path(forest, tree, leaf) for leaf in leaves[:, tree]]
        rows = np.array([node in path for path in paths])
        assert top.coverage[place] == pytest.approx(rows.mean())
        between = ((Y[rows].mean(axis=0) - Y.mean(axis=0)) ** 2).sum()
        explained = rows.mean() * between / Y.var(axis=0).sum()
        assert top.explained[place] == pytest.approx(explained)
    groups = analysis.rule_set(model, X, target, max_terms=5)
    matched = groups.matches(X)
    for rule, rows in zip(groups.rules, matched.T, strict=True):
        assert rule.n_rows == rows.sum()
        if kind == "regression":
            assert rule.prediction == pytest.approx(target[rows].mean(), rel=1e-3)
        else:
            assert rule.precision == pytest.approx(np.mean(target[rows] == rule.prediction))
    with pytest.raises(NoOutOfBagError):
        analysis.rule_set(model, X, target, out_of_bag=True)


def _path(forest: Any, tree: int, leaf: int) -> list[int]:
    """Nodes from a leaf up to the root, counted from the root."""
    first, path = int(forest.tree_offset[tree]), [int(leaf)]
    while path[-1] > 0:
        path.append(int(forest.parent[first + path[-1]]) - first)
    return path


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
def test_surrogate_tree_imitates_predictions(kind: str) -> None:
    X, y = _table()
    model = MODELS[kind](X, y)
    tree = analysis.surrogate_tree(model, X, max_depth=4)
    found, wanted = tree.predict(X), model.predict(X)
    if kind == "regression":
        agreement = 1.0 - ((found - wanted) ** 2).sum() / ((wanted - wanted.mean()) ** 2).sum()
    else:
        agreement = np.mean(found == wanted)
    assert tree.fidelity_training == pytest.approx(float(agreement))
    assert agreement > 0.4
    with pytest.raises(ValueError, match="one of 2 quantiles"):
        analysis.surrogate_tree(MODELS["quantiles"](X, y), X)


@pytest.mark.parametrize(
    "measure",
    [
        lambda model, X: analysis.proximity(model, X),
        lambda model, X: analysis.out_of_bag_curve(model, X, X[:, 0]),
        lambda model, X: analysis.importance(model, "negation", X, X[:, 0], out_of_bag=False),
        lambda model, X: analysis.predict_standard_error(model, X),
    ],
)
def test_measures_without_a_meaning_for_sums_are_refused(measure: Any) -> None:
    X, y = _table()
    with pytest.raises(TypeError, match="whose trees add up"):
        measure(MODELS["regression"](X, y), X)
