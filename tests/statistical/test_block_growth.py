"""Forests over blocks are as accurate as those of rows in memory."""

import numpy as np
import pytest

import bevel.training.blocks as blocked_table
from bevel import ObliqueForestClassifier, scan
from bevel.datasets import twonorm


def test_accuracy_over_blocks_is_that_of_rows_in_memory(monkeypatch):
    # Null hypothesis: the same error rate, about 4 %. Over 24 pairs of other seeds the difference
    # had a mean of +0.04 and a standard deviation of 0.12 points; 0.3 points are five standard
    # deviations of the mean of four: a false alarm in a million runs.
    monkeypatch.setattr(blocked_table, "MAX_GATHERED", 50)
    monkeypatch.setattr(blocked_table, "MIN_GATHERED", 50)
    monkeypatch.setattr(blocked_table, "SAMPLE_ROWS", 500)
    X_test, y_test = twonorm(20_000, random_state=100)
    differences = []
    for seed in range(4):
        X, y = twonorm(1500, random_state=seed)
        forest = ObliqueForestClassifier(40, projection="sparse", random_state=seed)
        exact = forest.fit(X, y).score(X_test, y_test)
        differences.append(forest.fit(scan(X, target=y)).score(X_test, y_test) - exact)
    assert abs(np.mean(differences)) < 0.003


@pytest.mark.parametrize("replace", [True, False])
def test_bags_leave_about_a_third_of_the_rows_out(replace):
    # 37 % of 3000 rows in 20 trees; five standard deviations of the share are 1 point.
    X = np.random.default_rng(0).normal(size=(3000, 3))
    forest = ObliqueForestClassifier(20, random_state=0, replace=replace, projection="sparse")
    forest.fit(scan(X, target=X[:, 0] > 0))
    weight = forest.forest_.weight[forest.forest_.tree_offset[:-1]]
    expected = 3000 if replace else 0.632 * 3000
    assert weight.mean() == pytest.approx(expected, rel=0.02)
