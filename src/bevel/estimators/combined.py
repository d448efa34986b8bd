"""The classifier and regressor that one types: a forest and boosting of one table, with weights."""

from __future__ import annotations

import os
import time
import warnings
from abc import ABCMeta
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bevel._types import Floats
from bevel.data.row_groups import RowOrder, read_row_order
from bevel.data.tables import Table, select_rows
from bevel.estimators._base import (
    FEW_ROWS,
    TableEstimator,
    TreeEstimator,
    answers_arguments,
    encode_rows,
    explained,
    set_attributes,
    whole_or_not_at_all,
)
from bevel.estimators._boosted_trees import BoostingWork, _record
from bevel.estimators.boosting import (
    ObliqueBoosting,
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    hold_out_in,
)
from bevel.estimators.forest import (
    ObliqueForest,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
)
from bevel.estimators.loading import restore
from bevel.estimators.registry import KINDS, kind_of, savable
from bevel.export.c import write_c
from bevel.export.onnx import to_onnx
from bevel.export.sql import to_sql
from bevel.files.atomic import write_whole
from bevel.files.model import StoredEstimator, write_model
from bevel.forest.aggregation import Aggregation, SumOfTrees, WeightedSum
from bevel.forest.fitted_forest import FittedCombination, FittedForest
from bevel.forest.importance import gain_importances
from bevel.forest.predictor import NumberTooLargeError
from bevel.forest.quantiles import interval_levels
from bevel.forest.records import MemberRecord
from bevel.forest.task import Classification, Regression, Task
from bevel.parameters.combined_parameters import (
    COMBINED_CLASSIFIER_PARAMETERS,
    COMBINED_REGRESSOR_PARAMETERS,
)
from bevel.parameters.forest_parameters import documented
from bevel.parameters.parameter import Parameter, check_each
from bevel.projections.base import FamilySpec
from bevel.scanning import ScannedTable
from bevel.training.automatic import SHARED_SCALE
from bevel.training.boosting import MIN_ROWS_TO_HOLD_OUT, BoostingTarget
from bevel.training.combination import QUALITY, Evidence, Quality, held_out_columns
from bevel.training.forest_fit import (
    FitRequest,
    FitResult,
    PreparedFit,
    RowsInMemory,
    fit_forest,
    prepare_rows,
)
from bevel.training.options import draw_seed
from bevel.training.progress import Callback, Progress
from bevel.training.targets import ClassTargets, NumberTargets, TargetKind
from bevel.training.threads import count_threads
from bevel.training.trainer import TrainingTarget

if TYPE_CHECKING:
    import onnx

# Parameters that the members do not have, or have by themselves.
OWN_PARAMETERS = ("quality", "time_limit", "random_state")
# Trees of each family that are grown to see how long a tree takes.
PROBED_TREES = 2


@dataclass(frozen=True, eq=False)
class _FirstStage:
    """Boosting of some rows, before all rows are fitted again.

    Attributes
    ----------
    booster : ObliqueBoosting
        The estimator, which has the model of the rows that were not held out.
    work : BoostingWork
        Rows, targets and options.
    families : list of FamilySpec
        The directions that were chosen.
    refits : bool
        Whether all rows should be fitted again.
    held_out : ndarray of bool or None
        Rows that were held out; None if there are none.
    columns : ndarray
        Predictions of these rows, see `held_out_columns`.
    seconds : float
        Time that it took.
    """

    booster: ObliqueBoosting
    work: BoostingWork
    families: list[FamilySpec]
    refits: bool
    held_out: npt.NDArray[np.bool_] | None
    columns: Floats
    seconds: float

    def finish(self, refits: bool) -> FittedForest:
        """The model, of all rows if it `refits` and that is of use."""
        if not (refits and self.refits):
            return self.booster._fitted
        return self.booster._refit(self.work, self.families)

    def seconds_of_refit(self) -> float:
        """How long it should take to fit all rows again."""
        if not self.refits:
            return 0.0
        n_kinds = len(self.booster._candidates(self.work))
        done = _record(self.booster._fitted).training_score
        n_iter = self.booster._refit_options(self.work.options).max_iter
        return self.seconds / (n_kinds * max(1, len(done))) * n_iter


