"""The stages of a boosting fit, its validation rows, and methods of estimators that read boosted
trees.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

from bevel._types import Floats
from bevel.data.dataset import Dataset
from bevel.estimators._base import encode_rows, explained
from bevel.estimators._grown_trees import FEW_ROWS, GrownTrees
from bevel.forest.additive import Additive, AdditiveRowPredictor, add_some_trees, add_trees
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.importance import gain_importances
from bevel.forest.predictor import NumberTooLargeError
from bevel.forest.records import BoostingRecord
from bevel.projections.base import FamilySpec
from bevel.projections.families import read_projection
from bevel.training.boosting import (
    EARLY_STOPPING_ROWS,
    FEWEST_ROWS_TO_HOLD_OUT,
    REFIT_FACTOR,
    BoostingFit,
    BoostingOptions,
    BoostingTarget,
    UserLoss,
    ValidationScorer,
    choose_refit_rate,
    choose_validation_fraction,
    is_clearly_better,
    resolve_directions,
)
from bevel.training.options import FeatureConstraints
from bevel.training.threads import count_threads

__all__ = [
    "FIRST_STAGE",
    "BoostedTrees",
    "BoostingWork",
    "FitsInStages",
    "HoldsOutRows",
    "append_rows",
    "check_validation",
    "hold_out",
    "validation_rows",
]


class BoostedTrees(GrownTrees):
    """The methods of a fitted boosting estimator that read its trees."""

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
    def baseline_prediction_(self) -> Floats:
        """Initial values of the outputs, before the first tree."""
        return np.array(_additive(self.fitted_forest_).baseline)

    @property
    def predictor_(self) -> AdditiveRowPredictor:  # type: ignore[override]
        """The trees for servers: no checks, any thread; see `AdditiveRowPredictor`."""
        self.verify()
        fitted = self.fitted_forest_
        return AdditiveRowPredictor(
            fitted.packed_predictor, fitted.encoding.reading, _additive(fitted)
        )

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain of all splits, summing to one."""
        return gain_importances(self.forest_, normalised=False)

    def _raw(self, X: Any) -> Floats:
        """Sums of the trees of each row and output."""
        try:
            return self._sums(X)
        except MemoryError as error:
            told = explained(error, "A prediction", self, X)
            if told is error:
                raise
            raise told from error

    def _sums(self, X: Any) -> Floats:
        if self._is_plain(X):
            fitted = self._fitted
            n_threads = 1 if len(X) < FEW_ROWS else count_threads(self.n_jobs)
            predictor, reading = fitted.packed_predictor, fitted.encoding.reading
            try:
                return add_trees(predictor, _additive(fitted), X, n_threads, reading)
            except NumberTooLargeError:
                pass  # the slower conversion raises an error that names the row and column
        rows = encode_rows(self, X)
        fitted = self._fitted
        n_threads = count_threads(self.n_jobs)
        return add_trees(fitted.packed_predictor, _additive(fitted), rows, n_threads)

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        """Sums of the trees of each row and output, after each iteration."""
        rows = encode_rows(self, X)
        fitted, n_threads = self._fitted, count_threads(self.n_jobs)
        additive, predictor = _additive(fitted), fitted.packed_predictor
        out = np.tile(np.asarray(additive.baseline), (len(rows), 1))
        step = additive.n_outputs
        for first in range(0, fitted.forest.n_trees, step):
            add_some_trees(predictor, rows, range(first, first + step), n_threads, out)
            yield out.copy()


def _additive(fitted: FittedForest) -> Additive:
    assert fitted.additive is not None
    return fitted.additive


def _record(fitted: FittedForest) -> BoostingRecord:
    record = _additive(fitted).record
    if record is None:
        raise AttributeError(
            "The learning curve needs a model that was saved by Bevel 0.2 or later, or fitted "
            "here; got one from an older file. Fit it again."
        )
    return record


