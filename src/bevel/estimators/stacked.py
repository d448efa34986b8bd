"""Stacked rotations: a second learner weighs the predictions on several rotations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from bevel._types import Floats
from bevel.data.target import read_numbers
from bevel.estimators._rotated import ClassLabels
from bevel.estimators.classifier import ObliqueForestClassifier
from bevel.estimators.regressor import ObliqueForestRegressor
from bevel.estimators.stacking.base import StackedRotation
from bevel.estimators.stacking.level0 import Output
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import documented
from bevel.parameters.rotation_parameters import STACKED_CLASSIFIER, STACKED_REGRESSOR
from bevel.training.progress import Callback

__all__ = ["StackedRotationClassifier", "StackedRotationRegressor"]


def _level1_gives_probabilities(estimator: StackedRotationClassifier) -> bool:
    return estimator.level1 is None or hasattr(estimator.level1, "predict_proba")


@documented(STACKED_CLASSIFIER)
class StackedRotationClassifier(ClassifierMixin, ClassLabels, StackedRotation):  # type: ignore[misc]
    """Classifiers on rotations of the features, and a classifier on their predictions.

    A model of level 0 is fitted to each view of the features: as they are, and after each of K
    random rotations. The learner of level 1 combines their class probabilities; it learns which
    rotations to trust, and where. It is trained on predictions of level 0 for rows it has not seen:
    the rows are divided into folds, and the models that predict a fold are fitted, scaled and tuned
    on the other folds alone. In the end level 0 is fitted once more, on all rows. S-RRE of Blaser,
    "Random rotations in machine learning" (thesis), sections 3.3 and 3.4.

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
        One for each view, fitted on all rows; their classes are positions in `classes_`. With
        `refit=False` a list of one for each fold.
    level0_params_ : list of K + 1 dicts
        Parameters that each of them has chosen from `param_grid`.
    level1_ : fitted learner
        Learner that combines their predictions.
    stage_rotations_ : list of ndarray
        Rotations of each intermediate stage, applied to the predictions of the stage before.
    fold_of_row_ : ndarray of shape (n_rows,)
        Fold in which each training row was held out.

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
    _classifies: ClassVar[bool] = True

    def __init__(
        self,
        level0: Any = None,
        level1: Any = None,
        *,
        n_rotations: int = 20,
        flip: bool = False,
        n_stages: int = 2,
        passes: str = "probabilities",
        cv: Any = 5,
        refit: bool = True,
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
        self.n_stages = n_stages
        self.passes = passes
        self.cv = cv
        self.refit = refit
        self.param_grid = param_grid
        self.scale = scale
        self.categorical_features = categorical_features
        self.rotation_state = rotation_state
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Class of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels.
        """
        columns = self._last_columns(X)
        return np.asarray(self.classes_.take(self._coded(self.level1_).classes(columns)))

    @available_if(_level1_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of each row, in the order of `classes_`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Probabilities of the last stage; absent if it gives no probabilities.
        """
        columns = self._last_columns(X)
        return self._coded(self.level1_).probabilities(columns, self.n_classes_)

    def _prototype(self, learner: Any) -> Any:
        return ObliqueForestClassifier(100, projection="axis") if learner is None else learner

    def _read_target(self, y: Any, weights: Floats | None, n_rows: int) -> npt.NDArray[Any]:
        return self._read_classes(y, weights, n_rows)

    def _output_of(self) -> Output:
        return Output(self.n_classes_, self.passes == "labels")

    def _known(self, model: Any) -> Any:
        return self._coded(model)


@documented(STACKED_REGRESSOR)
class StackedRotationRegressor(RegressorMixin, StackedRotation):  # type: ignore[misc]
    """Regressors on rotations of the features, and a regressor on their predictions.

    The counterpart of `StackedRotationClassifier`; the thesis covers classification only. Models
    pass on their predicted values.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {columns}
    rotations_ : ndarray of shape (K + 1, n_numeric, n_numeric)
        The views of the numeric features; columns are axes. The first is the identity.
    level0_ : list of K + 1 fitted learners
        One for each view, fitted on all rows. With `refit=False` a list of one for each fold.
    level0_params_ : list of K + 1 dicts
        Parameters that each of them has chosen from `param_grid`.
    level1_ : fitted learner
        Learner that combines their predictions.
    stage_rotations_ : list of ndarray
        Rotations of each intermediate stage, applied to the predictions of the stage before.
    fold_of_row_ : ndarray of shape (n_rows,)
        Fold in which each training row was held out.

    Examples
    --------
    >>> from bevel import StackedRotationRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> stack = StackedRotationRegressor(n_rotations=2, cv=3, random_state=0).fit(X, y)
    >>> stack.predict(X[:1]).shape
    (1,)
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = STACKED_REGRESSOR
    _classifies: ClassVar[bool] = False
    passes = "values"

    def __init__(
        self,
        level0: Any = None,
        level1: Any = None,
        *,
        n_rotations: int = 20,
        flip: bool = False,
        n_stages: int = 2,
        cv: Any = 5,
        refit: bool = True,
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
        self.n_stages = n_stages
        self.cv = cv
        self.refit = refit
        self.param_grid = param_grid
        self.scale = scale
        self.categorical_features = categorical_features
        self.rotation_state = rotation_state
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def predict(self, X: Any) -> Floats:
        """Predicted value of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Values of the last stage.
        """
        columns = self._last_columns(X)  # raises before a fit
        return self._output.of(self.level1_, columns)[:, 0]

    def _prototype(self, learner: Any) -> Any:
        return ObliqueForestRegressor(100, projection="axis") if learner is None else learner

    def _read_target(self, y: Any, weights: Floats | None, n_rows: int) -> npt.NDArray[Any]:
        del weights
        return read_numbers(y, n_rows)

    def _output_of(self) -> Output:
        return Output(0, labels=False)

    def _known(self, model: Any) -> Any:
        return model
