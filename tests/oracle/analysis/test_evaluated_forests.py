"""Measures of a forest on rows, compared with loops over rows and trees written from the papers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, presets
from bevel.analysis import (
    calibration,
    error_and_correlation,
    out_of_bag_curve,
    strength_and_correlation,
)

N_TREES = 23


def rows_with_everything(n_rows, seed):
    """Numbers, missing ones among them, and a nominal column; three classes that overlap."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=list("abc"))
    X["d"] = pd.Categorical(rng.choice(["x", "y", "z"], n_rows), categories=["x", "y", "z"])
    value = X["a"] + X["b"] + (X["d"] == "y") + rng.normal(size=n_rows)
    X.loc[::7, "a"] = np.nan
    classes = np.array(["low", "middle", "top"])[np.digitize(value, [-0.5, 1.0])]
    return X, classes, value.to_numpy()


X, CLASSES, VALUES = rows_with_everything(120, 0)
X_NEW, CLASSES_NEW, VALUES_NEW = rows_with_everything(80, 1)
CLASSIFIERS = {
    "soft, impure": ObliqueForestClassifier(N_TREES, max_depth=2, random_state=0),
    "hard, impure": ObliqueForestClassifier(N_TREES, voting="hard", max_depth=2, random_state=0),
    "rotated": presets.rr_rf(n_estimators=N_TREES, random_state=0),
    "one tree": ObliqueForestClassifier(1, projection="sparse", random_state=0),
}
EACH_CLASSIFIER = pytest.mark.parametrize("name", CLASSIFIERS)


@pytest.fixture(scope="module")
def fitted():
    """The classifiers, fitted; rows do not count alike in the fit."""
    weights = 1.0 + np.arange(len(X)) % 3
    return {name: each.fit(X, CLASSES, weights) for name, each in CLASSIFIERS.items()}


def shares_of_trees(forest, rows):
    """Class shares of the leaf of each row (first axis) in each tree."""
    leaves = forest.apply(rows)
    return np.array(
        [
            [forest.forest_.tree(t).class_shares(leaf) for t, leaf in enumerate(row)]
            for row in leaves
        ]
    )


def rows_out(forest):
    bags = forest.fitted_forest_.provenance.bags
    return np.array([bags.counts(tree) == 0 for tree in range(forest.n_estimators)]).T


def raw_margins(votes, truth, may_judge):
    """ψ(x, y, θ) of each row and tree, NaN where the tree may not judge; and the margin Ψ(x, y)."""
    n_classes = 3
    psi = np.full(votes.shape, np.nan)
    margins = np.full(len(votes), np.nan)
    for row in range(len(votes)):
        cast = [votes[row, t] for t in range(votes.shape[1]) if may_judge[row, t]]
        if not cast:
            continue
        share = {k: cast.count(k) / len(cast) for k in range(n_classes)}
        others = [k for k in range(n_classes) if k != truth[row]]
        rival = max(others, key=lambda k: (share[k], -k))
        margins[row] = share[truth[row]] - share[rival]
        for t in range(votes.shape[1]):
            if may_judge[row, t]:
                psi[row, t] = int(votes[row, t] == truth[row]) - int(votes[row, t] == rival)
    return psi, margins


@EACH_CLASSIFIER
def test_correlation_on_new_rows_is_the_mean_over_all_pairs_of_trees(fitted, name):
    forest = fitted[name]
    votes = shares_of_trees(forest, X_NEW).argmax(axis=2)
    truth = np.searchsorted(forest.classes_, CLASSES_NEW)
    psi, margins = raw_margins(votes, truth, np.ones(votes.shape, bool))
    covariances, deviations = 0.0, 0.0
    for s in range(psi.shape[1]):
        for t in range(psi.shape[1]):
            products = [a * b for a, b in zip(psi[:, s], psi[:, t], strict=True)]
            covariances += np.mean(products) - np.mean(psi[:, s]) * np.mean(psi[:, t])
            deviations += np.std(psi[:, s]) * np.std(psi[:, t])
    result = strength_and_correlation(forest, X_NEW, CLASSES_NEW, out_of_bag=False)
    np.testing.assert_allclose(result.margins, margins, atol=1e-12)
    assert result.strength == pytest.approx(margins.mean())
    assert result.correlation == pytest.approx(covariances / deviations)
    assert result.error <= result.margin_bound <= result.bound


