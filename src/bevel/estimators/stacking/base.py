"""Base of stacked rotations for classification and regression: fits stage by stage."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from bevel._types import Float32s, Floats
from bevel.data.dataset import Dataset, learn_dataset
from bevel.data.encoding import Encoding, encode
from bevel.data.row_weights import read_weights
from bevel.data.tables import ArrayTable, Table
from bevel.errors import wrong_value
from bevel.estimators._folds import read_folds
from bevel.estimators._learners import (
    CodedClassifier,
    check_learner,
    check_takes_weights,
    make_learner,
    takes_codes,
)
from bevel.estimators._rotated import RotatedEnsemble, seed_of
from bevel.estimators._whole_fits import whole_or_not_at_all
from bevel.estimators.stacking.folds import Folds, LeftOut
from bevel.estimators.stacking.level0 import (
    LearningRows,
    Level0,
    Output,
    Setting,
    fit_model,
    read_settings,
)
from bevel.estimators.stacking.stages import MiddleStage, Passed, columns_without, turned
from bevel.training.options import draw_seed
from bevel.training.progress import Progress
from bevel.training.rotation import haar_rotations, plain_matrix

__all__ = ["StackedRotation"]

# Purposes of seeds.
FOLDS, LEVEL_0, LEVEL_1, MIDDLE, TURNS = 0, 1, 2, 3, 4


class StackedRotation(RotatedEnsemble):
    """Models on rotations of the features, and a model on their predictions."""

    level0: Any
    level1: Any
    n_rotations: int
    flip: bool
    passes: str
    n_stages: int
    refit: bool
    cv: Any
    param_grid: Any
    level0_: list[Any]
    level0_params_: list[Any]
    _output: Output
    _classifies: ClassVar[bool]

    @abstractmethod
    def _prototype(self, learner: Any) -> Any:
        """The learner of a level, or its default."""

    @abstractmethod
    def _read_target(self, y: Any, weights: Floats | None, n_rows: int) -> npt.NDArray[Any]:
        """Class numbers, or values."""

    @abstractmethod
    def _output_of(self) -> Output:
        """Output of the models, set once the target is read."""

    @abstractmethod
    def _known(self, model: Any) -> Any:
        """A model that was fitted on all rows, in the form that `Output` takes."""

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit all stages.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows: NumPy arrays, pandas, polars and pyarrow tables, SciPy sparse matrices
            (made dense, in float32). NaN, None and masked entries are missing
            values; infinities raise.
        y : array-like of shape (n_rows,)
            Class labels, or numbers.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, passed to the learners of all stages. Folds, scales and medians
            are drawn and learned from rows regardless of their weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        self._check_stages()
        prototype, last = self._prototype(self.level0), self._prototype(self.level1)
        self._check_learners(prototype, last)
        table = self._read_training_rows(X, y)
        weights = read_weights(sample_weight, None, None, table.n_rows)
        target = self._read_target(y, weights, table.n_rows)
        self._output = self._output_of()
        check_takes_weights("level0", prototype, weights)
        check_takes_weights("level1", last, weights)
        self._seed = draw_seed(self.random_state)
        classifies = self._output.n_classes > 0
        seed = seed_of(self._seed, FOLDS)
        splits = read_folds(self.cv, target, seed, classifies=classifies)
        folds = Folds(splits, table.n_rows)
        self._check_folds(folds)
        self.fold_of_row_ = folds.of_row
        dataset = self._learn_dataset(table)
        self._draw_rotations(self.n_rotations, dataset.encoding, self._seed)
        self._codes = takes_codes(prototype)
        progress = self._progress(self._count_models(folds))
        level0 = Level0(prototype, read_settings(self.param_grid), self._output)
        parts = self._parts(table, dataset, target, weights, folds)
        passed = self._fit_level0(level0, parts, folds, progress)
        passed = self._fit_middle(passed, folds, target, weights, progress)
        self._fit_last(passed, folds, target, weights)
        progress(self._count_models(folds))
        self._encoding = dataset.encoding
        return self

    def _check_learners(self, prototype: Any, last: Any) -> None:
        classifies = self._classifies
        needs_shares = classifies and self.passes == "probabilities"
        check_learner("level0", prototype, classifies=classifies, proba=needs_shares)
        middle = needs_shares and self.n_stages > 2
        check_learner("level1", last, classifies=classifies, proba=middle)

    def _check_stages(self) -> None:
        if not self.refit and self.n_stages > 2:
            required = "True with n_stages above 2, whose stages lean on models of all rows"
            raise wrong_value("refit", required, self.refit, "Leave one of them out.")

    def _check_folds(self, folds: Folds) -> None:
        depth = self.n_stages - 1
        if len(folds) <= depth:
            required = f"at least {depth + 1} folds for {self.n_stages} stages, as {depth} of them "
            required += "are left out together"
            raise wrong_value("cv", required, f"{len(folds)} folds", "Raise cv.")

    def _count_models(self, folds: Folds) -> int:
        views = self.n_rotations + 1
        depth = self.n_stages - 1
        subsets = [len(folds.left_out(depth - stage)) for stage in range(depth)]
        unfitted = 0 if self.refit else 1
        return views * (sum(subsets) - unfitted) + 1

    def _draw_rotations(self, n_rotations: int, encoding: Encoding, seed: int) -> None:
        super()._draw_rotations(n_rotations, encoding, seed)
        identity = np.eye(self.rotations_.shape[1])
        self.rotations_ = np.concatenate([identity[np.newaxis], self.rotations_])

    def _rotation(self, member: int) -> Floats | None:
        return super()._rotation(member) if member else None

    def _members(self) -> Sequence[Any]:
        return self.level0_

    def _parts(
        self,
        table: Table,
        dataset: Dataset,
        target: npt.NDArray[Any],
        weights: Floats | None,
        folds: Folds,
    ) -> dict[LeftOut, LearningRows]:
        """The rows without some folds, and all rows, each part scaled by its own rows alone."""
        matrix = plain_matrix(table, dataset.encoding)
        nominal = sorted(dataset.encoding.nominal)
        parts = {}
        for left_out in folds.left_out(self.n_stages - 1):
            if not left_out:
                if self.refit:
                    whole = (dataset.X, target, weights, dataset.encoding, dataset.X[:0])
                    parts[left_out] = LearningRows(*whole)
                continue
            train, held_out = folds.learned(left_out), folds.held_out(left_out)
            learned = learn_dataset(ArrayTable(matrix[train]), nominal, self._scale())
            held_out_rows = encode(ArrayTable(matrix[held_out]), learned.encoding, order="F")
            some = None if weights is None else weights[train]
            parts[left_out] = LearningRows(
                learned.X, target[train], some, learned.encoding, held_out_rows
            )
        return parts

    def _fit_level0(
        self,
        level0: Level0,
        parts: dict[LeftOut, LearningRows],
        folds: Folds,
        progress: Progress,
    ) -> Passed:
        """Fit all models of level 0, and return their outputs for the rows held out from them.

        Models are dropped after their prediction, except those that predict new rows.
        """
        subsets, n_views = folds.left_out(self.n_stages - 1), len(self.rotations_)
        passed = _nothing_yet(subsets, len(self.fold_of_row_), n_views, self._output)
        finished: dict[tuple[LeftOut, int], tuple[Any, Setting]] = {}

        def fit(job: tuple[LeftOut, int]) -> None:
            left_out, view = job
            part, rotation = parts[left_out], self._rotation(view)
            seed = seed_of(self._seed, LEVEL_0, subsets.index(left_out), view)
            model, setting = level0.fit(part, rotation, seed)
            if left_out:
                spoken = level0.predict(model, part, rotation)
                passed[left_out][folds.held_out(left_out), view] = spoken
            if not left_out or not self.refit:
                finished[left_out, view] = model, setting

        self._run(fit, list(itertools.product(parts, range(n_views))), progress)
        self._keep_level0(parts, finished, n_views)
        return passed

    def _keep_level0(
        self,
        parts: dict[LeftOut, LearningRows],
        finished: dict[tuple[LeftOut, int], tuple[Any, Setting]],
        n_views: int,
    ) -> None:
        if self.refit:
            self.level0_ = [_bare(finished[(), view][0]) for view in range(n_views)]
            self.level0_params_ = [dict(finished[(), view][1]) for view in range(n_views)]
            return
        self._encodings = [part.encoding for part in parts.values()]
        self._fold_models = [[finished[each, view][0] for each in parts] for view in range(n_views)]
        self.level0_ = [[_bare(model) for model in models] for models in self._fold_models]
        self.level0_params_ = [
            [dict(finished[each, view][1]) for each in parts] for view in range(n_views)
        ]

    def _fit_middle(
        self,
        passed: Passed,
        folds: Folds,
        target: npt.NDArray[Any],
        weights: Floats | None,
        progress: Progress,
    ) -> Passed:
        """Fit the intermediate stages, and return the output of the last of them."""
        self._middle: list[MiddleStage] = []
        depth, n_done = self.n_stages - 1, 0
        for stage in range(1, depth):
            n_done += (self.n_rotations + 1) * len(folds.left_out(depth - stage + 1))
            jobs = _StageJobs(self, stage, passed, folds, target, weights)
            passed = jobs.run(folds.left_out(depth - stage), progress.after(n_done))
            self._middle.append(jobs.finished())
        return passed

    def _fit_last(
        self, passed: Passed, folds: Folds, target: npt.NDArray[Any], weights: Floats | None
    ) -> None:
        heard, *_ = columns_without(folds, (), passed, self._output)
        rows = folds.learned(())
        prototype, seed = self._prototype(self.level1), seed_of(self._seed, LEVEL_1)
        learner = make_learner(prototype, seed, n_threads=self._threads())
        some = None if weights is None else weights[rows]
        self.level1_ = _bare(fit_model(learner, heard, target[rows], some, self._output))

    @property
    def stage_rotations_(self) -> list[Floats]:
        """Rotations of the columns of each intermediate stage."""
        return [stage.rotations for stage in self._middle]

    def predict_level0(self, X: Any) -> Floats:
        """Output of each model of level 0 for each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, K + 1, n_classes_), in regression (n_rows, K + 1, 1)
            The unrotated view first, in the order of `rotations_`: probabilities, or with
            `passes="labels"` indicators of the predicted class; with `refit=False` their mean over
            the models of the folds.
        """
        if self.refit:

            def predict(model: Any, view: Float32s) -> Floats:
                return self._output.of(self._known(model), view)

            return np.stack(self._predict_members(X, predict), axis=1)
        return self._predict_by_folds(X)

    def _predict_by_folds(self, X: Any) -> Floats:
        check_is_fitted(self)
        table = self._read(X, "no_validation", reset=False)
        rows = [
            encode(table, each, order="F", n_threads=self._threads()) for each in self._encodings
        ]

        def predict(view: int) -> Floats:
            spoken = [
                self._output.of(model, self._view(rows[fold], self._encodings[fold], view))
                for fold, model in enumerate(self._fold_models[view])
            ]
            mean: Floats = np.mean(spoken, axis=0)
            return mean

        return np.stack(self._run(predict, range(len(self.rotations_))), axis=1)

    def _last_columns(self, X: Any) -> Floats:
        """Input of the last stage for new rows."""
        passed = self.predict_level0(X)
        columns = self._output.columns(passed)
        for stage in self._middle:
            spoken = [
                self._output.of(self._known(model), turned(columns, stage.rotations[view], view))
                for view, model in enumerate(stage.models)
            ]
            columns = self._output.columns(np.stack(spoken, axis=1))
        return columns


class _StageJobs:
    """Fits one intermediate stage."""

    def __init__(
        self,
        stack: StackedRotation,
        stage: int,
        heard: Passed,
        folds: Folds,
        target: npt.NDArray[Any],
        weights: Floats | None,
    ) -> None:
        self._stack, self._stage, self._folds = stack, stage, folds
        self._heard, self._target, self._weights = heard, target, weights
        n_columns = stack._output.columns(next(iter(heard.values()))[:1]).shape[1]
        seed = seed_of(stack._seed, TURNS, stage)
        turns = haar_rotations(stack.n_rotations, n_columns, seed, flip=stack.flip)
        self._rotations = np.concatenate([np.eye(n_columns)[np.newaxis], turns])
        self._models: dict[int, Any] = {}

    def run(self, subsets: Sequence[LeftOut], progress: Progress) -> Passed:
        stack, output, folds = self._stack, self._stack._output, self._folds
        n_views = len(self._rotations)
        passed = _nothing_yet(subsets, len(folds.of_row), n_views, output)
        seen = {each: columns_without(folds, each, self._heard, output) for each in subsets}

        def fit(job: tuple[LeftOut, int]) -> None:
            left_out, view = job
            columns, learned, held_out_columns, held_out = seen[left_out]
            rotation = self._rotations[view]
            seed = seed_of(stack._seed, MIDDLE, self._stage, subsets.index(left_out), view)
            learner = make_learner(stack._prototype(stack.level1), seed)
            some = None if self._weights is None else self._weights[learned]
            rows = turned(columns, rotation, view)
            model = fit_model(learner, rows, self._target[learned], some, output)
            if left_out:
                predicted = output.of(model, turned(held_out_columns, rotation, view))
                passed[left_out][held_out, view] = predicted
            else:
                self._models[view] = _bare(model)

        stack._run(fit, list(itertools.product(subsets, range(n_views))), progress)
        return passed

    def finished(self) -> MiddleStage:
        models = [self._models[view] for view in range(len(self._rotations))]
        return MiddleStage(models, self._rotations)


def _nothing_yet(
    subsets: Sequence[LeftOut], n_rows: int, n_views: int, output: Output
) -> dict[LeftOut, Floats]:
    return {each: np.full((n_rows, n_views, output.width), np.nan) for each in subsets if each}


def _bare(model: Any) -> Any:
    """The user's learner inside a wrapper."""
    return model.model if isinstance(model, CodedClassifier) else model
