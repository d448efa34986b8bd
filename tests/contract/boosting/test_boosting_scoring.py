"""Early stopping of boosting by a scorer of scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import get_scorer, make_scorer

import bevel
from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
SIGNAL = X[:, 0] + X[:, 1] * X[:, 2]
NOISE = 0.7 * RNG.normal(size=300)
LABELS = np.where(SIGNAL + NOISE > 0, "yes", "no")
THREE = np.digitize(SIGNAL + NOISE, [-0.5, 0.5])
VALUES = SIGNAL + NOISE
TRAIN, OTHER = slice(0, 200), slice(200, None)
SETTINGS: dict[str, Any] = {
    "max_iter": 60,
    "n_iter_no_change": 5,
    "learning_rate": 0.3,
    "random_state": 0,
}
CASES = [
    (ObliqueBoostingClassifier, LABELS, "roc_auc"),
    (ObliqueBoostingClassifier, LABELS, None),
    (ObliqueBoostingClassifier, LABELS, "average_precision"),
    (ObliqueBoostingClassifier, THREE, "neg_log_loss"),
    (ObliqueBoostingClassifier, THREE, "roc_auc_ovr"),
    (ObliqueBoostingRegressor, VALUES, "neg_mean_absolute_error"),
    (ObliqueBoostingRegressor, VALUES, None),
]


def refitted(kind: Any, n_iter: int, y: Any, weights: Any) -> Any:
    settings = {**SETTINGS, "max_iter": n_iter, "early_stopping": False}
    return kind(**settings).fit(X[TRAIN], y[TRAIN], sample_weight=weights)


@pytest.mark.parametrize(("kind", "y", "scoring"), CASES)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_validation_scores_are_those_of_the_scorer(
    kind: Any, y: Any, scoring: str | None, is_weighted: bool
) -> None:
    if is_weighted and y.dtype.kind == "U" and scoring == "average_precision":
        y = (y == "yes").astype(int)
    extra = {"pos_label": "yes"} if scoring == "average_precision" and y.dtype.kind == "U" else {}
    scorer = get_scorer(scoring or ("accuracy" if kind is CASES[0][0] else "r2"))
    if extra:
        scorer = make_scorer(scorer._score_func, response_method=("decision_function",), **extra)
    weights = np.random.default_rng(1).integers(0, 3, 100) + 0.0 if is_weighted else None
    of_training = np.ones(200) if is_weighted else None
    model = kind(scoring=scorer if extra else scoring, **SETTINGS)
    model.fit(
        *(X[TRAIN], y[TRAIN], of_training),
        X_val=X[OTHER],
        y_val=y[OTHER],
        sample_weight_val=weights,
    )
    given = {} if weights is None else {"sample_weight": weights}
    for n_iter in (1, len(model.validation_score_)):
        plain = refitted(kind, n_iter, y, of_training)
        expected = scorer(plain, X[OTHER], y[OTHER], **given)
        assert model.validation_score_[n_iter - 1] == pytest.approx(expected, abs=1e-12)
    assert model.n_iter_ == np.argmax(model.validation_score_) + 1
    assert len(model.validation_score_) in (model.n_iter_ + 5, 60)


def test_log_loss_as_a_scorer_stops_where_the_loss_does() -> None:
    fits = [
        ObliqueBoostingClassifier(scoring=scoring, early_stopping=True, **SETTINGS).fit(X, THREE)
        for scoring in ("loss", "neg_log_loss")
    ]
    assert fits[0].n_iter_ == fits[1].n_iter_
    np.testing.assert_allclose(fits[0].validation_score_, fits[1].validation_score_, rtol=1e-9)


def test_held_out_rows_of_a_frame_reach_the_scorer_as_they_were_given() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    seen: list[Any] = []

    def scorer(model: Any, rows: Any, truth: Any) -> float:
        seen.append(rows)
        assert set(truth) <= {"no", "yes"}
        assert model.predict_proba(rows).shape == (len(rows), 2)
        return float(np.mean(model.predict(rows) == truth))

    model = ObliqueBoostingClassifier(scoring=scorer, random_state=0, max_iter=3)
    model.fit(frame, LABELS)  # "auto" holds rows out, because a scorer needs some
    assert len(model.validation_score_) == 3
    assert list(seen[0].columns) == list("abcd")
    assert seen[0].index.isin(frame.index).all()


def test_function_needs_no_losses_if_a_scorer_stops() -> None:
    def squared(y: Any, raw: Any) -> tuple[Any, Any]:
        return raw - y, np.ones_like(y)

    settings = {**SETTINGS, "early_stopping": True, "scoring": "r2"}
    model = ObliqueBoostingRegressor(squared, **settings).fit(X, VALUES)
    assert model.validation_score_.max() > 0.3


def test_a_scorer_is_not_saved(tmp_path: Path) -> None:
    model = ObliqueBoostingRegressor(scoring=get_scorer("r2"), random_state=0, max_iter=3)
    with pytest.warns(UserWarning, match="scoring will be the default"):
        model.fit(X, VALUES).save(tmp_path / "m.bevel")
    loaded = bevel.load(tmp_path / "m.bevel")
    assert loaded.scoring == "loss"
    np.testing.assert_array_equal(loaded.validation_score_, model.validation_score_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scoring": "no_such"}, "scoring must be .*get_scorer_names.*got 'no_such'"),
        ({"scoring": lambda *_: np.nan}, "must return a finite number; got nan"),
        ({"scoring": lambda m, rows, _: m.predict(rows[:2])[0]}, "predictions of all the rows"),
        ({"scoring": 3}, "scoring must be"),
        ({"scoring": "neg_log_loss"}, "nothing of the model but predict; got .*predict_proba"),
        ({"scoring": "roc_auc"}, "nothing of the model but predict; got .*decision_function"),
    ],
)
def test_scorers_that_cannot_be_used_are_refused(settings: Any, message: str) -> None:
    model = ObliqueBoostingRegressor(random_state=0, max_iter=5).set_params(**settings)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, VALUES)


def test_bar_shows_the_validation_score(capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"random_state": 0, "verbose": 1, "learning_rate": 0.01, "max_iter": 1000}
    ObliqueBoostingClassifier(scoring="roc_auc", **settings).fit(X, LABELS)
    assert "validation score 0." in capsys.readouterr().err
    ObliqueBoostingRegressor(early_stopping=True, **settings).fit(X, VALUES)
    text = capsys.readouterr().err
    assert "validation loss 0." in text
