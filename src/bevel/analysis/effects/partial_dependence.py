"""Partial dependence and individual conditional expectation, of one feature or two.

The other effects read features and rows, and compute their curves, by functions of this module.
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats.mstats import mquantiles

from bevel import _core
from bevel._types import Array, Bools, Float32s, Floats, Ints32
from bevel.analysis.accuracy.uncertainty import bag_products, jackknife_variance, usable_bags
from bevel.analysis.analysed_forest import (
    AnalysedForest,
    check_count,
    check_flag,
    explains_sums,
    read_forest,
    views_of,
)
from bevel.analysis.effects.result import Effect
from bevel.data.encoding import Encoding
from bevel.data.row_weights import read_weights
from bevel.data.tables import Table, array_as_days, is_missing, read_table
from bevel.data.values import Kind, as_values, floored, shown_labels
from bevel.errors import join_names, wrong_type, wrong_value
from bevel.forest.aggregation import Aggregation
from bevel.forest.fitted_forest import FittedCombination
from bevel.training.progress import Progress

__all__ = [
    "EffectColumn",
    "EffectRows",
    "StandardError",
    "Variants",
    "check_trees_have_bags",
    "encode_column",
    "find_feature",
    "finish",
    "grid_of",
    "jackknife_error",
    "partial_dependence",
    "quantiles_of",
    "read_effect_column",
    "read_effect_rows",
    "read_features",
    "rows_under",
]

# Features of an effect: found by name, read in the user's units, encoded for the trees.


@dataclass(frozen=True, eq=False)
class EffectColumn:
    """One feature of an effect.

    Attributes
    ----------
    name : str
        Name of the feature.
    feature : int
        Position of the column.
    values : ndarray of shape (n,)
        Values of the rows: float64 with NaN for missing ones, or labels of a nominal feature.
    levels : ndarray of object or None
        Labels of a nominal feature, in the order of their codes, and None at the end if the fit saw
        missing ones; None for numbers.
    kind : {"number", "day", "time", "truth"}
        What the numbers stand for.
    """

    name: str
    feature: int
    values: Array
    levels: npt.NDArray[np.object_] | None
    kind: Kind = "number"

    @property
    def is_nominal(self) -> bool:
        """Whether the values are labels."""
        return self.levels is not None

    @property
    def known(self) -> Floats:
        """Numbers that are not missing."""
        return np.asarray(self.values[~np.isnan(self.values)], np.float64)

    def shown(self, grid: Array) -> Array:
        """Values of the feature as people write them: dates as dates, truth as yes and no."""
        if self.levels is None:
            return as_values(self.kind, grid)
        return shown_labels(grid, self.levels)


def read_features(features: object, analysed: AnalysedForest, most: int = 2) -> list[int]:
    """Positions of one feature, or of a pair, given by name or by number."""
    single = isinstance(features, str | numbers.Integral)
    chosen: Sequence[object] = [features] if single else _as_list(features, most)
    found = [find_feature(feature, analysed, "features") for feature in chosen]
    if not 1 <= len(found) <= most or len(set(found)) < len(found):
        required = "one feature, or two different ones" if most == 2 else "different features"
        raise wrong_value("features", required, features, "Call it once for each of more.")
    return found


def _as_list(features: object, most: int) -> list[object]:
    if isinstance(features, Sequence | np.ndarray):
        return list(features)
    remedy = f"Write for example features={'0 or features=[0, 1]' if most == 2 else '[0, 1]'}."
    raise wrong_type("features", "the name or number of a feature, or a pair", features, remedy)


def find_feature(feature: object, analysed: AnalysedForest, what: str) -> int:
    """Position of a feature that is given by its name or position."""
    names = analysed.names
    required = f"columns of the fit, by name or from 0 to {len(names) - 1}"
    remedy = f"Choose from {join_names(list(names))}."
    if isinstance(feature, str):
        if feature not in names:
            raise wrong_value(what, required, feature, remedy)
        return names.index(feature)
    if not isinstance(feature, numbers.Integral) or isinstance(feature, bool):
        raise wrong_type(what, required, feature, remedy)
    if not 0 <= int(feature) < len(names):
        raise wrong_value(what, required, feature, remedy)
    return int(feature)


def read_effect_column(analysed: AnalysedForest, X: Any, feature: int) -> EffectColumn:
    """The values of a feature in the user's units."""
    table: Table = read_table(analysed.table(X))
    name, nominal = analysed.names[feature], analysed.fitted.encoding.nominal
    if feature in nominal:
        levels = nominal[feature]
        labels = np.array([*levels.labels, *([None] * levels.has_missing)], dtype=object)
        return EffectColumn(name, feature, table.labels(feature), labels)
    tile = table.numbers(slice(0, table.n_rows), slice(feature, feature + 1))
    kind = analysed.fitted.encoding.kind(feature)
    return EffectColumn(name, feature, np.array(tile[:, 0], np.float64), None, kind)


