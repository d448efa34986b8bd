"""Names of features and classes, units and notes, used to print a forest."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Float32s, Floats, Ints64
from bevel.data.encoding import Encoding
from bevel.data.values import day_text, floored, label_words, term_name
from bevel.errors import join_names
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.flat_forest import CATEGORY_NODE, MISSING_LEFT, TreeView, with_level_values
from bevel.forest.task import SeveralOutputs, Survival, Task
from bevel.printable import MINUS, printable
from bevel.text.predictions import (
    NodePredictions,
    OutputPredictions,
    read_output_predictions,
    read_predictions,
    read_survival_predictions,
)
from bevel.text.split_text import (
    LevelSplitText,
    SplitText,
    ThresholdSplitText,
    Units,
    format_level_split,
    format_threshold_split,
    in_a_sum,
    is_by_levels,
    level_split,
    round_within,
    units_of,
    write_sum,
    written,
)
from bevel.text.tree_rules import Style, TreeRules, read_tree

__all__ = ["Vocabulary", "vocabulary_of"]


RANGES_NOTE = "Sums in leaves cut each feature to its range among the training rows of the leaf."
MAX_DIGITS = 6  # digits tried before a rule is written exactly


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Names and units of a forest, used to print it.

    Attributes
    ----------
    names : tuple of str
        Printable names of the features.
    task : Task
        What the forest predicts.
    encoding : Encoding
        Encoding of the user's columns.
    sums : tuple of str
        Names of the sums of boosted trees, to which tree t adds modulo their number; else empty.
    """

    names: tuple[str, ...]
    task: Task
    encoding: Encoding
    sums: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in ("names", "sums"):
            object.__setattr__(self, field, tuple(map(printable, getattr(self, field))))

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Printable names of the classes in leaves; empty in regression and for boosted trees."""
        labels = self.task.classes
        return () if self.sums or labels is None else tuple(printable(str(c)) for c in labels)

    @cached_property
    def units(self) -> Units:
        """Units of scaled values."""
        return units_of(self.encoding.scaler, len(self.names))

    @cached_property
    def _labels(self) -> Mapping[int, tuple[str, ...]]:
        return {
            feature: label_words(levels.labels) + (("missing",) if levels.has_missing else ())
            for feature, levels in self.encoding.nominal.items()
        }

    def with_levels(self, terms: Ints64) -> Vocabulary:
        """Names and units of a table that has a column of 0 and 1 for each of some levels.

        terms: nominal feature and level of each column, as rows.
        """
        if not len(terms):
            return self
        names = [f"({self.names[f]} is {self._labels[f][level]})" for f, level in terms.tolist()]
        widened = replace(self, names=(*self.names, *names))
        vars(widened)["units"] = self.units.with_indicators(len(terms))
        return widened

    def rules(
        self,
        tree: TreeView,
        encoded: Float32s | None = None,
        leaves: npt.NDArray[np.int32] | None = None,
        **style: Any,
    ) -> TreeRules:
        """The tree as text; with rows and their leaves, with enough digits to route them."""
        found = read_tree(self, tree, Style(**style), encoded, leaves)
        if tree.forest.has_leaf_models:
            found = replace(found, notes=(*found.notes, RANGES_NOTE))
        if not self.sums:
            return found
        of = self.sums[tree.index % len(self.sums)]
        return replace(found, notes=(f"Leaves: what the tree adds to the {of}.", *found.notes))

    def predictions(
        self, tree: TreeView, node: npt.NDArray[np.int64], end: npt.NDArray[np.int64]
    ) -> NodePredictions | OutputPredictions:
        """Predictions of nodes whose subtrees end before `end`."""
        if isinstance(self.task, SeveralOutputs):
            return read_output_predictions(tree, node, end, self.task)
        if isinstance(self.task, Survival):
            return read_survival_predictions(tree, node, end, self.task)
        found = read_predictions(tree, node, end, self.classes)
        if not tree.forest.has_leaf_models:
            return found
        models = {place: self._model(tree, leaf) for place, leaf in enumerate(node.tolist())}
        return replace(found, models={place: text for place, text in models.items() if text})

    def _model(self, tree: TreeView, leaf: int) -> str:
        """The linear model of a leaf in the units of the user; empty if there is none."""
        features, slopes = tree.entries(leaf)
        if tree.children_right[leaf] >= 0 or not len(features):
            return ""
        units, kind_of = self.units, self.encoding.kind
        weights = slopes / units.span[features]
        constant = float(tree.forest.leaf_value[tree.nodes][leaf] - weights @ units.shift[features])
        names = [in_a_sum(units, int(f), self.names[f], kind_of(int(f))) for f in features]
        slopes_text = write_sum(names, [float(f"{w:.3g}") for w in weights], len(names))
        first = written(float(f"{constant:.3g}"))
        if slopes_text.startswith(MINUS):
            return f"{first} {MINUS} {slopes_text[1:]}"
        return f"{first} + {slopes_text}"

    def split_formatter(self, tree: TreeView, style: Style) -> SplitFormatter:
        """Formatter of a tree's splits."""
        return SplitFormatter(self, tree, style)

    def notes(self, combined: Set[int], had_missing: bool, has_levels: bool) -> tuple[str, ...]:
        """Notes on rules that combine some features, or test levels."""
        dates = [self.names[feature] for feature in sorted(combined & self.encoding.dates)]
        notes = [
            f"Days of {join_names(dates)} in a combination are counted from 1970-01-01."
            if dates
            else "",
            self.bounds_note(np.array(sorted(combined), dtype=np.int64)),
            "A missing value counts as its column's median in a combination of features."
            if had_missing and len(combined)
            else "",
            "A label that training has not seen goes with the heavier side." if has_levels else "",
        ]
        return tuple(note for note in notes if note)

    def bounds_note(self, features: npt.NDArray[np.integer[Any]]) -> str:
        """Note on the meaning of [x] for some features."""
        bounds = self.units.bounds
        if bounds is None or len(features) == 0:
            return ""
        low, high = bounds
        parts = []
        for feature in features:
            if feature in self.encoding.truths:
                continue
            tolerance, kind = 5e-4 * float(self.units.span[feature]), self.encoding.kind(feature)
            if kind in ("day", "time"):
                step = 1.0 if kind == "day" else tolerance
                ends = [day_text(floored(float(b[feature]), step, up=False)) for b in (low, high)]
            else:
                ends = [written(round_within(float(b[feature]), tolerance)) for b in (low, high)]
            same = low[feature] == high[feature]
            inside = f"{ends[0]}, and 1 more above" if same else f"{ends[0]} to {ends[1]}"
            parts.append(f"[{term_name(self.names[feature], kind)}] {inside}")
        if not parts:
            return ""
        return f"[x] is x, dampened beyond these bounds: {'; '.join(parts)}."


