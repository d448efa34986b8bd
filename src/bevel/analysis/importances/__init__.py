"""Importance of the features, directions and rotations of a forest, by many measures."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, overload

from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.importances.anova import anova, sequential_anova, t_test
from bevel.analysis.importances.impurity import corrected, gini, split_frequency
from bevel.analysis.importances.perturbation import (
    ErrorImportance,
    negation,
    permutation,
    permutation_of_boosting,
)
from bevel.analysis.importances.projection import Directions, projection, rotation
from bevel.analysis.importances.result import Importance
from bevel.analysis.importances.signs import with_directions, with_effects
from bevel.analysis.survival.importance import negation_of_survival, permutation_of_survival
from bevel.errors import join_names, wrong_value
from bevel.forest.fitted_forest import FittedCombination
from bevel.forest.task import Survival

__all__ = ["KINDS", "Directions", "ErrorImportance", "Importance", "importance"]

# Kinds that are defined for boosted trees.
OF_BOOSTING = ("gini", "permutation", "projection", "rotation", "split_frequency", "t_test")

# Kinds that are defined for a forest and boosting together, but for directions of effects.
OF_MEMBERS = ("gini", "permutation")

# Kinds that read splits alone, for any kind of leaves.
OF_SPLITS = ("anova", "gini", "projection", "rotation", "split_frequency")

# Functions of the analysed forest, of X and y if they have such parameters, and of options.
KINDS: dict[str, Callable[..., Importance | Directions]] = {
    "anova": anova,
    "corrected": corrected,
    "gini": gini,
    "negation": negation,
    "permutation": permutation,
    "projection": projection,
    "rotation": rotation,
    "sequential_anova": sequential_anova,
    "split_frequency": split_frequency,
    "t_test": t_test,
}
# Aliases of kinds, from other libraries and boosting.
OTHER_NAMES = {"gain": "gini", "impurity": "gini"}
# Kinds that survival forests measure by the concordance.
OF_SURVIVAL: dict[str, Callable[..., Importance | Directions]] = {
    "negation": negation_of_survival,
    "permutation": permutation_of_survival,
}


@overload
def importance(
    forest: object, kind: Literal["projection"], X: Any = None, y: Any = None, **options: Any
) -> Directions: ...
@overload
def importance(
    forest: object, kind: Literal["negation", "permutation"], X: Any, y: Any, **options: Any
) -> ErrorImportance: ...
@overload
def importance(
    forest: object, kind: str = "gini", X: Any = None, y: Any = None, **options: Any
) -> Importance: ...
def importance(
    forest: object,
    kind: str = "gini",
    X: Any = None,
    y: Any = None,
    *,
    effects_on: Any = None,
    **options: Any,
) -> Importance | Directions:
    """Importance of the features of a fitted forest, or of its directions or rotations.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest.
    kind : str, default="gini"
        Measure of importance; the documentation, Topics, describes its limits.

        - "gini": share of each feature in the impurity that splits remove; the gain of an oblique
          split is divided by absolute weights. `feature_importances_`, with its spread over trees.
          "gain" and "impurity" are aliases.
        - "projection": gini importance of each direction (SPORF 4.5), as `Directions`. Option
          `merge_signs` (True): whether a direction and its negative are one.
        - "rotation": gini importance of each rotation of a forest grown with `P.MultiRotation`.
        - "split_frequency": share of all splits that use a feature.
        - "anova": share of node models in which a feature is significant (Menze's oRF importance),
          for forests grown with `P.Ridge(record=True)`, `P.LDA(record=True)` or
          `P.Logistic(record=True)`. Option `alpha` (0.01): the largest p-value that counts.
        - "sequential_anova": as "anova", by the F tests of an analysis of variance table, in which
          the features of a split enter one after the other, in the order of their columns; for any
          forest of two classes or numbers, on X and y, the rows of the fit. Option `alpha`.
        - "t_test": each feature of X alone against y; trees are not used.
        - "corrected": gini minus that of a shuffled copy of the feature (Nembrini et al. 2018),
          in a second forest grown on X and y. Options `sample_weight`, `random_state`.
        - "permutation": increase of the error when the values of a feature are permuted among the
          rows, as `ErrorImportance`. Options `out_of_bag` ("auto": if these are the rows of the
          fit; False: by all trees), `error_of` ("forest" or "tree"), `groups`, `conditional`
          (False; True: among rows that are alike in the other features), `n_strata` (16),
          `n_repeats` (5), `sample_weight`, `random_state`, `verbose`.
          Boosting has no bags: pass other rows than those of the fit.
        - "negation": increase of the error when the weights of a feature change sign. Options
          `out_of_bag`, `error_of`, `groups`, `sample_weight`, `verbose`.

        In a survival forest "permutation" and "negation" are measured by the fall of the
        concordance, with the options `out_of_bag`, `groups`, `n_repeats` and `random_state`;
        "corrected" and "t_test" are not available.
    X, y : array-like, default=None
        Rows and targets, for the kinds that need them.
    effects_on : array-like of shape (n, p), default=None
        Rows, such as the training rows, over which to measure the effect of each feature: the
        result then has `effect`, which prints and bars show. For kinds that measure single
        features. None: only the sign, as `direction`, read from the splits at little cost.
    **options
        Options of the kind.

    Returns
    -------
    Importance or Directions
        Prints as a table, best first; `top(n)`, `to_pandas()`.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import importance
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> importance(forest, "gini").top(2).names
    ('petal width (cm)', 'petal length (cm)')
    """
    kind = OTHER_NAMES.get(kind, kind) if isinstance(kind, str) else kind
    if not isinstance(kind, str) or kind not in KINDS:
        names = ", ".join(f'"{name}"' for name in KINDS)
        raise wrong_value("kind", f"one of {names}", kind, "Check the spelling.")
    measure, caller = KINDS[kind], f'importance(kind="{kind}")'
    of_splits = kind in OF_SPLITS and effects_on is None
    analysed = read_forest(
        forest,
        caller,
        trees_only=kind in OF_BOOSTING,
        several_outputs=of_splits,
        predictions_only=kind in OF_MEMBERS and effects_on is None,
    )
    if isinstance(analysed.task, Survival):
        measure = _of_survival(kind, caller)
    rows = _rows_for(measure, caller, X, y)
    _check_options(measure, caller, options)
    if kind == "permutation" and not analysed.fitted.aggregation.has_bags:
        measure = permutation_of_boosting
    found = measure(analysed, *rows, **options)
    if isinstance(analysed.fitted, FittedCombination):
        return found
    if effects_on is None:
        return with_directions(found, analysed)
    result: Importance | Directions = with_effects(found, analysed, effects_on)
    return result


def _of_survival(kind: str, caller: str) -> Callable[..., Importance | Directions]:
    if kind in OF_SURVIVAL:
        return OF_SURVIVAL[kind]
    if kind in ("corrected", "sequential_anova", "t_test"):
        raise ValueError(
            f"{caller} needs classes or numbers as targets; got a survival forest. Use "
            'kind="negation" or "permutation".'
        )
    return KINDS[kind]


def _rows_for(measure: Callable[..., Any], caller: str, X: Any, y: Any) -> tuple[Any, ...]:
    """X and y, if the kind needs them; raises if they are missing, or would be ignored."""
    wanted = "X" in inspect.signature(measure).parameters
    if wanted and (X is None or y is None):
        missing = "neither" if X is None and y is None else "no X" if X is None else "no y"
        raise ValueError(f"{caller} needs X and y; got {missing}. Pass the rows of the fit.")
    if not wanted and not (X is None and y is None):
        raise ValueError(
            f"{caller} is measured on the splits alone and takes no rows; got X or y. Leave them "
            "out."
        )
    return (X, y) if wanted else ()


def _check_options(measure: Callable[..., Any], caller: str, options: dict[str, Any]) -> None:
    own = inspect.signature(measure).parameters.values()
    known = [each.name for each in own if each.kind is inspect.Parameter.KEYWORD_ONLY]
    unknown = [name for name in options if name not in known]
    if unknown:
        allowed = f"options {join_names(known)}" if known else "no options"
        raise TypeError(
            f"{caller} takes {allowed}; got {join_names(unknown)}. Check the spelling, or the kind."
        )
