"""Stacked rotations: a second learner weighs the predictions on several rotations."""

from __future__ import annotations

import itertools
import numbers
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bevel import _core
from bevel._types import AnyFloats, Bools, Float32s, Floats, Indices
from bevel.data.dataset import Dataset, learn_dataset
from bevel.data.encoding import Encoding, encode
from bevel.data.row_weights import read_weights
from bevel.data.tables import ArrayTable, Table
from bevel.data.target import read_numbers
from bevel.errors import wrong_type, wrong_value
from bevel.estimators._base import whole_or_not_at_all
from bevel.estimators.forest import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.estimators.rotated.base import (
    ClassLabels,
    CodedClassifier,
    RotatedEnsemble,
    check_learner,
    check_takes_weights,
    fit_classifier,
    fit_regressor,
    make_learner,
    seed_of,
    takes_codes,
)
from bevel.parameters.forest_parameters import documented
from bevel.parameters.parameter import Parameter
from bevel.parameters.rotation_parameters import STACKED_CLASSIFIER, STACKED_REGRESSOR
from bevel.training.options import draw_seed
from bevel.training.progress import Callback, Progress
from bevel.training.rotation_ensemble import haar_rotations, plain_matrix, rotated_view

__all__ = [
    "Folds",
    "LeftOut",
    "MiddleStage",
    "StackedRotation",
    "StackedRotationClassifier",
    "StackedRotationRegressor",
    "columns_without",
    "turned",
]

# Folds of the training rows for cross-validated predictions.

Fold = tuple[Indices, Indices]  # rows to learn from, rows held out

_REQUIRED = "an integer of at least 2, a splitter or pairs of training and test rows"
_REMEDY = "The thesis uses 5."


def read_folds(
    cv: Any, target: npt.NDArray[Any], seed: int, *, classifies: bool = True
) -> list[Fold]:
    """The splits of `cv`: no row is on both sides of one, and each is held out once, in order."""
    if not isinstance(cv, numbers.Integral):
        return _given_folds(cv, target, classifies)
    n_folds = int(cv)
    if n_folds < 2:
        raise wrong_value("cv", _REQUIRED, cv, _REMEDY)
    if n_folds > len(target):
        raise ValueError(
            f"cv must be at most the number of rows of X (n_samples={len(target)}); got {n_folds} "
            "folds. Lower cv, or pass more rows."
        )
    codes = target if classifies else np.zeros(len(target), np.int32)
    return stratified_folds(codes, n_folds, seed)


def stratified_folds(codes: npt.NDArray[np.int32], n_folds: int, seed: int) -> list[Fold]:
    """Random folds of equal size; classes are dealt to them in turn, including rare ones."""
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    fold = np.empty(len(codes), dtype=np.intp)
    fold[by_class] = np.arange(len(codes)) % n_folds
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)]


def _given_folds(cv: Any, codes: npt.NDArray[Any], classifies: bool) -> list[Fold]:
    if not (hasattr(cv, "split") or hasattr(cv, "__iter__")) or isinstance(cv, str):
        raise wrong_type("cv", _REQUIRED, cv, _REMEDY)
    placeholder = np.zeros((len(codes), 1))
    pairs = check_cv(cv, codes, classifier=classifies).split(placeholder, codes)
    splits = [(np.asarray(train), np.sort(held_out)) for train, held_out in pairs]
    for train, held_out in splits:
        shared = np.intersect1d(train, held_out)
        if len(shared):
            raise ValueError(
                "cv must hold out rows that are not learned from; got row "
                f"{shared[0]} on both sides of a split. Take it from one of them."
            )
    held_out = np.concatenate([held_out for _, held_out in splits] or [np.empty(0, np.intp)])
    if not np.array_equal(np.sort(held_out), np.arange(len(codes))):
        raise ValueError(
            f"cv must hold out each of the {len(codes)} rows once; got {len(held_out)} held-out "
            f"rows, {len(np.unique(held_out))} of them different. Use for example "
            "StratifiedKFold, or PredefinedSplit without -1."
        )
    return splits


# Rows that models are fitted on: all but those of some folds, one, two or more at a time.
#
# A stage learns from predictions for rows that the stage before has not seen. With S stages, and
# folds left out one more at each stage below the last, no row has two roles: of F folds, stage 0 is
# fitted without any S − 1 folds, without any S − 2, and so on, and in the end on all rows (Blaser
# 3.3.1 and 3.4.2).

LeftOut = tuple[int, ...]  # folds, ascending


