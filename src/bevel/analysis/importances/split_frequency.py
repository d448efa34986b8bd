"""Frequency of features in splits, regardless of their gain."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.importances.result import Importance, mean_and_spread
from bevel.analysis.rules.split_directions import SplitDirections, find_directions

__all__ = ["split_frequency"]


def split_frequency(analysed: AnalysedForest) -> Importance:
    """Share of all splits whose direction includes a feature."""
    forest = analysed.forest
    found = find_directions(forest)
    rows = found.rows
    uses = np.bincount(found.direction, minlength=len(rows))
    count = np.bincount(
        rows.index, np.repeat(uses, np.diff(rows.offset)), minlength=forest.n_features
    ).astype(np.int64)
    shares = _shares_of_trees(found, forest.n_trees, forest.n_features)
    return Importance(
        "split_frequency",
        analysed.names,
        count / max(1, len(found.node)),
        "share of all splits that use the feature; std over trees",
        std=mean_and_spread(shares, forest.n_features)[1],
        count=count,
    )


def _shares_of_trees(
    found: SplitDirections, n_trees: int, n_features: int
) -> Iterator[npt.NDArray[np.float64]]:
    """Share of the splits of each tree that use a feature; trees without splits are left out."""
    rows = found.rows
    used = sp.csr_matrix(
        (np.ones(len(rows.index)), rows.index, rows.offset), shape=(len(rows), n_features)
    )
    one = np.ones(len(found.node))
    splits = sp.csr_matrix((one, (found.tree, found.direction)), shape=(n_trees, len(rows)))
    totals = np.bincount(found.tree, minlength=n_trees)
    by_tree = splits @ used
    for tree in np.flatnonzero(totals):
        yield by_tree[[tree]].toarray()[0] / totals[tree]
