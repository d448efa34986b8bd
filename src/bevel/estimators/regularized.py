"""Regularised rotation ensembles: more trees on rotations that make trees simple."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from bevel.estimators._rotations import RegularizedRotation
from bevel.estimators.classifier import ObliqueForestClassifier
from bevel.estimators.registry import savable
from bevel.estimators.regressor import ObliqueForestRegressor
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import (
    ROTATION_CLASSIFIER_PARAMETERS,
    ROTATION_REGRESSOR_PARAMETERS,
    documented,
)
from bevel.projections import RandomRotation
from bevel.training.progress import Callback


@savable
@documented(ROTATION_CLASSIFIER_PARAMETERS)
class RegularizedRotationClassifier(RegularizedRotation, ObliqueForestClassifier):
    """A rotation ensemble with more trees on rotations that make trees simple, for classification.

    Random rotations differ in how simple they make a problem for trees that cut along axes. On each
    of R rotations, one of them the identity, a micro-forest of U trees is grown; rotations are
    sorted by the median complexity of its trees, #nodes + depth/N, and the M trees of the ensemble
    are shared out by `weighting`. Trees of the micro-forests are part of it. The result is an
    ordinary forest, every tree of which has the axes of its rotation.

    Source: Blaser, "Random rotations in machine learning" (thesis), chapter 2. Nominal columns are
    not rotated, missing values count as the median. Limits such as `max_depth` hold in
    micro-forests too, which makes complexities less informative. `threshold="random"` grows extra
    trees; without bags the weights must not need out-of-bag errors. Since rotations are chosen on
    out-of-bag rows, an out-of-bag score is slightly too good.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {weighted_rotations}
    classes_, n_classes_, n_features_in_, feature_names_in_, feature_importances_
        Attributes as in `ObliqueForestClassifier`.
    forest_, fitted_forest_, predictor_, oob_score_, oob_decision_function_
        Attributes as in `ObliqueForestClassifier`.
    calibration_power_ : float
        1: probabilities of these ensembles are not calibrated.
    n_outputs_, output_names_, output_importances_
        Attributes of a single target, since these ensembles support no more.

    Examples
    --------
    >>> from bevel import RegularizedRotationClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ensemble = RegularizedRotationClassifier(200, n_rotations=10, random_state=0).fit(X, y)
    >>> int(ensemble.trees_per_rotation_.sum())
    200
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = ROTATION_CLASSIFIER_PARAMETERS

    def __init__(
        self,
        n_estimators: int = 500,
        *,
        weighting: str = "exp",
        n_rotations: int | str = "auto",
        n_micro_trees: int | str = "auto",
        h: float | None = None,
        drop_worst: float = 0.0,
        max_rotated: int = 500,
        n_projections: int | float | str = "auto",
        criterion: str = "gini",
        threshold: str = "best",
        n_thresholds: int = 1,
        split_search: str = "auto",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        growth: str | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool | str = "auto",
        max_samples: int | float | None = None,
        replace: bool = True,
        voting: str = "soft",
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Mapping[Any, float] | str | None = None,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        super().__init__(
            n_estimators,
            projection=RandomRotation(),
            n_projections=n_projections,
            criterion=criterion,
            threshold=threshold,
            n_thresholds=n_thresholds,
            split_search=split_search,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_leaf_nodes=max_leaf_nodes,
            growth=growth,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            max_samples=max_samples,
            replace=replace,
            voting=voting,
            scale=scale,
            categorical_features=categorical_features,
            class_weight=class_weight,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.weighting = weighting
        self.n_rotations = n_rotations
        self.n_micro_trees = n_micro_trees
        self.h = h
        self.drop_worst = drop_worst
        self.max_rotated = max_rotated


@savable
@documented(ROTATION_REGRESSOR_PARAMETERS)
class RegularizedRotationRegressor(RegularizedRotation, ObliqueForestRegressor):
    """A rotation ensemble with more trees on rotations that make trees simple, for regression.

    The counterpart of `RegularizedRotationClassifier`; the thesis covers classification only.
    Errors of rotations are mean squared errors.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {weighted_rotations}
    n_features_in_, feature_names_in_, feature_importances_
        Attributes as in `ObliqueForestRegressor`.
    forest_, fitted_forest_, predictor_, oob_score_, oob_prediction_
        Attributes as in `ObliqueForestRegressor`.
    n_outputs_, output_names_, output_importances_
        Attributes of a single target, since these ensembles support no more.

    Examples
    --------
    >>> from bevel import RegularizedRotationRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ensemble = RegularizedRotationRegressor(50, n_rotations=4, random_state=0).fit(X, y)
    >>> ensemble.rotations_.shape
    (4, 10, 10)
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = ROTATION_REGRESSOR_PARAMETERS

    def __init__(
        self,
        n_estimators: int = 500,
        *,
        weighting: str = "exp",
        n_rotations: int | str = "auto",
        n_micro_trees: int | str = "auto",
        h: float | None = None,
        drop_worst: float = 0.0,
        max_rotated: int = 500,
        n_projections: int | float | str = "auto",
        criterion: str = "squared_error",
        threshold: str = "best",
        n_thresholds: int = 1,
        split_search: str = "auto",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        growth: str | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool | str = "auto",
        max_samples: int | float | None = None,
        replace: bool = True,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        super().__init__(
            n_estimators,
            projection=RandomRotation(),
            n_projections=n_projections,
            criterion=criterion,
            threshold=threshold,
            n_thresholds=n_thresholds,
            split_search=split_search,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_leaf_nodes=max_leaf_nodes,
            growth=growth,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            max_samples=max_samples,
            replace=replace,
            scale=scale,
            categorical_features=categorical_features,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.weighting = weighting
        self.n_rotations = n_rotations
        self.n_micro_trees = n_micro_trees
        self.h = h
        self.drop_worst = drop_worst
        self.max_rotated = max_rotated
