"""Interactions of features: Friedman and Popescu's H statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bevel import _core
from bevel._types import Bools, Float32s, Floats
from bevel.analysis.analysed_forest import AnalysedForest, check_count, views_of
from bevel.analysis.effects.partial_dependence import (
    EffectRows,
    grid_of,
    read_features,
    rows_under,
)
from bevel.analysis.printing import PrintedTable
from bevel.data.row_weights import read_weights
from bevel.extras import import_optional
from bevel.printable import rounded

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Interactions", "interactions"]

N_SHOWN = 20
# Share of the spread of predictions below which a joint effect is rounding error.
NOTHING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Interactions:
    """Strength of the interactions of features, in the order of the columns.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    overall : ndarray of shape (p,)
        H statistic squared of each feature with all others together: the share of the variance of
        the prediction that involves interactions of the feature. 0 for a feature whose effect
        only adds to those of the others.
    pairs : ndarray of int, shape (m, 2)
        Positions in `names` of each pair.
    h_squared : ndarray of shape (m,)
        H statistic squared of each pair: the share of the variance of their joint effect beyond
        the sum of their own effects. Misleading where the joint effect is small: see `strength`.
    strength : ndarray of shape (m,)
        Root mean square of the joint effect minus the own effects, in units of the prediction.
    n_rows : int
        Number of rows that were used.
    """

    names: tuple[str, ...]
    overall: Floats
    pairs: Any
    h_squared: Floats
    strength: Floats
    n_rows: int

    @property
    def order(self) -> Any:
        """Positions of the pairs in descending order of strength; ties by column."""
        return np.argsort(-self.strength, kind="stable")

    @property
    def pair_names(self) -> list[str]:
        """Names of the pairs."""
        return [f"{self.names[a]} x {self.names[b]}" for a, b in self.pairs]

    def to_pandas(self) -> pd.DataFrame:
        """Data frame of the pairs, strongest first."""
        pandas: Any = import_optional("pandas", needed_by="to_pandas", install="pandas")
        order = self.order
        pairs = [tuple(self.names[f] for f in self.pairs[place]) for place in order]
        frame: pd.DataFrame = pandas.DataFrame(
            {"h_squared": self.h_squared[order], "strength": self.strength[order]},
            index=pandas.MultiIndex.from_tuples(pairs, names=["first", "second"]),
        )
        return frame

    def __repr__(self) -> str:
        return "\n\n".join(table.text() for table in self._tables())

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self._tables())

    def _tables(self) -> tuple[PrintedTable, PrintedTable]:
        """Tables of the pairs, and of features with all others."""
        shown, names = self.order[:N_SHOWN], self.pair_names
        rows = [
            (names[place], rounded(self.strength[place], 4), f"{self.h_squared[place]:.3f}")
            for place in shown
        ]
        alone = np.argsort(-self.overall, kind="stable")[:N_SHOWN]
        features = [(self.names[f], f"{self.overall[f]:.3f}") for f in alone]
        hidden = len(self.pairs) - len(shown)
        more = (f"... and {hidden} more",) if hidden > 0 else ()
        title = f"interactions: {self.n_rows} rows"
        return (
            PrintedTable(title, ("pair", "strength", "H squared"), rows, more),
            PrintedTable("", ("feature", "H squared with all others"), features),
        )


def interactions(
    forest: object,
    X: Any,
    features: Sequence[Any] | None = None,
    *,
    max_rows: int = 100,
    sample_weight: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> Interactions:
    """Strength of the interactions of all pairs of features, by the H statistic.

    The joint partial dependence of two features without interaction is the sum of their own. H
    squared is the mean square of the difference as a share of that of the joint one, both centred
    and evaluated at the values of the rows; for a classifier it is summed over classes.

    The cost is that of m rows with m variants each, m = `max_rows`, for every pair: all pairs of
    ten features take about as long as predicting 45 m^2 rows.

    Parameters
    ----------
    forest : fitted model
        A forest, boosting, whose sums are explained, both together, or a pipeline.
    X : array or data frame of shape (n, p)
        Rows to use, such as the training rows.
    features : sequence of str or int, default=None
        Features whose pairs are measured; None: all.
    max_rows : int, default=100
        Number of rows to use; if there are more, a random sample is drawn.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows.
    random_state : int, Generator or None, default=None
        Seed of the sample.

    Returns
    -------
    Interactions
        Result, drawn by `bevel.plots.interaction_bars`.

    References
    ----------
    Friedman and Popescu, Predictive learning via rule ensembles, Annals of Applied Statistics 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import interactions
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 3))
    >>> y = X[:, 0] * X[:, 1] + X[:, 2]
    >>> forest = ObliqueForestRegressor(100, random_state=0).fit(X, y)
    >>> found = interactions(forest, X, random_state=0)
    >>> found.pair_names[found.order[0]]
    'x0 x x1'
    """
    views = views_of(forest, "interactions")
    analysed = views[0]
    check_count("max_rows", max_rows, 2)
    p = len(analysed.names)
    chosen = list(range(p)) if features is None else read_features(features, analysed, most=p)
    rows = _draw(views, X, sample_weight, max_rows, np.random.default_rng(random_state))
    own = {feature: _own_effect(rows, feature) for feature in chosen}
    total = _total(rows)
    overall = np.array([_overall(rows, feature, own[feature], total) for feature in chosen])
    pairs = np.array(list(combinations(range(len(chosen)), 2)), np.intp).reshape(-1, 2)
    found = [_pair(rows, (chosen[a], chosen[b]), own, total) for a, b in pairs]
    h_squared, strength = np.array(found).reshape(-1, 2).T
    names = tuple(analysed.names[feature] for feature in chosen)
    return Interactions(names, overall, pairs, h_squared, strength, len(rows.X))


def _draw(
    views: Sequence[AnalysedForest],
    X: Any,
    sample_weight: Any,
    most: int,
    rng: np.random.Generator,
) -> EffectRows:
    """Some of the rows."""
    encoded = np.ascontiguousarray(views[0].encode(X))
    weights = read_weights(sample_weight, None, None, len(encoded))
    weights = np.ones(len(encoded)) if weights is None else weights
    usable = np.flatnonzero(weights > 0)
    if len(usable) > most:
        usable = np.sort(rng.choice(usable, most, replace=False))
    return rows_under(views, encoded[usable], weights[usable])


def _centred(values: Floats, weights: Floats) -> Floats:
    return np.asarray(values - np.average(values, axis=0, weights=weights))


def _mean_square(values: Floats, weights: Floats) -> float:
    """Weighted mean square, summed over outputs."""
    return float(np.average(np.square(values), axis=0, weights=weights).sum())


def _own_effect(rows: EffectRows, feature: int) -> Floats:
    """Centred partial dependence at the value of each row: rows x outputs."""
    known, distinct, place = _distinct(rows.X[:, feature])
    at_rows = np.zeros((len(rows.X), rows.n_outputs))
    if len(distinct):
        variants = grid_of([feature], [distinct])
        at_rows[known] = rows.means(lambda _: variants, len(distinct))[0].T[place]
    if not known.all():
        at_rows[~known] = _effect_of_points(rows, [feature])[~known]
    return _centred(at_rows, rows.weights)


def _distinct(column: Float32s) -> tuple[Bools, Float32s, Any]:
    """Rows that have a value, the distinct values, and the position of each row's value."""
    known = ~np.isnan(column)
    distinct, place = np.unique(column[known], return_inverse=True)
    return known, distinct, place


