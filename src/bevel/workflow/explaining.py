"""Explanation of a forest and some rows: importance, effects, directions, rules, quantiles, single
rows.

Plain results; `bevel.report.explain` writes them on pages and `bevel.cli.explain` in the terminal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from bevel._types import Floats, Target
from bevel.analysis import (
    importance,
    partial_dependence,
    shapley_values,
    surrogate_tree,
    tree_rules,
)
from bevel.analysis.accuracy.evaluation_rows import (
    EvaluationRows,
    predictions,
    read_evaluation_rows,
)
from bevel.analysis.accuracy.uncertainty import quantiles_of, training_targets
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.results import (
    Directions,
    Effect,
    Importance,
    RowQuantiles,
    RuleSet,
    ShapleyValues,
    SurrogateTree,
    TopRules,
    TreeRules,
)
from bevel.analysis.rules.rule_set import RuleOptions, choose_rules
from bevel.analysis.rules.top import RuleLimits, best_rules
from bevel.data.tables import Columns
from bevel.estimators.combined import ObliqueCombination
from bevel.forest.aggregation import SumOfTrees, add_trees
from bevel.forest.flat_forest import FlatForest
from bevel.forest.quantiles import LeafTargets
from bevel.tables.options import Source, TableOptions
from bevel.text.tree_rules import Style
from bevel.workflow.rows import ModelRows, read_model_rows
from bevel.workflow.scores import (
    Estimate,
    classification_scores,
    mean_estimate,
    regression_scores,
    share_estimate,
)
from bevel.workflow.survival import (
    SurvivalFindings,
    evaluation_rows,
    find_risk_rules,
    find_survival,
    read_survival_rows,
)
from bevel.workflow.targets import SurvivalColumns
from bevel.workflow.tasks import Classification, Regression, Survival, TableTask, task_of

__all__ = [
    "MAX_EFFECT_ROWS",
    "MAX_ROWS",
    "MAX_VISITS",
    "N_EFFECTS",
    "N_SHAPLEY_ROWS",
    "N_STEPS",
    "READABLE_DEPTH",
    "SLIM",
    "Band",
    "Explanation",
    "OnStep",
    "RepresentativeRow",
    "TargetQuantiles",
    "affordable_background",
    "best_tree",
    "draw_places",
    "explain",
    "explained_model",
    "find_main_effects",
    "find_representative_rows",
    "find_target_quantiles",
    "places_of",
    "read_to_explain",
    "readable_tree",
]


def explained_model(model: Any) -> Any:
    """The model that is explained: of a forest and boosting together the one of larger weight.

    Their trees add up on different scales; the forest is preferred if weights are equal.
    """
    if not isinstance(model, ObliqueCombination):
        return model
    shares = dict(zip(model.members_.names, model.members_.weights, strict=True))
    models = model.estimators_
    return models[0] if shares["forest"] >= shares["boosting"] else models[-1]


# Effects of the most important features on predictions.

N_EFFECTS = 6
N_POINTS = 30  # points of a curve
MAX_CLASSES = 5  # classes that a figure can distinguish


def find_main_effects(
    analysed: AnalysedForest, X: Columns, importance: Importance
) -> tuple[Effect, ...]:
    """Partial dependence of the most important features, with standard errors where bags are known.

    Features without values, with a single value or without importance are left out. If there are
    many classes, those are kept whose probabilities change most.
    """
    if not analysed.forest.n_trees or not len(X):
        return ()
    chosen = [
        int(place)
        for place in importance.order
        if importance.values[place] > 0.0 and _varies(X, int(place))
    ]
    return tuple(_effect(analysed, X, feature) for feature in chosen[:N_EFFECTS])


def _varies(X: Columns, feature: int) -> bool:
    present = X.values[feature][~X.missing(feature)]
    return len(present) > 1 and bool(np.any(present != present[0]))


def _effect(analysed: AnalysedForest, X: Columns, feature: int) -> Effect:
    options: dict[str, Any] = {"grid_resolution": N_POINTS}
    try:
        found = partial_dependence(analysed.estimator, X, feature, standard_error=True, **options)
    except ValueError:  # trees without bags, or a single tree
        found = partial_dependence(analysed.estimator, X, feature, **options)
    return _of_few_classes(found)


def _of_few_classes(found: Effect) -> Effect:
    """The effect on the classes whose probabilities change most, in their order."""
    if found.classes is None or len(found.classes) <= MAX_CLASSES:
        return found
    kept = np.sort(np.argsort(-np.ptp(found.values, axis=0), kind="stable")[:MAX_CLASSES])
    error = found.standard_error
    return replace(
        found,
        classes=found.classes[kept],
        values=found.values[:, kept],
        standard_error=None if error is None else error[:, kept],
    )


# Chooses rows to explain: a typical one, the most doubtful one, the worst mistake.


@dataclass(frozen=True)
class RepresentativeRow:
    """A row, and the reason why it was chosen.

    Attributes
    ----------
    why : {"typical", "doubtful", "wrong", "asked"}
    place : int
        Position among the evaluated rows.
    predicted : tuple of float
        Predictions of the forest: class probabilities, or one value.
    truth : float or None
        The true target, as position among the classes or as value, if it is known.
    spread : float
        Standard deviation of the trees' predictions in regression, 0 in classification and for
        boosting.
    number : int
        Number by which the row is called.
    """

    why: str
    place: int
    predicted: tuple[float, ...]
    truth: float | None
    spread: float
    number: int = 0


def find_representative_rows(
    forest: FlatForest,
    leaves: npt.NDArray[np.int32],
    predicted: Floats,
    truth: npt.NDArray[Any] | None,
    requested: Sequence[int] | npt.NDArray[np.integer[Any]] = (),
    *,
    adds_up: bool = False,
) -> list[RepresentativeRow]:
    """Choose rows, each for a single reason.

    - typical: the row that shares most leaves with other rows, among those predicted well;
    - doubtful: the one with the smallest lead of a class over the next, or the largest spread of
      the trees' predictions in regression;
    - wrong: the one whose true class has the smallest probability, or the largest error; only if
      the class predicted is not the true one.

    Parameters
    ----------
    forest : FlatForest
        The trees.
    leaves : ndarray of int32, shape (n, n_trees)
        Leaves of the rows.
    predicted : ndarray of shape (n, n_classes), or (n, 1) in regression
        Predictions of the forest.
    truth : ndarray of shape (n,), or None
        Positions among the classes, or values.
    requested : sequence of int
        Positions of requested rows; they come last.
    adds_up : bool, default=False
        Whether trees are added up, as in boosting; their spread then does not measure doubt.
    """
    is_classifier = predicted.shape[1] > 1 or forest.n_classes > 0
    error = _error(is_classifier, predicted, truth)
    has_spread = not is_classifier and not adds_up
    spread = _spread(forest, leaves) if has_spread else np.zeros(len(leaves))
    doubt = _doubt(predicted) if is_classifier else spread
    shared = np.where(error <= np.median(error), _shared_leaves(leaves), -1)
    reasons: list[tuple[str, npt.NDArray[Any]]] = [("typical", shared), ("doubtful", doubt)]
    if truth is not None:
        wrong = predicted.argmax(axis=1) != truth if is_classifier else error > 0.0
        reasons.insert(1, ("wrong", np.where(wrong, error, -1.0)))
    chosen: dict[int, str] = {}
    for why, score in reasons:
        free = np.where(np.isin(np.arange(len(score)), list(chosen)), -1.0, score)
        if free.max() > 0.0:
            chosen[int(free.argmax())] = why
    for place in requested:
        chosen.setdefault(int(place), "asked")
    order = ("typical", "doubtful", "wrong", "asked")
    return [
        RepresentativeRow(
            why,
            place,
            tuple(predicted[place].tolist()),
            None if truth is None else float(truth[place]),
            float(spread[place]),
        )
        for place, why in sorted(chosen.items(), key=lambda item: order.index(item[1]))
    ]


def _error(is_classifier: bool, predicted: Floats, truth: npt.NDArray[Any] | None) -> Floats:
    """Distance from the truth; zero where it is not known."""
    if truth is None:
        return np.zeros(len(predicted))
    if is_classifier:
        return np.asarray(1.0 - predicted[np.arange(len(predicted)), truth])
    return np.asarray(np.abs(predicted[:, 0] - truth))


def _spread(forest: FlatForest, leaves: npt.NDArray[np.int32]) -> Floats:
    return np.asarray(forest.leaf_value[forest.tree_offset[:-1] + leaves].std(axis=1))


def _doubt(predicted: Floats) -> Floats:
    """One minus the lead of the first class over the second."""
    if predicted.shape[1] < 2:
        return np.zeros(len(predicted))
    best = np.partition(predicted, -2, axis=1)[:, -2:]
    return np.asarray(1.0 - (best[:, 1] - best[:, 0]))


def _shared_leaves(leaves: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Number of rows that each row shares its leaf with, summed over trees: Breiman's proximity."""
    shared = np.zeros(len(leaves), dtype=np.int64)
    for leaf in leaves.T:
        shared += np.bincount(leaf)[leaf]
    return shared