def vocabulary_of(fitted: FittedForest) -> Vocabulary:
    """Names and units of a fitted forest."""
    task, aggregation = fitted.task, fitted.aggregation
    names = list(fitted.names)
    for feature, means in fitted.encoding.means.items():
        names[feature] = f"{means.meaning} in {names[feature]}"
    return Vocabulary(tuple(names), task, fitted.encoding, aggregation.names(task))


class SplitFormatter:
    """Formats the splits of one tree, and collects the notes that they need.

    Parameters
    ----------
    vocabulary : Vocabulary
        Names and units.
    tree : TreeView
        The tree.
    style : Style
        Digits and terms.
    """

    def __init__(self, vocabulary: Vocabulary, tree: TreeView, style: Style) -> None:
        self._had_missing = tree.forest.columns_with_missing
        self._n_columns = tree.forest.n_features
        self._terms = np.empty((0, 2), np.int64)
        if len(tree.forest.entry_level):
            forest, self._terms = tree.forest.with_level_columns
            vocabulary, tree = vocabulary.with_levels(self._terms), forest.tree(tree.index)
        self._words, self._tree = vocabulary, tree
        self._digits, self._max_terms = style.digits, style.max_terms
        self._spread = _known_spread(vocabulary.units, tree)
        self._combined: set[int] = _features_of_leaves(tree)
        self._has_levels = False

    def split_text(self, node: int, encoded: Float32s | None = None) -> SplitText:
        """Text of a split; with rows that reach it, with enough digits to route them all."""
        tree, words = self._tree, self._words
        if encoded is not None:
            encoded = with_level_values(encoded, self._terms)
        index, _ = tree.entries(node)
        first = int(index[0])
        if is_by_levels(tree, node):
            self._has_levels = True
            return format_level_split(tree, node, words.names[first], words._labels[first], first)
        if len(index) == 1 and 0 <= (term := first - self._n_columns) < len(self._terms):
            return self._one_level(node, *self._terms[term].tolist())
        text = self._format(node, self._digits)
        if encoded is not None and self._digits is not None:
            more = [*range(self._digits + 1, MAX_DIGITS + 1), None]
            truth = self._goes_left(node, encoded)
            while more and _misroutes(text, encoded, truth):
                text = self._format(node, more.pop(0))
        if not text.single:
            self._combined.update(int(feature) for feature in text.features)
        return text

    def _one_level(self, node: int, feature: int, level: int) -> LevelSplitText:
        """Text of a split between one level and the others."""
        _, weight = self._tree.entries(node)
        of_level, of_others = float(weight[0]), 0.0
        threshold = float(self._tree.threshold[node])
        labels = self._words._labels[feature]
        goes_left = [
            (of_level if code == level else of_others) <= threshold for code in range(len(labels))
        ]
        return level_split(self._words.names[feature], labels, feature, goes_left)

    def notes(self) -> tuple[str, ...]:
        """Notes on the splits formatted so far."""
        columns = {feature for feature in self._combined if feature < self._n_columns}
        return self._words.notes(columns, bool(self._had_missing.any()), self._has_levels)

    def _format(self, node: int, digits: int | None) -> ThresholdSplitText:
        words = self._words
        missing_left = self._missing_left(node)
        return format_threshold_split(
            self._tree,
            node,
            words.names,
            words.encoding.kind,
            words.units,
            self._spread,
            digits,
            self._max_terms,
            missing_left,
        )

    def _missing_left(self, node: int) -> bool | None:
        index, _ = self._tree.entries(node)
        forest = self._tree.forest
        if len(index) > 1 or index[0] >= forest.n_features or not self._had_missing[index[0]]:
            return None
        return bool(forest.flags[self._tree.nodes.start + node] & MISSING_LEFT)

    def _goes_left(self, node: int, encoded: Float32s) -> npt.NDArray[np.bool_]:
        features, weights = self._tree.projection(node)
        values = encoded[:, features].astype(np.float64) @ weights.astype(np.float64)
        return np.asarray(values <= float(self._tree.threshold[node]))