def encode_column(encoding: Encoding, column: EffectColumn, values: Array) -> Float32s:
    """Values of one feature as the trees read them; raises for numbers that are too large."""
    if column.is_nominal:
        return encoding.of_labels(column.feature, values, column.name)
    limit = encoding.reading.limit
    if not np.all(np.abs(values) <= limit):
        worst = values[np.argmax(~(np.abs(values) <= limit))]
        required = f"finite numbers up to {limit:g} in size"
        raise wrong_value(f"Values of {column.name}", required, worst, "Choose smaller ones.")
    target = np.empty((len(values), 1), np.float32)
    source = np.ascontiguousarray(values, np.float64)[:, None]
    encoding.native_scaler.transform(source, column.feature, 1, target)
    return target[:, 0]


# Predictions of rows with changed features, computed by the core by rows and by trees.

# Numbers of a block of curves: 32 MB.
BLOCK_SIZE = 2**22
ROWS_OF_BLOCK = 1024
# Parts of the forest that are summed in parallel.
N_PARTS = 8
# Numbers of the curves of all trees: 512 MB.
MAX_OF_TREES = 2**26

Variants = _core.FeatureGrid | _core.RowVariants
# The variants of some rows; a grid is common to all rows.
VariantsOf = Callable[[slice], Variants]