# Quantiles of the targets of rows, for pages, with their coverage.

LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
MAX_MEMBERS = 2e7  # training rows times trees: more than a gigabyte for a moment

NOT_KEPT = (
    "Quantiles need the training targets, and the model has not kept them: grow it with bevel fit "
    "--model forest --keep-targets (keep_targets=True in Python), or explain it on the rows of the "
    "fit, with --target."
)
GROWN_ON = (
    "Quantiles of rows that every tree has seen would be close to their own targets: "
    "explain the model on other rows."
)
WEIGHTED = (
    "Quantiles need the weights of the training rows, which are not known here: grow the model "
    "with keep_targets=True."
)
TOO_MANY = (
    "Quantiles of so many training rows in so many trees take more memory than a page is worth: "
    "grow the model with bevel fit --model forest --keep-targets (keep_targets=True in Python)."
)


@dataclass(frozen=True)
class Band:
    """A central interval.

    Attributes
    ----------
    share : float
        Share of targets that should be inside.
    covered : Estimate or None
        Observed share; None if the targets are not known.
    width : float
        Median over rows of the distance between its ends.
    """

    share: float
    covered: Estimate | None
    width: float


@dataclass(frozen=True, eq=False)
class TargetQuantiles:
    """Quantiles of the targets of rows.

    Attributes
    ----------
    quantiles : RowQuantiles or None
        Quantiles of the evaluated rows.
    missing : str
        Reason why there are none, and how to get them; empty if there are some.
    """

    quantiles: RowQuantiles | None
    missing: str

    @property
    def bands(self) -> list[Band]:
        """Central intervals, widest first."""
        return [] if self.quantiles is None else _bands(self.quantiles)