class Folds:
    """The folds of the training rows.

    Parameters
    ----------
    splits : sequence of (train, held_out)
        Rows that are learned from and rows held out; each row is held out once.
    n_rows : int
        Training rows.
    """

    def __init__(self, splits: Sequence[Fold], n_rows: int) -> None:
        self.of_row = np.empty(n_rows, dtype=np.int32)
        self._learns: list[Bools] = []
        for fold, (train, held_out) in enumerate(splits):
            self.of_row[held_out] = fold
            learns = np.zeros(n_rows, dtype=bool)
            learns[train] = True
            self._learns.append(learns)

    def __len__(self) -> int:
        return len(self._learns)

    def left_out(self, most: int) -> list[LeftOut]:
        """Subsets of at most `most` folds: single folds, then none, then pairs and so on."""
        larger = [each for n in range(2, most + 1) for each in combinations(range(len(self)), n)]
        singles: list[LeftOut] = [(fold,) for fold in range(len(self))]
        return [*singles, (), *larger] if most else [()]

    def learned(self, left_out: LeftOut) -> Indices:
        """Rows that a model without these folds is fitted on."""
        learns = np.ones(len(self.of_row), dtype=bool)
        for fold in left_out:
            learns &= self._learns[fold]
        return np.flatnonzero(learns)

    def held_out(self, left_out: LeftOut) -> Indices:
        """Rows of these folds."""
        return np.flatnonzero(np.isin(self.of_row, left_out))


# Models of level 0, each fitted to one view of some rows.

# Folds of the search for settings, when there are no out-of-bag rows.
SEARCH_FOLDS = 5

Setting = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class LearningRows:
    """Rows to learn from, with their encoding.

    Attributes
    ----------
    X : ndarray of float32
        The rows to learn from, scaled by themselves alone.
    target, weights
        Class numbers or values of the rows, and their weights.
    encoding : Encoding
        Encoding of the rows.
    held_out : ndarray of float32
        Rows that the models predict, encoded in the same way; empty when all are learned from.
    """

    X: Float32s
    target: npt.NDArray[Any]
    weights: Floats | None
    encoding: Encoding
    held_out: Float32s


@dataclass(frozen=True)
class Output:
    """Output of a model, which is the input of the next stage.

    Attributes
    ----------
    n_classes : int
        Number of classes; 0 in regression, where the output is the predicted value.
    labels : bool
        Whether the output is an indicator of the predicted class instead of probabilities.
    """

    n_classes: int
    labels: bool

    @property
    def width(self) -> int:
        """Number of values for each row."""
        return max(self.n_classes, 1)

    def of(self, model: Any, view: AnyFloats) -> Floats:
        """Output of a fitted model for some rows, of shape (n_rows, width)."""
        if not self.n_classes:
            return np.asarray(model.predict(view), dtype=np.float64).reshape(len(view), 1)
        if self.labels:
            chosen: Floats = np.eye(self.n_classes)[model.classes(view)]
            return chosen
        shares: Floats = model.probabilities(view, self.n_classes)
        return shares

    def columns(self, passed: Floats) -> Floats:
        """Input of the next stage: all views side by side, and only one column for two classes."""
        chosen = passed[:, :, 1:] if self.n_classes == 2 else passed
        n_rows, n_views, width = chosen.shape
        return np.ascontiguousarray(chosen.reshape(n_rows, n_views * width))


def fit_model(
    learner: Any, X: AnyFloats, target: npt.NDArray[Any], weights: Floats | None, output: Output
) -> Any:
    """Fit a classifier to class numbers, or a regressor."""
    fit = fit_classifier if output.n_classes else fit_regressor
    return fit(learner, X, target, weights)


@dataclass(frozen=True, eq=False)
class Level0:
    """The learner of level 0 and the settings it chooses from."""

    prototype: Any
    settings: Sequence[Setting]
    output: Output

    def fit(self, part: LearningRows, rotation: Floats | None, seed: int) -> tuple[Any, Setting]:
        """Fit a model to a view of the rows of a part, and return it with the chosen setting."""
        X = self._view(part.X, part, rotation)
        setting = self._choose(X, part, seed)
        learner = self._learner(setting, part, seed)
        return fit_model(learner, X, part.target, part.weights, self.output), setting

    def predict(self, model: Any, part: LearningRows, rotation: Floats | None) -> Floats:
        """Output of a model for the rows held out from its part."""
        return self.output.of(model, self._view(part.held_out, part, rotation))

    def _view(self, X: Float32s, part: LearningRows, rotation: Floats | None) -> Float32s:
        return rotated_view(X, part.encoding, rotation, codes=takes_codes(self.prototype))

    def _learner(self, setting: Setting, part: LearningRows, seed: int) -> Any:
        return make_learner(self.prototype, seed, part.encoding).set_params(**setting)

    def _choose(self, X: Float32s, part: LearningRows, seed: int) -> Setting:
        """The most accurate setting on the part's own rows (Blaser 3.4.1); ties go to the first.

        Predictions for rows of the part come from models that have not seen them: trees whose bag
        they were out of, or models of the other folds of the part.
        """
        if len(self.settings) == 1 or len(np.unique(part.target)) == 1:
            return self.settings[0]
        scores = [self._score(setting, X, part, seed) for setting in self.settings]
        return self.settings[int(np.argmax(scores))]

    def _score(self, setting: Setting, X: Float32s, part: LearningRows, seed: int) -> float:
        learner = self._learner(setting, part, seed)
        if _has_out_of_bag(learner):
            learner.set_params(oob_score=learner.get_params()["oob_score"] or True)
            fitted = fit_model(learner, X, part.target, part.weights, self.output)
            bare = fitted.model if isinstance(fitted, CodedClassifier) else fitted
            return float(bare.oob_score_)
        hits = np.empty(len(X))
        weights = part.weights
        of_classes = part.target if self.output.n_classes else np.zeros(len(X), np.int32)
        for train, test in stratified_folds(of_classes, min(SEARCH_FOLDS, len(X)), seed):
            some = None if weights is None else weights[train]
            learner = self._learner(setting, part, seed)
            model = fit_model(learner, X[train], part.target[train], some, self.output)
            if self.output.n_classes:
                hits[test] = model.classes(X[test]) == part.target[test]
            else:
                hits[test] = -((self.output.of(model, X[test])[:, 0] - part.target[test]) ** 2)
        return float(np.average(hits, weights=weights))


