"""Importance in survival forests: decrease of the concordance when a feature is perturbed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bevel._types import Bools, Float32s, Floats
from bevel.analysis.analysed_forest import AnalysedForest, check_count
from bevel.analysis.importances.perturbation import WHERE, Group, mirror, read_groups, with_weights
from bevel.analysis.importances.result import Importance
from bevel.analysis.survival.scores import rows_out_of_bag
from bevel.data.survival import SurvivalTarget
from bevel.forest.survival import concordance, survival_task
from bevel.training.options import draw_seed

__all__ = ["negation_of_survival", "permutation_of_survival"]


def permutation_of_survival(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    *,
    out_of_bag: bool | str = "auto",
    groups: Mapping[str, Any] | None = None,
    n_repeats: int = 5,
    random_state: Any = None,
) -> Importance:
    """Decrease of the concordance when the values of a feature are permuted among the rows.

    Parameters
    ----------
    analysed : AnalysedForest
        A survival forest.
    X, y : array-like
        Rows: those of the fit in their order, or any others.
    out_of_bag : bool or "auto", default="auto"
        Whether each row is evaluated only by the trees whose bags it is out of; "auto": if these
        are the rows of the fit.
    groups : mapping, default=None
        Names of groups, each with columns that are permuted together; None for single features.
    n_repeats : int, default=5
        Number of permutations of each group.
    random_state : int, RandomState or None, default=None
        Seed of the permutations.
    """
    check_count("n_repeats", n_repeats, low=1)
    rows, target, out, row_kind = _read(analysed, X, y, out_of_bag)
    rng = np.random.default_rng(draw_seed(random_state))

    def disturb(group: Group) -> Float32s:
        other = rows.copy(order="F")
        features = list(group.features)
        other[:, features] = rows[rng.permutation(len(rows))][:, features]
        return other

    chosen = read_groups(groups, analysed.names)
    drops = _drops(analysed, rows, target, chosen, disturb, out, n_repeats)
    spread = drops.std(axis=1, ddof=1) if n_repeats > 1 else None
    measures = f"fall of the concordance when permuted, mean of {n_repeats}, on {WHERE[row_kind]}"
    return _result("permutation", chosen, drops.mean(axis=1), measures, spread)


def negation_of_survival(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    *,
    out_of_bag: bool | str = "auto",
    groups: Mapping[str, Any] | None = None,
) -> Importance:
    """Decrease of the concordance when the weights of a feature change sign in all splits.

    After Jaeger et al. 2022. Features are measured from their median, as in the other forests.

    Parameters
    ----------
    analysed : AnalysedForest
        A survival forest.
    X, y : array-like
        Rows: those of the fit in their order, or any others.
    out_of_bag : bool or "auto", default="auto"
        Whether each row is evaluated only by the trees whose bags it is out of; "auto": if these
        are the rows of the fit.
    groups : mapping, default=None
        Names of groups, each with columns whose weights are flipped together; None for single
        features, where nominal ones are NaN.
    """
    rows, target, out, row_kind = _read(analysed, X, y, out_of_bag)
    chosen = read_groups(groups, analysed.names)
    able = with_weights(analysed, chosen, named=groups is not None)
    mirrored = mirror(analysed.forest, rows)

    def disturb(group: Group) -> Float32s:
        other = rows.copy(order="F")
        features = list(group.features)
        other[:, features] = mirrored[:, features]
        return other

    drops = _drops(analysed, rows, target, able, disturb, out, 1)[:, 0]
    values = np.full(len(chosen), np.nan)
    values[[group in able for group in chosen]] = drops
    what = "fall of the concordance when the signs of its weights are flipped"
    measures = f"{what}, on {WHERE[row_kind]}"
    return _result("negation", chosen, values, measures, None)


def _read(
    analysed: AnalysedForest, X: Any, y: Any, out_of_bag: bool | str
) -> tuple[Float32s, SurvivalTarget, Bools | None, str]:
    """Rows, their times, the trees that count for them, and the kind of the rows."""
    rows = np.asfortranarray(analysed.encode(X))
    task = survival_task(analysed.fitted, analysed.caller)
    target = task.read_times(y, len(rows), needs_event=True)
    return rows, target, *rows_out_of_bag(analysed, rows, target, out_of_bag)


def _drops(
    analysed: AnalysedForest,
    rows: Float32s,
    target: SurvivalTarget,
    groups: list[Group],
    disturb: Callable[[Group], Float32s],
    out: Bools | None,
    n_repeats: int,
) -> Floats:
    """Decrease of the concordance for each group and repeat."""
    whole = _concordance(analysed, rows, target, out)
    if np.isnan(whole):
        where = "given" if out is None else "out of bag"
        raise ValueError(
            f"{analysed.caller} needs two rows whose times can be compared; got none among the "
            f"{len(rows)} rows {where}. Grow more trees, or pass more rows."
        )
    return np.array(
        [
            [whole - _concordance(analysed, disturb(group), target, out) for _ in range(n_repeats)]
            for group in groups
        ]
    )


def _concordance(
    analysed: AnalysedForest, rows: Float32s, target: SurvivalTarget, out: Bools | None
) -> float:
    if out is None:
        X = np.ascontiguousarray(rows)
        return concordance(target, analysed.predictor.values(X, analysed.n_threads))
    view, options = analysed.predictor.view, analysed.bags_with_rows_out().native_options()
    sums, number = view.out_of_bag(rows, options, 0, False, analysed.n_threads)
    known = number > 0
    return concordance(target[known], sums[known, 0] / number[known])


def _result(
    kind: str, groups: list[Group], values: Floats, measures: str, spread: Floats | None
) -> Importance:
    return Importance(kind, tuple(group.name for group in groups), values, measures, spread)