def find_target_quantiles(
    analysed: AnalysedForest,
    rows: EvaluationRows,
    row_kind: str,
    X: Columns,
    y: npt.NDArray[Any] | None,
) -> TargetQuantiles:
    """Find quantiles of the targets of some rows, for a regressor.

    Parameters
    ----------
    analysed : AnalysedForest
        The forest.
    rows : EvaluationRows
        Rows to evaluate.
    row_kind : {"new", "out-of-bag", "grown on"}
        Whether the forest was grown on them.
    X, y : Columns and ndarray
        All given rows, and their targets if these are known; if the forest was grown on the rows,
        these are its training targets.
    """
    if row_kind == "grown on":
        return TargetQuantiles(None, GROWN_ON)
    targets, missing = _training_targets(analysed, row_kind, X, y)
    if targets is None:
        return TargetQuantiles(None, missing)
    truth = None if y is None else np.asarray(rows.target, np.float64)
    return TargetQuantiles(
        quantiles_of(analysed, targets, rows.X, LEVELS, target=truth, out=rows.out), ""
    )


def _training_targets(
    analysed: AnalysedForest, row_kind: str, X: Columns, y: npt.NDArray[Any] | None
) -> tuple[LeafTargets | None, str]:
    """Training targets of the leaves, or the reason why there are none."""
    kept = analysed.kept_targets()
    if kept is not None:
        return kept, ""
    if row_kind != "out-of-bag":
        return None, NOT_KEPT
    if len(X) * analysed.forest.n_trees > MAX_MEMBERS:
        return None, TOO_MANY
    try:
        return training_targets(analysed, X, y), ""
    except ValueError:  # the rows look like those of the fit but contradict the leaf predictions
        return None, WEIGHTED


def _bands(found: RowQuantiles) -> list[Band]:
    values = found.values[found.known]
    if len(values) == 0:
        return []
    bands = []
    for low, high in found.bands:
        covered = None
        if found.target is not None:
            inside = found.inside((low, high))
            covered = share_estimate(int(inside.sum()), len(inside))
        width = float(np.median(values[:, high] - values[:, low]))
        share = round(float(found.levels[high] - found.levels[low]), 9)  # 0.9, not 0.8999…
        bands.append(Band(share, covered, width))
    return bands


OnStep = Callable[[int, str], object]

N_STEPS = 6  # progress reports
MAX_ROWS = 10_000  # rows to evaluate
MAX_EFFECT_ROWS = 1000
MAX_RULE_ROWS = 2000  # rows on which short rules are chosen
MAX_VISITS = 2e9  # visits of rows to trees, with a feature permuted
N_BACKGROUND, N_SHAPLEY_ROWS = 100, 50
GAMES = 100_000  # Shapley games of a row, a background row and a tree: about 2 s on one core
FEW_FEATURES = 50
N_RULES, READABLE_DEPTH, READABLE_TERMS = 8, 3, 4