def read_settings(param_grid: Any) -> list[Setting]:
    """The settings of a grid; a single one that changes nothing if there is no grid."""
    return [{}] if param_grid is None else list(ParameterGrid(param_grid))


def _has_out_of_bag(learner: Any) -> bool:
    parameters = learner.get_params(deep=False)
    return "oob_score" in parameters and bool(parameters.get("bootstrap", True))


# Intermediate stages of stacked rotations: models on rotations of the previous outputs.

Passed = Mapping[
    LeftOut, Floats
]  # (n_rows, n_views, width); rows of the folds left out have values


@dataclass(frozen=True, eq=False)
class MiddleStage:
    """A fitted stage.

    Attributes
    ----------
    models : list of fitted learners
        One for each view.
    rotations : ndarray of shape (K + 1, n_columns, n_columns)
        Rotations of the columns that the stage before passes on; the first is the identity.
    """

    models: Sequence[Any]
    rotations: Floats


def turned(columns: Floats, rotation: Floats, view: int) -> Float32s:
    """A view of the columns; the bits of a row do not depend on the others. View 0 is unrotated."""
    numbers = np.asfortranarray(columns, dtype=np.float32)
    if view == 0:
        return numbers
    out = np.empty_like(numbers)
    _core.rotate_rows(numbers, np.asfortranarray(rotation), 1, out)
    return out


def columns_without(
    folds: Folds, left_out: LeftOut, passed: Passed, output: Output
) -> tuple[Floats, Indices, Floats, Indices]:
    """Rows that a model without these folds learns from and predicts, with their numbers.

    A row to learn from was left out, with these folds, by the models that predict it.
    """
    learned, held_out = folds.learned(left_out), folds.held_out(left_out)
    any_passed = next(iter(passed.values()))
    inputs = np.empty((len(learned), *any_passed.shape[1:]))
    for fold in range(len(folds)):
        here = folds.of_row[learned] == fold
        if here.any():
            inputs[here] = passed[tuple(sorted({*left_out, fold}))][learned[here]]
    held_out_inputs = passed[left_out][held_out] if left_out else any_passed[:0]
    return output.columns(inputs), learned, output.columns(held_out_inputs), held_out


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


def _level1_gives_probabilities(estimator: StackedRotationClassifier) -> bool:
    return estimator.level1 is None or hasattr(estimator.level1, "predict_proba")


