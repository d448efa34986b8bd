"""Gradient boosting on the directions of the papers, with Bevel's own trees."""

from __future__ import annotations

from typing import Any

from bevel.estimators import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    RotatedBoostingClassifier,
    RotatedBoostingRegressor,
)
from bevel.presets.table import BLASER, SPORF, Boosting, GradientBoosting, check_names, preset
from bevel.projections.base import check_option

__all__ = ["rotated_boosting", "sparse_boosting"]

# Defaults of R's gbm, as in `rr_gbm`: trees of one split on half of the rows, no penalty.
_GBM: dict[str, Any] = {
    "learning_rate": 0.05,
    "max_leaf_nodes": 2,
    "subsample": 0.5,
    "min_samples_leaf": 10,
    "l2_regularization": 0.0,
    "projection": "axis",
    "scale": None,
    "n_jobs": 1,
}


@preset("Sparse boosting", SPORF, "abstract")
def sparse_boosting(*, task: str = "classification", **parameters: Any) -> GradientBoosting:
    """Boosted trees that cut along p sparse projections only.

    The paper says that sparse projections "can easily be incorporated into other ensemble methods
    such as boosting" and goes no further. Directions are those of `sporf`, drawn anew for each
    iteration, without scaling; all else is the default of `ObliqueBoostingClassifier`, whose own
    directions have the single features beside them.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> model = presets.sparse_boosting(max_iter=20, random_state=0).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.97
    """
    check_option("task", task, ("classification", "regression"))
    settings = {"projection": "sparse", "n_projections": "p", "scale": None} | parameters
    if task == "classification":
        check_names(parameters, ObliqueBoostingClassifier)
        return ObliqueBoostingClassifier(**settings)
    check_names(parameters, ObliqueBoostingRegressor, ObliqueBoostingClassifier)
    return ObliqueBoostingRegressor(**settings)


@preset("Rotated boosting", BLASER, "section 1.6.5")
def rotated_boosting(
    *, n_estimators: int = 50, task: str = "classification", **parameters: Any
) -> Boosting:
    """Random rotation gradient boosting on Bevel's trees: 100 groups of 50, a rotation for each.

    The settings are those of `rr_gbm`. Departs: trees cut between 255 bins, and leaves are Newton
    steps.

    Parameters
    ----------
    n_estimators : int, default=50
        Iterations of each group; the number of groups is `n_groups`.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> model = presets.rotated_boosting(n_estimators=5, random_state=0).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.96
    """
    check_option("task", task, ("classification", "regression"))
    boosted = {"max_iter": n_estimators, **_GBM}
    settings = {"scale": "minmax_clip"}
    if task == "classification":
        check_names(parameters, RotatedBoostingClassifier)
        booster = ObliqueBoostingClassifier(**boosted)
        return RotatedBoostingClassifier(**({"booster": booster} | settings | parameters))
    check_names(parameters, RotatedBoostingRegressor, RotatedBoostingClassifier)
    own = ObliqueBoostingRegressor(**boosted)
    return RotatedBoostingRegressor(**({"booster": own} | settings | parameters))
