"""All relevant features: those that are more important than shuffled copies, after Boruta."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from bevel._types import Bools, Floats, Indices
from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.checks import check_count
from bevel.analysis.importances.gini import gini
from bevel.analysis.importances.permutation import permutation
from bevel.analysis.rules.original_columns import read_columns
from bevel.data.columns import Columns
from bevel.data.nominal import choose_nominal
from bevel.data.tables import SparseTable, Table, read_table
from bevel.errors import wrong_type, wrong_value
from bevel.estimators._base import ObliqueForest
from bevel.estimators._named_parameters import copy_with
from bevel.estimators._whole_fits import whole_or_not_at_all

__all__ = ["AllRelevantSelector"]

FEWEST_SHADOWS = 5
IMPORTANCES = ("permutation", "gini")


class AllRelevantSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select all relevant features, by comparing them with shuffled copies of themselves.

    In each round a forest is grown on the features and on a *shadow* of each, its values shuffled
    among the rows. A feature that is more important than the best shadow has a hit. A feature with
    more hits than a fair coin would give is confirmed, one with fewer is rejected and left out of
    later rounds. Redundant features are all kept: the selection is of all relevant
    features, not of the fewest that predict well.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        Forest to grow in each round; it is cloned. Its `categorical_features` define the nominal
        columns.
    max_rounds : int, default=50
        Largest number of forests to grow; features still undecided are tentative, and not selected.
    alpha : float, default=0.05
        Level of the tests, divided by the number of features.
    importance : {"permutation", "gini"}, default="permutation"
        Importance to compare: the increase of the error of single trees on out-of-bag rows, or the
        share in the gain of splits, which is faster and needs no bags.
    random_state : int, Generator or None, default=None
        Seed of shuffles and forests.

    Attributes
    ----------
    support_ : ndarray of bool, shape (p,)
        Features that were confirmed.
    tentative_ : ndarray of bool, shape (p,)
        Features that were neither confirmed nor rejected.
    hits_ : ndarray of int, shape (p,)
        Rounds in which a feature was more important than the best shadow.
    n_rounds_ : int
        Number of rounds that were needed.

    References
    ----------
    Kursa and Rudnicki, Feature selection with the Boruta package, Journal of Statistical Software
    2010. The tests are corrected by Bonferroni as in that paper, and need no z-scores.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import AllRelevantSelector
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> y = X[:, 0] + X[:, 3] + X[:, 4]
    >>> selector = AllRelevantSelector(ObliqueForestRegressor(50), random_state=0).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['x0', 'x3', 'x4']
    """

    def __init__(
        self,
        estimator: Any,
        *,
        max_rounds: int = 50,
        alpha: float = 0.05,
        importance: str = "permutation",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.estimator = estimator
        self.max_rounds = max_rounds
        self.alpha = alpha
        self.importance = importance
        self.random_state = random_state

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any) -> Self:
        """Find the relevant features.

        Parameters
        ----------
        X : array or data frame of shape (n, p)
            Training rows; NaN and None are missing.
        y : array-like of shape (n,)
            Targets of the rows.

        Returns
        -------
        AllRelevantSelector
            The fitted selector.
        """
        self._check_parameters(y)
        table = self._read(X)
        nominal = choose_nominal(self.estimator.categorical_features, table)
        names = [f"c{feature}" for feature in range(table.n_features)]
        columns = read_columns(table, nominal, names)
        rng = np.random.default_rng(self.random_state)
        p = table.n_features
        hits = np.zeros(p, np.int64)
        confirmed, rejected = np.zeros(p, bool), np.zeros(p, bool)
        n_rounds = 0
        while n_rounds < self.max_rounds and not np.all(confirmed | rejected):
            active = np.flatnonzero(~rejected)
            hits[active] += self._round(columns, nominal, y, active, rng)
            n_rounds += 1
            open_ = ~(confirmed | rejected)
            sure = stats.binom.sf(hits - 1, n_rounds, 0.5) <= self.alpha / p
            hopeless = stats.binom.cdf(hits, n_rounds, 0.5) <= self.alpha / p
            confirmed |= open_ & sure
            rejected |= open_ & hopeless
        self.support_: Bools = confirmed
        self.tentative_: Bools = ~(confirmed | rejected)
        self.hits_ = hits
        self.n_rounds_ = n_rounds
        return self

    def _round(
        self,
        columns: Columns,
        nominal: list[int],
        y: Any,
        active: Indices,
        rng: np.random.Generator,
    ) -> Bools:
        """Which of the active features are more important than all shadows."""
        n_shadows = max(len(active), FEWEST_SHADOWS)
        shadowed = active[np.arange(n_shadows) % len(active)]
        values = [columns.values[f] for f in active]
        shadows = [rng.permutation(columns.values[f]) for f in shadowed]
        names = [f"c{n}" for n in range(len(active) + n_shadows)]
        both = Columns(tuple(names), (*values, *shadows))
        is_nominal = np.isin(np.concatenate([active, shadowed]), nominal)
        found = self._importances(both, is_nominal, y, rng)
        return np.asarray(found[: len(active)] > found[len(active) :].max())

    def _importances(
        self, table: Columns, is_nominal: Bools, y: Any, rng: np.random.Generator
    ) -> Floats:
        forest = copy_with(
            self.estimator,
            categorical_features=np.flatnonzero(is_nominal).tolist() or None,
            random_state=int(rng.integers(2**31)),
            warm_start=False,
        )
        analysed = read_forest(forest.fit(table, y), "AllRelevantSelector")
        if self.importance == "gini":
            return gini(analysed).values
        found = permutation(analysed, table, y, error_of="tree", n_repeats=1, random_state=rng)
        return found.values

    def _check_parameters(self, y: Any) -> None:
        if not isinstance(self.estimator, ObliqueForest):
            name, required = "The estimator of AllRelevantSelector", "a forest of Bevel"
            remedy = "Pass for example ObliqueForestClassifier()."
            raise wrong_type(name, required, self.estimator, remedy)
        check_count("max_rounds", self.max_rounds)
        if not isinstance(self.alpha, float | int) or not 0.0 < self.alpha < 1.0:
            raise wrong_value("alpha", "between 0 and 1", self.alpha, "Write alpha=0.05.")
        if self.importance not in IMPORTANCES:
            required = " or ".join(f'"{name}"' for name in IMPORTANCES)
            raise wrong_value("importance", required, self.importance, "Check the spelling.")
        if y is None:
            raise ValueError(
                "AllRelevantSelector grows forests and needs y, the targets of the rows; got None. "
                "This estimator requires y to be passed, but the target y is None."
            )

    def _read(self, X: Any) -> Table:
        table = read_table(X)
        if isinstance(table, SparseTable):
            required = "an array or a data frame"
            raise wrong_type("X of AllRelevantSelector", required, X, "Pass X.toarray().")
        if table.n_rows < 2:
            required = "a table of two rows or more"
            raise wrong_value("X of AllRelevantSelector", required, "n_samples = 1", "Pass more.")
        validate_data(self, table.native, reset=True, skip_check_array=True)
        return table

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags
