"""The oblique gradient boosting ranker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.row_groups import RowOrder, read_groups
from bevel.data.row_weights import read_weights
from bevel.data.target import read_numbers
from bevel.errors import wrong_type, wrong_value
from bevel.estimators._base import whole_or_not_at_all
from bevel.estimators._boosted_trees import GivenRows, _record, read_eval_set
from bevel.estimators.boosting import ObliqueBoosting
from bevel.estimators.registry import savable
from bevel.forest.ranking import MAX_RELEVANCE, mean_ndcg
from bevel.forest.task import Ranking, Task
from bevel.parameters.boosting_parameters import BOOSTING_RANKER_PARAMETERS
from bevel.parameters.forest_parameters import documented
from bevel.parameters.parameter import Parameter, check_each
from bevel.scanning import ScannedTable
from bevel.training.boosting import OF_RANKINGS, BoostingDefaults, BoostingTarget
from bevel.training.progress import Callback

Labels = npt.NDArray[np.uint32]


@savable
@documented(BOOSTING_RANKER_PARAMETERS)
class ObliqueBoostingRanker(ObliqueBoosting):
    """Gradient boosting that ranks the rows of each query, such as the results of a search.

    Trees cut single features and, by default, sparse combinations of them, which are drawn anew for
    each iteration. They learn from pairs of rows of one query, of which the more relevant one
    should come first; each pair counts by what its order changes in NDCG (LambdaMART, Burges 2010).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {columns}
    {trees}
    n_iter_ : int
        Number of iterations in the model.
    train_score_ : ndarray of shape (n_iterations,)
        NDCG at `eval_at` of the training queries, after each iteration.
    validation_score_ : ndarray of shape (n_iterations,)
        NDCG of the validation queries; empty without early stopping.
    best_iteration_ : int
        Number of iterations of the highest validation NDCG; `n_iter_` without validation queries.
    evals_result_ : dict
        The two curves by data and measure, as LightGBM and XGBoost have them.

    Examples
    --------
    >>> from bevel import ObliqueBoostingRanker
    >>> from bevel.datasets import search_results
    >>> X, y, query = search_results(60, random_state=0)
    >>> model = ObliqueBoostingRanker(max_iter=20, random_state=0).fit(X, y, groups=query)
    >>> first_query = model.predict(X[query == 0])  # the higher, the earlier
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = BOOSTING_RANKER_PARAMETERS
    _tasks: ClassVar[tuple[type[Task], ...]] = (Ranking,)
    _defaults: ClassVar[BoostingDefaults] = OF_RANKINGS
    _estimator_type = "ranker"
    scoring: ClassVar[str] = "loss"  # type: ignore[misc]
    multi_strategy: ClassVar[str] = "one_output_per_tree"
    eval_at: int

    def __init__(
        self,
        loss: str = "lambdarank",
        *,
        eval_at: int = 10,
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        projection: Any = "auto",
        n_projections: int | float | str = "auto",
        growth: str = "symmetric",
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = 6,
        min_samples_leaf: int = 5,
        l2_regularization: float = 3.0,
        max_bins: int = 255,
        subsample: float = 1.0,
        row_sampling: str = "uniform",
        early_stopping: bool | str = "auto",
        validation_fraction: float | str = "auto",
        refit: bool | str = "auto",
        n_iter_no_change: int = 50,
        tol: float = 1e-7,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.loss = loss
        self.eval_at = eval_at
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.projection = projection
        self.n_projections = n_projections
        self.growth = growth
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.subsample = subsample
        self.row_sampling = row_sampling
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.scale = scale
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    @whole_or_not_at_all
    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        group: Any = None,
        qid: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        groups_val: Any = None,
        eval_set: Any = None,
        eval_group: Any = None,
    ) -> Self:
        """Grow the trees.

        Ctrl-C raises KeyboardInterrupt. The estimator then has the iterations that were done, or
        the model of the last stage that was finished.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows, as for the other boosting estimators. NaN and None are missing values.
        y : array-like of shape (n_rows,)
            Relevance of each row for its query: numbers from 0 to 30, usually grades from 0 (not
            relevant) to 4. A row of relevance r gains 2^r - 1.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, zero or more. A row of weight zero has no effect: it is in no
            ranking. NDCG weighs a query by the mean weight of its rows.
        groups : array-like of shape (n_rows,), default=None
            Label of the query of each row, in any order. One of `groups`, `group` and `qid` is
            required.
        group : array-like of int, default=None
            Instead, the number of rows of each query, which then follow each other, as in LightGBM.
        qid : array-like of shape (n_rows,), default=None
            Another name of `groups`, as in XGBoost.
        X_val : array, data frame or sparse matrix of shape (n_validation, n_features), default=None
            Rows of validation queries, whose NDCG decides when to stop.
        y_val : array-like of shape (n_validation,), default=None
            Relevance of the validation rows.
        sample_weight_val : array-like of shape (n_validation,), default=None
            Weights of the validation rows.
        groups_val : array-like of shape (n_validation,), default=None
            Label of the query of each validation row; required with `X_val`.
        eval_set : list of (X_val, y_val), or such a pair, default=None
            Another way to pass validation rows, as in LightGBM and XGBoost.
        eval_group : list of array-like of int, default=None
            Numbers of rows of the queries of `eval_set`, as in LightGBM, instead of `groups_val`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if isinstance(X, ScannedTable):
            raise TypeError(
                "X must be a table in memory for a ranker, which needs the rows of each query "
                "together; got a scanned table. Read the table into memory."
            )
        check_each(self._own_parameters(), self._parameters)  # before the queries are asked for
        X_val, y_val = read_eval_set(eval_set, (X, y), (X_val, y_val))
        queries = _one_of(groups, group, qid, _n_rows(X))
        validation = GivenRows(X_val, y_val, sample_weight_val)
        if X_val is not None:
            labels = _queries_to_validate(groups_val, eval_group, _n_rows(X_val))
            validation = validation._replace(groups=labels)
        elif groups_val is not None or eval_group is not None:
            name = "groups_val" if eval_group is None else "eval_group"
            remedy = "Leave it out, or pass the validation rows too."
            raise wrong_value(name, "None without validation rows", "queries", remedy)
        self._fit_in_memory(GivenRows(X, y, sample_weight, queries), validation)
        return self

    def predict(self, X: Any, *, n_iterations: int | None = None) -> Floats:
        """Score of each row; the rows of a query are ranked by it, the highest first.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        n_iterations : int, default=None
            Use the first iterations only; None uses all.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores, comparable within a query.
        """
        scores: Floats = self._decode(self._raw(X, n_iterations))
        return scores

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        group: Any = None,
        qid: Any = None,
    ) -> float:
        """NDCG at `eval_at` of the predicted scores.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        y : array-like of shape (n_rows,)
            Relevance of the rows.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.
        groups, group, qid : array-like, default=None
            Queries of the rows, as in `fit`.

        Returns
        -------
        float
            Mean over the queries that have a relevant row; the best value is 1. Rows of equal
            scores share their places.
        """
        scores = self.predict(X)
        queries = _one_of(groups, group, qid, len(scores))
        weights = read_weights(sample_weight, None, None, len(scores))
        relevance = _relevance(y, len(scores), "y")
        codes = _codes(queries, len(scores))
        return mean_ndcg(relevance, scores, codes, int(self.eval_at), weights)

    @property
    def evals_result_(self) -> dict[str, dict[str, list[float]]]:
        """NDCG after each iteration by data, as LightGBM and XGBoost have it."""
        record, name = _record(self.fitted_forest_), f"ndcg@{self.eval_at}"
        found = {"training": {name: record.training_score.tolist()}}
        if len(record.validation_score):
            found["validation"] = {name: record.validation_score.tolist()}
        return found

    def _task(self) -> Task:
        return Ranking()

    def _loss(self) -> tuple[str, str, int]:
        return self.loss, "identity", 1

    def _loss_options(self) -> dict[str, Any]:
        return {"eval_at": int(self.eval_at)}

    def _read_target(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        weights = read_weights(sample_weight, None, None, n_rows)
        return BoostingTarget(_relevance(y, n_rows, "y"), weights, None)

    def _read_validation(self, y: Any, sample_weight: Any, n_rows: int) -> BoostingTarget:
        weights = read_weights(sample_weight, None, None, n_rows)
        return BoostingTarget(_relevance(y, n_rows, "y_val"), weights, None)

    def _checked_target(self, values: Floats) -> Floats:
        return values

    def _in_order(self, target: BoostingTarget, order: RowOrder) -> BoostingTarget:
        if order.groups is None:
            raise ValueError(
                "groups must have queries of several rows, which are ranked; got a query for each "
                f"of the {len(target.values)} rows. Pass the label of the query of each row."
            )
        return replace(target, groups=order.groups.codes)


def _relevance(y: Any, n_rows: int, name: str) -> Floats:
    values = read_numbers(y, n_rows)
    wrong = np.flatnonzero((values < 0.0) | (values > MAX_RELEVANCE))
    if len(wrong):
        raise ValueError(
            f"{name} must hold relevances from 0 to {MAX_RELEVANCE:g}; got {values[wrong[0]]:g} "
            f"(row index {wrong[0]}) in {len(wrong)} of {n_rows} rows. Grade the rows, with 0 for "
            "those that are not relevant."
        )
    return values


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _one_of(groups: Any, sizes: Any, qid: Any, n_rows: int) -> Any:
    """Labels of the queries of the rows, by whichever argument has them."""
    given = {"groups": groups, "group": sizes, "qid": qid}
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        got = " and ".join(names) or "none of them"
        raise ValueError(
            "A ranking needs the queries of the rows by one of groups, group and qid; got "
            f"{got}. Pass groups=, the label of the query of each row."
        )
    return _labels_of_sizes(sizes, n_rows, "group") if names == ["group"] else given[names[0]]


def _labels_of_sizes(sizes: Any, n_rows: int, name: str) -> Labels:
    """Number of the query of each row; queries of these numbers of rows follow each other."""
    try:
        counts = np.asarray(sizes)
        good = counts.ndim == 1 and counts.dtype.kind in "iu" and bool((counts > 0).all())
    except ValueError:
        good = False
    required = "a list of whole numbers above 0, the rows of each query"
    if not good:
        raise wrong_type(name, required, sizes, "Labels of rows are given as groups=.")
    if int(counts.sum()) != n_rows:
        raise ValueError(
            f"{name} must add up to the {n_rows} rows of X; got {int(counts.sum())}. Pass the "
            "number of rows of each query, or labels of rows as groups=."
        )
    return np.repeat(np.arange(len(counts), dtype=np.uint32), counts)


def _queries_to_validate(labels: Any, sizes: Any, n_rows: int) -> Any:
    """Labels of the queries of validation rows."""
    if (labels is None) == (sizes is None):
        got = "neither" if labels is None else "both"
        raise ValueError(
            "Validation rows need their queries by one of groups_val and eval_group; got "
            f"{got}. Pass groups_val=, the label of the query of each validation row."
        )
    if sizes is None:
        return labels
    given = [each for each in sizes if np.ndim(each) > 0] if isinstance(sizes, list) else []
    return _labels_of_sizes(given[-1] if given else sizes, n_rows, "eval_group")


def _codes(labels: Any, n_rows: int) -> Labels:
    """Numbers of the queries of rows that are scored."""
    groups = read_groups(labels, n_rows, least=1)
    return np.arange(n_rows, dtype=np.uint32) if groups is None else groups.codes
