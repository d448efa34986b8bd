"""Importances with p-values: Altmann's permuted targets and Janitza's negative importances."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import stats
from sklearn.model_selection import StratifiedKFold

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest, check_count, read_forest
from bevel.analysis.importances.impurity import gini
from bevel.analysis.importances.perturbation import permutation
from bevel.analysis.importances.result import Importance
from bevel.analysis.importances.signs import with_directions, with_effects
from bevel.data.leaks import without_leak_alarm
from bevel.data.tables import take_rows
from bevel.errors import wrong_type, wrong_value
from bevel.estimators._base import copy_with
from bevel.training.progress import Progress

__all__ = [
    "CORRECTIONS",
    "ImportanceTest",
    "check_correction",
    "correct",
    "importance_test",
]

# Corrections of p-values for multiple tests.

CORRECTIONS = ("holm", "bonferroni", "fdr", None)


def check_correction(correction: object) -> None:
    """Raise unless it is the name of a correction, or None."""
    if correction not in CORRECTIONS:
        names = ", ".join(f'"{name}"' if name else "None" for name in CORRECTIONS)
        raise wrong_value("correction", f"one of {names}", correction, "Check the spelling.")


def correct(p_values: Floats, correction: str | None) -> Floats:
    """p-values to compare with the level of all tests together.

    Parameters
    ----------
    p_values : ndarray of shape (m,)
        p-values of the single tests.
    correction : {"holm", "bonferroni", "fdr"} or None
        "holm" and "bonferroni" bound the probability of any false discovery, Holm's being the
        sharper; "fdr" bounds the expected share of false ones (Benjamini and Hochberg).
    """
    m = len(p_values)
    if correction is None or m == 0:
        return p_values
    if correction == "bonferroni":
        return np.minimum(m * p_values, 1.0)
    order = np.argsort(p_values, kind="stable")
    ascending, rank = p_values[order], np.arange(1, m + 1)
    if correction == "holm":
        stepped = np.maximum.accumulate((m - rank + 1) * ascending)
    else:
        stepped = np.minimum.accumulate((m / rank * ascending)[::-1])[::-1]
    corrected = np.empty(m)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


FEW_NEGATIVE = 50  # negative importances that are enough for a null distribution


@dataclass(frozen=True, eq=False, repr=False)
class ImportanceTest(Importance):
    """Importances with p-values. In addition to the fields of `Importance`:

    Attributes
    ----------
    corrected : ndarray of shape (p,)
        p-values corrected for the number of features: those below 0.05 make false discoveries with
        a probability (an expected share, for "fdr") of at most 0.05 together.
    """

    corrected: Floats = field(default_factory=lambda: np.empty(0))

    def selected(self, alpha: float = 0.05) -> tuple[str, ...]:
        """Names of the features whose corrected p-value is at most `alpha`."""
        if not isinstance(alpha, float | int) or not 0.0 < alpha < 1.0:
            raise wrong_value("alpha", "between 0 and 1", alpha, "Write alpha=0.05.")
        pairs = zip(self.names, self.corrected, strict=True)
        return tuple(name for name, p_value in pairs if p_value <= alpha)


def importance_test(
    forest: object,
    X: Any,
    y: Any,
    *,
    method: str = "altmann",
    kind: str | None = None,
    groups: Mapping[str, Any] | None = None,
    rows: str | None = None,
    n_permutations: int | None = None,
    null: str | None = None,
    correction: str | None = "holm",
    effects_on: Any = None,
    random_state: int | np.random.Generator | None = None,
    verbose: int = 0,
) -> ImportanceTest:
    """Test which features matter: importances with p-values.

    The null hypothesis of a feature is that it is independent of the target.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest. Rows have equal weight in the tests.
    X, y : array-like
        The rows of the fit in their order.
    method : {"altmann", "janitza"}, default="altmann"
        - "altmann": forests are grown on permuted targets; the null distribution of a feature is
          that of its importances there (Altmann and others 2010).
        - "janitza": permutation importances below zero can only be due to chance, so that they and
          their mirror image are the null distribution (Janitza, Celik and Boulesteix 2018). Fast:
          two forests are grown, or none. For hundreds of features, most of them without importance,
          and for single p-values: it has about as many null values as features, so that few
          p-values are small enough to survive a correction.
    kind : {"permutation", "gini"}, default=None
        Importance of "altmann"; None: "permutation", the out-of-bag importance by single trees.
    groups : mapping, default=None
        Features that are permuted and tested together, as in ``importance(kind="permutation")``;
        `correlated_groups` finds those that depend on each other.
    rows : {"holdout", "out_of_bag"}, default=None
        Rows of "janitza". None or "holdout": one forest on each half of the rows is evaluated on
        the other half, as in the paper. "out_of_bag": the given forest is evaluated on its
        out-of-bag rows, and none is grown; its importances are slightly dependent.
    n_permutations : int, default=None
        Number of permuted targets of "altmann"; None: 50.
    null : {"pooled", "empirical", "normal"}, default=None
        Null distribution of "altmann". None or "pooled": importances are standardised by the mean
        and spread of the feature's own, and compared with those of all features on all permuted
        targets, so that p-values are as small as 1 / (n_permutations * p + 1). "empirical": a
        feature is compared with its own null only; no p-value is below 1 / (n_permutations + 1).
        "normal": a normal distribution with the mean and the spread of the feature's own.
    correction : {"holm", "bonferroni", "fdr"} or None, default="holm"
        Correction for the number of features.
    effects_on : array-like of shape (n, p), default=None
        Rows, such as X, over which to measure the effect of each feature, as in `importance`.
    random_state : int, Generator or None, default=None
        Seed of permutations, halves and forests.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    ImportanceTest
        Result; prints as a table, most important first; ``selected(alpha)``.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import importance_test
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 0] + X[:, 1]
    >>> forest = ObliqueForestRegressor(50, random_state=0).fit(X, y)
    >>> test = importance_test(
    ...     forest, X, y, n_permutations=20, random_state=0
    ... )
    >>> test.selected()
    ('x0', 'x1')
    """
    analysed = read_forest(forest, "importance_test")
    X, analysed = analysed.table(X), replace(analysed, steps=None)
    bags = analysed.fitted.provenance.bags
    if bags is not None and bags.groups is not None:
        raise ValueError(
            "importance_test needs rows that are independent of each other; got a forest of "
            f"{bags.groups.n_groups} groups, whose rows are not. Fit it on one row of each group, "
            'or ask importance(forest, "permutation", X, y), which gives no p-values.'
        )
    check_correction(correction)
    rng = np.random.default_rng(random_state)
    given = {"kind": kind, "rows": rows, "n_permutations": n_permutations, "null": null}
    if method == "altmann":
        _refuse(given, ("rows",), method)
        values, p_values, how = _altmann(
            analysed, X, y, kind, groups, n_permutations, null, rng, verbose
        )
    elif method == "janitza":
        _refuse(given, ("kind", "n_permutations", "null"), method)
        values, p_values, how = _janitza(analysed, X, y, groups, rows, rng)
    else:
        raise wrong_value("method", '"altmann" or "janitza"', method, "Check the spelling.")
    names = analysed.names if groups is None else tuple(str(name) for name in groups)
    by = f"corrected by {correction}" if correction else "not corrected"
    result = ImportanceTest(
        method,
        names,
        values,
        f"{how}; p-values {by} for {len(names)} tests",
        p_values=p_values,
        corrected=correct(p_values, correction),
    )
    if effects_on is None:
        return with_directions(result, analysed)
    tested: ImportanceTest = with_effects(result, analysed, effects_on)
    return tested


def _refuse(given: Mapping[str, object], names: tuple[str, ...], method: str) -> None:
    for name in names:
        if given[name] is not None:
            raise wrong_value(
                name, f'left out with method="{method}"', given[name], "Leave it out."
            )


def _choice(name: str, value: str | None, allowed: tuple[str, ...]) -> str:
    """Check a choice; None stands for the first."""
    chosen = allowed[0] if value is None else value
    if chosen not in allowed:
        names = " or ".join(f'"{each}"' for each in allowed)
        raise wrong_value(name, names, value, "Check the spelling.")
    return chosen


def _altmann(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    kind: str | None,
    groups: Mapping[str, Any] | None,
    n_permutations: int | None,
    null: str | None,
    rng: np.random.Generator,
    verbose: int,
) -> tuple[Floats, Floats, str]:
    kind = _choice("kind", kind, ("permutation", "gini"))
    null = _choice("null", null, ("pooled", "empirical", "normal"))
    n = check_count("n_permutations", 50 if n_permutations is None else n_permutations, 2)
    if kind == "gini" and groups is not None:
        raise wrong_type("groups", 'None with kind="gini"', groups, 'Use kind="permutation".')
    measure = _measure(kind, groups, rng)
    observed = measure(analysed, X, y)
    analysed.training_rows(X, y)  # raises for other rows
    progress = Progress(0, n, verbose > 0, None, label="permuting targets")
    target, draws = np.asarray(y), []
    for number in range(n):
        permuted = target[rng.permutation(len(target))]
        draws.append(measure(_refit(analysed, X, permuted, rng), X, permuted))
        if progress.wanted:
            progress(number + 1)
    found = np.array(draws)
    p_values = _TAILS[null](observed, found)
    return observed, p_values, f"{_WORDS[kind]}, against {n} forests of permuted targets"


_WORDS = {
    "permutation": "increase of the error of a tree on out-of-bag rows",
    "gini": "share of the impurity that splits remove",
}


def _empirical_tail(observed: Floats, found: Floats) -> Floats:
    return np.asarray((1 + (found >= observed).sum(axis=0)) / (1 + len(found)))


def _pooled_tail(observed: Floats, found: Floats) -> Floats:
    """Pooled p-values; the observed importance is standardised with itself among the others."""
    everything = np.vstack([observed, found])
    spread = everything.std(axis=0)
    centred = everything - everything.mean(axis=0)
    scores = centred / np.where(spread > 0, spread, 1.0)
    null = np.sort(scores[1:].ravel())
    reached = len(null) - np.searchsorted(null, scores[0], side="left")
    return np.asarray((1 + reached) / (1 + len(null)))


def _normal_tail(observed: Floats, found: Floats) -> Floats:
    spread = found.std(axis=0, ddof=1)
    excess = observed - found.mean(axis=0)
    p_values = stats.norm.sf(excess / np.where(spread > 0, spread, 1.0))
    # If importances never vary, any larger value is significant, and no other is.
    return np.where(spread > 0, p_values, np.where(excess > 0, 0.0, 1.0))


_TAILS = {"pooled": _pooled_tail, "empirical": _empirical_tail, "normal": _normal_tail}


Measure = Callable[[AnalysedForest, Any, Any], Floats]


def _measure(kind: str, groups: Mapping[str, Any] | None, rng: np.random.Generator) -> Measure:
    """Function that measures the importances of a forest grown on X and y."""
    if kind == "gini":
        return lambda analysed, X, y: gini(analysed).values  # noqa: ARG005
    return lambda analysed, X, y: (
        permutation(
            analysed,
            X,
            y,
            out_of_bag=True,
            error_of="tree",
            groups=groups,
            n_repeats=1,
            random_state=rng,
        ).values
    )


def _refit(analysed: AnalysedForest, X: Any, y: Any, rng: np.random.Generator) -> AnalysedForest:
    """Grow a forest with the same parameters on other rows or targets."""
    changed: dict[str, Any] = {"random_state": int(rng.integers(2**31)), "warm_start": False}
    if hasattr(analysed.estimator, "oob_score"):
        changed["oob_score"] = False
    forest = copy_with(analysed.estimator, **changed)
    with without_leak_alarm():
        return read_forest(forest.fit(X, y), analysed.caller)


def _janitza(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    groups: Mapping[str, Any] | None,
    rows: str | None,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, str]:
    rows = _choice("rows", rows, ("holdout", "out_of_bag"))
    if rows == "out_of_bag":
        values = _measure("permutation", groups, rng)(analysed, X, y)
        how = _WORDS["permutation"]
    else:
        values = _holdout(analysed, X, y, groups, rng)
        how = "increase of the error of a tree on rows held out"
    by_chance = values[values < 0]
    n_zero = int(np.count_nonzero(values == 0))
    if len(by_chance) + n_zero == 0:
        raise ValueError(
            "Janitza's test needs importances below zero, which chance alone gives; got none among "
            f'{len(values)}. Use method="altmann".'
        )
    if len(by_chance) < FEW_NEGATIVE:
        warnings.warn(
            f"Janitza's null distribution is made of importances below zero; got {len(by_chance)}, "
            f"so that no p-value is below {1 / (1 + 2 * len(by_chance) + n_zero):.2g}. Use "
            'method="altmann" where features are few.',
            stacklevel=4,
        )
    null = np.sort(np.concatenate([by_chance, np.zeros(n_zero), -by_chance]))
    reached = len(null) - np.searchsorted(null, values, side="left")
    return values, (1 + reached) / (1 + len(null)), f"{how}, against those below zero"


def _holdout(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    groups: Mapping[str, Any] | None,
    rng: np.random.Generator,
) -> Floats:
    """Mean importance of two forests, each grown on one half and evaluated on the other."""
    analysed.training_rows(X, y)  # raises for other rows
    target = np.asarray(y)
    halves = _halves(analysed, target, rng)
    values = []
    for grown, evaluated in (halves, halves[::-1]):
        forest = _refit(analysed, take_rows(X, grown), target[grown], rng)
        found = permutation(
            forest,
            take_rows(X, evaluated),
            target[evaluated],
            out_of_bag=False,
            error_of="tree",
            groups=groups,
            n_repeats=1,
            random_state=rng,
        )
        values.append(found.values)
    return np.asarray(np.mean(values, axis=0))


def _halves(analysed: AnalysedForest, target: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Two halves of the rows, each with its share of every class."""
    if analysed.classes is None:
        order = rng.permutation(len(target))
        middle = len(order) // 2
        return np.sort(order[:middle]), np.sort(order[middle:])
    if np.unique(target, return_counts=True)[1].min() < 2:
        raise ValueError(
            'rows="holdout" needs two rows of every class or more, one for each half; got a class '
            'of one. Use rows="out_of_bag" or method="altmann".'
        )
    folds = StratifiedKFold(2, shuffle=True, random_state=int(rng.integers(2**31)))
    first, second = next(iter(folds.split(target, target)))
    return first, second
