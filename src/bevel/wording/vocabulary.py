"""The words for a forest: names of features and classes, units, and what goes without saying."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.dataset import Encoding
from bevel.forest import MISSING_LEFT, TreeView
from bevel.wording.decimals import round_within, written
from bevel.wording.questions import Question, ValueQuestion, ask_levels, ask_value, is_by_levels
from bevel.wording.style import Style
from bevel.wording.tree_rules import TreeRules, read_tree
from bevel.wording.units import Units, units_of

__all__ = ["Vocabulary"]

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float32]

MOST_DIGITS = 6  # tried before a rule is written exactly


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """How to speak of a forest.

    Attributes
    ----------
    names : tuple of str
        Of the features.
    classes : tuple of str
        Of the classes; empty in regression.
    encoding : Encoding
        How the user's columns became what trees read.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    encoding: Encoding

    @cached_property
    def units(self) -> Units:
        """How scaled values read."""
        return units_of(self.encoding.scaler, len(self.names))

    @cached_property
    def _labels(self) -> Mapping[int, tuple[str, ...]]:
        return {
            feature: tuple(str(label) for label in levels.labels)
            + (("missing",) if levels.has_missing else ())
            for feature, levels in self.encoding.nominal.items()
        }

    def rules(
        self,
        tree: TreeView,
        encoded: Matrix | None = None,
        leaves: npt.NDArray[np.int32] | None = None,
        **style: Any,
    ) -> TreeRules:
        """The tree in words; with rows and their leaves, in digits enough to route them."""
        return read_tree(self, tree, Style(**style), encoded, leaves)

    def questions(self, tree: TreeView, style: Style) -> Interviewer:
        """Whom to ask for the questions of a tree's splits."""
        return Interviewer(self, tree, style)

    def notes(
        self, combined: Collection[int], had_missing: bool, has_levels: bool
    ) -> tuple[str, ...]:
        """What rules leave unsaid that combine some features, or ask for levels."""
        said = [
            self.bounds_note(np.array(sorted(combined), dtype=np.int64)),
            "A missing value counts as its column's median in a combination of features."
            if had_missing and len(combined)
            else "",
            "A label that training has not seen goes with the heavier side." if has_levels else "",
        ]
        return tuple(note for note in said if note)

    def bounds_note(self, features: npt.NDArray[np.integer[Any]]) -> str:
        """What [x] means for some features."""
        bounds = self.units.bounds
        if bounds is None or len(features) == 0:
            return ""
        low, high = bounds
        parts = []
        for feature in features:
            tolerance = 5e-4 * float(self.units.span[feature])
            ends = [written(round_within(float(b[feature]), tolerance)) for b in (low, high)]
            same = low[feature] == high[feature]
            inside = f"{ends[0]}, and 1 more above" if same else f"{ends[0]} to {ends[1]}"
            parts.append(f"[{self.names[feature]}] {inside}")
        return f"[x] is x within bounds, and beyond them little more: {'; '.join(parts)}."


class Interviewer:
    """Asks for the questions of one tree's splits, and notes what they leave unsaid.

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
        self._words, self._tree = vocabulary, tree
        self._digits, self._max_terms = style.digits, style.max_terms
        self._spread = _known_spread(vocabulary.units, tree)
        self._had_missing = tree.forest.columns_with_missing
        self._combined: set[int] = set()
        self._has_levels = False

    def question(self, node: int, encoded: Matrix | None = None) -> Question:
        """Question of a split; with rows that reach it, in digits enough to route them all."""
        tree, words = self._tree, self._words
        index, _ = tree.entries(node)
        first = int(index[0])
        if is_by_levels(tree, node):
            self._has_levels = True
            return ask_levels(tree, node, words.names[first], words._labels[first], first)
        asked = self._ask(node, self._digits)
        if encoded is not None and self._digits is not None:
            more = [*range(self._digits + 1, MOST_DIGITS + 1), None]
            truth = self._goes_left(node, encoded)
            while more and _misroutes(asked, encoded, truth):
                asked = self._ask(node, more.pop(0))
        if not asked.single:
            self._combined.update(int(feature) for feature in asked.features)
        return asked

    def notes(self) -> tuple[str, ...]:
        """What the rules that were asked for leave unsaid."""
        return self._words.notes(self._combined, bool(self._had_missing.any()), self._has_levels)

    def _ask(self, node: int, digits: int | None) -> ValueQuestion:
        words = self._words
        missing_left = self._missing_left(node)
        return ask_value(
            self._tree,
            node,
            words.names,
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

    def _goes_left(self, node: int, encoded: Matrix) -> npt.NDArray[np.bool_]:
        features, weights = self._tree.projection(node)
        values = encoded[:, features].astype(np.float64) @ weights.astype(np.float64)
        return np.asarray(values <= float(self._tree.threshold[node]))


def _misroutes(asked: ValueQuestion, encoded: Matrix, truth: npt.NDArray[np.bool_]) -> bool:
    known = ~np.isnan(encoded[:, asked.features]).any(axis=1)
    return bool((asked.answers(encoded) != truth)[known].any())


def _known_spread(units: Units, tree: TreeView) -> Floats:
    """Spread of the features; without a scale, how far cuts of one feature are from its median."""
    if np.isfinite(units.spread).all():
        return units.spread
    forest, reach = tree.forest, np.full(tree.forest.n_features, np.nan)
    for node in np.flatnonzero(tree.children_right >= 0):
        features, weights = tree.projection(int(node))
        if len(features) == 1 and weights[0] != 0.0 and not is_by_levels(tree, int(node)):
            feature = int(features[0])
            cut = float(tree.threshold[node]) / float(weights[0])
            reach[feature] = np.fmax(
                reach[feature], 2.0 * abs(cut - float(forest.medians[feature]))
            )
    return reach