@dataclass(frozen=True, eq=False)
class EffectRows:
    """Rows whose features are changed.

    Attributes
    ----------
    analysed : AnalysedForest
        The forest.
    X : ndarray of float32, shape (n, p)
        Encoded rows.
    weights : ndarray of shape (n,)
        Weights of the rows in means.
    out : ndarray of bool, shape (n, n_trees), or None
        Whether a tree predicts a row; None: every tree predicts every row.
    verbose : int
        Whether to show a progress bar.
    """

    analysed: AnalysedForest
    X: Float32s
    weights: Floats
    out: Bools | None
    verbose: int = 0

    @property
    def n_outputs(self) -> int:
        """Classes, or 1 in regression."""
        return max(1, self.analysed.task.n_classes)

    def predict(self, X: Float32s) -> Floats:
        """Predictions of all trees for encoded rows, outputs last."""
        return self.analysed.means(X)

    def rows_of_block(self, n_variants: int) -> int:
        """Rows of a block of curves."""
        return max(32, BLOCK_SIZE // (self.n_outputs * n_variants) // 32 * 32)

    def curves(
        self, variants_of: VariantsOf, n_variants: int, step: int | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        """Predictions of the forest in blocks of `step` rows: rows x outputs x variants."""
        analysed, n = self.analysed, len(self.X)
        step = step or self.rows_of_block(n_variants)
        progress = Progress(0, n, self.verbose > 0, None, label="changing rows")
        for first in range(0, n, step):
            rows = slice(first, min(first + step, n))
            out = None if self.out is None else np.ascontiguousarray(self.out[rows])
            yield (
                rows,
                _core.row_curves(
                    analysed.predictor.packed,
                    self.X[rows],
                    variants_of(rows),
                    analysed.hard,
                    out,
                    analysed.n_threads,
                    None,
                ),
            )
            if progress.wanted:
                progress(rows.stop)

    def means(
        self, variants_of: VariantsOf, n_variants: int, group: Ints32 | None = None
    ) -> Floats:
        """Weighted means over the rows of each group: groups x outputs x variants.

        Rows that no tree predicts, and those of group -1, are left out; a group without rows has
        zeros. Blocks and parts of the forest have a fixed size, so that the sums do not depend on
        the number of threads.
        """
        analysed, n = self.analysed, len(self.X)
        n_trees = analysed.forest.n_trees
        group = np.zeros(n, np.int32) if group is None else group
        n_groups = int(group.max(initial=0)) + 1
        n_evaluating = np.full(n, n_trees) if self.out is None else self.out.sum(axis=1)
        group = np.where(n_evaluating > 0, group, np.int32(-1)).astype(np.int32)
        shares = self.weights / np.maximum(n_evaluating, 1)
        sums = np.zeros((n_groups, self.n_outputs, n_variants))
        step = max(ROWS_OF_BLOCK, BLOCK_SIZE // n_variants // ROWS_OF_BLOCK * ROWS_OF_BLOCK)
        progress = Progress(0, n, self.verbose > 0, None, label="changing rows")
        for first in range(0, n, step):
            rows = slice(first, min(first + step, n))
            parts = _core.tree_curves(
                analysed.predictor.packed,
                self.X[rows],
                variants_of(rows),
                np.ascontiguousarray(group[rows]),
                n_groups,
                min(n_trees, N_PARTS),
                np.ascontiguousarray(shares[rows]),
                analysed.hard,
                None if self.out is None else np.ascontiguousarray(self.out[rows]),
                analysed.n_threads,
                None,
            )
            sums += parts.sum(axis=0)
            if progress.wanted:
                progress(rows.stop)
        weights = np.bincount(group[group >= 0], self.weights[group >= 0], n_groups)
        return np.asarray(sums / np.where(weights > 0, weights, 1.0)[:, None, None])

    def tree_means(
        self, variants: Variants, n_variants: int, group: Ints32 | None = None
    ) -> Floats:
        """Means over the rows of each tree: trees x groups x outputs x variants."""
        analysed = self.analysed
        group = np.zeros(len(self.X), np.int32) if group is None else group
        n_groups = int(group.max(initial=0)) + 1
        n_trees = analysed.forest.n_trees
        size = n_trees * n_groups * self.n_outputs * n_variants
        if size > MAX_OF_TREES:
            raise ValueError(
                f"{analysed.caller} keeps a curve of each tree for standard errors, which must be "
                f"at most {MAX_OF_TREES} numbers; got {size}. Use a coarser grid, or leave "
                "standard_error out."
            )
        progress = Progress(0, n_trees, self.verbose > 0, None, label="following trees")
        sums = _core.tree_curves(
            analysed.predictor.packed,
            self.X,
            variants,
            group,
            n_groups,
            n_trees,
            self.weights,
            analysed.hard,
            None,
            analysed.n_threads,
            progress if progress.wanted else None,
        )
        weights = np.zeros(n_groups)
        np.add.at(weights, group[group >= 0], self.weights[group >= 0])
        return np.asarray(sums / np.where(weights > 0, weights, 1.0)[:, None, None])


@dataclass(frozen=True, eq=False)
class RowsOfOutputs(EffectRows):
    """Rows whose features are changed, under several forests: one for each output of boosting.

    Attributes
    ----------
    views : tuple of AnalysedForest
        The forests.
    """

    views: tuple[AnalysedForest, ...] = ()

    @property
    def n_outputs(self) -> int:
        return len(self.views)

    def predict(self, X: Float32s) -> Floats:
        return np.concatenate([view.means(X) for view in self.views], axis=1)

    def curves(
        self, variants_of: VariantsOf, n_variants: int, step: int | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        step = step or self.rows_of_block(n_variants)
        parts = (rows.curves(variants_of, n_variants, step) for rows in self._by_output())
        for blocks in zip(*parts, strict=True):
            yield blocks[0][0], np.concatenate([curves for _, curves in blocks], axis=1)

    def means(
        self, variants_of: VariantsOf, n_variants: int, group: Ints32 | None = None
    ) -> Floats:
        parts = [rows.means(variants_of, n_variants, group) for rows in self._by_output()]
        return np.concatenate(parts, axis=1)

    def _by_output(self) -> list[EffectRows]:
        return [EffectRows(view, self.X, self.weights, self.out) for view in self.views]


class RowsOfMembers(EffectRows):
    """Rows whose features are changed, of a classifier by a forest and boosting.

    The trees of the members add up on different scales, so that the curve of each row is followed
    in each member, turned into probabilities, and added up with the weights.
    """

    def predict(self, X: Float32s) -> Floats:
        return self.analysed.columns(X)

    def curves(
        self, variants_of: VariantsOf, n_variants: int, step: int | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        fitted: Any = self.analysed.fitted
        estimator: Any = self.analysed.estimator
        step = step or self.rows_of_block(n_variants)
        parts = []
        for model in estimator.estimators_:
            rows = rows_under(views_of(model, self.analysed.caller), self.X, self.weights)
            parts.append(rows.curves(variants_of, n_variants, step))
        for blocks in zip(*parts, strict=True):
            shares = (
                _probabilities(member.aggregation, curves)
                for member, (_, curves) in zip(fitted.members, blocks, strict=True)
            )
            yield blocks[0][0], fitted.aggregation.combine(shares)

    def means(
        self, variants_of: VariantsOf, n_variants: int, group: Ints32 | None = None
    ) -> Floats:
        group = np.zeros(len(self.X), np.int32) if group is None else group
        n_groups = int(group.max(initial=0)) + 1
        sums = np.zeros((n_groups, self.n_outputs, n_variants))
        for some, block in self.curves(variants_of, n_variants):
            known = group[some] >= 0
            weighted = block[known] * self.weights[some][known, None, None]
            np.add.at(sums, group[some][known], weighted)
        weights = np.bincount(group[group >= 0], self.weights[group >= 0], n_groups)
        return np.asarray(sums / np.where(weights > 0, weights, 1.0)[:, None, None])


def _probabilities(aggregation: Aggregation, curves: Floats) -> Floats:
    """Class probabilities from curves of a member: rows x classes x variants."""
    n, n_outputs, n_variants = curves.shape
    flat = np.ascontiguousarray(np.moveaxis(curves, 1, 2)).reshape(-1, n_outputs)
    shares = aggregation.probabilities_of(flat).reshape(n, n_variants, -1)
    return np.moveaxis(shares, 2, 1)


def rows_under(
    views: Sequence[AnalysedForest],
    X: Float32s,
    weights: Floats,
    out: Bools | None = None,
    verbose: int = 0,
) -> EffectRows:
    """Encoded rows to change, under the forests that `views_of` gives."""
    if len(views) > 1:
        return RowsOfOutputs(views[0], X, weights, out, verbose, tuple(views))
    kind = RowsOfMembers if isinstance(views[0].fitted, FittedCombination) else EffectRows
    return kind(views[0], X, weights, out, verbose)


class StandardError(NamedTuple):
    """Standard errors, and the number of variances that were estimated below zero."""

    error: Floats
    n_below_zero: int


def read_effect_rows(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    sample_weight: Any,
    out_of_bag: bool,
    verbose: int,
) -> EffectRows:
    """Rows to change: any rows, or those of the fit with the trees that have not seen them."""
    if check_flag("out_of_bag", out_of_bag):
        if y is None:
            raise ValueError(
                f"{analysed.caller} with out_of_bag=True needs the rows and targets of the fit, to "
                "draw their bags again; got no y. Pass y."
            )
        training = analysed.out_of_bag_rows(X, y)
        rows, out = training.X, training.out
    elif y is not None:
        raise ValueError(
            f"{analysed.caller} uses y with out_of_bag=True only; got y. Leave it out, or pass "
            "out_of_bag=True."
        )
    else:
        rows, out = analysed.encode(X), None
    weights = read_weights(sample_weight, None, None, len(rows))
    if weights is None:
        weights = np.ones(len(rows))
    return rows_under([analysed], np.ascontiguousarray(rows), weights, out, verbose)


def grid_of(features: list[int], values: list[Float32s]) -> _core.FeatureGrid:
    """The grid of one or two features, as the core reads it; the first feature runs fastest."""
    second = (features[1], values[1]) if len(features) == 2 else (-1, np.empty(0, np.float32))
    return _core.FeatureGrid(features[0], values[0], *second)


def jackknife_error(analysed: AnalysedForest, by_tree: Floats) -> StandardError:
    """Standard errors of the mean over trees (first axis), by the infinitesimal jackknife.

    The sum of the variance over other training rows, zero where it is estimated below zero, and
    the variance of a mean over the number of trees.
    """
    bags, n_trees = usable_bags(analysed), analysed.forest.n_trees
    products = bag_products(bags, n_trees)
    last = np.ascontiguousarray(np.moveaxis(by_tree, 0, -1))
    flat = last.reshape(-1, n_trees)
    variance = jackknife_variance(flat, products, bags)
    total = np.maximum(variance, 0.0) + flat.var(axis=1, ddof=1) / n_trees
    error = np.sqrt(total).reshape(last.shape[:-1])
    return StandardError(error, int(np.count_nonzero(variance < 0)))


def check_trees_have_bags(analysed: AnalysedForest, standard_error: bool) -> bool:
    """Whether standard errors are requested; raises early if they cannot be estimated."""
    if check_flag("standard_error", standard_error):
        usable_bags(analysed)
    return standard_error


KINDS = ("average", "individual", "both")
RESOLUTION = {1: 100, 2: 25}
MAX_INDIVIDUAL = 2**27  # numbers of individual curves: 1 GB


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
        if size > MAX_INDIVIDUAL:
            required = f"at most {MAX_INDIVIDUAL} numbers"
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
    found = finish(
        analysed,
        "partial dependence",
        tuple(column.name for column in columns),
        tuple(column.shown(axis) for column, axis in zip(columns, grid, strict=True)),
        laid_out(mean),
        errors,
        individual,
        tuple(quantiles_of(column) for column in columns),
        len(rows.X),
    )
    return replace(found, counts=tuple(map(_counts, columns, grid)))


def finish(
    analysed: AnalysedForest,
    kind: str,
    names: tuple[str, ...],
    grid: tuple[Array, ...],
    values: Floats,
    errors: StandardError | None,
    individual: Floats | None,
    quantiles: tuple[Array | None, ...],
    n_rows: int,
) -> Effect:
    """The result; arrays have the outputs last, except in regression."""
    error, n_below_zero = (None, 0) if errors is None else errors
    of_result = analysed.task.of_result
    return Effect(
        kind,
        names,
        grid,
        of_result(values),
        analysed.classes,
        None if error is None else of_result(error),
        None if individual is None else of_result(individual),
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
        grid = _as_numbers(given, column)
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
    grid = np.linspace(low, high, resolution)
    if column.kind in ("day", "time"):
        step = 1.0 if column.kind == "day" else 0.1 * (high - low) / resolution
        return np.unique([floored(each, step, up=False) for each in grid.tolist()])
    return grid


def _as_numbers(given: Any, column: EffectColumn) -> Floats:
    """Values of a numeric feature that the user gives: numbers, or dates of a column of dates."""
    values = np.asarray(given)
    if column.kind in ("day", "time") and values.dtype.kind in "MOU":
        return array_as_days(values.astype("datetime64[us]"))
    return np.asarray(given, np.float64)


def _chosen_levels(column: EffectColumn, given: Any) -> Array:
    """The grid of a nominal feature: the given labels, or all."""
    grid = np.asarray(column.levels if given is None else given, dtype=object)
    if grid.ndim != 1 or (len(grid) == 0 and given is not None):
        required = "a sequence of labels"
        raise wrong_value(f"values of {column.name}", required, given, "Leave it out.")
    if given is None and all(label is None for label in grid):  # the fit saw missing values only
        raise _no_values(column)
    return grid


def _counts(column: EffectColumn, grid: Array) -> npt.NDArray[np.int64] | None:
    """Rows with each label of the grid; None for numbers."""
    if not column.is_nominal:
        return None
    found = Counter(None if is_missing(value) else value for value in column.values.tolist())
    return np.array([found[label] for label in grid.tolist()], dtype=np.int64)


def _no_values(column: EffectColumn) -> ValueError:
    return ValueError(
        f"A grid of {column.name} needs values that are not missing; got none. Pass values=."
    )


def quantiles_of(column: EffectColumn) -> Array | None:
    """Deciles of the values, for the marks of a plot; None for labels and truth values."""
    if column.is_nominal or column.kind == "truth" or len(column.known) == 0:
        return None
    return column.shown(np.quantile(column.known, np.linspace(0.0, 1.0, 11)))