def _misroutes(text: ThresholdSplitText, encoded: Float32s, truth: npt.NDArray[np.bool_]) -> bool:
    known = ~np.isnan(encoded[:, text.features]).any(axis=1)
    return bool((text.goes_left(encoded) != truth)[known].any())


def _features_of_leaves(tree: TreeView) -> set[int]:
    """Features of the linear models of the leaves."""
    if not tree.forest.has_leaf_models:
        return set()
    leaves = np.flatnonzero(tree.children_right < 0)
    return {int(feature) for leaf in leaves for feature in tree.entries(int(leaf))[0]}


def _known_spread(units: Units, tree: TreeView) -> Floats:
    """Spread of the features; without a scale, the distance of single-feature cuts from medians."""
    if np.isfinite(units.spread).all():
        return units.spread
    reach = np.full(tree.forest.n_features, np.nan)
    feature, cut = _cuts_of_one(tree)
    distance = 2.0 * np.abs(cut - tree.forest.medians[feature])
    finite = np.isfinite(distance)
    np.fmax.at(reach, feature[finite], distance[finite])
    return reach


def _cuts_of_one(tree: TreeView) -> tuple[npt.NDArray[np.int64], Floats]:
    """Features and thresholds of the single-feature splits of a tree."""
    forest, own = tree.forest, tree.nodes
    is_value = (forest.right[own] >= 0) & (forest.flags[own] & CATEGORY_NODE == 0)
    first = forest.entry_offset[own.start : own.stop + 1]
    node = np.flatnonzero(is_value & (np.diff(first) == 1))
    index, weight = forest.entry_index[first[node]], forest.entry_weight[first[node]].astype(float)
    axis = forest.rotation_offset[tree.index] + index - forest.n_features
    is_axis = index >= forest.n_features
    offset = forest.rotation_entry_offset
    alone = ~is_axis
    alone[is_axis] = np.diff(offset)[axis[is_axis]] == 1
    entry = offset[axis[is_axis & alone]]
    index = index.astype(np.int64)
    index[is_axis & alone] = forest.rotation_index[entry]
    weight[is_axis & alone] *= forest.rotation_weight[entry]
    used = alone & (weight != 0.0)
    return index[used], tree.threshold[node[used]] / weight[used]
