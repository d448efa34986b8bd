"""The oblique gradient boosting classifier and regressor, and their base."""

from __future__ import annotations

import itertools
import numbers
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bevel._types import Floats
from bevel.data.dataset import (
    Dataset,
    encode_dataset,
    encode_like,
    learn_dataset,
    view_dataset,
)
from bevel.data.leaks import warn_of_leaks
from bevel.data.row_groups import RowOrder, read_groups, read_row_order
from bevel.data.row_weights import read_weights
from bevel.data.tables import Table, select_rows
from bevel.data.target import read_labels, read_numbers
from bevel.errors import shorten, wrong_type, wrong_value
from bevel.estimators._base import (
    FEW_ROWS,
    TreeEstimator,
    answers_arguments,
    encoded_blocks,
    explained,
    in_blocks,
    refuse_arrays,
    set_attributes,
    whole_or_not_at_all,
)
from bevel.estimators._boosted_trees import (
    FEATURES_STAGE,
    FIRST_STAGE,
    LINEAR_STAGE,
    OUTPUT_STATE,
    REFIT_STAGE,
    ROW_STATE,
    BoostingWork,
    ColumnNames,
    GivenRows,
    _additive,
    _record,
    _unless_interrupted,
    append_rows,
    check_classes_stay,
    check_rows,
    check_validation,
    hold_out,
    hold_out_by_number,
    hold_out_groups,
    read_eval_set,
    validation_rows,
)
from bevel.estimators.registry import savable
from bevel.forest.aggregation import (
    AdditiveRowPredictor,
    Aggregation,
    SumOfTrees,
    add_some_trees,
    add_trees,
)
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.flat_forest import join_forests
from bevel.forest.importance import gain_importances
from bevel.forest.predictor import NumberTooLargeError, PackedPredictor
from bevel.forest.provenance import Provenance
from bevel.forest.quantiles import interval_levels
from bevel.forest.records import BoostingRecord, Calibration
from bevel.forest.task import Classification, Regression, Task, task_of
from bevel.parameters.boosting_parameters import (
    BOOSTING_CLASSIFIER_PARAMETERS,
    BOOSTING_REGRESSOR_PARAMETERS,
)
from bevel.parameters.forest_parameters import documented
from bevel.parameters.parameter import Parameter, check_each
from bevel.projections.base import FamilySpec
from bevel.projections.families import read_projection
from bevel.scanning import ScannedTable
from bevel.scanning.reading import read_columns
from bevel.scanning.store import RowBytes, scratch_bytes
from bevel.training.boosting import (
    EARLY_STOPPING_ROWS,
    MIN_ROWS_TO_HOLD_OUT,
    OF_CLASSES,
    OF_NUMBERS,
    REFIT_FACTOR,
    TRIAL_SHARE,
    BoostingDefaults,
    BoostingFit,
    BoostingOptions,
    BoostingTarget,
    UserLoss,
    ValidationScorer,
    boost,
    can_train_in_place,
    choose_validation_fraction,
    code_bytes,
    constant_of_least_loss,
    is_clearly_better,
    read_scorer,
    resolve_directions,
    tree_size,
)
from bevel.training.forest_fit import scale_for
from bevel.training.options import (
    DescribedColumns,
    FeatureConstraints,
    draw_seed,
    read_constraints,
)
from bevel.training.progress import Callback, Progress
from bevel.training.threads import count_threads
from bevel.training.trainer import keeps_sparse