SLIM = (
    "The model is slim: the gains and weights of its nodes, which this needs, were dropped. "
    "Explain the full model instead."
)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Results of an explanation.

    Attributes
    ----------
    model : fitted estimator
        The forest.
    n_rows, n_used : int
        Number of rows given, and number of rows evaluated.
    row_kind : {"new", "out-of-bag", "grown on"}
        Whether the forest was grown on the rows, and if so whether each is evaluated by the trees
        that have not seen it.
    scores : dict of str to Estimate
        Scores of the predictions, of a forest and boosting together those of the whole model where
        rows are new; empty if the truth is not known.
    importances : tuple of Importance
        Gini importance unless the forest is slim, then an importance measured on the rows.
    effects : tuple of Effect
        Effects of the features that are most important on the rows, over some of the rows.
    directions : Directions or None
        Directions of all splits, a direction and its negative merged; None for a slim forest.
    surrogate : SurrogateTree
        Small tree of single features that imitates the forest on the rows.
    rules : TopRules or None
        Rules, measured on the target, or on the forest's predictions if it is not known.
    tree : TreeRules or None
        The tree whose first splits explain most of the variance of the forest's predictions.
    tree_explains : float
        Share of the variance of the forest's predictions that `tree` explains.
    quantiles : TargetQuantiles or None
        Quantiles of the targets; None in classification and for boosting.
    rows : tuple of RepresentativeRow
        Single rows worth explaining.
    shapley : ShapleyValues
        Shapley values of these rows, in their order.
    missing : str
        Reason why importances, directions, rules and tree are missing; empty if they are not.
    notes : tuple of str
        Notes on the file that the rows were read from.
    members : str
        Which model of a forest and boosting together is explained; empty for other models.
    groups : RuleSet or None
        Short rules of different groups of rows; None for a slim forest.
    target : str
        Name of the target; empty if it is not known.
    truth, predicted : ndarray or None
        Targets of the scored rows, classes by their position, and their predictions: numbers, or
        class shares. None if the truth is not known.
    survival : SurvivalFindings or None
        Findings of a survival forest; it has no rules. Other parts are about its risk.
    """

    model: Any
    n_rows: int
    n_used: int
    row_kind: str
    importances: tuple[Importance, ...]
    effects: tuple[Effect, ...]
    directions: Directions | None
    surrogate: SurrogateTree
    tree: TreeRules | None
    tree_explains: float
    rows: tuple[RepresentativeRow, ...]
    shapley: ShapleyValues
    missing: str
    scores: dict[str, Estimate] = field(default_factory=dict)
    rules: TopRules | None = None
    quantiles: TargetQuantiles | None = None
    notes: tuple[str, ...] = ()
    members: str = ""
    groups: RuleSet | None = None
    target: str = ""
    truth: Target | None = None
    predicted: Floats | None = None
    survival: SurvivalFindings | None = None

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """Labels of the classes; None in regression."""
        classes: npt.NDArray[Any] | None = self.model.fitted_forest_.task.classes
        return classes

    @property
    def has_target(self) -> bool:
        """Whether true targets were given."""
        return bool(self.scores)


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """Rows that a model is explained on.

    Attributes
    ----------
    analysed : AnalysedForest
    X, y, weights : Columns, target or None, ndarray or None
        All given rows, their targets if these are known, and weights if they are of the fit.
    used : ndarray of int64
        Positions of the rows that are evaluated.
    every, rows : EvaluationRows
        All rows, and those that are evaluated, with the trees that predict them.
    some : Columns
        The rows that are evaluated.
    predicted : ndarray of shape (n_used, n_outputs)
        Means over the trees, or predictions of boosting.
    shown : ndarray of shape (n_used, n_outputs)
        Results of `predict_proba` or `predict`.
    model : fitted estimator
        The whole model, of which the forest may be a part.
    positive : object
        The class that the short rules describe; None for all.
    """

    analysed: AnalysedForest
    X: Columns
    y: Any
    weights: Floats | None
    used: npt.NDArray[np.int64]
    every: EvaluationRows
    rows: EvaluationRows
    some: Columns
    predicted: Floats
    shown: Floats
    model: Any
    positive: Any = None

    @property
    def is_whole(self) -> bool:
        """Whether the model is the analysed forest, and not more."""
        return self.model is self.analysed.estimator

    @property
    def whole(self) -> AnalysedForest:
        """The whole model, of which predictions are imitated."""
        if self.is_whole:
            return self.analysed
        return read_forest(self.model, "explain", trees_only=True, predictions_only=True)

    @property
    def is_slim(self) -> bool:
        """Whether gains and weights of nodes are missing."""
        return self.analysed.forest.is_slim

    @property
    def out_of_bag(self) -> bool:
        """Whether rows are predicted by the trees that have not seen them."""
        return self.rows.row_kind == "out-of-bag"

    @property
    def measured(self) -> tuple[Columns, Any]:
        """Rows and targets that importance is measured on: all rows, to draw the bags again."""
        if self.out_of_bag:
            return self.X, self.y
        return self.some, None if self.y is None else self.y[self.used]

    @property
    def n_visits(self) -> int:
        """Visits of rows to trees, with each feature permuted once."""
        forest = self.analysed.forest
        return len(self.measured[0]) * forest.n_features * forest.n_trees

    def shapley_importance(self, what: str, seed: int) -> Importance:
        """Mean absolute Shapley values, where the truth is not known or rows are too many."""
        X, rng = self.measured[0], np.random.default_rng(seed)
        drawn = X.rows(draw_places(np.arange(len(X)), N_SHAPLEY_ROWS, rng))
        found = shapley_values(
            self.analysed.estimator,
            drawn,
            X,
            max_background=affordable_background(self.analysed, len(drawn)),
            random_state=rng,
        )
        measures = f"mean absolute Shapley value of {what}"
        return Importance("Shapley", found.names, found.importances, measures)


class ExplainedTask(ABC):
    """How predictions of a task are explained, for one target."""

    outputs: ClassVar[str]  # name of what Shapley values are of

    def read(
        self,
        model: Any,
        data: Path | Source,
        target: str | None,
        times: Sequence[str | None],
        options: TableOptions,
    ) -> ModelRows:
        """Rows of a file with the targets in the given columns.

        `times` are the names of the columns `time`, `event` and `entry`.
        """
        if any(each is not None for each in times):
            raise ValueError(
                "`time`, `event` and `entry` belong to a survival forest; got a model of classes "
                "or numbers. Name its `target`."
            )
        return read_model_rows(model, data, target=target, options=options)

    def rows(
        self, analysed: AnalysedForest, X: Columns, y: Any, _weights: Floats | None
    ) -> EvaluationRows:
        """The rows, with the trees that have not seen them if the forest was grown on them."""
        if y is None:
            encoded = analysed.encode(X)
            return EvaluationRows(encoded, np.zeros(len(encoded)), None)
        return read_evaluation_rows(analysed, X, y, out_of_bag="auto")

    @abstractmethod
    def from_sums(self, aggregation: SumOfTrees, sums: Floats) -> Floats:
        """Predictions of boosting as columns."""

    def shown(self, _analysed: AnalysedForest, predicted: Floats) -> Floats:
        """Results of `predict_proba` or `predict`."""
        return predicted

    def of_model(self, rows: _Evaluation) -> Floats:
        """Results of the whole model; of the part that has not seen them for rows of the fit."""
        if rows.is_whole or rows.rows.row_kind != "new":
            return rows.shown
        return self.predict(rows.model, rows.some)

    def predict(self, model: Any, X: Columns) -> Floats:
        """Predictions of a model as columns."""
        return np.asarray(model.predict(X))[:, None]

    @abstractmethod
    def scores(self, y: Target, predicted: Floats) -> dict[str, Estimate]:
        """Scores of predictions."""

    @abstractmethod
    def targets_of(self, predicted: Floats) -> Target:
        """Targets on which rules are measured if the truth is not known."""

    def differ(self, _predicted: Floats) -> bool:
        """Whether the error of the predictions can change where a feature is permuted."""
        return True

    def importances(self, rows: _Evaluation, seed: int) -> tuple[Importance, ...]:
        """Gain importance unless the forest is slim, then an importance measured on the rows."""
        X, y = rows.measured
        on_rows: Importance
        if y is not None and rows.n_visits <= MAX_VISITS and self.differ(rows.predicted):
            given = {"out_of_bag": rows.out_of_bag, "random_state": seed}
            on_rows = importance(rows.analysed.estimator, "permutation", X, y, **given)
        else:
            on_rows = rows.shapley_importance(self.outputs, seed)
        gains = () if rows.is_slim else (importance(rows.analysed.estimator, "gini"),)
        return (*gains, on_rows)

    def truth(self, rows: _Evaluation) -> Target | None:
        """Targets of the evaluated rows, if single rows are compared with them."""
        return None if rows.y is None else rows.rows.target

    def findings(
        self, rows: _Evaluation, _surrogate: SurrogateTree, _on_step: OnStep
    ) -> dict[str, Any]:
        """Further attributes of the explanation: rules, and scores if the truth is known."""
        found: dict[str, Any] = {}
        if not rows.is_slim:
            ruled = rows.rows
            if rows.y is None:
                ruled = replace(ruled, target=self.targets_of(rows.predicted))
            limits = RuleLimits(N_RULES, READABLE_DEPTH)
            style = Style(READABLE_DEPTH, max_terms=READABLE_TERMS)
            n_used = len(rows.used)
            few = np.linspace(0, n_used - 1, min(n_used, MAX_RULE_ROWS)).astype(np.int64)
            found["rules"] = best_rules(rows.analysed, ruled, limits, style)
            found["groups"] = choose_rules(
                rows.whole,
                rows.some.rows(few),
                _taken(ruled if rows.is_whole else replace(ruled, out=None), few),
                RuleOptions(positive=rows.positive),
            )
        if rows.y is not None:
            known = rows.rows.known
            truth, predicted = rows.rows.target[known], self.of_model(rows)[known]
            found |= {"truth": truth, "predicted": predicted}
            found["scores"] = self.scores(truth, predicted)
        return found


class ExplainedClasses(ExplainedTask):
    """How class probabilities are explained."""

    outputs = "probabilities"

    def from_sums(self, aggregation: SumOfTrees, sums: Floats) -> Floats:
        """Class probabilities of boosting."""
        return aggregation.probabilities(sums)

    def shown(self, analysed: AnalysedForest, predicted: Floats) -> Floats:
        """Calibrated probabilities."""
        return analysed.fitted.aggregation.calibrate(np.array(predicted))

    def predict(self, model: Any, X: Columns) -> Floats:
        """Class probabilities of a model."""
        return np.asarray(model.predict_proba(X))

    def scores(self, y: Target, predicted: Floats) -> dict[str, Estimate]:
        """Error, Cohen's kappa, AUC, log loss and Brier score."""
        return classification_scores(y.astype(np.int32), predicted)

    def differ(self, predicted: Floats) -> bool:
        """Whether more than one class is predicted: if not, permuting changes no error."""
        return len(np.unique(predicted.argmax(axis=1))) > 1

    def targets_of(self, predicted: Floats) -> Target:
        """The most probable classes."""
        return np.asarray(predicted.argmax(axis=1), dtype=np.int32)