# The base of the classifier and the regressor.


class ObliqueCombination(TableEstimator, metaclass=ABCMeta):
    """Base of the combined models; not used by itself."""

    _parameters: ClassVar[Mapping[str, Parameter]]
    _tasks: ClassVar[tuple[type[Task], ...]]
    _aggregation: ClassVar[type[Aggregation]] = WeightedSum
    _has_rotations: ClassVar[bool] = False
    _target_kind: ClassVar[TargetKind]
    _forest: ClassVar[type[ObliqueForest]]
    _boosting: ClassVar[type[ObliqueBoosting]]
    _fitted: FittedCombination
    quality: int
    time_limit: float | None
    n_jobs: int | None
    random_state: Any
    verbose: int

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the forest and boosting, and weigh them.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows: NumPy arrays, pandas, polars and pyarrow tables, SciPy sparse matrices
            (made dense, in float32). NaN, None and masked entries are missing values; infinities
            raise.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, zero or more; None weighs all rows equally. A row of weight zero
            has no effect.
        groups : array-like of shape (n_rows,), default=None
            Labels of rows that belong together, such as the visits of a patient. Bags, and the rows
            that weigh the members, are drawn by group.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if isinstance(X, ScannedTable):
            raise ValueError(
                f"{type(self).__name__} needs rows that are in memory; got a scanned table. Fit "
                f"{self._forest.__name__} or {self._boosting.__name__} to it."
            )
        self._check_parameters()
        try:
            self._fitted = self._fit(X, y, sample_weight, groups)
        except KeyboardInterrupt:  # that of boosting says that its iterations are kept
            raise KeyboardInterrupt(
                "fit was interrupted; the estimator is as it was before."
            ) from None
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> FittedCombination:
        start = time.monotonic()
        n_threads = count_threads(self.n_jobs)
        table = self._read(X, y, reset=True)
        seed = draw_seed(self.random_state)
        forest = self._forest(random_state=seed, **self._shared())
        self._name_columns(forest)
        values, members = forest._checked_parameters()
        target = self._target_kind.read(y, sample_weight, table.n_rows, values, None)
        set_attributes(self, target.task)
        names = forest._names_of_columns()
        order = read_row_order(groups, None, table, names)
        if target.weights is not None and not target.weights.all():
            kept = np.flatnonzero(target.weights)
            table, order = select_rows(table, kept), order.rows(kept)
            target = replace(target, values=target.values[kept], weights=target.weights[kept])
        request = FitRequest(values, members, self._target_kind, seed, keeps_out_of_bag=True)
        prepared = prepare_rows(request, table, names, target, n_threads, order=order)
        first = self._first_stage(table, prepared, order, seed, n_threads)
        step = QUALITY[self.quality]
        if self.time_limit is not None:
            step = self._step_within(prepared, first, start, n_threads)
        others = self._more_seeds(seed, step.n_boosters - 1)
        stages = [
            first,
            *(self._first_stage(table, prepared, order, each, n_threads) for each in others),
        ]
        boosted = [each.finish(step.refits) for each in stages]
        n_trees = step.n_trees(target.task)
        if not step.fewer:
            prepared = replace(prepared, request=request.with_trees(n_trees))
        rows = RowsInMemory(prepared, prepared.plan(), n_threads)
        grown = fit_forest(rows, n_trees, forest._progress)
        return self._combine(step, target, grown, stages, boosted)

    def _check_parameters(self) -> None:
        check_each(self._own_parameters(), self._parameters)
        default = self._parameters["quality"].default
        if self.time_limit is not None and self.quality != default:
            raise ValueError(
                "quality must be left out with time_limit, which chooses it; got "
                f"quality={self.quality} and time_limit={self.time_limit}. Set one of them."
            )

    def _combine(
        self,
        step: Quality,
        target: TrainingTarget,
        grown: FitResult,
        stages: Sequence[_FirstStage],
        boosted: Sequence[FittedForest],
    ) -> FittedCombination:
        """Weigh the forest and boosting by the rows that boosting has held out."""
        assert grown.estimates is not None  # keeps_out_of_bag=True
        columns = grown.estimates.predictions.reshape(len(target.values), -1)
        evidence = Evidence(columns, target.values, target.weights, target.task)
        for stage in stages:
            if stage.held_out is not None:
                evidence.add(stage.held_out, stage.columns)
        n_trees = sum(each.forest.n_trees for each in boosted)
        sizes = ((grown.fitted.forest.n_trees, n_trees), (1, len(boosted)))
        record = evidence.weigh(*sizes, quality=step.number)
        shares = record.weights / record.n_models
        models = [(grown.fitted, shares[0]), *((each, shares[1]) for each in boosted)]
        kept = [(each, float(weight)) for each, weight in models if weight > 0.0]
        aggregation = WeightedSum(
            tuple(weight for _, weight in kept), evidence.calibration(record.weights)
        )
        return FittedCombination(tuple(each for each, _ in kept), aggregation, record)

    def _first_stage(
        self, table: Table, prepared: PreparedFit, order: RowOrder, seed: int, n_threads: int
    ) -> _FirstStage:
        """Fit boosting to some rows, and predict those that it has held out."""
        start = time.monotonic()
        given, dataset = prepared.target, prepared.dataset
        booster = self._boosting(random_state=seed, scale=SHARED_SCALE, **self._shared())
        self._name_columns(booster)
        set_attributes(booster, given.task)
        target = BoostingTarget(given.values.astype(np.float64), given.weights, None)
        target, refits = booster._hold_out(target, seed, partial(hold_out_in, order))
        work = booster._work(dataset, target, len(given.values), table, refits, seed)
        families = booster._fit_first(work)
        seconds = time.monotonic() - start
        held_out = target.validates
        columns = np.empty((0, 1))
        if held_out is not None:
            weights = None if given.weights is None else given.weights[held_out]
            (held_rows,) = dataset.blocks(held_out)  # read as a dense table
            rows = (held_rows, given.values[held_out], weights)
            columns = held_out_columns(booster._fitted, *rows, n_threads)
        return _FirstStage(booster, work, families, refits, held_out, columns, seconds)

    def _step_within(
        self, prepared: PreparedFit, first: _FirstStage, start: float, n_threads: int
    ) -> Quality:
        """The highest step of `quality` that should end in time, or the lowest, with a warning."""
        plan = prepared.plan()
        n_families = 1 if plan is None else len(plan.names)
        probe = time.monotonic()
        rows = RowsInMemory(prepared, plan, n_threads)
        of_tree = np.arange(PROBED_TREES * n_families, dtype=np.int32) % n_families
        silent = Progress(0, len(of_tree), False, None)
        rows.grow(np.arange(len(of_tree)), of_tree, None, silent)
        now = time.monotonic()
        of_a_tree = (now - probe) / len(of_tree)
        allowed = float(self.time_limit or 0.0)

        def expected(step: Quality) -> float:
            refit = first.seconds_of_refit() if step.refits else 0.0
            boosting = step.n_boosters * refit + (step.n_boosters - 1) * first.seconds
            forest = of_a_tree * step.n_trees(prepared.target.task)
            return now - start + boosting + forest

        within = [step for step in QUALITY.values() if expected(step) <= allowed]
        if within:
            return max(within, key=expected)
        least = QUALITY[1]
        warnings.warn(
            f"time_limit={self.time_limit} is too short for these rows: quality 1 takes about "
            f"{expected(least):.2g} seconds. Raise it, or fit fewer rows.",
            UserWarning,
            stacklevel=5,  # the caller of fit
        )
        return least

    @staticmethod
    def _more_seeds(seed: int, n: int) -> list[int]:
        """Seeds of further boosting models; the first has the seed of the forest."""
        return [int(each) for each in np.random.SeedSequence(seed).generate_state(n, np.uint64)]

    def _shared(self) -> dict[str, Any]:
        """Parameters of this estimator that its members have too."""
        own = self._own_parameters()
        return {name: own[name] for name in own if name not in OWN_PARAMETERS}

    def _name_columns(self, member: TableEstimator) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(member, name, getattr(self, name))

    # What a fitted model tells of itself.

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    @property
    def fitted_forest_(self) -> FittedCombination:
        """The fitted models with their weights, as files, exports and analysis read them."""
        check_is_fitted(self)
        return self._fitted

    @property
    def members_(self) -> MemberRecord:
        """The forest and boosting, with their trees, losses on rows not seen, and weights."""
        return self.fitted_forest_.record

    columns_ = TreeEstimator.columns_
    text_columns_ = TreeEstimator.text_columns_
    _names_of_columns = TreeEstimator._names_of_columns

    @property
    def quality_(self) -> int:
        """The step of `quality` of the model, also where `time_limit` has chosen it."""
        return self.fitted_forest_.record.quality

    @property
    def weights_(self) -> Floats:
        """Weight of each model of `estimators_`, summing to one."""
        return np.array(self.fitted_forest_.aggregation.weights)

    @property
    def estimators_(self) -> list[ObliqueForest | ObliqueBoosting]:
        """The fitted models of weights above zero: the forest, then boosting."""
        return [restore(each) for each in self._stored_members()]

    def _stored_members(self) -> list[StoredEstimator]:
        """The models as estimators of their own."""
        check_is_fitted(self)
        found = []
        shared = self._shared() | {"callback": None}
        for fitted in self._fitted.members:
            seed = fitted.provenance.seed
            adds_up = isinstance(fitted.aggregation, SumOfTrees)
            n_trees = fitted.forest.n_trees
            if adds_up:
                n_iter = n_trees // fitted.aggregation.n_outputs
                how = {"max_iter": max(1, n_iter), "scale": SHARED_SCALE}
            else:
                how = {"n_estimators": n_trees}
            kind = self._boosting if adds_up else self._forest
            parameters = kind(random_state=seed, **how, **shared)._own_parameters()
            found.append(StoredEstimator(kind.__name__, parameters, fitted, None))
        return found

    @property
    def feature_importances_(self) -> Floats:
        """Weighted mean of the gain importances of the models, summing to one."""
        fitted = self.fitted_forest_
        parts = [
            weight * gain_importances(each.forest, normalised=not each.aggregation.adds_up)
            for weight, each in zip(fitted.aggregation.weights, fitted.members, strict=True)
        ]
        total = np.sum(parts, axis=0)
        return np.asarray(total / total.sum() if total.sum() > 0.0 else total)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file for `bevel.load`, whole or not at all.

        A file holds no functions and no random generators: a generator as `random_state` and a
        `callback` become their defaults, with a warning.

        Parameters
        ----------
        path : str or path
            Path, such as "model.bevel". A crash or a full disk leaves an older file unchanged.
        """
        check_is_fitted(self)
        write_whole(path, self._file())

    def _file(self) -> Iterator[bytes | memoryview]:
        """The bytes of the models' file, piece by piece."""
        stored = StoredEstimator(type(self).__name__, self._own_parameters(), self._fitted, None)
        members = [(each, KINDS[each.name]) for each in self._stored_members()]
        return write_model(stored, kind_of(self), members)

    def verify(self) -> Self:
        """Check the whole of a file that was loaded with `bevel.load(path, mmap=True)`.

        Returns
        -------
        self : object
            The estimator, with its trees in memory. Raises ModelFileError if the file is damaged.
        """
        check_is_fitted(self)
        self._fitted = self._fitted.in_memory()
        return self

    def to_c(self, name: str = "model") -> str:
        """The models with their weights as one C99 file without dependencies.

        Parameters
        ----------
        name : str, default="model"
            Prefix of everything in the file, a C identifier.

        Returns
        -------
        str
            C source; its comment describes the interface. The documentation, Topics, has more.
        """
        return "".join(write_c(self.fitted_forest_, name))

    def to_sql(self, table: str, *, dialect: str = "duckdb", keep: Sequence[str] = ()) -> str:
        """The models with their weights as one SQL query, to predict where the rows are.

        Parameters
        ----------
        table, dialect, keep
            As in `ObliqueForestClassifier.to_sql`.

        Returns
        -------
        str
            The query.
        """
        return to_sql(self.fitted_forest_, table, dialect, keep)

    def to_onnx(
        self, *, dtype: str = "float32", target_opset: int = 18, name: str = "bevel"
    ) -> onnx.ModelProto:
        """The models with their weights as one ONNX model; needs `bevel[onnx]`.

        Parameters
        ----------
        dtype, target_opset, name
            As in `ObliqueForestClassifier.to_onnx`, whose inputs and outputs it has.

        Returns
        -------
        onnx.ModelProto
            Write it with `onnx.save`, or `model.SerializeToString()`.
        """
        fitted = self.fitted_forest_
        return to_onnx(fitted, dtype=dtype, target_opset=target_opset, name=name)

    def _columns(self, X: Any) -> Floats:
        """Weighted mean of the predictions of the models: probabilities, or a column of values."""
        try:
            if self._is_plain(X):
                n_threads = 1 if len(X) < FEW_ROWS else count_threads(self.n_jobs)
                try:
                    return self._fitted.columns(X, n_threads, self._fitted.encoding.reading)
                except NumberTooLargeError:
                    pass  # the slower conversion raises an error that names the row and column
            rows = encode_rows(self, X)
            return self._fitted.columns(rows, count_threads(self.n_jobs))
        except MemoryError as error:
            told = explained(error, "A prediction", self, X)
            if told is error:
                raise
            raise told from error


