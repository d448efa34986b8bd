"""The oblique isolation forest, for outliers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin

from bevel._types import Floats
from bevel.data.dataset import Dataset, encode_dataset, learn_dataset
from bevel.data.encoding import Encoding
from bevel.data.row_weights import read_weights
from bevel.data.scaling import IdentityScaler
from bevel.data.tables import select_rows
from bevel.errors import shorten, wrong_value
from bevel.estimators._base import (
    TreeEstimator,
    whole_or_not_at_all,
)
from bevel.estimators.registry import savable
from bevel.forest.aggregation import MeanOfTrees
from bevel.forest.bags import Bags
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.flat_forest import FlatForest, join_all, join_forests, spread_columns
from bevel.forest.predictor import PackedPredictor
from bevel.forest.provenance import Provenance
from bevel.forest.task import Isolation, Task, average_path_length
from bevel.parameters.forest_parameters import ISOLATION_PARAMETERS, documented
from bevel.parameters.parameter import Parameter, check_each
from bevel.projections import Custom, Gaussian, Patches
from bevel.projections.families import (
    ProjectionDraws,
    TableShape,
    combines_units,
    read_projection,
    resolve_families,
)
from bevel.training.forest_fit import shape_of
from bevel.training.options import TrainingOptions, draw_seed, warn_of_few_rows
from bevel.training.progress import Callback, Progress
from bevel.training.threads import count_threads
from bevel.training.trainer import TrainingTarget, train

FEW_ROWS = 256  # rows that max_samples="auto" draws for a tree
USUAL_OFFSET = -0.5
SEED_OF_COLUMNS = 0x9E3779B97F4A7C15  # changes the seed of the bags into that of `max_features`
MIN_COMBINED = 2  # features of a direction that is not along an axis


@savable
@documented(ISOLATION_PARAMETERS)
class ObliqueIsolationForest(
    OutlierMixin,  # type: ignore[misc]
    TreeEstimator,
):
    """A forest of random trees that cut along oblique directions, for outliers.

    Each tree is grown on a few rows without a target: at each node a random direction is drawn, and
    a random cut between the least and the largest projected value. Rows that few cuts isolate are
    outliers. With `projection="axis"` it is the isolation forest of Liu, Ting and Zhou, ICDM 2008;
    with directions of several features the extended isolation forest of Hariri, Carrasco Kind and
    Brunner, IEEE Transactions on Knowledge and Data Engineering 33 (2021), whose scores have no
    ridges along the axes.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {columns}
    offset_ : float
        Rows with `score_samples` below it are outliers.
    max_samples_ : int
        Rows that each tree was grown on.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueIsolationForest
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> forest = ObliqueIsolationForest(random_state=0).fit(rows)
    >>> forest.predict([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]])
    array([ 1, -1])
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = ISOLATION_PARAMETERS
    _tasks: ClassVar[tuple[type[Task], ...]] = (Isolation,)

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        projection: Any = "auto",
        max_samples: int | float | str = "auto",
        contamination: float | str = "auto",
        max_features: int | float = 1.0,
        bootstrap: bool = False,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.projection = projection
        self.max_samples = max_samples
        self.contamination = contamination
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.scale = scale
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Grow the trees.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows; NaN and None are missing values.
        y : object, default=None
            Ignored: the forest has no target.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, zero or more; only their ratios count. A row of weight two counts
            for two in the leaves that it falls into; a row of weight zero has no effect.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_each(self._own_parameters(), self._parameters)
        n_threads = count_threads(self.n_jobs)
        before = self._trees_to_keep()
        table = self._read(X, "no_validation", reset=before is None)
        weights = read_weights(sample_weight, None, None, table.n_rows)
        if weights is not None and not weights.all():
            table, weights = select_rows(table, np.flatnonzero(weights)), weights[weights > 0.0]
        if before is None:
            scale = self._scale_of(table.n_features)
            dataset = learn_dataset(table, self.categorical_features, scale, n_threads)
        else:
            dataset = encode_dataset(table, before.encoding, n_threads)
        n_samples, shape = self._n_samples(table.n_rows), shape_of(dataset)
        n_columns = self._n_columns(table.n_features)
        if n_columns < table.n_features:
            _check_few_columns(self.projection, self.max_features, n_columns, shape)
        options = _options(self.projection, shape, n_samples, bool(self.bootstrap))
        options = replace(options, seed=self._seed_of(before, n_samples))
        forest = self._add_trees(before, dataset, weights, options, n_columns, n_threads)
        bags = Bags(table.n_rows, options.bag_size, options.replace, options.seed)
        self._fitted = FittedForest(
            predictor=PackedPredictor(forest),
            encoding=dataset.encoding,
            feature_names=self._names_of_columns(),
            task=Isolation(n_samples, USUAL_OFFSET),
            aggregation=MeanOfTrees(),
            provenance=Provenance(
                options.seed, bags if before is None or before.provenance.bags == bags else None
            ),
        )
        if self.contamination != "auto":
            self._set_offset(dataset, weights, n_threads)
        return self

    def _scale_of(self, n_features: int) -> str | None:
        if self.scale != "auto":
            return self.scale
        members = _read_members(self.projection, n_features)
        # Not "quantile" as in other forests, which would compress outliers.
        return "standard" if combines_units(members) else None

    def _seed_of(self, before: FittedForest | None, n_samples: int) -> int:
        """Draw a new seed, or return that of the existing trees."""
        if before is None:
            return draw_seed(self.random_state)
        known = self._isolation.n_samples
        if known != n_samples:
            raise ValueError(
                f"warm_start needs trees of {known} rows each, as there are, "
                f"because path lengths depend on their number; got {n_samples}. Set "
                f"max_samples={known}, or warm_start=False."
            )
        seed = before.provenance.seed
        assert seed is not None
        return seed

    def _add_trees(
        self,
        before: FittedForest | None,
        dataset: Dataset,
        weights: Floats | None,
        options: TrainingOptions,
        n_columns: int,
        n_threads: int,
    ) -> FlatForest:
        """Add new trees to the existing ones, up to `n_estimators`."""
        trees = range(0 if before is None else before.forest.n_trees, int(self.n_estimators))
        if before is not None and not len(trees):
            return before.forest
        progress = Progress(0, len(trees), bool(self.verbose), self.callback, label="growing trees")
        if n_columns < dataset.X.shape[1]:
            grown = self._grow_on_few(
                dataset, weights, options, trees, n_columns, n_threads, progress
            )
        else:
            target = TrainingTarget(np.zeros(len(dataset.X)), 0, weights)
            grown = train(dataset, target, options, trees, n_threads, progress)
        grown = _with_path_lengths(grown, options.bag_size)
        return grown if before is None else join_forests(before.forest, grown)

    def _grow_on_few(
        self,
        dataset: Dataset,
        weights: Floats | None,
        options: TrainingOptions,
        trees: range,
        n_columns: int,
        n_threads: int,
        progress: Progress,
    ) -> FlatForest:
        """Trees of a few columns each. A tree is that of a table of its columns alone."""
        n_rows, n_features = dataset.X.shape
        bags = Bags(n_rows, options.bag_size, options.replace, options.seed)
        draws = Bags(n_features, n_columns, False, options.seed ^ SEED_OF_COLUMNS)
        levels, medians = dataset.encoding.levels, dataset.encoding.medians
        n_numeric = min(n_columns, shape_of(dataset).n_numeric)
        grown = []
        for k, tree in enumerate(trees):
            columns = np.flatnonzero(draws.counts(tree))
            counts = bags.counts(tree, weights)
            rows = np.flatnonzero(counts)
            few = _few_columns(dataset, rows, columns)
            shape = shape_of(few)
            how = _options(
                self.projection, shape, options.bag_size, False, shrink=shape.n_numeric < n_numeric
            )
            how = replace(how, bag_size=0, seed=options.seed)  # the bag is drawn
            drawn = counts[rows].astype(np.float64)
            if weights is not None:
                drawn *= weights[rows]
            target = TrainingTarget(np.zeros(len(rows)), 0, drawn)
            one = train(few, target, how, [tree], n_threads, progress.after(k))
            grown.append(spread_columns(one, columns, levels, medians))
        return join_all(grown)

    def _n_columns(self, n_features: int) -> int:
        """Columns of each tree."""
        size = self.max_features
        if not isinstance(size, numbers.Integral):
            return max(1, int(float(size) * n_features))
        if int(size) > n_features:
            required = f"at most the number of columns of X ({n_features})"
            raise wrong_value("max_features", required, size, "Use 1.0 for all columns.")
        return int(size)

    def _n_samples(self, n_rows: int) -> int:
        size = self.max_samples
        if size == "auto":
            return min(FEW_ROWS, n_rows)
        if not isinstance(size, numbers.Integral):
            return max(1, int(float(size) * n_rows))
        if int(size) > n_rows:
            warn_of_few_rows(int(size), n_rows)
        return min(int(size), n_rows)

    def _set_offset(self, dataset: Dataset, weights: Floats | None, n_threads: int) -> None:
        """Set the offset to the score that a share of the training rows falls below."""
        isolation = self._isolation
        lengths = self._fitted.packed_predictor.values(dataset.X, n_threads)
        scores = isolation.scores(lengths)
        offset = _quantile(scores, weights, float(self.contamination))
        self._fitted = replace(self._fitted, task=replace(isolation, offset=offset))

    def score_samples(self, X: Any) -> Floats:
        """Score of each row: the lower, the more of an outlier.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_rows,)
            -2^(-h / c) with the mean path length h of the row and the expected one, c: from -1 for
            rows that are isolated at once to 0.
        """
        lengths: Floats = self._predict_with("values", X)
        return self._isolation.scores(lengths)

    def decision_function(self, X: Any) -> Floats:
        """Score of each row minus `offset_`: below zero for outliers.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Whether rows are outliers.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            -1 for outliers, 1 for the others.
        """
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    @property
    def offset_(self) -> float:
        """Rows with `score_samples` below it are outliers."""
        return self._isolation.offset

    @property
    def max_samples_(self) -> int:
        """Rows that each tree was grown on."""
        return self._isolation.n_samples

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Not available: splits are random and do not reflect the importance of features."""
        raise AttributeError(
            "feature_importances_ needs splits that were chosen by a target; got an isolation "
            "forest, whose splits are random. To see what makes rows outliers, fit an "
            "ObliqueForestClassifier to predict(X) and look at its importances."
        )

    @property
    def _isolation(self) -> Isolation:
        task = self.fitted_forest_.task
        assert isinstance(task, Isolation)
        return task


def _with_path_lengths(forest: FlatForest, n_samples: int) -> FlatForest:
    """Return a forest of these trees with the path length of each leaf as its value.

    The path length is the depth of the leaf plus the expected depth of a tree of its rows. A leaf
    has as many of the `n_samples` rows of a tree as its share of their weight.
    """
    values = np.zeros(forest.n_nodes)
    leaves = forest.right < 0
    weight = np.asarray(forest.weight, dtype=np.float64)
    of_tree = np.repeat(weight[forest.tree_offset[:-1]], np.diff(forest.tree_offset))
    n_rows = n_samples * weight[leaves] / of_tree[leaves]
    values[leaves] = forest.depth[leaves] + average_path_length(n_rows)
    return replace(forest, leaf_value=values)


def _read_members(projection: Any, n_numeric: int) -> Sequence[ProjectionDraws]:
    """Projections that draw directions without a target."""
    members = read_projection(projection, "auto")
    if not members:  # "auto"
        n_features = max(1, min(n_numeric, max(MIN_COMBINED, math.isqrt(n_numeric))))
        return [ProjectionDraws(Gaussian(n_features), "auto", by_name=True)]
    if any(member.projection.reads_target for member in members):
        raise ValueError(
            "projection must draw directions without a target for an isolation forest; got "
            f'{shorten(projection)}. Use "auto", "gaussian", "axis", "sparse" or a rotation.'
        )
    return members


def _few_columns(
    dataset: Dataset, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]
) -> Dataset:
    """Some rows and columns, with as much of their encoding as trees are grown by."""
    X = np.asfortranarray(dataset.X.T[np.ix_(columns, rows)].T)
    levels, medians = dataset.encoding.levels[columns], dataset.encoding.medians[columns]
    encoding = Encoding(IdentityScaler(), {}, levels, medians)
    return Dataset(X, dataset.has_nan[columns], encoding)


def _check_few_columns(
    projection: Any, max_features: float, n_columns: int, shape: TableShape
) -> None:
    """Raise if a projection cannot work on a few columns."""
    n_numeric, n_nominal = min(n_columns, shape.n_numeric), min(n_columns, shape.n_nominal)
    most = TableShape(shape.n_rows, n_numeric, n_nominal)
    for member in _read_members(projection, n_numeric):
        if isinstance(member.projection, Custom | Patches):
            raise ValueError(
                f"max_features must be 1.0 with {shorten(member.projection)}, whose directions "
                f"are of given columns; got {max_features}. Leave it out, or use another "
                "projection."
            )
        try:
            resolve_families([member], most, regression=True, single_draw=True)
        except ValueError as error:
            raise ValueError(f"Trees of max_features={max_features}: {error}") from error


def _options(
    projection: Any, shape: TableShape, n_samples: int, bootstrap: bool, *, shrink: bool = False
) -> TrainingOptions:
    """Trees of random cuts, as deep as a balanced tree of the rows of a bag.

    With `shrink` a direction has no more features than there are numeric columns, whatever the
    projection says.
    """
    members = _read_members(projection, shape.n_numeric)
    if shrink:
        members = [replace(member, by_name=True) for member in members]
    families = resolve_families(members, shape, regression=True, single_draw=True)
    return TrainingOptions(
        criterion="squared_error",
        threshold="purely_random",
        n_thresholds=1,
        split_search="auto",
        growth="depth_first",
        max_depth=max(1, math.ceil(math.log2(max(n_samples, 2)))),
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_leaf=0.0,
        max_leaf_nodes=0,
        min_impurity_decrease=0.0,
        max_redraws=-1,
        split_pure_nodes=False,
        bag_size=n_samples,
        replace=bootstrap,
        balanced_subsample=False,
        families=tuple(families),
        seed=0,
    )


def _quantile(scores: Floats, weights: Floats | None, share: float) -> float:
    if weights is None:
        return float(np.percentile(scores, 100.0 * share))
    order = np.argsort(scores, kind="stable")
    below = np.cumsum(weights[order])
    return float(scores[order[np.searchsorted(below, share * below[-1])]])
