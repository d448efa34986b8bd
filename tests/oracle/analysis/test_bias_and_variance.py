"""Bias and variance beside the definitions of James, written as loops over all predictions, and
beside a learner whose bias and variance are known."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from bevel import ObliqueForestClassifier
from bevel.analysis import bias_and_variance, hellinger_distance
from bevel.analysis.accuracy.bias_variance import class_effects
from bevel.datasets import trunk


def posterior_of_trunk(X):
    mean = 1.0 / np.sqrt(np.arange(1, X.shape[1] + 1))
    one = 1.0 / (1.0 + np.exp(-2.0 * X @ mean))
    return np.column_stack((1.0 - one, one))


def predictions_of_repeats(estimator, sampler, X_test, n_repeats, seed):
    """All predictions and probabilities, drawing as `bias_and_variance` promises to."""
    rng = np.random.default_rng(seed)
    classes, shares = [], []
    for _ in range(n_repeats):
        X, y = sampler(random_state=rng)
        fitted = clone(estimator).set_params(random_state=int(rng.integers(2**31))).fit(X, y)
        classes.append(fitted.predict(X_test))
        shares.append(fitted.predict_proba(X_test))
    return np.array(classes), np.array(shares)


def test_effects_of_classes_are_those_of_james():
    n_repeats = 12
    X_test, y_test = trunk(150, 3, random_state=1)
    posterior = posterior_of_trunk(X_test)
    tree, sampler = DecisionTreeClassifier(max_depth=3), partial(trunk, 30, 3)
    h, shares = predictions_of_repeats(tree, sampler, X_test, n_repeats, 5)
    result = bias_and_variance(
        tree,
        sampler,
        X_test=X_test,
        y_test=y_test,
        truth=posterior,
        n_repeats=n_repeats,
        random_state=5,
    )
    bias = variance = systematic = effect = error = 0.0
    squared = squared_bias = 0.0
    for row in range(150):
        p = posterior[row]
        counts = [int(np.sum(h[:, row] == k)) for k in (0, 1)]
        usual, best = int(counts[1] > counts[0]), int(p[1] > p[0])
        bias += usual != best
        variance += 1 - counts[usual] / n_repeats
        systematic += p[best] - p[usual]
        effect += p[usual] - sum(p[k] * counts[k] / n_repeats for k in (0, 1))
        error += np.mean([1.0 - p[k] for k in h[:, row]])
        for k in (0, 1):
            squared += np.mean([p[k] * (1 - s) ** 2 + (1 - p[k]) * s**2 for s in shares[:, row, k]])
            squared_bias += (np.mean(shares[:, row, k]) - p[k]) ** 2
    of = result.classes
    assert of.bias == pytest.approx(bias / 150)
    assert of.variance == pytest.approx(variance / 150)
    assert of.systematic_effect == pytest.approx(systematic / 150)
    assert of.variance_effect == pytest.approx(effect / 150)
    assert of.error == pytest.approx(error / 150)
    assert result.squared_bias == pytest.approx(squared_bias / 150)
    assert result.squared_error == pytest.approx(squared / 150)


class Coin(ClassifierMixin, BaseEstimator):
    """Predicts the sign of the first feature, but the other class in a share q of cases."""

    def __init__(self, q=0.2, random_state=None):
        self.q = q
        self.random_state = random_state

    def fit(self, _X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        other = np.random.default_rng(self.random_state).random(len(X)) < self.q
        return (X[:, 0] > 0).astype(int) ^ other


def test_a_learner_that_flips_coins_has_the_variance_of_the_coin():
    """Null: P(Y = 1 | x) = 0.9 or 0.1 by the sign of x, predictions turned with q = 0.2. Then bias
    and systematic effect are 0, variance is q and variance effect q (0.9 − 0.1). 200 rows are
    judged 101 times, independently: z-test of the variance, false alarms one in a million."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    one = np.where(X[:, 0] > 0, 0.9, 0.1)
    result = bias_and_variance(
        Coin(),
        lambda random_state: (X, random_state.integers(0, 2, 200)),
        X_test=X,
        y_test=(rng.random(200) < one).astype(int),
        truth=np.column_stack((1 - one, one)),
        n_repeats=101,
        random_state=1,
    )
    of = result.classes
    assert (of.bias, of.systematic_effect) == (0.0, 0.0)
    assert of.bayes_error == pytest.approx(0.1)
    assert of.variance_effect == pytest.approx(0.8 * of.variance)
    spread = np.sqrt(0.2 * 0.8 / (200 * 101))
    assert abs(of.variance - 0.2) < 4.9 * spread
    # Of zeros and ones the squared variance is q (1 − q), for each of two classes.
    assert result.variance == pytest.approx(2 * 0.2 * 0.8, abs=0.02)


def test_bias_of_a_line_on_a_parabola_is_what_the_line_cannot_bend():
    """Targets x² + noise with x uniform on (−1, 1): the best line is 1/3, its squared bias
    E(x² − 1/3)² = 4/45, that of finite lines nearby; variance of OLS about 2 (4/45 + σ²)/n."""
    grid = np.linspace(-1, 1, 401)[:, None]

    def draw(random_state):
        x = random_state.uniform(-1, 1, (100, 1))
        return x, x[:, 0] ** 2 + random_state.normal(0, 0.1, 100)

    result = bias_and_variance(
        LinearRegression(), draw, X_test=grid, y_test=grid[:, 0] ** 2, random_state=0
    )
    assert result.classes is None
    assert result.squared_bias == pytest.approx(4 / 45, rel=0.05)
    assert result.variance == pytest.approx(2 * (4 / 45 + 0.01) / 100, rel=0.5)
    assert result.squared_error == result.squared_bias + result.variance


