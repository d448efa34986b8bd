"""The oblique survival forest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags

from bevel._types import Floats
from bevel.data.row_weights import read_weights
from bevel.data.survival import SurvivalTarget, read_survival, survival_array
from bevel.errors import shorten, wrong_value
from bevel.estimators._base import ObliqueForest
from bevel.estimators.registry import savable
from bevel.estimators.survival.curves import PredictsCurves
from bevel.forest.out_of_bag import OutOfBag
from bevel.forest.records.survival_record import SurvivalRecord
from bevel.forest.survival.concordance import concordance
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import documented
from bevel.parameters.survival_parameters import SURVIVAL_PARAMETERS
from bevel.projections.families import AUTOMATIC, Member
from bevel.scanning import ScannedTable
from bevel.training.progress import Callback
from bevel.training.trainer import TrainingTarget


@savable
@documented(SURVIVAL_PARAMETERS)
class ObliqueSurvivalForest(PredictsCurves, ObliqueForest):
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
    _estimator_type = "survival"

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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
        return super().fit(X, y, sample_weight)

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
        if sample_weight is not None:
            raise wrong_value(
                "sample_weight", "None: pairs of rows have no weights", "weights", "Leave it out."
            )
        risk = self.predict(X)
        target = read_survival(y, len(risk), competing=self.n_causes_ > 1)
        return concordance(target, risk)

    @property
    def n_causes_(self) -> int:
        """Kinds of events: 1 unless risks compete."""
        record = self.fitted_forest_.survival
        assert record is not None
        return record.n_causes

    @property
    def event_times_(self) -> Floats:
        """Distinct times at which events were seen in training, ascending."""
        record = self.fitted_forest_.survival
        assert record is not None
        return record.event_times

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

    def _check_combinations(self, values: Mapping[str, Any], members: Sequence[Member]) -> None:
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

    def _read_target(
        self, y: Any, sample_weight: Any, n_rows: int, _draws_bags: bool
    ) -> TrainingTarget:
        target = read_survival(y, n_rows, needs_event=True, competing=self.competing_risks)
        weights = read_weights(sample_weight, None, None, n_rows)
        found = TrainingTarget(target.time, 0, weights, survival=target)
        counted = found.counted_survival
        assert counted is not None
        if not counted.event.any():
            raise ValueError(
                "y must have a row of weight above 0 whose event was seen; got events of weight 0 "
                "only. Check sample_weight."
            )
        if self._trees_are_kept():
            _check_same_times(self._fitted.survival, counted)
        return found

    def _set_out_of_bag(self, estimates: OutOfBag, target: TrainingTarget) -> None:
        self.oob_prediction_ = estimates.predictions[:, 0]
        truth = target.survival
        assert truth is not None
        y: Any = truth
        metric: Callable[..., float] = concordance
        if callable(self.oob_score):
            event = truth.event if truth.cause is None else truth.cause
            metric, y = self.oob_score, survival_array(truth.time, event, truth.entry)
        self.oob_score_ = estimates.score(metric, y, np.ravel)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def default_projection() -> list[Any]:
    """Projections that `projection="auto"` stands for."""
    return ["cox", "pls", ("sparse", "sqrt"), "axis"]


def _check_same_times(record: SurvivalRecord | None, target: SurvivalTarget) -> None:
    """Raise unless the event times are those of the earlier trees, whose leaves refer to them."""
    if record is None or not np.array_equal(record.event_times, target.event_times):
        raise ValueError(
            "warm_start needs the event times of the earlier fit, which leaves refer to; got "
            f"others ({shorten(target.event_times[:3].tolist())}, ...). Pass the same y, or set "
            "warm_start=False."
        )
