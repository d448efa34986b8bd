"""The oblique gradient boosting classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from bevel._types import Floats
from bevel.data.row_weights import read_weights
from bevel.data.target import read_labels
from bevel.errors import shorten
from bevel.estimators.gradient_boosting.base import ObliqueBoosting
from bevel.estimators.gradient_boosting.boosted_trees import _additive
from bevel.estimators.registry import savable
from bevel.parameters.boosting_parameters import BOOSTING_CLASSIFIER_PARAMETERS
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import documented
from bevel.training.boosting import BoostingTarget
from bevel.training.progress import Callback


@savable
@documented(BOOSTING_CLASSIFIER_PARAMETERS)
class ObliqueBoostingClassifier(ClassifierMixin, ObliqueBoosting):  # type: ignore[misc]
    """Gradient boosting of trees that cut single features and oblique directions.

    Each iteration adds a tree that lowers the logarithmic loss, or one for each class if there are
    three or more. Trees cut single features and, by default, sparse combinations of them, which
    are drawn anew for each iteration.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes}
    {columns}
    {trees}
    baseline_prediction_ : ndarray of shape (n_outputs,)
        Prediction before the first tree, on the scale of the trees.
    n_iter_ : int
        Number of iterations in the model.
    train_score_ : ndarray of shape (n_iterations,)
        Minus the mean loss on the training rows, after each iteration.
    validation_score_ : ndarray of shape (n_iterations,)
        Minus the mean loss on the validation rows, or their score by `scoring`; empty without
        early stopping.

    Examples
    --------
    >>> from bevel import ObliqueBoostingClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ObliqueBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    >>> model.predict(X[:1])
    array([0])
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = BOOSTING_CLASSIFIER_PARAMETERS

    def __init__(
        self,
        loss: str | Callable[..., Any] = "log_loss",
        *,
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        projection: Any = "auto",
        n_projections: int | float | str = "auto",
        max_leaf_nodes: int | None = 15,
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
        l2_regularization: float = 3.0,
        max_bins: int = 255,
        subsample: float = 1.0,
        row_sampling: str = "uniform",
        early_stopping: bool | str = "auto",
        scoring: Any = "loss",
        validation_fraction: float | str = "auto",
        refit: bool | str = "auto",
        n_iter_no_change: int = 50,
        tol: float = 1e-7,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.projection = projection
        self.n_projections = n_projections
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.subsample = subsample
        self.row_sampling = row_sampling
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.scale = scale
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Most probable class of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels; the first in `classes_` where several are equally probable.
        """
        raw = self._raw(X)
        return np.asarray(self.classes_.take(_additive(self._fitted).classes(raw)))

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of each row, in the order of `classes_`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Probabilities, summing to one.
        """
        raw = self._raw(X)
        return _additive(self._fitted).probabilities(raw)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Logarithms of `predict_proba`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> Floats:
        """Sums of the trees: the log-odds of the second class, or a number for each class.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes_)
            A single column for two classes.
        """
        raw = self._raw(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Predict after each iteration.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Yields
        ------
        ndarray of shape (n_rows,)
            Class labels.
        """
        for raw in self._staged_raw(X):
            yield np.asarray(self.classes_.take(_additive(self._fitted).classes(raw)))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Class probabilities after each iteration.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Yields
        ------
        ndarray of shape (n_rows, n_classes_)
            Probabilities, summing to one.
        """
        for raw in self._staged_raw(X):
            yield _additive(self._fitted).probabilities(raw)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Sums of the trees after each iteration.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Yields
        ------
        ndarray of shape (n_rows,) or (n_rows, n_classes_)
            Sums as in `decision_function`.
        """
        for raw in self._staged_raw(X):
            yield raw[:, 0] if raw.shape[1] == 1 else raw

    def _loss(self) -> tuple[str, str, int]:
        n_classes = len(self.classes_)
        if n_classes == 2:
            return ("user" if callable(self.loss) else "log_loss"), "logistic", 1
        return ("user" if callable(self.loss) else "multinomial"), "softmax", n_classes

    def _read_target(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        classes, codes = read_labels(y, n_rows)
        self._check_classes(classes)
        if self.warm_start and hasattr(self, "_fitted"):
            self._check_same_classes(classes)
        weights = read_weights(sample_weight, self.class_weight, classes[codes], n_rows)
        self.classes_ = classes
        self.n_classes_ = len(classes)
        return BoostingTarget(codes.astype(np.float64), weights, None)

    def _read_validation(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        classes, codes = read_labels(y, n_rows)
        unknown = np.setdiff1d(classes, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y_val must have classes of y only ({self.classes_.tolist()}); got "
                f"{unknown.tolist()}. Drop these validation rows."
            )
        places = np.searchsorted(self.classes_, classes)
        weights = read_weights(sample_weight, None, None, n_rows)
        return BoostingTarget(places[codes].astype(np.float64), weights, None)

    def _checked_target(self, values: Floats) -> Floats:
        self._check_classes(self.classes_)
        return values

    def _check_classes(self, classes: npt.NDArray[Any]) -> None:
        """Raise for a single class with a user-defined loss; otherwise it has probability 1."""
        if len(classes) < 2 and callable(self.loss):
            raise ValueError(
                "y must have at least two classes with a loss of one's own; got one class, "
                f'{shorten(classes[0])}. Check the target, or use loss="log_loss".'
            )

    def _check_same_classes(self, classes: npt.NDArray[Any]) -> None:
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y must have the classes of the first fit when warm_start=True "
                f"({self.classes_.tolist()}); got {classes.tolist()}. Set warm_start=False."
            )
