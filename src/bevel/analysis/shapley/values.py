"""Shapley values of predictions: what each feature adds to the prediction of a row.

The game is the interventional one (Lundberg and others 2020): a coalition of features has the
values of the row, all others have those of a background row, and the forest predicts the hybrid.
Values are means over background rows and trees. Every feature of an oblique split gets its share.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.shapley.result import ShapleyValues
from bevel.data.tables import read_table
from bevel.errors import wrong_type, wrong_value
from bevel.parameters.constraints import Integer
from bevel.training.progress import Progress

__all__ = ["shapley_values"]

MOST_EXACT_FEATURES = 20


def shapley_values(
    forest: object,
    X: Any,
    background: Any,
    *,
    max_background: int = 100,
    max_exact_features: int = 12,
    n_samples: int = 4,
    random_state: int | np.random.Generator | None = None,
    verbose: int = 0,
) -> ShapleyValues:
    """Shapley values of the predictions of a fitted forest.

    Parameters
    ----------
    forest : fitted forest of Bevel
        Of any family of directions; slim ones too.
    X : array, data frame or sparse matrix of shape (n, p)
        Rows to explain.
    background : array, data frame or sparse matrix of shape (m, p)
        Rows to compare with, such as the training rows or those of one group. They weigh alike.
    max_background : int, default=100
        Background rows to use; if there are more, so many of them are drawn. Time grows with it.
    max_exact_features : int, default=12
        The game of a tree, a row and a background row is solved exactly if no more features that
        the tree asks for differ between the rows, and mostly where more do but only 2 to this power
        cases are to be told apart; otherwise it is sampled. Trees of single features are always
        exact. At most 20.
    n_samples : int, default=4
        Draws for each game that is sampled, at least 2; each draw is a random order of the
        features and its reverse. Standard errors fall with the root of the number of draws, trees
        and background rows.
    random_state : int, Generator or None, default=None
        Draws background rows and orders. The number of threads changes nothing.
    verbose : int, default=0
        1 draws a bar of the rows done.

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
    >>> shap = shapley_values(forest, X[:20], X, max_background=50, random_state=0)
    >>> bool(abs(shap.predictions - forest.predict(X[:20])).max() < 1e-9)
    True
    """
    analysed = read_forest(forest, "shapley_values")
    _check_count("max_background", max_background, 1)
    _check_count("max_exact_features", max_exact_features, 0, MOST_EXACT_FEATURES)
    _check_count("n_samples", n_samples, 2)
    rng = np.random.default_rng(random_state)
    rows = np.ascontiguousarray(analysed.encode(X))
    others = _draw_rows(analysed.encode(background), max_background, rng)
    with Progress(0, len(rows), verbose > 0, None, label="explaining rows") as progress:
        values, variances, n_sampled = _core.shapley_values(
            analysed.predictor.view,
            rows,
            others,
            analysed.hard,
            max_exact_features,
            n_samples,
            int(rng.integers(2**64, dtype=np.uint64)),
            analysed.n_threads,
            progress if progress.wanted else None,
        )
        if progress.wanted:
            progress(len(rows))
    return ShapleyValues(
        _outputs(analysed, values),
        _predict(analysed, others).mean(axis=0),
        _rows_as_given(X, analysed),
        analysed.names,
        analysed.classes,
        _outputs(analysed, np.sqrt(variances)) if n_sampled.any() else None,
        float(n_sampled.mean()) / (len(others) * analysed.forest.n_trees),
        len(others),
    )


def _check_count(name: str, value: object, low: int, high: int | None = None) -> None:
    upper = "" if high is None else f" and at most {high}"
    required, remedy = f"{Integer(low)}{upper}", f"Write for example {name}={max(low, 10)}."
    if not Integer().describes(value):
        raise wrong_type(name, required, value, remedy)
    if not Integer(low).allows(value) or (high is not None and int(value) > high):  # type: ignore[call-overload]
        raise wrong_value(name, required, value, remedy)


def _draw_rows(
    rows: npt.NDArray[np.float32], most: int, rng: np.random.Generator
) -> npt.NDArray[np.float32]:
    if len(rows) > most:
        rows = rows[np.sort(rng.choice(len(rows), most, replace=False))]
    return np.ascontiguousarray(rows)


def _predict(analysed: AnalysedForest, rows: npt.NDArray[np.float32]) -> Floats:
    if analysed.classes is None:
        return analysed.predictor.values(rows, analysed.n_threads)
    return analysed.predictor.probabilities(rows, analysed.n_threads, analysed.hard)


def _outputs(analysed: AnalysedForest, array: Floats) -> Floats:
    """(n, p, 1) becomes (n, p) in regression."""
    return array[:, :, 0] if analysed.classes is None else array


def _rows_as_given(X: Any, analysed: AnalysedForest) -> npt.NDArray[Any]:
    """The rows in the user's units: floats, or objects if there are labels among them."""
    table = read_table(X)
    nominal = np.flatnonzero(analysed.forest.levels)
    if len(nominal) == 0:
        return np.array(table.numbers(slice(0, table.n_rows), slice(0, table.n_features)), float)
    rows = np.empty((table.n_rows, table.n_features), dtype=object)
    for feature in range(table.n_features):
        is_nominal = feature in nominal
        column = slice(feature, feature + 1)
        rows[:, feature] = (
            table.labels(feature)
            if is_nominal
            else table.numbers(slice(0, table.n_rows), column)[:, 0]
        )
    return rows