def test_rows_that_are_left_out_are_evaluated_by_models_not_fitted_to_them():
    X, y = trunk(60, 4, random_state=0)

    class Memory(Coin):
        def fit(self, X, y):
            self.seen_ = {tuple(row) for row in X}
            return super().fit(X, y)

        def predict(self, X):
            assert not self.seen_ & {tuple(row) for row in X}
            return super().predict(X)

    result = bias_and_variance(Memory(), X, y, n_train=0.8, n_repeats=30, random_state=0)
    assert result.n_rows == 60
    assert result.classes.bayes_error == 0.0
    assert result.classes.bias == result.classes.systematic_effect


def test_frames_with_nominal_columns_give_the_same_result_twice():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=50), "b": pd.Categorical(rng.choice(["u", "v"], 50))})
    y = np.where((X["a"] > 0) == (X["b"] == "u"), "yes", "no")
    learner = ObliqueForestClassifier(5)
    one, other = (bias_and_variance(learner, X, y, n_repeats=4, random_state=3) for _ in range(2))
    assert one == other
    assert not hasattr(learner, "classes_")
    assert learner.random_state is None
    assert "error" in repr(one)


def test_classes_that_a_training_set_lacks_have_probability_zero():
    X = np.arange(40.0)[:, None]
    y = np.repeat([0, 1, 2, 3], [20, 18, 1, 1])
    result = bias_and_variance(
        DecisionTreeClassifier(), X, y, n_train=10, n_repeats=20, random_state=0
    )
    assert result.squared_error == pytest.approx(
        result.squared_bias + result.variance
    )  # no noise: labels are taken for certain
    assert result.n_rows == 40


def test_equally_probable_classes_are_no_bias():
    of = class_effects(np.array([[0.0, 1.0]]), np.array([[0.5, 0.5]]))
    assert (of.bias, of.systematic_effect, of.error) == (0.0, 0.0, 0.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_repeats": 0}, "n_repeats must be an integer of at least 1"),
        ({"X_test": np.zeros((3, 2))}, "given together"),
        ({"truth": np.ones((20, 2)) / 2}, "needs X_test and y_test"),
        ({"n_train": 20}, "n_train must be from 1 to 19 rows"),
        ({"n_train": 1.0}, "n_train must be from 1 to 19 rows"),
        ({"y": np.zeros(7)}, "y must be one target for each row of X"),
        ({"X": lambda **_: None}, "needs X_test and y_test"),
        (
            {"X_test": np.zeros((3, 2)), "y_test": [0, 1, 1], "truth": [[0.5, 0.6]] * 3},
            "truth must be rows of probabilities",
        ),
        (
            {"X_test": np.zeros((3, 2)), "y_test": [0, 1, 1], "truth": [[0.5, 0.5]] * 2},
            r"truth must be of shape \(3, 2\)",
        ),
    ],
)
def test_bias_and_variance_refuse_what_makes_no_sense(changes, message):
    X, y = trunk(20, 2, random_state=0)
    asked = {"X": X, "y": y, "n_repeats": 2} | changes
    with pytest.raises(ValueError, match=message):
        bias_and_variance(DecisionTreeClassifier(), **asked)


def test_hellinger_distance_is_that_of_the_bhattacharyya_coefficient():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(4), (2, 50))
    overlap = np.array(
        [sum(np.sqrt(a * b) for a, b in zip(*rows, strict=True)) for rows in zip(p, q, strict=True)]
    )
    np.testing.assert_allclose(hellinger_distance(p, q), np.sqrt(1 - overlap))
    assert hellinger_distance(p, p).max() == 0.0


@pytest.mark.parametrize(
    ("estimate", "message"),
    [
        ([0.5, 0.5], r"of shape \(n_rows, n_classes\)"),
        ([[0.5, 0.4]], "summing to one"),
        ([[1.5, -0.5]], "not negative"),
        ([[np.nan, 1.0]], "not negative"),
        ([[0.5, 0.5], [1.0, 0.0]], "as estimate"),
    ],
)
def test_hellinger_distance_refuses_what_is_no_distribution(estimate, message):
    with pytest.raises(ValueError, match=message):
        hellinger_distance(estimate, [[0.5, 0.5]])


class Fickle(ClassifierMixin, BaseEstimator):
    """Says "b" or "c" to all rows, by its seed, with probability 0.8; the rest goes to "a"."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.array(["a", "b", "c"])
        self.said_ = "ccb"[self.random_state % 3]
        return self

    def predict(self, X):
        return np.full(len(X), self.said_)

    def predict_proba(self, X):
        shares = 0.8 * (self.classes_ == self.said_) + 0.2 * (self.classes_ == "a")
        return np.tile(shares, (len(X), 1))


def test_predicted_classes_that_no_evaluated_row_has_count_as_wrong_predictions():
    X = np.zeros((40, 1))
    y = np.repeat(["a", "b"], 20)
    result = bias_and_variance(Fickle(), X, y, X_test=X, y_test=y, n_repeats=30, random_state=3)
    rng = np.random.default_rng(3)
    said = []
    for _ in range(30):
        rng.permutation(40)
        said.append("ccb"[int(rng.integers(2**31)) % 3])
    shares = np.array([[0.2 + 0.8 * (s == "a"), 0.8 * (s == "b"), 0.8 * (s == "c")] for s in said])
    often = said.count("c") / 30
    assert 0.5 < often < 1.0
    assert result.classes.bias == 1.0  # the usual answer is "c"
    assert result.classes.variance == pytest.approx(1.0 - often)
    assert result.classes.error == pytest.approx(1.0 - (1.0 - often) / 2)
    true = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    brier = ((shares[:, None] - true) ** 2).sum(axis=2).mean()
    assert result.squared_error == pytest.approx(brier)
    assert result.variance == pytest.approx(shares.var(axis=0).sum())
