"""Weighted sums of a forest and boosting against their members, fitted one by one, and a grid."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueRegressor,
)
from bevel.forest.task import Classification, Regression
from bevel.training import combination
from bevel.training.combination import (
    PRIOR_SPREAD,
    QUALITY,
    Quality,
    held_out_columns,
    share_of_first,
)

COMBINED = {"classes": ObliqueClassifier, "numbers": ObliqueRegressor}
FORESTS = {"classes": ObliqueForestClassifier, "numbers": ObliqueForestRegressor}
BOOSTING = {"classes": ObliqueBoostingClassifier, "numbers": ObliqueBoostingRegressor}
SMALL = Quality(3, 20, 20)


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    steps = {3: SMALL, 4: Quality(4, 20, 20, n_boosters=3)}
    monkeypatch.setattr(combination, "QUALITY", {**QUALITY, **steps})
    monkeypatch.setattr("bevel.estimators.combined.QUALITY", {**QUALITY, **steps})


def messy_table(n_rows: int, kind: str, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)).round(1), columns=["a", "b", "c"])
    X["level"] = pd.Categorical(rng.choice(["x", "y", "z"], n_rows))
    X["constant"] = 1.0
    X.loc[rng.random(n_rows) < 0.1, "b"] = np.nan
    signal = X["a"] + X["c"] + (X["level"] == "x") + rng.normal(size=n_rows)
    if kind == "numbers":
        return X, signal.to_numpy()
    return X, np.array(["no", "so so", "yes"])[np.digitize(signal, [-0.5, 1.0])]


def predictions(model, X) -> np.ndarray:
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_prediction_is_the_weighted_mean_of_members_fitted_alone_to_the_bit(kind, weighted):
    X, y = messy_table(250, kind)
    weights = np.random.default_rng(1).integers(1, 4, len(y)) if weighted else None
    model = COMBINED[kind](random_state=0).fit(X, y, weights)
    forest = FORESTS[kind](20, random_state=0).fit(X, y, weights)
    boosting = BOOSTING[kind](random_state=0, scale="minmax").fit(X, y, weights)
    first, second = model.weights_
    expected = first * predictions(forest, X) + second * predictions(boosting, X)
    assert np.array_equal(predictions(model, X), expected)
    assert 0.0 < first < 1.0


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_prediction_is_the_weighted_mean_of_estimators(kind):
    X, y = messy_table(200, kind)
    model = COMBINED[kind](quality=4, random_state=1).fit(X, y)
    assert len(model.estimators_) == 4
    parts = [
        weight * predictions(each, X)
        for weight, each in zip(model.weights_, model.estimators_, strict=True)
    ]
    assert np.array_equal(predictions(model, X), parts[0] + parts[1] + parts[2] + parts[3])


def grid_share(first, second, target, weights, task) -> float:
    """Minus the logarithm of the posterior at each hundredth, written out."""
    n_rows = (weights.sum() ** 2 / (weights**2).sum()) if weights is not None else len(target)
    own = np.ones(len(target)) if weights is None else weights
    losses = []
    for share in np.linspace(0.0, 1.0, 101):
        mixed = share * first + (1.0 - share) * second
        if task.n_classes:
            each = -np.log(np.maximum(mixed[np.arange(len(target)), target], 1e-15))
        else:
            each = (target - mixed[:, 0]) ** 2
        losses.append(np.sum(own * each) / np.sum(own))
    losses = np.array(losses)
    scale = n_rows if task.n_classes else n_rows / (2.0 * losses.min())
    penalty = (np.linspace(0.0, 1.0, 101) - 0.5) ** 2 / (2.0 * PRIOR_SPREAD**2)
    return int(np.argmin(scale * losses + penalty)) / 100


@pytest.mark.parametrize("seed", range(40))
def test_share_is_that_of_a_grid(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(1, 300)), int(rng.integers(2, 5))
    weights = None if seed % 2 else rng.exponential(size=n_rows)
    sharpness = rng.uniform(0.3, 6.0)
    target = rng.integers(0, n_classes, n_rows)
    first, second = (
        rng.dirichlet(np.full(n_classes, 0.4), n_rows) * (1.0 - quality)
        + quality * np.eye(n_classes)[target]
        for quality in rng.random(2) ** sharpness
    )
    task = Classification(np.arange(n_classes))
    found = share_of_first(first, second, target, weights, task)
    assert found == grid_share(first, second, target, weights, task)

    values = rng.normal(size=n_rows)
    first, second = (
        (values + rng.normal(scale=scale, size=n_rows))[:, None] for scale in rng.random(2)
    )
    found = share_of_first(first, second, values, weights, Regression())
    assert found == grid_share(first, second, values, weights, Regression())


def test_share_is_one_half_without_rows_and_near_it_with_few_and_extreme_with_many():
    rng = np.random.default_rng(0)
    task = Regression()
    empty = np.empty((0, 1))
    assert share_of_first(empty, empty, np.empty(0), None, task) == 0.5
    values = rng.normal(size=5000)
    good, bad = (values[:, None] + scale * rng.normal(size=(5000, 1)) for scale in (0.3, 1.0))
    many = share_of_first(good, bad, values, None, task)
    rest = bad - good + values[:, None]  # of about the same errors as `bad`
    few = share_of_first(rest[:20], bad[:20], values[:20], None, task)
    assert abs(few - 0.5) < 0.2
    assert abs(many - 1.0 / 1.09) < 0.02  # weights of inverse variances
    assert share_of_first(values[:, None], bad, values, None, task) == 1.0
    assert share_of_first(good, good, values, None, task) == 0.5
    assert share_of_first(values[:, None], values[:, None], values, None, task) == 0.5


def test_member_of_weight_zero_is_not_kept(monkeypatch):
    X, y = messy_table(300, "numbers")
    monkeypatch.setattr(combination, "share_of_first", lambda *_: 0.0)
    model = ObliqueRegressor(random_state=0).fit(X, y)
    assert [type(each).__name__ for each in model.estimators_] == ["ObliqueBoostingRegressor"]
    assert np.array_equal(model.predict(X), model.estimators_[0].predict(X))
    assert "forest is not kept: its weight is 0" in str(model.members_)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_held_out_rows_are_predicted_with_the_iterations_of_the_other_half(kind):
    X, y = messy_table(300, kind)
    codes = np.unique(y, return_inverse=True)[1] if kind == "classes" else y
    train, test = slice(0, 200), slice(200, 300)
    boosting = BOOSTING[kind](max_iter=60, learning_rate=0.3, early_stopping=False, random_state=0)
    boosting.fit(X[train], y[train])
    stages = boosting.staged_predict_proba if kind == "classes" else boosting.staged_predict
    staged = [np.asarray(each).reshape(100, -1) for each in stages(X[test])]
    task = boosting.fitted_forest_.task
    losses = np.array([task.row_losses(each, codes[test]) for each in staged])
    order = np.argsort(codes[test], kind="stable")
    expected = np.empty_like(staged[0])
    for one, other in ((order[::2], order[1::2]), (order[1::2], order[::2])):
        best = int(losses[:, one].mean(axis=1).argmin())
        expected[other] = staged[best][other]
    from bevel.data.encoding import encode
    from bevel.data.tables import read_table

    rows = encode(read_table(X[test]), boosting.fitted_forest_.encoding)
    found = held_out_columns(boosting.fitted_forest_, rows, codes[test], None, 1)
    assert np.allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_noise_does_not_make_the_loss_of_the_members_too_good(kind):
    """The target is independent of the columns: no honest loss is below that of a constant.

    In-bag rows, or held-out rows that boosting was grown on, would give the members losses far
    below it. Null hypothesis: losses are those of predictions that know nothing of the row.
    """
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 20))
    y = rng.normal(size=2000) if kind == "numbers" else rng.integers(0, 2, 2000)
    record = COMBINED[kind](random_state=0).fit(X, y).members_
    constant = 1.0 if kind == "numbers" else np.log(2.0)
    assert (record.losses > 0.85 * constant).all()
    assert record.n_rows == 400


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_rows_of_weight_zero_are_as_good_as_absent(kind):
    X, y = messy_table(200, kind)
    weights = np.ones(len(y))
    weights[::7] = 0.0
    kept = weights > 0
    with_zeros = COMBINED[kind](random_state=0).fit(X, y, weights)
    without = COMBINED[kind](random_state=0).fit(X[kept], y[kept])
    assert np.array_equal(predictions(with_zeros, X), predictions(without, X))


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_loss_of_boosting_is_a_little_above_the_lowest_of_its_learning_curve(kind):
    """Its trees were not grown on these rows, and each half did not choose its own iterations."""
    X, y = messy_table(600, kind)
    model = COMBINED[kind](random_state=0).fit(X, y)
    halved = 2.0 if kind == "numbers" else 1.0
    lowest = -halved * model.estimators_[-1].validation_score_.max()
    assert lowest * (1.0 - 1e-9) <= model.members_.losses[1] < 1.1 * lowest
