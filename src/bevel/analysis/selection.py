"""Feature selection: all relevant features, which do better than shuffled copies of themselves, and
stepwise forward selection by logistic regressions, for few rows and many features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from bevel._types import Bools, Floats, Indices
from bevel.analysis.analysed_forest import check_count, read_forest
from bevel.analysis.importances.impurity import gini
from bevel.analysis.importances.perturbation import permutation
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.analysis.rules.conditions import read_columns
from bevel.data.encoding import choose_nominal
from bevel.data.leaks import without_leak_alarm
from bevel.data.tables import Columns, SparseTable, Table, is_missing, read_table
from bevel.data.target import read_labels
from bevel.data.text_columns import find_texts
from bevel.errors import wrong_type, wrong_value
from bevel.estimators._base import copy_with, whole_or_not_at_all
from bevel.estimators.forest import ObliqueForest

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AllRelevantSelector",
    "CandidateScores",
    "Candidates",
    "ForwardSelection",
    "GroupSelections",
    "forward_selection",
    "group_selections",
]

MIN_SHADOWS = 5
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
        texts = find_texts(table, nominal, not isinstance(self.estimator.categorical_features, str))
        columns = read_columns(table, nominal, names, texts)
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
        n_shadows = max(len(active), MIN_SHADOWS)
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
        with without_leak_alarm():
            analysed = read_forest(forest.fit(table, y), "AllRelevantSelector")
        if self.importance == "gini":
            return gini(analysed).values
        how: dict[str, Any] = {"error_of": "tree", "n_repeats": 1, "random_state": rng}
        return permutation(analysed, table, y, out_of_bag=True, **how).values

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


# Logistic regressions on chosen features and one more, for many candidates at once.

MAX_STEPS = 50  # steps of Newton's method
MAX_NUMBERS = 4_000_000  # size of a block of design matrices


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """Error on left-out rows, squared error and log-likelihood of each candidate."""

    errors: Floats
    squared: Floats
    log_likelihoods: Floats


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rows and folds, and the features to choose from.

    Parameters
    ----------
    X : ndarray of shape (n_rows, p)
        Finite numbers, to be divided by their standard deviations.
    y : ndarray of int, shape (n_rows,)
        Classes, 0 or 1.
    folds : list of ndarray
        Rows that are left out together.
    penalty : float
        Penalty on the squares of the coefficients, except the intercept.
    names : tuple of str
        Names of the features.
    """

    X: Floats
    y: Indices
    folds: list[Indices]
    penalty: float
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        centred = self.X - self.X.mean(axis=0)
        spread = centred.std(axis=0)
        object.__setattr__(self, "X", centred / np.where(spread > 0.0, spread, 1.0))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def smaller_class(self) -> float:
        """Share of the rows of the smaller class."""
        share = float(self.y.mean())
        return min(share, 1.0 - share)

    def judge(self, chosen: Sequence[int], others: Indices) -> CandidateScores:
        """Evaluate models of the chosen features with each of the others."""
        parts = [self._judge(design) for design in self._designs(chosen, others)]
        errors, squared, likelihoods = (np.concatenate(each) for each in zip(*parts, strict=True))
        return CandidateScores(errors, squared, likelihoods)

    def _designs(self, chosen: Sequence[int], others: Indices) -> Iterator[Floats]:
        """Design matrices (block, n_rows, 1 + chosen + 1), intercept first."""
        n = len(self.y)
        fixed = np.concatenate([np.ones((n, 1)), self.X[:, list(chosen)]], axis=1)
        size = max(1, MAX_NUMBERS // (n * (fixed.shape[1] + 1)))
        for first in range(0, len(others), size):
            block = others[first : first + size]
            design = np.empty((len(block), n, fixed.shape[1] + 1))
            design[:, :, :-1] = fixed
            design[:, :, -1] = self.X[:, block].T
            yield design

    def _judge(self, design: Floats) -> tuple[Floats, Floats, Floats]:
        n = len(self.y)
        everyone = np.ones(n)
        whole = fit_logistic(design, self.y, everyone, self.penalty)
        score = np.einsum("pnk,pk->pn", design, whole)
        squared = ((_share(score) - self.y) ** 2).mean(axis=1)
        likelihood = -np.logaddexp(0.0, np.where(self.y == 1, -score, score)).sum(axis=1)
        wrong = np.zeros(len(design))
        for out in self.folds:
            weight = everyone.copy()
            weight[out] = 0.0
            beta = fit_logistic(design, self.y, weight, self.penalty, start=whole)
            said = np.einsum("pnk,pk->pn", design[:, out], beta) > 0.0
            wrong += (said != (self.y[out] == 1)).sum(axis=1)
        return wrong / n, squared, likelihood


def _share(score: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(score, -500.0, 500.0))))


