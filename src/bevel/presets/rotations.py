"""Ensembles over several rotations of the features."""

from __future__ import annotations

from typing import Any

from bevel import projections as P
from bevel.estimators import (
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
    RotatedBoostingClassifier,
    RotatedBoostingRegressor,
    StackedRotationClassifier,
    StackedRotationRegressor,
)
from bevel.presets.forests import random_forest
from bevel.presets.table import BLASER, Boosting, Forest, Stack, check_names, make_forest, preset
from bevel.projections.base import check_option

__all__ = ["multi_rotation", "regularized_rotation", "rr_gbm", "stacked_rotation"]

# In regression, R's randomForest leaves nodes of 5 rows, and extraTrees those of fewer than 5.
_RANDOM_FOREST_REGRESSION = {"min_samples_split": 6}
_EXTRA_TREES_REGRESSION = {"min_samples_split": 5}
# Defaults of R's gbm: interaction.depth, bag.fraction and n.minobsinnode.
_GBM = {"max_depth": 1, "subsample": 0.5, "min_samples_leaf": 10}


@preset("Multi-rotation", BLASER, "section 3.2")
def multi_rotation(
    *, n_rotations: int = 30, task: str = "classification", **parameters: Any
) -> Forest:
    """Multi-rotation forest: at every node the features and their random rotations compete.

    500 bootstrapped trees, fully grown; K = 30 views of the features, one of them unrotated, shared
    by all trees; √(Kp) candidates, the default of R's randomForest for Kp columns. Features are
    scaled to [0, 1] as in `rr_rf`.

    Parameters
    ----------
    n_rotations : int, default=30
        K, the number of views.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.multi_rotation(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.97
    """
    return make_forest(
        task,
        parameters,
        n_estimators=500,
        projection=P.MultiRotation(n_rotations),
        bootstrap=True,
        scale="minmax_clip",
    )


@preset("Regularized rotation", BLASER, "chapter 2, Algorithm 2")
def regularized_rotation(
    *, weighting: str = "exp", task: str = "classification", **parameters: Any
) -> Forest:
    """Regularised rotation ensemble: more trees on rotations that make trees simple.

    M = 5000 bootstrapped trees, fully grown, on R = 100 rotations, one of them the identity, as in
    section 2.5; micro-forests of U = 10 trees, of the 10 to 20 of section 2.3. At each node there
    is one candidate: the thesis does not say so, but its trees have the sizes of such (Table 2.3:
    1369 nodes on waveform and 20.98 on iris; ours 1372 and 20.9, with √p candidates 782 and 13.7).
    `n_projections="sqrt"` errs slightly less; in regression there are p/3. Otherwise the trees are
    those of `rr_rf`, and so is the scaling to [0, 1]. With fewer than 2001 trees R is smaller, so
    that at most half of the trees are in micro-forests. `threshold="random"` grows extra trees,
    with bags.

    Parameters
    ----------
    weighting : {"rre", "cut", "exp", "bst", "new", "lin", "oob", "jnt"}, default="exp"
        How trees are shared out among rotations: the schemes of section 2.5, of which EXP is "a
        good compromise".

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> model = presets.regularized_rotation(n_rotations=5, n_estimators=20, random_state=0)
    >>> round(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.97
    """
    return make_forest(
        task,
        parameters,
        n_estimators=5000,
        weighting=weighting,
        n_projections=1,
        bootstrap=True,
        scale="minmax_clip",
        regression={**_RANDOM_FOREST_REGRESSION, "n_projections": "auto"},
        kinds=(RegularizedRotationClassifier, RegularizedRotationRegressor),
    )


@preset("S-RRE", BLASER, "section 3.3")
def stacked_rotation(
    *, n_estimators: int = 100, task: str = "classification", **parameters: Any
) -> Stack:
    """Stacked random rotations: a forest on each of 21 views, and a forest on their predictions.

    S-RRE/RF of section 3.3.3: the features as they are and K = 20 rotations of them, five folds.
    Forests are those of `random_forest` with class shares instead of votes, since level 1 is to
    hear how sure they are. Features are scaled to [0, 1] as in `rr_rf`. Departs: the thesis gives
    no number of trees; 127 forests make 100 each a matter of patience. For other learners, such as
    the XGBoost of section 3.3.3, pass `level0` and `level1`. The thesis fits level 0 on folds only,
    F² models in a cross-validation: `refit=False`. More stages, as in 3.4.2: `n_stages=3`.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of each forest of both levels.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> model = presets.stacked_rotation(n_estimators=10, random_state=0).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.98
    """
    check_option("task", task, ("classification", "regression"))
    settings: dict[str, Any] = {"scale": "minmax_clip"}
    if task == "classification":
        check_names(parameters, StackedRotationClassifier)
        forest = random_forest(n_estimators=n_estimators, voting="soft")
        settings |= {"level0": forest, "level1": forest}
        return StackedRotationClassifier(**(settings | parameters))
    check_names(parameters, StackedRotationRegressor, StackedRotationClassifier)
    forest = random_forest(n_estimators=n_estimators, task="regression")
    settings |= {"level0": forest, "level1": forest}
    return StackedRotationRegressor(**(settings | parameters))


@preset("RR-GBM", BLASER, "section 1.6.5")
def rr_gbm(*, n_estimators: int = 50, task: str = "classification", **parameters: Any) -> Boosting:
    """Random rotation gradient boosting: 100 groups of 50 boosted trees, a rotation for each.

    Shrinkage is 0.05, and groups vote. The thesis boosts with R's gbm and names no other setting,
    so its defaults hold: trees of one split, each on a random half of the rows, at least 10 of them
    in a leaf. Features are scaled to [0, 1] as in `rr_rf`; the "rank only" variant of Table 1.5 is
    `scale="relative_rank"`, and its figures without ranks are met with `scale=None`, which suits
    iris, all in centimetres. Departs: scikit-learn's gradient boosting does the boosting.

    Parameters
    ----------
    n_estimators : int, default=50
        Trees of each group; their number is `n_groups`.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> model = presets.rr_gbm(n_estimators=5, random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    check_option("task", task, ("classification", "regression"))
    boosted = {"n_estimators": n_estimators, "learning_rate": 0.05, **_GBM}
    settings = {"scale": "minmax_clip"}
    if task == "classification":
        check_names(parameters, RotatedBoostingClassifier)
        booster = GradientBoostingClassifier(**boosted)
        return RotatedBoostingClassifier(**({"booster": booster} | settings | parameters))
    check_names(parameters, RotatedBoostingRegressor, RotatedBoostingClassifier)
    booster = GradientBoostingRegressor(**boosted)
    return RotatedBoostingRegressor(**({"booster": booster} | settings | parameters))