@savable
@documented(COMBINED_CLASSIFIER_PARAMETERS)
class ObliqueClassifier(ClassifierMixin, ObliqueCombination):  # type: ignore[misc]
    """A forest and gradient boosting of one table, weighted by rows that neither has seen.

    The forest predicts its training rows out of bag, and boosting those that it holds out to find
    the number of its iterations. The weights of the two are learned on these rows; few rows
    leave them nearly equal. Probabilities are the weighted mean of those of the models.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes}
    {columns}
    {reading}
    members_ : MemberRecord
        The forest and boosting: number of trees, loss on rows that neither has seen, and weight.
    estimators_ : list
        The fitted models whose weight is above zero, as estimators of their own.
    weights_ : ndarray
        Their weights, summing to one.
    quality_ : int
        The step of `quality`, also where `time_limit` has chosen it.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Weighted mean of the gain importances of the models, summing to one.
    fitted_forest_ : FittedCombination
        The fitted models with all that files and analysis need beside them.

    Examples
    --------
    >>> from bevel import ObliqueClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ObliqueClassifier(quality=1, random_state=0).fit(X, y)
    >>> model.predict(X[:1])
    array([0])
    >>> model.members_.names
    ('forest', 'boosting')
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = COMBINED_CLASSIFIER_PARAMETERS
    _tasks: ClassVar[tuple[type[Task], ...]] = (Classification,)
    _target_kind: ClassVar[TargetKind] = ClassTargets(several_outputs=False)
    _forest: ClassVar[type[ObliqueForest]] = ObliqueForestClassifier
    _boosting: ClassVar[type[ObliqueBoosting]] = ObliqueBoostingClassifier

    def __init__(
        self,
        quality: int = 3,
        *,
        time_limit: float | None = None,
        categorical_features: Any = "from_dtype",
        class_weight: Mapping[Any, float] | str | None = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.quality = quality
        self.time_limit = time_limit
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @answers_arguments
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
        columns = self._columns(X)
        return self._fitted.task.decode(columns)

    @answers_arguments
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of each row, in the order of `classes_`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Probabilities, summing to one: the weighted mean of those of `estimators_`.
        """
        return self._columns(X)

    @answers_arguments
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities; minus infinity for zero.

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
            return np.asarray(np.log(self.predict_proba(X)))


