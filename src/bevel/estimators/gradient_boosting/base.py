"""What boosting classifier and regressor share."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split

from bevel._types import Floats
from bevel.data.dataset import Dataset, encode, encode_dataset, learn_dataset
from bevel.data.scaling import automatic_scale
from bevel.data.tables import Table
from bevel.estimators._doc_link import LinksToDocuments
from bevel.estimators._grown import FEW_ROWS, GrownTrees
from bevel.estimators._named_parameters import NamedParameters
from bevel.estimators._reading import TableInput, encode_rows
from bevel.files.model import StoredEstimator
from bevel.forest.additive import Additive, AdditiveRowPredictor, add_some_trees, add_trees
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.joining import join_forests
from bevel.forest.predictor import NumberTooLargeError, PackedPredictor
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import check_each
from bevel.projections.families import TableShape, combines_units, read_projection
from bevel.training.boosting import (
    BoostingFit,
    BoostingOptions,
    BoostingTarget,
    boost,
    resolve_directions,
)
from bevel.training.boosting_schedule import (
    EARLY_STOPPING_ROWS,
    choose_learning_rate,
    choose_max_iter,
)
from bevel.training.options import draw_seed
from bevel.training.progress import Progress
from bevel.training.threads import count_threads


class ObliqueBoosting(
    GrownTrees,
    NamedParameters,
    TableInput,
    LinksToDocuments,
    BaseEstimator,  # type: ignore[misc]
    metaclass=ABCMeta,
):
    """Base of the boosting estimators; not used by itself."""

    _parameters: ClassVar[Mapping[str, Parameter]]

    @abstractmethod
    def _read_target(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        """Check y and the weights; set what the estimator remembers of them."""

    @abstractmethod
    def _read_validation(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        """The same for validation rows, whose classes must be those of y."""

    @abstractmethod
    def _loss(self) -> tuple[str, str, int]:
        """Loss as the core names it, link, and number of outputs."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Grow the trees.

        Ctrl-C ends the fit with a warning and keeps the iterations that are done.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows: NumPy arrays, pandas, polars and pyarrow tables, SciPy sparse matrices
            (made dense, in float32). NaN and None are missing values; infinities raise.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, zero or more; None weighs all rows equally. A row of weight zero
            is as good as absent.
        X_val : array, data frame or sparse matrix of shape (n_validation, n_features), default=None
            Rows by whose loss fit decides when to stop.
        y_val : array-like of shape (n_validation,), default=None
            Their targets.
        sample_weight_val : array-like of shape (n_validation,), default=None
            Their weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        values = dict(self.get_params(deep=False))
        check_each(values, self._parameters)
        self._check_combinations(X_val, y_val, sample_weight_val)
        n_threads = count_threads(self.n_jobs)
        before = self._fitted if self.warm_start and hasattr(self, "_fitted") else None
        if before is None and hasattr(self, "_fitted"):
            del self._fitted  # a fit that fails half-way leaves nothing behind
        table = self._read(X, y, reset=before is None)
        target = self._read_target(y, sample_weight, table.n_rows)
        dataset = self._dataset(table, before, n_threads)
        seed = draw_seed(self.random_state) if before is None else self._warm_start_seed(before)
        if X_val is not None:
            dataset, target = self._with_validation(
                dataset, target, X_val, y_val, sample_weight_val
            )
        elif self._stops_early(X_val, table.n_rows):
            target = replace(target, validates=self._hold_out(target, seed))
        options = self._options(table.n_rows, target.validates is not None, before)
        fitted = self._boost(dataset, target, options, seed, before, n_threads)
        forest = fitted.forest
        if before is not None:
            forest = join_forests(before.forest, forest)
        self._fitted = FittedForest(
            predictor=PackedPredictor(forest),
            encoding=dataset.encoding,
            feature_names=self._names_of_columns(),
            classes=getattr(self, "classes_", None),
            hard=False,
            bags=None,
            seed=seed,
            class_weight=values.get("class_weight"),
            additive=Additive(fitted.baseline, self._loss()[1]),
        )
        self._set_losses(fitted, before)
        return self

    @property
    def n_iter_(self) -> int:
        """Iterations that are kept."""
        fitted = self.fitted_forest_
        return int(fitted.forest.n_trees // _additive(fitted).n_outputs)

    @property
    def baseline_prediction_(self) -> Floats:
        """What the outputs start from, before any tree."""
        return np.array(_additive(self.fitted_forest_).baseline)

    @property
    def predictor_(self) -> AdditiveRowPredictor:  # type: ignore[override]
        """The trees for servers: no checks, any thread; see `AdditiveRowPredictor`."""
        self.verify()
        fitted = self.fitted_forest_
        return AdditiveRowPredictor(
            fitted.packed_predictor, fitted.encoding.reading, _additive(fitted)
        )

    def _raw(self, X: Any) -> Floats:
        """Sums of the trees of each row and output."""
        if self._is_plain(X):
            fitted = self._fitted
            n_threads = 1 if len(X) < FEW_ROWS else count_threads(self.n_jobs)
            predictor, reading = fitted.packed_predictor, fitted.encoding.reading
            try:
                return add_trees(predictor, _additive(fitted), X, n_threads, reading)
            except NumberTooLargeError:
                pass  # the slower conversion raises an error that names the place
        rows = encode_rows(self, X)
        fitted = self._fitted
        n_threads = count_threads(self.n_jobs)
        return add_trees(fitted.packed_predictor, _additive(fitted), rows, n_threads)

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        """The same after each iteration."""
        rows = encode_rows(self, X)
        fitted, n_threads = self._fitted, count_threads(self.n_jobs)
        additive, predictor = _additive(fitted), fitted.packed_predictor
        out = np.tile(np.asarray(additive.baseline), (len(rows), 1))
        step = additive.n_outputs
        for first in range(0, fitted.forest.n_trees, step):
            add_some_trees(predictor, rows, range(first, first + step), n_threads, out)
            yield out.copy()

    def _check_combinations(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
        if (X_val is None) != (y_val is None):
            given, absent = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
            raise ValueError(
                f"X_val and y_val must be given together; got {given} without {absent}. Pass both, "
                "or none to hold out a share of the training rows."
            )
        if sample_weight_val is not None and X_val is None:
            raise ValueError(
                "sample_weight_val needs X_val and y_val, whose rows it weighs; got it alone. "
                "Pass all three, or leave it out."
            )
        if X_val is not None and self.early_stopping is False:
            raise ValueError(
                'early_stopping must be True or "auto" with X_val; got False, which has no use for '
                "validation rows. Leave X_val out, or set early_stopping=True."
            )

    def _stops_early(self, X_val: Any, n_rows: int) -> bool:
        if self.early_stopping == "auto":
            return X_val is not None or n_rows > EARLY_STOPPING_ROWS
        return bool(self.early_stopping)

    def _dataset(self, table: Table, before: FittedForest | None, n_threads: int) -> Dataset:
        if before is not None:
            return encode_dataset(table, before.encoding, n_threads)
        members = self._members()
        combines = True if members is None else combines_units(members)
        scale = automatic_scale(combines) if self.scale == "auto" else self.scale
        return learn_dataset(table, self.categorical_features, scale, n_threads)

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
        """Dataset and target with validation rows behind the training rows."""
        if not (X_val.shape[0] if hasattr(X_val, "shape") else len(X_val)):
            raise ValueError(
                "X_val must have at least one row; got none. Leave X_val and y_val out to hold out "
                "a share of the training rows."
            )
        table = self._read(X_val, "no_validation", reset=False)
        validation = self._read_validation(y_val, weights, table.n_rows)
        rows = encode(table, dataset.encoding, "F", count_threads(self.n_jobs))
        n_before, n = len(dataset.X), len(dataset.X) + len(rows)
        X = np.empty((n, rows.shape[1]), dtype=np.float32, order="F")
        X[:n_before], X[n_before:] = dataset.X, rows
        numeric = dataset.encoding.levels == 0
        has_nan = (dataset.has_nan != 0) | (np.isnan(rows).any(axis=0) & numeric)
        joined = BoostingTarget(
            np.concatenate([target.values, validation.values]),
            _join_weights(target, validation),
            np.arange(n) >= n_before,
        )
        return Dataset(X, has_nan.astype(np.uint8), dataset.encoding), joined

    def _hold_out(self, target: BoostingTarget, seed: int) -> npt.NDArray[np.bool_]:
        """Which training rows validate, of each class alike."""
        n_rows = len(target.values)
        classes = target.values if hasattr(self, "classes_") else None
        try:
            _, held_out = train_test_split(
                np.arange(n_rows),
                test_size=self.validation_fraction,
                random_state=seed % 2**32,
                stratify=classes,
            )
        except ValueError as error:
            raise ValueError(
                f"early_stopping needs rows of every class to hold out; got {n_rows} rows and "
                f"validation_fraction={self.validation_fraction} ({error}). Pass X_val and y_val, "
                "or set early_stopping=False."
            ) from error
        validates = np.zeros(n_rows, dtype=np.bool_)
        validates[held_out] = True
        return validates

    def _options(
        self, n_rows: int, stops_early: bool, before: FittedForest | None
    ) -> BoostingOptions:
        loss, _, n_outputs = self._loss()
        rate = self.learning_rate
        rate = choose_learning_rate(n_rows) if rate == "auto" else float(rate)
        n_iter = self.max_iter
        if n_iter == "auto":
            n_iter = choose_max_iter(rate, hasattr(self, "classes_"), stops_early)
        n_iter = int(n_iter)
        n_before = 0 if before is None else before.forest.n_trees // n_outputs
        if n_iter < n_before:
            raise ValueError(
                f"max_iter must be at least the {n_before} iterations that exist when "
                f"warm_start=True; got {n_iter}. Raise it, or set warm_start=False."
            )
        return BoostingOptions(
            loss=loss,
            quantile=self._quantile(),
            n_outputs=n_outputs,
            learning_rate=rate,
            max_iter=n_iter - n_before,
            max_leaf_nodes=0 if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            max_depth=-1 if self.max_depth is None else int(self.max_depth),
            min_samples_leaf=int(self.min_samples_leaf),
            l2=float(self.l2_regularization),
            subsample=float(self.subsample),
            max_bins=int(self.max_bins),
            n_iter_no_change=int(self.n_iter_no_change) if stops_early else 0,
            tol=float(self.tol),
            first_iter=n_before,
        )

    def _quantile(self) -> float:
        return 0.5

    def _boost(
        self,
        dataset: Dataset,
        target: BoostingTarget,
        options: BoostingOptions,
        seed: int,
        before: FittedForest | None,
        n_threads: int,
    ) -> BoostingFit:
        n_rows, n_features = dataset.X.shape
        n_nominal = int(np.count_nonzero(dataset.encoding.levels))
        shape = TableShape(n_rows, n_features - n_nominal, n_nominal)
        families = resolve_directions(self._members(), shape)
        sums = None
        if before is not None:
            additive = _additive(before)
            rows = np.ascontiguousarray(dataset.X)
            raw = add_trees(before.packed_predictor, additive, rows, n_threads)
            sums = (additive.baseline, raw)
        first, n_total = options.first_iter, options.first_iter + options.max_iter
        progress = Progress(first, n_total, bool(self.verbose), self.callback, label="boosting")
        fitted = boost(dataset, target, families, seed, options, sums, n_threads, progress)
        if fitted.interrupted:
            warnings.warn(
                f"fit was interrupted after {len(fitted.training_loss)} of {options.max_iter} "
                "iterations; they are kept.",
                UserWarning,
                stacklevel=3,
            )
        return fitted

    def _warm_start_seed(self, before: FittedForest) -> int:
        assert before.seed is not None  # boosting never chooses among trees
        return before.seed

    def _set_losses(self, fitted: BoostingFit, before: FittedForest | None) -> None:
        """Set `train_score_` and `validation_score_`: minus the loss, after each iteration."""
        for name, losses in (
            ("train_score_", fitted.training_loss),
            ("validation_score_", fitted.validation_loss),
        ):
            earlier = getattr(self, name, np.empty(0)) if before is not None else np.empty(0)
            setattr(self, name, np.concatenate([earlier, -losses]))

    def _to_store(self) -> StoredEstimator:
        return StoredEstimator(
            type(self).__name__, self.get_params(deep=False), self.fitted_forest_, None
        )


def _additive(fitted: FittedForest) -> Additive:
    assert fitted.additive is not None
    return fitted.additive


def _join_weights(first: BoostingTarget, second: BoostingTarget) -> Floats | None:
    if first.weights is None and second.weights is None:
        return None
    both = [
        np.ones(len(part.values)) if part.weights is None else part.weights
        for part in (first, second)
    ]
    return np.concatenate(both)