class ObliqueBoosting(TreeEstimator, metaclass=ABCMeta):
    """Base of the boosting estimators; not used by itself."""

    _parameters: ClassVar[Mapping[str, Parameter]]
    _defaults: ClassVar[BoostingDefaults]
    _aggregation: ClassVar[type[Aggregation]] = SumOfTrees
    _keeps_interrupted_fits: ClassVar[bool] = True
    early_stopping: bool | str
    refit: bool | str
    validation_fraction: float | str
    max_iter: int | str
    warm_start: bool
    loss: Any
    scoring: Any
    learning_rate: float | str

    @abstractmethod
    def _read_target(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        """Check y and the weights, and set the attributes that depend on them."""

    @abstractmethod
    def _read_validation(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        """Check the target of validation rows, whose classes must be those of y."""

    @abstractmethod
    def _checked_target(self, values: Floats) -> Floats:
        """Return targets that were read before, or raise if the loss does not allow them."""

    @whole_or_not_at_all
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        eval_set: Any = None,
        groups: Any = None,
        time: Any = None,
    ) -> Self:
        """Grow the trees.

        Ctrl-C raises KeyboardInterrupt. The estimator then has the iterations that were done, or
        the model of the last stage that was finished.

        Parameters
        ----------
        X : array, data frame, sparse matrix of shape (n_rows, n_features), or scanned table
            Training rows: NumPy arrays, pandas, polars and pyarrow tables, SciPy sparse matrices
            (kept sparse where the projection allows it, see Many features). NaN, None and masked
            entries are missing values; infinities raise. A table of `bevel.scan` need not fit
            in memory, and brings its targets and weights.
        y : array-like of shape (n_rows,)
            Targets; None with a scanned table.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, zero or more; None weighs all rows equally. A row of weight zero
            has no effect.
        X_val : array, data frame or sparse matrix of shape (n_validation, n_features), default=None
            Validation rows, whose loss decides when to stop.
        y_val : array-like of shape (n_validation,), default=None
            Targets of the validation rows.
        sample_weight_val : array-like of shape (n_validation,), default=None
            Weights of the validation rows.
        eval_set : list of (X_val, y_val), or such a pair, default=None
            Another way to pass validation rows, as in LightGBM, XGBoost and CatBoost. The training
            rows may be a second pair, since their curve is recorded anyway. Unlike there, fit
            always stops by the loss of the validation rows.
        groups : array-like of shape (n_rows,), default=None
            Labels of rows that belong together, such as the patient of each measurement; new rows
            are of other groups. Rows are held out by group: `validation_fraction` is a share of
            groups.
        time : array-like of shape (n_rows,), or str, default=None
            Times of the rows, as numbers or dates, or the name of the column of X that has them;
            new rows are later. Where rows are held out, these are the latest ones. Not with
            `groups` or `X_val`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X_val, y_val = read_eval_set(eval_set, (X, y), (X_val, y_val))
        given = GivenRows(X_val, y_val, sample_weight_val)
        if isinstance(X, ScannedTable):
            refuse_arrays(y, sample_weight, groups, time)
            self._check_scanned(given)
            self._fit_scanned(X)
            return self
        self._fit_in_memory(GivenRows(X, y, sample_weight, groups), given, time)
        return self

    def _fit_in_memory(self, training: GivenRows, validation: GivenRows, time: Any = None) -> None:
        """Grow the trees on rows as they are given to fit."""
        self._check_parameters(validation)
        X, X_val = training.X, validation.X
        if X_val is not None and time is not None:
            remedy = "Leave one of them out."
            raise wrong_value("time", "None with X_val, whose rows validate", time, remedy)
        n_threads = count_threads(self.n_jobs)
        before = self._fitted if self.warm_start and hasattr(self, "_fitted") else None
        table = self._read(X, training.y, reset=before is None)
        order = read_row_order(training.groups, time, table, self._names_of_columns())
        target = self._read_target(training.y, training.sample_weight, table.n_rows)
        if target.weights is not None and not target.weights.all():
            kept = np.flatnonzero(target.weights)
            table = select_rows(table, kept)
            X, target, order = table.native, target.rows(kept), order.rows(kept)
        target = self._in_order(target, order)
        dataset = self._dataset(table, target, before, n_threads, X_val is None, order)
        if before is None and dataset.sparse is None:
            grouped = order.groups is not None
            about = (target.values, self._task().n_classes, target.weights)
            read = (table, dataset.X, dataset.encoding.levels, *about)
            warn_of_leaks(*read, grouped=grouped)
        seed = draw_seed(self.random_state) if before is None else self._warm_start_seed(before)
        if X_val is not None:
            dataset, target = self._with_validation(dataset, target, validation)
            refits = False
        else:
            target, refits = self._hold_out(target, seed, partial(hold_out_in, order))
        scorer = self._scorer(X, X_val, target)
        self._fit_rows(dataset, target, table.n_rows, table, refits, seed, before, scorer)

    def _in_order(self, target: BoostingTarget, order: RowOrder) -> BoostingTarget:  # noqa: ARG002
        """The target with what the loss must know of the groups of the rows."""
        return target

    def _fit_scanned(self, scanned: ScannedTable) -> None:
        """Grow the trees on a scanned table."""
        self._check_parameters(GivenRows())
        with read_columns(
            scanned,
            regression=Regression in self._tasks,
            categorical_features=self.categorical_features,
            scale=self._chosen_scale(),
            class_weight=getattr(self, "class_weight", None),
            n_threads=count_threads(self.n_jobs),
            bar=bool(self.verbose),
            row_bytes=self._row_bytes,
        ) as read:
            table, rows = read.table, read.rows
            check_rows(table.n_rows)
            self._remember_columns(table.n_features, read.names)
            set_attributes(self, task_of(read.classes))
            values = np.asarray(rows.target, dtype=np.float64)
            target = BoostingTarget(self._checked_target(values), rows.weights, None)
            scratch = partial(scratch_bytes, scanned.folder) if read.on_disk else None
            dataset = Dataset(rows.X, table.has_nan, table.encoding, scratch)
            seed = draw_seed(self.random_state)
            target, refits = self._hold_out(target, seed, hold_out_by_number)
            columns = ColumnNames(read.names, table.n_features)
            self._fit_rows(dataset, target, table.n_rows, columns, refits, seed)

    def _check_scanned(self, validation: GivenRows) -> None:
        """Raise for validation rows and parameters that a scanned table does not support."""
        for name, given in validation.named():
            if given is not None:
                raise ValueError(
                    f"{name} must be None with a scanned table, of whose rows a share is held out; "
                    "got a value. Leave it out, or fit rows that are in memory."
                )
        where = "with a scanned table"
        if self.warm_start:
            remedy = "Grow all iterations in one fit."
            raise wrong_value("warm_start", f"False {where}", self.warm_start, remedy)
        if self._scores():
            remedy = "Leave it out: the loss decides when to stop."
            raise wrong_value("scoring", f'"loss" {where}', self.scoring, remedy)
        if callable(self.loss):
            remedy = "Fit rows that are in memory."
            raise wrong_value("loss", f"the name of a loss {where}", self.loss, remedy)

    def _row_bytes(self, n_rows: int, levels: npt.NDArray[np.int32], n_classes: int) -> RowBytes:
        """Bytes of a row of a scanned table during the fit."""
        families = resolve_directions(self._members(), n_rows, levels, FeatureConstraints())
        n_outputs = max(len(self._quantiles()), n_classes if n_classes > 2 else 1)
        return RowBytes(
            ROW_STATE + OUTPUT_STATE * n_outputs, sum(code_bytes(families, len(levels)))
        )

    def _fit_rows(
        self,
        dataset: Dataset,
        target: BoostingTarget,
        n_rows: int,
        columns: DescribedColumns,
        refits: bool,
        seed: int,
        before: FittedForest | None = None,
        scorer: ValidationScorer | None = None,
    ) -> None:
        """Grow the trees on encoded rows, in memory or in a mapped file.

        Parameters
        ----------
        dataset, target
            The rows, with validation rows among them.
        n_rows : int
            Number of rows, without validation rows that the user has given.
        columns : DescribedColumns
            Names of the columns.
        refits : bool
            Whether all rows are fitted again.
        seed : int
            Seed of the trees.
        before : FittedForest or None, default=None
            Model of an earlier fit that this one adds trees to.
        scorer : ValidationScorer or None, default=None
            Scorer that decides when to stop; None: the loss.
        """
        work = self._work(dataset, target, n_rows, columns, refits, seed, before, scorer)
        self._fit_in_stages(work, refits)

    def _work(
        self,
        dataset: Dataset,
        target: BoostingTarget,
        n_rows: int,
        columns: DescribedColumns,
        refits: bool,
        seed: int,
        before: FittedForest | None = None,
        scorer: ValidationScorer | None = None,
    ) -> BoostingWork:
        """What the stages of a fit share; arguments as in `_fit_rows`."""
        constraints = self._constraints(columns, dataset.encoding.n_labels)
        options = self._options(n_rows, target.validates is not None, before, refits)
        if options.linear_leaves and dataset.sparse is not None:
            remedy = "Pass X.toarray(), or leave linear_leaves out."
            raise wrong_value("X", "dense with linear_leaves=True", "a sparse table", remedy)
        return BoostingWork(dataset, target, constraints, options, seed, before, scorer)

    def _constraints(
        self, columns: DescribedColumns, levels: npt.NDArray[np.int32]
    ) -> FeatureConstraints:
        constraints = read_constraints(self.monotonic_cst, self.interaction_cst, columns, levels)
        constraints.check_classes(self._task().n_classes)
        return constraints

    def _assemble(self, work: BoostingWork, fitted: BoostingFit) -> FittedForest:
        """The fitted forest, with the residuals of its validation rows."""
        before = work.before
        forest = fitted.forest
        if before is not None:
            forest = join_forests(before.forest, forest)
        record = self._record(fitted, before)
        additive = SumOfTrees(fitted.baseline, self._loss()[1], record)
        whole = FittedForest(
            predictor=PackedPredictor(forest),
            encoding=work.dataset.encoding,
            feature_names=self._names_of_columns(),
            task=self._task(),
            aggregation=additive,
            provenance=Provenance(work.seed, class_weight=getattr(self, "class_weight", None)),
        )
        calibration = self._calibrate(whole, work.dataset, work.target)
        if calibration is None:
            return whole
        record = replace(record, calibration=calibration)
        return replace(whole, aggregation=replace(additive, record=record))

    def _check_parameters(self, validation: GivenRows) -> None:
        check_each(self._own_parameters(), self._parameters)
        self._check_combinations(validation)

    def _check_combinations(self, validation: GivenRows) -> None:
        check_validation(validation, self.early_stopping, self.refit, self.warm_start)
        read_scorer(self.scoring, self._defaults.scoring)  # raises for unknown names
        for name, plain in (("growth", "best_first"), ("multi_strategy", "one_output_per_tree")):
            if getattr(self, name) != plain and self.monotonic_cst is not None:
                required = f'None with {name}="{getattr(self, name)}", whose splits are shared'
                remedy = f'Use {name}="{plain}".'
                raise wrong_value("monotonic_cst", required, self.monotonic_cst, remedy)
        tree_size(self.growth, self.max_leaf_nodes, self.max_depth)  # raises for trees too deep
        if self.row_sampling == "gradient" and self.subsample == 1.0:
            raise ValueError(
                'row_sampling="gradient" needs subsample below 1, the share of the rows that it '
                "draws; got subsample=1.0. Use for example subsample=0.5."
            )

    def _dataset(
        self,
        table: Table,
        target: BoostingTarget,
        before: FittedForest | None,
        n_threads: int,
        may_view: bool,
        order: RowOrder,
    ) -> Dataset:
        combines_levels, sparse = (
            self._members() is None,
            keeps_sparse(table, self._members() or ()),
        )
        if before is not None:
            return encode_dataset(table, before.encoding, n_threads, combines_levels, sparse)
        scale = self._chosen_scale()
        if may_view and can_train_in_place(self._members(), table.n_rows, table.n_features, scale):
            viewed = view_dataset(table, self.categorical_features, scale, n_threads)
            if viewed is not None:
                return viewed
        level_target = self._task().level_target(target.values) if combines_levels else None
        if level_target is not None:
            latest = order.latest(self._validation_share(refits=True))  # the larger share
            level_target = level_target._replace(folds=order.folds(latest))
        nominal, weights = self.categorical_features, target.weights
        return learn_dataset(
            table, nominal, scale, n_threads, weights, level_target, combines_levels, sparse
        )

    def _chosen_scale(self) -> str | None:
        return scale_for(self.scale, self._members() or ())

    def _members(self) -> Any:
        if self.projection == "auto" and self.n_projections == "auto":
            return None
        projection = "sparse" if self.projection == "auto" else self.projection
        members = read_projection(projection, self.n_projections)
        if self.projection == "auto":
            members = [*read_projection("axis", "p"), *members]
        return members

    def _with_validation(
        self, dataset: Dataset, target: BoostingTarget, given: GivenRows
    ) -> tuple[Dataset, BoostingTarget]:
        """Dataset and target with validation rows appended to the training rows."""
        X_val = given.X
        if not (X_val.shape[0] if hasattr(X_val, "shape") else len(X_val)):
            raise ValueError(
                "X_val must have at least one row; got none. Leave X_val and y_val out to hold out "
                "a share of the training rows."
            )
        table = self._read(X_val, "no_validation", reset=False)
        validation = self._read_validation(given.y, given.sample_weight, table.n_rows)
        if given.groups is not None:
            order = RowOrder(read_groups(given.groups, table.n_rows, least=1))
            validation = self._in_order(validation, order)
        rows = encode_like(dataset, table, count_threads(self.n_jobs))
        return append_rows(dataset, target, rows, validation)

    def _options(
        self, n_rows: int, stops_early: bool, before: FittedForest | None, refits: bool = False
    ) -> BoostingOptions:
        loss, _, n_outputs = self._loss()
        rate = self.learning_rate
        if rate == "auto":
            rate = self._defaults.learning_rate(n_rows, refits)
        rate = float(rate)
        n_iter = self.max_iter
        if n_iter == "auto":
            n_iter = self._defaults.max_iter(rate, stops_early, n_outputs)
        n_iter = int(n_iter)
        n_before = 0
        if before is not None:
            self._check_goes_on(before)
            n_before = before.forest.n_trees // n_outputs
        if n_iter < n_before:
            raise ValueError(
                f"max_iter must be at least the {n_before} iterations that exist when "
                f"warm_start=True; got {n_iter}. Raise it, or set warm_start=False."
            )
        return BoostingOptions(
            loss=loss,
            quantiles=self._quantiles(),
            n_outputs=n_outputs,
            learning_rate=rate,
            max_iter=n_iter - n_before,
            shares_trees=self.multi_strategy == "multi_output_tree" and n_outputs > 1,
            **tree_size(self.growth, self.max_leaf_nodes, self.max_depth),
            min_samples_leaf=int(self.min_samples_leaf),
            l2=float(self.l2_regularization),
            linear_leaves=self._has_linear_leaves(before),
            subsample=float(self.subsample),
            samples_by_gradient=self.row_sampling == "gradient",
            max_bins=int(self.max_bins),
            n_iter_no_change=int(self.n_iter_no_change) if stops_early else 0,
            tol=float(self.tol),
            first_iter=n_before,
            **self._loss_options(),
        )

    def _check_goes_on(self, before: FittedForest) -> None:
        """Raise unless the iterations of an earlier fit predict what this fit predicts."""
        _, *now = self._loss()
        earlier = _additive(before)
        if now != [earlier.link, earlier.n_outputs]:
            raise ValueError(
                "loss must have the link and the number of outputs of the first fit when "
                f"warm_start=True ({earlier.link}, {earlier.n_outputs}); got {shorten(self.loss)} "
                f"({now[0]}, {now[1]}). Set warm_start=False."
            )

    def _has_linear_leaves(self, before: FittedForest | None) -> bool:  # noqa: ARG002
        """Whether the leaves of a fit have linear models from the first."""
        return False

    def _tries_linear_leaves(self, work: BoostingWork) -> bool:  # noqa: ARG002
        """Whether validation rows choose between leaves of one value and linear models."""
        return False

    def _loss_options(self) -> dict[str, Any]:
        """Options of some losses only."""
        return {}

    def _quantiles(self) -> list[float]:
        """Levels of the quantiles that the loss predicts or cuts at, if any."""
        return [0.5]

    def _user_loss(self, target: BoostingTarget) -> UserLoss | None:
        """User-defined loss; None for a loss of the library."""
        if not callable(self.loss):
            return None
        loss = self._make_user_loss(target)
        if target.validates is not None and not self._scores() and not loss.measures():
            raise ValueError(
                "loss must return (gradient, hessian, loss) to be used with early stopping, which "
                "compares losses of validation rows; got (gradient, hessian). Return the loss of "
                "each row too, pass a scorer as `scoring`, or set early_stopping=False."
            )
        return loss

    def _scorer(self, X: Any, X_val: Any, target: BoostingTarget) -> ValidationScorer | None:
        """Scorer that decides when to stop instead of the loss; None if there is none."""
        scorer = read_scorer(self.scoring, self._defaults.scoring)
        if scorer is None or target.validates is None:
            return None
        rows, truth, weights = validation_rows(X, X_val, target)
        task = self._task()
        _, link, n_outputs = self._loss()
        additive = SumOfTrees((0.0,) * n_outputs, link)
        return ValidationScorer(
            scorer, rows, task.labels_of(truth), weights, additive, task.classes
        )

    def _calibrate(self, fitted: FittedForest, dataset: Dataset, target: BoostingTarget) -> Any:  # noqa: ARG002
        """Residuals of the validation rows; for regressors only."""
        return None

    def _boost(
        self, work: BoostingWork, families: list[FamilySpec], stage: str = FIRST_STAGE
    ) -> BoostingFit:
        dataset, target, options, before = work.dataset, work.target, work.options, work.before
        n_threads = count_threads(self.n_jobs)
        sums: tuple[tuple[float, ...], Floats | None] | None = None
        if before is not None:
            additive = _additive(before)
            trees = before.packed_predictor, additive
            raw = np.concatenate([add_trees(*trees, rows, n_threads) for rows in dataset.blocks()])
            sums = (additive.baseline, raw)
        user_loss = self._user_loss(target)
        if user_loss is not None and sums is None:
            sums = (constant_of_least_loss(user_loss, target.training_weights()), None)
        first, n_total = options.first_iter, options.first_iter + options.max_iter
        progress = Progress(first, n_total, bool(self.verbose), self.callback, label=stage)
        return boost(
            *(dataset, target, families, work.constraints, work.seed, options, sums, n_threads),
            *(progress, user_loss, work.scorer),
        )

    def _warm_start_seed(self, before: FittedForest) -> int:
        seed = before.provenance.seed
        assert seed is not None  # boosting never selects trees
        return seed

    def _record(self, fitted: BoostingFit, before: FittedForest | None) -> BoostingRecord:
        """The learning curve: minus the loss after each iteration, earlier fits included."""
        scores = [-fitted.training_loss, -fitted.validation_loss]
        earlier = None if before is None else _additive(before).record
        if earlier is not None:
            known = (earlier.training_score, earlier.validation_score)
            scores = [np.concatenate(pair) for pair in zip(known, scores, strict=True)]
        return BoostingRecord(scores[0], scores[1])

    @property
    def n_iter_(self) -> int:
        """Number of iterations in the model."""
        fitted = self.fitted_forest_
        return int(fitted.forest.n_trees // _additive(fitted).n_outputs)

    @property
    def train_score_(self) -> Floats:
        """Minus the mean loss on the training rows, after each iteration."""
        return np.array(_record(self.fitted_forest_).training_score)

    @property
    def validation_score_(self) -> Floats:
        """Minus the mean loss on the validation rows; empty if there were none."""
        return np.array(_record(self.fitted_forest_).validation_score)

    @property
    def best_iteration_(self) -> int:
        """Number of iterations of the lowest validation loss, or highest score.

        Predictions use so many, or more if all rows were fitted again (`refit`). Without validation
        rows it is `n_iter_`.
        """
        scores = _record(self.fitted_forest_).validation_score
        return int(np.argmax(scores)) + 1 if len(scores) else self.n_iter_

    @property
    def evals_result_(self) -> dict[str, dict[str, list[float]]]:
        """The learning curves by data and measure, as LightGBM and XGBoost have them.

        Losses are positive; the same as `train_score_` and `validation_score_`.
        """
        record = _record(self.fitted_forest_)
        loss = self.loss if isinstance(self.loss, str) else "loss"
        found = {"training": {loss: (-record.training_score).tolist()}}
        if len(record.validation_score):
            if self._scores():
                name = self.scoring if isinstance(self.scoring, str) else "score"
                found["validation"] = {name: record.validation_score.tolist()}
            else:
                found["validation"] = {loss: (-record.validation_score).tolist()}
        return found

    @property
    def baseline_prediction_(self) -> Floats:
        """Initial values of the outputs, before the first tree."""
        return np.array(_additive(self.fitted_forest_).baseline)

    @property
    def predictor_(self) -> AdditiveRowPredictor:  # type: ignore[override]
        """The trees for servers: no checks, any thread; see `AdditiveRowPredictor`."""
        self.verify()
        fitted = self.fitted_forest_
        fitted.encoding.check_plain("predictor_")
        return AdditiveRowPredictor(
            fitted.packed_predictor, fitted.encoding.reading, _additive(fitted)
        )

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain of all splits, summing to one."""
        return gain_importances(self.forest_, normalised=False)

    def _raw(self, X: Any, n_iterations: int | None = None) -> Floats:
        """Sums of the trees of each row and output, of all or of the first iterations."""
        try:
            return self._sums(X, self._n_trees_of(n_iterations))
        except MemoryError as error:
            told = explained(error, "A prediction", self, X)
            if told is error:
                raise
            raise told from error

    def _n_trees_of(self, n_iterations: int | None) -> int | None:
        """Number of trees of the first iterations; None for all."""
        if n_iterations is None:
            return None
        required = f"an integer from 0 to the {self.n_iter_} iterations of the model, or None"
        remedy = "Leave it out to use all."
        if not isinstance(n_iterations, numbers.Integral) or isinstance(n_iterations, bool):
            raise wrong_type("n_iterations", required, n_iterations, remedy)
        if not 0 <= n_iterations <= self.n_iter_:
            raise wrong_value("n_iterations", required, n_iterations, remedy)
        return int(n_iterations) * _additive(self._fitted).n_outputs

    def _sums(self, X: Any, n_trees: int | None) -> Floats:
        plain = self._plain(X)
        if plain is not None:
            fitted = self._fitted
            n_threads = 1 if len(plain) < FEW_ROWS else count_threads(self.n_jobs)
            predictor, reading = fitted.packed_predictor, fitted.encoding.reading
            try:
                return add_trees(predictor, _additive(fitted), plain, n_threads, reading, n_trees)
            except NumberTooLargeError:
                pass  # the slower conversion raises an error that names the row and column
        check_is_fitted(self)
        trees = self._fitted.packed_predictor, _additive(self._fitted)
        n_threads = count_threads(self.n_jobs)
        return in_blocks(lambda rows: add_trees(*trees, rows, n_threads, n_trees=n_trees), self, X)

    def _decode(self, raw: Floats) -> npt.NDArray[Any]:
        """What `predict` returns, from sums of the trees."""
        return self._fitted.task.labels_of(_additive(self._fitted).predict(raw))

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        """Sums of the trees of each row and output, after each iteration."""
        fitted, n_threads = self.fitted_forest_, count_threads(self.n_jobs)
        additive, predictor = _additive(fitted), fitted.packed_predictor
        step, n_trees = additive.n_outputs, fitted.forest.n_trees
        blocks = encoded_blocks(self, X)
        rows, more = next(blocks), next(blocks, None)
        if more is not None and fitted.forest.has_leaf_models:  # leaves need the rows
            rows, more = np.concatenate([rows, more, *blocks]), None
        out = np.tile(np.asarray(additive.baseline), (len(rows), 1))
        if more is None:
            for first in range(0, n_trees, step):
                add_some_trees(predictor, rows, range(first, first + step), n_threads, out)
                yield out.copy()
            return
        # The leaves of all rows, of a sparse table, are less than its rows made dense.
        parts = [predictor.leaves(each, n_threads) for each in (rows, more, *blocks)]
        leaves = np.concatenate(parts) + fitted.forest.tree_offset[:-1]
        out = np.tile(np.asarray(additive.baseline), (len(leaves), 1))
        for first in range(0, n_trees, step):
            out += fitted.forest.leaf_value[leaves[:, first : first + step]]
            yield out.copy()

    @abstractmethod
    def _task(self) -> Task:
        """What the model predicts."""

    @abstractmethod
    def _loss(self) -> tuple[str, str, int]:
        """Loss as the core names it, link, and number of outputs."""

    def _hold_out(
        self, target: BoostingTarget, seed: int, choose: Callable[..., npt.NDArray[np.bool_]]
    ) -> tuple[BoostingTarget, bool]:
        """Choose the rows that validate, if any, and whether all rows are fitted again afterwards.

        choose: function such as `hold_out`.
        """
        n_rows = len(target.values)
        automatic = self.early_stopping == "auto"
        is_small = n_rows <= EARLY_STOPPING_ROWS
        may_refit = self._may_refit(target, n_rows)
        if automatic and is_small and not may_refit and not self._scores():
            return target, False
        if not automatic and not self.early_stopping:
            return target, False
        automatic_refit = automatic and is_small and may_refit
        refits = automatic_refit if self.refit == "auto" else bool(self.refit)
        share = self._validation_share(refits)
        try:
            validates = choose(target, self._defaults.by_class, share, seed)
        except ValueError:
            if not automatic or self._scores():
                raise
            return target, False  # such as a class with a single row
        return replace(target, validates=validates), refits

    def _validation_share(self, refits: bool) -> float:
        """Share of the rows that are held out."""
        share = self.validation_fraction
        return choose_validation_fraction(refits) if share == "auto" else float(share)

    def _may_refit(self, target: BoostingTarget, n_rows: int) -> bool:
        """Whether "auto" may find the number of iterations on held-out rows of a small table."""
        return (
            self.max_iter == "auto"
            and self.refit is not False
            and not self.warm_start
            and n_rows >= MIN_ROWS_TO_HOLD_OUT
            and self._measures(target)
        )

    def _measures(self, target: BoostingTarget) -> bool:
        """Whether there is a loss or score that early stopping can compare."""
        if not callable(self.loss) or self._scores():
            return True
        return self._make_user_loss(target).measures()

    def _scores(self) -> bool:
        """Whether a scorer, not the loss, decides when to stop."""
        return not (isinstance(self.scoring, str) and self.scoring == "loss")

    def _make_user_loss(self, target: BoostingTarget) -> UserLoss:
        return UserLoss(self.loss, target.values.copy(), self._loss()[2])

    def _fit_in_stages(self, work: BoostingWork, refits: bool) -> None:
        families = self._fit_first(work)
        if refits:
            self._fitted = self._refit(work, families)

    def _fit_first(self, work: BoostingWork) -> list[FamilySpec]:
        """Fit the rows that do not validate; returns the directions that were chosen."""
        candidates = self._candidates(work)
        families, fitted = candidates[0], self._boost(work, candidates[0])
        if len(candidates) > 1 and not fitted.interrupted:
            families, fitted = self._choose(work, fitted, *candidates)
        if self._tries_linear_leaves(work) and not fitted.interrupted:
            fitted = self._choose_leaves(work, fitted, families)
        self._fitted = self._assemble(work, fitted)
        if fitted.interrupted:
            raise self._interruption()
        return families

    def _interruption(self) -> KeyboardInterrupt:
        """The exception of Ctrl-C, raised once the estimator has the trees grown so far."""
        return KeyboardInterrupt(
            f"fit was interrupted; the estimator has the {self.n_iter_} iterations of its last "
            "stage that were done, and can predict by them."
        )

    def _candidates(self, work: BoostingWork) -> list[list[FamilySpec]]:
        """Directions to try: features with combinations, and perhaps features alone."""
        members = self._members()
        kinds = [members]
        validates = work.target.validates is not None
        chooses = self._defaults.chooses_directions
        if members is None and validates and chooses and not self.warm_start:
            kinds.append(read_projection("axis", "auto"))
        dataset, constraints = work.dataset, work.constraints
        table = dataset.shape[0], dataset.encoding.levels, constraints
        used = dataset.n_with_terms, len(dataset.idle)
        found = [resolve_directions(kind, *table, *used) for kind in kinds]
        return found if found[0] != found[-1] else found[:1]

    def _choose(
        self,
        work: BoostingWork,
        first: BoostingFit,
        families: list[FamilySpec],
        features_alone: list[FamilySpec],
    ) -> tuple[list[FamilySpec], BoostingFit]:
        """Choose features alone if they are clearly better; after Ctrl-C, the first fit."""
        grow = partial(self._boost, work, features_alone, FEATURES_STAGE)
        fitted = _unless_interrupted(grow)
        if fitted is None:
            return families, replace(first, interrupted=True)
        if is_clearly_better(fitted.validation_loss, first.validation_loss):
            return features_alone, fitted
        return families, first

    def _choose_leaves(
        self, work: BoostingWork, first: BoostingFit, families: list[FamilySpec]
    ) -> BoostingFit:
        """Choose linear leaves if they are clearly better; after Ctrl-C, the first fit."""
        options = replace(work.options, linear_leaves=True)
        n_trial = options.max_iter
        if len(work.target.values) > EARLY_STOPPING_ROWS:
            n_trial = max(1, round(TRIAL_SHARE * len(first.training_loss)))
        fitted = first
        for n_iter in sorted({n_trial, options.max_iter}):  # a trial that ran out goes on
            linear = replace(work, options=replace(options, max_iter=n_iter))
            found = _unless_interrupted(partial(self._boost, linear, families, LINEAR_STAGE))
            if found is None:
                return replace(first, interrupted=True)
            if not is_clearly_better(found.validation_loss, first.validation_loss):
                break
            fitted = found
            if len(found.training_loss) < n_iter:
                break
        return fitted

    def _refit(self, work: BoostingWork, families: list[FamilySpec]) -> FittedForest:
        """Fit all rows, with a number of iterations that follows from the held-out ones.

        The validation scores and residuals of the first fit are kept, since none of its trees was
        grown on these rows. After Ctrl-C the estimator has the first fit.
        """
        first = self._fitted
        is_linear = work.options.linear_leaves or first.forest.has_leaf_models
        options = replace(work.options, linear_leaves=is_linear)
        work = replace(
            work,
            options=self._refit_options(options),
            target=replace(work.target, validates=None),
            scorer=None,
        )
        fitted = _unless_interrupted(partial(self._boost, work, families, REFIT_STAGE))
        if fitted is None:
            raise self._interruption()
        whole = self._assemble(work, fitted)
        known, own = _record(first), _record(whole)
        record = replace(known, training_score=own.training_score)
        return replace(whole, aggregation=replace(_additive(whole), record=record))

    def _refit_options(self, options: BoostingOptions) -> BoostingOptions:
        rate = options.learning_rate
        if self.learning_rate == "auto":
            rate = self._defaults.refit_rate
        n_iter = round(REFIT_FACTOR * self.n_iter_ * (options.learning_rate / rate))
        return replace(options, learning_rate=rate, max_iter=max(1, n_iter), n_iter_no_change=0)


def hold_out_in(
    order: RowOrder, target: BoostingTarget, by_class: bool, fraction: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Choose the rows that validate: the latest ones, or by group, or any."""
    latest = order.latest(fraction)
    if latest is not None:
        return check_classes_stay(latest, target, by_class, fraction)
    if order.groups is not None:
        return hold_out_groups(order.groups, target, by_class, fraction, seed)
    return hold_out(target, by_class, fraction, seed)


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
    best_iteration_ : int
        Number of iterations of the lowest validation loss, or highest score; `n_iter_` without
        validation rows.
    evals_result_ : dict
        The two curves by data and measure, as LightGBM and XGBoost have them.

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
    _tasks: ClassVar[tuple[type[Task], ...]] = (Classification,)
    _defaults: ClassVar[BoostingDefaults] = OF_CLASSES

    def __init__(
        self,
        loss: str | Callable[..., Any] = "log_loss",
        *,
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        projection: Any = "auto",
        n_projections: int | float | str = "auto",
        growth: str = "best_first",
        multi_strategy: str = "one_output_per_tree",
        max_leaf_nodes: int | str | None = "auto",
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
        self.growth = growth
        self.multi_strategy = multi_strategy
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

    @answers_arguments
    def predict(self, X: Any, *, n_iterations: int | None = None) -> npt.NDArray[Any]:
        """Most probable class of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        n_iterations : int, default=None
            Use the first iterations only; None uses all.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels; the first in `classes_` where several are equally probable.
        """
        raw = self._raw(X, n_iterations)
        return self._decode(raw)

    @answers_arguments
    def predict_proba(self, X: Any, *, n_iterations: int | None = None) -> Floats:
        """Class probabilities of each row, in the order of `classes_`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        n_iterations : int, default=None
            Use the first iterations only; None uses all.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Probabilities, summing to one.
        """
        raw = self._raw(X, n_iterations)
        return _additive(self._fitted).probabilities(raw)

    @answers_arguments
    def predict_log_proba(self, X: Any, *, n_iterations: int | None = None) -> Floats:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        n_iterations : int, default=None
            Use the first iterations only; None uses all.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Logarithms of `predict_proba`.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, n_iterations=n_iterations)))

    @answers_arguments
    def decision_function(self, X: Any, *, n_iterations: int | None = None) -> Floats:
        """Sums of the trees: the log-odds of the second class, or a number for each class.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        n_iterations : int, default=None
            Use the first iterations only; None uses all.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes_)
            A single column for two classes.
        """
        raw = self._raw(X, n_iterations)
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
            yield self._decode(raw)

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

    def _task(self) -> Task:
        return Classification(self.classes_)

    def _loss(self) -> tuple[str, str, int]:
        n_classes = len(self.classes_)
        if n_classes == 2:
            return ("user" if callable(self.loss) else "log_loss"), "logistic", 1
        return ("user" if callable(self.loss) else "multinomial"), "softmax", n_classes

    def _read_target(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        classes, codes = read_labels(y, n_rows)
        self._check_classes(classes)
        if self.warm_start and hasattr(self, "_fitted"):
            Classification(classes).check_same(self._fitted.task)
        weights = read_weights(sample_weight, self.class_weight, classes[codes], n_rows)
        set_attributes(self, Classification(classes))
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


# The oblique gradient boosting regressor.

MAX_QUANTILES = 99
# The spread of targets grows with this power of their mean; for other losses it is constant.
SPREAD = {"poisson": 0.5, "gamma": 1.0}
# Losses whose leaves take quantiles of the residuals instead of Newton steps.
LOSSES_OF_QUANTILES = ("absolute_error", "huber", "quantile")
# Share of the residuals that the Huber loss counts by their squares.
HUBER_SHARE = 0.9


@savable
@documented(BOOSTING_REGRESSOR_PARAMETERS)
class ObliqueBoostingRegressor(RegressorMixin, ObliqueBoosting):  # type: ignore[misc]
    """Gradient boosting of trees that cut single features and oblique directions.

    Each iteration adds a tree that lowers the loss. Trees cut single features and, by default,
    sparse combinations of them, which are drawn anew for each iteration.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
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
    best_iteration_ : int
        Number of iterations of the lowest validation loss, or highest score; `n_iter_` without
        validation rows.
    evals_result_ : dict
        The two curves by data and measure, as LightGBM and XGBoost have them.

    Examples
    --------
    >>> from bevel import ObliqueBoostingRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ObliqueBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
    >>> model.predict(X[:1]).shape
    (1,)
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = BOOSTING_REGRESSOR_PARAMETERS
    _tasks: ClassVar[tuple[type[Task], ...]] = (Regression,)
    _defaults: ClassVar[BoostingDefaults] = OF_NUMBERS

    def __init__(
        self,
        loss: str | Callable[..., Any] = "squared_error",
        *,
        quantile: float | Sequence[float] | None = None,
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        projection: Any = "auto",
        n_projections: int | float | str = "auto",
        growth: str = "best_first",
        multi_strategy: str = "one_output_per_tree",
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
        l2_regularization: float = 3.0,
        max_bins: int = 255,
        subsample: float = 1.0,
        row_sampling: str = "uniform",
        linear_leaves: bool | str = "auto",
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
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.projection = projection
        self.n_projections = n_projections
        self.growth = growth
        self.multi_strategy = multi_strategy
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.subsample = subsample
        self.row_sampling = row_sampling
        self.linear_leaves = linear_leaves
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    @answers_arguments
    def predict(self, X: Any, *, n_iterations: int | None = None) -> Floats:
        """Predicted value of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        n_iterations : int, default=None
            Use the first iterations only; None uses all.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_quantiles) if `quantile` is a list
            Mean, median or quantile, depending on the loss; several quantiles ascend in each row.
        """
        raw = self._raw(X, n_iterations)
        return self._decode(raw)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predict after each iteration.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Yields
        ------
        ndarray of shape (n_rows,), or (n_rows, n_quantiles)
            Predicted values.
        """
        for raw in self._staged_raw(X):
            yield self._decode(raw)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Interval in which the target of each row lies with a given probability.

        It needs validation rows at fit (`X_val`, or early stopping), whose residuals show how far
        targets are from predictions. If new rows are like them, the interval covers at least the
        given share of targets on average over all rows (split conformal prediction: Vovk et al.
        2005, Lei et al. 2018); that the same rows chose the number of iterations is neglected. With
        several quantiles the interval follows the lowest and the highest, so its width differs
        from row to row (Romano, Patterson, Candès 2019).

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        coverage : float, default=0.9
            Share of targets that should be inside, between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper ends; infinite if there were too few validation rows.

        Examples
        --------
        >>> from bevel import ObliqueBoostingRegressor
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = ObliqueBoostingRegressor(early_stopping=True, random_state=0).fit(X, y)
        >>> model.predict_interval(X[:2], coverage=0.8).shape
        (2, 2)
        """
        interval_levels(coverage)
        record = _additive(self.fitted_forest_).record
        calibration = None if record is None else record.calibration
        if calibration is None:
            raise ValueError(
                "predict_interval needs validation rows, whose residuals measure how far targets "
                "are from predictions; this model was fitted without any of weight above 0. Fit "
                "with early_stopping=True, or pass X_val and y_val to fit."
            )
        found = self.predict(X)
        if found.ndim == 1:
            return calibration.around(found, coverage)
        return calibration.between(found[:, 0], found[:, -1], coverage)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions; not defined for several quantiles.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        float
            R²; the best value is 1.
        """
        if _additive(self.fitted_forest_).link == "sorted":
            raise ValueError(
                "score needs a model with one prediction for each row; this one predicts the "
                f"quantiles {self._quantiles()}. Pass a column of predict to "
                "sklearn.metrics.d2_pinball_score."
            )
        return float(super().score(X, y, sample_weight))

    def _check_combinations(self, validation: GivenRows) -> None:
        super()._check_combinations(validation)
        if (self.loss == "quantile") != (self.quantile is not None):
            raise ValueError(
                'quantile must be given with loss="quantile", and only then; got '
                f"quantile={shorten(self.quantile)} with loss={shorten(self.loss)}. Pass for "
                'example loss="quantile", quantile=0.9.'
            )
        if self._has_many_quantiles():
            self._quantiles()  # raises for invalid ones
        if self.linear_leaves is not True:
            return
        remedy = 'Leave it out, or set linear_leaves="auto".'
        if self.loss in LOSSES_OF_QUANTILES:
            required = "a loss whose leaves take Newton steps with linear_leaves=True"
            raise wrong_value("loss", required, self.loss, remedy)
        if self.monotonic_cst is not None:
            required = "None with linear_leaves=True, whose slopes may have any sign"
            raise wrong_value("monotonic_cst", required, self.monotonic_cst, remedy)

    def _has_linear_leaves(self, before: FittedForest | None) -> bool:
        if self.linear_leaves == "auto":
            return before is not None and before.forest.has_leaf_models
        return bool(self.linear_leaves)

    def _tries_linear_leaves(self, work: BoostingWork) -> bool:
        return (
            self.linear_leaves == "auto"
            and self.loss == "squared_error"
            and self.monotonic_cst is None
            and work.target.validates is not None
            and work.dataset.sparse is None
            and not self.warm_start
        )

    def _has_many_quantiles(self) -> bool:
        return isinstance(self.quantile, Iterable)

    def _spread(self) -> float:
        return SPREAD.get(self.loss, 0.0) if isinstance(self.loss, str) else 0.0

    def _task(self) -> Task:
        return Regression()

    def _loss(self) -> tuple[str, str, int]:
        if callable(self.loss):
            return "user", "identity", 1
        if self._has_many_quantiles():
            return "quantile", "sorted", len(self._quantiles())
        link = "exponential" if self.loss in ("poisson", "gamma") else "identity"
        return self.loss, link, 1

    def _quantiles(self) -> list[float]:
        if self.loss == "huber":
            return [HUBER_SHARE]
        if not isinstance(self.quantile, Iterable):
            return [0.5 if self.quantile is None else float(self.quantile)]
        required = f"ascending numbers between 0 and 1, at most {MAX_QUANTILES}"
        remedy = "Write for example [0.1, 0.5, 0.9]."
        try:
            levels = [float(level) for level in self.quantile]
        except (TypeError, ValueError):
            raise wrong_type("quantile", required, self.quantile, remedy) from None
        edges = [0.0, *levels, 1.0]
        ascending = all(low < high for low, high in itertools.pairwise(edges))
        if not 0 < len(levels) <= MAX_QUANTILES or not ascending:
            raise wrong_value("quantile", required, self.quantile, remedy)
        return levels

    def _calibrate(
        self, fitted: FittedForest, dataset: Dataset, target: BoostingTarget
    ) -> Calibration | None:
        if target.validates is None:
            return None
        kept = (
            target.validates
            if target.weights is None
            else target.validates & (target.weights > 0.0)
        )
        if not kept.any():
            return None
        additive, n_threads = _additive(fitted), count_threads(self.n_jobs)
        trees = fitted.packed_predictor, additive
        sums = [add_trees(*trees, rows, n_threads) for rows in dataset.blocks(kept)]
        found = additive.values(np.concatenate(sums))
        values = target.values[kept]
        weights = None if target.weights is None else target.weights[kept]
        empty = Calibration(np.empty((0, 1)), None, self._spread())
        if found.ndim == 2:
            residuals = np.column_stack([found[:, 0] - values, values - found[:, -1]])
        else:
            residuals = ((values - found) / empty.spread(found))[:, np.newaxis]
        return replace(empty, residuals=residuals, weights=weights)

    def _read_target(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        weights = read_weights(sample_weight, None, None, n_rows)
        return BoostingTarget(self._numbers(y, n_rows, "y"), weights, None)

    def _read_validation(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        weights = read_weights(sample_weight, None, None, n_rows)
        return BoostingTarget(self._numbers(y, n_rows, "y_val"), weights, None)

    def _numbers(self, y: Any, n_rows: int, name: str) -> Floats:
        return self._checked_target(read_numbers(y, n_rows), name)

    def _checked_target(self, values: Floats, name: str = "y") -> Floats:
        lowest = float(np.min(values))
        if self.loss == "poisson" and (lowest < 0.0 or not values.any()):
            raise ValueError(
                f'{name} must hold numbers of at least 0, not all 0, with loss="poisson"; got '
                f'{lowest:g}. Use loss="squared_error", or shift the target.'
            )
        if self.loss == "gamma" and lowest <= 0.0:
            raise ValueError(
                f'{name} must hold positive numbers with loss="gamma"; got {lowest:g}. Use '
                'loss="squared_error" or "poisson", or shift the target.'
            )
        return values
