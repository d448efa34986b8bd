"""Tasks of the commands: for each kind of target the estimators that learn it, how the rows of a
table are scored, and what is said of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold, StratifiedKFold

from bevel._types import Floats
from bevel.analysis import out_of_bag_curve, survival_scores
from bevel.analysis.results import OutOfBagCurve, SurvivalScores
from bevel.data.survival import SurvivalTarget
from bevel.data.tables import Columns
from bevel.errors import join_names, nearest, shorten
from bevel.estimators import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    ObliqueRegressor,
    ObliqueSurvivalForest,
)
from bevel.forest.task import SeveralOutputs
from bevel.training.automatic import Candidate, axis_family
from bevel.workflow.predictions import Predictions
from bevel.workflow.scores import (
    Estimate,
    classification_scores,
    mean_estimate,
    paired_share_estimate,
    regression_scores,
)

if TYPE_CHECKING:
    from bevel.workflow.fitting import FitResult
    from bevel.workflow.rows import LabelledRows

__all__ = [
    "BOOSTING",
    "CLASSIFICATION",
    "FOREST",
    "ISOLATION",
    "KINDS",
    "REGRESSION",
    "SURVIVAL",
    "Classification",
    "Isolation",
    "ModelKind",
    "OneTarget",
    "Regression",
    "Settings",
    "SeveralTargets",
    "Survival",
    "TableTask",
    "count_causes",
    "task_of",
]

# Kinds of models: how the trees are combined.

FOREST, BOOSTING, COMBINED = "forest", "boosting", "combined"


@dataclass(frozen=True)
class ModelKind:
    """How the trees of a model are combined, as `bevel fit --model` calls it.

    Attributes
    ----------
    name : str
    trees : str
        Parameter of the number of trees.
    unit : str
        What is counted by it.
    size : str
        Attribute of a fitted model with the number of them.
    phrase : str
        The model with its size, as a page introduces it.
    has_bags : bool
        Whether trees leave rows out, which then score the model.
    """

    name: str
    trees: str
    unit: str
    size: str
    phrase: str
    has_bags: bool

    def describe(self, model: Any) -> str:
        """Size of a fitted model."""
        return f"{attrgetter(self.size)(model):,} {self.unit}"

    def parameters(self, settings: Settings) -> dict[str, Any]:
        """Parameters of an estimator that only this kind of model has."""
        return {
            self.trees: settings.n_trees or "auto",
            "projection": settings.projection,
            "n_projections": settings.n_projections,
        }

    def chosen(self, projection: str) -> str:
        """What a page or line says of the directions of splits; empty where nothing is chosen."""
        return f", projection {projection}"


@dataclass(frozen=True)
class CombinedKind(ModelKind):
    """A forest and boosting with weights, whose sizes follow from `quality`."""

    def describe(self, model: Any) -> str:
        """The weights of a fitted model."""
        record = model.members_
        pairs = zip(record.names, record.weights, strict=True)
        return " and ".join(f"{name} {weight:.2f}" for name, weight in pairs)

    def parameters(self, _settings: Settings) -> dict[str, Any]:
        """None: `quality` is among the further parameters."""
        return {}

    def chosen(self, _projection: str) -> str:
        """Nothing."""
        return ""


KINDS = {
    FOREST: ModelKind(FOREST, "n_estimators", "trees", "forest_.n_trees", "A forest of", True),
    BOOSTING: ModelKind(BOOSTING, "max_iter", "iterations", "n_iter_", "Gradient boosting,", False),
    COMBINED: CombinedKind(
        COMBINED,
        "quality",
        "weights",
        "members_",
        "A forest and gradient boosting together:",
        False,
    ),
}


@dataclass(frozen=True)
class Settings:
    """Parameters of a model."""

    projection: Any = "auto"
    n_projections: int | float | str = "auto"
    n_trees: int = 300  # iterations of boosting; 0: chosen by early stopping
    seed: int = 0
    n_jobs: int | None = None
    others: Mapping[str, Any] = field(default_factory=dict)  # further parameters by name
    model: str = FOREST

    @property
    def kind(self) -> ModelKind:
        """How the trees are combined."""
        return KINDS[self.model]


class TableTask:
    """What is learned from a table.

    Attributes
    ----------
    name : str
    estimators : mapping of str to class
        Estimator of each kind of model that learns it.
    has_classes : bool
        Whether predictions are classes.
    has_bags : bool
        Whether the rows out of bag are predicted.
    needs_bags : bool
        Whether it is an error if no row is out of bag.
    is_cross_validated : bool
        Whether models are cross-validated whose trees leave no rows out.
    """

    name: ClassVar[str]
    estimators: ClassVar[Mapping[str, type]]
    has_classes: ClassVar[bool] = False
    has_bags: ClassVar[bool] = True
    needs_bags: ClassVar[bool] = False
    is_cross_validated: ClassVar[bool] = False

    def default_trees(self, model: str) -> int:
        """Number of trees by default: that of the estimator; 0 where it is found by the fit."""
        number = self.estimators[FOREST]().n_estimators if model == FOREST else "auto"
        return 0 if number == "auto" else int(number)

    def make(self, settings: Settings, **parameters: Any) -> Any:
        """An unfitted estimator."""
        return self.estimators[settings.model](
            **settings.kind.parameters(settings),
            random_state=settings.seed,
            n_jobs=settings.n_jobs,
            **settings.others,
            **parameters,
        )

    def parameters(self, given: Mapping[str, Any], _rows: LabelledRows) -> dict[str, Any]:
        """Further parameters of the estimator, from those that the user has given."""
        return dict(given)

    def check_keep_targets(self, _rows: LabelledRows) -> None:
        """Raise if the training targets cannot be kept."""

    def out_of_bag(self, model: Any) -> Any:
        """Out-of-bag predictions of a fitted model."""
        return model.oob_prediction_

    def columns(self, rows: LabelledRows) -> tuple[str, ...]:
        """Names of the columns of the target."""
        return (rows.target,)

    def classes(self, _y: Any) -> npt.NDArray[Any]:
        """Distinct labels of a target, sorted; empty if it has none."""
        return np.empty(0)

    def scores(self, rows: LabelledRows, model: Any, predictions: Any) -> Any:
        """Scores of predictions; empty if no row has one."""
        raise NotImplementedError

    def curve(self, _model: Any, _rows: LabelledRows) -> OutOfBagCurve | None:
        """Out-of-bag loss against the number of trees; None if it is not known."""
        return None

    def describe(self, rows: LabelledRows) -> str:
        """The target in one line."""
        raise NotImplementedError

    def part_of(self, model: Any, _target: str | None) -> Any:
        """The model of a target."""
        return model

    def out_of_bag_table(self, found: FitResult) -> Predictions:
        """Out-of-bag predictions, beside the names and the targets of the rows."""
        raise NotImplementedError

    def predict(self, model: Any, X: Columns, proba: bool, interval: float | None) -> Predictions:
        """Predictions of a model, with what was requested beside them."""
        if proba:
            raise ValueError(
                "`proba` must be used with a classifier; the model is a regressor. Leave it out, "
                "or ask for an `interval`."
            )
        if interval is None:
            return Predictions(model.predict(X))
        fitted = model.fitted_forest_
        if fitted.aggregation.has_bags and fitted.targets is None:
            raise ValueError(
                "`interval` needs a model that keeps the training targets; this one does not. Fit "
                "it again with `keep_targets`."
            )
        return Predictions(model.predict(X), interval=model.predict_interval(X, interval))


MIN_JUDGED, MAX_OWN_LABELS = 20, 0.5  # rows; share of distinct labels
NO_ROWS_OUT = (
    "Out-of-bag predictions need trees that leave rows out; with this projection each is grown on "
    "all rows. Choose another projection, or predict other rows."
)


class OneTarget(TableTask):
    """One column of classes or numbers.

    Attributes
    ----------
    loss : str
        The loss that a model is compared by, in words.
    """

    is_cross_validated = True
    loss: ClassVar[str]

    def parts(self, predictions: Any) -> Sequence[Floats]:
        """Predictions of several outputs, one by one."""
        return list(predictions)

    def typed(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A column of a table as a target."""
        return column.astype(np.float64)

    def check(self, source: object, target: str, y: npt.NDArray[Any]) -> None:
        """Raise if nothing can be learned from a target."""

    def coded(self, rows: LabelledRows) -> npt.NDArray[Any]:
        """The target as numbers: positions among the classes, or the values."""
        raise NotImplementedError

    def score(self, y: npt.NDArray[Any], predicted: Floats) -> dict[str, Estimate]:
        """Scores of predictions of a coded target."""
        raise NotImplementedError

    def known(self, rows: LabelledRows, predictions: Floats) -> npt.NDArray[np.intp]:
        """Rows that have a prediction."""
        return np.flatnonzero(~np.isnan(predictions).reshape(len(rows.y), -1).any(axis=1))

    def scores(self, rows: LabelledRows, _model: Any, predictions: Any) -> dict[str, Estimate]:
        """Scores of predictions; rows without one are left out."""
        if predictions is None:
            return {}
        known = self.known(rows, predictions)
        return self.score(self.coded(rows)[known], predictions[known]) if len(known) else {}

    def curve(self, model: Any, rows: LabelledRows) -> OutOfBagCurve | None:
        """Out-of-bag loss against the number of trees."""
        return out_of_bag_curve(model, rows.X, rows.y)

    def folds(self, rows: LabelledRows, n_folds: int, seed: int) -> Any:
        """Splits of the rows into training and test rows."""
        return KFold(n_folds, shuffle=True, random_state=seed).split(rows.y)

    def predict_fold(self, model: Any, X: Columns, _rows: LabelledRows) -> Floats:
        """Predictions by a model that has seen a part of the rows."""
        return np.asarray(model.predict(X))

    # The comparison of a model with a forest of another kind.

    def row_losses(self, y: npt.NDArray[Any], predictions: Floats) -> Floats:
        """Contribution of each row to the loss; NaN for a row without a prediction."""
        raise NotImplementedError

    def scale(self, _y: npt.NDArray[Any]) -> float:
        """The loss that counts as one."""
        return 1.0

    def gain(self, difference: Floats, scale: float) -> Estimate:
        """Mean of differences of losses."""
        raise NotImplementedError

    def axis_family(self) -> Candidate:
        """The family of splits along the axes, as in a forest of several families."""
        raise NotImplementedError

    def rival_criterion(self, has_families: bool) -> str | None:
        """Criterion of a forest that a model is compared with; None: its default."""
        return self.axis_family().criterion if has_families else None


