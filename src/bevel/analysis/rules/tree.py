"""Trees in words: in the names and units of the user, as text, dictionary and data frame; the rules
that a row passes on its way to a leaf; and one tree of a forest as an estimator of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.printing import data_frame
from bevel.data.encoding import Encoding
from bevel.data.tables import Table, is_missing, read_table
from bevel.data.values import as_values, shown_labels, value_text
from bevel.errors import wrong_value
from bevel.estimators._base import keep_trees
from bevel.forest.flat_forest import TreeView, with_level_values
from bevel.html_table import html_table
from bevel.printable import printable
from bevel.text import ForestRules, TreeRules
from bevel.text.split_text import Condition, SplitText, ThresholdSplitText, round_within, written
from bevel.text.tree_rules import Style, notes_text
from bevel.text.vocabulary import vocabulary_of

__all__ = [
    "PathRules",
    "forest_rules",
    "path_rules",
    "single_tree",
    "tree_rules",
]


def single_tree(estimator: Any, tree: int = 0) -> Any:
    """A fitted estimator whose forest is one tree of another's.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest; it is not changed.
    tree : int, default=0
        Index of the tree; negative numbers count from the end.

    Returns
    -------
    ObliqueForestClassifier or ObliqueForestRegressor
        Estimator to predict with, or to draw with `bevel.plots.decision_boundary`.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import single_tree
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(10, random_state=0).fit(X, y)
    >>> single_tree(forest, 3).forest_.n_trees
    1
    """
    analysed = read_forest(estimator, "single_tree")
    chosen = analysed.forest.tree(tree).index
    return keep_trees(analysed.estimator, np.array([chosen]))


def tree_rules(
    estimator: Any,
    tree: int = 0,
    *,
    X: Any = None,
    max_depth: int | None = None,
    min_rows: float = 0,
    digits: int | None = 3,
    max_terms: int | None = 8,
) -> TreeRules:
    """One tree of a forest in words.

    Directions are written in the user's units under affine scales (None, "standard", "minmax"),
    largest term first and with weight 1; [x] stands for x within the bounds of the scale
    ("quantile", "minmax_clip"), rank(x) for its rank. Splits of one feature are in the user's units
    under any scale. The documentation, Topics, has more.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest.
    tree : int, default=0
        Index of the tree; negative numbers count from the end.
    X : array, data frame or sparse matrix, default=None
        Rows, such as those of the fit, for which the rounded rules must agree with the tree: where
        they do not, a rule gets more digits.
    max_depth : int, default=None
        Subtrees at this depth are replaced by their majority or mean.
    min_rows : float, default=0
        Splits with fewer training rows (by weight) on one side are replaced too.
    digits : int or None, default=3
        Digits of weights and thresholds, counted from the spread of the columns; None: exact.
    max_terms : int or None, default=8
        Number of terms of a direction that are written out.

    Returns
    -------
    TreeRules
        Rules; print them, or use `to_pandas()`, `to_dict()`, `bevel.plots.tree`.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import tree_rules
    >>> from sklearn.datasets import load_iris
    >>> data = load_iris(as_frame=True)
    >>> forest = ObliqueForestClassifier(10, projection="axis", random_state=0)
    >>> print(tree_rules(forest.fit(data.data, data.target), max_depth=1))
    tree 0 of 10: 2 leaves, depth 1, 150 rows
    ├─ petal width (cm) ≤ 0.8: class 0, 41 rows
    └─ petal width (cm) > 0.8: class 1 58 %, 109 rows …
    """
    analysed = read_forest(estimator, "tree_rules", trees_only=True, several_outputs=True)
    encoded = leaves = None
    chosen = analysed.estimator.forest_.tree(tree)
    if X is not None:
        encoded = analysed.encode(X)
        leaves = analysed.predictor.leaves(encoded, analysed.n_threads)[:, chosen.index]
    return chosen.rules(
        encoded=encoded,
        leaves=leaves,
        max_depth=max_depth,
        min_rows=min_rows,
        digits=digits,
        max_terms=max_terms,
    )


def forest_rules(
    estimator: Any,
    trees: Iterable[int] | None = None,
    *,
    max_depth: int | None = None,
    min_rows: float = 0,
    digits: int | None = 3,
    max_terms: int | None = 8,
) -> ForestRules:
    """Several trees of a forest in words, for `to_pandas()` and `to_dict()`.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest.
    trees : iterable of int, default=None
        Indices of the trees; None: all.
    max_depth, min_rows, digits, max_terms
        Parameters as in `tree_rules`.

    Returns
    -------
    ForestRules
        A `TreeRules` for each tree.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import forest_rules
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(10, random_state=0).fit(X, y)
    >>> forest_rules(forest, max_depth=2).to_pandas().shape[1]
    13
    """
    forest = read_forest(
        estimator, "forest_rules", trees_only=True, several_outputs=True
    ).estimator.forest_
    chosen = range(forest.n_trees) if trees is None else trees
    style = {
        "max_depth": max_depth,
        "min_rows": min_rows,
        "digits": digits,
        "max_terms": max_terms,
    }
    return ForestRules(tuple(forest.tree(tree).rules(**style) for tree in chosen))


# Explains the path of a row to its leaf: the rules it satisfies, with its values.

MAX_SPLITS = 5000  # more are not readable; each costs a tenth of a millisecond


@dataclass(frozen=True, eq=False)
class PathRules:
    """The path of a row down a tree.

    Attributes
    ----------
    tree, n_trees : int
        Index of the tree, and number of trees.
    node : ndarray of int64
        Nodes on the path, from the root to the leaf.
    conditions : tuple of Condition
        Conditions that the row satisfies at each split.
    values : tuple of str
        Value of the row that each split tests.
    row : tuple of str
        Values of the row in the features of these splits.
    prediction : str
        Prediction and rows of the leaf. `answer` is its former name.
    notes : tuple of str
        Notes on the rules.
    """

    tree: int
    n_trees: int
    node: npt.NDArray[np.int64]
    conditions: tuple[Condition, ...]
    values: tuple[str, ...]
    row: tuple[str, ...]
    prediction: str
    notes: tuple[str, ...]

    @property
    def answer(self) -> str:
        """Former name of `prediction`."""
        return self.prediction

    def __str__(self) -> str:
        rules = [str(condition) for condition in self.conditions]
        width = max(map(len, rules), default=0)
        steps = [
            f"{step:>2}. {rule:<{width}}   {value}"
            for step, (rule, value) in enumerate(zip(rules, self.values, strict=True), 1)
        ]
        title = f"tree {self.tree} of {self.n_trees}: {self.prediction}"
        row = (f"The row: {', '.join(self.row)}.",) if self.row else ()
        return "\n".join((title, *steps, *notes_text((*row, *self.notes))))

    def to_pandas(self) -> Any:
        """A line for each split on the path: node, rule, value of the row."""
        rules = [str(condition) for condition in self.conditions]
        return data_frame(
            {"node": self.node[:-1], "rule": rules, "value": self.values}, index="step"
        )

    def _repr_html_(self) -> str:
        rules = zip(self.conditions, self.values, strict=True)
        rows = [(str(step), str(rule), value) for step, (rule, value) in enumerate(rules, 1)]
        row = (f"The row: {', '.join(self.row)}.",) if self.row else ()
        title = f"tree {self.tree} of {self.n_trees}: {self.answer}"
        return html_table(title, ("", "rule", "value"), rows, (*row, *self.notes))

    def __repr__(self) -> str:
        return f"<a row's way down tree {self.tree}: {len(self.conditions)} rules; print to read>"


def path_rules(estimator: Any, X: Any, tree: int = 0, *, digits: int = 3) -> PathRules:
    """The rules that a row satisfies on its path down a tree.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest.
    X : array, data frame or sparse matrix of shape (1, n_features)
        The row to explain.
    tree : int, default=0
        Index of the tree; negative numbers count from the end.
    digits : int, default=3
        Number of digits, as in `tree_rules`; a rule that would not hold for the row gets more.

    Returns
    -------
    PathRules
        Rules with the row's values; print it to read them.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import path_rules
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(10, projection="axis", random_state=0).fit(X, y)
    >>> print(path_rules(forest, X[:1]))
    tree 0 of 10: class 0, 41 rows
     1. x3 ≤ 0.8   0.2
    The row: x3 = 0.2.
    """
    analysed = read_forest(estimator, "path_rules", trees_only=True, several_outputs=True)
    encoded = analysed.encode(X)
    if len(encoded) != 1:
        raise wrong_value("X", "one row", f"{len(encoded)} rows", "Pass for example X[:1].")
    chosen = analysed.forest.tree(tree)
    leaf = int(analysed.predictor.leaves(encoded, 1)[0, chosen.index])
    words = vocabulary_of(analysed.fitted)
    formatter = words.split_formatter(chosen, Style(digits=digits, max_terms=None))
    way = _way(chosen, leaf)
    _check_length(way, chosen)
    splits = [formatter.split_text(int(node), encoded) for node in way[:-1]]
    is_right = way[1:] != way[:-1] + 1  # left children follow their parents
    terms = analysed.forest.with_level_columns[1]
    given = (read_table(analysed.table(X)), encoded, analysed.names, analysed.forest.medians)
    row = _Row(*given, words.encoding, terms)
    predictions = words.predictions(chosen, way[-1:], way[-1:] + 1)
    return PathRules(
        chosen.index,
        analysed.forest.n_trees,
        way,
        tuple(split.sides[int(side)] for split, side in zip(splits, is_right, strict=True)),
        tuple(row.value(split) for split in splits),
        row.values(splits),
        predictions.summary(0),
        formatter.notes(),
    )


def _check_length(way: npt.NDArray[np.int64], tree: TreeView) -> None:
    if len(way) - 1 > MAX_SPLITS:
        raise ValueError(
            f"path_rules writes paths of at most {MAX_SPLITS} splits; got one of {len(way) - 1} "
            f"in tree {tree.index}. Choose another tree, or fit with max_depth."
        )


def _way(tree: TreeView, leaf: int) -> npt.NDArray[np.int64]:
    """Nodes from the root to a leaf."""
    parent, start = tree.forest.parent, tree.nodes.start
    way = [leaf]
    while way[-1] > 0:
        way.append(int(parent[start + way[-1]]) - start)
    return np.array(way[::-1], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Row:
    """The user's row, in the user's units and as the trees read it."""

    table: Table
    encoded: npt.NDArray[np.float32]
    names: tuple[str, ...]
    medians: npt.NDArray[np.float32]
    encoding: Encoding
    terms: npt.NDArray[np.int64]

    def value(self, split: SplitText) -> str:
        """Value of the tested feature or combination."""
        if not isinstance(split, ThresholdSplitText):
            return self._label(split.feature)
        feature = int(split.features[0])
        if split.single and feature not in self.encoding.nominal:
            return self._number(feature)
        filled = np.where(np.isnan(self.encoded), self.medians, self.encoded)
        value = float(split.values(with_level_values(filled, self.terms))[0])
        return written(round_within(value, _fineness(split, value)))

    def values(self, splits: Sequence[SplitText]) -> tuple[str, ...]:
        """Values of all features of the splits, in the order of the columns."""
        used = {q.feature for q in splits if not isinstance(q, ThresholdSplitText)}
        terms, p = self.terms[:, 0].tolist(), len(self.names)
        for split in splits:
            if isinstance(split, ThresholdSplitText):
                used |= {f if f < p else terms[f - p] for f in split.features.tolist()}
        return tuple(
            f"{printable(self.names[feature])} = {read(feature)}"
            for feature in sorted(used)
            for read in (self._label if feature in self.encoding.nominal else self._number,)
        )

    def _label(self, feature: int) -> str:
        column = self.table.labels(feature)
        label = shown_labels(column, self.encoding.nominal[feature].labels)[0]
        return "missing" if is_missing(label) else printable(str(label))

    def _number(self, feature: int) -> str:
        number = self.table.numbers(slice(0, 1), slice(feature, feature + 1))[:, 0]
        value = as_values(self.encoding.kind(feature), number)[0]
        if not isinstance(value, float | np.floating):
            return value_text(value)
        return "missing" if np.isnan(value) else written(float(f"{value:.7g}"))


def _fineness(split: ThresholdSplitText, value: float) -> float:
    """Precision to which a value may be rounded without seeming to be on the other side."""
    return min(0.49 * abs(value - split.threshold), 5e-4 * abs(value))
