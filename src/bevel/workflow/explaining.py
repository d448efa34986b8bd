"""Explanation of a forest and some rows: importance, effects, directions, rules, quantiles, single
rows.

`explain_sections` writes the results on pages, and `bevel.cli.explain` prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from bevel._types import Floats, Target
from bevel.analysis import (
    importance,
    shapley_values,
    surrogate_tree,
    tree_rules,
)
from bevel.analysis.accuracy.evaluation_rows import (
    EvaluationRows,
    predictions,
    read_evaluation_rows,
)
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.results import (
    Directions,
    Effect,
    Importance,
    RuleSet,
    ShapleyValues,
    SurrogateTree,
    TopRules,
    TreeRules,
)
from bevel.analysis.rules.rule_set import RuleOptions, choose_rules
from bevel.analysis.rules.top import RuleLimits, best_rules
from bevel.data.columns import Columns
from bevel.forest.additive import add_trees
from bevel.forest.calibration import raise_to_power
from bevel.forest.flat_forest import FlatForest
from bevel.text.style import Style
from bevel.workflow.main_effects import find_main_effects
from bevel.workflow.representative_rows import RepresentativeRow, find_representative_rows
from bevel.workflow.scores import Estimate, classification_scores, mean_estimate, regression_scores
from bevel.workflow.survival.findings import SurvivalFindings
from bevel.workflow.target_quantiles import TargetQuantiles, find_target_quantiles

__all__ = [
    "MOST_EFFECT_ROWS",
    "MOST_ROWS",
    "MOST_VISITS",
    "N_SHAPLEY_ROWS",
    "N_STEPS",
    "READABLE_DEPTH",
    "SLIM",
    "Explanation",
    "OnStep",
    "affordable_background",
    "best_tree",
    "draw_places",
    "explain",
    "places_of",
    "readable_tree",
]

OnStep = Callable[[int, str], object]

N_STEPS = 6  # progress reports
MOST_ROWS = 10_000  # rows to evaluate
MOST_EFFECT_ROWS = 1000
MOST_RULE_ROWS = 2000  # rows on which short rules are chosen
MOST_VISITS = 2e9  # visits of rows to trees, with a feature permuted
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
        Scores of the predictions; empty if the truth is not known.
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
    scores: dict[str, Estimate]
    importances: tuple[Importance, ...]
    effects: tuple[Effect, ...]
    directions: Directions | None
    surrogate: SurrogateTree
    rules: TopRules | None
    tree: TreeRules | None
    tree_explains: float
    quantiles: TargetQuantiles | None
    rows: tuple[RepresentativeRow, ...]
    shapley: ShapleyValues
    missing: str
    notes: tuple[str, ...] = ()
    groups: RuleSet | None = None
    target: str = ""
    truth: Target | None = None
    predicted: Floats | None = None
    survival: SurvivalFindings | None = None

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """Labels of the classes; None in regression."""
        return getattr(self.model, "classes_", None)

    @property
    def adds_up(self) -> bool:
        """Whether the trees of the model are added up, as in boosting, instead of averaged."""
        return self.model.fitted_forest_.additive is not None

    @property
    def has_target(self) -> bool:
        """Whether true targets were given."""
        return bool(self.scores)

    @property
    def is_survival(self) -> bool:
        """Whether predictions are risks."""
        return self.model.fitted_forest_.survival is not None


def explain(
    model: Any,
    X: Columns,
    y: npt.NDArray[Any] | None = None,
    *,
    number: npt.NDArray[np.int64] | None = None,
    requested: Sequence[int] = (),
    target_name: str = "",
    seed: int = 0,
    on_step: OnStep = lambda *_: None,
) -> Explanation:
    """Explain a forest on some rows.

    Parameters
    ----------
    model : fitted estimator
        The forest.
    X : Columns
        Rows; the rows of the fit are recognised, and evaluated out of bag.
    y : ndarray, default=None
        True classes or values of the rows, which all have weight one.
    number : ndarray of int64, default=None
        Numbers by which the rows are called; None: 1, 2, ...
    requested : sequence of int
        Numbers of rows to explain in addition to the chosen ones.
    target_name : str, default=""
        Name of the target, for texts.
    seed : int, default=0
        Seed of all random choices.
    on_step : callable
        Called with the number of steps done, of `N_STEPS`, and the name of the next.
    """
    analysed = read_forest(model, "explain", trees_only=True)
    number = np.arange(1, len(X) + 1) if number is None else number
    wanted = places_of(number, requested)
    rng = np.random.default_rng(seed)
    on_step(0, "predicting rows")
    rows = _evaluation_rows(analysed, X, y)
    row_kind = rows.row_kind
    used = np.union1d(draw_places(np.flatnonzero(rows.known), MOST_ROWS, rng), wanted)
    rows = _taken(rows, used)
    predicted, known = _predict(analysed, rows, row_kind)
    shown = _calibrated(analysed, predicted)
    some, truth = X.rows(used), None if y is None else y[used]
    on_step(1, "measuring importance")
    evaluated = (X, y) if row_kind == "out-of-bag" else (some, truth)
    on_rows = _importance_on_rows(analysed, *evaluated, row_kind == "out-of-bag", seed)
    on_step(2, "computing effects")
    over = some.rows(draw_places(np.arange(len(some)), MOST_EFFECT_ROWS, rng))
    effects = find_main_effects(analysed, over, on_rows)
    on_step(3, "reading rules")
    leaves = analysed.predictor.leaves(rows.X, analysed.n_threads)
    is_slim = analysed.forest.is_slim
    ruled = rows if y is not None else replace(rows, target=_predicted_targets(analysed, predicted))
    place, explained = best_tree(analysed.forest, leaves, predicted)
    quantiles = None
    if analysed.classes is None and analysed.fitted.additive is None:
        on_step(4, "finding quantiles")
        quantiles = find_target_quantiles(analysed, rows, row_kind, X, y)
    on_step(5, "explaining single rows")
    target = None if y is None else rows.target
    chosen = find_representative_rows(
        *(analysed.forest, leaves, predicted, target, np.searchsorted(used, wanted)),
        adds_up=analysed.fitted.additive is not None,
    )
    explained_rows = some.rows(np.array([each.place for each in chosen]))
    most = affordable_background(analysed, len(chosen))
    shapley = shapley_values(model, explained_rows, some, max_background=most, random_state=rng)
    on_step(N_STEPS, "")
    return Explanation(
        model,
        len(X),
        len(used),
        row_kind,
        {} if y is None else _scores(analysed, rows.target[known], shown[known]),
        (on_rows,) if is_slim else (importance(model, "gini"), on_rows),
        effects,
        None if is_slim else importance(model, "projection"),
        surrogate_tree(model, some, max_depth=READABLE_DEPTH),
        None if is_slim else _rules(analysed, ruled),
        None if is_slim else readable_tree(model, place, some),
        explained,
        quantiles,
        tuple(_numbered(each, number[used], shown) for each in chosen),
        shapley,
        SLIM if is_slim else "",
        groups=None if is_slim else _groups(analysed, some, ruled),
        target=target_name,
        truth=None if y is None else rows.target[known],
        predicted=None if y is None else shown[known],
    )


def _groups(analysed: AnalysedForest, X: Columns, rows: EvaluationRows) -> RuleSet:
    some = np.linspace(0, len(X) - 1, min(len(X), MOST_RULE_ROWS)).astype(np.int64)
    return choose_rules(analysed, X.rows(some), _taken(rows, some), RuleOptions())


def _taken(rows: EvaluationRows, some: npt.NDArray[np.int64]) -> EvaluationRows:
    """Some of the rows."""
    out = None if rows.out is None else rows.out[some]
    return replace(rows, X=rows.X[some], target=rows.target[some], out=out)


def _rules(analysed: AnalysedForest, rows: EvaluationRows) -> TopRules:
    style = Style(READABLE_DEPTH, max_terms=READABLE_TERMS)
    return best_rules(analysed, rows, RuleLimits(N_RULES, READABLE_DEPTH), style)


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


def _evaluation_rows(
    analysed: AnalysedForest, X: Columns, y: npt.NDArray[Any] | None
) -> EvaluationRows:
    """The rows, with the trees that have not seen them if the forest was grown on them."""
    if y is None:
        encoded = analysed.encode(X)
        return EvaluationRows(encoded, np.zeros(len(encoded)), None)
    return read_evaluation_rows(analysed, X, y, out_of_bag="auto")


def draw_places(places: npt.NDArray[np.int64], most: int, rng: Generator) -> npt.NDArray[np.int64]:
    """All positions, or a random sample of them in order."""
    if len(places) <= most:
        return places
    return np.asarray(np.sort(rng.choice(places, most, replace=False)))


def _predict(
    analysed: AnalysedForest, rows: EvaluationRows, row_kind: str
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Mean over the trees for each row, and whether only trees that have not seen it count.

    A requested row that is in every bag gets the prediction of all trees.
    """
    additive = analysed.fitted.additive
    if additive is not None:
        raw = add_trees(analysed.predictor, additive, rows.X, analysed.n_threads)
        if analysed.classes is not None:
            predicted = additive.probabilities(raw)
        else:
            predicted = additive.values(raw).reshape(len(raw), -1)
    elif analysed.classes is None:
        predicted = analysed.predictor.values(rows.X, analysed.n_threads)[:, None]
    else:
        predicted = analysed.predictor.probabilities(rows.X, analysed.n_threads, analysed.hard)
    if row_kind != "out-of-bag":
        return predicted, np.ones(len(predicted), dtype=bool)
    unseen = predictions(analysed, rows)
    return np.where(rows.known[:, None], unseen, predicted), rows.known