class ExplainedNumbers(ExplainedTask):
    """How predicted numbers are explained."""

    outputs = "predictions"

    def from_sums(self, aggregation: SumOfTrees, sums: Floats) -> Floats:
        """Values of boosting, or quantiles."""
        return aggregation.values(sums).reshape(len(sums), -1)

    def scores(self, y: Target, predicted: Floats) -> dict[str, Estimate]:
        """R² and errors; the mean absolute error alone if there is no variance to explain."""
        y = y.astype(np.float64)
        if np.all(y == y[0]):
            return {"mean absolute error": mean_estimate(np.abs(y - predicted[:, 0]))}
        return regression_scores(y, predicted[:, 0])

    def targets_of(self, predicted: Floats) -> Target:
        """The predictions."""
        return predicted[:, 0]

    def findings(
        self, rows: _Evaluation, surrogate: SurrogateTree, on_step: OnStep
    ) -> dict[str, Any]:
        """Rules, scores, and quantiles of the targets in the leaves of a forest."""
        found = super().findings(rows, surrogate, on_step)
        if not rows.analysed.fitted.aggregation.adds_up:
            on_step(4, "finding quantiles")
            kind = rows.rows.row_kind
            found["quantiles"] = find_target_quantiles(
                rows.analysed, rows.rows, kind, rows.X, rows.y
            )
        return found


