"""Stacked rotations: a second learner decides which rotations to trust, and where."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from bevel._types import Float32s, Floats, Ints32
from bevel.data.dataset import Dataset, encode, learn_dataset
from bevel.data.row_weights import read_weights
from bevel.data.tables import ArrayTable, Table
from bevel.estimators._folds import Fold, read_folds
from bevel.estimators._learners import (
    CodedClassifier,
    check_learner,
    check_takes_weights,
    fit_classifier,
    make_learner,
    takes_codes,
)
from bevel.estimators._level0 import LearningRows, Level0, Setting, read_settings
from bevel.estimators._rotated import ClassLabels, RotatedEnsemble, seed_of
from bevel.estimators.classifier import ObliqueForestClassifier
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import documented
from bevel.parameters.rotation_parameters import STACKED_CLASSIFIER
from bevel.training.options import draw_seed
from bevel.training.progress import Callback, Progress
from bevel.training.rotation import plain_matrix

# What seeds are for.
FOLDS, LEVEL_0, LEVEL_1 = 0, 1, 2


def _level1_gives_probabilities(estimator: StackedRotationClassifier) -> bool:
    return estimator.level1 is None or hasattr(estimator.level1, "predict_proba")


@documented(STACKED_CLASSIFIER)
class StackedRotationClassifier(ClassifierMixin, ClassLabels, RotatedEnsemble):  # type: ignore[misc]
    """Classifiers on rotations of the features, and a classifier on their predictions.

    A model of level 0 is fitted to each view of the features: as they are, and after each of K
    random rotations. The learner of level 1 combines their class probabilities; it finds out which
    rotations to trust, and where. It is trained on predictions of level 0 for rows it has not seen:
    the rows are divided into folds, and the models that predict a fold are fitted, scaled and tuned
    on the other folds alone. In the end level 0 is fitted once more, on all rows. S-RRE of Blaser,
    "Random rotations in machine learning" (thesis), sections 3.3 and 3.4.1.

    Missing values count as the median of the training rows, which comes with the scale.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes}
    {columns}
    rotations_ : ndarray of shape (K + 1, n_numeric, n_numeric)
        The views of the numeric features; columns are axes. The first is the identity.
    level0_ : list of K + 1 fitted learners
        One for each view, fitted on all rows; they know classes by their place in `classes_`.
    level0_params_ : list of K + 1 dicts
        What each of them has chosen from `param_grid`.
    level1_ : fitted learner
        What combines them.
    fold_of_row_ : ndarray of shape (n_rows,)
        The fold in which each training row was held out.

    Examples
    --------
    >>> from bevel import StackedRotationClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> stack = StackedRotationClassifier(n_rotations=3, random_state=0).fit(X, y)
    >>> stack.predict(X[:1])
    array([0])
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = STACKED_CLASSIFIER

    def __init__(
        self,
        level0: Any = None,
        level1: Any = None,
        *,
        n_rotations: int = 20,
        flip: bool = False,
        cv: Any = 5,
        param_grid: Any = None,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        rotation_state: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.level0 = level0
        self.level1 = level1
        self.n_rotations = n_rotations
        self.flip = flip
        self.cv = cv
        self.param_grid = param_grid
        self.scale = scale
        self.categorical_features = categorical_features
        self.rotation_state = rotation_state
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit both levels.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows: NumPy arrays, pandas, polars and pyarrow tables, SciPy sparse matrices
            (made dense, in float32). NaN and None are missing values; infinities raise.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, passed to the learners of both levels. Folds, scales and medians
            are drawn and learned from rows, whatever their weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        prototype = self._prototype(self.level0)
        check_learner("level0", prototype, classifies=True, proba=True)
        check_learner("level1", self._prototype(self.level1), classifies=True)
        table = self._read_training_rows(X, y)
        weights = read_weights(sample_weight, None, None, table.n_rows)
        codes = self._read_classes(y, weights, table.n_rows)
        check_takes_weights("level0", prototype, weights)
        check_takes_weights("level1", self._prototype(self.level1), weights)
        self._seed = draw_seed(self.random_state)
        splits = read_folds(self.cv, codes, seed_of(self._seed, FOLDS))
        dataset = self._learn_dataset(table)
        self._draw_rotations(self.n_rotations, dataset.encoding, self._seed)
        self._codes = takes_codes(prototype)
        level0 = Level0(prototype, read_settings(self.param_grid), self.n_classes_)
        parts = self._parts(table, dataset, codes, weights, splits)
        n_models = len(parts) * len(self.rotations_)
        progress = self._progress(n_models + 1)
        out_of_fold = self._fit_level0(level0, parts, progress)
        self._fit_level1(out_of_fold, codes, weights)
        progress(n_models + 1)
        self._encoding = dataset.encoding
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Class of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels.
        """
        columns = self._level1_columns(X)
        return np.asarray(self.classes_.take(self._coded(self.level1_).classes(columns)))

    @available_if(_level1_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of each row, in the order of `classes_`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Probabilities of level 1; absent if it gives no probabilities.
        """
        columns = self._level1_columns(X)
        return self._coded(self.level1_).probabilities(columns, self.n_classes_)

    def predict_level0(self, X: Any) -> Floats:
        """Class probabilities of each row by each model of level 0.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, K + 1, n_classes_)
            The unrotated view first, in the order of `rotations_`.
        """

        def predict(model: Any, view: Float32s) -> Floats:
            return self._coded(model).probabilities(view, self.n_classes_)

        return np.stack(self._predict_members(X, predict), axis=1)

    def _members(self) -> Sequence[Any]:
        return self.level0_

    def _draw_rotations(self, n_rotations: int, encoding: Any, seed: int) -> None:
        super()._draw_rotations(n_rotations, encoding, seed)
        identity = np.eye(self.rotations_.shape[1])
        self.rotations_ = np.concatenate([identity[np.newaxis], self.rotations_])

    def _rotation(self, member: int) -> Floats | None:
        return super()._rotation(member) if member else None

    def _prototype(self, learner: Any) -> Any:
        return ObliqueForestClassifier(100, projection="axis") if learner is None else learner

    def _parts(
        self,
        table: Table,
        dataset: Dataset,
        codes: Ints32,
        weights: Floats | None,
        splits: Sequence[Fold],
    ) -> list[LearningRows]:
        """The rows of each split, and in the end all of them, each scaled by themselves alone."""
        matrix = plain_matrix(table, dataset.encoding)
        nominal = sorted(dataset.encoding.nominal)
        self.fold_of_row_ = np.empty(table.n_rows, dtype=np.int32)
        parts = []
        for fold, (train, held_out) in enumerate(splits):
            self.fold_of_row_[held_out] = fold
            learned = learn_dataset(ArrayTable(matrix[train]), nominal, self._scale())
            held_out_rows = encode(ArrayTable(matrix[held_out]), learned.encoding, order="F")
            some = None if weights is None else weights[train]
            parts.append(
                LearningRows(learned.X, codes[train], some, learned.encoding, held_out_rows)
            )
        return [*parts, LearningRows(dataset.X, codes, weights, dataset.encoding, dataset.X[:0])]

    def _fit_level0(
        self, level0: Level0, parts: Sequence[LearningRows], progress: Progress
    ) -> Floats:
        """Fit all models of level 0; their predictions for the rows held out from them.

        Each is dropped after its prediction, but for those of the last part, of all rows.
        """
        n_views = len(self.rotations_)
        out_of_fold = np.empty((len(parts[-1].X), n_views, self.n_classes_))
        finished: dict[int, tuple[CodedClassifier, Setting]] = {}

        def fit(job: tuple[int, int]) -> None:
            part, view = job
            rotation = self._rotation(view)
            seed = seed_of(self._seed, LEVEL_0, part, view)
            model, setting = level0.fit(parts[part], rotation, seed)
            if part == len(parts) - 1:
                finished[view] = model, setting
            else:
                predictions = level0.predict(model, parts[part], rotation)
                out_of_fold[self.fold_of_row_ == part, view] = predictions

        self._run(fit, list(itertools.product(range(len(parts)), range(n_views))), progress)
        self.level0_ = [finished[view][0].model for view in range(n_views)]
        self.level0_params_ = [dict(finished[view][1]) for view in range(n_views)]
        return out_of_fold

    def _fit_level1(self, out_of_fold: Floats, codes: Ints32, weights: Floats | None) -> None:
        prototype, seed = self._prototype(self.level1), seed_of(self._seed, LEVEL_1)
        learner = make_learner(prototype, seed, n_threads=self._threads())
        self.level1_ = fit_classifier(learner, _columns(out_of_fold), codes, weights).model

    def _level1_columns(self, X: Any) -> Floats:
        return _columns(self.predict_level0(X))


def _columns(probabilities: Floats) -> Floats:
    """What level 1 sees: the probabilities of all views side by side.

    Of two classes, one is enough.
    """
    n_rows, _, n_classes = probabilities.shape
    chosen = probabilities[:, :, 1:] if n_classes == 2 else probabilities
    return np.ascontiguousarray(chosen.reshape(n_rows, -1))
