"""Callbacks of scikit-learn: set on estimators, or on what fits them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueIsolationForest,
)

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


class Listener:
    """Writes down the tasks that it is told of, and predicts with the fitted estimator."""

    max_propagation_depth = None

    def __init__(self):
        self.begun, self.ended, self.closed, self.predicted = [], [], 0, None

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):  # noqa: ARG002
        self.closed += 1

    def on_fit_task_begin(self, estimator, context):  # noqa: ARG002
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):  # noqa: ARG002
        self.ended.append(context.task_name)
        if fitted_estimator is not None and X is not None:
            self.predicted = fitted_estimator.predict(X)


@pytest.mark.parametrize(
    ("model", "n_parts"),
    [
        (ObliqueForestClassifier(12, projection="axis", random_state=0), 12),
        (ObliqueBoostingClassifier(max_iter=7, early_stopping=False, random_state=0), 7),
        (ObliqueIsolationForest(9, random_state=0), 9),
        (ObliqueClassifier(quality=1, random_state=0), None),
    ],
)
def test_callbacks_are_told_of_the_fit_and_its_parts(model, n_parts):
    told, listener = [], Listener()
    model = clone(model).set_params(callback=lambda n_done, n_total: told.append((n_done, n_total)))
    y = None if isinstance(model, ObliqueIsolationForest) else Y
    assert model.set_callbacks(listener) is model
    own = model.callback
    model.fit(X, y)
    assert model.callback is own
    assert listener.begun[0] == listener.ended[-1] == "fit"
    assert sorted(listener.begun) == sorted(listener.ended)
    assert listener.closed == 1
    if n_parts is not None:
        assert listener.begun.count("iteration") == n_parts
    assert told
    np.testing.assert_array_equal(listener.predicted, model.predict(X))
    quiet = clone(model).set_params(callback=None).set_callbacks().fit(X, y)
    np.testing.assert_array_equal(quiet.predict(X), model.predict(X))


def test_callbacks_of_a_search_reach_the_estimator():
    listener = Listener()
    model = ObliqueForestClassifier(4, projection="axis", random_state=0)
    search = GridSearchCV(model, {"min_samples_leaf": [1, 2]}, cv=2).set_callbacks(listener)
    search.fit(X, Y)
    assert listener.begun.count("iteration") == 4 * 5  # two values, two folds, and the last fit
    assert not hasattr(search.best_estimator_, "_parent_callback_ctx")


def test_callbacks_are_closed_where_a_fit_fails():
    listener = Listener()
    model = ObliqueForestClassifier(4).set_callbacks(listener)
    with pytest.raises(ValueError, match=r"NaN|missing"):
        model.fit(X, np.full(60, np.nan))
    assert listener.closed == 1
    assert model.callback is None
    assert not hasattr(model, "classes_")