def fit_logistic(
    design: Floats, y: Indices, weight: Floats, penalty: float, start: Floats | None = None
) -> Floats:
    """Fit ridge logistic regressions (first axis), without a penalty on the intercept, by Newton.

    Steps are halved while they do not lower the penalised deviance.
    """
    p, _, k = design.shape
    diagonal = np.full(k, penalty)
    diagonal[0] = 0.0
    beta = np.zeros((p, k)) if start is None else start.copy()
    loss = _loss(design, y, weight, diagonal, beta)
    for _ in range(MAX_STEPS):
        share = _share(np.einsum("pnk,pk->pn", design, beta))
        slope = np.einsum("pnk,pn->pk", design, weight * (y - share)) - beta * diagonal
        curvature = np.maximum(weight * share * (1.0 - share), 1e-12)
        hessian = np.einsum("pnk,pn,pnl->pkl", design, curvature, design, optimize=True)
        step = np.linalg.solve(hessian + np.diag(diagonal), slope[:, :, None])[:, :, 0]
        for _ in range(10):
            new_loss = _loss(design, y, weight, diagonal, beta + step)
            worse = new_loss > loss + 1e-12
            if not worse.any():
                break
            step[worse] *= 0.5
        beta = beta + step
        loss = np.minimum(loss, new_loss)
        if np.abs(step).max() < 1e-8:
            break
    return beta


def _loss(design: Floats, y: Indices, weight: Floats, diagonal: Floats, beta: Floats) -> Floats:
    score = np.einsum("pnk,pk->pn", design, beta)
    deviance = weight * np.logaddexp(0.0, np.where(y == 1, -score, score))
    return np.asarray(deviance.sum(axis=1) + 0.5 * (beta**2 * diagonal).sum(axis=1))


@dataclass(frozen=True, eq=False, repr=False)
class ForwardSelection(PrintedResult):
    """Features that were chosen one after the other, with their errors.

    Attributes
    ----------
    features : ndarray of int64, shape (n_chosen,)
        Columns in the order of choice; empty if none lowers the error.
    errors : ndarray of float64, shape (n_chosen,)
        Share of wrong predictions of rows left out, with the features so far.
    squared_errors : ndarray of float64, shape (n_chosen,)
        Mean squared error of the probabilities on all rows, with the features so far.
    log_likelihoods : ndarray of float64, shape (n_chosen,)
        Log-likelihood of all rows, with the features so far.
    error_without : float
        Share of the smaller class: the error of always predicting the larger one.
    squared_errors_alone, errors_alone : ndarray of float64, shape (p,)
        Errors of each feature by itself; NaN for features that were not candidates.
    names : tuple of str
        Names of all features.
    """

    features: Indices
    errors: Floats
    squared_errors: Floats
    log_likelihoods: Floats
    error_without: float
    squared_errors_alone: Floats
    errors_alone: Floats
    names: tuple[str, ...]

    @property
    def chosen_names(self) -> tuple[str, ...]:
        """Names of the chosen features, in the order of choice."""
        return tuple(self.names[feature] for feature in self.features)

    def _printed(self) -> PrintedTable:
        rows: list[tuple[float | str, ...]] = [("none", self.error_without, "")]
        for name, error, squared in zip(
            self.chosen_names, self.errors, self.squared_errors, strict=True
        ):
            rows.append((name, float(error), f"{squared:.4g}"))
        title = f"{len(self.features)} of {len(self.names)} features chosen"
        header = ("added", "error of rows left out", "mean squared error")
        return PrintedTable(title, header, rows)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each chosen feature; needs pandas."""
        columns = {
            "feature": list(self.chosen_names),
            "error": self.errors,
            "squared_error": self.squared_errors,
            "log_likelihood": self.log_likelihoods,
        }
        table: pd.DataFrame = data_frame(columns)
        return table


@dataclass(frozen=True, eq=False, repr=False)
class GroupSelections(PrintedResult):
    """A selection within each group of features, the best group first.

    Attributes
    ----------
    by_group : dict
        `ForwardSelection` of each group; fewest errors first, then the greatest likelihood.
    """

    by_group: Mapping[Any, ForwardSelection]

    @property
    def perfect(self) -> list[Any]:
        """Groups with features that predict all left-out rows correctly."""
        return [g for g, found in self.by_group.items() if _last_error(found) == 0.0]

    def _printed(self) -> PrintedTable:
        rows = [
            (str(group), ", ".join(found.chosen_names) or "none", _last_error(found))
            for group, found in self.by_group.items()
        ]
        title = f"{len(self.perfect)} of {len(rows)} groups err on no row left out"
        most = 20
        notes = [] if len(rows) <= most else [f"… and {len(rows) - most} more"]
        return PrintedTable(title, ("group", "chosen", "error"), rows[:most], notes)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each group; needs pandas."""
        found = list(self.by_group.values())
        columns = {
            "group": list(self.by_group),
            "features": [", ".join(each.chosen_names) for each in found],
            "error": [_last_error(each) for each in found],
        }
        table: pd.DataFrame = data_frame(columns)
        return table


