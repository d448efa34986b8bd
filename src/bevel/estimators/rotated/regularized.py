"""Regularised rotation ensembles: more trees on rotations that make trees simple, by Algorithm 2 of
Blaser's thesis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from bevel.errors import NoOutOfBagError, wrong_value
from bevel.estimators.forest import ObliqueForest, ObliqueForestClassifier, ObliqueForestRegressor
from bevel.estimators.registry import savable
from bevel.forest.records import RotationRecord
from bevel.forest.task import Classification, Regression, Task
from bevel.parameters.forest_parameters import (
    ROTATION_CLASSIFIER_PARAMETERS,
    ROTATION_REGRESSOR_PARAMETERS,
    documented,
)
from bevel.parameters.parameter import Parameter
from bevel.projections import RandomRotation
from bevel.projections.families import ProjectionDraws
from bevel.training.forest_fit import PreparedFit, TreePlan
from bevel.training.progress import Callback
from bevel.training.rotation_ensemble import (
    MAX_ENTRIES,
    EnsemblePlan,
    RotationPlan,
    as_matrices,
    count_entries,
    count_numeric,
    draw_rotations,
    needs_errors,
)
from bevel.training.targets import ClassTargets, NumberTargets, TargetKind

# Rotations in the experiments of section 2.5; size of micro-forests recommended in section 2.3.
AUTOMATIC_ROTATIONS, AUTOMATIC_TREES = 100, 10
MAX_MATRIX_ENTRIES = 2**28


class RegularizedRotation(ObliqueForest):
    """Base of the regularised rotation ensembles; not used by itself."""

    _has_rotations: ClassVar[bool] = True

    @property
    def rotations_(self) -> npt.NDArray[np.float32]:
        """Rotations as matrices whose columns are axes, the identity first."""
        record = self._record
        n_numeric = count_numeric(self._fitted.encoding)
        if n_numeric == 0:
            return np.zeros((record.n_rotations, 0, 0), np.float32)
        _check_matrices(record.n_rotations, n_numeric)
        drawn = draw_rotations(record.seed, record.n_rotations, n_numeric, record.max_rotated)
        return as_matrices(drawn, n_numeric)

    @property
    def complexities_(self) -> npt.NDArray[np.float64]:
        """Median complexity of the micro-forest of each rotation."""
        return self._record.complexities

    @property
    def oob_errors_(self) -> npt.NDArray[np.float64]:
        """Out-of-bag error of each micro-forest; NaN if the weights did not need it."""
        return self._record.errors

    @property
    def rotation_weights_(self) -> npt.NDArray[np.float64]:
        """Weight of each rotation."""
        return self._record.weights

    @property
    def h_(self) -> float | None:
        """The tuning parameter of the weights; None if they have none."""
        return self._record.h

    @property
    def rotation_of_tree_(self) -> npt.NDArray[np.int32]:
        """Number of each tree's rotation."""
        return self._record.of_tree

    @property
    def trees_per_rotation_(self) -> npt.NDArray[np.int64]:
        """Number of trees on each rotation."""
        return self._record.n_trees

    @property
    def _record(self) -> RotationRecord:
        check_is_fitted(self)
        record = self._fitted.provenance.rotations
        assert record is not None  # set by every fit of this class
        return record

    def _settings(self) -> dict[str, Any]:
        # Nodes draw among all axes of the tree's rotation.
        every_axis = RandomRotation(max_features=np.iinfo(np.int32).max)
        return super()._settings() | {"projection": every_axis}

    def _check_combinations(
        self, values: Mapping[str, Any], members: Sequence[ProjectionDraws]
    ) -> None:
        super()._check_combinations(values, members)
        plan = self._plan()
        _check_sizes(plan)
        _check_h(plan)
        wants = _wants_errors(plan)
        if wants and not values["bootstrap"]:
            raise _no_errors(wants, "bootstrap=False")

    def _plan(self) -> EnsemblePlan:
        n_trees, n_micro_trees = int(self.n_estimators), self.n_micro_trees
        if n_micro_trees == "auto":
            n_micro_trees = min(AUTOMATIC_TREES, max(1, n_trees // 10))
        n_rotations = self.n_rotations
        if n_rotations == "auto":
            n_rotations = min(AUTOMATIC_ROTATIONS, max(1, (n_trees - 1) // (2 * n_micro_trees)))
        n_dropped = min(round(self.drop_worst * n_rotations), n_rotations - 1)
        h = None if self.h is None else float(self.h)
        sizes = (n_trees, int(n_rotations), int(n_micro_trees))
        return EnsemblePlan(*sizes, self.weighting, h, n_dropped, int(self.max_rotated))

    def _plan_of(self, prepared: PreparedFit) -> TreePlan:
        sizes, n_numeric = self._plan(), count_numeric(prepared.dataset.encoding)
        wants = _wants_errors(sizes)
        if wants and not prepared.options.leaves_rows_out(len(prepared.dataset.X)):
            raise _no_errors(wants, "bags of all rows without replacement")
        _check_memory(sizes, n_numeric)
        return RotationPlan(sizes, prepared.options, n_numeric)


def _check_matrices(n_rotations: int, n_numeric: int) -> None:
    n_entries = n_rotations * n_numeric**2
    if n_entries > MAX_MATRIX_ENTRIES:
        raise ValueError(
            f"rotations_ must have at most {MAX_MATRIX_ENTRIES:,} numbers (1 GB); got "
            f"{n_entries:,} in {n_rotations} matrices of {n_numeric} × {n_numeric}. The axes of a "
            "tree are in forest_.rotation_index and forest_.rotation_weight."
        )


def _check_sizes(plan: EnsemblePlan) -> None:
    if plan.n_micro_trees * plan.n_rotations >= plan.n_trees:
        raise ValueError(
            "n_micro_trees must be less than n_estimators / n_rotations, since micro-forests are "
            f"part of the ensemble (U < M/R); got {plan.n_micro_trees} with {plan.n_trees} / "
            f"{plan.n_rotations}. Use fewer rotations or more trees."
        )


def _check_memory(plan: EnsemblePlan, n_numeric: int) -> None:
    n_entries = count_entries(plan.n_rotations, n_numeric, plan.max_rotated)
    if n_entries > MAX_ENTRIES:
        raise ValueError(
            f"n_rotations times the square of max_rotated must be below 2^32; got {n_entries:,} "
            f"weights in {plan.n_rotations} rotations of {min(n_numeric, plan.max_rotated)} "
            f"features, {8e-9 * n_entries:.0f} GB of them. Lower max_rotated or n_rotations."
        )


def _check_h(plan: EnsemblePlan) -> None:
    if plan.h is None:
        return
    if plan.weighting not in ("cut", "exp"):
        required = f'None unless weighting is "cut" or "exp" (it is "{plan.weighting}")'
        raise wrong_value("h", required, plan.h, "Leave it out.")
    most = plan.n_rotations - plan.n_dropped
    if plan.weighting == "cut" and not (plan.h.is_integer() and plan.h <= most):
        required = f'an integer from 1 to the {most} rotations that stay with weighting="cut"'
        raise wrong_value("h", required, plan.h, "Use None to choose it on the data.")


def _wants_errors(plan: EnsemblePlan) -> str:
    """Parameter that needs out-of-bag errors; empty if none does."""
    if not plan.needs_errors:
        return ""
    if needs_errors(plan.weighting, plan.h):
        tuned = " with h=None" if plan.weighting in ("cut", "exp") else ""
        return f'weighting="{plan.weighting}"{tuned}'
    return "drop_worst"


def _no_errors(caller: str, got: str) -> NoOutOfBagError:
    return NoOutOfBagError(
        f"{caller} needs the out-of-bag errors of the micro-forests, and so bags that leave rows "
        f'out; got {got}. Set bootstrap=True, or use weighting "rre", "bst", "new" or "lin", and '
        "drop_worst=0."
    )


# Regularised rotation ensembles: more trees on rotations that make trees simple.


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
    forest_, fitted_forest_, predictor_, columns_, text_columns_, oob_score_, oob_decision_function_
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
    _tasks: ClassVar[tuple[type[Task], ...]] = (Classification,)
    _target_kind: ClassVar[TargetKind] = ClassTargets(several_outputs=False)

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
        max_redraws: int | str = "auto",
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
            max_redraws=max_redraws,
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
    n_features_in_, feature_names_in_, feature_importances_, columns_, text_columns_
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
    _tasks: ClassVar[tuple[type[Task], ...]] = (Regression,)
    _target_kind: ClassVar[TargetKind] = NumberTargets(several_outputs=False)

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
        max_redraws: int | str = "auto",
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
            max_redraws=max_redraws,
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