@EACH_CLASSIFIER
def test_strength_and_correlation_out_of_bag_follow_breiman(fitted, name):
    forest = fitted[name]
    votes = shares_of_trees(forest, X).argmax(axis=2)
    truth = np.searchsorted(forest.classes_, CLASSES)
    psi, margins = raw_margins(votes, truth, rows_out(forest))
    result = strength_and_correlation(forest, X, CLASSES)
    np.testing.assert_allclose(result.margins, margins, atol=1e-12)
    known = margins[~np.isnan(margins)]
    assert result.strength == pytest.approx(known.mean())
    assert result.deviation == pytest.approx(np.nanstd(psi, axis=0).mean())
    assert result.correlation == pytest.approx(
        (np.mean(known**2) - known.mean() ** 2) / np.nanstd(psi, axis=0).mean() ** 2
    )
    s2 = result.strength**2 if result.strength > 0 else np.nan
    assert result.bound == pytest.approx(result.correlation * (1 - s2) / s2, nan_ok=True)


def residuals_of_trees(forest, rows, values, may_judge):
    """Target minus the tree's answer for each row (first axis) and tree; NaN where it is barred."""
    residuals = np.full(may_judge.shape, np.nan)
    for row, leaves in enumerate(forest.apply(rows)):
        for t, leaf in enumerate(leaves):
            if may_judge[row, t]:
                start = forest.forest_.tree_offset[t]
                residuals[row, t] = values[row] - forest.forest_.leaf_value[start + leaf]
    return residuals


def fitted_regressor(**options):
    forest = ObliqueForestRegressor(**{"n_estimators": N_TREES, "random_state": 0, **options})
    return forest.fit(X, VALUES, 1.0 + np.arange(len(X)) % 3)


EACH_REGRESSOR = pytest.mark.parametrize(
    "options", [{}, {"max_depth": 2}, {"n_estimators": 1}], ids=str
)


@EACH_REGRESSOR
def test_correlation_of_residuals_on_new_rows_is_the_mean_over_all_pairs_of_trees(options):
    forest = fitted_regressor(**options)
    all_judge = np.ones((len(X_NEW), forest.n_estimators), bool)
    residuals = residuals_of_trees(forest, X_NEW, VALUES_NEW, all_judge)
    products, deviations = 0.0, 0.0
    for a in residuals.T:
        for b in residuals.T:
            deviation = np.sqrt(np.mean(a**2)) * np.sqrt(np.mean(b**2))
            correlation = sum(x * y for x, y in zip(a, b, strict=True)) / len(a) / deviation
            products += correlation * deviation
            deviations += deviation
    result = error_and_correlation(forest, X_NEW, VALUES_NEW, out_of_bag=False)
    assert result.correlation == pytest.approx(products / deviations)
    assert result.tree_error == pytest.approx(np.mean([np.mean(a**2) for a in residuals.T]))
    said = forest.predict(X_NEW)
    np.testing.assert_allclose(result.residuals, VALUES_NEW - said, atol=1e-12)
    assert result.error == pytest.approx(np.mean((VALUES_NEW - said) ** 2))
    assert result.error <= result.bound * (1 + 1e-12) <= result.tree_error * (1 + 1e-9)