def _last_error(found: ForwardSelection) -> float:
    return float(found.errors[-1]) if len(found.errors) else found.error_without


def forward_selection(
    X: Any,
    y: Any,
    *,
    n_features: int | None = None,
    cv: int | None = None,
    penalty: float = 0.1,
) -> ForwardSelection:
    """Add features to a logistic regression until its cross-validated error no longer falls.

    In each step every feature that is not chosen yet is tried beside those that are. The one with
    the fewest wrong predictions of rows that were left out of the fit is added; ties go to the
    model of greatest likelihood (Tomita's thesis, 4.2.2). The selection ends when no
    feature lowers the error.

    Parameters
    ----------
    X : array or data frame of shape (n_rows, p)
        Numeric columns without missing values.
    y : array-like of shape (n_rows,)
        Two classes.
    n_features : int, default=None
        Number of features to choose, regardless of the error; None stops as described.
    cv : int, default=None
        Number of folds of the cross-validation, stratified by class; None leaves out one
        row at a time, as the thesis does.
    penalty : float, default=0.1
        Penalty on the squares of the coefficients of features divided by their standard deviations.
        The thesis has none, but classes that a feature separates have no finite fit without it.

    Returns
    -------
    ForwardSelection

    Examples
    --------
    >>> import numpy as np
    >>> from bevel.analysis import forward_selection
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(200, 20)), np.arange(200) % 2
    >>> X[:, [3, 8]] += 2.0 * y[:, None]  # the markers
    >>> forward_selection(X, y, n_features=2).chosen_names
    ('x8', 'x3')
    """
    candidates = _read(X, y, cv, penalty)
    if n_features is not None:
        check_count("n_features", n_features)
        if n_features > candidates.n_features:
            required = f"at most the number of columns ({candidates.n_features})"
            raise wrong_value("n_features", required, n_features, "Choose fewer.")
    everyone = np.arange(candidates.n_features)
    return _select(candidates, everyone, n_features)