def _effect_of_points(rows: EffectRows, features: list[int]) -> Floats:
    """Partial dependence at the values of each row, including missing ones: rows x outputs."""
    order = np.lexsort(rows.X[:, features[::-1]].T)  # similar rows follow similar paths
    points = np.ascontiguousarray(rows.X[order][:, features])
    which = np.array(features, np.int32)

    def variants_of(some: slice) -> _core.RowVariants:
        n = len(rows.X[some])
        return _core.RowVariants(which, np.broadcast_to(points, (n, *points.shape)).copy())

    means = rows.means(variants_of, len(points))[0].T
    at_rows: Floats = np.empty_like(means)
    at_rows[order] = means
    return at_rows


def _total(rows: EffectRows) -> Floats:
    """Centred prediction of each row."""
    return _centred(rows.predict(rows.X), rows.weights)


def _overall(rows: EffectRows, feature: int, own: Floats, total: Floats) -> float:
    """H squared of a feature with all others together."""
    others = np.zeros_like(total)
    known, distinct, place = _distinct(rows.X[:, feature])
    missing = np.full((1, 1), np.nan, np.float32)
    share = np.bincount(place, rows.weights[known], len(distinct))
    scale = rows.weights.sum()
    if len(distinct):
        variants = grid_of([feature], [distinct])
        for some, block in rows.curves(lambda _: variants, len(distinct)):
            others[some] += (block * share).sum(axis=-1) / scale
    if not known.all():
        gap = np.array([feature], np.int32)
        for some, block in rows.curves(
            lambda r: _core.RowVariants(gap, np.tile(missing, (len(rows.X[r]), 1, 1))), 1
        ):
            others[some] += block[:, :, 0] * rows.weights[~known].sum() / scale
    difference = total - own - _centred(others, rows.weights)
    whole = _mean_square(total, rows.weights)
    return _mean_square(difference, rows.weights) / whole if whole > 0 else 0.0


def _pair(
    rows: EffectRows, pair: tuple[int, int], own: dict[int, Floats], total: Floats
) -> tuple[float, float]:
    """H squared and strength of a pair."""
    joint = _centred(_effect_of_points(rows, list(pair)), rows.weights)
    difference = joint - own[pair[0]] - own[pair[1]]
    left, whole = _mean_square(difference, rows.weights), _mean_square(joint, rows.weights)
    nothing = NOTHING**2 * _mean_square(total, rows.weights)
    return (left / whole if whole > nothing else 0.0), float(np.sqrt(left))