N_REPEATS = 5  # permutations of each feature, as in `importance`


class ExplainedRisks(ExplainedNumbers):
    """How risks are explained, which survival forests predict."""

    outputs = "risks"

    def read(
        self,
        model: Any,
        data: Path | Source,
        target: str | None,
        times: Sequence[str | None],
        options: TableOptions,
    ) -> ModelRows:
        """Rows of a file with times and events."""
        if target is not None:
            raise ValueError(
                "`target` belongs to a model of classes or numbers; got a survival forest. Name "
                "the columns `time` and `event`."
            )
        time, event, entry = times
        if (time is None) != (event is None) or (time is None and entry is not None):
            raise ValueError(
                "`time` and `event` belong together, and `entry` to both: the time of each row, "
                "whether the event was seen then, and since when the row is seen; got a part of "
                "them. Name both columns, or none."
            )
        columns = None
        if time is not None and event is not None:
            columns = SurvivalColumns(time, event, entry, competing=model.n_causes_ > 1)
        return read_survival_rows(model, data, columns, options)

    def rows(
        self, analysed: AnalysedForest, X: Columns, _y: Any, weights: Floats | None
    ) -> EvaluationRows:
        """The rows; those of the fit are recognised by the weights of leaves."""
        return evaluation_rows(analysed, X, weights)

    def importances(self, rows: _Evaluation, seed: int) -> tuple[Importance, ...]:
        """Importance by negation and permutation; Shapley values if events are unknown."""
        X, target = rows.measured
        whole = rows.weights is None or bool((rows.weights > 0.0).all())  # otherwise bags differ
        has_events = target is not None and target.event.any()
        if not has_events or N_REPEATS * rows.n_visits > MAX_VISITS or not whole:
            return (rows.shapley_importance(self.outputs, seed),)
        model, given = rows.analysed.estimator, {"out_of_bag": rows.out_of_bag}
        repeats = {"n_repeats": N_REPEATS, "random_state": seed}
        by_permutation = importance(model, "permutation", X, target, **repeats, **given)
        if rows.analysed.fitted.encoding.nominal:  # level sets have no coefficients to negate
            return (by_permutation,)
        return (importance(model, "negation", X, target, **given), by_permutation)

    def truth(self, _rows: _Evaluation) -> Target | None:
        """Nothing: times are not comparable with risks."""
        return None

    def findings(
        self, rows: _Evaluation, surrogate: SurrogateTree, on_step: OnStep
    ) -> dict[str, Any]:
        """Scores, groups of risk, calibration and curves."""
        on_step(4, "measuring survival")
        analysed, X, y = rows.analysed, rows.X, rows.y
        risk = _predict(self, analysed, rows.every)[:, 0]
        kind = rows.rows.row_kind
        found = find_survival(analysed.estimator, X, y, risk, kind, rows.weights)
        if y is not None:
            found = replace(found, rules=find_risk_rules(surrogate, X, y))
        return {"survival": found, "scores": found.estimates}


