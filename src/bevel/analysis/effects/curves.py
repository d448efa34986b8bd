"""Predictions of rows with changed features, computed by the core by rows and by trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bevel import _core
from bevel._types import Bools, Float32s, Floats, Ints32
from bevel.analysis.accuracy.standard_errors import bag_products, jackknife_variance, usable_bags
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.checks import check_flag
from bevel.data.row_weights import read_weights
from bevel.training.progress import Progress

__all__ = [
    "EffectRows",
    "StandardError",
    "Variants",
    "check_trees_have_bags",
    "grid_of",
    "jackknife_error",
    "read_effect_rows",
]

# Numbers of a block of curves: 32 MB.
BLOCK_SIZE = 2**22
ROWS_OF_BLOCK = 1024
# Parts of the forest that are summed in parallel.
N_PARTS = 8
# Numbers of the curves of all trees: 512 MB.
MOST_OF_TREES = 2**26

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
        return max(1, self.analysed.forest.n_classes)

    def predict(self, X: Float32s) -> Floats:
        """Predictions of all trees for encoded rows, outputs last."""
        analysed = self.analysed
        if analysed.forest.n_classes == 0:
            return analysed.predictor.values(X, analysed.n_threads)[:, None]
        return analysed.predictor.probabilities(X, analysed.n_threads, analysed.hard)

    def curves(self, variants_of: VariantsOf, n_variants: int) -> Iterator[tuple[slice, Floats]]:
        """Predictions of the forest in blocks of rows: rows x outputs x variants."""
        analysed, n = self.analysed, len(self.X)
        step = max(32, BLOCK_SIZE // (self.n_outputs * n_variants) // 32 * 32)
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
        if size > MOST_OF_TREES:
            raise ValueError(
                f"{analysed.caller} keeps a curve of each tree for standard errors, which must be "
                f"at most {MOST_OF_TREES} numbers; got {size}. Use a coarser grid, or leave "
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
    return EffectRows(analysed, np.ascontiguousarray(rows), weights, out, verbose)


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
