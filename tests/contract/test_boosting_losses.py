"""Losses of boosting: the library's against plain formulas, and the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.support.plain_boosting import check_leaf_steps

import bevel
from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor

Floats = npt.NDArray[np.float64]
SETTINGS: dict[str, Any] = {"max_iter": 8, "random_state": 0, "learning_rate": 0.3}


def _table(n: int = 300, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.exp(0.5 * np.nan_to_num(X[:, 0])) * rng.gamma(2.0, 0.5, n) + 0.01
    return X, y


def squared(y: Floats, raw: Floats) -> tuple[Floats, Floats, Floats]:
    return raw - y, np.ones_like(y), 0.5 * (raw - y) ** 2


def log_cosh(y: Floats, raw: Floats) -> tuple[Floats, Floats, Floats]:
    slope = np.tanh(raw - y)
    return slope, 1.0 - slope**2, np.log(np.cosh(raw - y))


def _leaf_sums(model: Any, X: Floats, weights: Floats, gradients: Any) -> None:
    """Every leaf of every tree is the Newton step of its rows."""

    def weighted(raw: Floats) -> tuple[Floats, Floats]:
        gradient, hessian = gradients(raw)
        return weights * gradient, weights * hessian

    check_leaf_steps(model, X, weighted)


FORMULAS = {
    "squared_error": lambda y, raw: (raw - y, np.ones_like(y)),
    "poisson": lambda y, raw: (np.exp(raw) - y, np.exp(raw)),
    "gamma": lambda y, raw: (1.0 - y * np.exp(-raw), y * np.exp(-raw)),
}


@pytest.mark.parametrize("loss", FORMULAS)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_leaves_are_newton_steps_of_their_rows(loss: str, is_weighted: bool) -> None:
    X, y = _table()
    weights = np.random.default_rng(1).integers(0, 3, len(y)) + 0.0 if is_weighted else None
    model = ObliqueBoostingRegressor(loss, **SETTINGS).fit(X, y, sample_weight=weights)
    weights = np.ones(len(y)) if weights is None else weights
    _leaf_sums(model, X, weights, lambda raw: FORMULAS[loss](y, raw))


@pytest.mark.parametrize(("loss", "share"), [("absolute_error", 0.5), ("quantile", 0.8)])
def test_leaves_of_quantile_losses_are_quantiles_of_residuals(loss: str, share: float) -> None:
    X, y = _table()
    quantile = share if loss == "quantile" else None
    model = ObliqueBoostingRegressor(loss, quantile=quantile, **SETTINGS).fit(X, y)
    forest, leaves = model.forest_, model.apply(X)
    raw = np.full(len(X), model.baseline_prediction_[0])
    assert raw[0] == np.sort(y)[int(np.ceil(share * len(y))) - 1]
    for tree in range(forest.n_trees):
        first = forest.tree_offset[tree]
        for leaf in np.unique(leaves[:, tree]):
            rest = np.sort((y - raw)[leaves[:, tree] == leaf])
            expected = rest[int(np.ceil(share * len(rest))) - 1]
            assert forest.leaf_value[first + leaf] == pytest.approx(0.3 * expected, rel=1e-12)
        raw = raw + forest.leaf_value[first + leaves[:, tree]]


def test_leaves_of_huber_loss_step_from_the_median() -> None:
    X, y = _table()
    model = ObliqueBoostingRegressor("huber", **SETTINGS).fit(X, y)
    forest, leaves = model.forest_, model.apply(X)
    raw = np.full(len(X), model.baseline_prediction_[0])
    for tree in range(forest.n_trees):
        sizes = np.sort(np.abs(y - raw))
        delta = sizes[int(np.ceil(0.9 * len(y))) - 1]
        first = forest.tree_offset[tree]
        for leaf in np.unique(leaves[:, tree]):
            rest = np.sort((y - raw)[leaves[:, tree] == leaf])
            median = rest[int(np.ceil(0.5 * len(rest))) - 1]
            step = median + np.clip(rest - median, -delta, delta).mean()
            assert forest.leaf_value[first + leaf] == pytest.approx(0.3 * step, rel=1e-9)
        raw = raw + forest.leaf_value[first + leaves[:, tree]]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_squared_error_as_a_function_gives_the_bits_of_the_library(n_jobs: int) -> None:
    X, y = _table(3000)
    weights = np.random.default_rng(2).random(len(y))
    settings = {**SETTINGS, "subsample": 0.7, "n_jobs": n_jobs}
    own = ObliqueBoostingRegressor(squared, **settings).fit(X, y, sample_weight=weights)
    known = ObliqueBoostingRegressor(**settings).fit(X, y, sample_weight=weights)
    assert own.baseline_prediction_[0] == pytest.approx(known.baseline_prediction_[0], rel=1e-12)
    np.testing.assert_allclose(own.predict(X), known.predict(X), rtol=1e-9)
    np.testing.assert_allclose(own.train_score_, known.train_score_, rtol=1e-9)


def test_loss_of_the_user_is_minimised_and_stops_early() -> None:
    X, y = _table(400)
    model = ObliqueBoostingRegressor(
        log_cosh, early_stopping=True, n_iter_no_change=5, random_state=0, learning_rate=0.3
    ).fit(X, y)
    assert len(model.validation_score_) == model.n_iter_ + 5
    losses = log_cosh(y, model.predict(X))[2]
    constant = log_cosh(y, np.full(len(y), model.baseline_prediction_[0]))
    assert losses.mean() < 0.8 * constant[2].mean()
    assert abs(constant[0].mean()) < 0.1  # baseline of nine tenths of the rows


def test_warm_start_goes_on_with_the_loss_of_the_user() -> None:
    X, y = _table()
    settings = {**SETTINGS, "max_iter": 4}
    model = ObliqueBoostingRegressor(log_cosh, warm_start=True, **settings).fit(X, y)
    model.set_params(max_iter=8).fit(X, y)
    whole = ObliqueBoostingRegressor(log_cosh, **SETTINGS).fit(X, y)
    np.testing.assert_allclose(model.predict(X), whole.predict(X), rtol=1e-9)
    assert len(model.train_score_) == 8


def test_saved_model_has_no_function_but_its_predictions(tmp_path: Path) -> None:
    X, y = _table()
    model = ObliqueBoostingRegressor(log_cosh, **SETTINGS).fit(X, y)
    with pytest.warns(UserWarning, match="loss will be the default"):
        model.save(tmp_path / "model.bevel")
    loaded = bevel.load(tmp_path / "model.bevel")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.loss == "squared_error"


def _after(calls: int, good: Any, bad: Any) -> Any:
    count = [0]

    def loss(y: Floats, raw: Floats) -> Any:
        count[0] += 1
        return (bad if count[0] > calls else good)(y, raw)

    return loss


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (lambda y, raw: (np.where(y == y[7], np.nan, raw - y), np.ones_like(y)), "finite.*row 7"),
        (lambda y, raw: (raw - y, -np.ones_like(y)), "at least 0; got -1 in row 0"),
        (lambda y, raw: (raw - y, np.zeros_like(y)), "above 0 in some row"),
        (lambda y, raw: (raw[1:] - y[1:], np.ones(len(y))), r"shape \(300,\).*got shape \(299,\)"),
        (lambda y, raw: ((raw - y).mean(), 1.0), r"got shape \(\)"),
        (lambda y, raw: raw - y, "a tuple"),
        (lambda *_: ("a", "b"), "numbers as gradient"),
        (lambda y, raw: (raw - y, np.full(len(y), np.inf)), "hessian.*got inf"),
    ],
)
@pytest.mark.parametrize("calls", [0, 9])
def test_what_a_loss_may_not_return_is_named(bad: Any, words: str, calls: int) -> None:
    X, y = _table()
    with pytest.raises(ValueError, match=words):
        ObliqueBoostingRegressor(_after(calls, log_cosh, bad), max_iter=50).fit(X, y)


def test_error_inside_a_loss_reaches_the_caller() -> None:
    X, y = _table()

    def fails(_y: Floats, _raw: Floats) -> Any:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        ObliqueBoostingRegressor(_after(9, log_cosh, fails), max_iter=50).fit(X, y)


def test_early_stopping_needs_the_values_of_a_loss() -> None:
    X, y = _table()
    with pytest.raises(ValueError, match=r"\(gradient, hessian, loss\)"):
        ObliqueBoostingRegressor(lambda y, raw: log_cosh(y, raw)[:2], early_stopping=True).fit(X, y)
    model = ObliqueBoostingRegressor(lambda y, raw: log_cosh(y, raw)[:2], max_iter=2).fit(X, y)
    assert np.isnan(model.train_score_).all()


def test_loss_cannot_change_targets_and_predictions() -> None:
    def spoils(y: Floats, raw: Floats) -> Any:
        y[0] = 0.0
        return squared(y, raw)

    with pytest.raises(ValueError, match="read-only"):
        ObliqueBoostingRegressor(spoils).fit(*_table())


def test_class_weight_equals_sample_weight() -> None:
    X, y = _table()
    labels = np.digitize(y, [0.5, 1.5])
    by_class = {0: 1.0, 1: 2.0, 2: 0.5}
    one = ObliqueBoostingClassifier(class_weight=by_class, **SETTINGS).fit(X, labels)
    weights = np.array([by_class[label] for label in labels])
    two = ObliqueBoostingClassifier(**SETTINGS).fit(X, labels, sample_weight=weights)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_several_quantiles_are_those_of_single_fits_in_order() -> None:
    X, y = _table()
    levels = [0.2, 0.5, 0.9]
    model = ObliqueBoostingRegressor("quantile", quantile=levels, **SETTINGS).fit(X, y)
    found = model.predict(X)
    assert found.shape == (len(y), 3)
    assert (np.diff(found, axis=1) >= 0.0).all()
    stages = list(model.staged_predict(X))
    np.testing.assert_array_equal(stages[-1], found)
    single = ObliqueBoostingRegressor("quantile", quantile=0.2, **SETTINGS).fit(X, y)
    raw = model._raw(X)
    np.testing.assert_array_equal(raw[:, 0], single.predict(X))
    rest = y[:, np.newaxis] - raw
    pinball = np.maximum(levels * rest, (np.array(levels) - 1.0) * rest)
    assert -model.train_score_[-1] == pytest.approx(pinball.mean(), rel=1e-9)
    with pytest.raises(ValueError, match="d2_pinball_score"):
        model.score(X, y)


@pytest.mark.parametrize("quantile", [[], [0.5, 0.2], [0.1, 0.1], [0.0, 0.5], [0.5, 1.0], "ab"])
def test_quantiles_must_ascend_between_zero_and_one(quantile: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="ascending"):
        ObliqueBoostingRegressor("quantile", quantile=quantile).fit(*_table())


def logistic_loss(y: Floats, raw: Floats) -> tuple[Floats, Floats, Floats]:
    share = 1.0 / (1.0 + np.exp(-raw))
    return share - y, share * (1.0 - share), np.logaddexp(0.0, raw) - y * raw


def softmax_loss(y: Floats, raw: Floats) -> tuple[Floats, Floats, Floats]:
    shares = np.exp(raw - raw.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    n = raw.shape[1]
    is_class = np.eye(n)[y.astype(int)]
    hessian = shares * (1.0 - shares) * n / (n - 1)
    return shares - is_class, hessian, -np.log((shares * is_class).sum(axis=1))


@pytest.mark.parametrize(("loss", "n_classes"), [(logistic_loss, 2), (softmax_loss, 3)])
def test_log_loss_as_a_function_gives_the_classifier_of_the_library(
    loss: Any, n_classes: int
) -> None:
    X, y = _table(600)
    labels = np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, [0.4, 0.7])[: n_classes - 1])]
    settings = {**SETTINGS, "early_stopping": True, "n_iter_no_change": 3}
    own = ObliqueBoostingClassifier(loss, **settings).fit(X, labels)
    known = ObliqueBoostingClassifier(**settings).fit(X, labels)
    assert own.predict_proba(X).shape == (600, n_classes)
    np.testing.assert_allclose(own.predict_proba(X), known.predict_proba(X), rtol=1e-6)
    np.testing.assert_allclose(own.validation_score_, known.validation_score_, rtol=1e-6)
    np.testing.assert_array_equal(own.predict(X), known.predict(X))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda _, raw: (raw[:, 0], raw[:, 0]), r"gradient of shape \(300, 3\).*row and class"),
        (lambda _, raw: (raw, np.ones_like(raw), raw), r"loss of shape \(300,\)"),
        (lambda _, raw: (raw, raw - 1.0), "hessians of at least 0; got -1 in row 0"),
        (lambda _, raw: (raw / 0.0, np.ones_like(raw)), "finite numbers as gradient"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_losses_of_several_classes_are_checked(given: Any, message: str) -> None:
    X, y = _table()
    labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    with pytest.raises(ValueError, match=message):
        ObliqueBoostingClassifier(given, early_stopping=False, max_iter=3).fit(X, labels)