def group_selections(
    X: Any, y: Any, groups: Any, *, cv: int | None = None, penalty: float = 0.1
) -> GroupSelections:
    """Select features within each group by itself, such as the peptides of one protein.

    Parameters
    ----------
    X : array or data frame of shape (n_rows, p)
        Numeric columns without missing values.
    y : array-like of shape (n_rows,)
        Two classes.
    groups : sequence of length p
        Group of each column.
    cv, penalty
        Parameters as in `forward_selection`, whose rule is applied within each group.

    Returns
    -------
    GroupSelections
        Selections of the groups, the best group first.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel.analysis import group_selections
    >>> from bevel.datasets import biomarkers
    >>> X, y = biomarkers(100, 100, 60, random_state=0)
    >>> proteins = np.arange(60) % 20
    >>> found = group_selections(X, y, proteins)
    >>> list(found.by_group)[:2]  # those of the two markers
    [0, 1]
    """
    candidates = _read(X, y, cv, penalty)
    labels = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    if len(labels) != candidates.n_features:
        raise ValueError(
            f"groups must be one label for each of the {candidates.n_features} columns; got "
            f"{len(labels)} labels. Pass one for each."
        )
    members: dict[Any, list[int]] = {}
    for feature, label in enumerate(labels):
        members.setdefault(label, []).append(feature)
    found = {
        label: _select(candidates, np.array(features), None) for label, features in members.items()
    }

    def rank(label: Any) -> tuple[float, float]:
        likelihood = found[label].log_likelihoods
        return _last_error(found[label]), -float(likelihood[-1]) if len(likelihood) else np.inf

    return GroupSelections({label: found[label] for label in sorted(found, key=rank)})


def _select(candidates: Candidates, allowed: Indices, n_features: int | None) -> ForwardSelection:
    # Not a fit without features: with equal classes each left-out row would be predicted wrongly.
    error = without = candidates.smaller_class
    chosen: list[int] = []
    steps: list[tuple[float, float, float]] = []
    alone: CandidateScores | None = None
    most = len(allowed) if n_features is None else n_features
    while len(chosen) < most:
        left = np.setdiff1d(allowed, chosen)
        judged = candidates.judge(chosen, left)
        alone = alone or judged
        best = int(np.lexsort((-judged.log_likelihoods, judged.errors))[0])
        if n_features is None and not judged.errors[best] < error:
            break
        error = float(judged.errors[best])
        chosen.append(int(left[best]))
        steps.append((error, float(judged.squared[best]), float(judged.log_likelihoods[best])))
    of_steps = np.array(steps).reshape(-1, 3)
    of_features = np.full((2, candidates.n_features), np.nan)
    if alone is not None:
        of_features[:, allowed] = alone.squared, alone.errors
    return ForwardSelection(
        features=np.array(chosen, np.int64),
        errors=of_steps[:, 0],
        squared_errors=of_steps[:, 1],
        log_likelihoods=of_steps[:, 2],
        error_without=without,
        squared_errors_alone=of_features[0],
        errors_alone=of_features[1],
        names=candidates.names,
    )


def _read(X: Any, y: Any, cv: int | None, penalty: float) -> Candidates:
    table = read_table(X)
    nominal = table.nominal_by_dtype()
    if nominal:
        got = f"labels in column {table.describe(nominal[0])}"
        raise ValueError(f"X must hold numbers; got {got}. Leave such columns out.")
    shape = slice(0, table.n_rows), slice(0, table.n_features)
    numbers = np.array(table.numbers(*shape), np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(
            "X must hold finite numbers; got missing or infinite values. Drop or impute such rows."
        )
    classes, labels = read_labels(y, table.n_rows)
    codes = labels.astype(np.int64)
    if len(classes) != 2:
        raise ValueError(
            f"y must have two classes; got {len(classes)}. Compare one class with the others."
        )
    if not isinstance(penalty, float | int) or is_missing(penalty) or not penalty > 0:
        raise wrong_value("penalty", "a number above 0", penalty, "Write penalty=0.1.")
    names = tuple(_name(X, feature) for feature in range(table.n_features))
    return Candidates(numbers, codes, _folds(codes, cv), float(penalty), names)


def _name(X: Any, feature: int) -> str:
    columns = getattr(X, "columns", None)
    return f"x{feature}" if columns is None else str(columns[feature])


def _folds(codes: Indices, cv: int | None) -> list[Indices]:
    """Folds of rows; every class stays among the other rows."""
    smallest = int(np.bincount(codes).min())
    if cv is None:
        fold = np.arange(len(codes))
    else:
        check_count("cv", cv, 2)
        fold = np.empty(len(codes), np.int64)
        for code in (0, 1):
            rows = np.flatnonzero(codes == code)
            fold[rows] = np.arange(len(rows)) % cv
    if smallest < 2:
        raise ValueError(
            "y must have two rows or more of each class, as one of them is left out; got "
            f"{smallest} of the rarer class. Pass more rows."
        )
    return [np.flatnonzero(fold == each) for each in np.unique(fold)]
