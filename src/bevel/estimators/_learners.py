"""The learners that an ensemble is made of: any classifier or regressor of scikit-learn's kind."""

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
    """A fitted classifier whose classes are numbers, perhaps not all of them.

    Attributes
    ----------
    model : object
        Fitted on the numbers 0, 1, ... of the classes that its rows had.
    present : ndarray of int32
        The numbers of these classes among all.
    """

    model: Any
    present: Ints32

    def probabilities(self, X: AnyFloats, n_classes: int) -> Floats:
        """Of all classes; zero for those that its rows did not have."""
        shares = np.zeros((len(X), n_classes))
        shares[:, self.present] = self.model.predict_proba(X)
        return shares

    def classes(self, X: AnyFloats) -> Ints32:
        """The number of each row's class."""
        # CatBoost returns a column.
        own = np.asarray(self.model.predict(X)).reshape(len(X))
        return self.present[own.astype(np.intp)]


def check_learner(name: str, learner: Any, *, classifies: bool, proba: bool = False) -> None:
    """Refuse what is no learner of the kind that the parameter `name` needs."""
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
            # Labels would be taken for the numbers of classes.
            remedy = 'Use "balanced", or pass sample_weight to fit.'
            raise wrong_value(f"{name}'s {parameter}", "no dict of labels", value, remedy)


def check_takes_weights(name: str, learner: Any, weights: Floats | None) -> None:
    """Refuse sample weights that a learner would have to ignore."""
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
    """A learner that is not fitted: with a seed, a number of threads and the nominal columns.

    Parameters
    ----------
    prototype : object
        As the user gave it, left as it is.
    seed : int
        For it and the learners inside it.
    encoding : Encoding, default=None
        Of the table that the learner will see, if it has nominal columns as codes.
    n_threads : int, default=1
        Where `n_jobs` says nothing else.
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
    """Whether `n_jobs=None` means all cores, as it does to all but scikit-learn's own."""
    return not type(learner).__module__.startswith("sklearn.")


def fit_classifier(learner: Any, X: AnyFloats, codes: Ints32, weights: Floats | None) -> Any:
    """Fit a classifier on numbers of classes, of which some may be absent or weigh nothing."""
    X, codes, weights = _without_weightless(X, codes, weights)
    present, own = np.unique(codes, return_inverse=True)
    if len(present) == 1:  # many learners refuse to learn what needs no learning
        learner = DummyClassifier(strategy="prior")
    return CodedClassifier(_fit(learner, X, own, weights), present)


def fit_regressor(learner: Any, X: AnyFloats, y: Floats, weights: Floats | None) -> Any:
    """Fit a regressor; its targets may all be equal, as that of a single row is."""
    X, y, weights = _without_weightless(X, y, weights)
    if (y == y[0]).all():
        learner = DummyRegressor(strategy="constant", constant=y[0])
    return _fit(learner, X, y, weights)


def _without_weightless(
    X: AnyFloats, y: npt.NDArray[Any], weights: Floats | None
) -> tuple[AnyFloats, npt.NDArray[Any], Floats | None]:
    """Rows of weight above zero: learners that draw rows or count them know no others."""
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
