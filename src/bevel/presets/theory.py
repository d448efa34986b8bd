"""Forests that theory describes: adaptive nearest neighbours, and trees grown without targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bevel.presets.forests import sporf
from bevel.presets.table import LIN_JEON, TOMITA, Forest, make_forest, preset
from bevel.projections.base import check_integer

__all__ = ["breiman_forest", "data_agnostic", "random_point", "random_side"]


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
    """100 trees on all rows, pure nodes split too, down to k rows; soft votes."""
    check_integer("k", k, "rows")
    return make_forest(
        task,
        parameters,
        n_estimators=100,
        projection="axis",
        min_samples_split=k + 1,
        split_pure_nodes=True,
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
    points need not be potential nearest neighbours (Proposition 2). Pure nodes are split too, by a
    random cut, as the proposition needs leaves of at most k rows; predictions do not depend on it.

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


@preset("Breiman's forest, Algorithm 1", LIN_JEON, "Introduction to Random Forest")
def breiman_forest(
    *,
    max_samples: int | float | None = None,
    max_leaf_nodes: int | None = None,
    task: str = "classification",
    **parameters: Any,
) -> Forest:
    """Random forest on a_n rows without replacement, grown level by level to t_n leaves.

    The best cut by the CART criterion on m_try features, 1/3 of them in regression and √p in
    classification, until each cell has one row or there are t_n of them; cells of equal targets are
    split too, at random. Trees are averaged. The algorithm leaves M, m_try, a_n and t_n open: 100
    trees, as in the review's examples, pass `n_projections` for another m_try.

    Parameters
    ----------
    max_samples : int or float, default=None
        a_n: rows of each tree, or their share; None draws 0.632 n.
    max_leaf_nodes : int, default=None
        t_n: leaves of each tree; None is t_n = a_n, fully developed trees.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.breiman_forest(max_samples=50, max_leaf_nodes=10, random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.97
    """
    return make_forest(
        task,
        parameters,
        n_estimators=100,
        projection="axis",
        bootstrap=True,
        replace=False,
        max_samples=max_samples,
        max_leaf_nodes=max_leaf_nodes,
        growth=None if max_leaf_nodes is None else "breadth_first",
        split_pure_nodes=True,
        voting="soft",
        scale=None,
    )
