"""Explanation of a survival forest on some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis import importance, shapley_values, surrogate_tree
from bevel.analysis.accuracy.evaluation_rows import EvaluationRows, predictions
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.results import Importance
from bevel.data.columns import Columns
from bevel.data.survival import SurvivalTarget
from bevel.workflow.explaining import (
    MOST_EFFECT_ROWS,
    MOST_ROWS,
    MOST_VISITS,
    N_SHAPLEY_ROWS,
    N_STEPS,
    READABLE_DEPTH,
    SLIM,
    Explanation,
    OnStep,
    affordable_background,
    best_tree,
    draw_places,
    places_of,
    readable_tree,
)
from bevel.workflow.main_effects import find_main_effects
from bevel.workflow.representative_rows import find_representative_rows
from bevel.workflow.survival.findings import evaluation_rows, find_survival
from bevel.workflow.survival.risk_rules import find_risk_rules

__all__ = ["explain_survival"]

N_REPEATS = 5  # permutations of each feature, as in `importance`


def explain_survival(
    model: Any,
    X: Columns,
    target: SurvivalTarget | None = None,
    *,
    weights: Floats | None = None,
    number: npt.NDArray[np.int64] | None = None,
    requested: Sequence[int] = (),
    seed: int = 0,
    on_step: OnStep = lambda *_: None,
) -> Explanation:
    """Explain a survival forest on some rows.

    Parameters
    ----------
    model : ObliqueSurvivalForest
        Fitted model.
    X : Columns
        Rows; the rows of the fit are recognised, and evaluated out of bag.
    target : SurvivalTarget, default=None
        Times and events of the rows.
    weights : ndarray, default=None
        Weights of the fit, if these are its rows.
    number, requested, seed, on_step
        Parameters as in `explain`.
    """
    analysed = read_forest(model, "explain", trees_only=True)
    number = np.arange(1, len(X) + 1) if number is None else number
    wanted = places_of(number, requested)
    rng = np.random.default_rng(seed)
    on_step(0, "predicting rows")
    rows, row_kind = evaluation_rows(analysed, X, weights)
    risk = _risks(analysed, rows)
    on_step(1, "measuring survival")
    findings = find_survival(model, X, target, risk, row_kind, weights)
    used = np.union1d(draw_places(np.arange(len(X)), MOST_ROWS, rng), wanted)
    some, leaves = X.rows(used), analysed.predictor.leaves(rows.X[used], analysed.n_threads)
    on_step(2, "measuring importance")
    importances = _importances(analysed, X, target, row_kind == "out-of-bag", weights, seed)
    on_step(3, "computing effects")
    over = some.rows(draw_places(np.arange(len(some)), MOST_EFFECT_ROWS, rng))
    effects = find_main_effects(analysed, over, importances[-1])
    on_step(4, "reading trees")
    is_slim = analysed.forest.is_slim
    imitation = surrogate_tree(model, some, max_depth=READABLE_DEPTH)
    if target is not None:
        findings = replace(findings, rules=find_risk_rules(imitation, X, target))
    place, explained = best_tree(analysed.forest, leaves, risk[used, None])
    on_step(5, "explaining single rows")
    chosen = find_representative_rows(
        analysed.forest, leaves, risk[used, None], None, np.searchsorted(used, wanted)
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
        row_kind,
        findings.estimates,
        importances,
        effects,
        None if is_slim else importance(model, "projection"),
        imitation,
        None,
        None if is_slim else readable_tree(model, place, some),
        explained,
        None,
        tuple(replace(each, number=int(number[used[each.place]])) for each in chosen),
        shapley,
        SLIM if is_slim else "",
        survival=findings,
    )


def _risks(analysed: AnalysedForest, rows: EvaluationRows) -> Floats:
    """Risks by the trees that have not seen a row; by all trees for a row in every bag."""
    whole = analysed.predictor.values(rows.X, analysed.n_threads)
    if rows.out is None:
        return whole
    unseen = predictions(analysed, rows)[:, 0]
    return np.where(rows.known, unseen, whole)


def _importances(
    analysed: AnalysedForest,
    X: Columns,
    target: SurvivalTarget | None,
    out_of_bag: bool,
    weights: Floats | None,
    seed: int,
) -> tuple[Importance, ...]:
    """Importance by negation and permutation; Shapley values if times and events are unknown."""
    n_visits = len(X) * analysed.forest.n_features * analysed.forest.n_trees
    whole = weights is None or bool((weights > 0.0).all())  # otherwise bags differ
    if target is not None and target.event.any() and N_REPEATS * n_visits <= MOST_VISITS and whole:
        model, given = analysed.estimator, {"out_of_bag": out_of_bag}
        by_permutation = importance(
            model,
            "permutation",
            X,
            target,
            n_repeats=N_REPEATS,
            random_state=seed,
            **given,
        )
        if analysed.fitted.encoding.nominal:  # level sets have no coefficients to negate
            return (by_permutation,)
        return (importance(model, "negation", X, target, **given), by_permutation)
    rng = np.random.default_rng(seed)
    drawn = X.rows(draw_places(np.arange(len(X)), N_SHAPLEY_ROWS, rng))
    found = shapley_values(
        analysed.estimator,
        drawn,
        X,
        max_background=affordable_background(analysed, len(drawn)),
        random_state=rng,
    )
    measures = "mean absolute Shapley value of risks"
    return (Importance("Shapley", found.names, found.importances, measures),)
