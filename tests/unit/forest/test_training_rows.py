"""`bevel.forest.training_rows`: the rows of the fit, recognised, and their bags."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.errors import NoOutOfBagError
from bevel.forest.bags import Bags, check_leaves_rows_out
from bevel.forest.training_rows import find_training_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4)).astype(np.float32)
CLASSES = (X[:, 0] + 0.5 * RNG.normal(size=150) > 0).astype(np.int32)
VALUES = X[:, 0] + RNG.normal(size=150)
BOTH = pytest.mark.parametrize(
    ("estimator", "target"),
    [(ObliqueForestClassifier, CLASSES), (ObliqueForestRegressor, VALUES)],
)


def recall(fitted, X, target, **changes):
    bags = replace(fitted.fitted_forest_.provenance.bags, **changes)
    return find_training_rows(fitted.fitted_forest_, bags, X, target)


@BOTH
@pytest.mark.parametrize(
    "options",
    [{}, {"max_samples": 0.3}, {"replace": False}, {"max_depth": 2}, {"min_samples_leaf": 10}],
    ids=str,
)
def test_rows_of_the_fit_are_recognised(estimator, target, options):
    fitted = estimator(20, scale=None, random_state=0, **options).fit(X, target)
    rows = recall(fitted, X, target)
    assert rows.out.shape == (150, 20)
    share = {"max_samples": 0.74, "replace": 0.37}.get(next(iter(options), ""), 0.37)
    assert rows.out.mean() == pytest.approx(share, abs=0.03)


@BOTH
def test_rows_of_weight_zero_do_not_disturb(estimator, target):
    weight = (np.arange(150) % 3 > 0).astype(float)
    fitted = estimator(10, scale=None, random_state=0).fit(X, target, sample_weight=weight)
    recall(fitted, X, target)


@BOTH
def test_a_constant_target_is_recognised(estimator, target):
    constant = np.full_like(target, 1) - 1
    recall(estimator(5, scale=None).fit(X, constant), X, constant)


@BOTH
@pytest.mark.parametrize("what", ["rows", "target", "both"])
def test_rows_in_another_order_are_refused(estimator, target, what):
    fitted = estimator(10, scale=None, random_state=0).fit(X, target)
    order = RNG.permutation(150)
    rows = X if what == "target" else X[order]
    targets = target if what == "rows" else target[order]
    with pytest.raises(ValueError, match=r"in the order of the fit.*do not fall into the same"):
        recall(fitted, rows, targets)


@BOTH
def test_rows_of_the_last_warm_start_alone_are_refused(estimator, target):
    fitted = estimator(5, scale=None, random_state=0, warm_start=True).fit(X, target)
    fitted.set_params(n_estimators=10).fit(X[::-1], target[::-1])
    for rows, targets in ((X, target), (X[::-1].copy(), target[::-1])):
        with pytest.raises(ValueError, match="X and y must be the rows of the fit"):
            recall(fitted, rows, targets)


def test_another_number_of_rows_is_refused():
    fitted = ObliqueForestClassifier(5, scale=None).fit(X, CLASSES)
    with pytest.raises(ValueError, match=r"must be the 150 training rows.*got 149 rows"):
        recall(fitted, X[:-1], CLASSES[:-1])


@pytest.mark.parametrize("changes", [{"size": 0}, {"size": 150, "replace": False}], ids=str)
def test_forests_that_leave_no_row_out_are_refused(changes):
    bags = Bags(**({"n_rows": 150, "size": 150, "replace": True, "seed": 0} | changes))
    with pytest.raises(NoOutOfBagError, match="without bags, or with bags of all rows"):
        check_leaves_rows_out(bags)


def test_rows_of_a_forest_without_bags_are_recalled_too():
    fitted = ObliqueForestClassifier(5, scale=None, bootstrap=False).fit(X, CLASSES)
    rows = recall(fitted, X, CLASSES)
    assert not rows.out.any()
    assert (rows.bags.counts(0) == 1).all()
