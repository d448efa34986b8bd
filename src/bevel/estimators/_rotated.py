"""Base of ensembles on rotations: reads tables, draws rotations and rotates rows."""

from __future__ import annotations

import os
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bevel._types import Float32s, Floats, Ints32
from bevel.data.dataset import Dataset, learn_dataset
from bevel.data.encoding import Encoding, encode
from bevel.data.scaling import automatic_scale
from bevel.data.tables import Table
from bevel.data.target import read_labels
from bevel.estimators._doc_link import LinksToDocuments
from bevel.estimators._learners import CodedClassifier
from bevel.estimators._named_parameters import NamedParameters
from bevel.estimators._reading import TableInput
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import check_each
from bevel.training.jobs import run_jobs
from bevel.training.options import draw_seed
from bevel.training.progress import Progress
from bevel.training.rotation import count_numeric, haar_rotations, rotated_view
from bevel.training.threads import count_threads


class RotatedEnsemble(
    NamedParameters,
    TableInput,
    LinksToDocuments,
    BaseEstimator,  # type: ignore[misc]
    metaclass=ABCMeta,
):
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
