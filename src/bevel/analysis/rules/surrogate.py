"""A small surrogate tree that imitates a forest, and its fidelity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Array, Floats
from bevel.analysis.accuracy.evaluation_rows import read_evaluation_rows
from bevel.analysis.analysed_forest import AnalysedForest, forest_of, read_forest
from bevel.analysis.printing import PrintedText, data_frame
from bevel.analysis.rules.conditions import (
    RowTest,
    WrittenSplits,
    read_columns,
    read_numbered,
)
from bevel.analysis.rules.rule_set import forest_predictions
from bevel.data.leaks import without_leak_alarm
from bevel.data.tables import Columns, read_table
from bevel.errors import wrong_value
from bevel.forest.task import Task
from bevel.parameters.parameter import Integer, Parameter
from bevel.printable import printable
from bevel.text.predictions import called
from bevel.text.split_text import percent, written
from bevel.text.sql import sql_value

__all__ = ["SurrogateTree", "surrogate_tree"]

N_FOLDS = 5
_REMEDY = "See the documentation of surrogate_tree."
_PARAMETERS = (
    Parameter("max_depth", 3, (Integer(1, 8),), "", _REMEDY),
    Parameter("digits", 2, (Integer(1, 9),), "", _REMEDY),
)


@dataclass(frozen=True, eq=False)
class SurrogateTree(PrintedText):
    """A small tree that imitates a forest, with rounded numbers, evaluated after rounding.

    Attributes
    ----------
    tests : tuple of RowTest or None
        Test of each node in preorder; rows that satisfy it go left. None for leaves.
    right : ndarray of int64
        Right child of each node; the left one is the next node. -1 for leaves.
    prediction : tuple
        Label or number of each node.
    share : ndarray
        Share of the rows that reach each node.
    fidelity : float
        Agreement with the forest on rows that the tree was not made from, by five-fold
        cross-validation: share of equal labels, or in regression R² (share of the variance of the
        forest's predictions that the tree explains).
    fidelity_training : float
        Agreement on the rows that the tree was made from.
    fidelity_unrounded : float
        Agreement before numbers were rounded.
    names : tuple of str
        Names of the features.
    is_classifier : bool
    """

    tests: tuple[RowTest | None, ...]
    right: npt.NDArray[np.int64]
    prediction: tuple[Any, ...]
    share: Floats
    fidelity: float
    fidelity_training: float
    fidelity_unrounded: float
    names: tuple[str, ...]
    nominal: frozenset[int]
    is_classifier: bool

    @property
    def n_leaves(self) -> int:
        return sum(test is None for test in self.tests)

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Leaf of each row, as an index into `tests`."""
        columns = read_columns(read_table(X), self.nominal, self.names).values
        return _leaves(self.tests, self.right, columns)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Prediction of each row."""
        return np.asarray(self.prediction)[self.apply(X)]

    def to_pandas(self) -> Any:
        """A frame with a row for each leaf: prediction and share of the rows."""
        leaves = [node for node, test in enumerate(self.tests) if test is None]
        predictions = [self.prediction[node] for node in leaves]
        return data_frame({"prediction": predictions, "share": self.share[leaves]}, "leaf")

    def to_sql(self) -> str:
        """The tree as an SQL expression, a nested ``CASE``; missing values are NULL."""
        return self._sql(0, "")

    def _sql(self, node: int, indent: str) -> str:
        test = self.tests[node]
        if test is None:
            return sql_value(self.prediction[node])
        deeper = indent + "  "
        left = self._sql(node + 1, deeper)
        right = self._sql(int(self.right[node]), deeper)
        return (
            f"CASE WHEN {test.sql(self.names)}\n{deeper}THEN {left}\n{deeper}ELSE {right}\n"
            f"{indent}END"
        )

    def __str__(self) -> str:
        what = "labels equal" if self.is_classifier else "of the variance explained"
        title = (
            f"surrogate tree: {self.n_leaves} leaves, imitates the model: "
            f"{percent(self.fidelity)} {what} on other rows"
        )
        lost = self.fidelity_unrounded - self.fidelity_training
        note = f"Rounded numbers cost {100 * max(lost, 0.0):.1f} points on the rows of the tree."
        return "\n".join((title, *self._lines(0, ""), note))

    __repr__ = __str__

    def _lines(self, node: int, indent: str) -> list[str]:
        test = self.tests[node]
        if test is None:
            return []
        lines = []
        children = ((node + 1, test.text(self.names)), (int(self.right[node]), "otherwise"))
        for last, (child, wording) in enumerate(children):
            leaf = self.tests[child] is None
            claim = f": {self.claim(child)}" if leaf else ""
            lines.append(f"{indent}{'└─' if last else '├─'} {wording}{claim}")
            lines += self._lines(child, indent + ("   " if last else "│  "))
        return lines

    def claim(self, node: int) -> str:
        """Prediction of a node, and its share of rows, in words."""
        value = self.prediction[node]
        wording = printable(called(str(value))) if self.is_classifier else written(float(value))
        return f"{wording}, {percent(float(self.share[node]))} of the rows"


def surrogate_tree(
    forest: object,
    X: Any,
    y: Any = None,
    *,
    max_depth: int = 3,
    splits: str = "axis",
    digits: int = 2,
    random_state: int | None = 0,
) -> SurrogateTree:
    """One small tree that imitates the predictions of a fitted forest.

    Parameters
    ----------
    forest : fitted forest of Bevel
        A fitted forest, or a fitted boosting model.
    X : array or data frame of shape (n, p)
        Rows on which the forest is imitated.
    y : array of shape (n,), default=None
        Targets, if X are the rows of the fit: then out-of-bag predictions are imitated, which
        boosting does not have.
    max_depth : int, default=3
        Splits above a leaf, at most 8.
    splits : {"axis", "sparse"}, default="axis"
        Splits of one feature, or of sums and differences of a few.
    digits : int, default=2
        Digits of weights and thresholds, counted from the spread of the columns. The result states
        the cost of rounding.
    random_state : int, default=0
        Seed of the folds for fidelity, and of directions.

    Returns
    -------
    SurrogateTree
        Tree; print it, or use `predict`, `to_sql`.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import surrogate_tree
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> tree = surrogate_tree(forest, X, y, max_depth=2)
    >>> tree.n_leaves, tree.fidelity > 0.9
    (3, True)
    """
    imitates = y is None  # predictions alone
    analysed = read_forest(forest, "surrogate_tree", trees_only=True, predictions_only=imitates)
    for parameter, value in zip(_PARAMETERS, (max_depth, digits), strict=True):
        parameter.check(value)
    if splits not in ("axis", "sparse"):
        raise wrong_value("splits", "'axis' or 'sparse'", splits, "Write splits='axis'.")
    imitated = _predictions(analysed, X, y)
    if imitated.ndim > 1:
        raise ValueError(
            "surrogate_tree needs a model with one prediction for each row; got one of "
            f"{imitated.shape[1]} quantiles. Fit a model of the quantile that you want imitated."
        )
    nominal = frozenset(analysed.fitted.encoding.nominal)
    columns = read_numbered(analysed, read_table(analysed.table(X)))
    maker = _Maker(analysed, max_depth, splits, digits, random_state)
    tests, right, prediction, share, unrounded = maker.make(columns, imitated)
    kept = np.asarray(prediction)
    fitted = kept[_leaves(tests, right, columns.values)]
    return SurrogateTree(
        tests,
        right,
        prediction,
        share,
        maker.fidelity_on_others(columns, imitated),
        analysed.task.agreement(imitated, fitted),
        analysed.task.agreement(imitated, unrounded),
        analysed.names,
        nominal,
        analysed.classes is not None,
    )


def _predictions(analysed: AnalysedForest, X: Any, y: Any) -> npt.NDArray[Any]:
    """Predictions to imitate: out of bag for the rows of the fit, or those of all trees."""
    if y is None:
        return analysed.predict(X)
    return forest_predictions(analysed, X, read_evaluation_rows(analysed, X, y, "auto"))


def _leaves(
    tests: tuple[RowTest | None, ...], right: npt.NDArray[np.int64], columns: tuple[Array, ...]
) -> npt.NDArray[np.int64]:
    leaf = np.zeros(len(columns[0]), dtype=np.int64)
    for node, test in enumerate(tests):
        here = np.flatnonzero(leaf == node)
        if test is None or not len(here):
            continue
        left = test.holds([column[here] for column in columns])
        leaf[here] = np.where(left, node + 1, right[node])
    return leaf


def _without_idle_splits(
    tests: tuple[RowTest | None, ...],
    right: npt.NDArray[np.int64],
    prediction: tuple[Any, ...],
) -> tuple[list[int], npt.NDArray[np.int64]]:
    """Remaining nodes, in preorder, and their right children.

    A split is idle if all leaves below it have the same label: it only raises purity.
    """
    labels: list[set[Any]] = [{prediction[node]} for node in range(len(tests))]
    for node in reversed(range(len(tests))):
        if tests[node] is not None:
            labels[node] = labels[node + 1] | labels[int(right[node])]
    kept: list[int] = []
    new_right: list[int] = []

    def keep(node: int) -> None:
        place = len(kept)
        kept.append(node)
        new_right.append(-1)
        if tests[node] is None or len(labels[node]) == 1:
            return
        keep(node + 1)
        new_right[place] = len(kept)
        keep(int(right[node]))

    keep(0)
    return kept, np.array(new_right, dtype=np.int64)


@dataclass(frozen=True)
class _Maker:
    """Grows small trees on columns in the user's units."""

    analysed: AnalysedForest
    max_depth: int
    splits: str
    digits: int
    random_state: int | None

    @property
    def task(self) -> Task:
        return self.analysed.task

    def make(self, columns: Columns, target: npt.NDArray[Any]) -> tuple[Any, ...]:
        """Tests, right children, predictions and shares of nodes; predictions before rounding."""
        encoding = self.analysed.fitted.encoding
        nominal = sorted(encoding.nominal.keys() - encoding.means.keys())
        kind = forest_of(self.task)
        grown = kind(
            1,
            projection=self.splits,
            n_projections="p" if self.splits == "axis" else "auto",
            scale=None,
            bootstrap=False,
            max_depth=self.max_depth,
            min_samples_leaf=max(1, len(target) // 100),
            categorical_features=nominal or None,
            random_state=self.random_state,
        )
        with without_leak_alarm():  # the target is what a forest predicts
            grown.fit(columns, target)
        rules = grown.forest_.tree(0).rules(digits=self.digits, max_terms=None)
        written_splits = WrittenSplits(read_forest(grown, "surrogate_tree"), self.analysed)
        tests = tuple(
            None if split is None else written_splits.test(split, left=True)
            for split in rules.split_texts
        )
        leaf = _leaves(tests, rules.right, columns.values)
        prediction, share = self._describe(tests, rules, leaf, target)
        unrounded = grown.predict(columns)
        if self.task.classes is None:
            return tests, rules.right, prediction, share, unrounded
        kept, right = _without_idle_splits(tests, rules.right, prediction)
        return (
            tuple(tests[node] if right[place] >= 0 else None for place, node in enumerate(kept)),
            right,
            tuple(prediction[node] for node in kept),
            share[kept],
            unrounded,
        )

    def _describe(
        self, tests: Any, rules: Any, leaf: npt.NDArray[np.int64], target: npt.NDArray[Any]
    ) -> tuple[tuple[Any, ...], Floats]:
        prediction: list[Any] = [None] * len(tests)
        share = np.zeros(len(tests))
        passing = [leaf == node for node in range(len(tests))]
        for node in reversed(range(len(tests))):
            if tests[node] is not None:
                passing[node] = passing[node + 1] | passing[int(rules.right[node])]
        for node, rows in enumerate(passing):
            above = int(rules.parent[node])
            share[node] = rows.mean()
            prediction[node] = self._typical(target[rows]) if rows.any() else prediction[above]
        return tuple(prediction), share

    def _typical(self, target: npt.NDArray[Any]) -> Any:
        if self.task.classes is None:
            return float(f"{float(target.mean()):.{self.digits + 2}g}")
        labels, counts = np.unique(target, return_counts=True)
        return labels[counts.argmax()]

    def fidelity_on_others(self, columns: Columns, target: npt.NDArray[Any]) -> float:
        n_folds = min(N_FOLDS, len(target))
        if n_folds < 2:
            return float("nan")
        rng = np.random.default_rng(self.random_state)
        fold = rng.permutation(np.arange(len(target)) % n_folds)
        found = target.copy()
        for number in range(n_folds):
            inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            if self.task.classes is not None and len(np.unique(target[inside])) < 2:
                found[outside] = target[inside][0]
                continue
            tests, right, prediction, _, _ = self.make(columns.rows(inside), target[inside])
            leaf = _leaves(tests, right, columns.rows(outside).values)
            found[outside] = np.asarray(prediction)[leaf]
        return self.task.agreement(target, found)
