"""Common calls of the documents of LightGBM, XGBoost and CatBoost with the class name changed: each
works, or is answered as the table of docs/coming_from/boosting_libraries.md says.
"""

import functools
import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueForestClassifier,
)

PAGE = Path(__file__).parents[3] / "docs/coming_from/boosting_libraries.md"


@functools.cache
def surroundings():
    """What the calls name: a small table, its classes, and fitted models."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"dose": rng.normal(size=80), "site": rng.choice(["a", "b"], 80)})
    y = np.where(X["dose"] + rng.normal(size=80) > 0, 1, 0)
    X["age"] = rng.normal(size=80)
    return {
        "X": X[:60],
        "y": y[:60],
        "X_val": X[60:],
        "y_val": y[60:],
        "weights": np.ones(60),
        "Classifier": functools.partial(ObliqueBoostingClassifier, random_state=0),
        "Regressor": ObliqueBoostingRegressor,
        "classifier": ObliqueBoostingClassifier(max_iter=5, random_state=0).fit(X, y),
    }


def answer_to(call):
    """What a call answers, without the name of the class: "works", or the remedy of its error."""
    try:
        eval(call, dict(surroundings()))
    except (AttributeError, TypeError) as error:
        return str(error).split(". ", 1)[1].replace("\n", " ")
    return "works"


def rows_of_the_table():
    cells = [line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines()]
    return [(row[1].strip("`"), row[2]) for row in cells if row[0] in LIBRARIES and len(row) == 3]


LIBRARIES = ("LightGBM", "XGBoost", "CatBoost")


@pytest.mark.parametrize(("call", "answer"), rows_of_the_table())
def test_calls_of_the_boosting_libraries_answer_what_the_page_says(call, answer):
    assert answer_to(call) == answer


def test_the_page_has_the_common_calls():
    assert len(rows_of_the_table()) >= 30


@pytest.mark.parametrize("model", [ObliqueForestClassifier(3), ObliqueClassifier(quality=1)])
def test_arguments_of_predict_are_answered_by_forests_too(model):
    X, y = surroundings()["X"], surroundings()["y"]
    model.fit(X, y)
    with pytest.raises(TypeError, match=r"All trees predict"):
        model.predict(X, num_iteration=3)
    with pytest.raises(TypeError, match=r"apply\(X\)"):
        model.predict_proba(X, pred_leaf=True)


def test_attributes_of_other_libraries_are_missing_and_answered():
    model = surroundings()["classifier"]
    assert not hasattr(model, "best_iteration")
    assert not hasattr(ObliqueForestClassifier(), "estimators_")
    with pytest.raises(AttributeError, match="It is called best_iteration_ here"):
        model.get_best_iteration()
    with pytest.raises(AttributeError, match="no iterations"):
        ObliqueForestClassifier().evals_result()


def test_other_missing_attributes_have_the_message_of_python_and_properties_their_own():
    with pytest.raises(AttributeError, match="object has no attribute 'nothing'"):
        _ = ObliqueForestClassifier().nothing

    class Odd(ObliqueForestClassifier):
        @property
        def broken(self):
            raise AttributeError("of the property")

    with pytest.raises(AttributeError, match="of the property"):
        _ = Odd().broken


def test_methods_that_answer_arguments_keep_their_signatures():
    taken = inspect.signature(ObliqueBoostingClassifier.predict).parameters
    assert list(taken) == ["self", "X", "n_iterations"]
    model = clone(surroundings()["classifier"])
    assert not hasattr(model, "classes_")
