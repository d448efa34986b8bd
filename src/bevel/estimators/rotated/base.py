"""Base of ensembles on rotations: reads tables, draws rotations, rotates rows, and fits base
learners with scikit-learn's API.
"""

from __future__ import annotations

import os
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bevel._types import AnyFloats, Float32s, Floats, Ints32
from bevel.data.dataset import Dataset, learn_dataset
from bevel.data.encoding import Encoding, encode
from bevel.data.leaks import without_leak_alarm
from bevel.data.scaling import automatic_scale
from bevel.data.tables import Table
from bevel.data.target import read_labels
from bevel.errors import shorten, wrong_type, wrong_value
from bevel.estimators._base import TableEstimator
from bevel.parameters.parameter import Parameter, check_each
from bevel.training.options import draw_seed
from bevel.training.progress import Progress
from bevel.training.rotation_ensemble import count_numeric, haar_rotations, rotated_view
from bevel.training.threads import count_threads, run_jobs

# Base learners of ensembles: any classifier or regressor with scikit-learn's API.


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
    """Fit any learner, with weights if there are any, to columns that a stage has made."""
    with without_leak_alarm():
        return learner.fit(X, y) if weights is None else learner.fit(X, y, sample_weight=weights)


class RotatedEnsemble(TableEstimator, metaclass=ABCMeta):
    """Base of the ensembles whose members are whole models, each on a rotation of the features."""

    _parameters: ClassVar[Mapping[str, Parameter]]
    _encoding: Encoding
    _codes: bool  # whether the learners take nominal columns as codes
    rotations_: npt.NDArray[np.float64]

    def save(self, path: str | os.PathLike[str]) -> NoReturn:
        """Raise: a model file holds one forest, and this is an ensemble of models of any kind.

        Store it with `pickle` or `joblib.dump`; load such files only from sources you trust.
        """
        raise TypeError(
            f"save writes forests only; got {type(self).__name__}, which holds models of any kind. "
            f"Use pickle or joblib.dump to write it to {os.fspath(path)!r}, and load only files "
            "that you trust."
        )

    def _read_training_rows(self, X: Any, y: Any) -> Table:
        return self._read(X, y, reset=True)

    def _learn_dataset(self, table: Table) -> Dataset:
        dataset = learn_dataset(table, self.categorical_features, self._scale(), self._threads())
        if count_numeric(dataset.encoding) == 0:
            raise ValueError(
                f"X must have a numeric feature to rotate; got {table.n_features} nominal columns "
                "only. Name fewer in categorical_features, or use ObliqueForestClassifier or "
                "ObliqueForestRegressor."
            )
        return dataset

    def _scale(self) -> str | None:
        return automatic_scale(combines_units=True) if self.scale == "auto" else self.scale

    def _check_parameters(self) -> None:
        check_each(self._own_parameters(), self._parameters)

    def _draw_rotations(self, n_rotations: int, encoding: Encoding, seed: int) -> None:
        own = seed if self.rotation_state is None else draw_seed(self.rotation_state)
        n_numeric = count_numeric(encoding)
        self.rotations_ = haar_rotations(n_rotations, n_numeric, own, flip=self.flip)

    def _rotation(self, member: int) -> Floats | None:
        """The rotation of a member; None leaves the axes unchanged."""
        rotation: Floats = self.rotations_[member]
        return rotation

    def _view(self, X: Float32s, encoding: Encoding, member: int) -> Float32s:
        """View of encoded rows for a member."""
        return rotated_view(X, encoding, self._rotation(member), codes=self._codes)

    @abstractmethod
    def _members(self) -> Sequence[Any]:
        """The fitted models, one for each rotation."""

    def _predict_members(self, X: Any, predict: Callable[[Any, Float32s], Floats]) -> list[Floats]:
        """Prediction of each member for its view of the rows, in the order of the members."""
        rows = self._encoded(X)
        members = self._members()

        def predict_one(number: int) -> Floats:
            return predict(members[number], self._view(rows, self._encoding, number))

        predictions: list[Floats] = self._run(predict_one, range(len(members)))
        return predictions

    def _encoded(self, X: Any) -> Float32s:
        """Rows to predict, encoded as the training rows were."""
        check_is_fitted(self)
        table = self._read(X, "no_validation", reset=False)
        return encode(table, self._encoding, order="F", n_threads=self._threads())

    def _run(self, work: Any, jobs: Any, progress: Progress | None = None) -> Any:
        return run_jobs(work, jobs, self._threads(), progress or Progress(0, 1, False, None))

    def _progress(self, n_models: int) -> Progress:
        return Progress(0, n_models, bool(self.verbose), self.callback, label="fitting models")

    def _threads(self) -> int:
        return count_threads(self.n_jobs)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_encoding")


class ClassLabels:
    """Class labels of the classifiers: their learners use positions in `classes_`.

    Classes whose rows all have weight zero are not seen by any learner.
    """

    def _read_classes(self, y: Any, weights: Floats | None, n_rows: int) -> Ints32:
        self.classes_, codes = read_labels(y, n_rows)
        self.n_classes_ = len(self.classes_)
        self._weighing_classes = np.unique(codes if weights is None else codes[weights > 0.0])
        return codes

    def _coded(self, model: Any) -> CodedClassifier:
        """A model that was fitted on all rows, and so has seen all classes of positive weight."""
        return CodedClassifier(model, self._weighing_classes)


def seed_of(seed: int, *purpose: int) -> int:
    """Derive a seed of 31 bits, which every learner accepts, for one of many purposes."""
    return int(np.random.SeedSequence(seed, spawn_key=purpose).generate_state(1)[0] >> 1)
