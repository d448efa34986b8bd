"""Accumulated local effects (Apley and Zhu 2020), of one feature or two, and the direction in which
each feature changes the prediction, as one number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from bevel import _core
from bevel._types import Bools, Float32s, Floats, Ints32
from bevel.analysis.analysed_forest import (
    AnalysedForest,
    check_count,
    explains_sums,
    read_forest,
    views_of,
)
from bevel.analysis.effects.partial_dependence import (
    EffectColumn,
    EffectRows,
    StandardError,
    check_trees_have_bags,
    encode_column,
    finish,
    jackknife_error,
    quantiles_of,
    read_effect_column,
    read_effect_rows,
    read_features,
    rows_under,
)
from bevel.analysis.effects.result import Effect
from bevel.errors import wrong_value

__all__ = [
    "Bins",
    "Trends",
    "accumulated_local_effects",
    "local_effects",
    "read_trends",
]

BINS = {1: 20, 2: 10}


@explains_sums
def accumulated_local_effects(
    forest: object,
    X: Any,
    features: Any,
    *,
    n_bins: int | None = None,
    sample_weight: Any = None,
    standard_error: bool = False,
    out_of_bag: bool = False,
    y: Any = None,
    verbose: int = 0,
) -> Effect:
    """Change of the prediction along a feature, averaged over rows with nearby values.

    The range of the feature is cut into bins of equally many rows. In each bin the change of the
    prediction from the lower to the upper edge is averaged over the rows of the bin; the changes
    are added up and centred. Unlike partial dependence it needs no row far from the data, so
    that features which depend on each other do not mislead.

    For two features it is the *interaction*: the joint effect without the effects of each feature
    by itself.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest.
    X : array or data frame of shape (n, p)
        Rows to average over, such as the training rows.
    features : str or int, or a pair of them
        Numeric features, by name or position. Rows that miss a value of them are left out.
    n_bins : int, default=None
        Number of bins of each feature; None: 20 for one, 10 for each of two. Ties make fewer.
    sample_weight, standard_error, out_of_bag, y, verbose
        Parameters as in `partial_dependence`.

    Returns
    -------
    Effect
        `grid` has the edges of the bins; values are centred: their mean over the rows is 0.

    References
    ----------
    Apley and Zhu, Visualizing the effects of predictor variables in black box supervised learning
    models, JRSS B 2020.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import accumulated_local_effects
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestRegressor(100, random_state=0).fit(X, y)
    >>> effect = accumulated_local_effects(forest, X, "bmi")
    >>> bool(effect.values[-1] > effect.values[0])
    True
    """
    analysed = read_forest(forest, "accumulated_local_effects")
    chosen = read_features(features, analysed)
    n_bins = check_count("n_bins", BINS[len(chosen)] if n_bins is None else n_bins)
    with_errors = check_trees_have_bags(analysed, standard_error)
    rows = read_effect_rows(analysed, X, y, sample_weight, out_of_bag, verbose)
    columns = [read_effect_column(analysed, X, feature) for feature in chosen]
    bins = [Bins(column, n_bins) for column in columns]
    values, errors = local_effects(analysed, rows, columns, bins, with_errors)
    return finish(
        analysed,
        "accumulated local effects",
        tuple(column.name for column in columns),
        tuple(column.shown(each.edges) for column, each in zip(columns, bins, strict=True)),
        values,
        errors,
        None,
        tuple(quantiles_of(column) for column in columns),
        len(rows.X),
    )


class Bins:
    """Bins of one feature: edges are values of rows, with equally many rows between them."""

    def __init__(self, column: EffectColumn, n_bins: int) -> None:
        if column.is_nominal:
            required = "numeric features: levels have no order to accumulate along"
            remedy = "Use partial_dependence."
            raise wrong_value(
                "features of accumulated_local_effects", required, column.name, remedy
            )
        known = column.known
        probabilities = np.linspace(0.0, 1.0, n_bins + 1)
        edges = (
            np.unique(np.quantile(known, probabilities, method="inverted_cdf"))
            if len(known)
            else known
        )
        if len(edges) < 2:
            required = "features with two different values or more in X"
            raise wrong_value("features", required, column.name, "Leave the feature out.")
        self.edges: Floats = edges
        missing = np.isnan(column.values)
        # The first bin includes its lower edge.
        place = np.clip(np.searchsorted(edges, column.values, side="left") - 1, 0, len(edges) - 2)
        self.of_row: Ints32 = np.where(missing, -1, place).astype(np.int32)

    @property
    def n(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1


def local_effects(
    analysed: AnalysedForest,
    rows: EffectRows,
    columns: list[EffectColumn],
    bins: list[Bins],
    with_errors: bool,
) -> tuple[Floats, StandardError | None]:
    """Accumulated effects on the edges, outputs last, and their standard errors."""
    encoding = analysed.fitted.encoding
    edges = [encode_column(encoding, c, b.edges) for c, b in zip(columns, bins, strict=True)]
    features = np.array([column.feature for column in columns], np.int32)
    places = [np.maximum(each.of_row, 0) for each in bins]
    known = np.logical_and.reduce([each.of_row >= 0 for each in bins])
    shape = tuple(each.n for each in bins)
    cell = np.ravel_multi_index(tuple(places), shape)
    group = np.where(known, cell, -1).astype(np.int32)
    corners = _corners(edges, places)

    def variants_of(some: slice) -> _core.RowVariants:
        return _core.RowVariants(features, np.ascontiguousarray(corners[some]))

    n_variants = corners.shape[1]
    n_cells = int(np.prod(shape))
    counted: Any = np.bincount(cell[known], rows.weights[known], n_cells)
    weight: Floats = np.asarray(counted, dtype=np.float64).reshape(shape)
    if rows.out is None and len(features) == 1:
        means = _predicted_means(rows, int(features[0]), corners[:, :, 0], group, n_cells)
    else:
        means = _all_cells(rows.means(variants_of, n_variants, group), n_cells)
    values = _accumulate(_differences(means, shape), weight, bins)
    if not with_errors:
        return values, None
    by_tree = rows.tree_means(variants_of(slice(None)), n_variants, group)
    curves = [
        _accumulate(_differences(_all_cells(t, n_cells), shape), weight, bins) for t in by_tree
    ]
    return values, jackknife_error(analysed, np.array(curves))


def _predicted_means(
    rows: EffectRows, feature: int, edges: Float32s, group: Ints32, n_cells: int
) -> Floats:
    """Means of the predictions at the edges of each row's bin: bins x outputs x 2.

    Two predictions of each row cost less than a walk down the trees with the feature open.
    """
    known = group >= 0
    weights = rows.weights[known]
    means = np.zeros((n_cells, rows.n_outputs, 2))
    total = np.bincount(group[known], weights, n_cells)
    total = np.where(total > 0.0, total, 1.0)
    changed = rows.X.copy()
    for side in range(2):
        changed[:, feature] = edges[:, side]
        predicted = rows.predict(changed)[known]
        for output in range(rows.n_outputs):
            sums = np.bincount(group[known], weights * predicted[:, output], n_cells)
            means[:, output, side] = sums / total
    return means


def _corners(edges: list[Float32s], places: list[npt.NDArray[Any]]) -> Float32s:
    """Corners of the cell of each row: n x 2^d x d, the first feature changing fastest."""
    n, d = len(places[0]), len(edges)
    corners = np.empty((n, 2**d, d), np.float32)
    for number in range(2**d):
        for axis in range(d):
            corners[:, number, axis] = edges[axis][places[axis] + (number >> axis & 1)]
    return corners


def _all_cells(means: Floats, n_cells: int) -> Floats:
    """Means of all cells; groups after the last that has rows are filled with zeros."""
    missing = n_cells - len(means)
    return np.concatenate([means, np.zeros((missing, *means.shape[1:]))]) if missing else means


def _differences(means: Floats, shape: tuple[int, ...]) -> Floats:
    """Mean change over each cell, of shape (*cells, outputs)."""
    if means.shape[-1] == 2:
        change = means[..., 1] - means[..., 0]
    else:
        change = means[..., 3] - means[..., 2] - means[..., 1] + means[..., 0]
    return change.reshape(*shape, -1)


def _accumulate(change: Floats, weight: Floats, bins: list[Bins]) -> Floats:
    if len(bins) == 1:
        curve = _cumulate(change, 0)
        centre = (weight[:, None] * (curve[:-1] + curve[1:])).sum(axis=0) / (2.0 * weight.sum())
        return np.asarray(curve - centre)
    filled = _fill_empty(change, weight > 0, bins)
    surface = _cumulate(_cumulate(filled, 0), 1)
    surface = (
        surface
        - _main_effect(surface, weight)[:, None]
        - _main_effect(np.swapaxes(surface, 0, 1), weight.T)[None, :]
    )
    inner = surface[:-1, :-1] + surface[1:, :-1] + surface[:-1, 1:] + surface[1:, 1:]
    centre = (weight[:, :, None] * inner).sum(axis=(0, 1)) / (4.0 * weight.sum())
    return np.asarray(surface - centre)


def _cumulate(change: Floats, axis: int) -> Floats:
    """Cumulative sums from zero, one entry longer than the changes."""
    pad = [(1, 0) if a == axis else (0, 0) for a in range(change.ndim)]
    return np.asarray(np.cumsum(np.pad(change, pad), axis=axis))


def _main_effect(surface: Floats, weight: Floats) -> Floats:
    """Main effect of the first feature in the surface, along its edges."""
    step = np.diff(surface, axis=0)
    middle = 0.5 * (step[:, :-1] + step[:, 1:])
    total = weight.sum(axis=1)
    mean = (weight[:, :, None] * middle).sum(axis=1) / np.where(total > 0, total, 1.0)[:, None]
    return _cumulate(mean, 0)


def _fill_empty(change: Floats, occupied: Bools, bins: list[Bins]) -> Floats:
    """Give cells without rows the change of the nearest cell that has some."""
    if occupied.all():
        return change
    middles = [0.5 * (b.edges[1:] + b.edges[:-1]) / (b.edges[-1] - b.edges[0]) for b in bins]
    points = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
    _, nearest = cKDTree(points[occupied]).query(points[~occupied])
    filled = change.copy()
    filled[~occupied] = change[occupied][nearest]
    return filled


# Direction of the effect of each feature, in one number for each.

N_BINS = 20  # bins of equally many rows; the first and the last are left out


class Trends(NamedTuple):
    """Change of the prediction from low to high values of each feature.

    Attributes
    ----------
    change : ndarray of shape (p,)
        Accumulated local effect at the 95 % quantile minus that at the 5 % quantile; NaN for
        nominal and for constant features.
    output : list of str or None
        Class or quantile that changes most, for each feature; None in regression, and for two
        classes, where it is the second one.
    direction : list of str
        "rises", "falls", or "mixed" where the curve reverses more than half of its change; "" for
        nominal and for constant features, and where the curve is flat.
    what : str
        What changes, such as "prediction" or "probability of a class".
    """

    change: Floats
    output: list[str] | None
    direction: list[str]
    what: str


def read_trends(analysed: AnalysedForest, X: Any) -> Trends:
    """Trends of all features over the rows X."""
    encoded = np.ascontiguousarray(analysed.encode(X))
    views = views_of(analysed.estimator, analysed.caller)
    rows = rows_under(views, encoded, np.ones(len(encoded)))
    p = len(analysed.names)
    change, column = np.full(p, np.nan), np.zeros(p, np.intp)
    direction = [""] * p
    for feature in range(p):
        values = read_effect_column(analysed, X, feature)
        if values.is_nominal or len(np.unique(values.known)) < 2:
            continue
        bins = Bins(values, N_BINS)
        curve, _ = local_effects(analysed, rows, [values], [bins], with_errors=False)
        if bins.n == N_BINS:
            curve = curve[1:-1]
        if analysed.forest.n_classes == 2:
            curve = curve[:, 1:]
        column[feature] = np.argmax(np.abs(curve[-1] - curve[0]))
        of_class = curve[:, column[feature]]
        change[feature] = of_class[-1] - of_class[0]
        direction[feature] = _direction(of_class)
    task, sums = analysed.task, analysed.fitted.aggregation.names(analysed.task)
    common = (sums[0] if len(sums) == 1 else None) if sums else task.common_output
    if common:
        return Trends(change, None, direction, common)
    if task.classes is None:
        return Trends(change, [sums[k] for k in column], direction, "quantile")
    what = "score of a class" if sums else "probability of a class"
    return Trends(change, [str(label) for label in task.labels_of(column)], direction, what)


def _direction(curve: Floats) -> str:
    """Direction of a curve, by its net change as a share of its total variation."""
    way = float(np.abs(np.diff(curve)).sum())
    change = float(curve[-1] - curve[0])
    if way == 0.0:
        return ""
    if abs(change) < 0.5 * way:
        return "mixed"
    return "rises" if change > 0 else "falls"