@documented(STACKED_CLASSIFIER)
class StackedRotationClassifier(ClassifierMixin, ClassLabels, StackedRotation):  # type: ignore[misc]
    """Classifiers on rotations of the features, and a classifier on their predictions.

    A model of level 0 is fitted to each view of the features: as they are, and after each of K
    random rotations. The learner of level 1 combines their class probabilities; it learns which
    rotations to trust, and where. It is trained on predictions of level 0 for rows it has not seen:
    the rows are divided into folds, and the models that predict a fold are fitted, scaled and tuned
    on the other folds alone. In the end level 0 is fitted once more, on all rows. S-RRE of Blaser,
    "Random rotations in machine learning" (thesis), sections 3.3 and 3.4.

    Missing values count as the median of the training rows, which comes with the scale.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes}
    {columns}
    rotations_ : ndarray of shape (K + 1, n_numeric, n_numeric)
        The views of the numeric features; columns are axes. The first is the identity.
    level0_ : list of K + 1 fitted learners
        One for each view, fitted on all rows; their classes are positions in `classes_`. With
        `refit=False` a list of one for each fold.
    level0_params_ : list of K + 1 dicts
        Parameters that each of them has chosen from `param_grid`.
    level1_ : fitted learner
        Learner that combines their predictions.
    stage_rotations_ : list of ndarray
        Rotations of each intermediate stage, applied to the predictions of the stage before.
    fold_of_row_ : ndarray of shape (n_rows,)
        Fold in which each training row was held out.

    Examples
    --------
    >>> from bevel import StackedRotationClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> stack = StackedRotationClassifier(n_rotations=3, random_state=0).fit(X, y)
    >>> stack.predict(X[:1])
    array([0])
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = STACKED_CLASSIFIER
    _classifies: ClassVar[bool] = True

    def __init__(
        self,
        level0: Any = None,
        level1: Any = None,
        *,
        n_rotations: int = 20,
        flip: bool = False,
        n_stages: int = 2,
        passes: str = "probabilities",
        cv: Any = 5,
        refit: bool = True,
        param_grid: Any = None,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        rotation_state: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.level0 = level0
        self.level1 = level1
        self.n_rotations = n_rotations
        self.flip = flip
        self.n_stages = n_stages
        self.passes = passes
        self.cv = cv
        self.refit = refit
        self.param_grid = param_grid
        self.scale = scale
        self.categorical_features = categorical_features
        self.rotation_state = rotation_state
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Class of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels.
        """
        columns = self._last_columns(X)
        return np.asarray(self.classes_.take(self._coded(self.level1_).classes(columns)))

    @available_if(_level1_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of each row, in the order of `classes_`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Probabilities of the last stage; absent if it gives no probabilities.
        """
        columns = self._last_columns(X)
        return self._coded(self.level1_).probabilities(columns, self.n_classes_)

    def _prototype(self, learner: Any) -> Any:
        return ObliqueForestClassifier(100, projection="axis") if learner is None else learner

    def _read_target(self, y: Any, weights: Floats | None, n_rows: int) -> npt.NDArray[Any]:
        return self._read_classes(y, weights, n_rows)

    def _output_of(self) -> Output:
        return Output(self.n_classes_, self.passes == "labels")

    def _known(self, model: Any) -> Any:
        return self._coded(model)


@documented(STACKED_REGRESSOR)
class StackedRotationRegressor(RegressorMixin, StackedRotation):  # type: ignore[misc]
    """Regressors on rotations of the features, and a regressor on their predictions.

    The counterpart of `StackedRotationClassifier`; the thesis covers classification only. Models
    pass on their predicted values.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {columns}
    rotations_ : ndarray of shape (K + 1, n_numeric, n_numeric)
        The views of the numeric features; columns are axes. The first is the identity.
    level0_ : list of K + 1 fitted learners
        One for each view, fitted on all rows. With `refit=False` a list of one for each fold.
    level0_params_ : list of K + 1 dicts
        Parameters that each of them has chosen from `param_grid`.
    level1_ : fitted learner
        Learner that combines their predictions.
    stage_rotations_ : list of ndarray
        Rotations of each intermediate stage, applied to the predictions of the stage before.
    fold_of_row_ : ndarray of shape (n_rows,)
        Fold in which each training row was held out.

    Examples
    --------
    >>> from bevel import StackedRotationRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> stack = StackedRotationRegressor(n_rotations=2, cv=3, random_state=0).fit(X, y)
    >>> stack.predict(X[:1]).shape
    (1,)
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = STACKED_REGRESSOR
    _classifies: ClassVar[bool] = False
    passes = "values"

    def __init__(
        self,
        level0: Any = None,
        level1: Any = None,
        *,
        n_rotations: int = 20,
        flip: bool = False,
        n_stages: int = 2,
        cv: Any = 5,
        refit: bool = True,
        param_grid: Any = None,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        rotation_state: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.level0 = level0
        self.level1 = level1
        self.n_rotations = n_rotations
        self.flip = flip
        self.n_stages = n_stages
        self.cv = cv
        self.refit = refit
        self.param_grid = param_grid
        self.scale = scale
        self.categorical_features = categorical_features
        self.rotation_state = rotation_state
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def predict(self, X: Any) -> Floats:
        """Predicted value of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Values of the last stage.
        """
        columns = self._last_columns(X)  # raises before a fit
        return self._output.of(self.level1_, columns)[:, 0]

    def _prototype(self, learner: Any) -> Any:
        return ObliqueForestRegressor(100, projection="axis") if learner is None else learner

    def _read_target(self, y: Any, weights: Floats | None, n_rows: int) -> npt.NDArray[Any]:
        del weights
        return read_numbers(y, n_rows)

    def _output_of(self) -> Output:
        return Output(0, labels=False)

    def _known(self, model: Any) -> Any:
        return model
