"""Refits a multi-rotation forest on its most important rotations (thesis, 3.2.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.importances.rotation import draw_rotation_axes, rotation
from bevel.errors import wrong_type, wrong_value
from bevel.estimators._base import ObliqueForest
from bevel.parameters.constraints import Integer
from bevel.projections import Custom, MultiRotation

__all__ = ["refit_best_rotations"]


def refit_best_rotations(
    forest: Any, X: Any, y: Any, n_rotations: int, *, sample_weight: Any = None
) -> ObliqueForest:
    """Refit a multi-rotation forest with the rotations of highest importance only.

    Rotations are ranked by `importance(forest, "rotation")`. The unrotated features are always
    kept and count as one of the rotations, as in `P.MultiRotation`.

    Parameters
    ----------
    forest : fitted ObliqueForestClassifier or ObliqueForestRegressor
        A forest with ``projection=P.MultiRotation(...)``.
    X, y : array-like
        Rows to fit, those of the forest or others with the same columns.
    n_rotations : int
        Number of rotations to keep; 1 keeps the unrotated features alone.
    sample_weight : array-like, default=None
        Weights of the rows.

    Returns
    -------
    object
        A new fitted estimator with the axes of the rotations as ``P.Custom(matrix)``, and with as
        many draws per node as a multi-rotation forest with `n_rotations` rotations, unless the
        forest had a number of its own; otherwise with the parameters of the forest, which is not
        changed. Axes are those of scaled features. Unless `scale` is None and other rows have
        another scale, the new forest has the same directions.

    References
    ----------
    Blaser's thesis, section 3.2.3: "the classifier can optionally be retrained with only the
    rotations that were deemed most helpful".

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris()
    >>> forest = presets.multi_rotation(n_estimators=20, random_state=0).fit(X, y)
    >>> refit_best_rotations(forest, X, y, 5).projection.sampler.shape  # 4 features, 5 views
    (4, 20)
    """
    analysed = read_forest(forest, "refit_best_rotations")
    multirotation = _multirotation(analysed)
    _check_number(n_rotations, int(multirotation.n_rotations))
    share = rotation(analysed).values
    # The first view is the unrotated features; the last one is for other directions.
    order = np.argsort(-share[1 : multirotation.n_rotations], kind="stable")
    views = np.concatenate(([0], np.sort(1 + order[: n_rotations - 1])))
    refit: ObliqueForest = clone(analysed.estimator)
    refit.projection = Custom(_axes_of(analysed, views))
    if refit.n_projections == "auto":
        refit.n_projections = _draws(analysed, n_rotations, refit.projection)
    return refit.fit(X, y, sample_weight=sample_weight)


def _multirotation(analysed: AnalysedForest) -> MultiRotation:
    projection = analysed.estimator.projection
    if projection == "multirotation":
        return MultiRotation()
    if isinstance(projection, MultiRotation):
        return projection
    raise wrong_value(
        "The projection of the forest",
        "P.MultiRotation(...) and no list",
        projection,
        "Fit with projection=P.MultiRotation().",
    )


def _check_number(n_rotations: object, most: int) -> None:
    required = f"an integer from 1 to the {most} rotations of the forest"
    if not Integer().describes(n_rotations):
        raise wrong_type("n_rotations", required, n_rotations, "Write for example n_rotations=5.")
    if n_rotations not in range(1, most + 1):
        raise wrong_value("n_rotations", required, n_rotations, "Keep fewer rotations.")


def _axes_of(analysed: AnalysedForest, views: np.ndarray[Any, np.dtype[np.int64]]) -> sp.csc_array:
    """Axes of some views as columns over the numeric features."""
    axes, view_of_axis = draw_rotation_axes(analysed)
    n_numeric = int(np.count_nonzero(analysed.forest.levels == 0))
    offset, index, weight = axes
    pool = sp.csc_array(
        (weight, index, offset.astype(np.int64)), shape=(n_numeric, len(offset) - 1)
    )
    return pool[:, np.flatnonzero(np.isin(view_of_axis, views))]


def _draws(analysed: AnalysedForest, n_rotations: int, projection: Custom) -> int:
    """Value of "auto" for `n_rotations` rotations, limited by the number of axes and columns."""
    levels = analysed.forest.levels
    n_draws = MultiRotation(n_rotations).default_draws(len(levels), analysed.classes is None)
    n_numeric = int(np.count_nonzero(levels == 0))
    return min(n_draws, projection.most_draws(n_numeric) + len(levels) - n_numeric)
