"""Survival: the oblique forest and gradient boosting, and the curves that they predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bevel._types import Floats, Ints32
from bevel.data.row_weights import read_weights
from bevel.data.survival import read_survival
from bevel.errors import wrong_value
from bevel.estimators._base import in_blocks, whole_or_not_at_all
from bevel.estimators._boosted_trees import BoostingWork, GivenRows, _additive
from bevel.estimators.boosting import ObliqueBoosting
from bevel.estimators.forest import ObliqueForest
from bevel.estimators.registry import savable
from bevel.forest.aggregation import add_trees
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.survival import (
    StepFunction,
    concordance,
    curves,
    fit_baseline,
    median_times,
    read_times,
    risk_task,
    survival_task,
)
from bevel.forest.task import Survival, SurvivalByRisk, Task
from bevel.parameters.boosting_parameters import BOOSTING_SURVIVAL_PARAMETERS
from bevel.parameters.forest_parameters import SURVIVAL_PARAMETERS, documented
from bevel.parameters.parameter import Parameter
from bevel.projections.families import AUTOMATIC, ProjectionDraws
from bevel.scanning import ScannedTable
from bevel.training.boosting import OF_TIMES, BoostingDefaults, BoostingFit, BoostingTarget
from bevel.training.progress import Callback
from bevel.training.targets import SurvivalTargets, TargetKind
from bevel.training.threads import count_threads

# What all models of times have.


class SurvivalMixin(ABC):
    """Mixin of models of times: curves, quantiles and the score follow from a few methods.

    Curves of a forest are means over the trees of those of its leaves (Kaplan–Meier, Nelson–Aalen);
    curves of boosting follow from the risk of a row and the baseline of the training rows.
    """

    @abstractmethod
    def predict(self, X: Any) -> Floats:
        """Risk of each row, higher for earlier events."""

    @property
    @abstractmethod
    def _times(self) -> Survival | SurvivalByRisk:
        """The task of the fitted model, which knows the times of the training rows."""

    @abstractmethod
    def _curves(self, X: Any, grid: Floats, kind: str) -> Floats:
        """Values of the curves of each row at the times of a grid."""

    @abstractmethod
    def _times_survived(self, X: Any, share: float) -> Floats:
        """First time at which the survival curve of each row is at most a share."""

    @property
    def event_times_(self) -> Floats:
        """Distinct times at which events were seen in training, ascending."""
        return self._times.event_times

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Harrell's concordance of the predicted risks.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        y : structured array, tuple of two arrays, or data frame
            Times and events of the rows, as in `fit`.
        sample_weight : None
            Not supported: pairs of rows have no weights.

        Returns
        -------
        float
            Share of the comparable pairs in which the row of the earlier event has the higher risk;
            events of all causes count equally.
        """
        return _concordance(self._times, y, self.predict(X), sample_weight)

    def predict_survival_function(
        self, X: Any, times: Any = None, return_array: bool = False
    ) -> npt.NDArray[Any]:
        """Survival curve of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        times : array-like of ascending times, default=None
            Times to evaluate the curves at; None for `event_times_`, at which they jump. A curve is
            constant after the last event of the training rows; of times after their last time,
            where nothing is known, a warning tells.
        return_array : bool, default=False
            Whether to return numbers instead of functions.

        Returns
        -------
        ndarray
            Array of shape (n_rows,) with a `StepFunction` for each row, as in scikit-survival, or
            of shape (n_rows, n_times). As there, a function raises for times outside its `domain`:
            from 0 to the last time of the training rows, or from the first to the last of `times`.
        """
        return self._predict_curves(X, times, "survival", return_array)

    def predict_cumulative_hazard_function(
        self, X: Any, times: Any = None, return_array: bool = False
    ) -> npt.NDArray[Any]:
        """Cumulative hazard of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        times : array-like of ascending times, default=None
            Times to evaluate the curves at; None for `event_times_`, at which they jump. A curve is
            constant after the last event of the training rows; of times after their last time,
            where nothing is known, a warning tells.
        return_array : bool, default=False
            Whether to return numbers instead of functions.

        Returns
        -------
        ndarray
            Array of shape (n_rows,) with a `StepFunction` for each row, as in scikit-survival, or
            of shape (n_rows, n_times). As there, a function raises for times outside its `domain`:
            from 0 to the last time of the training rows, or from the first to the last of `times`.
        """
        return self._predict_curves(X, times, "hazard", return_array)

    def predict_median(self, X: Any) -> Floats:
        """Median survival time of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            First time at which the survival curve is at most one half; infinite where it never is.
        """
        return self.predict_quantile(X, 0.5)

    def predict_quantile(self, X: Any, q: float) -> Floats:
        """Time by which a share q of rows like each row has had the event.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        q : float
            Share, above 0 and below 1; 0.5 is the median.

        Returns
        -------
        ndarray of shape (n_rows,)
            First time at which the survival curve is at most 1 - q; infinite where it never is.
        """
        _check_share(q)
        return self._times_survived(X, 1.0 - float(q))

    def _predict_curves(
        self, X: Any, times: Any, kind: str, return_array: bool, **given: int
    ) -> npt.NDArray[Any]:
        task = self._times
        grid = read_times(times, task)
        values = self._curves(X, grid, kind, **given)
        if return_array:
            return values
        domain = (0.0, task.last_time) if times is None else (float(grid[0]), float(grid[-1]))
        return _as_functions(values, grid, kind, domain)