@EACH_REGRESSOR
@pytest.mark.parametrize("step", [7, 1000])
def test_correlation_of_residuals_out_of_bag_is_of_pairs_that_both_evaluate_the_row(
    monkeypatch, options, step
):
    forest = fitted_regressor(**options)
    block = step * forest.n_estimators
    monkeypatch.setattr("bevel.analysis.accuracy.evaluation_rows.BLOCK_SIZE", block)
    residuals = residuals_of_trees(forest, X, VALUES, rows_out(forest))
    errors = []
    for row in residuals:
        mine = row[~np.isnan(row)]
        if len(mine):
            errors.append(np.mean([a * b for a in mine for b in mine]))
    of_trees = [np.mean([r * r for r in tree if not np.isnan(r)]) for tree in residuals.T]
    result = error_and_correlation(forest, X, VALUES)
    assert np.count_nonzero(~np.isnan(result.residuals)) == len(errors)
    assert result.error == pytest.approx(np.mean(errors))
    np.testing.assert_allclose(result.tree_errors, of_trees)
    assert result.correlation == pytest.approx(np.mean(errors) / np.mean(np.sqrt(of_trees)) ** 2)
    assert result.bound == pytest.approx(result.correlation * np.mean(of_trees))


@EACH_CLASSIFIER
def test_curve_is_the_error_of_the_first_trees_out_of_bag(fitted, name):
    forest = fitted[name]
    said = shares_of_trees(forest, X)
    if forest.voting == "hard":
        said = np.eye(3)[said.argmax(axis=2)]
    out, truth = rows_out(forest), np.searchsorted(forest.classes_, CLASSES)
    curve = out_of_bag_curve(forest, X, CLASSES)
    for n_trees in range(1, forest.n_estimators + 1):
        wrong = [
            said[row, :n_trees][out[row, :n_trees]].sum(axis=0).argmax() != truth[row]
            for row in range(len(X))
            if out[row, :n_trees].any()
        ]
        assert curve.n_rows[n_trees - 1] == len(wrong)
        assert curve.loss[n_trees - 1] == pytest.approx(np.mean(wrong))


@pytest.mark.parametrize("step", [7, 1000])
def test_curve_of_a_regression_is_the_mean_squared_error_in_blocks_of_any_size(monkeypatch, step):
    forest = ObliqueForestRegressor(N_TREES, max_samples=0.5, random_state=0).fit(X, VALUES)
    monkeypatch.setattr("bevel.analysis.accuracy.evaluation_rows.BLOCK_SIZE", step * N_TREES)
    out, leaves = rows_out(forest), forest.apply(X)
    values = forest.forest_.leaf_value[leaves + forest.forest_.tree_offset[:-1]]
    curve = out_of_bag_curve(forest, X, VALUES)
    assert curve.measure == "mean squared error"
    for n_trees in (1, 2, N_TREES):
        losses = [
            (VALUES[row] - values[row, :n_trees][out[row, :n_trees]].mean()) ** 2
            for row in range(len(X))
            if out[row, :n_trees].any()
        ]
        assert curve.loss[n_trees - 1] == pytest.approx(np.mean(losses))


@pytest.mark.parametrize("bins", ["quantile", "uniform"])
@pytest.mark.parametrize("name", ["soft, impure", "hard, impure"])
def test_calibration_out_of_bag_is_that_of_the_decision_function(fitted, name, bins):
    again = fitted[name].__class__(**fitted[name].get_params()).set_params(oob_score=True)
    said = again.fit(X, CLASSES, 1.0 + np.arange(len(X)) % 3).oob_decision_function_[:, 2]
    result = calibration(fitted[name], X, CLASSES, positive="top", n_bins=6, bins=bins)
    hit = CLASSES == "top"
    if bins == "uniform":
        number = [min(int(6 * p), 5) for p in said]
    else:  # the bin of the first row, in order, that has the same probability
        number = [int(np.sum(said < p)) * 6 // len(said) for p in said]
    used = sorted(set(number))
    members = [[row for row in range(len(said)) if number[row] == k] for k in used]
    np.testing.assert_allclose(result.predicted, [said[rows].mean() for rows in members])
    np.testing.assert_allclose(result.observed, [hit[rows].mean() for rows in members])
    assert result.n_rows.tolist() == [len(rows) for rows in members]
    distance = [len(r) * abs(said[r].mean() - hit[r].mean()) for r in members]
    assert result.expected_calibration_error == pytest.approx(sum(distance) / len(said))
