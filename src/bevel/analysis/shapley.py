"""Shapley values of predictions: what each feature adds to the prediction of a row.

The game is the interventional one (Lundberg and others 2020): a coalition of features has the
values of the row, all others have those of a background row, and the forest predicts the hybrid.
Values are means over background rows and trees. Every feature of an oblique split gets its share.

Values of single trees vary much more over background rows than those of the forest. So if rows are
many, each tree draws its own: with the same number of games this is far more precise than the same
few rows for all trees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats
from bevel.analysis.analysed_forest import (
    PREDICTIONS,
    QUANTILES,
    AnalysedForest,
    column_of_class,
    explains_sums,
    name_of_output,
    read_forest,
)
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.data.tables import read_table
from bevel.data.values import as_values, shown_labels
from bevel.errors import join_names, wrong_type, wrong_value
from bevel.extras import import_optional
from bevel.parameters.parameter import Integer
from bevel.printable import rounded
from bevel.training.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ShapleyInteractions",
    "ShapleyValues",
    "check_count",
    "check_limits",
    "draw_rows",
    "path_dependent_values",
    "read_background",
    "refuse_background",
    "rows_as_given",
    "shapley_interactions",
    "shapley_values",
]

# Common arguments of the functions for Shapley values, and the shape of their results.

MAX_EXACT_FEATURES = 20


def check_limits(max_background: int | None, max_exact_features: int) -> None:
    if max_background is not None:
        check_count("max_background", max_background, 2)
    check_count("max_exact_features", max_exact_features, 0, MAX_EXACT_FEATURES)


def check_count(name: str, value: object, low: int, high: int | None = None) -> None:
    upper = "" if high is None else f" and at most {high}"
    required, remedy = f"{Integer(low)}{upper}", f"Write for example {name}={max(low, 10)}."
    if not Integer().describes(value):
        raise wrong_type(name, required, value, remedy)
    if not Integer(low).allows(value) or (high is not None and int(value) > high):  # type: ignore[call-overload]
        raise wrong_value(name, required, value, remedy)


def rows_as_given(X: Any, analysed: AnalysedForest) -> npt.NDArray[Any]:
    """The rows in the user's units: floats, or objects if not all columns are plain numbers."""
    table, encoding = read_table(analysed.table(X)), analysed.fitted.encoding
    if not (encoding.nominal or encoding.dates or encoding.truths):
        return np.array(table.numbers(slice(0, table.n_rows), slice(0, table.n_features)), float)
    rows = np.empty((table.n_rows, table.n_features), dtype=object)
    for feature in range(table.n_features):
        if feature in encoding.nominal:
            rows[:, feature] = shown_labels(table.labels(feature), encoding.nominal[feature].labels)
        else:
            numbers = table.numbers(slice(0, table.n_rows), slice(feature, feature + 1))[:, 0]
            rows[:, feature] = as_values(encoding.kind(feature), numbers)
    return rows


# Background rows of Shapley values: their weights, and the rows that each tree draws.

N_GAMES = 1000  # games of a row, if max_background is None
MIN_PER_TREE = 10


def read_background(
    analysed: AnalysedForest,
    background: Any,
    weight: Any,
    max_background: int | None,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.float32], Floats | None, npt.NDArray[np.int32] | None]:
    """Encoded rows, their weights or None, and the numbers of those that each tree draws or None.

    Weights have mean 1; rows without weight are left out.
    """
    if background is None:
        remedy = 'Give the training rows, or write feature_perturbation="tree_path_dependent".'
        raise wrong_value("background", "a table of rows to compare with", None, remedy)
    rows, weights = np.ascontiguousarray(analysed.encode(background)), None
    if weight is not None:
        weights = _read_weights(weight, len(rows))
        used = weights > 0.0
        rows, weights = np.ascontiguousarray(rows[used]), weights[used] / weights[used].mean()
    drawn = draw_rows(
        np.ones(len(rows)) if weights is None else weights,
        analysed.forest.n_trees,
        max_background,
        rng,
    )
    return rows, weights, drawn


