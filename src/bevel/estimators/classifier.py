"""The oblique forest classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from bevel.data.outputs import (
    OutputColumns,
    read_output_labels,
    read_output_weights,
    refused_with_outputs,
)
from bevel.data.row_weights import read_weights, weights_of_classes
from bevel.data.target import read_labels
from bevel.estimators._base import ObliqueForest
from bevel.estimators.registry import savable
from bevel.estimators.several_outputs.outputs import (
    all_right,
    decide_outputs,
    labels_of_outputs,
)
from bevel.forest.calibration import power_losses, power_of_least_loss, raise_to_power
from bevel.forest.out_of_bag import OutOfBag
from bevel.forest.outputs import Outputs
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import CLASSIFIER_PARAMETERS, documented
from bevel.training.progress import Callback
from bevel.training.trainer import TrainingTarget


@savable
@documented(CLASSIFIER_PARAMETERS)
class ObliqueForestClassifier(ClassifierMixin, ObliqueForest):  # type: ignore[misc]
    """A forest of decision trees that cut along oblique directions, for classification.

    At each node a few directions are drawn, the node's rows are projected on them, and the split of
    highest gain is kept. By default several families of directions share the trees, more of them
    going to families with better out-of-bag results; `families_` has the result. With
    `projection="axis"` it is Breiman's random forest, with `projection="sparse"` the sparse
    projection oblique randomer forest (SPORF) of Tomita et al., Journal of Machine Learning
    Research 21 (2020).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes}
    {columns}
    {trees}
    {outputs}
    {families}
    calibration_power_ : float
        The power that `predict_proba` raises the mean class shares of the trees to; 1 changes
        nothing.
    oob_score_ : float
        Accuracy, or the result of `oob_score`, of the out-of-bag predictions.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes_)
        Out-of-bag class probabilities; NaN for a row that was in every bag. With several outputs,
        a list of one array each.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> forest.predict(X[:1])
    array([0])
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = CLASSIFIER_PARAMETERS
    classes_: Any  # with several outputs these are lists
    n_classes_: Any
    oob_decision_function_: Any

    def __init__(
        self,
        n_estimators: int = 500,
        *,
        projection: Any = "auto",
        n_projections: int | float | str = "auto",
        criterion: str = "auto",
        threshold: str = "best",
        n_thresholds: int = 1,
        split_search: str = "auto",
        max_depth: int | None = None,
        min_samples_split: int | float | str = "auto",
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        growth: str | None = None,
        min_impurity_decrease: float = 0.0,
        split_pure_nodes: bool = False,
        bootstrap: bool | str = "auto",
        max_samples: int | float | None = None,
        replace: bool = True,
        voting: str = "soft",
        calibration: str | None = "auto",
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.projection = projection
        self.n_projections = n_projections
        self.criterion = criterion
        self.threshold = threshold
        self.n_thresholds = n_thresholds
        self.split_search = split_search
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.growth = growth
        self.min_impurity_decrease = min_impurity_decrease
        self.split_pure_nodes = split_pure_nodes
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.replace = replace
        self.voting = voting
        self.calibration = calibration
        self.scale = scale
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.oob_score = oob_score
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
        ndarray of shape (n_rows,) or (n_rows, n_outputs_)
            Class labels; the first in `classes_` where several are equally probable.
        """
        codes: npt.NDArray[np.int32] = self._predict_with("classes", X, self.voting == "hard")
        outputs = self._fitted.outputs
        if outputs is not None:
            return labels_of_outputs(outputs, codes)
        return np.asarray(self.classes_.take(codes))

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of each row, in the order of `classes_`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_), or a list of one such array for each output
            Mean over the trees of class shares (soft voting) or of votes (hard voting), raised to
            the power `calibration_power_` and divided by their sum.
        """
        shares: npt.NDArray[np.float64] = self._predict_with(
            "probabilities", X, self.voting == "hard"
        )
        outputs = self._fitted.outputs
        if outputs is not None:
            return outputs.split(shares)
        return raise_to_power(shares, self._fitted.power)

    @property
    def calibration_power_(self) -> float:
        """The power that the mean class shares of the trees are raised to; 1 changes nothing."""
        return self.fitted_forest_.power

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the class probabilities; minus infinity for zero.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_), or a list of one such array for each output
            Logarithms of `predict_proba`.
        """
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            if isinstance(probabilities, list):
                return [np.log(each) for each in probabilities]
            return np.log(probabilities)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose class, or whose classes of all outputs, are predicted correctly.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            True labels of the rows.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        float
            Accuracy.
        """
        predicted = self.predict(X)
        if self._fitted.outputs is None:
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        return all_right(y, predicted, sample_weight)

    def _decide(self, probabilities: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        return np.asarray(self.classes_.take(probabilities.argmax(axis=1)))

    def _read_target(
        self, y: Any, sample_weight: Any, n_rows: int, draws_bags: bool
    ) -> TrainingTarget:
        given = self._split(y)
        if given is not None:
            return self._read_outputs(given, sample_weight, n_rows, draws_bags)
        classes, codes = read_labels(y, n_rows)
        self._check_same_classes(classes)
        weights = read_weights(
            sample_weight, weights_of_classes(self.class_weight, draws_bags), classes[codes], n_rows
        )
        self.classes_ = classes
        self.n_classes_ = len(classes)
        return TrainingTarget(codes, len(classes), weights)

    def _read_outputs(
        self, given: OutputColumns, sample_weight: Any, n_rows: int, draws_bags: bool
    ) -> TrainingTarget:
        if self.calibration == "power":
            remedy = "Leave it out, or calibrate single outputs with scikit-learn."
            raise refused_with_outputs("calibration", self.calibration, '"auto" or None', remedy)
        classes, codes = read_output_labels(given, n_rows)
        outputs = Outputs(given.names, tuple(classes))
        self._check_same_outputs(outputs)
        class_weight = weights_of_classes(self.class_weight, draws_bags)
        weights = read_output_weights(sample_weight, class_weight, classes, codes)
        self.classes_ = classes
        self.n_classes_ = [len(labels) for labels in classes]
        return TrainingTarget(codes, int(outputs.bounds[-1]), weights, outputs)

    def _check_same_outputs(self, outputs: Outputs) -> None:
        if not self._trees_are_kept():
            return
        before = self._fitted.outputs
        same = before is not None and before.classes is not None and len(before) == len(outputs)
        pairs = zip(before.classes or (), outputs.classes or (), strict=False) if before else ()
        if not same or not all(np.array_equal(one, other) for one, other in pairs):
            raise ValueError(
                "y must have the outputs and classes of the first fit when warm_start=True; got "
                "others. Set warm_start=False."
            )

    def _check_same_classes(self, classes: npt.NDArray[Any]) -> None:
        if not self._trees_are_kept():
            return
        if self._fitted.outputs is not None:
            raise ValueError(
                f"y must have the {len(self._fitted.outputs)} outputs of the first fit when "
                "warm_start=True; got one. Set warm_start=False."
            )
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y must have the classes of the first fit when warm_start=True "
                f"({self.classes_.tolist()}); got {classes.tolist()}. Set warm_start=False."
            )

    def _power_of(self, blocks: Iterable[tuple[slice, OutOfBag]], target: TrainingTarget) -> float:
        losses, knowns = [], []
        for rows, estimates in blocks:
            known = estimates.known
            losses.append(power_losses(estimates.predictions[known], target.values[rows][known]))
            knowns.append(known)
        weights = None if target.weights is None else target.weights[np.concatenate(knowns)]
        return power_of_least_loss(np.concatenate(losses, axis=1), weights)

    def _set_out_of_bag(self, estimates: OutOfBag, target: TrainingTarget) -> None:
        outputs = self._fitted.outputs
        if outputs is not None:
            self.oob_decision_function_ = outputs.split(estimates.predictions)
            truth = labels_of_outputs(outputs, target.values - outputs.bounds[:-1])
            of_outputs = self.oob_score if callable(self.oob_score) else all_right
            self.oob_score_ = estimates.score(
                of_outputs, truth, lambda shares: decide_outputs(outputs, shares)
            )
            return
        self.oob_decision_function_ = estimates.predictions
        metric = self.oob_score if callable(self.oob_score) else accuracy_score
        self.oob_score_ = estimates.score(metric, self.classes_[target.values], self._decide)
