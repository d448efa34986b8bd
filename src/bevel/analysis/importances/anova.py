"""Share of node models where a feature is significant: oRF importance (Menze et al. 2011, 5)."""

from __future__ import annotations

import numpy as np

from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.importances.result import Importance, mean_and_spread
from bevel.errors import wrong_type, wrong_value
from bevel.forest.subforest import gather

__all__ = ["anova", "check_alpha"]


def anova(analysed: AnalysedForest, *, alpha: float = 0.01) -> Importance:
    """Share of the splits made by a node model in which a feature's coefficient is significant.

    Parameters
    ----------
    analysed : AnalysedForest
        A forest grown with `Ridge(record=True)`, `LDA(record=True)` or `Logistic(record=True)`.
    alpha : float, default=0.01
        Largest significant p-value, 0.01 in the paper.
    """
    check_alpha(alpha)
    forest = analysed.forest
    forest.check_not_slim(analysed.caller)
    node = np.flatnonzero(forest.right >= 0)
    _check_recorded(analysed, len(node))
    recorded = len(node) > 0
    entries, offset = gather(forest.entry_offset, node)
    p_value = forest.entry_p_value[entries] if recorded else np.empty(0, np.float32)
    split = np.repeat(np.arange(len(node)), np.diff(offset))
    tree_of_split = np.searchsorted(forest.tree_offset, node, side="right") - 1

    tested = np.unique(split[~np.isnan(p_value)])
    n_tested = np.bincount(tree_of_split[tested], minlength=forest.n_trees)
    hit = p_value <= alpha
    feature, tree = forest.entry_index[entries][hit], tree_of_split[split[hit]]
    count = np.bincount(feature, minlength=forest.n_features)
    shares = (
        np.bincount(feature[tree == each], minlength=forest.n_features) / n_tested[each]
        for each in np.flatnonzero(n_tested)
    )
    return Importance(
        "anova",
        analysed.names,
        count / max(1, len(tested)),
        f"share of node models in which the feature has p <= {alpha:g}; std over trees",
        std=mean_and_spread(shares, forest.n_features)[1],
        count=count,
    )


def check_alpha(alpha: object) -> None:
    """Raise unless it is a significance level."""
    required, remedy = "a number in (0, 1)", "The paper uses 0.01."
    if isinstance(alpha, bool) or not isinstance(alpha, float | int):
        raise wrong_type("alpha", required, alpha, remedy)
    if not 0.0 < alpha < 1.0:
        raise wrong_value("alpha", required, alpha, remedy)


def _check_recorded(analysed: AnalysedForest, n_splits: int) -> None:
    """Raise if splits were grown without recording p-values."""
    p_value = analysed.forest.entry_p_value
    if n_splits and (len(p_value) == 0 or np.isnan(p_value).all()):
        raise ValueError(
            f"{analysed.caller} needs p-values of the node models; got a forest that recorded none "
            f"(projection={analysed.estimator.projection!r}). Fit with P.Ridge(record=True), "
            "P.LDA(record=True) or, for classes, P.Logistic(record=True)."
        )
