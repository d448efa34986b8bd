"""Rotated boosting: groups of boosted trees, each on a rotation of its own (RR-GBM)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin

from bevel._types import Float32s, Floats
from bevel.data.row_weights import read_weights
from bevel.data.target import read_numbers
from bevel.estimators._base import whole_or_not_at_all
from bevel.estimators.rotated.base import (
    ClassLabels,
    RotatedEnsemble,
    check_learner,
    check_takes_weights,
    fit_classifier,
    fit_regressor,
    make_learner,
    seed_of,
    takes_codes,
)
from bevel.parameters.forest_parameters import documented
from bevel.parameters.parameter import Parameter
from bevel.parameters.rotation_parameters import BOOSTING_CLASSIFIER, BOOSTING_REGRESSOR
from bevel.training.options import draw_seed
from bevel.training.progress import Callback

# Blaser, Table 1.5.
GROUP_TREES, SHRINKAGE = 50, 0.05


class RotatedBoosting(RotatedEnsemble):
    """Base of the rotated boosting estimators; not used by itself."""

    _classifies: ClassVar[bool]
    boosters_: list[Any]

    @abstractmethod
    def _read_target(self, y: Any, weights: Floats | None, n_rows: int) -> npt.NDArray[Any]:
        """Check y, and set the attributes that depend on it."""

    @abstractmethod
    def _fit_group(self, X: Float32s, y: npt.NDArray[Any], weights: Floats | None, new: Any) -> Any:
        """Fit an unfitted learner."""

    @abstractmethod
    def _default_booster(self) -> Any:
        """Booster that `booster=None` stands for."""

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a booster to each group's rotation of the features.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows: NumPy arrays, pandas, polars and pyarrow tables, SciPy sparse matrices
            (made dense, in float32). NaN, None and masked entries are missing
            values; infinities raise.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, passed to the boosters; scales and medians are learned from rows
            regardless of their weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        booster = self._booster()
        soft = self._classifies and self.voting == "soft"
        check_learner("booster", booster, classifies=self._classifies, proba=soft)
        table = self._read_training_rows(X, y)
        weights = read_weights(sample_weight, None, None, table.n_rows)
        target = self._read_target(y, weights, table.n_rows)
        check_takes_weights("booster", booster, weights)
        seed = draw_seed(self.random_state)
        dataset = self._learn_dataset(table)
        encoding = dataset.encoding
        self._draw_rotations(self.n_groups, encoding, seed)
        self._codes = takes_codes(booster)

        def fit_group(group: int) -> Any:
            view = self._view(dataset.X, encoding, group)
            new = make_learner(booster, seed_of(seed, group), encoding)
            return self._fit_group(view, target, weights, new)

        progress = self._progress(self.n_groups)
        self.boosters_ = self._run(fit_group, range(self.n_groups), progress)
        self._encoding = encoding
        return self

    def _booster(self) -> Any:
        return self._default_booster() if self.booster is None else self.booster

    def _members(self) -> Sequence[Any]:
        return self.boosters_

    def _mean_over_groups(self, X: Any, predict: Callable[[Any, Float32s], Floats]) -> Floats:
        """Mean of the predictions of the boosters, summed in their order."""
        predictions = self._predict_members(X, predict)
        return np.asarray(sum(predictions[1:], start=predictions[0]) / len(predictions))


@documented(BOOSTING_CLASSIFIER)
class RotatedBoostingClassifier(ClassifierMixin, ClassLabels, RotatedBoosting):  # type: ignore[misc]
    """Votes of groups of boosted trees, each group on a random rotation of the features.

    The trees of a group depend on each other, as boosted trees do; groups do not. Many
    short runs of boosting take the place of a single long one. RR-GBM of Blaser, "Random rotations
    in machine learning" (thesis), section 1.6.5.

    Missing values count as the median of the training rows, which comes with the scale.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes}
    {columns}
    {group_rotations}
    boosters_ : list of n_groups fitted learners
        One for each rotation; their classes are positions in `classes_`.

    Examples
    --------
    >>> from bevel import RotatedBoostingClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> groups = RotatedBoostingClassifier(n_groups=5, random_state=0).fit(X, y)
    >>> groups.predict(X[:1])
    array([0])
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = BOOSTING_CLASSIFIER
    _classifies = True

    def __init__(
        self,
        booster: Any = None,
        *,
        n_groups: int = 100,
        flip: bool = False,
        voting: str = "hard",
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        rotation_state: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.booster = booster
        self.n_groups = n_groups
        self.flip = flip
        self.voting = voting
        self.scale = scale
        self.categorical_features = categorical_features
        self.rotation_state = rotation_state
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Class of most votes, or of highest mean probability.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels; the first in `classes_` where several are equally probable.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_.take(shares.argmax(axis=1)))

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of each row, in the order of `classes_`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Shares of the votes (hard voting) or mean probabilities (soft voting).
        """
        return self._mean_over_groups(X, self._shares)

    def _shares(self, booster: Any, view: Float32s) -> Floats:
        model = self._coded(booster)
        if self.voting == "soft":
            return model.probabilities(view, self.n_classes_)
        votes: Floats = np.eye(self.n_classes_)[model.classes(view)]
        return votes

    def _default_booster(self) -> Any:
        from sklearn.ensemble import GradientBoostingClassifier  # slow to import

        return GradientBoostingClassifier(n_estimators=GROUP_TREES, learning_rate=SHRINKAGE)

    def _read_target(self, y: Any, weights: Floats | None, n_rows: int) -> npt.NDArray[Any]:
        return self._read_classes(y, weights, n_rows)

    def _fit_group(self, X: Float32s, y: npt.NDArray[Any], weights: Floats | None, new: Any) -> Any:
        return fit_classifier(new, X, y, weights).model


@documented(BOOSTING_REGRESSOR)
class RotatedBoostingRegressor(RegressorMixin, RotatedBoosting):  # type: ignore[misc]
    """Mean of groups of boosted trees, each group on a random rotation of the features.

    The counterpart of `RotatedBoostingClassifier`; the thesis covers classification only.
    Predictions of the groups are averaged instead of counted as votes.

    Missing values count as the median of the training rows, which comes with the scale.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {columns}
    {group_rotations}
    boosters_ : list of n_groups fitted learners
        One for each rotation.

    Examples
    --------
    >>> from bevel import RotatedBoostingRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> groups = RotatedBoostingRegressor(n_groups=5, random_state=0).fit(X, y)
    >>> groups.predict(X[:1]).shape
    (1,)
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = BOOSTING_REGRESSOR
    _classifies = False

    def __init__(
        self,
        booster: Any = None,
        *,
        n_groups: int = 100,
        flip: bool = False,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        rotation_state: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.booster = booster
        self.n_groups = n_groups
        self.flip = flip
        self.scale = scale
        self.categorical_features = categorical_features
        self.rotation_state = rotation_state
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def predict(self, X: Any) -> Floats:
        """Mean of the groups' predictions.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predicted values.
        """
        return self._mean_over_groups(X, _values)

    def _default_booster(self) -> Any:
        from sklearn.ensemble import GradientBoostingRegressor  # slow to import

        return GradientBoostingRegressor(n_estimators=GROUP_TREES, learning_rate=SHRINKAGE)

    def _read_target(self, y: Any, _weights: Floats | None, n_rows: int) -> npt.NDArray[Any]:
        return read_numbers(y, n_rows)

    def _fit_group(self, X: Float32s, y: npt.NDArray[Any], weights: Floats | None, new: Any) -> Any:
        return fit_regressor(new, X, y, weights)


def _values(booster: Any, view: Float32s) -> Floats:
    return np.asarray(booster.predict(view), dtype=np.float64).reshape(len(view))
