"""Partial dependence and individual conditional expectation, of one feature or two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats.mstats import mquantiles

from bevel._types import Array, Float32s, Floats
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.boosted_sums import explains_sums
from bevel.analysis.checks import check_count
from bevel.analysis.effects.columns import (
    EffectColumn,
    encode_column,
    read_effect_column,
    read_features,
)
from bevel.analysis.effects.curves import (
    EffectRows,
    StandardError,
    check_trees_have_bags,
    grid_of,
    jackknife_error,
    read_effect_rows,
)
from bevel.analysis.effects.result import Effect
from bevel.errors import wrong_type, wrong_value

__all__ = ["finish", "partial_dependence", "quantiles_of"]

KINDS = ("average", "individual", "both")
RESOLUTION = {1: 100, 2: 25}
MOST_INDIVIDUAL = 2**27  # numbers of individual curves: 1 GB


@explains_sums
def partial_dependence(
    forest: object,
    X: Any,
    features: Any,
    *,
    kind: str = "average",
    grid_resolution: int | None = None,
    percentiles: tuple[float, float] = (0.05, 0.95),
    values: Any = None,
    sample_weight: Any = None,
    standard_error: bool = False,
    out_of_bag: bool = False,
    y: Any = None,
    verbose: int = 0,
) -> Effect:
    """Mean prediction of the rows when one or two features take given values.

    The predictions are those of the forest, bit for bit. Each row goes down each tree once, with
    the features left open, which costs much less than predicting every row at every grid point.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest.
    X : array or data frame of shape (n, p)
        Rows whose other features are unchanged, such as the training rows.
    features : str or int, or a pair of them
        One feature, or two for a surface; by name or position.
    kind : {"average", "individual", "both"}, default="average"
        Whether to keep the curve of each row too (individual conditional expectation). "both" and
        "individual" differ in the plot only.
    grid_resolution : int, default=None
        Points of the grid for each feature; None: 100 for one, 25 for each of two. A feature
        with fewer distinct values has these as its grid, and a nominal one all its labels.
    percentiles : pair of float, default=(0.05, 0.95)
        Quantiles of the feature that bound the grid, as in scikit-learn.
    values : array-like, or a pair of them, default=None
        The grid; None chooses it.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows in the mean.
    standard_error : bool, default=False
        Whether to estimate how much the curve would vary if the forest were grown on other rows, by
        the infinitesimal jackknife; needs a forest with bags, and many trees.
    out_of_bag : bool, default=False
        Whether each row is predicted only by the trees whose bags it is out of. X and y must be
        those of the fit.
    y : array-like, default=None
        Targets of the fit, with `out_of_bag=True` only.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    Effect
        Result, drawn by `bevel.plots.effect`.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import partial_dependence
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestRegressor(100, random_state=0).fit(X, y)
    >>> effect = partial_dependence(forest, X, "bmi")
    >>> bool(effect.values[-1] > effect.values[0])
    True
    >>> partial_dependence(forest, X, ["bmi", "bp"]).values.shape
    (25, 25)
    """
    analysed = read_forest(forest, "partial_dependence")
    if kind not in KINDS:
        names = ", ".join(f'"{name}"' for name in KINDS)
        raise wrong_value("kind", f"one of {names}", kind, "Check the spelling.")
    chosen = read_features(features, analysed)
    with_errors = check_trees_have_bags(analysed, standard_error)
    rows = read_effect_rows(analysed, X, y, sample_weight, out_of_bag, verbose)
    columns = [read_effect_column(analysed, X, feature) for feature in chosen]
    resolution = RESOLUTION[len(chosen)] if grid_resolution is None else grid_resolution
    check_count("grid_resolution", resolution, 2)
    given = _split_values(values, len(columns))
    low_high = _check_percentiles(percentiles)
    grid = [
        _choose_grid(column, own, resolution, low_high)
        for column, own in zip(columns, given, strict=True)
    ]
    return _compute(analysed, rows, columns, grid, kind, with_errors)


def _compute(
    analysed: AnalysedForest,
    rows: EffectRows,
    columns: list[EffectColumn],
    grid: list[Array],
    kind: str,
    with_errors: bool,
) -> Effect:
    encoding = analysed.fitted.encoding
    orders = [
        _ascending(encode_column(encoding, column, axis))
        for column, axis in zip(columns, grid, strict=True)
    ]
    variants = grid_of([c.feature for c in columns], [codes for codes, _ in orders])
    shape = tuple(len(axis) for axis in grid)
    n_variants = int(np.prod(shape))

    def laid_out(curves: Floats) -> Floats:
        """Reshape ... x outputs x variants to ... x G1 [x G2] x outputs, in grid order."""
        laid = curves.reshape(*curves.shape[:-1], *shape[::-1])
        laid = np.moveaxis(laid, -len(shape) - 1, -1)
        if len(shape) == 2:
            laid = np.swapaxes(laid, -3, -2)
        for axis, (_, back) in enumerate(orders):
            laid = np.take(laid, back, axis=axis - len(shape) - 1)
        return laid

    individual = None
    if kind != "average":
        size = len(rows.X) * rows.n_outputs * n_variants
        if size > MOST_INDIVIDUAL:
            required = f"at most {MOST_INDIVIDUAL} numbers"
            raise wrong_value("Individual curves", required, size, "Pass fewer rows.")
        individual = np.concatenate([b for _, b in rows.curves(lambda _: variants, n_variants)])
        mean = _mean(individual, rows.weights)
        individual = laid_out(individual)
    else:
        mean = rows.means(lambda _: variants, n_variants)[0]
    errors = None
    if with_errors:
        by_tree = rows.tree_means(variants, n_variants)[:, 0]
        error, n_below_zero = jackknife_error(analysed, by_tree)
        errors = StandardError(laid_out(error), n_below_zero)
    return finish(
        analysed,
        "partial dependence",
        tuple(column.name for column in columns),
        tuple(grid),
        laid_out(mean),
        errors,
        individual,
        tuple(quantiles_of(column) for column in columns),
        len(rows.X),
    )


def finish(
    analysed: AnalysedForest,
    kind: str,
    names: tuple[str, ...],
    grid: tuple[Array, ...],
    values: Floats,
    errors: StandardError | None,
    individual: Floats | None,
    quantiles: tuple[Floats | None, ...],
    n_rows: int,
) -> Effect:
    """The result; arrays have the outputs last, except in regression."""
    error, n_below_zero = (None, 0) if errors is None else errors
    if analysed.classes is None:
        values = values[..., 0]
        error = None if error is None else error[..., 0]
        individual = None if individual is None else individual[..., 0]
    return Effect(
        kind,
        names,
        grid,
        values,
        analysed.classes,
        error,
        individual,
        quantiles,
        n_rows,
        output_name=analysed.output_name,
        n_below_zero=n_below_zero,
    )


def _mean(individual: Floats, weights: Floats) -> Floats:
    known = ~np.isnan(individual[:, 0, 0])
    weighted = individual[known] * weights[known, None, None]
    return np.asarray(weighted.sum(axis=0) / weights[known].sum())


def _ascending(codes: Float32s) -> tuple[Float32s, Array]:
    """Codes in ascending order, and the position of each given code among them."""
    order = np.argsort(codes, kind="stable")
    back = np.empty(len(codes), np.intp)
    back[order] = np.arange(len(codes))
    return np.ascontiguousarray(codes[order]), back


def _split_values(values: Any, n_features: int) -> list[Any]:
    if values is None:
        return [None] * n_features
    if n_features == 1:
        return [values]
    if not isinstance(values, Sequence) or len(values) != 2:
        remedy = "Write values=[values of the first, values of the second]."
        raise wrong_type("values", "two sequences, one for each feature", values, remedy)
    return list(values)


def _check_percentiles(percentiles: Any) -> tuple[float, float]:
    try:
        low, high = (float(each) for each in percentiles)
    except (TypeError, ValueError):
        low = high = np.nan
    if not 0.0 <= low < high <= 1.0:
        required = "two numbers between 0 and 1, the lower one first"
        raise wrong_value("percentiles", required, percentiles, "Write (0.05, 0.95).")
    return low, high


def _choose_grid(
    column: EffectColumn, given: Any, resolution: int, percentiles: tuple[float, float]
) -> Array:
    """The grid of one feature, by scikit-learn's rule."""
    if column.levels is not None:
        return _chosen_levels(column, given)
    if given is not None:
        grid = np.asarray(given, np.float64)
        if grid.ndim != 1 or len(grid) == 0 or np.isnan(grid).any():
            required = "a sequence of numbers, none of them missing"
            raise wrong_value(f"values of {column.name}", required, given, "Leave it out.")
        return grid
    known = column.known
    if len(known) == 0:
        raise _no_values(column)
    distinct = np.unique(known)
    if len(distinct) < resolution:
        return distinct
    low, high = mquantiles(known, percentiles)
    if low == high:
        raise wrong_value(
            "percentiles",
            f"apart from each other in {column.name}",
            percentiles,
            "Widen them, or pass values=.",
        )
    return np.linspace(low, high, resolution)


def _chosen_levels(column: EffectColumn, given: Any) -> Array:
    """The grid of a nominal feature: the given labels, or all."""
    grid = np.asarray(column.levels if given is None else given, dtype=object)
    if grid.ndim != 1 or (len(grid) == 0 and given is not None):
        required = "a sequence of labels"
        raise wrong_value(f"values of {column.name}", required, given, "Leave it out.")
    if len(grid) == 0:  # the fit saw missing values only
        raise _no_values(column)
    return grid


def _no_values(column: EffectColumn) -> ValueError:
    return ValueError(
        f"A grid of {column.name} needs values that are not missing; got none. Pass values=."
    )


def quantiles_of(column: EffectColumn) -> Floats | None:
    """Deciles of the values, for the marks of a plot; None for labels."""
    if column.is_nominal or len(column.known) == 0:
        return None
    return np.quantile(column.known, np.linspace(0.0, 1.0, 11))
