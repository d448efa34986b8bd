"""Trees in words: in the user's names and units, as text, dictionary and data frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bevel.analysis.analysed_forest import read_forest
from bevel.text import ForestRules, TreeRules

__all__ = ["forest_rules", "tree_rules"]


def tree_rules(
    estimator: Any,
    tree: int = 0,
    *,
    X: Any = None,
    max_depth: int | None = None,
    min_rows: float = 0,
    digits: int | None = 3,
    max_terms: int | None = 8,
) -> TreeRules:
    """One tree of a forest in words.

    Directions are written in the user's units under affine scales (None, "standard", "minmax"),
    largest term first and with weight 1; [x] stands for x within the bounds of the scale
    ("quantile", "minmax_clip"), rank(x) for its rank. Splits of one feature are in the user's units
    under any scale. The documentation, Topics, has more.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest.
    tree : int, default=0
        Index of the tree; negative numbers count from the end.
    X : array, data frame or sparse matrix, default=None
        Rows, such as those of the fit, for which the rounded rules must agree with the tree: where
        they do not, a rule gets more digits.
    max_depth : int, default=None
        Subtrees at this depth are replaced by their majority or mean.
    min_rows : float, default=0
        Splits with fewer training rows (by weight) on one side are replaced too.
    digits : int or None, default=3
        Digits of weights and thresholds, counted from the spread of the columns; None: exact.
    max_terms : int or None, default=8
        Number of terms of a direction that are written out.

    Returns
    -------
    TreeRules
        Rules; print them, or use `to_pandas()`, `to_dict()`, `bevel.plots.tree`.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import tree_rules
    >>> from sklearn.datasets import load_iris
    >>> data = load_iris(as_frame=True)
    >>> forest = ObliqueForestClassifier(10, projection="axis", random_state=0)
    >>> print(tree_rules(forest.fit(data.data, data.target), max_depth=1))
    tree 0 of 10: 2 leaves, depth 1, 150 rows
    ├─ petal width (cm) ≤ 0.8: class 0, 41 rows
    └─ petal width (cm) > 0.8: class 1 58 %, 109 rows …
    """
    analysed = read_forest(estimator, "tree_rules", trees_only=True, several_outputs=True)
    encoded = leaves = None
    chosen = analysed.estimator.forest_.tree(tree)
    if X is not None:
        encoded = analysed.encode(X)
        leaves = analysed.predictor.leaves(encoded, analysed.n_threads)[:, chosen.index]
    return chosen.rules(
        encoded=encoded,
        leaves=leaves,
        max_depth=max_depth,
        min_rows=min_rows,
        digits=digits,
        max_terms=max_terms,
    )


def forest_rules(
    estimator: Any,
    trees: Iterable[int] | None = None,
    *,
    max_depth: int | None = None,
    min_rows: float = 0,
    digits: int | None = 3,
    max_terms: int | None = 8,
) -> ForestRules:
    """Several trees of a forest in words, for `to_pandas()` and `to_dict()`.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest.
    trees : iterable of int, default=None
        Indices of the trees; None: all.
    max_depth, min_rows, digits, max_terms
        Parameters as in `tree_rules`.

    Returns
    -------
    ForestRules
        A `TreeRules` for each tree.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import forest_rules
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(10, random_state=0).fit(X, y)
    >>> forest_rules(forest, max_depth=2).to_pandas().shape[1]
    13
    """
    forest = read_forest(
        estimator, "forest_rules", trees_only=True, several_outputs=True
    ).estimator.forest_
    chosen = range(forest.n_trees) if trees is None else trees
    style = {
        "max_depth": max_depth,
        "min_rows": min_rows,
        "digits": digits,
        "max_terms": max_terms,
    }
    return ForestRules(tuple(forest.tree(tree).rules(**style) for tree in chosen))