def _read_weights(weight: Any, n_rows: int) -> Floats:
    name, required = "background_weight", f"{n_rows} finite numbers of at least 0, not all 0"
    remedy = "Give one weight for each background row."
    try:
        weights = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong_value(name, required, weight, remedy) from None
    if weights.shape != (n_rows,):
        raise wrong_value(name, required, f"an array of shape {weights.shape}", remedy)
    if not np.isfinite(weights).all() or weights.min() < 0.0 or weights.max() == 0.0:
        raise wrong_value(name, required, weight, remedy)
    return np.asarray(weights / weights.max())


def draw_rows(
    weights: Floats, n_trees: int, most: int | None, rng: np.random.Generator
) -> npt.NDArray[np.int32] | None:
    """Numbers of the rows of each tree, or None if each tree has all rows.

    A systematic sample: rows are in random order, and a row of weight w gets w times the mean
    number of slots, rounded up or down. Neighbouring slots belong to different trees.
    """
    n_rows = len(weights)
    per_tree = max(MIN_PER_TREE, -(-N_GAMES // n_trees)) if most is None else most
    if n_rows <= per_tree:
        return None
    order = rng.permutation(n_rows)
    ends = np.cumsum(weights[order])
    n_places = n_trees * per_tree
    at = (rng.random() + np.arange(n_places)) * (ends[-1] / n_places)
    places = np.minimum(np.searchsorted(ends, at, side="right"), n_rows - 1)
    return np.ascontiguousarray(order[places].astype(np.int32).reshape(per_tree, n_trees).T)


# Result of Shapley values: arrays that add up to predictions, tables, and shap's own class.

MAX_FEATURES_SHOWN = 10  # features in the printed table


@dataclass(frozen=True, eq=False, repr=False)
class ShapleyValues(PrintedResult):
    """Contributions of each feature to each prediction.

    Attributes
    ----------
    values : ndarray of shape (n, p), or (n, p, K) of a classifier with K classes
        Shapley values. ``base_values + values.sum(axis=1)`` is the prediction of each row: its
        class probabilities (shares of votes when ``voting="hard"``) or its value.
    base_values : ndarray of shape () or (K,)
        Mean prediction of the background, by each tree for its rows.
    data : ndarray of shape (n, p)
        The rows, in the user's units.
    names : tuple of str
        Names of the features.
    classes : ndarray or None
        Labels of the classes; None in regression.
    std : ndarray of the shape of `values`, or None
        Standard errors, where background rows or orders of features were drawn; None if all values
        are exact.
    sampled : float
        Share of the games (a row, a background row and a tree) that were sampled.
    n_background : int
        Number of background rows of each tree; 0 if values are path-dependent.
    output_name : str
        Name of the sum of the values, for labels.
    n_background_given : int or None
        Number of background rows that they were drawn from; None: not known.
    """

    values: Floats
    base_values: Floats
    data: npt.NDArray[Any]
    names: tuple[str, ...]
    classes: npt.NDArray[Any] | None
    std: Floats | None
    sampled: float
    n_background: int
    output_name: str = PREDICTIONS
    n_background_given: int | None = None

    @property
    def predictions(self) -> Floats:
        """Sum of base and values: the forest's prediction of each row."""
        return np.asarray(self.base_values + self.values.sum(axis=1))

    @property
    def mean_absolute(self) -> Floats:
        """Mean over rows of the absolute values, of shape (p,) or (p, K)."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    @property
    def importances(self) -> Floats:
        """Mean absolute value of each feature, over rows and classes."""
        mean = self.mean_absolute
        return mean if self.classes is None else np.asarray(mean.mean(axis=1))

    def output(self, label: Any) -> ShapleyValues:
        """The values of one class only, in the shape of a regression.

        Parameters
        ----------
        label : object
            One of `classes`.
        """
        column = column_of_class(self.classes, label)
        std = None if self.std is None else self.std[:, :, column]
        return replace(
            self,
            values=self.values[:, :, column],
            base_values=self.base_values[column],
            classes=None,
            std=std,
            output_name=name_of_output(self.output_name, label),
        )

    def to_pandas(self) -> pd.DataFrame:
        """Values as a data frame, a row for each row and a column for each feature.

        The columns of a classifier are pairs of a class and a feature. Needs pandas.
        """
        pandas: Any = import_optional("pandas", needed_by="to_pandas", install="pandas")
        columns: Any = list(self.names)
        values = self.values
        if self.classes is not None:
            pairs = [self.classes, self.names]
            columns = pandas.MultiIndex.from_product(pairs, names=["class", "feature"])
            values = values.transpose(0, 2, 1).reshape(len(values), -1)
        frame: pd.DataFrame = pandas.DataFrame(values, columns=columns)
        return frame

    def to_shap(self) -> Any:
        """The values as a ``shap.Explanation``, for the plots of shap. Needs shap.

        shap plots one output: use ``values.output(label).to_shap()`` of a classifier.
        """
        shap = import_optional("shap", needed_by="to_shap", install="shap")
        shape = (len(self.values), *self.base_values.shape)
        return shap.Explanation(
            values=self.values,
            base_values=np.broadcast_to(self.base_values, shape).copy(),
            data=self.data,
            feature_names=list(self.names),
            output_names=None if self.classes is None else [str(c) for c in self.classes],
            error_std=self.std,
        )

    def _printed(self) -> PrintedTable:
        importance = self.importances
        order = np.argsort(-importance, kind="stable")[:MAX_FEATURES_SHOWN]
        rows = [(self.names[feature], rounded(float(importance[feature]), 5)) for feature in order]
        hidden = len(self.names) - len(order)
        more = (f"... and {hidden} more features",) if hidden > 0 else ()
        return PrintedTable(self._title(), ("feature", "mean |value|"), rows, more)

    def _title(self) -> str:
        n, p = self.values.shape[:2]
        of_classes = "" if self.classes is None else f", {self._count()}"
        given = self.n_background_given
        if self.n_background == 0:
            against = "path-dependent"
        elif given is None or given == self.n_background:
            against = f"against {self.n_background} background rows"
        else:
            against = f"against {self.n_background} of {given} background rows per tree"
        if self.sampled > 0.0:
            against += f", {100 * self.sampled:.3g} % of the games sampled"
        error = ", exact" if self.std is None else f", standard error {self.std.mean():.2g}"
        return f"Shapley values: {n} rows, {p} features{of_classes}, {against}{error}"

    def _count(self) -> str:
        assert self.classes is not None
        nouns = "quantiles" if self.output_name == QUANTILES else "classes"
        return f"{len(self.classes)} {nouns}"


# Shapley interaction values: the joint contribution of two features beyond their own.

MAX_PAIRS_SHOWN = 10  # pairs in the printed table
MAX_VALUES = 2**28  # 2 GB


@dataclass(frozen=True, eq=False, repr=False)
class ShapleyInteractions(PrintedResult):
    """Contributions of each pair of features to each prediction.

    Attributes
    ----------
    values : ndarray of shape (n, p, p), or (n, p, p, K) of a classifier with K classes
        Half of the interaction of features i and j at both (i, j) and (j, i); on the diagonal the
        own contribution of a feature. The sum over one feature axis is the Shapley value of the
        other; with `base_values` all values add up to the prediction.
    base_values : ndarray of shape () or (K,)
        Mean prediction of the background, by each tree for its rows.
    data : ndarray of shape (n, p)
        The rows, in the user's units.
    names : tuple of str
        Names of the features.
    classes : ndarray or None
        Labels of the classes; None in regression.
    n_background, n_background_given : int
        Number of background rows of each tree, and number of those they were drawn from.
    output_name : str
        Name of the sum of the values.
    """

    values: Floats
    base_values: Floats
    data: npt.NDArray[Any]
    names: tuple[str, ...]
    classes: npt.NDArray[Any] | None
    n_background: int
    n_background_given: int
    output_name: str = PREDICTIONS

    @property
    def predictions(self) -> Floats:
        """Sum of base and all values: the forest's prediction of each row."""
        return np.asarray(self.base_values + self.values.sum(axis=(1, 2)))

    @property
    def strength(self) -> Floats:
        """Mean absolute interactions over rows and classes, (p, p); own effects on the diagonal."""
        mean = np.abs(self.values).mean(axis=0)
        if self.classes is not None:
            mean = mean.mean(axis=2)
        return np.asarray(mean * (2.0 - np.eye(len(mean))))

    def to_pandas(self) -> Any:
        """A frame with a row for each pair of features, the strongest first."""
        pairs = self.pairs()
        names = ("feature", "other", "strength")
        return data_frame({name: [pair[i] for pair in pairs] for i, name in enumerate(names)})

    def pairs(self) -> list[tuple[str, str, float]]:
        """Pairs of features with the strength of their interaction, the strongest first."""
        one, other = np.triu_indices(len(self.names), 1)
        strength = self.strength[one, other]
        order = np.argsort(-strength, kind="stable")
        return [(self.names[one[i]], self.names[other[i]], float(strength[i])) for i in order]

    def output(self, label: Any) -> ShapleyInteractions:
        """The values of one class only, in the shape of a regression."""
        column = column_of_class(self.classes, label)
        return replace(
            self,
            values=self.values[..., column],
            base_values=self.base_values[column],
            classes=None,
            output_name=name_of_output(self.output_name, label),
        )

    def to_shap(self) -> Any:
        """The values as a ``shap.Explanation``, for the plots of shap. Needs shap."""
        shap = import_optional("shap", needed_by="to_shap", install="shap")
        shape = (len(self.values), *self.base_values.shape)
        return shap.Explanation(
            values=self.values,
            base_values=np.broadcast_to(self.base_values, shape).copy(),
            data=self.data,
            feature_names=list(self.names),
        )

    def _printed(self) -> PrintedTable:
        pairs = self.pairs()
        rows = [
            (f"{one} × {other}", rounded(float(strength), 5))
            for one, other, strength in pairs[:MAX_PAIRS_SHOWN]
        ]
        hidden = len(pairs) - len(rows)
        more = (f"... and {hidden} more pairs",) if hidden > 0 else ()
        given = self.n_background_given
        of = "" if given == self.n_background else f" of {given}"
        title = (
            f"Shapley interactions: {len(self.values)} rows, {len(self.names)} features, against "
            f"{self.n_background}{of} background rows per tree"
        )
        return PrintedTable(title, ("features", "mean |interaction|"), rows, more)


@explains_sums
def shapley_interactions(
    forest: object,
    X: Any,
    background: Any,
    *,
    background_weight: Any = None,
    max_background: int | None = None,
    max_exact_features: int = 12,
    random_state: int | np.random.Generator | None = None,
    verbose: int = 0,
) -> ShapleyInteractions:
    """Shapley interaction values of the predictions of a fitted forest.

    The interaction of two features is the mean, over coalitions of the others, of their joint
    contribution minus the sum of their single ones (Grabisch and Roubens 1999). All games are
    exact.

    Parameters
    ----------
    forest : fitted forest of Bevel
    X : array, data frame or sparse matrix of shape (n, p)
        Rows to explain.
    background, background_weight, max_background, random_state
        Parameters as in `shapley_values`.
    max_exact_features : int, default=12
        Trees with oblique splits may distinguish 2 to this power cases for a row and a background
        row; more raise an error. At most 20.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    ShapleyInteractions

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import shapley_interactions
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = X[:, 0] * X[:, 1] + X[:, 2]
    >>> forest = ObliqueForestRegressor(50, random_state=0).fit(X, y)
    >>> found = shapley_interactions(forest, X[:20], X, random_state=0)
    >>> found.pairs()[0][:2]
    ('x0', 'x1')
    """
    analysed = read_forest(forest, "shapley_interactions")
    analysed.fitted.aggregation.check_trees_predict(analysed.caller)
    check_limits(max_background, max_exact_features)
    rng = np.random.default_rng(random_state)
    rows = np.ascontiguousarray(analysed.encode(X))
    n_values = len(rows) * analysed.forest.n_features**2 * max(1, analysed.forest.n_classes)
    if n_values > MAX_VALUES:
        remedy = "Explain fewer rows at a time."
        raise wrong_value(
            "The number of interaction values", f"at most {MAX_VALUES}", n_values, remedy
        )
    others, weights, drawn = read_background(
        analysed, background, background_weight, max_background, rng
    )
    progress = Progress(0, len(rows), verbose > 0, None, label="explaining rows")
    values, within, base = _core.shapley_interactions(
        analysed.predictor.view,
        rows,
        others,
        weights,
        drawn,
        analysed.hard,
        max_exact_features,
        analysed.n_threads,
        progress if progress.wanted else None,
    )
    if not within:
        raise wrong_value(
            "A forest of interactions",
            f"one whose trees tell at most {2**max_exact_features} cases apart",
            "one with more",
            "Raise max_exact_features (up to 20), or use a forest of sparser directions.",
        )
    if progress.wanted:
        progress(len(rows))
    return ShapleyInteractions(
        analysed.task.of_result(values),
        analysed.task.of_result(base),
        rows_as_given(X, analysed),
        analysed.names,
        analysed.classes,
        len(others) if drawn is None else drawn.shape[1],
        len(others),
        output_name=analysed.output_name,
    )


# Path-dependent Shapley values: unknown features are averaged over a node's training rows.
#
# A coalition is a set of known features. A split whose features are all known sends a row to its
# side; any other sends it to both children, with the shares of the training weight that went there.
# In trees of single features these are the values of TreeSHAP (Lundberg and others 2020). An
# unknown feature of a linear model in a leaf counts as the middle of its range there.

MAX_BOXES = 2**24  # boxes of a tree and a row; sparse trees of 20 features have some thousands


def refuse_background(given: dict[str, object]) -> None:
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise wrong_value(
            'feature_perturbation="tree_path_dependent"',
            "without a background: the weights of the nodes take its place",
            join_names(names),
            f"Leave out {join_names(names)}.",
        )


def path_dependent_values(analysed: AnalysedForest, X: Any, verbose: int) -> ShapleyValues:
    forest = analysed.forest
    if forest.is_slim:
        remedy = "Use feature_perturbation='interventional', or the forest before slimming."
        raise wrong_value(
            "A forest of path-dependent values", "with weights of its nodes", "a slim one", remedy
        )
    rows = np.ascontiguousarray(analysed.encode(X))
    progress = Progress(0, len(rows), verbose > 0, None, label="explaining rows")
    values, within, base = _core.path_values(
        analysed.predictor.view,
        np.ascontiguousarray(forest.weight, dtype=np.float32),
        rows,
        analysed.hard,
        MAX_BOXES,
        analysed.n_threads,
        progress if progress.wanted else None,
    )
    if not within:
        raise wrong_value(
            "A forest of path-dependent values",
            f"one whose trees tell at most {MAX_BOXES} cases of known features apart",
            "one with more",
            "Use feature_perturbation='interventional', which samples such trees.",
        )
    if progress.wanted:
        progress(len(rows))
    return ShapleyValues(
        analysed.task.of_result(values),
        analysed.task.of_result(base),
        rows_as_given(X, analysed),
        analysed.names,
        analysed.classes,
        None,
        0.0,
        0,
        output_name=analysed.output_name,
    )


# Shapley values of predictions: the contribution of each feature to the prediction of a row.
#
# The game is the interventional one (Lundberg and others 2020): a coalition of features has the
# values of the row, all others have those of a background row, and the forest predicts the hybrid.
# Values are means over background rows and trees. Every feature of an oblique split gets its share.
#
# Values of single trees vary much more over background rows than those of the forest. So if rows
# are many, each tree draws its own: with the same number of games this is far more precise than a
# few rows that are common to all trees.


@explains_sums
def shapley_values(
    forest: object,
    X: Any,
    background: Any = None,
    *,
    feature_perturbation: str = "interventional",
    background_weight: Any = None,
    max_background: int | None = None,
    max_exact_features: int = 12,
    n_samples: int = 4,
    random_state: int | np.random.Generator | None = None,
    verbose: int = 0,
) -> ShapleyValues:
    """Shapley values of the predictions of a fitted forest.

    Parameters
    ----------
    forest : fitted forest of Bevel
        A fitted forest of any family of directions, which may be slim.
    X : array, data frame or sparse matrix of shape (n, p)
        Rows to explain.
    background : array, data frame or sparse matrix of shape (m, p)
        Rows to compare with, such as the training rows or those of one group.
    feature_perturbation : {"interventional", "tree_path_dependent"}, default="interventional"
        Prediction when only some features are known. "interventional": the others have
        the values of a background row. "tree_path_dependent": a split on a feature that
        is not known sends the row to both children, with the shares of the training weight
        that went there; an oblique split is known if all of its features are. This one takes
        no background, nor its options.
    background_weight : array of shape (m,), default=None
        Weights of the background rows, not negative; None: equal weights.
    max_background : int, default=None
        Number of background rows of each tree, at least 2. If there are more rows, each tree
        draws its own, such that all are drawn about equally often. Time grows with it,
        and standard errors fall with its root. None: 10, and more in a forest of less than a
        hundred trees, so that there are a thousand games for each row.
    max_exact_features : int, default=12
        The game of a tree, a row and a background row is solved exactly if no more features that
        the tree tests differ between the rows, and mostly where more do but only 2 to this power
        cases have to be distinguished; otherwise it is sampled. Trees of single features are always
        exact. At most 20.
    n_samples : int, default=4
        Number of draws for each sampled game, at least 2; each draw is a random order of the
        features and its reverse.
    random_state : int, Generator or None, default=None
        Seed of background rows and orders. The number of threads does not matter.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    ShapleyValues
        Values of each feature, for each row and class; with the base they add up to the prediction.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import shapley_values
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestRegressor(50, random_state=0).fit(X, y)
    >>> shap = shapley_values(forest, X[:20], X, random_state=0)
    >>> bool(abs(shap.predictions - forest.predict(X[:20])).max() < 1e-9)
    True
    """
    analysed = read_forest(forest, "shapley_values")
    analysed.fitted.aggregation.check_trees_predict(analysed.caller)
    if feature_perturbation == "tree_path_dependent":
        given = {"background": background, "background_weight": background_weight}
        refuse_background({**given, "max_background": max_background})
        return path_dependent_values(analysed, X, verbose)
    if feature_perturbation != "interventional":
        required = "'interventional' or 'tree_path_dependent'"
        remedy = "Leave it out to compare with background rows."
        raise wrong_value("feature_perturbation", required, feature_perturbation, remedy)
    check_limits(max_background, max_exact_features)
    check_count("n_samples", n_samples, 2)
    rng = np.random.default_rng(random_state)
    rows = np.ascontiguousarray(analysed.encode(X))
    others, weights, drawn = read_background(
        analysed, background, background_weight, max_background, rng
    )
    progress = Progress(0, len(rows), verbose > 0, None, label="explaining rows")
    with progress:
        values, variances, n_sampled, base = _core.shapley_values(
            analysed.predictor.view,
            rows,
            others,
            weights,
            drawn,
            analysed.hard,
            max_exact_features,
            n_samples,
            int(rng.integers(2**64, dtype=np.uint64)),
            analysed.n_threads,
            progress if progress.wanted else None,
        )
        if progress.wanted:
            progress(len(rows))
    n_per_tree = len(others) if drawn is None else drawn.shape[1]
    return ShapleyValues(
        analysed.task.of_result(values),
        analysed.task.of_result(base),
        rows_as_given(X, analysed),
        analysed.names,
        analysed.classes,
        analysed.task.of_result(np.sqrt(variances))
        if drawn is not None or n_sampled.any()
        else None,
        float(n_sampled.mean()) / (n_per_tree * analysed.forest.n_trees),
        n_per_tree,
        output_name=analysed.output_name,
        n_background_given=len(others),
    )
