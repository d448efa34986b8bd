"""Stepwise forward selection by logistic regressions, for few rows and many features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bevel._types import Floats, Indices
from bevel.analysis.checks import check_count
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.analysis.selection.logistic_candidates import Candidates, Judged
from bevel.data.tables import is_missing, read_table
from bevel.data.target import read_labels
from bevel.errors import wrong_value

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ForwardSelection", "GroupSelections", "forward_selection", "group_selections"]


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
    alone: Judged | None = None
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