def _numbered(
    row: RepresentativeRow, number: npt.NDArray[np.int64], shown: Floats
) -> RepresentativeRow:
    predicted = tuple(shown[row.place].tolist())
    return replace(row, number=int(number[row.place]), predicted=predicted)


def _calibrated(analysed: AnalysedForest, predicted: Floats) -> Floats:
    """Results of `predict_proba` or `predict`, from means over trees."""
    if analysed.classes is None:
        return predicted
    return raise_to_power(np.array(predicted), analysed.fitted.power)


def _scores(analysed: AnalysedForest, target: Target, predicted: Floats) -> dict[str, Estimate]:
    if analysed.classes is not None:
        return classification_scores(target.astype(np.int32), predicted)
    y = target.astype(np.float64)
    if np.all(y == y[0]):  # no variance to explain
        return {"mean absolute error": mean_estimate(np.abs(y - predicted[:, 0]))}
    return regression_scores(y, predicted[:, 0])


def _predicted_targets(analysed: AnalysedForest, predicted: Floats) -> Target:
    """Targets on which rules are measured if the truth is not known."""
    if analysed.classes is None:
        return predicted[:, 0]
    return np.asarray(predicted.argmax(axis=1), dtype=np.int32)


def _importance_on_rows(
    analysed: AnalysedForest,
    X: Columns,
    y: npt.NDArray[Any] | None,
    out_of_bag: bool,
    seed: int,
) -> Importance:
    """Permutation importance, or mean absolute Shapley values if the truth is not known.

    Also used if the rows of the fit are too many: all of them are needed to draw the bags again.
    """
    n_visits = len(X) * analysed.forest.n_features * analysed.forest.n_trees
    if y is not None and n_visits <= MOST_VISITS:
        options = {"out_of_bag": out_of_bag, "random_state": seed}
        return importance(analysed.estimator, "permutation", X, y, **options)
    rng = np.random.default_rng(seed)
    drawn = X.rows(draw_places(np.arange(len(X)), N_SHAPLEY_ROWS, rng))
    found = shapley_values(
        analysed.estimator,
        drawn,
        X,
        max_background=affordable_background(analysed, len(drawn)),
        random_state=rng,
    )
    what = "probabilities" if analysed.classes is not None else "predictions"
    measures = f"mean absolute Shapley value of {what}"
    return Importance("Shapley", found.names, found.importances, measures)


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
