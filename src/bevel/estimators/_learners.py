"""Base learners of ensembles: any classifier or regressor with scikit-learn's API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils.validation import has_fit_parameter

from bevel._types import AnyFloats, Floats, Ints32
from bevel.data.encoding import Encoding
from bevel.errors import shorten, wrong_type, wrong_value


@dataclass(frozen=True, eq=False)
class CodedClassifier:
    """A fitted classifier of class numbers, some of which may be absent.

    Attributes
    ----------
    model : object
        Classifier fitted on the numbers 0, 1, ... of the classes that its rows had.
    present : ndarray of int32
        Numbers of these classes among all classes.
    """

    model: Any
    present: Ints32

    def probabilities(self, X: AnyFloats, n_classes: int) -> Floats:
        """Probabilities of all classes; zero for those that its rows did not have."""
        shares = np.zeros((len(X), n_classes))
        shares[:, self.present] = self.model.predict_proba(X)
        return shares

    def classes(self, X: AnyFloats) -> Ints32:
        """The number of each row's class."""
        # CatBoost returns a column.
        own = np.asarray(self.model.predict(X)).reshape(len(X))
        return self.present[own.astype(np.intp)]


def check_learner(name: str, learner: Any, *, classifies: bool, proba: bool = False) -> None:
    """Raise unless the object is a learner of the kind that the parameter `name` needs."""
    kind = "classifier" if classifies else "regressor"
    is_kind = is_classifier if classifies else is_regressor
    if isinstance(learner, type) or not hasattr(learner, "get_params") or not is_kind(learner):
        remedy = f"Pass an object such as GradientBoosting{kind.capitalize()}(), or None."
        raise wrong_type(name, f"a {kind} of scikit-learn's kind", learner, remedy)
    if proba and not hasattr(learner, "predict_proba"):
        remedy = "Wrap it in sklearn.calibration.CalibratedClassifierCV."
        raise wrong_type(name, "a classifier with predict_proba", learner, remedy)
    for parameter, value in learner.get_params().items():
        if parameter.rpartition("__")[2] == "class_weight" and isinstance(value, Mapping):
            # Class labels would be mistaken for class numbers.
            remedy = 'Use "balanced", or pass sample_weight to fit.'
            raise wrong_value(f"{name}'s {parameter}", "no dict of labels", value, remedy)


def check_takes_weights(name: str, learner: Any, weights: Floats | None) -> None:
    """Raise if sample weights would be ignored by a learner."""
    if weights is not None and not has_fit_parameter(learner, "sample_weight"):
        raise TypeError(
            f"sample_weight needs learners whose fit takes it; got {shorten(learner)} as {name}. "
            "Leave sample_weight out, or use another learner."
        )


def takes_codes(learner: Any) -> bool:
    """Whether the learner has a parameter for nominal columns."""
    return "categorical_features" in learner.get_params(deep=False)


def make_learner(
    prototype: Any, seed: int, encoding: Encoding | None = None, n_threads: int = 1
) -> Any:
    """Return an unfitted learner with a seed, a number of threads and the nominal columns.

    Parameters
    ----------
    prototype : object
        Learner as given by the user; it is not changed.
    seed : int
        Seed of the learner and of those nested in it.
    encoding : Encoding, default=None
        Encoding of the learner's table, if it has nominal columns as codes.
    n_threads : int, default=1
        Number of threads, unless `n_jobs` is set.
    """
    learner = clone(prototype)
    settings: dict[str, Any] = {}
    parameters = learner.get_params()
    for name, value in parameters.items():
        owner, _, word = name.rpartition("__")
        if word == "random_state":
            settings[name] = seed
        elif (
            word == "n_jobs" and value is None and _takes_all_cores(parameters.get(owner, learner))
        ):
            settings[name] = n_threads
    if takes_codes(learner):
        nominal = sorted(encoding.nominal) if encoding is not None else []
        settings["categorical_features"] = nominal or None
    return learner.set_params(**settings)


def _takes_all_cores(learner: Any) -> bool:
    """Whether `n_jobs=None` means all cores, as in most libraries but not in scikit-learn."""
    return not type(learner).__module__.startswith("sklearn.")


def fit_classifier(learner: Any, X: AnyFloats, codes: Ints32, weights: Floats | None) -> Any:
    """Fit a classifier on class numbers, some of which may be absent or have no weight."""
    X, codes, weights = _without_weightless(X, codes, weights)
    present, own = np.unique(codes, return_inverse=True)
    if len(present) == 1:  # many learners refuse a single class
        learner = DummyClassifier(strategy="prior")
    return CodedClassifier(_fit(learner, X, own, weights), present)


def fit_regressor(learner: Any, X: AnyFloats, y: Floats, weights: Floats | None) -> Any:
    """Fit a regressor; its targets may all be equal, as with a single row."""
    X, y, weights = _without_weightless(X, y, weights)
    if (y == y[0]).all():
        learner = DummyRegressor(strategy="constant", constant=y[0])
    return _fit(learner, X, y, weights)


def _without_weightless(
    X: AnyFloats, y: npt.NDArray[Any], weights: Floats | None
) -> tuple[AnyFloats, npt.NDArray[Any], Floats | None]:
    """Rows of weight above zero, since learners may count or draw the others."""
    if weights is None or weights.all():
        return X, y, weights
    rows = np.flatnonzero(weights)
    if len(rows) == 0:
        raise ValueError(
            "sample_weight must have a weight above zero in every set of rows that a model is "
            f"fitted on; got a fold with {len(weights)} training rows of weight zero. Use fewer "
            "folds, or leave out rows of weight zero."
        )
    return X[rows], y[rows], weights[rows]


def _fit(learner: Any, X: AnyFloats, y: npt.NDArray[Any], weights: Floats | None) -> Any:
    """Fit any learner, with weights if there are any."""
    return learner.fit(X, y) if weights is None else learner.fit(X, y, sample_weight=weights)