class HoldsOutRows(ABC):
    """Decides by the parameters of the estimator whether rows are held out."""

    early_stopping: bool | str
    refit: bool | str
    validation_fraction: float | str
    max_iter: int | str
    warm_start: bool
    loss: Any
    scoring: Any

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
        share = self.validation_fraction
        if share == "auto":
            share = choose_validation_fraction(refits)
        try:
            validates = choose(target, hasattr(self, "classes_"), share, seed)
        except ValueError:
            if not automatic or self._scores():
                raise
            return target, False  # such as a class with a single row
        return replace(target, validates=validates), refits

    def _may_refit(self, target: BoostingTarget, n_rows: int) -> bool:
        """Whether "auto" may find the number of iterations on held-out rows of a small table."""
        return (
            self.max_iter == "auto"
            and self.refit is not False
            and not self.warm_start
            and n_rows >= FEWEST_ROWS_TO_HOLD_OUT
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


# The rows that boosting does not train on: given by the user, or held out.


def check_validation(
    given: tuple[Any, Any, Any], early_stopping: bool | str, refit: bool | str, warm_start: bool
) -> None:
    """Raise if validation rows, early stopping and refit contradict each other.

    Parameters
    ----------
    given : tuple
        X_val, y_val and sample_weight_val, as given to fit.
    early_stopping, refit, warm_start : bool or str
        Parameters as given to the estimator.
    """
    X_val, y_val, sample_weight_val = given
    if (X_val is None) != (y_val is None):
        present, absent = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
        raise ValueError(
            f"X_val and y_val must be given together; got {present} without {absent}. Pass both, "
            "or none to hold out a share of the training rows."
        )
    if sample_weight_val is not None and X_val is None:
        raise ValueError(
            "sample_weight_val needs X_val and y_val, whose rows it weighs; got it alone. "
            "Pass all three, or leave it out."
        )
    if refit is True and (X_val is not None or early_stopping is False):
        got = "X_val" if X_val is not None else "early_stopping=False"
        raise ValueError(
            "refit=True needs rows that fit has held out itself; got it with "
            f'{got}. Leave {got.split("=")[0]} out, or set refit="auto".'
        )
    if refit is True and warm_start:
        raise ValueError(
            "refit=True must not be used with warm_start=True, which adds to the trees that "
            "exist; got both. Set one of them to False."
        )
    if X_val is not None and early_stopping is False:
        raise ValueError(
            'early_stopping must be True or "auto" with X_val; got False, which has no use for '
            "validation rows. Leave X_val out, or set early_stopping=True."
        )


def validation_rows(
    X: Any, X_val: Any, target: BoostingTarget
) -> tuple[Any, npt.NDArray[Any], Floats | None]:
    """Validation rows with a weight as the user has given them, their targets and weights.

    Parameters
    ----------
    X, X_val : array, data frame or sparse matrix
        Rows as given to fit; X_val may be None.
    target : BoostingTarget
        Targets of the training rows, with validation rows appended or among them.
    """
    assert target.validates is not None
    weights = target.weights
    kept = target.validates if weights is None else target.validates & (weights > 0.0)
    places = np.flatnonzero(kept)
    given, first = X, 0
    if X_val is not None:
        given, first = X_val, len(kept) - int(np.count_nonzero(target.validates))
    given = given if hasattr(given, "shape") else np.asarray(given)
    rows = _safe_indexing(given, places - first)
    return rows, target.values[kept], None if weights is None else weights[kept]


def append_rows(
    dataset: Dataset,
    target: BoostingTarget,
    rows: npt.NDArray[np.float32],
    validation: BoostingTarget,
) -> tuple[Dataset, BoostingTarget]:
    """Dataset and target with validation rows appended to the training rows.

    Parameters
    ----------
    dataset : Dataset
        Training rows.
    target : BoostingTarget
        Targets of the training rows.
    rows : ndarray of float32
        Validation rows, encoded as the training rows are.
    validation : BoostingTarget
        Targets of the validation rows.
    """
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


def hold_out(
    target: BoostingTarget, is_classifier: bool, fraction: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Choose the training rows that validate, stratified by class.

    Parameters
    ----------
    target : BoostingTarget
        Targets of the training rows.
    is_classifier : bool
        Whether targets are classes.
    fraction : float
        Share of the rows to hold out.
    seed : int
        Seed of the choice.
    """
    n_rows = len(target.values)
    try:
        _, held_out = train_test_split(
            np.arange(n_rows),
            test_size=fraction,
            random_state=seed % 2**32,
            stratify=target.values if is_classifier else None,
        )
    except ValueError as error:
        raise ValueError(
            f"early_stopping needs rows of every class to hold out; got {n_rows} rows and "
            f"validation_fraction={fraction} ({error}). Pass X_val and y_val, or set "
            "early_stopping=False."
        ) from error
    validates = np.zeros(n_rows, dtype=np.bool_)
    validates[held_out] = True
    return validates


def _join_weights(first: BoostingTarget, second: BoostingTarget) -> Floats | None:
    if first.weights is None and second.weights is None:
        return None
    both = [
        np.ones(len(part.values)) if part.weights is None else part.weights
        for part in (first, second)
    ]
    return np.concatenate(both)


# The stages of a boosting fit: choice of directions, number of iterations, fit of all rows.

# Names of the stages in progress bars.
FIRST_STAGE = "boosting"
FEATURES_STAGE = "boosting, single features"
REFIT_STAGE = "boosting all rows"


@dataclass(frozen=True, eq=False)
class BoostingWork:
    """Rows, targets and options that a stage grows trees with."""

    dataset: Dataset
    target: BoostingTarget
    constraints: FeatureConstraints
    options: BoostingOptions
    seed: int
    before: FittedForest | None = None
    scorer: ValidationScorer | None = None


class FitsInStages(ABC):
    """Compares directions on validation rows, if there are any, and may refit on all rows."""

    learning_rate: float | str
    warm_start: bool

    @property
    @abstractmethod
    def n_iter_(self) -> int:
        """Number of iterations in the model."""

    @abstractmethod
    def _members(self) -> Any:
        """Projections chosen by the user; None: the library chooses."""

    @abstractmethod
    def _boost(
        self, work: BoostingWork, families: list[FamilySpec], stage: str = FIRST_STAGE
    ) -> BoostingFit:
        """Grow the trees of a stage."""

    @abstractmethod
    def _assemble(self, work: BoostingWork, fitted: BoostingFit) -> FittedForest:
        """Make the fitted forest of the trees of a stage."""

    def _fit_in_stages(self, work: BoostingWork, refits: bool) -> None:
        candidates = self._candidates(work)
        families, fitted = candidates[0], self._boost(work, candidates[0])
        if len(candidates) > 1 and not fitted.interrupted:
            families, fitted = self._choose(work, fitted, *candidates)
        self._fitted = self._assemble(work, fitted)
        if fitted.interrupted:
            raise self._interruption()
        if refits:
            self._fitted = self._refit(work, families)

    def _interruption(self) -> KeyboardInterrupt:
        """The exception of Ctrl-C, raised once the estimator has the trees grown so far."""
        return KeyboardInterrupt(
            f"fit was interrupted; the estimator has the {self.n_iter_} iterations of its last "
            "stage that were done, and can predict by them."
        )

    def _candidates(self, work: BoostingWork) -> list[list[FamilySpec]]:
        """Directions to try: features with combinations; in validated regressions, features alone.

        In classification, held-out rows have not led to better choices of directions.
        """
        members = self._members()
        kinds = [members]
        validates = work.target.validates is not None
        if members is None and validates and not self.warm_start and not self._is_classifier():
            kinds.append(read_projection("axis", "auto"))
        n_rows, levels = len(work.dataset.X), work.dataset.encoding.levels
        found = [resolve_directions(kind, n_rows, levels, work.constraints) for kind in kinds]
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

    def _refit(self, work: BoostingWork, families: list[FamilySpec]) -> FittedForest:
        """Fit all rows, with a number of iterations that follows from the held-out ones.

        The validation scores and residuals of the first fit are kept, since none of its trees was
        grown on these rows. After Ctrl-C the estimator has the first fit.
        """
        first = self._fitted
        work = replace(
            work,
            options=self._refit_options(work.options),
            target=replace(work.target, validates=None),
            scorer=None,
        )
        fitted = _unless_interrupted(partial(self._boost, work, families, REFIT_STAGE))
        if fitted is None:
            raise self._interruption()
        whole = self._assemble(work, fitted)
        known, own = _record(first), _record(whole)
        record = replace(known, training_score=own.training_score)
        return replace(whole, additive=replace(_additive(whole), record=record))

    def _is_classifier(self) -> bool:
        return hasattr(self, "classes_")

    def _refit_options(self, options: BoostingOptions) -> BoostingOptions:
        rate = options.learning_rate
        if self.learning_rate == "auto":
            rate = choose_refit_rate(self._is_classifier())
        n_iter = round(REFIT_FACTOR * self.n_iter_ * options.learning_rate / rate)
        return replace(options, learning_rate=rate, max_iter=max(1, n_iter), n_iter_no_change=0)


def _unless_interrupted(grow: Callable[[], BoostingFit]) -> BoostingFit | None:
    """Grow a later stage; None after Ctrl-C, so that the earlier stages are used."""
    try:
        fitted = grow()
    except KeyboardInterrupt:
        return None
    return None if fitted.interrupted else fitted
