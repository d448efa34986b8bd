"""`bevel.training.forest_fit`: the steps of a fit, which are asked of the rows in any place."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from bevel import ObliqueForestClassifier
from bevel.forest.records import FamilyRecord
from bevel.training.automatic import TreeShares
from bevel.training.forest_fit import EarlierTrees, FitResult, Rows, fit_forest


class Plan:
    """Two families, with micro-forests of some trees each."""

    label: ClassVar[str] = "comparing"

    def __init__(self, n_micro_trees):
        self.n_micro_trees = n_micro_trees

    def micro_trees(self, n_rows):  # noqa: ARG002
        return self.n_micro_trees

    def of_micro_trees(self, n_rows):  # noqa: ARG002
        return np.repeat(np.arange(2, dtype=np.int32), self.n_micro_trees)


class RecordedRows(Rows[list]):
    """Rows whose trees are pairs of number and family, and which record what they are asked."""

    n_rows = 10

    def __init__(self, plan=None, earlier=None, shares=None):
        self.plan, self.earlier, self.shares, self.asked = plan, earlier, shares, []

    def grow(self, numbers, of_tree, min_samples_split, progress):
        self.asked.append(("grow", min_samples_split, progress))
        return list(zip(numbers.tolist(), of_tree.tolist(), strict=True))

    def share(self, micro):
        self.asked.append(("share", micro))
        return self.shares

    def join(self, first, grown, numbers):
        self.asked.append(("join",))
        trees = dict(enumerate(first or []))
        return [
            tree for _, tree in sorted((trees | dict(zip(numbers, grown, strict=True))).items())
        ]

    def complete(self, trees, shares):
        self.asked.append(("complete", shares))
        return FitResult(trees)


def trees_of(rows, n_trees):
    return fit_forest(rows, n_trees, lambda trees, label: (label, trees.start, trees.stop)).fitted


def test_given_projection_grows_all_trees_at_once():
    rows = RecordedRows()
    assert trees_of(rows, 3) == [(0, 0), (1, 0), (2, 0)]
    assert [step[0] for step in rows.asked] == ["grow", "join", "complete"]
    assert rows.asked[0] == ("grow", None, ("growing trees", 0, 3))


def test_micro_forests_are_grown_before_trees_are_shared_out():
    of_tree = np.array([0, 1, 1, 1, 0], np.int32)
    shares = TreeShares(of_tree, np.array([0, 3, 4]), min_samples_split=5)
    rows = RecordedRows(Plan(1), shares=shares)
    assert trees_of(rows, 5) == [(0, 0), (1, 1), (3, 1), (4, 0)]
    micro = [(0, 0), (1, 1)]
    assert rows.asked[:3] == [
        ("grow", None, ("comparing", 0, 2)),
        ("share", micro),
        ("grow", 5, ("growing trees", 2, 5)),
    ]
    assert rows.asked[-1] == ("complete", shares)


def test_plan_without_micro_forests_is_shared_out_without_evidence():
    shares = TreeShares(np.array([0, 1], np.int32), np.arange(2), 2)
    rows = RecordedRows(Plan(0), shares=shares)
    assert trees_of(rows, 2) == [(0, 0), (1, 1)]
    assert rows.asked[0] == ("share", None)


def record(of_tree):
    two = np.full(2, 0.5)
    return FamilyRecord(("a", "b"), two, two, two, np.array(of_tree, np.int32), (), 7)


def test_earlier_trees_are_continued_by_the_weights_of_their_families():
    earlier = EarlierTrees([(0, 0), (1, 0)], 2, record([0, 0]), None)
    rows = RecordedRows(Plan(1), earlier)
    assert trees_of(rows, 4) == [(0, 0), (1, 0), (2, 1), (3, 1)]
    assert rows.asked[0] == ("grow", 7, ("growing trees", 2, 4))


def test_earlier_trees_that_are_enough_stay_with_their_record():
    known = record([0, 1])
    rows = RecordedRows(Plan(1), EarlierTrees(["a", "b"], 2, known, None))
    assert trees_of(rows, 2) == ["a", "b"]
    ((step, shares),) = rows.asked
    assert step == "complete"
    assert shares.families is known


def test_families_cannot_continue_trees_of_one_projection():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = X[:, 0] > 0
    forest = ObliqueForestClassifier(3, projection="sparse", warm_start=True, random_state=0)
    forest.fit(X, y)
    forest.set_params(projection="auto", n_estimators=5)
    with pytest.raises(ValueError, match="whose families go on; got trees of another projection"):
        forest.fit(X, y)
