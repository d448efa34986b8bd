"""Explains the path of a row to its leaf: the rules it satisfies, with its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.printing import data_frame
from bevel.data.tables import Table, is_missing, read_table
from bevel.errors import wrong_value
from bevel.forest.flat_forest import TreeView
from bevel.html_table import html_table
from bevel.printable import printable
from bevel.text.conditions import Condition
from bevel.text.decimals import round_within, written
from bevel.text.split_text import SplitText, ThresholdSplitText
from bevel.text.style import Style
from bevel.text.tree_text import notes_text
from bevel.text.vocabulary import vocabulary_of

__all__ = ["PathRules", "path_rules"]

MOST_SPLITS = 5000  # more are not readable; each costs a tenth of a millisecond


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
    row = _Row(read_table(X), encoded, analysed.names, analysed.forest.medians)
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
    if len(way) - 1 > MOST_SPLITS:
        raise ValueError(
            f"path_rules writes paths of at most {MOST_SPLITS} splits; got one of {len(way) - 1} "
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

    def value(self, split: SplitText) -> str:
        """Value of the tested feature or combination."""
        if not isinstance(split, ThresholdSplitText):
            return self._label(split.feature)
        if split.single:
            return self._number(int(split.features[0]))
        filled = np.where(np.isnan(self.encoded), self.medians, self.encoded)
        value = float(split.values(filled)[0])
        return written(round_within(value, _fineness(split, value)))

    def values(self, splits: Sequence[SplitText]) -> tuple[str, ...]:
        """Values of all features of the splits, in the order of the columns."""
        by_levels = {q.feature for q in splits if not isinstance(q, ThresholdSplitText)}
        numeric = {int(f) for q in splits if isinstance(q, ThresholdSplitText) for f in q.features}
        return tuple(
            f"{printable(self.names[f])} = {self._label(f) if f in by_levels else self._number(f)}"
            for f in sorted(by_levels | numeric)
        )

    def _label(self, feature: int) -> str:
        label = self.table.labels(feature)[0]
        return "missing" if is_missing(label) else printable(str(label))

    def _number(self, feature: int) -> str:
        value = float(self.table.numbers(slice(0, 1), slice(feature, feature + 1))[0, 0])
        return "missing" if np.isnan(value) else written(float(f"{value:.7g}"))


def _fineness(split: ThresholdSplitText, value: float) -> float:
    """Precision to which a value may be rounded without seeming to be on the other side."""
    return min(0.49 * abs(value - split.threshold), 5e-4 * abs(value))
