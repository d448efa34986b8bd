"""The splits of a tree as conditions on rows, in rounded numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.rules.tests_of_rows import LabelTest, NumberTest, RowTest
from bevel.printable import printable
from bevel.text.split_text import LevelSplitText, SplitText, ThresholdSplitText
from bevel.text.tree_rules import TreeRules
from bevel.text.vocabulary import vocabulary_of

__all__ = ["WrittenSplits"]


class WrittenSplits:
    """Reads tests from the text of a forest's splits."""

    def __init__(self, analysed: AnalysedForest) -> None:
        forest = analysed.forest
        self.units = vocabulary_of(analysed.fitted).units
        medians = np.asarray(forest.medians, dtype=np.float64)
        self.fills = self.units.shift + self.units.span * medians
        self.levels = {
            feature: tuple(levels.labels)
            for feature, levels in analysed.fitted.encoding.nominal.items()
        }

    def test(self, split: SplitText, left: bool) -> RowTest:
        if isinstance(split, LevelSplitText):
            return self._labels(split, left)
        return self._numbers(split, left)

    def path(self, rules: TreeRules, place: int) -> tuple[RowTest, ...]:
        """Tests of a node from the root on; bounds on the same sum are combined."""
        return _together(reversed(list(self._above(rules, place))))

    def _above(self, rules: TreeRules, place: int) -> Iterator[RowTest]:
        while (above := int(rules.parent[place])) >= 0:
            split = rules.split_texts[above]
            if split is not None:
                yield self.test(split, bool(rules.left[above] == place))
            place = above

    def _numbers(self, split: ThresholdSplitText, left: bool) -> NumberTest:
        lower = left != split.at_least  # the side of small values
        features = tuple(int(f) for f in split.features)
        missing = split.missing_left is not None and split.missing_left == left
        return NumberTest(
            features,
            tuple(float(w) for w in split.weights),
            tuple(float(self.fills[f]) for f in features),
            -math.inf if lower else split.threshold,
            split.threshold if lower else math.inf,
            split.at_least,
            not split.at_least,
            missing and len(features) == 1,
        )

    def _labels(self, split: LevelSplitText, left: bool) -> LabelTest:
        wording = split.sides[0 if left else 1].labels or ()
        known = self.levels[split.feature]
        labels = tuple(label for label in known if printable(str(label)) in wording)
        return LabelTest(split.feature, labels, len(wording) > len(labels))


def _together(tests: Iterator[RowTest]) -> tuple[RowTest, ...]:
    drawn: dict[object, RowTest] = {}
    for test in tests:
        about = test.feature if isinstance(test, LabelTest) else (test.features, test.weights)
        known = drawn.get(about)
        drawn[about] = test if known is None else _both(known, test)
    return tuple(drawn.values())


def _both(one: RowTest, other: RowTest) -> RowTest:
    missing = one.missing and other.missing
    if isinstance(one, LabelTest) and isinstance(other, LabelTest):
        labels = tuple(label for label in one.labels if label in other.labels)
        return LabelTest(one.feature, labels, missing)
    assert isinstance(one, NumberTest)
    assert isinstance(other, NumberTest)
    low, low_out = max((one.low, not one.low_included), (other.low, not other.low_included))
    high, high_in = min((one.high, one.high_included), (other.high, other.high_included))
    return NumberTest(
        one.features, one.weights, one.fills, low, high, not low_out, high_in, missing
    )