EXPLAINED: dict[type[TableTask], ExplainedTask] = {
    Classification: ExplainedClasses(),
    Regression: ExplainedNumbers(),
    Survival: ExplainedRisks(),
}


def read_to_explain(
    model: Any,
    data: Path | Source,
    target: str | None,
    times: Sequence[str | None],
    options: TableOptions,
) -> tuple[Any, ModelRows]:
    """The model, of one output if the target is one of several, and the rows of a file.

    Parameters
    ----------
    model : fitted estimator
    data : Path or Source
        The file.
    target : str or None
        Column of the target.
    times : sequence of str or None
        Columns of the times, events and entries, of a survival forest.
    options : TableOptions
        Format of the file.
    """
    model = task_of(model).part_of(model, target)
    task = EXPLAINED.get(type(task_of(model)), EXPLAINED[Regression])
    return model, task.read(model, data, target, times, options)


def explain(
    model: Any,
    X: Columns,
    y: Any = None,
    *,
    weights: Floats | None = None,
    number: npt.NDArray[np.int64] | None = None,
    requested: Sequence[int] = (),
    target_name: str = "",
    positive: Any = None,
    seed: int = 0,
    on_step: OnStep = lambda *_: None,
) -> Explanation:
    """Explain a model on some rows.

    Parameters
    ----------
    model : fitted estimator
    X : Columns
        Rows; the rows of the fit are recognised, and evaluated out of bag.
    y : ndarray or SurvivalTarget, default=None
        True classes or values of the rows, or their times and events.
    weights : ndarray, default=None
        Weights of the fit of a survival forest, if these are its rows.
    number : ndarray of int64, default=None
        Numbers by which the rows are called; None: 1, 2, ...
    requested : sequence of int
        Numbers of rows to explain in addition to the chosen ones.
    target_name : str, default=""
        Name of the target, for texts.
    positive : object, default=None
        The class that the short rules describe; None for all.
    seed : int, default=0
        Seed of all random choices.
    on_step : callable
        Called with the number of steps done, of `N_STEPS`, and the name of the next.
    """
    whole, model = model, explained_model(model)
    analysed = read_forest(model, "explain", trees_only=True)
    task = EXPLAINED[type(task_of(model))]
    number = np.arange(1, len(X) + 1) if number is None else number
    wanted = places_of(number, requested)
    rng = np.random.default_rng(seed)
    on_step(0, "predicting rows")
    every = task.rows(analysed, X, y, weights)
    used = np.union1d(draw_places(np.flatnonzero(every.known), MAX_ROWS, rng), wanted)
    some, rows = X.rows(used), _taken(every, used)
    predicted = _predict(task, analysed, rows)
    shown = task.shown(analysed, predicted)
    evaluation = _Evaluation(
        *(analysed, X, y, weights, used, every, rows, some, predicted, shown, whole, positive)
    )
    on_step(1, "measuring importance")
    importances = task.importances(evaluation, seed)
    on_step(2, "computing effects")
    over = some.rows(draw_places(np.arange(len(some)), MAX_EFFECT_ROWS, rng))
    effects = find_main_effects(analysed, over, importances[-1])
    on_step(3, "reading rules")
    is_slim = evaluation.is_slim
    surrogate = surrogate_tree(whole, some, max_depth=READABLE_DEPTH)
    leaves = analysed.predictor.leaves(rows.X, analysed.n_threads)
    place, explained = best_tree(analysed.forest, leaves, predicted)
    findings = task.findings(evaluation, surrogate, on_step)
    on_step(5, "explaining single rows")
    chosen = find_representative_rows(
        *(analysed.forest, leaves, predicted, task.truth(evaluation)),
        np.searchsorted(used, wanted),
        adds_up=analysed.fitted.aggregation.adds_up,
    )
    shapley = shapley_values(
        model,
        some.rows(np.array([each.place for each in chosen])),
        some,
        max_background=affordable_background(analysed, len(chosen)),
        random_state=rng,
    )
    on_step(N_STEPS, "")
    return Explanation(
        model,
        len(X),
        len(used),
        rows.row_kind,
        importances=importances,
        effects=effects,
        directions=None if is_slim else importance(model, "projection"),
        surrogate=surrogate,
        tree=None if is_slim else readable_tree(model, place, some),
        tree_explains=explained,
        rows=tuple(_numbered(each, number[used], shown) for each in chosen),
        shapley=shapley,
        missing=SLIM if is_slim else "",
        target=target_name,
        **findings,
    )


