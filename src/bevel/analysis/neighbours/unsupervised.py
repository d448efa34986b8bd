"""A forest without a target, which discriminates rows from rows with permuted columns."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state

from bevel.data.leaks import without_leak_alarm
from bevel.data.tables import read_table
from bevel.errors import wrong_type
from bevel.estimators.forest import ObliqueForestClassifier

__all__ = ["unsupervised_forest"]

REAL, PERMUTED = "real", "permuted"


def unsupervised_forest(
    X: Any,
    *,
    forest: ObliqueForestClassifier | None = None,
    random_state: Any = None,
) -> ObliqueForestClassifier:
    """Fit a forest to rows without labels, for proximities, maps and clusters of them.

    Each column is permuted by itself in a copy of the rows, which keeps its distribution and breaks
    the dependence between columns. A forest that discriminates the rows from their copies learns
    that dependence, and rows in the same leaves are similar (Breiman's synthetic class).

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n_rows, n_features)
        Rows without labels.
    forest : ObliqueForestClassifier, default=None
        Forest that is copied and fitted; None is ``ObliqueForestClassifier(oob_score=True)``.
    random_state : None, int or RandomState, default=None
        Seed of the permutations, and of the forest unless one is given.

    Returns
    -------
    ObliqueForestClassifier
        The fitted forest, with classes "permuted" and "real". Use ``kind="all"`` in `proximity`,
        `principal_coordinates` and `nearest_rows`, since the fit had more rows than X. An
        out-of-bag accuracy near one half means that columns are nearly independent, so that
        proximities mean little.

    Examples
    --------
    >>> from bevel.analysis import proximity, unsupervised_forest
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> forest = unsupervised_forest(X, random_state=0)
    >>> forest.oob_score_ > 0.8
    True
    >>> proximity(forest, X, kind="all").matrix.shape
    (150, 150)
    """
    if forest is not None and not isinstance(forest, ObliqueForestClassifier):
        remedy = "Pass for example ObliqueForestClassifier(500, min_samples_leaf=5)."
        raise wrong_type("forest", "an ObliqueForestClassifier or None", forest, remedy)
    rng = check_random_state(random_state)
    if forest is None:
        seed = rng.randint(np.iinfo(np.int32).max)
        forest = ObliqueForestClassifier(oob_score=True, random_state=seed)
    n_rows = read_table(X).n_rows
    labels = np.repeat([REAL, PERMUTED], n_rows)
    fitted: ObliqueForestClassifier = clone(forest)
    with without_leak_alarm():
        return fitted.fit(_with_permuted_rows(X, n_rows, rng), labels)


def _with_permuted_rows(X: Any, n_rows: int, rng: np.random.RandomState) -> Any:
    """The rows, and below them a copy with every column permuted."""

    def order() -> npt.NDArray[np.int64]:
        return np.concatenate([np.arange(n_rows), n_rows + rng.permutation(n_rows)])

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        both = nw.concat([frame, frame])
        return both.with_columns(*(both[name][order()] for name in both.columns)).to_native()
    rows = X.toarray() if sp.issparse(X) else np.asarray(X)
    doubled = np.concatenate([rows, rows])
    return np.column_stack([doubled[order(), column] for column in range(doubled.shape[1])])