@savable
@documented(COMBINED_REGRESSOR_PARAMETERS)
class ObliqueRegressor(RegressorMixin, ObliqueCombination):  # type: ignore[misc]
    """A forest and gradient boosting of one table, weighted by rows that neither has seen.

    The forest predicts its training rows out of bag, and boosting those that it holds out to find
    the number of its iterations. The weights of the two are learned on these rows; few rows
    leave them nearly equal. Predictions are the weighted mean of those of the models.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {columns}
    {reading}
    members_ : MemberRecord
        The forest and boosting: number of trees, loss on rows that neither has seen, and weight.
    estimators_ : list
        The fitted models whose weight is above zero, as estimators of their own.
    weights_ : ndarray
        Their weights, summing to one.
    quality_ : int
        The step of `quality`, also where `time_limit` has chosen it.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Weighted mean of the gain importances of the models, summing to one.
    fitted_forest_ : FittedCombination
        The fitted models with all that files and analysis need beside them.

    Examples
    --------
    >>> from bevel import ObliqueRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ObliqueRegressor(quality=1, random_state=0).fit(X, y)
    >>> model.predict(X[:1]).shape
    (1,)
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = COMBINED_REGRESSOR_PARAMETERS
    _tasks: ClassVar[tuple[type[Task], ...]] = (Regression,)
    _target_kind: ClassVar[TargetKind] = NumberTargets(several_outputs=False)
    _forest: ClassVar[type[ObliqueForest]] = ObliqueForestRegressor
    _boosting: ClassVar[type[ObliqueBoosting]] = ObliqueBoostingRegressor

    def __init__(
        self,
        quality: int = 3,
        *,
        time_limit: float | None = None,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.quality = quality
        self.time_limit = time_limit
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @answers_arguments
    def predict(self, X: Any) -> Floats:
        """Predicted value of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Weighted mean of the predictions of `estimators_`.
        """
        return self._columns(X)[:, 0]

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Interval in which the target of each row lies with a given probability.

        Its ends are as far from the prediction as targets were from the predictions of rows that
        no model had seen: out of bag by the forest, held out by boosting. If new rows are like
        them, the interval covers at least the given share of targets on average over all rows
        (split conformal prediction: Vovk et al. 2005, Lei et al. 2018). That the same rows chose
        the weight is neglected; that boosting fits all rows again, and that a row is out of bag of
        a third of the trees only, makes intervals a little too wide.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        coverage : float, default=0.9
            Share of targets that should be inside, between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper ends; infinite if there were too few held-out rows.

        Examples
        --------
        >>> from bevel import ObliqueRegressor
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = ObliqueRegressor(quality=1, random_state=0).fit(X, y)
        >>> model.predict_interval(X[:2], coverage=0.8).shape
        (2, 2)
        """
        interval_levels(coverage)
        calibration = self.fitted_forest_.aggregation.calibration
        if calibration is None:
            raise ValueError(
                "predict_interval needs rows that neither member was fitted on, whose residuals "
                "measure how far targets are from predictions; this model was fitted on fewer than "
                f"{MIN_ROWS_TO_HOLD_OUT} rows, none of which were held out. Use "
                "ObliqueForestRegressor(keep_targets=True)."
            )
        return calibration.around(self.predict(X), coverage)
