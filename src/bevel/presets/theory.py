"""Forests that theory describes: adaptive nearest neighbours, and trees grown without targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bevel.presets.forests import sporf
from bevel.presets.papers import LIN_JEON, TOMITA
from bevel.presets.table import Forest, make_forest, preset
from bevel.projections.base import check_integer

__all__ = ["data_agnostic", "random_point", "random_side"]


@preset("Data-agnostic RerF", TOMITA, "section 3.3.5, Theorem 3")
def data_agnostic(*, task: str = "classification", **parameters: Any) -> Forest:
    """Randomer forest whose partitions never look at the target; universally consistent.

    At a random leaf one sparse direction and one cut are drawn, until there are ⌈√n⌉ leaves, a
    budget that grows, but more slowly than n, as the theorem requires. Set `max_leaf_nodes` for
    another. The theorem gives no other numbers: all else is as in `sporf`.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.data_agnostic(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.81
    """
    return sporf(task=task, **({"threshold": "purely_random"} | parameters))


def _nearest_neighbours(
    k: int, task: str, parameters: Mapping[str, Any], **settings: Any
) -> Forest:
    """100 trees on all rows, split down to k rows; trees are averaged (soft votes)."""
    check_integer("k", k, "rows")
    return make_forest(
        task,
        parameters,
        n_estimators=100,
        projection="axis",
        min_samples_split=k + 1,
        bootstrap=False,
        voting="soft",
        scale=None,
        **settings,
    )


@preset("Random side selection", LIN_JEON, "Terminal Node Size and Splitting Schemes")
def random_side(*, k: int = 1, task: str = "classification", **parameters: Any) -> Forest:
    """Random input selection with F = 1: the best cut on one random feature.

    100 trees whose predictions are averaged. For other F pass `n_projections`; the paper's
    regression has F = 3. Trees take all rows: the review does not say, but with bags the voting
    points need not be potential nearest neighbours (Proposition 2). Departs: pure nodes are not
    split further, which changes no prediction.

    Parameters
    ----------
    k : int, default=1
        Terminal node size: nodes of more rows are split. Tune it where there are many rows and few
        features.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.random_side(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.97
    """
    return _nearest_neighbours(k, task, parameters, n_projections=1)


@preset("Random point selection", LIN_JEON, "Terminal Node Size and Splitting Schemes")
def random_point(*, k: int = 1, task: str = "classification", **parameters: Any) -> Forest:
    """Random point selection: one random cut on every feature, the best kept.

    Cuts are uniform between the extremes of the node; all else is as in `random_side`.

    Parameters
    ----------
    k : int, default=1
        Terminal node size: nodes of more rows are split.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.random_point(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.98
    """
    return _nearest_neighbours(k, task, parameters, threshold="random", n_projections="p")
