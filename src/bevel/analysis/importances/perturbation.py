"""By how much the error rises when features are perturbed: their values permuted among the rows,
also among rows that are alike, or their weights negated.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bevel import _core
from bevel._types import Float32s, Floats, Ints32
from bevel.analysis.accuracy.evaluation_rows import EvaluationRows, read_evaluation_rows
from bevel.analysis.analysed_forest import AnalysedForest, check_count, check_flag, read_forest
from bevel.analysis.importances.result import Importance
from bevel.data.encoding import MAX_STORED
from bevel.data.row_weights import read_weights
from bevel.errors import NoOutOfBagError, join_names, wrong_type, wrong_value
from bevel.forest.flat_forest import FlatForest
from bevel.printable import rounded
from bevel.training.progress import Progress

__all__ = [
    "DEFAULT_STRATA",
    "WHERE",
    "ErrorImportance",
    "Group",
    "Perturbation",
    "among",
    "check_error_of",
    "correlated_groups",
    "draw_order",
    "layers_of",
    "measure",
    "mirror",
    "negation",
    "permutation",
    "permutation_of_boosting",
    "read_groups",
    "read_strata",
    "strata_of",
    "with_weights",
]

# Groups of features that are perturbed together.


@dataclass(frozen=True)
class Group:
    """Some features under one name.

    Attributes
    ----------
    name : str
        Name to print.
    features : tuple of int
        Positions of the columns, ascending.
    number : int
        Position among all groups.
    """

    name: str
    features: tuple[int, ...]
    number: int


def read_groups(groups: object, names: Sequence[str]) -> list[Group]:
    """Read groups: a mapping of names to columns, or None for each feature by itself.

    Groups may have columns in common; columns in no group are not measured.
    """
    if groups is None:
        return [Group(name, (feature,), feature) for feature, name in enumerate(names)]
    if not isinstance(groups, Mapping):
        remedy = 'Write groups={"size": ["length", "width"]}.'
        raise wrong_type("groups", "None or a mapping of names to columns", groups, remedy)
    if not groups:
        raise wrong_value("groups", "at least one group", groups, "Leave it out for all features.")
    place = {name: feature for feature, name in enumerate(names)}
    return [
        Group(str(name), _read_columns(str(name), columns, place), number)
        for number, (name, columns) in enumerate(groups.items())
    ]


def _read_columns(group: str, columns: Any, place: Mapping[str, int]) -> tuple[int, ...]:
    what = f"groups[{group!r}]"
    if isinstance(columns, str | numbers.Integral) or not isinstance(columns, Iterable):
        columns = [columns]
    features = {_read_column(what, column, place) for column in columns}
    if not features:
        remedy = "Leave the group out, or name its columns."
        raise wrong_value(what, "at least one column", list(columns), remedy)
    return tuple(sorted(features))


def _read_column(what: str, column: object, place: Mapping[str, int]) -> int:
    required = f"columns of the fit, by name or from 0 to {len(place) - 1}"
    remedy = f"Choose from {join_names(list(place))}."
    if isinstance(column, str):
        if column not in place:
            raise wrong_value(what, required, column, remedy)
        return place[column]
    if not isinstance(column, numbers.Integral) or isinstance(column, bool):
        raise wrong_type(what, required, column, remedy)
    feature = int(column)
    if not 0 <= feature < len(place):
        raise wrong_value(what, required, column, remedy)
    return feature


def layers_of(groups: Iterable[Group], most: int) -> list[list[Group]]:
    """Groups in layers of at most `most` that have no column in common within a layer."""
    layers: list[list[Group]] = []
    used: list[set[int]] = []
    for group in groups:
        for layer, taken in zip(layers, used, strict=True):
            if len(layer) < most and taken.isdisjoint(group.features):
                break
        else:
            layer, taken = [], set()
            layers.append(layer)
            used.append(taken)
        layer.append(group)
        taken.update(group.features)
    return layers


# Strata of rows that are similar in the other features, for conditional permutation.
#
# A feature is permuted among rows of the same leaf of a small tree that predicts it from the other
# features. Rows of a leaf are similar with respect to that prediction, so that a permutation keeps
# most of its relation to them (Strobl and others 2008; with trees of the feature itself, Molnar,
# König, Bischl and Casalicchio 2023).

DEFAULT_STRATA = 16
MIN_ROWS = 10  # of a stratum, at least


def read_strata(
    analysed: AnalysedForest,
    X: Float32s,
    groups: Sequence[Group],
    weights: Floats | None,
    conditional: bool,
    n_strata: int,
) -> Ints32 | None:
    """Strata of the rows for each group, groups x rows; None unless `conditional`."""
    if check_flag("conditional", conditional):
        n_strata = check_count("n_strata", n_strata)
        return strata_of(X, analysed.forest.levels, groups, n_strata, weights)
    if n_strata != DEFAULT_STRATA:
        remedy = "Write conditional=True, or leave n_strata out."
        raise wrong_value("n_strata", "left out unless conditional=True", n_strata, remedy)
    return None


def among(strata: Ints32 | None) -> str:
    """Phrase for the description of importances."""
    return "" if strata is None else ", among rows alike in the other features"


def draw_order(
    rng: np.random.Generator, n_rows: int, strata: Ints32 | None
) -> npt.NDArray[np.int64]:
    """A random permutation of rows within their strata."""
    if strata is None:
        return rng.permutation(n_rows)
    order = np.empty(n_rows, np.int64)
    order[np.argsort(strata, kind="stable")] = np.lexsort((rng.random(n_rows), strata))
    return order


def strata_of(
    X: Float32s, levels: Ints32, groups: Sequence[Group], n_strata: int, weights: Floats | None
) -> Ints32:
    """Number of the stratum of each row, groups x rows.

    All rows are in one stratum if there is no other feature, or the feature is constant.
    """
    strata = np.zeros((len(groups), len(X)), np.int32)
    if n_strata == 1 or len(X) < 2 * MIN_ROWS:
        return strata
    for number, group in enumerate(groups):
        others = np.setdiff1d(np.arange(X.shape[1]), group.features)
        if len(others) > 0:
            strata[number] = _leaves(X, levels, group, others, n_strata, weights)
    return strata


def _leaves(
    X: Float32s,
    levels: Ints32,
    group: Group,
    others: np.ndarray,
    n_strata: int,
    weights: Floats | None,
) -> Ints32:
    columns = list(group.features)
    known = X[:, others]
    if len(columns) == 1 and levels[columns[0]] > 0:
        tree = DecisionTreeClassifier(
            max_leaf_nodes=n_strata, min_samples_leaf=MIN_ROWS, random_state=0
        )
        target = np.nan_to_num(X[:, columns[0]], nan=-1.0).astype(np.int64)
    else:
        tree = DecisionTreeRegressor(
            max_leaf_nodes=n_strata, min_samples_leaf=MIN_ROWS, random_state=0
        )
        target = np.column_stack([_standardised(X[:, column]) for column in columns])
    return np.asarray(tree.fit(known, target, sample_weight=weights).apply(known), np.int32)


def _standardised(column: Float32s) -> Floats:
    """Standardise a column, with the median in place of missing values."""
    known = column[~np.isnan(column)].astype(np.float64)
    if len(known) == 0:
        return np.zeros(len(column))
    filled = np.where(np.isnan(column), np.median(known), column.astype(np.float64))
    spread = filled.std()
    return np.asarray((filled - filled.mean()) / spread if spread > 0 else filled * 0.0)


ERRORS_OF = ("forest", "tree")
# Limits on the memory of one call of the core, in numbers: sums of 16 rows, permutations of all
# rows, increases of single trees.
MAX_SUMS, MAX_LENDERS, MAX_INCREASES = 2**19, 2**25, 2**22

# Rows that an error is measured on, by their kind.
WHERE = {
    "new": "given rows (too good if they are training rows)",
    "out-of-bag": "out-of-bag rows",
    "grown on": "training rows, in-bag",
}


SQUARED = "mean squared error"  # whose unit is that of the target, squared


@dataclass(frozen=True, eq=False, repr=False)
class ErrorImportance(Importance):
    """Increase of the error when the features of a group are perturbed.

    `values` are means over the repeats, NaN where the perturbation has no meaning; `std` is their
    standard deviation over the repeats, None for one repeat. Beside what `Importance` has:

    Attributes
    ----------
    standard_error : ndarray of shape (n_groups,)
        Standard errors of the values: over rows for the error of the forest, over trees for that of
        a tree. NaN for a single tree.
    repeats : ndarray of shape (n_groups, n_repeats)
        Increase of the error in each repeat.
    error : float
        Error of the unperturbed rows.
    error_of : {"forest", "tree"}
        Kind of error: that of all trees together, or the mean over trees.
    """

    standard_error: Floats = field(default_factory=lambda: np.empty(0))
    repeats: Floats = field(default_factory=lambda: np.empty((0, 0)))
    error: float = np.nan
    error_of: str = "forest"

    def in_percent(self) -> Self:
        """Increases of a squared error in percent of it, without unit; others as they are."""
        if SQUARED not in self.measures or not self.error > 0.0:
            return self
        factor = 100.0 / self.error
        return replace(
            self,
            values=self.values * factor,
            std=None if self.std is None else self.std * factor,
            standard_error=self.standard_error * factor,
            repeats=self.repeats * factor,
            measures=re.sub(
                rf"increase of the {SQUARED} \([^)]*\)",
                f"increase, in percent, of the {SQUARED}",
                self.measures,
            ),
        )


@dataclass(frozen=True, eq=False)
class Perturbation:
    """Perturbation of features.

    Attributes
    ----------
    kind : str
        Name of the importance.
    replacement : ndarray of float32, shape (n, p), Fortran order
        Replacement of the features.
    permutes : bool
        Whether replacements are permuted among the rows.
    n_repeats : int
        Number of repeats.
    seed : int
        Seed of the permutations.
    doing : str
        Label of the progress bar.
    strata : ndarray of int32, shape (n_groups, n), or None
        Rows of the same stratum of a group are permuted; None: all rows.
    """

    kind: str
    replacement: npt.NDArray[np.float32]
    permutes: bool
    n_repeats: int
    seed: int
    doing: str
    strata: Ints32 | None = None


def check_error_of(error_of: object) -> None:
    """Raise unless it is the name of an error."""
    if error_of not in ERRORS_OF:
        remedy = 'Use "forest" for the error of all trees together.'
        raise wrong_value("error_of", '"forest" or "tree"', error_of, remedy)


@dataclass(frozen=True, eq=False)
class _Increase:
    """Increases of the error for some groups."""

    error: float
    repeats: Floats
    standard_error: Floats


def measure(
    analysed: AnalysedForest,
    rows: EvaluationRows,
    weights: Floats | None,
    groups: Sequence[Group],
    able: Sequence[Group],
    perturbation: Perturbation,
    error_of: str,
    verbose: int,
) -> ErrorImportance:
    """Measure the groups that are `able` to be perturbed; the others are NaN.

    Groups without a common column share a call of the core, as many as fit into memory.
    """
    layers = layers_of(able, _most_groups(analysed, rows, perturbation, error_of))
    n_steps = analysed.forest.n_trees if error_of == "tree" else len(rows.X)
    progress = Progress(0, n_steps * len(layers), bool(verbose), None, label=perturbation.doing)
    repeats = np.full((len(groups), perturbation.n_repeats), np.nan)
    standard_error = np.full(len(groups), np.nan)
    error = np.nan
    with progress:
        for number, layer in enumerate(layers):
            report_progress = _reports(progress, number * n_steps)
            found = _increase(
                analysed, rows, weights, layer, perturbation, error_of, report_progress
            )
            places = [group.number for group in layer]
            repeats[places], standard_error[places] = found.repeats, found.standard_error
            error = found.error
        if progress.wanted:
            progress(n_steps * len(layers))
    return ErrorImportance(
        perturbation.kind,
        tuple(group.name for group in groups),
        repeats.mean(axis=1),
        _sentence(analysed, rows, error, error_of, perturbation),
        std=repeats.std(axis=1) if perturbation.n_repeats > 1 else None,
        standard_error=standard_error,
        repeats=repeats,
        error=error,
        error_of=error_of,
    )


def _sentence(
    analysed: AnalysedForest,
    rows: EvaluationRows,
    error: float,
    error_of: str,
    perturbation: Perturbation,
) -> str:
    """Description of the values in a sentence."""
    n_repeats = perturbation.n_repeats
    what = "classification error" if analysed.forest.n_classes else "mean squared error"
    whose = "of the forest" if error_of == "forest" else "of a tree"
    over = "rows" if error_of == "forest" else "trees"
    spread = f"std over {n_repeats} repeats, " if n_repeats > 1 else ""
    return (
        f"increase of the {what} ({rounded(error, 4)}) {whose} on {WHERE[rows.row_kind]}"
        f"{among(perturbation.strata)}; {spread}standard error over {over}"
    )


def _most_groups(
    analysed: AnalysedForest, rows: EvaluationRows, perturbation: Perturbation, error_of: str
) -> int:
    """Number of groups whose sums fit into the memory of one call of the core."""
    forest, n_repeats = analysed.forest, perturbation.n_repeats
    if error_of == "tree":
        most = MAX_INCREASES // (n_repeats * forest.n_trees)
    else:
        most = MAX_SUMS // (n_repeats * max(1, forest.n_classes))
    if perturbation.permutes:
        most = min(most, MAX_LENDERS // (n_repeats * len(rows.X)))
    return max(1, most)


def _reports(progress: Progress, n_before: int) -> Callable[[int], None] | None:
    return (lambda n_done: progress(n_before + n_done)) if progress.wanted else None


def _increase(
    analysed: AnalysedForest,
    rows: EvaluationRows,
    weights: Floats | None,
    layer: Sequence[Group],
    perturbation: Perturbation,
    error_of: str,
    report_progress: Callable[[int], None] | None,
) -> _Increase:
    """Call the core for groups that have no column in common."""
    group = np.full(analysed.forest.n_features, -1, np.int32)
    for number, member in enumerate(layer):
        group[list(member.features)] = number
    keys = np.array([member.number for member in layer], np.uint64)
    how = _core.Replacement(
        group,
        keys,
        perturbation.n_repeats,
        perturbation.permutes,
        perturbation.seed,
        None if perturbation.strata is None else perturbation.strata[keys.astype(np.intp)],
    )
    packed = analysed.predictor.packed
    arguments = (packed, rows.X, perturbation.replacement, how, rows.target, weights, rows.out)
    if error_of == "tree":
        return _over_trees(
            analysed, *_core.tree_errors(*arguments, analysed.n_threads, report_progress)
        )
    return _Increase(
        *_core.forest_errors(*arguments, analysed.hard, analysed.n_threads, report_progress)
    )


def _over_trees(analysed: AnalysedForest, error: Floats, increase: Floats) -> _Increase:
    """Means over trees, without those that evaluate no row."""
    known = ~np.isnan(error)
    if not known.any():
        raise NoOutOfBagError(
            f"{analysed.caller} needs a tree that evaluates a row of weight above zero; got none. "
            "Grow more trees, or give rows weights above zero."
        )
    # Trees side by side in memory: the sums of a group do not depend on the other groups.
    by_tree = np.ascontiguousarray(np.moveaxis(increase[known], 0, -1))
    of_tree = np.ascontiguousarray(by_tree.mean(axis=1))
    n_trees = of_tree.shape[1]
    scatter = of_tree.std(axis=1, ddof=1) if n_trees > 1 else np.full(len(of_tree), np.nan)
    return _Increase(float(error[known].mean()), by_tree.mean(axis=-1), scatter / np.sqrt(n_trees))


def correlated_groups(forest: object, X: Any, *, threshold: float = 0.7) -> dict[str, list[int]]:
    """Groups of features whose ranks are correlated.

    Permuting one of two redundant features hardly raises the error, so that both seem to matter
    little. Permuting them together measures the importance of the group.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest; each nominal column is a group by itself.
    X : array or data frame of shape (n, p)
        Rows, such as the training rows. A missing value counts as the median.
    threshold : float, default=0.7
        Features are joined, by average linkage, while the mean absolute rank correlation between
        the groups is above it.

    Returns
    -------
    dict
        Positions of the columns of each group, for ``importance(..., groups=)``. A group is named
        after its members.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import correlated_groups
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(20, random_state=0).fit(X, y)
    >>> groups = correlated_groups(forest, X, threshold=0.8)
    >>> [len(columns) for columns in groups.values()]
    [3, 1]
    """
    analysed = read_forest(forest, "correlated_groups")
    if not isinstance(threshold, float | int) or not 0.0 < threshold < 1.0:
        raise wrong_value("threshold", "between 0 and 1", threshold, "Write threshold=0.7.")
    encoded = analysed.encode(X)
    distance = 1.0 - _rank_correlation(encoded, analysed.forest.levels == 0)
    p = len(analysed.names)
    labels = np.ones(1, np.int64)
    if p > 1:
        tree = linkage(squareform(distance, checks=False), "average")
        labels = fcluster(tree, 1.0 - threshold, criterion="distance")
    groups: dict[int, list[int]] = {}
    for feature, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(feature)
    return {" + ".join(analysed.names[f] for f in group): group for group in groups.values()}


def _rank_correlation(X: Any, numeric: Any) -> Floats:
    """Absolute rank correlations; 0 for nominal and for constant features."""
    present = np.where(np.isnan(X).all(axis=0), 0.0, X)
    filled = np.where(np.isnan(present), np.nanmedian(present, axis=0), present)
    ranks = rankdata(filled, axis=0)
    ranks -= ranks.mean(axis=0)
    size = np.sqrt(np.square(ranks).sum(axis=0))
    usable = (size > 0) & numeric
    ranks[:, ~usable] = 0.0
    ranks[:, usable] /= size[usable]
    correlation = np.minimum(np.abs(ranks.T @ ranks), 1.0)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def permutation(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    *,
    out_of_bag: bool | str = "auto",
    error_of: str = "forest",
    groups: Mapping[str, Any] | None = None,
    conditional: bool = False,
    n_strata: int = DEFAULT_STRATA,
    n_repeats: int = 5,
    sample_weight: Any = None,
    random_state: int | np.random.Generator | None = None,
    verbose: int = 0,
) -> ErrorImportance:
    """Increase of the error when the values of a feature are permuted among the rows.

    The error is the share of wrong classes, or the mean squared error in regression. A feature that
    the forest does not use has importance 0; chance and misleading features give negative values.

    Parameters
    ----------
    analysed : AnalysedForest
        A fitted forest.
    X, y : array-like
        Rows: those of the fit in their order, or any others.
    out_of_bag : bool or "auto", default="auto"
        Whether each row is evaluated only by the trees whose bags it is out of. False: all trees
        evaluate it. "auto": True if these are the rows of the fit.
    error_of : {"forest", "tree"}, default="forest"
        "forest": the error of all trees together, which is that of `predict`, or one minus
        `oob_score_` of a classifier; the permutation of all rows is common to all trees. "tree":
        the mean over trees of the error of each (Breiman's); each tree has its own permutation of
        the rows that it evaluates. It is larger and finer: use it to rank features on few rows.
    groups : mapping, default=None
        Names of groups, each with columns (by name or number) whose values are permuted together.
        None measures each feature by itself.
    conditional : bool, default=False
        Whether values are permuted only among rows that are similar in the other features, so that
        a feature has importance only beyond the information of the others. Rows are similar if they
        are in the same leaf of a small tree that predicts the feature from the others.
    n_strata : int, default=16
        Largest number of leaves of that tree; with `conditional=True` only. More leaves preserve
        more of the relation to the other features, and leave less to permute.
    n_repeats : int, default=5
        Permutations of each group.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows in the error; None weighs all rows equally, also if the fit did not.
    random_state : int, Generator or None, default=None
        Seed of the permutations. The same seed gives the same result for any number of threads.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    ErrorImportance
        `values`, with their spread and standard errors.
    """
    check_error_of(error_of)
    n_repeats = check_count("n_repeats", n_repeats)
    chosen = read_groups(groups, analysed.names)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    weights = read_weights(sample_weight, None, None, len(rows.X))
    seed = int(np.random.default_rng(random_state).integers(2**64, dtype=np.uint64))
    strata = read_strata(analysed, rows.X, chosen, weights, conditional, n_strata)
    perturbation = Perturbation(
        "permutation",
        np.asfortranarray(rows.X),
        True,
        n_repeats,
        seed,
        "permuting features",
        strata,
    )
    return measure(analysed, rows, weights, chosen, chosen, perturbation, error_of, verbose)


def permutation_of_boosting(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    *,
    out_of_bag: bool | str = "auto",
    error_of: str = "forest",
    groups: Any = None,
    conditional: bool = False,
    n_strata: int = DEFAULT_STRATA,
    n_repeats: int = 5,
    sample_weight: Any = None,
    random_state: int | np.random.Generator | None = None,
    verbose: int = 0,
) -> ErrorImportance:
    """Permutation importance on new rows, of models with boosting; options as in `permutation`.

    Errors are shares of wrong classes, or mean squared errors of the predictions.
    """
    if error_of != "forest":
        remedy = "A single tree of boosting predicts nothing."
        raise wrong_value("error_of", '"forest" for boosting', error_of, remedy)
    n_repeats = check_count("n_repeats", n_repeats)
    chosen = read_groups(groups, analysed.names)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    weights = read_weights(sample_weight, None, None, len(rows.X))
    strata = read_strata(analysed, rows.X, chosen, weights, conditional, n_strata)
    weights = np.ones(len(rows.X)) if weights is None else weights
    rng = np.random.default_rng(random_state)
    before = _losses(analysed, rows, rows.X)
    error = float(np.average(before, weights=weights))
    repeats = np.empty((len(chosen), n_repeats))
    spread = np.empty(len(chosen))
    progress = Progress(0, len(chosen), bool(verbose), None, label="permuting features")
    with progress:
        for number, group in enumerate(chosen):
            rises = np.zeros(len(rows.X))
            for repeat in range(n_repeats):
                changed = rows.X.copy()
                columns = list(group.features)
                within = None if strata is None else strata[number]
                order = draw_order(rng, len(rows.X), within)
                changed[:, columns] = rows.X[order][:, columns]
                rise = _losses(analysed, rows, changed) - before
                repeats[number, repeat] = np.average(rise, weights=weights)
                rises += rise / n_repeats
            spread[number] = _standard_error(rises, weights)
            progress(number + 1)
    what = analysed.task.error_name
    return ErrorImportance(
        "permutation",
        tuple(group.name for group in chosen),
        repeats.mean(axis=1),
        f"increase of the {what} ({rounded(error, 4)}) of the model on {WHERE[rows.row_kind]}"
        f"{among(strata)}; std over {n_repeats} repeats, standard error over rows",
        std=repeats.std(axis=1) if n_repeats > 1 else None,
        standard_error=spread,
        repeats=repeats,
        error=error,
    )


def _losses(analysed: AnalysedForest, rows: EvaluationRows, X: npt.NDArray[np.float32]) -> Floats:
    if analysed.fitted.aggregation.sorts:
        raise wrong_value(
            "The model of a permutation importance",
            "one with a single prediction for each row",
            f"{analysed.fitted.aggregation.n_outputs} quantiles",
            "Fit a model of one quantile.",
        )
    return analysed.task.losses(rows.target, analysed.task.decide(analysed.columns(X)))


def _standard_error(rises: Floats, weights: Floats) -> float:
    shares = weights / weights.sum()
    return float(np.sqrt(np.sum((shares * (rises - shares @ rises)) ** 2)))


def negation(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    *,
    out_of_bag: bool | str = "auto",
    error_of: str = "forest",
    groups: Mapping[str, Any] | None = None,
    sample_weight: Any = None,
    verbose: int = 0,
) -> ErrorImportance:
    """Increase of the error when the sign of a feature's weights is flipped in all splits.

    Features are measured from their median m, in the units that the trees read (scaled): flipping
    the sign of w in w (x - m) is reading 2m - x for x, so a split on the feature alone is mirrored
    at the median. Nothing is drawn at random. A missing value counts as the median where features
    are combined, and stays missing where it stands alone.

    Parameters
    ----------
    analysed : AnalysedForest
        A fitted forest.
    X, y : array-like
        Rows: those of the fit in their order, or any others.
    out_of_bag : bool or "auto", default="auto"
        Whether each row is evaluated only by the trees whose bags it is out of. False: all trees
        evaluate it. "auto": True if these are the rows of the fit.
    error_of : {"forest", "tree"}, default="forest"
        The error of all trees together, or the mean over trees of the error of each.
    groups : mapping, default=None
        Names of groups, each with columns (by name or number) whose weights are flipped together.
        None measures each feature by itself; nominal columns, which have no weights, are NaN.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows in the error; None weighs all rows equally, also if the fit did not.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    ErrorImportance
        `values` with their standard errors; `std` is None, as there is one repeat.
    """
    check_error_of(error_of)
    chosen = read_groups(groups, analysed.names)
    able = with_weights(analysed, chosen, named=groups is not None)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    weights = read_weights(sample_weight, None, None, len(rows.X))
    mirrored = mirror(analysed.forest, rows.X)
    perturbation = Perturbation("negation", mirrored, False, 1, 0, "negating weights")
    return measure(analysed, rows, weights, chosen, able, perturbation, error_of, verbose)


def with_weights(analysed: AnalysedForest, groups: Sequence[Group], named: bool) -> list[Group]:
    """Groups of numeric columns; raises if there is none, or if a named group has others."""
    is_nominal = analysed.forest.levels > 0
    able = [group for group in groups if not is_nominal[list(group.features)].any()]
    if len(able) == len(groups) or (able and not named):
        return able
    nominal = [name for name, of in zip(analysed.names, is_nominal, strict=True) if of]
    raise ValueError(
        f"{analysed.caller} needs columns that have weights in splits; got nominal columns "
        f'({join_names(nominal)}), which are split by levels. Use kind="permutation".'
    )


def mirror(forest: FlatForest, X: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Numeric columns mirrored at their medians, limited so that sums do not overflow."""
    mirrored = np.empty(X.shape, np.float32, order="F")
    for feature, median in enumerate(forest.medians.astype(np.float64)):
        column = X[:, feature]
        if forest.levels[feature] == 0:
            column = np.clip(2.0 * median - column, -MAX_STORED, MAX_STORED)
        mirrored[:, feature] = column
    return mirrored
