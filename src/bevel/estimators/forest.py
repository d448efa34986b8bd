"""The oblique forest classifier and regressor, and their base."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bevel._types import Floats
from bevel.data.row_groups import read_row_order
from bevel.data.target import split_outputs
from bevel.errors import shorten, wrong_type, wrong_value
from bevel.estimators._base import (
    TreeEstimator,
    answers_arguments,
    copy_with,
    encode_rows,
    in_blocks,
    keep_trees,
    refuse_arrays,
    set_attributes,
    whole_or_not_at_all,
)
from bevel.estimators.registry import savable
from bevel.forest.aggregation import MeanOfTrees
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.importance import gain_importances
from bevel.forest.quantiles import (
    LeafTargets,
    conditional_quantiles,
    interval_levels,
    keep_targets,
    read_levels,
)
from bevel.forest.records import FamilyRecord
from bevel.forest.task import Classification, Regression, SeveralOutputs, Task, task_of
from bevel.forest.training_rows import (
    leaf_rows_of,
    out_of_bag_rows,
)
from bevel.forest.tree_selection import best_subset, pair_errors
from bevel.parameters.forest_parameters import (
    CLASSIFIER_PARAMETERS,
    REGRESSOR_PARAMETERS,
    documented,
)
from bevel.parameters.parameter import Integer, Parameter, check_each
from bevel.projections.families import (
    ProjectionDraws,
    read_projection,
)
from bevel.scanning import ScannedTable
from bevel.scanning.reading import ReadTable, read_blocks
from bevel.training.blocks import (
    RowsInBlocks,
    WorkSpace,
    check_blocks_support,
    members_over_blocks,
)
from bevel.training.forest_fit import (
    FitRequest,
    FitResult,
    PreparedFit,
    RowsInMemory,
    TreePlan,
    fit_forest,
    fit_in_time,
    prepare,
    scale_for,
)
from bevel.training.options import (
    check_combinations,
    draw_seed,
    draws_bags,
    is_regression,
)
from bevel.training.progress import Callback, Progress
from bevel.training.targets import ClassTargets, NumberTargets, TargetKind
from bevel.training.threads import count_threads

# Base of the classifier and the regressor: parameters and tables checked, training called.

OF_OUT_OF_BAG = ("oob_score_", "oob_prediction_", "oob_decision_function_")


class ObliqueForest(TreeEstimator, metaclass=ABCMeta):
    """Base of the forests; not used by itself."""

    _parameters: ClassVar[Mapping[str, Parameter]]
    _target_kind: ClassVar[TargetKind]
    n_estimators: int | str
    verbose: int
    callback: Callback | None
    _out_of_bag_name: ClassVar[str] = "oob_prediction_"
    _may_be_sparse: ClassVar[bool] = False
    _fitted: FittedForest
    n_outputs_: int

    @whole_or_not_at_all
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
    ) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array, data frame, sparse matrix of shape (n_rows, n_features), or scanned table
            Training rows: NumPy arrays, pandas, polars and pyarrow tables, SciPy sparse matrices
            (kept sparse where the projection allows it, see Many features). NaN, None and masked
            entries are missing values; infinities raise. Dates and times become days since
            1970-01-01 (UTC). A table of `bevel.scan` need not fit in memory, and brings its targets
            and weights.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Targets; None with a scanned table. With several columns all of them are predicted by
            the same trees: the impurity that splits remove is summed over the outputs, in
            regression after division by their variances.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, zero or more, the largest from 1e-15 to 1e15; None weighs all rows
            equally. Nothing is learned from a row of weight zero, though it is counted among the
            rows that bags are drawn from. Weights below 1e-20 of the largest count as that much.
        groups : array-like of shape (n_rows,), default=None
            Labels of rows that belong together, such as the patient of each measurement; new rows
            are of other groups. Bags draw groups with all of their rows, and a row is out of bag
            where its group is, so that families, sizes of nodes, calibration and out-of-bag scores
            are chosen and judged on groups that trees have not seen. `max_samples` is then a share,
            or a number, of groups.
        time : array-like of shape (n_rows,), or str, default=None
            Times of the rows, as numbers or dates, or the name of the column of X that has them;
            new rows are later. What the forest chooses, and its out-of-bag score and predictions,
            come from a first forest, which is grown on the earlier rows and judged on the latest
            fifth; then the forest is grown on all rows. It takes twice the time. Not with `groups`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        for name in OF_OUT_OF_BAG:  # left by an earlier fit
            self.__dict__.pop(name, None)
        if isinstance(X, ScannedTable):
            refuse_arrays(y, sample_weight, groups, time)
            self._fit_over_blocks(partial(read_blocks, X, bar=bool(self.verbose)))
            return self
        values, members = self._checked_parameters()
        n_threads = count_threads(self.n_jobs)
        before = self._trees_to_keep()
        seed = draw_seed(self.random_state) if before is None else self._warm_start_seed()
        table = self._read(X, y, reset=before is None)
        request = FitRequest(values, members, self._target_kind, seed)
        names = self._names_of_columns()
        order = read_row_order(groups, time, table, names)
        training = (table, names, y, sample_weight)
        prepared = prepare(request, *training, n_threads, before, order, self._may_be_sparse)
        self._describe_target(prepared.target.task)
        if order.times is not None:
            how = (request.n_trees, n_threads, self._progress)
            self._finish(fit_in_time(prepared, self._plan_of, *how))
            return self
        rows = RowsInMemory(prepared, self._plan_of(prepared), n_threads)
        n_trees = request.n_trees
        if before is not None and self.n_estimators == "auto":
            n_trees = before.forest.n_trees
        self._finish(fit_forest(rows, n_trees, self._progress))
        return self

    def _fit_over_blocks(
        self, read_table: Callable[..., AbstractContextManager[ReadTable]]
    ) -> None:
        """Grow the forest over blocks of rows.

        Parameters
        ----------
        read_table : callable
            Reads the table; see `bevel.scanning.reading.read_blocks` for its arguments.
        """
        values, members = self._checked_parameters()
        members = members or members_over_blocks()
        check_blocks_support(values, members)
        n_threads = count_threads(self.n_jobs)
        with read_table(
            regression=is_regression(values["criterion"]),
            categorical_features=values["categorical_features"],
            scale=scale_for(values["scale"], members),
            class_weight=values.get("class_weight"),
            n_threads=n_threads,
        ) as read:
            self._remember_columns(read.table.n_features, read.names)
            task = task_of(read.classes)
            self._describe_target(task)
            request = FitRequest(values, members, self._target_kind, draw_seed(self.random_state))
            space = WorkSpace(read.shares.numbers, read.shares.rows)
            names = self._names_of_columns()
            rows = RowsInBlocks(request, read.blocks, read.table, names, task, space, n_threads)
            self._finish(fit_forest(rows, request.n_trees, self._progress))

    def _checked_parameters(self) -> tuple[dict[str, Any], Sequence[ProjectionDraws]]:
        """Parameters of a fit, checked singly and together, and the projections among them."""
        values = self._settings()
        check_each(values, self._parameters)
        members = read_projection(values["projection"], values["n_projections"])
        values["bootstrap"] = draws_bags(values["bootstrap"], members)
        self._check_combinations(values, members)
        return values, members

    def _describe_target(self, task: Task) -> None:
        """Set the attributes that describe the target."""
        self.n_outputs_ = task.n_outputs
        set_attributes(self, task)

    def _plan_of(self, prepared: PreparedFit) -> TreePlan | None:
        """Plan of what shares the trees of a fit; None if nothing does."""
        return prepared.plan()

    def _finish(self, result: FitResult) -> None:
        """Set the fitted forest, and the out-of-bag estimates if there are any."""
        self._fitted = result.fitted
        if result.estimates is not None:
            predictions = self._fitted.task.split(result.estimates.predictions)
            setattr(self, self._out_of_bag_name, predictions)
            self.oob_score_ = result.score

    @property
    def families_(self) -> FamilyRecord:
        """The families that share the trees, with their out-of-bag errors; for "auto" only."""
        families = self.fitted_forest_.provenance.families
        if families is None:
            raise AttributeError(
                'families_ is an attribute of forests with projection="auto", whose families share '
                f"the trees; got projection={shorten(self.projection)}."
            )
        return families

    def _settings(self) -> dict[str, Any]:
        """Parameters of a fit by name, including those that the user cannot set."""
        return self._own_parameters()

    def _check_combinations(
        self, values: Mapping[str, Any], members: Sequence[ProjectionDraws]
    ) -> None:
        """Raise if parameters contradict each other, regardless of the data."""
        check_combinations(values, members)

    def _progress(self, trees: range, label: str = "growing trees") -> Progress:
        """Progress report of the trees of a fit."""
        show = bool(self.verbose)
        return Progress(trees.start, trees.stop, show, self.callback, label=label)

    def prune_trees(self, n_trees: int, X: Any, y: Any) -> Self:
        """Return the forest of the best `n_trees` trees, by their joint out-of-bag error.

        Trees are chosen one by one so that the squared error of their average, the Brier score of
        a classifier, is smallest; each pair of trees is evaluated on the rows out of both bags.

        Parameters
        ----------
        n_trees : int
            Number of trees to keep, at least 1.
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            The training rows, in the order of the fit.
        y : array-like of shape (n_rows,)
            Targets of the training rows.

        Returns
        -------
        object
            A new fitted estimator with ``n_estimators=n_trees``; this one is unchanged. As its
            trees are a selection, `warm_start` cannot add to them; it has no out-of-bag estimates.
        """
        check_is_fitted(self)
        self.fitted_forest_.task.check_one_output("prune_trees")
        self._check_budget(n_trees)
        fitted = self.fitted_forest_.in_memory()
        encoded = encode_rows(self, X, training=True)
        rows = out_of_bag_rows(fitted, encoded, y, "prune_trees")
        n_threads, hard = count_threads(self.n_jobs), fitted.aggregation.hard
        errors = pair_errors(fitted.packed_predictor, rows, n_threads, hard)
        return keep_trees(self, best_subset(errors, n_trees))

    def _check_budget(self, n_trees: object) -> None:
        n_there = self._fitted.forest.n_trees
        complaint = (f"an integer from 1 to the {n_there} trees there are", n_trees)
        if not Integer().describes(n_trees):
            raise wrong_type("n_trees", *complaint, "Write for example n_trees=100.")
        if n_trees not in range(1, n_there + 1):
            raise wrong_value("n_trees", *complaint, "Choose fewer trees, or grow more.")

    def _warm_start_seed(self) -> int:
        """Seed of the existing trees; raises if new trees could repeat some of them."""
        seed = self._fitted.provenance.seed
        if seed is None:
            raise ValueError(
                "warm_start needs all trees of the seed up to some number, to go on from there; "
                "got some of them, chosen by prune_trees. Grow first and prune last, or set "
                "warm_start=False."
            )
        return seed

    @property
    def output_names_(self) -> tuple[str, ...]:
        """Names of the outputs: those of the columns of y, or y0, y1, ..."""
        task = self.fitted_forest_.task
        return task.names if isinstance(task, SeveralOutputs) else ("y0",)

    def output(self, which: int | str) -> Self:
        """The forest of one of several outputs, to use where one target is required.

        It has the same splits. Its `feature_importances_` are those of this output alone.

        Parameters
        ----------
        which : int or str
            Position of the output, or its name.

        Returns
        -------
        estimator
            A fitted estimator of one target, of the same class.

        Examples
        --------
        >>> from bevel import ObliqueForestRegressor
        >>> from sklearn.datasets import load_linnerud
        >>> X, y = load_linnerud(return_X_y=True, as_frame=True)
        >>> forest = ObliqueForestRegressor(50, random_state=0).fit(X, y)
        >>> forest.output("Waist").predict(X).shape
        (20,)
        """
        fitted = self.fitted_forest_
        if not isinstance(fitted.task, SeveralOutputs):
            return self
        k = fitted.task.position(which)
        changed = {"class_weight": None, "warm_start": False, "oob_score": False}
        known = self._parameters
        single: Any = copy_with(
            self,
            **{name: value for name, value in changed.items() if name in known},
        )
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(single, name, getattr(self, name))
        single._fitted = fitted.output(k)
        single._describe_target(single._fitted.task)
        return single  # type: ignore[no-any-return]

    @property
    def output_importances_(self) -> Floats:
        """Gain importance of each feature for each output, (n_outputs, n_features); rows sum to 1.

        By variance in regression and by the Gini index in classification, for any criterion.
        """
        if self.fitted_forest_.task.n_outputs == 1:
            return self.feature_importances_[None, :]
        each = [gain_importances(self.output(k).forest_) for k in range(self.n_outputs_)]
        return np.array(each)

    def __sklearn_tags__(self) -> Tags:
        """Add tags of the targets that are accepted."""
        tags: Tags = super().__sklearn_tags__()
        if self._target_kind.several_outputs:
            # Absolute error and Poisson deviance support one output only.
            of_one = getattr(self, "criterion", None) in ("absolute_error", "poisson")
            tags.target_tags.multi_output = not of_one
            if tags.classifier_tags is not None:
                tags.classifier_tags.multi_label = True
        return tags


@savable
@documented(CLASSIFIER_PARAMETERS)
class ObliqueForestClassifier(ClassifierMixin, ObliqueForest):  # type: ignore[misc]
    """A forest of decision trees that cut along oblique directions, for classification.

    At each node a few directions are drawn, the node's rows are projected on them, and the split of
    highest gain is kept. By default several families of directions share the trees, more of them
    going to families with better out-of-bag results; `families_` has the result. With
    `projection="axis"` it is Breiman's random forest, with `projection="sparse"` the sparse
    projection oblique randomer forest (SPORF) of Tomita et al., Journal of Machine Learning
    Research 21 (2020).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes}
    {columns}
    {trees}
    {outputs}
    {families}
    calibration_power_ : float
        The power that `predict_proba` raises the mean class shares of the trees to; 1 changes
        nothing.
    oob_score_ : float
        Accuracy, or the result of `oob_score`, of the out-of-bag predictions.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes_)
        Out-of-bag class probabilities; NaN for a row that was in every bag. With several outputs,
        a list of one array each.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> forest.predict(X[:1])
    array([0])
    """

    _may_be_sparse: ClassVar[bool] = True
    _parameters: ClassVar[Mapping[str, Parameter]] = CLASSIFIER_PARAMETERS
    _tasks: ClassVar[tuple[type[Task], ...]] = (Classification, SeveralOutputs)
    _target_kind: ClassVar[TargetKind] = ClassTargets()
    _out_of_bag_name: ClassVar[str] = "oob_decision_function_"
    classes_: Any  # with several outputs these are lists
    n_classes_: Any
    oob_decision_function_: Any

    def __init__(
        self,
        n_estimators: int | str = "auto",
        *,
        projection: Any = "auto",
        n_projections: int | float | str = "auto",
        criterion: str = "auto",
        threshold: str = "best",
        n_thresholds: int = 1,
        split_search: str = "auto",
        max_depth: int | None = None,
        min_samples_split: int | float | str = "auto",
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        growth: str | None = None,
        min_impurity_decrease: float = 0.0,
        max_redraws: int | str = "auto",
        split_pure_nodes: bool = False,
        bootstrap: bool | str = "auto",
        max_samples: int | float | None = None,
        replace: bool = True,
        honest: bool | float = False,
        voting: str = "soft",
        calibration: str | None = "auto",
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.projection = projection
        self.n_projections = n_projections
        self.criterion = criterion
        self.threshold = threshold
        self.n_thresholds = n_thresholds
        self.split_search = split_search
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.growth = growth
        self.min_impurity_decrease = min_impurity_decrease
        self.max_redraws = max_redraws
        self.split_pure_nodes = split_pure_nodes
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.replace = replace
        self.honest = honest
        self.voting = voting
        self.calibration = calibration
        self.scale = scale
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    @answers_arguments
    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Most probable class of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs_)
            Class labels; the first in `classes_` where several are equally probable.
        """
        codes: npt.NDArray[np.int32] = self._predict_with("classes", X, self.voting == "hard")
        return self._fitted.task.labels_of(codes)

    @answers_arguments
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of each row, in the order of `classes_`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_), or a list of one such array for each output
            Mean over the trees of class shares (soft voting) or of votes (hard voting), raised to
            the power `calibration_power_` and divided by their sum. Where out-of-bag rows
            calibrate them, none is zero: all classes
            have at least equal parts of a quarter of one tree's vote.
        """
        shares: npt.NDArray[np.float64] = self._predict_with(
            "probabilities", X, self.voting == "hard"
        )
        return self._fitted.task.split(self._fitted.aggregation.calibrate(shares))

    @property
    def calibration_power_(self) -> float:
        """The power that the mean class shares of the trees are raised to; 1 changes nothing."""
        return self.fitted_forest_.aggregation.power

    @answers_arguments
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the class probabilities; minus infinity for zero.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_), or a list of one such array for each output
            Logarithms of `predict_proba`.
        """
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            if isinstance(probabilities, list):
                return [np.log(each) for each in probabilities]
            return np.log(probabilities)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose class, or whose classes of all outputs, are predicted correctly.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            True labels of the rows.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        float
            Accuracy.
        """
        return self._fitted.task.score(y, self.predict(X), sample_weight)

    @property
    def fitted_forest_(self) -> FittedForest:
        """The fitted forest as files, exports and analysis read it."""
        fitted, hard = super().fitted_forest_, self.voting == "hard"  # may be set after fit
        how = fitted.aggregation
        if how.hard == hard:
            return fitted
        return replace(fitted, aggregation=MeanOfTrees(hard, how.power, how.least))


@savable
@documented(REGRESSOR_PARAMETERS)
class ObliqueForestRegressor(RegressorMixin, ObliqueForest):  # type: ignore[misc]
    """A forest of decision trees that cut along oblique directions, for regression.

    At each node a few directions are drawn, the node's rows are projected on them, and the split
    that lowers the squared error (or the chosen `criterion`) most is kept. By default several
    families of directions share the trees, more of them going to families with better out-of-bag
    results; `families_` has the result. With `projection="axis"` it is Breiman's random forest.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {columns}
    {trees}
    {outputs}
    {families}
    oob_score_ : float
        R², or the result of `oob_score`, of the out-of-bag predictions.
    oob_prediction_ : ndarray of shape (n_rows,) or (n_rows, n_outputs_)
        Out-of-bag predictions; NaN for a row that was in every bag.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(n_estimators=50, random_state=0).fit(X, y)
    >>> forest.predict(X[:1]).shape
    (1,)
    """

    _may_be_sparse: ClassVar[bool] = True
    _parameters: ClassVar[Mapping[str, Parameter]] = REGRESSOR_PARAMETERS
    _tasks: ClassVar[tuple[type[Task], ...]] = (Regression, SeveralOutputs)
    _target_kind: ClassVar[TargetKind] = NumberTargets()
    keep_targets: bool

    def __init__(
        self,
        n_estimators: int | str = "auto",
        *,
        projection: Any = "auto",
        n_projections: int | float | str = "auto",
        criterion: str = "squared_error",
        threshold: str = "best",
        n_thresholds: int = 1,
        split_search: str = "auto",
        max_depth: int | None = None,
        min_samples_split: int | float | str = "auto",
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        growth: str | None = None,
        min_impurity_decrease: float = 0.0,
        max_redraws: int | str = "auto",
        split_pure_nodes: bool = False,
        bootstrap: bool | str = "auto",
        max_samples: int | float | None = None,
        replace: bool = True,
        honest: bool | float = False,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        keep_targets: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.projection = projection
        self.n_projections = n_projections
        self.criterion = criterion
        self.threshold = threshold
        self.n_thresholds = n_thresholds
        self.split_search = split_search
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.growth = growth
        self.min_impurity_decrease = min_impurity_decrease
        self.max_redraws = max_redraws
        self.split_pure_nodes = split_pure_nodes
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.replace = replace
        self.honest = honest
        self.scale = scale
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.keep_targets = keep_targets
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    @answers_arguments
    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predicted value of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs_)
            Mean over the trees of the leaf's mean target, or of its median with
            `criterion="absolute_error"`.
        """
        values: npt.NDArray[np.float64] = self._predict_with("values", X)
        return values

    def predict_quantiles(
        self,
        X: Any,
        quantiles: npt.ArrayLike = (0.05, 0.5, 0.95),
        *,
        X_train: Any = None,
        y_train: Any = None,
        sample_weight: Any = None,
    ) -> Floats:
        """Quantiles of the target of each row.

        The quantile of level q is the smallest training target at which the weights of all targets
        up to it reach q, where the weight of a training row is the mean, over the trees, of its
        share in the leaf of the row (see `bevel.analysis.forest_weights`).

        X are new rows. A training row shares most leaves with itself, so its quantiles are close to
        its own target; `bevel.analysis.quantiles` gives those of training rows out of bag.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        quantiles : float or sequence of float, default=(0.05, 0.5, 0.95)
            Levels from 0 to 1.
        X_train, y_train : default=None
            The rows of the fit, in their order; needed unless the forest was grown with
            ``keep_targets=True``.
        sample_weight : array-like of shape (n_train,), default=None
            Weights of the training rows, if the fit had any.

        Returns
        -------
        ndarray of shape (n_rows, n_quantiles), or (n_rows,) for one level
            Quantiles. Several outputs are an axis after the rows.

        Examples
        --------
        >>> from bevel import ObliqueForestRegressor
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> forest = ObliqueForestRegressor(50, keep_targets=True, random_state=0).fit(X, y)
        >>> forest.predict_quantiles(X[:2], [0.1, 0.5, 0.9]).shape
        (2, 3)
        """
        levels = read_levels(quantiles)
        found = self._quantiles(
            "predict_quantiles", X, levels.ravel(), (X_train, y_train, sample_weight)
        )
        return found if levels.ndim else found[..., 0]

    def predict_interval(
        self,
        X: Any,
        coverage: float = 0.9,
        *,
        X_train: Any = None,
        y_train: Any = None,
        sample_weight: Any = None,
    ) -> Floats:
        """Interval in which the target of each row lies with a given probability.

        It ends at the quantiles (1 - coverage) / 2 and (1 + coverage) / 2. It is for single targets
        and does not shrink with more rows; for the error of the prediction itself see
        `bevel.analysis.predict_standard_error`. X are new rows: intervals of training rows are too
        narrow, and nearly all contain their target; use `bevel.analysis.quantiles` for these.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        coverage : float, default=0.9
            Share of targets that should be inside, between 0 and 1.
        X_train, y_train, sample_weight : default=None
            Training rows as in `predict_quantiles`.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper ends. Several outputs are an axis after the rows.
        """
        levels = interval_levels(coverage)
        return self._quantiles("predict_interval", X, levels, (X_train, y_train, sample_weight))

    def _quantiles(
        self, caller: str, X: Any, levels: Floats, training: tuple[Any, Any, Any]
    ) -> Floats:
        check_is_fitted(self)
        if self._fitted.task.n_outputs > 1:
            return self._quantiles_of_outputs(caller, X, levels, training)
        fitted = self._fitted = self._fitted.in_memory()
        n_threads = count_threads(self.n_jobs)
        targets = self._targets_for(caller, training, n_threads)
        return in_blocks(
            lambda rows: conditional_quantiles(
                fitted.packed_predictor, targets, rows, levels, n_threads
            ),
            self,
            X,
        )

    def _quantiles_of_outputs(
        self, caller: str, X: Any, levels: Floats, training: tuple[Any, Any, Any]
    ) -> Floats:
        """Quantiles of several outputs, rows x outputs x levels."""
        X_train, y_train, sample_weight = training
        given = None if y_train is None else split_outputs(y_train)
        n_outputs = self._fitted.task.n_outputs
        if X_train is None or given is None or len(given.names) != n_outputs:
            raise ValueError(
                f"{caller} of several outputs needs the training rows with all of their targets; "
                "got none, or part of them. Pass X_train and y_train, the rows of the fit."
            )
        found = [
            self.output(k)._quantiles(caller, X, levels, (X_train, column, sample_weight))
            for k, column in enumerate(given.columns)
        ]
        return np.stack(found, axis=1)

    def _targets_for(
        self, caller: str, training: tuple[Any, Any, Any], n_threads: int
    ) -> LeafTargets:
        """Kept targets, or those of training rows that are given again."""
        X, y, sample_weight = training
        if X is not None and y is not None:
            encoded = encode_rows(self, X, training=True)
            leaf_rows, rows, weighting = leaf_rows_of(
                self._fitted, encoded, y, sample_weight, caller, n_threads
            )
            return keep_targets(leaf_rows, np.asarray(rows.target, float), weighting.weights)
        targets = self._fitted.kept_targets
        if targets is None or not X is y is sample_weight is None:
            got = "a forest that kept none" if X is y is sample_weight is None else "part of them"
            raise ValueError(
                f"{caller} needs the training targets of the leaves; got {got}. Fit with "
                "keep_targets=True, or pass X_train and y_train, the rows of the fit."
            )
        return targets
