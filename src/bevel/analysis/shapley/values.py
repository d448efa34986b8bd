"""Shapley values of predictions: the contribution of each feature to the prediction of a row.

The game is the interventional one (Lundberg and others 2020): a coalition of features has the
values of the row, all others have those of a background row, and the forest predicts the hybrid.
Values are means over background rows and trees. Every feature of an oblique split gets its share.

Values of single trees vary much more over background rows than those of the forest. So if rows are
many, each tree draws its own: with the same number of games this is far more precise than a
few rows that are common to all trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel import _core
from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.boosted_sums import explains_sums
from bevel.analysis.shapley.arguments import (
    check_count,
    check_limits,
    rows_as_given,
    single_output,
)
from bevel.analysis.shapley.background import read_background
from bevel.analysis.shapley.paths import path_dependent_values, refuse_background
from bevel.analysis.shapley.result import ShapleyValues
from bevel.errors import wrong_value
from bevel.training.progress import Progress

__all__ = ["shapley_values"]


@explains_sums
def shapley_values(
    forest: object,
    X: Any,
    background: Any = None,
    *,
    feature_perturbation: str = "interventional",
    background_weight: Any = None,
    max_background: int | None = None,
    max_exact_features: int = 12,
    n_samples: int = 4,
    random_state: int | np.random.Generator | None = None,
    verbose: int = 0,
) -> ShapleyValues:
    """Shapley values of the predictions of a fitted forest.

    Parameters
    ----------
    forest : fitted forest of Bevel
        A fitted forest of any family of directions, which may be slim.
    X : array, data frame or sparse matrix of shape (n, p)
        Rows to explain.
    background : array, data frame or sparse matrix of shape (m, p)
        Rows to compare with, such as the training rows or those of one group.
    feature_perturbation : {"interventional", "tree_path_dependent"}, default="interventional"
        Prediction when only some features are known. "interventional": the others have
        the values of a background row. "tree_path_dependent": a split on a feature that
        is not known sends the row to both children, with the shares of the training weight
        that went there; an oblique split is known if all of its features are. This one takes
        no background, nor its options.
    background_weight : array of shape (m,), default=None
        Weights of the background rows, not negative; None: equal weights.
    max_background : int, default=None
        Number of background rows of each tree, at least 2. If there are more rows, each tree
        draws its own, such that all are drawn about equally often. Time grows with it,
        and standard errors fall with its root. None: 10, and more in a forest of less than a
        hundred trees, so that there are a thousand games for each row.
    max_exact_features : int, default=12
        The game of a tree, a row and a background row is solved exactly if no more features that
        the tree tests differ between the rows, and mostly where more do but only 2 to this power
        cases have to be distinguished; otherwise it is sampled. Trees of single features are always
        exact. At most 20.
    n_samples : int, default=4
        Number of draws for each sampled game, at least 2; each draw is a random order of the
        features and its reverse.
    random_state : int, Generator or None, default=None
        Seed of background rows and orders. The number of threads does not matter.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    ShapleyValues
        Values of each feature, for each row and class; with the base they add up to the prediction.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import shapley_values
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestRegressor(50, random_state=0).fit(X, y)
    >>> shap = shapley_values(forest, X[:20], X, random_state=0)
    >>> bool(abs(shap.predictions - forest.predict(X[:20])).max() < 1e-9)
    True
    """
    analysed = read_forest(forest, "shapley_values")
    if feature_perturbation == "tree_path_dependent":
        given = {"background": background, "background_weight": background_weight}
        refuse_background({**given, "max_background": max_background})
        return path_dependent_values(analysed, X, verbose)
    if feature_perturbation != "interventional":
        required = "'interventional' or 'tree_path_dependent'"
        remedy = "Leave it out to compare with background rows."
        raise wrong_value("feature_perturbation", required, feature_perturbation, remedy)
    check_limits(max_background, max_exact_features)
    check_count("n_samples", n_samples, 2)
    rng = np.random.default_rng(random_state)
    rows = np.ascontiguousarray(analysed.encode(X))
    others, weights, drawn = read_background(
        analysed, background, background_weight, max_background, rng
    )
    progress = Progress(0, len(rows), verbose > 0, None, label="explaining rows")
    with progress:
        values, variances, n_sampled, base = _core.shapley_values(
            analysed.predictor.view,
            rows,
            others,
            weights,
            drawn,
            analysed.hard,
            max_exact_features,
            n_samples,
            int(rng.integers(2**64, dtype=np.uint64)),
            analysed.n_threads,
            progress if progress.wanted else None,
        )
        if progress.wanted:
            progress(len(rows))
    n_per_tree = len(others) if drawn is None else drawn.shape[1]
    return ShapleyValues(
        single_output(analysed, values),
        base[0] if analysed.classes is None else base,
        rows_as_given(X, analysed),
        analysed.names,
        analysed.classes,
        single_output(analysed, np.sqrt(variances))
        if drawn is not None or n_sampled.any()
        else None,
        float(n_sampled.mean()) / (n_per_tree * analysed.forest.n_trees),
        n_per_tree,
        output_name=analysed.output_name,
        n_background_given=len(others),
    )