def _taken(rows: EvaluationRows, some: npt.NDArray[np.int64]) -> EvaluationRows:
    """Some of the rows."""
    out = None if rows.out is None else rows.out[some]
    places = None if rows.places is None else rows.places[some]
    return replace(rows, X=rows.X[some], target=rows.target[some], out=out, places=places)


def readable_tree(model: Any, place: int, X: Columns) -> TreeRules:
    return tree_rules(model, place, X=X, max_depth=READABLE_DEPTH, max_terms=READABLE_TERMS)


def places_of(number: npt.NDArray[np.int64], requested: Sequence[int]) -> npt.NDArray[np.int64]:
    """Positions of the requested rows; raises if one is absent."""
    absent = [str(each) for each in requested if each not in number]
    if absent:
        raise ValueError(
            f"`rows` must be the number of a row, the first one below the header being 1, of "
            f"{len(number):,} rows; got {', '.join(absent)}. Choose one that the file has, with a "
            "target if that is named."
        )
    return np.array([int(np.flatnonzero(number == each)[0]) for each in requested], dtype=np.int64)


def draw_places(places: npt.NDArray[np.int64], most: int, rng: Generator) -> npt.NDArray[np.int64]:
    """All positions, or a random sample of them in order."""
    if len(places) <= most:
        return places
    return np.asarray(np.sort(rng.choice(places, most, replace=False)))


def _predict(task: ExplainedTask, analysed: AnalysedForest, rows: EvaluationRows) -> Floats:
    """Prediction of each row by the trees that have not seen it; by all for a row in every bag."""
    aggregation = analysed.fitted.aggregation
    if isinstance(aggregation, SumOfTrees):
        sums = add_trees(analysed.predictor, aggregation, rows.X, analysed.n_threads)
        return task.from_sums(aggregation, sums)
    predicted = analysed.means(rows.X)
    if rows.row_kind != "out-of-bag":
        return predicted
    return np.where(rows.known[:, None], predictions(analysed, rows), predicted)


def _numbered(
    row: RepresentativeRow, number: npt.NDArray[np.int64], shown: Floats
) -> RepresentativeRow:
    predicted = tuple(shown[row.place].tolist())
    return replace(row, number=int(number[row.place]), predicted=predicted)


def affordable_background(analysed: AnalysedForest, n_rows: int) -> int:
    """Number of background rows for which `n_rows` rows are explained in a few seconds."""
    forest = analysed.forest
    wide = max(1.0, forest.n_features / FEW_FEATURES)
    n = GAMES / (forest.n_trees * n_rows * wide)
    return int(min(N_BACKGROUND, max(5, n)))


def best_tree(
    forest: FlatForest, leaves: npt.NDArray[np.int32], predicted: Floats
) -> tuple[int, float]:
    """The tree whose first splits explain most variance of the forest's predictions."""
    mean = predicted.mean(axis=0)
    whole = float(((predicted - mean) ** 2).sum())
    best, most = 0, 0.0
    for tree in forest:
        is_end = tree.children_right < 0
        ends = np.flatnonzero(
            (tree.depth == READABLE_DEPTH) | (is_end & (tree.depth < READABLE_DEPTH))
        )
        # In preorder, the descendants of an end lie between it and the next one.
        group = np.searchsorted(ends, leaves[:, tree.index], side="right") - 1
        count = np.bincount(group, minlength=len(ends))
        sums = [np.bincount(group, column, minlength=len(ends)) for column in predicted.T]
        means = np.array(sums).T[count > 0] / count[count > 0, None]
        explained = float((count[count > 0] @ (means - mean) ** 2).sum())
        if explained > most:
            best, most = tree.index, explained
    return best, most / whole if whole > 0.0 else 0.0
