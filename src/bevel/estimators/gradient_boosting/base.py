"""Base of the boosting classifier and regressor."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from bevel._types import Floats
from bevel.data.dataset import Dataset, encode_dataset, learn_dataset, view_dataset
from bevel.data.encoding import encode
from bevel.data.scaling import automatic_scale
from bevel.data.tables import Table, select_rows
from bevel.estimators._doc_link import LinksToDocuments
from bevel.estimators._named_parameters import NamedParameters
from bevel.estimators._reading import TableInput
from bevel.estimators._whole_fits import whole_or_not_at_all
from bevel.estimators.gradient_boosting.boosted_trees import BoostedTrees, _additive
from bevel.estimators.gradient_boosting.held_out import HoldsOutRows
from bevel.estimators.gradient_boosting.stages import FIRST_STAGE, BoostingWork, FitsInStages
from bevel.estimators.gradient_boosting.validation import (
    append_rows,
    check_validation,
    hold_out,
    validation_rows,
)
from bevel.estimators.scanned.boosting import fit_boosting
from bevel.files.model import StoredEstimator
from bevel.forest.additive import Additive, add_trees
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.joining import join_forests
from bevel.forest.predictor import PackedPredictor
from bevel.forest.records.boosting_record import BoostingRecord
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import check_each
from bevel.projections.base import FamilySpec
from bevel.projections.families import combines_units, read_projection
from bevel.scanning import ScannedTable
from bevel.training.boosting import (
    BoostingFit,
    BoostingOptions,
    BoostingTarget,
    boost,
    reads_as_it_lies,
)
from bevel.training.boosting_schedule import choose_learning_rate, choose_max_iter
from bevel.training.feature_constraints import (
    DescribedColumns,
    FeatureConstraints,
    read_constraints,
)
from bevel.training.options import draw_seed
from bevel.training.progress import Progress
from bevel.training.threads import count_threads
from bevel.training.user_loss import UserLoss, constant_of_least_loss
from bevel.training.validation_scorer import ValidationScorer, read_scorer


class ObliqueBoosting(
    BoostedTrees,
    HoldsOutRows,
    FitsInStages,
    NamedParameters,
    TableInput,
    LinksToDocuments,
    BaseEstimator,  # type: ignore[misc]
    metaclass=ABCMeta,
):
    """Base of the boosting estimators; not used by itself."""

    _parameters: ClassVar[Mapping[str, Parameter]]
    _keeps_interrupted_fits: ClassVar[bool] = True

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
    ) -> Self:
        """Grow the trees.

        Ctrl-C raises KeyboardInterrupt. The estimator then has the iterations that were done, or
        the model of the last stage that was finished.

        Parameters
        ----------
        X : array, data frame, sparse matrix of shape (n_rows, n_features), or scanned table
            Training rows: NumPy arrays, pandas, polars and pyarrow tables, SciPy sparse matrices
            (made dense, in float32). NaN, None and masked entries are missing
            values; infinities raise. A table of `bevel.scan` need not fit in memory, and brings its
            targets and weights.
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

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if isinstance(X, ScannedTable):
            fit_boosting(self, X, (y, sample_weight), (X_val, y_val, sample_weight_val))
            return self
        self._check_parameters(X_val, y_val, sample_weight_val)
        n_threads = count_threads(self.n_jobs)
        before = self._fitted if self.warm_start and hasattr(self, "_fitted") else None
        table = self._read(X, y, reset=before is None)
        target = self._read_target(y, sample_weight, table.n_rows)
        if target.weights is not None and not target.weights.all():
            kept = np.flatnonzero(target.weights)
            table = select_rows(table, kept)
            X, target = table.native, target.rows(kept)
        dataset = self._dataset(table, before, n_threads, may_view=X_val is None)
        seed = draw_seed(self.random_state) if before is None else self._warm_start_seed(before)
        if X_val is not None:
            dataset, target = self._with_validation(
                dataset, target, X_val, y_val, sample_weight_val
            )
            refits = False
        else:
            target, refits = self._hold_out(target, seed, hold_out)
        constraints = self._constraints(table, dataset.encoding.levels)
        scorer = self._scorer(X, X_val, target)
        options = self._options(table.n_rows, target.validates is not None, before, refits)
        work = BoostingWork(dataset, target, constraints, options, seed, before, scorer)
        self._fit_in_stages(work, refits)
        return self

    def _constraints(
        self, columns: DescribedColumns, levels: npt.NDArray[np.int32]
    ) -> FeatureConstraints:
        constraints = read_constraints(self.monotonic_cst, self.interaction_cst, columns, levels)
        if hasattr(self, "classes_"):
            constraints.check_classes(len(self.classes_))
        return constraints

    def _assemble(self, work: BoostingWork, fitted: BoostingFit) -> FittedForest:
        """The fitted forest, with the residuals of its validation rows."""
        before = work.before
        forest = fitted.forest
        if before is not None:
            forest = join_forests(before.forest, forest)
        record = self._record(fitted, before)
        additive = Additive(fitted.baseline, self._loss()[1], record)
        whole = FittedForest(
            predictor=PackedPredictor(forest),
            encoding=work.dataset.encoding,
            feature_names=self._names_of_columns(),
            classes=getattr(self, "classes_", None),
            hard=False,
            bags=None,
            seed=work.seed,
            class_weight=getattr(self, "class_weight", None),
            additive=additive,
        )
        calibration = self._calibrate(whole, work.dataset, work.target)
        if calibration is None:
            return whole
        record = replace(record, calibration=calibration)
        return replace(whole, additive=replace(additive, record=record))

    def _check_parameters(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
        check_each(self._own_parameters(), self._parameters)
        self._check_combinations(X_val, y_val, sample_weight_val)

    def _check_combinations(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
        check_validation(
            (X_val, y_val, sample_weight_val), self.early_stopping, self.refit, self.warm_start
        )
        read_scorer(self.scoring, True)  # raises for unknown names
        if self.row_sampling == "gradient" and self.subsample == 1.0:
            raise ValueError(
                'row_sampling="gradient" needs subsample below 1, the share of the rows that it '
                "draws; got subsample=1.0. Use for example subsample=0.5."
            )

    def _dataset(
        self, table: Table, before: FittedForest | None, n_threads: int, may_view: bool
    ) -> Dataset:
        if before is not None:
            return encode_dataset(table, before.encoding, n_threads)
        scale = self._chosen_scale()
        if may_view and reads_as_it_lies(self._members(), table.n_rows, table.n_features, scale):
            viewed = view_dataset(table, self.categorical_features, scale, n_threads)
            if viewed is not None:
                return viewed
        return learn_dataset(table, self.categorical_features, scale, n_threads)

    def _chosen_scale(self) -> str | None:
        members = self._members()
        combines = True if members is None else combines_units(members)
        return automatic_scale(combines) if self.scale == "auto" else self.scale

    def _members(self) -> Any:
        if self.projection == "auto" and self.n_projections == "auto":
            return None
        projection = "sparse" if self.projection == "auto" else self.projection
        members = read_projection(projection, self.n_projections)
        if self.projection == "auto":
            members = [*read_projection("axis", "p"), *members]
        return members

    def _with_validation(
        self, dataset: Dataset, target: BoostingTarget, X_val: Any, y_val: Any, weights: Any
    ) -> tuple[Dataset, BoostingTarget]:
        """Dataset and target with validation rows appended to the training rows."""
        if not (X_val.shape[0] if hasattr(X_val, "shape") else len(X_val)):
            raise ValueError(
                "X_val must have at least one row; got none. Leave X_val and y_val out to hold out "
                "a share of the training rows."
            )
        table = self._read(X_val, "no_validation", reset=False)
        validation = self._read_validation(y_val, weights, table.n_rows)
        rows = encode(table, dataset.encoding, "F", count_threads(self.n_jobs))
        return append_rows(dataset, target, rows, validation)

    def _options(
        self, n_rows: int, stops_early: bool, before: FittedForest | None, refits: bool = False
    ) -> BoostingOptions:
        loss, _, n_outputs = self._loss()
        rate = self.learning_rate
        is_classifier = hasattr(self, "classes_")
        if rate == "auto":
            rate = choose_learning_rate(n_rows, is_classifier, refits)
        rate = float(rate)
        n_iter = self.max_iter
        if n_iter == "auto":
            n_iter = choose_max_iter(rate, is_classifier, stops_early, n_outputs)
        n_iter = int(n_iter)
        n_before = 0 if before is None else before.forest.n_trees // n_outputs
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
            max_leaf_nodes=0 if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            max_depth=-1 if self.max_depth is None else int(self.max_depth),
            min_samples_leaf=int(self.min_samples_leaf),
            l2=float(self.l2_regularization),
            subsample=float(self.subsample),
            samples_by_gradient=self.row_sampling == "gradient",
            max_bins=int(self.max_bins),
            n_iter_no_change=int(self.n_iter_no_change) if stops_early else 0,
            tol=float(self.tol),
            first_iter=n_before,
        )

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
        classes = getattr(self, "classes_", None)
        scorer = read_scorer(self.scoring, classes is not None)
        if scorer is None or target.validates is None:
            return None
        rows, truth, weights = validation_rows(X, X_val, target)
        if classes is not None:
            truth = classes[truth.astype(np.intp)]
        _, link, n_outputs = self._loss()
        additive = Additive((0.0,) * n_outputs, link)
        return ValidationScorer(scorer, rows, truth, weights, additive, classes)

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
            rows = np.ascontiguousarray(dataset.X)
            raw = add_trees(before.packed_predictor, additive, rows, n_threads)
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
        assert before.seed is not None  # boosting never selects trees
        return before.seed

    def _record(self, fitted: BoostingFit, before: FittedForest | None) -> BoostingRecord:
        """The learning curve: minus the loss after each iteration, earlier fits included."""
        scores = [-fitted.training_loss, -fitted.validation_loss]
        earlier = None if before is None else _additive(before).record
        if earlier is not None:
            known = (earlier.training_score, earlier.validation_score)
            scores = [np.concatenate(pair) for pair in zip(known, scores, strict=True)]
        return BoostingRecord(scores[0], scores[1])

    def _to_store(self) -> StoredEstimator:
        return StoredEstimator(
            type(self).__name__, self._own_parameters(), self.fitted_forest_, None
        )