class Classification(OneTarget):
    """Classes."""

    name = "classification"
    has_classes = True
    estimators: ClassVar[Mapping[str, type]] = {
        FOREST: ObliqueForestClassifier,
        BOOSTING: ObliqueBoostingClassifier,
        COMBINED: ObliqueClassifier,
    }
    loss = "error"

    def parameters(self, given: Mapping[str, Any], rows: LabelledRows) -> dict[str, Any]:
        """Parameters with class weights by the labels of the target, also where given as text."""
        weights = given.get("class_weight")
        if weights is None or isinstance(weights, str):
            return dict(given)
        labels = {str(label): label for label in rows.classes.tolist()}
        unknown = [str(label) for label in weights if str(label) not in labels]
        if unknown:
            close = nearest(unknown[0], list(labels))
            raise ValueError(
                f"`class_weight` must name classes of {rows.target!r} "
                f"({join_names(list(labels))}); got {unknown[0]!r}. "
                f"{f'Did you mean {close!r}?' if close else 'Check the spelling.'}"
            )
        named = {labels[str(label)]: weight for label, weight in weights.items()}
        return dict(given) | {"class_weight": dict.fromkeys(labels.values(), 1.0) | named}

    def check_keep_targets(self, rows: LabelledRows) -> None:
        """Raise, since classes have no intervals."""
        raise ValueError(
            f"`keep_targets` needs a target of numbers; got {len(rows.classes)} classes. Leave it "
            'out, or ask for `task="regression"`.'
        )

    def out_of_bag(self, model: Any) -> Any:
        """Out-of-bag probabilities (n_rows, n_classes), in a list for several outputs."""
        return model.oob_decision_function_

    def typed(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Whole numbers, or words."""
        return column.astype(np.int64) if column.dtype.kind == "f" else column.astype(np.str_)

    def check(self, source: object, target: str, y: npt.NDArray[Any]) -> None:
        """Raise if nearly every row has a different label, as with names, texts and keys."""
        labels, counts = np.unique(y, return_counts=True)
        if len(y) >= MIN_JUDGED and len(labels) > MAX_OWN_LABELS * len(y):
            examples = join_names([shorten(label.item()) for label in labels[:2]])
            raise ValueError(
                f"{source}: the target {target!r} must have labels that repeat; got "
                f"{len(labels):,} different ones in {len(y):,} rows, such as {examples}, of which "
                f"{int((counts == 1).sum()):,} occur once. There is nothing to learn from them: "
                "name another `target`, or if they are numbers written as words, how to read them "
                f'(`decimal`, `missing`, `types={{{target!r}: "number"}}`).'
            )

    def classes(self, y: Any) -> npt.NDArray[Any]:
        """Distinct labels, sorted."""
        return np.unique(y)

    def coded(self, rows: LabelledRows) -> npt.NDArray[Any]:
        """Positions of the targets among the classes."""
        return np.asarray(np.searchsorted(rows.classes, rows.y))

    def score(self, y: npt.NDArray[Any], predicted: Floats) -> dict[str, Estimate]:
        """Error, Cohen's kappa, AUC, log loss and Brier score."""
        return classification_scores(y, predicted)

    def folds(self, rows: LabelledRows, n_folds: int, seed: int) -> Any:
        """Splits that are stratified by class, unless a class has fewer rows than folds."""
        codes = self.coded(rows)
        if int(np.bincount(codes).min()) < n_folds:
            return super().folds(rows, n_folds, seed)
        return StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(codes, codes)

    def predict_fold(self, model: Any, X: Columns, rows: LabelledRows) -> Floats:
        """Probabilities; that of a class which the model has not seen is zero."""
        predictions = np.zeros((len(X), len(rows.classes)))
        predictions[:, np.searchsorted(rows.classes, model.classes_)] = model.predict_proba(X)
        return predictions

    def describe(self, rows: LabelledRows) -> str:
        """Name of the target and number of its classes."""
        return f"{rows.target}, {len(rows.classes)} classes"

    def out_of_bag_table(self, found: FitResult) -> Predictions:
        """Classes and probabilities, beside the true classes."""
        rows, estimates = found.rows, found.out_of_bag
        if estimates is None:
            raise ValueError(NO_ROWS_OUT)
        known = ~np.isnan(estimates).any(axis=1)
        predicted = np.where(known, rows.classes[np.nan_to_num(estimates).argmax(axis=1)], "")
        names = [str(label) for label in rows.classes]
        return Predictions(predicted, names, estimates, ids={**rows.ids, rows.target: rows.y})

    def predict(self, model: Any, X: Columns, proba: bool, interval: float | None) -> Predictions:
        """Classes, with their probabilities if requested."""
        if interval is not None:
            raise ValueError(
                "`interval` must be used with a regressor; the model is a classifier. Leave it "
                "out, or ask for `proba`."
            )
        names = [str(label) for label in model.classes_]
        return Predictions(model.predict(X), names, model.predict_proba(X) if proba else None)

    def row_losses(self, y: npt.NDArray[Any], predictions: Floats) -> Floats:
        """One for a wrong class, zero for the right one."""
        unknown = np.isnan(predictions).any(axis=1)
        wrong = (np.nan_to_num(predictions).argmax(axis=1) != y).astype(np.float64)
        return np.where(unknown, np.nan, wrong)

    def gain(self, difference: Floats, _scale: float) -> Estimate:
        """Difference of shares, paired row by row."""
        return paired_share_estimate(difference)

    def axis_family(self) -> Candidate:
        """The family of splits along the axes, for classes."""
        return axis_family(regression=False)

    def rival_criterion(self, has_families: bool) -> str | None:
        """Criterion of the axis family, or Gini's."""
        return super().rival_criterion(has_families) or "gini"


class Regression(OneTarget):
    """A number."""

    name = "regression"
    estimators: ClassVar[Mapping[str, type]] = {
        FOREST: ObliqueForestRegressor,
        BOOSTING: ObliqueBoostingRegressor,
        COMBINED: ObliqueRegressor,
    }
    loss = "unexplained variance"

    def parts(self, predictions: Any) -> Sequence[Floats]:
        """Columns of several outputs."""
        return list(predictions.T)

    def parameters(self, given: Mapping[str, Any], _rows: LabelledRows) -> dict[str, Any]:
        """Parameters without class weights."""
        if given.get("class_weight") is not None:
            raise ValueError(
                "`class_weight` needs a target of classes; got a target of numbers. Leave it out, "
                'or ask for `task="classification"`.'
            )
        return dict(given)

    def coded(self, rows: LabelledRows) -> npt.NDArray[Any]:
        """The values."""
        return np.asarray(rows.y)

    def score(self, y: npt.NDArray[Any], predicted: Floats) -> dict[str, Estimate]:
        """R², root mean squared error and mean absolute error."""
        return regression_scores(y, predicted)

    def describe(self, rows: LabelledRows) -> str:
        """Name of the target."""
        return f"{rows.target}, a number"

    def out_of_bag_table(self, found: FitResult) -> Predictions:
        """Values, beside the true ones."""
        if found.out_of_bag is None:
            raise ValueError(NO_ROWS_OUT)
        rows = found.rows
        return Predictions(found.out_of_bag, ids={**rows.ids, rows.target: rows.y})

    def row_losses(self, y: npt.NDArray[Any], predictions: Floats) -> Floats:
        """Squared errors."""
        return np.asarray((y - predictions) ** 2, dtype=np.float64)

    def scale(self, y: npt.NDArray[Any]) -> float:
        """Variance of the target."""
        return float(np.var(y)) or 1.0

    def gain(self, difference: Floats, scale: float) -> Estimate:
        """Difference of squared errors."""
        return mean_estimate(difference / scale)

    def axis_family(self) -> Candidate:
        """The family of splits along the axes, for numbers."""
        return axis_family(regression=True)


CLASSIFICATION, REGRESSION = Classification(), Regression()


@dataclass(frozen=True)
class SeveralTargets(TableTask):
    """Several columns, all of them classes or all of them numbers.

    Attributes
    ----------
    each : OneTarget
        The task of each column.
    targets : tuple of str
        Names of the columns.
    """

    each: OneTarget
    targets: tuple[str, ...]

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the task of each column."""
        return self.each.name

    @property
    def estimators(self) -> Mapping[str, type]:  # type: ignore[override]
        """Forests of several outputs."""
        return self.each.estimators

    def out_of_bag(self, model: Any) -> dict[str, Floats]:
        """Out-of-bag predictions of each output."""
        parts = self.each.parts(self.each.out_of_bag(model))
        return dict(zip(self.targets, parts, strict=True))

    def scores(
        self, rows: LabelledRows, _model: Any, predictions: Any
    ) -> dict[str, dict[str, Estimate]]:
        """Scores of each output that has rows with predictions."""
        every = {
            name: self.each.scores(self.rows_of(rows, name), None, own)
            for name, own in (predictions or {}).items()
        }
        return {name: scores for name, scores in every.items() if scores}

    def rows_of(self, rows: LabelledRows, target: str) -> LabelledRows:
        """The rows with one of the targets."""
        y = rows.y.values[self.targets.index(target)]
        return replace(rows, y=y, target=target, task=self.each)

    def describe(self, _rows: LabelledRows) -> str:
        """Names of the targets."""
        return f"{', '.join(self.targets)} ({self.name})"

    def columns(self, _rows: LabelledRows) -> tuple[str, ...]:
        """Names of the targets."""
        return self.targets

    def part_of(self, model: Any, target: str | None) -> Any:
        """The model of one of the targets."""
        if target not in self.targets:
            names = join_names([repr(name) for name in self.targets])
            raise ValueError(
                f"`target` must name one of the {len(self.targets)} outputs of the model "
                f"({names}), which is then explained; got {target!r}. Name one of them."
            )
        return model.output(target)

    def part(self, found: FitResult, target: str) -> FitResult:
        """The fit of one of the targets."""
        return replace(
            found,
            model=found.model.output(target),
            scores=found.scores.get(target, {}),
            rows=self.rows_of(found.rows, target),
            out_of_bag=found.out_of_bag and found.out_of_bag[target],
        )

    def out_of_bag_table(self, found: FitResult) -> Predictions:
        """Predictions of all outputs, beside their targets."""
        parts = [self.each.out_of_bag_table(self.part(found, name)) for name in self.targets]
        beside = dict(found.rows.ids) | dict(zip(self.targets, found.rows.y.values, strict=True))
        return self._joined(parts, beside)

    def predict(self, model: Any, X: Columns, proba: bool, interval: float | None) -> Predictions:
        """Predictions of all outputs; columns of probabilities are named OUTPUT_CLASS."""
        parts = [self.each.predict(model.output(name), X, proba, interval) for name in self.targets]
        return self._joined(parts, {})

    def _joined(self, parts: Sequence[Predictions], ids: Mapping[str, Any]) -> Predictions:
        """Predictions of each target as predictions of all."""
        named = zip(self.targets, parts, strict=True)
        names = [f"{target}_{label}" for target, part in named for label in part.classes]
        shares = [part.probabilities for part in parts if part.probabilities is not None]
        return Predictions(
            np.column_stack([part.values for part in parts]),
            names,
            np.hstack(shares) if shares else None,
            ids=ids,
            outputs=self.targets,
        )


@dataclass(frozen=True)
class Survival(TableTask):
    """The time to an event.

    Attributes
    ----------
    event : str
        Name of the column of the events.
    entry : str or None
        Name of the column of the entries, if rows enter late.
    competing : bool
        Whether events are numbers of causes.
    """

    name = "survival"
    estimators: ClassVar[Mapping[str, type]] = {FOREST: ObliqueSurvivalForest}
    needs_bags = True

    event: str = ""
    entry: str | None = None
    competing: bool = False

    def parameters(self, given: Mapping[str, Any], _rows: LabelledRows) -> dict[str, Any]:
        """Parameters with those that follow from the columns."""
        return {"competing_risks": self.competing, **given}

    def scores(self, rows: LabelledRows, model: Any, _predictions: Any) -> SurvivalScores:
        """Concordance, Brier score and AUC."""
        weights = rows.weights
        return survival_scores(model, rows.X, rows.y, out_of_bag=True, sample_weight=weights)

    def describe(self, rows: LabelledRows) -> str:
        """Columns of the target and number of events, by their cause, and of late entries."""
        target = rows.y
        words = (
            f"time in {rows.target!r}, event in {self.event!r}: {int(target.event.sum()):,} events"
        )
        if target.cause is not None:
            words += f" ({count_causes(target)})"
        if target.entry is not None:
            n_late = int((target.entry > 0.0).sum())
            words += f"; {n_late:,} rows enter late ({self.entry})"
        return words

    def out_of_bag_table(self, found: FitResult) -> Predictions:
        """Risks, beside the times and events."""
        rows, target = found.rows, found.rows.y
        event = target.event.astype(int) if target.cause is None else target.cause
        beside = {**rows.ids, rows.target: target.time, self.event: event}
        return Predictions(found.out_of_bag, ids=beside)


def count_causes(target: SurvivalTarget) -> str:
    """Number of events of each cause, in words."""
    assert target.cause is not None
    counts = np.bincount(target.cause, minlength=target.n_causes + 1)[1:]
    return ", ".join(f"{n:,} of cause {k}" for k, n in enumerate(counts, 1))


class Isolation(TableTask):
    """How unusual a row is, without a target."""

    name = "isolation"
    estimators: ClassVar[Mapping[str, type]] = {FOREST: ObliqueIsolationForest}
    has_bags = False

    def make(self, settings: Settings, **parameters: Any) -> ObliqueIsolationForest:
        """An unfitted isolation forest, which draws a single direction at each node."""
        return ObliqueIsolationForest(
            settings.n_trees,
            projection=settings.projection,
            random_state=settings.seed,
            n_jobs=settings.n_jobs,
            **settings.others,
            **parameters,
        )

    def scores(self, rows: LabelledRows, model: Any, _predictions: Any) -> Floats:
        """Scores of the rows; the lower, the more unusual."""
        return np.asarray(model.score_samples(rows.X))

    def predict(self, model: Any, X: Columns, proba: bool, interval: float | None) -> Predictions:
        """Which rows are unusual, and their scores."""
        found = super().predict(model, X, proba, interval)
        return replace(found, scores=model.score_samples(X))


SURVIVAL, ISOLATION = Survival(), Isolation()
TASKS = {each.name: each for each in (CLASSIFICATION, REGRESSION, SURVIVAL, ISOLATION)}


def task_of(model: Any) -> TableTask:
    """The task of a fitted model."""
    task = model.fitted_forest_.task
    if isinstance(task, SeveralOutputs):
        each = TASKS[task.of(0).name]
        assert isinstance(each, OneTarget)
        return SeveralTargets(each, task.names)
    if task.name not in TASKS:
        raise ValueError(
            "Commands and pages are for models of classes, numbers, outliers and survival forests; "
            f"got {task.model}. Predict and explain it in Python: predict, "
            "analysis.shapley_values, analysis.partial_dependence."
        )
    return TASKS[task.name]