# The oblique survival forest.


@savable
@documented(SURVIVAL_PARAMETERS)
class ObliqueSurvivalForest(SurvivalMixin, ObliqueForest):
    """A forest of oblique trees for censored times.

    At each node a few directions are drawn, the node's rows are projected on them, and the cut
    whose sides differ most by the log-rank test is kept. A leaf holds the events of its rows; rows
    are predicted by the mean of their leaves' curves. With `projection="axis"` it is a random
    survival forest (Ishwaran et al. 2008), with `projection="cox"` an oblique one after Jaeger et
    al. 2022.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    event_times_ : ndarray
        Distinct times at which events were seen in training, ascending.
    n_causes_ : int
        Kinds of events: 1 unless risks compete.
    {columns}
    {trees}
    oob_score_ : float
        Concordance, or the result of `oob_score`, of the out-of-bag risks.
    oob_prediction_ : ndarray of shape (n_rows,)
        Out-of-bag risks; NaN for a row that was in every bag.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest
    >>> from bevel.datasets import weibull
    >>> X, y = weibull(200, random_state=0)
    >>> forest = ObliqueSurvivalForest(n_estimators=50, random_state=0).fit(X, y)
    >>> forest.predict_survival_function(X[:2], times=[1.0, 2.0], return_array=True).shape
    (2, 2)
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = SURVIVAL_PARAMETERS
    _tasks: ClassVar[tuple[type[Task], ...]] = (Survival,)
    _target_kind: ClassVar[TargetKind] = SurvivalTargets()
    _estimator_type = "survival"
    n_jobs: int | None
    _fitted: FittedForest

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        projection: Any = "auto",
        n_projections: int | float | str = "auto",
        criterion: str = "log_rank",
        threshold: str = "best",
        n_thresholds: int = 1,
        split_search: str = "auto",
        max_depth: int | None = None,
        min_samples_split: int | float = 20,
        min_samples_leaf: int | float = 10,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        growth: str | None = None,
        max_redraws: int | str = "auto",
        bootstrap: bool | str = "auto",
        max_samples: int | float | None = None,
        replace: bool = True,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        competing_risks: bool = False,
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
        self.max_redraws = max_redraws
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.replace = replace
        self.scale = scale
        self.categorical_features = categorical_features
        self.competing_risks = competing_risks
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
    ) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows, as for the other forests. NaN and None are missing values.
        y : structured array, tuple of arrays, or data frame, required
            Right-censored times, one for each row: a structured array with a boolean field (the
            event) and a numeric one (the time), as scikit-survival has it; a tuple `(time, event)`;
            or a data frame with the columns time and event. Times are above 0; an event is True, or
            1, where it was seen and False, or 0, where the row was last seen without it. With
            `competing_risks=True` it is the number of its cause, from 1 on. Rows that enter late
            (left truncation): a tuple `(entry, time, event)`, or a column or field entry; they are
            at risk after their entry.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, zero or more; whole numbers count a row as often. None weighs all
            rows equally.
        groups : array-like of shape (n_rows,), default=None
            Labels of rows that belong together, such as the family of each patient, which bags draw
            together; see `ObliqueForestClassifier.fit`.
        time : array-like of shape (n_rows,), or str, default=None
            When each row was recorded, such as the date of admission, not the survival time; see
            `ObliqueForestClassifier.fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if isinstance(X, ScannedTable):
            raise TypeError(
                "X must be a table in memory for a survival forest, which needs the rows in the "
                "order of their times; got a scanned table. Read the table into memory."
            )
        return super().fit(X, y, sample_weight, groups=groups, time=time)

    def predict(self, X: Any) -> Floats:
        """Risk of each row: the number of events to be expected if all rows were like it.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            The cumulative hazard of all causes, summed over `event_times_` (ensemble mortality,
            Ishwaran et al. 2008). Higher for earlier events.
        """
        values: Floats = self._predict_with("values", X)
        return values

    @property
    def n_causes_(self) -> int:
        """Kinds of events: 1 unless risks compete."""
        return self._times.n_causes

    @property
    def _times(self) -> Survival:
        return survival_task(self.fitted_forest_, "A survival forest")

    def _settings(self) -> dict[str, Any]:
        values = super()._settings()
        values["min_impurity_decrease"] = 0.0
        if isinstance(self.projection, str) and self.projection == AUTOMATIC:
            if self.n_projections != "auto":
                required = '"auto" with projection="auto", whose members have numbers of their own'
                remedy = 'Name a family, as in projection="cox", or leave n_projections out.'
                raise wrong_value("n_projections", required, self.n_projections, remedy)
            values["projection"] = default_projection()
        return values

    def _check_combinations(
        self, values: Mapping[str, Any], members: Sequence[ProjectionDraws]
    ) -> None:
        super()._check_combinations(values, members)
        if values["split_search"] == "histogram" and values["criterion"] == "log_rank":
            raise ValueError(
                'split_search="histogram" needs criterion="log_rank_score", whose sums bins can '
                'hold; got criterion="log_rank". Change one of them.'
            )
        if values["competing_risks"] and values["criterion"] != "log_rank":
            raise ValueError(
                'competing_risks=True needs criterion="log_rank", which has a statistic for each '
                f"cause; got criterion={values['criterion']!r}. Change one of them."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def predict_cumulative_incidence_function(
        self, X: Any, cause: int, times: Any = None, return_array: bool = False
    ) -> npt.NDArray[Any]:
        """Probability of an event of one cause up to each time: the mean of its leaves' curves.

        Events of other causes compete: a row that had one can no longer have this one (Aalen and
        Johansen 1978). The incidences of all causes and the survival curve add up to one.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        cause : int
            Number of the cause, from 1 to `n_causes_`.
        times : array-like of ascending times, default=None
            Times to evaluate the curves at; None for `event_times_`, at which they jump.
        return_array : bool, default=False
            Whether to return numbers instead of functions.

        Returns
        -------
        ndarray
            Array of shape (n_rows,), with a `StepFunction` for each row; or of shape (n_rows,
            n_times). A function raises for times outside its `domain`: from 0 to the last time of
            the training rows, or from the first to the last of `times`.
        """
        n_causes = self.n_causes_
        is_number = isinstance(cause, int | np.integer) and not isinstance(cause, bool)
        if not (is_number and 1 <= cause <= n_causes):
            remedy = "Fit with competing_risks=True to tell causes apart."
            raise wrong_value("cause", f"a whole number from 1 to {n_causes}", cause, remedy)
        return self._predict_curves(X, times, "incidence", return_array, cause=int(cause) - 1)

    def _leaves(self, X: Any) -> Ints32:
        check_is_fitted(self)
        leaves, n_threads = self._fitted.predictor.leaves, count_threads(self.n_jobs)
        return in_blocks(lambda rows: leaves(rows, n_threads), self, X)

    def _curves(self, X: Any, grid: Floats, kind: str, cause: int = 0) -> Floats:
        leaves = self._leaves(X)
        return curves(self._fitted, leaves, grid, kind, count_threads(self.n_jobs), cause)

    def _times_survived(self, X: Any, share: float) -> Floats:
        return median_times(self._fitted, self._leaves(X), count_threads(self.n_jobs), share)


def _as_functions(
    values: Floats, times: Floats, kind: str, domain: tuple[float, float]
) -> npt.NDArray[Any]:
    """A step function for each row of values at some times."""
    before = 1.0 if kind == "survival" else 0.0
    functions = np.empty(len(values), dtype=object)
    functions[:] = [StepFunction(times, curve, before, domain) for curve in values]
    return functions


def _concordance(
    task: Survival | SurvivalByRisk, y: Any, risk: Floats, sample_weight: Any
) -> float:
    if sample_weight is not None:
        raise wrong_value(
            "sample_weight", "None: pairs of rows have no weights", "weights", "Leave it out."
        )
    return concordance(task.read_times(y, len(risk)), risk)


def _check_share(q: object) -> None:
    if not (isinstance(q, float | np.floating) and 0.0 < q < 1.0):
        raise wrong_value("q", "a number above 0 and below 1", q, "Use 0.5 for the median.")


def default_projection() -> list[Any]:
    """Projections that `projection="auto"` stands for."""
    return ["cox", "pls", ("sparse", "sqrt"), "axis"]


# Gradient boosting of times.


@savable
@documented(BOOSTING_SURVIVAL_PARAMETERS)
class ObliqueSurvivalBoosting(SurvivalMixin, ObliqueBoosting):
    """Gradient boosting for right-censored times.

    Trees cut single features and, by default, sparse combinations of them, which are drawn anew for
    each iteration, and add up to one risk for each row. By default it is the logarithm of the
    hazard ratio (Cox 1972), and curves follow from Breslow's baseline hazard.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    event_times_ : ndarray
        Distinct times at which events were seen in training, ascending.
    {columns}
    {trees}
    n_iter_ : int
        Number of iterations in the model.
    train_score_ : ndarray of shape (n_iterations,)
        Minus the mean loss on the training rows, after each iteration.
    validation_score_ : ndarray of shape (n_iterations,)
        Minus the mean loss on the validation rows; empty without early stopping.
    best_iteration_ : int
        Number of iterations of the lowest validation loss; `n_iter_` without validation rows.
    evals_result_ : dict
        The two curves by data and measure, as LightGBM and XGBoost have them.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalBoosting
    >>> from bevel.datasets import weibull
    >>> X, y = weibull(200, random_state=0)
    >>> model = ObliqueSurvivalBoosting(max_iter=50, random_state=0).fit(X, y)
    >>> model.predict_survival_function(X[:2], times=[1.0, 2.0], return_array=True).shape
    (2, 2)
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = BOOSTING_SURVIVAL_PARAMETERS
    _tasks: ClassVar[tuple[type[Task], ...]] = (SurvivalByRisk,)
    _defaults: ClassVar[BoostingDefaults] = OF_TIMES
    _estimator_type = "survival"
    scoring: ClassVar[str] = "loss"  # type: ignore[misc]
    multi_strategy: ClassVar[str] = "one_output_per_tree"

    def __init__(
        self,
        loss: str = "cox",
        *,
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        projection: Any = "auto",
        n_projections: int | float | str = "auto",
        growth: str = "best_first",
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
        l2_regularization: float = 3.0,
        max_bins: int = 255,
        subsample: float = 1.0,
        row_sampling: str = "uniform",
        early_stopping: bool | str = "auto",
        validation_fraction: float | str = "auto",
        refit: bool | str = "auto",
        n_iter_no_change: int = 50,
        tol: float = 1e-7,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
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
        self.growth = growth
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.subsample = subsample
        self.row_sampling = row_sampling
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.scale = scale
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    @whole_or_not_at_all
    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        groups: Any = None,
        time: Any = None,
    ) -> Self:
        """Grow the trees.

        Ctrl-C raises KeyboardInterrupt. The estimator then has the iterations that were done, or
        the model of the last stage that was finished.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows, as for the other boosting estimators. NaN and None are missing values.
        y : structured array, tuple of arrays, or data frame
            Right-censored times, as in `ObliqueSurvivalForest.fit`: `(time, event)`, or `(entry,
            time, event)` for rows that enter late and are at risk after their entry.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, zero or more; None weighs all rows equally.
        X_val : array, data frame or sparse matrix of shape (n_validation, n_features), default=None
            Validation rows, whose loss decides when to stop.
        y_val : structured array, tuple of arrays, or data frame, default=None
            Times of the validation rows.
        sample_weight_val : array-like of shape (n_validation,), default=None
            Weights of the validation rows.
        groups : array-like of shape (n_rows,), default=None
            Labels of rows that belong together, such as the family of each patient, which are held
            out together.
        time : array-like of shape (n_rows,), or str, default=None
            When each row was recorded, such as the date of admission, not the survival time; the
            latest rows are held out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if isinstance(X, ScannedTable):
            raise TypeError(
                "X must be a table in memory for survival boosting, which needs the rows in the "
                "order of their times; got a scanned table. Read the table into memory."
            )
        validation = GivenRows(X_val, y_val, sample_weight_val)
        self._fit_in_memory(GivenRows(X, y, sample_weight, groups), validation, time)
        return self

    def predict(self, X: Any, *, n_iterations: int | None = None) -> Floats:
        """Risk of each row, higher for earlier events.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        n_iterations : int, default=None
            Use the first iterations only; None uses all.

        Returns
        -------
        ndarray of shape (n_rows,)
            Logarithm of the hazard ratio; with the other losses minus the logarithm of a time.
        """
        risk: Floats = self._decode(self._raw(X, n_iterations))
        return risk

    @property
    def _times(self) -> SurvivalByRisk:
        return risk_task(self.fitted_forest_)

    def _curves(self, X: Any, grid: Floats, kind: str) -> Floats:
        values = self._times.cumulative_hazard(self.predict(X), grid)
        return np.exp(-values) if kind == "survival" else values

    def _times_survived(self, X: Any, share: float) -> Floats:
        return self._times.quantile(self.predict(X), share)

    def _assemble(self, work: BoostingWork, fitted: BoostingFit) -> FittedForest:
        """The fitted forest with the curve of risk 0, from the training rows."""
        whole = super()._assemble(work, fitted)
        target = work.target
        used = target.training_weights() > 0.0
        trees = whole.packed_predictor, _additive(whole)
        n_threads = count_threads(self.n_jobs)
        sums = [add_trees(*trees, rows, n_threads) for rows in work.dataset.blocks(used)]
        assert target.survival is not None
        weights = target.training_weights()[used]
        task = fit_baseline(target.survival[used], np.concatenate(sums)[:, 0], weights, self.loss)
        return replace(whole, task=task)

    def _check_goes_on(self, before: FittedForest) -> None:
        distribution = risk_task(before).distribution
        if self.loss != distribution:
            required = f'"{distribution}", as in the first fit, when warm_start=True'
            raise wrong_value("loss", required, self.loss, "Set warm_start=False.")

    def _task(self) -> Task:
        return SurvivalByRisk(np.empty(0), 0.0, np.empty(0))

    def _loss(self) -> tuple[str, str, int]:
        return self.loss, "identity", 1

    def _read_target(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        return _with_times(y, sample_weight, n_rows)

    def _read_validation(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        return _with_times(y, sample_weight, n_rows)

    def _checked_target(self, values: Floats) -> Floats:
        return values


def _with_times(y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
    """Times, of which some row with weight has its event."""
    truth = read_survival(y, n_rows, needs_event=True)
    weights = read_weights(sample_weight, None, None, n_rows)
    if weights is not None and not truth.event[weights > 0.0].any():
        raise ValueError(
            "y must have a row of weight above 0 whose event was seen; got events of weight 0 "
            "only. Check sample_weight."
        )
    return BoostingTarget(truth.time, weights, None, survival=truth)
