"""How boosting chooses its number of iterations by default, and fits all rows again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor
from bevel.estimators import boosting


def test_default_fit_is_a_fit_of_all_rows_with_the_iterations_that_held_out_rows_chose() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = ObliqueBoostingRegressor(random_state=3).fit(X, y)
    stopped = ObliqueBoostingRegressor(
        random_state=3,
        early_stopping=True,
        refit=False,
        validation_fraction=0.2,
        learning_rate=0.1,
    ).fit(X, y)
    assert model.n_iter_ == round(1.5 * stopped.n_iter_ * 0.1 / 0.03)
    whole = ObliqueBoostingRegressor(
        random_state=3, early_stopping=False, max_iter=model.n_iter_, learning_rate=0.03
    ).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    np.testing.assert_array_equal(model.validation_score_, stopped.validation_score_)
    np.testing.assert_array_equal(model.train_score_, whole.train_score_)
    width = np.diff(model.predict_interval(X), axis=1)
    np.testing.assert_allclose(width, np.diff(stopped.predict_interval(X), axis=1))


@pytest.mark.parametrize(
    "settings",
    [
        {"max_iter": 7},
        {"refit": False, "max_iter": 7},
        {"early_stopping": False, "max_iter": 7},
        {"warm_start": True, "max_iter": 7},
    ],
)
def test_number_of_iterations_that_is_given_is_kept(settings: dict[str, Any]) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = ObliqueBoostingClassifier(random_state=0, **settings).fit(X, y)
    assert model.n_iter_ == 7
    assert len(model.validation_score_) == 0


def test_few_rows_and_classes_of_one_row_are_fitted_without_holding_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    few = ObliqueBoostingRegressor(random_state=0).fit(X[:99], X[:99, 0])
    assert len(few.validation_score_) == 0
    y = np.where(X[:, 0] > 0, 1, 0)
    y[0] = 2
    rare = ObliqueBoostingClassifier(random_state=0).fit(X, y)
    assert len(rare.validation_score_) == 0
    assert rare.n_iter_ == 200


def test_loss_without_values_is_fitted_without_holding_out() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = ObliqueBoostingRegressor(lambda y, raw: (raw - y, np.ones_like(y))).fit(X, y)
    assert model.n_iter_ == 1000


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"early_stopping": False}, "held out itself; got it with early_stopping=False"),
        ({"warm_start": True}, "warm_start"),
    ],
)
def test_refit_that_cannot_be_honoured_raises(settings: dict[str, Any], words: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match=words):
        ObliqueBoostingRegressor(refit=True, **settings).fit(X, y)
    with pytest.raises(ValueError, match="got it with X_val"):
        ObliqueBoostingRegressor(refit=True).fit(X, y, X_val=X, y_val=y)


@pytest.mark.parametrize("rate", [0.2, "auto"])
def test_classifier_and_rate_that_is_given_have_one_rate(rate: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = ObliqueBoostingClassifier(random_state=3, learning_rate=rate).fit(X, y)
    first = len(model.validation_score_)
    whole = ObliqueBoostingClassifier(
        random_state=3, early_stopping=False, max_iter=model.n_iter_, learning_rate=rate
    ).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    assert model.n_iter_ == round(1.5 * (int(np.argmax(model.validation_score_)) + 1))
    assert first > 0


def _problem(oblique: bool) -> tuple[Any, Any]:
    """Targets that follow a difference of two columns, or single columns in steps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 15))
    steps = np.round(2 * X[:, 0]) + np.round(2 * X[:, 1]) * (X[:, 2] > 0)
    signal = np.sin(3 * (X[:, 0] - X[:, 1])) if oblique else steps
    return X, signal + 0.1 * rng.normal(size=900)


def _cuts_combinations(model: Any) -> bool:
    return bool((np.diff(model.forest_.entry_offset) > 1).any())


@pytest.mark.parametrize("oblique", [False, True])
def test_held_out_rows_choose_between_combinations_and_single_features(oblique: bool) -> None:
    X, y = _problem(oblique)
    model = ObliqueBoostingRegressor(random_state=0).fit(X, y)
    assert _cuts_combinations(model) == oblique
    chosen = ["axis", ("sparse", 75)] if oblique else "axis"
    known = ObliqueBoostingRegressor(random_state=0, projection=chosen, scale="minmax").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), known.predict(X))
    np.testing.assert_array_equal(model.validation_score_, known.validation_score_)


def test_single_features_are_tried_where_rows_validate_a_default_regression() -> None:
    X, y = _problem(oblique=False)
    given = {"random_state": 0, "max_iter": 150}
    rows = {"X_val": X[:200], "y_val": y[:200]}
    validated = ObliqueBoostingRegressor(**given).fit(X[200:], y[200:], **rows)
    assert not _cuts_combinations(validated)
    assert not _cuts_combinations(ObliqueBoostingRegressor(**given, early_stopping=True).fit(X, y))
    for others in ({"early_stopping": False}, {"early_stopping": True, "warm_start": True}):
        assert _cuts_combinations(ObliqueBoostingRegressor(**given, **others).fit(X, y))
    labels = y > 0
    assert _cuts_combinations(
        ObliqueBoostingClassifier(**given, early_stopping=True).fit(X, labels)
    )


@pytest.mark.parametrize("nth", [2, 3])  # single features alone; all rows
def test_interrupted_later_fit_keeps_the_one_before_and_raises(
    monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    X, y = load_diabetes(return_X_y=True)
    boost, calls = boosting.boost, []

    def interrupted(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == nth:
            raise KeyboardInterrupt
        return boost(*given)

    monkeypatch.setattr(boosting, "boost", interrupted)
    model = ObliqueBoostingRegressor(random_state=3)
    with pytest.raises(KeyboardInterrupt, match="can predict by them"):
        model.fit(X, y)
    monkeypatch.undo()
    stopped = ObliqueBoostingRegressor(
        random_state=3, early_stopping=True, validation_fraction=0.2, learning_rate=0.1
    ).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), stopped.predict(X))
