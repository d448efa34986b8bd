"""Canonical correlation, partial least squares, logistic regression and principal components of a
node against NumPy, SciPy and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LogisticRegression
from support.node_problems import PROBLEMS, NodeProblem, node_problem

from bevel import _core

EACH = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
CLASSIFICATION = {name: p for name, p in PROBLEMS.items() if p.n_classes}
EACH_CLASSIFICATION = pytest.mark.parametrize(
    "problem", CLASSIFICATION.values(), ids=CLASSIFICATION.keys()
)


def assert_convention(problem: NodeProblem, got: np.ndarray) -> None:
    assert np.all(np.isfinite(got))
    assert np.all(got[:, ~problem.varies] == 0)
    np.testing.assert_array_equal(got[np.arange(len(got)), np.abs(got).argmax(axis=1)], 1)


def assert_same_lines(got: np.ndarray, want: np.ndarray, tolerance: float) -> None:
    """Rows of both span the same lines."""
    assert got.shape == want.shape
    got = got / np.linalg.norm(got, axis=1, keepdims=True)
    want = want / np.linalg.norm(want, axis=1, keepdims=True)
    cosine = np.abs(np.sum(got * want, axis=1))
    np.testing.assert_allclose(cosine, 1, atol=tolerance)


def rank_of(problem: NodeProblem) -> int:
    values = np.linalg.svd(problem.Z, compute_uv=False)
    return np.count_nonzero(values > 1e-6 * values.max())


def canonical_correlations(problem: NodeProblem) -> np.ndarray:
    """Cosines of the angles between the span of the features and that of the responses."""
    features = scipy.linalg.orth(problem.Z, rcond=1e-5)
    responses = scipy.linalg.orth(problem.Y, rcond=1e-10)
    return np.linalg.svd(features.T @ responses, compute_uv=False)


@EACH
def test_cca_reaches_the_canonical_correlations(problem: NodeProblem) -> None:
    got = _core.models_cca(*problem.data)
    assert_convention(problem, got)
    want = canonical_correlations(problem)
    want = want[want > 1e-5 * want[0]]
    assert len(got) == len(want)
    variates = problem.Z @ problem.standard(got).T
    variates /= np.linalg.norm(variates, axis=0)
    responses = scipy.linalg.orth(problem.Y, rcond=1e-10)
    np.testing.assert_allclose(np.linalg.norm(responses.T @ variates, axis=0), want, atol=1e-7)
    np.testing.assert_allclose(variates.T @ variates, np.eye(len(got)), atol=1e-6)


@EACH
def test_cca_uses_no_more_features_than_the_rank(problem: NodeProblem) -> None:
    used = np.any(_core.models_cca(*problem.data) != 0, axis=0).sum()
    assert used <= rank_of(problem)


def test_cca_of_full_rank_equals_lda() -> None:
    problem = node_problem(6, 100, 8, 5)
    np.testing.assert_allclose(
        _core.models_cca(*problem.data), _core.models_lda(*problem.data), atol=1e-8
    )


def test_cca_solves_the_generalised_eigenproblem() -> None:
    problem = node_problem(7, 150, 6, 4)
    Z, Y = problem.Z, problem.Y
    value, vectors = scipy.linalg.eigh(Z.T @ Y @ Y.T @ Z, Z.T @ Z)
    want = vectors[:, ::-1][:, :3].T
    assert_same_lines(problem.standard(_core.models_cca(*problem.data)), want, 1e-10)
    np.testing.assert_allclose(
        np.sqrt(value[::-1][:3]), canonical_correlations(problem)[:3], atol=1e-10
    )


@EACH
def test_pls_equals_scikit_learn(problem: NodeProblem) -> None:
    rank = rank_of(problem)
    n_components = int(min(3, rank))
    got = _core.models_pls(*problem.data, n_components)
    assert_convention(problem, got)
    Y = problem.Y[:, 1:] if problem.n_classes == 2 else problem.Y
    # scikit-learn centres without weights: with each row's opposite there is nothing to centre.
    Z = np.vstack([problem.Z, -problem.Z]) / np.sqrt(2)
    Y = np.vstack([Y, -Y]) / np.sqrt(2)
    pls = PLSRegression(len(got), scale=False, tol=1e-15, max_iter=20_000).fit(Z, Y)
    # A component is well defined as long as its leading singular value stands alone.
    alone = 0
    XY = Z.T @ Y
    for k in range(len(got)):
        s = np.linalg.svd(XY, compute_uv=False)
        if (len(s) > 1 and s[1] > 0.999 * s[0]) or s[0] < 1e-8 * np.linalg.norm(Z.T @ Y):
            break
        alone += 1
        t = Z @ pls.x_rotations_[:, k]
        XY = XY - np.outer(Z.T @ t, t @ Y) / (t @ t)
    assert alone > 0 or problem.n_classes > 2
    want = pls.x_rotations_.T[:alone]
    assert_same_lines(problem.standard(got)[:alone], want, 1e-7)
    if len(got) < n_components:
        assert np.linalg.norm(XY) < 1e-8 * np.linalg.norm(Z.T @ Y)


def test_pls_variates_are_uncorrelated_and_fill_the_rank() -> None:
    problem = node_problem(11, 60, 6, 3)
    got = _core.models_pls(*problem.data, 100)
    assert len(got) <= 6
    variates = problem.Z @ problem.standard(got).T
    variates /= np.linalg.norm(variates, axis=0)
    np.testing.assert_allclose(variates.T @ variates, np.eye(len(got)), atol=1e-8)


def slope_at_best_length(
    problem: NodeProblem, direction: np.ndarray, k: int, alpha: float
) -> float:
    """Gradient of the loss at the best multiple of the direction, relative to that at 0."""
    Z, weight = problem.Z / np.sqrt(problem.weight)[:, None], problem.weight
    y = (problem.y == k).astype(float)
    X = np.column_stack([Z @ direction, np.ones(len(Z))])
    penalty = np.array([alpha, 0.0])
    b = np.zeros(2)
    for _ in range(100):
        p = expit(X @ b)
        hessian = (X.T * (weight * p * (1 - p))) @ X + np.diag(penalty)
        step = np.linalg.solve(hessian, X.T @ (weight * (p - y)) + penalty * b)
        b -= step / max(1.0, np.abs(X @ step).max())
    slope = Z.T @ (weight * (expit(X @ b) - y)) + alpha * b[0] * direction
    return np.linalg.norm(slope) / np.linalg.norm(
        Z.T @ (weight * (y - np.average(y, weights=weight)))
    )


@EACH_CLASSIFICATION
@pytest.mark.parametrize("alpha", [0.01, 1.0, 50.0])
def test_logistic_converges_to_the_minimum(problem: NodeProblem, alpha: float) -> None:
    got = _core.models_logistic(*problem.data, alpha, 200)
    assert_convention(problem, got)
    classes = [1] if problem.n_classes == 2 else range(problem.n_classes)
    for k, direction in zip(classes, problem.standard(got), strict=True):
        assert slope_at_best_length(problem, direction, k, alpha) < 1e-7


def test_logistic_equals_scikit_learn() -> None:
    problem = node_problem(2, 120, 5, 2)
    Z = problem.Z / np.sqrt(problem.weight)[:, None]
    fit = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000)
    fit.fit(Z, problem.y, sample_weight=problem.weight)
    got = _core.models_logistic(*problem.data, 2.0, 100)
    assert_same_lines(problem.standard(got), fit.coef_, 1e-8)


@pytest.mark.parametrize("seed", [21, 26, 50, 304, 380])
def test_logistic_converges_where_whole_newton_steps_diverge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(10, 100), rng.integers(1, 4)
    X = rng.standard_t(1, size=(n, m))
    draws, slope, intercept = rng.random(n), rng.choice([0.1, 1, 5]), rng.choice([0, 2, 4])
    problem = NodeProblem(X, draws < expit(X[:, 0] * slope - intercept), 2)
    X, sign = np.column_stack([problem.Z, np.ones(n)]), 2 * problem.y - 1
    penalty = np.r_[np.full(m, 1e-3), 0]
    want = minimize(
        lambda b: np.sum(np.logaddexp(0, -sign * (X @ b))) + penalty @ b**2 / 2,
        np.zeros(m + 1),
        jac=lambda b: X.T @ (-sign * expit(-sign * (X @ b))) + penalty * b,
        hess=lambda b: (X.T * (expit(X @ b) * expit(-X @ b))) @ X + np.diag(penalty),
        method="trust-exact",
        options={"gtol": 1e-10, "maxiter": 5000},
    ).x
    got = problem.standard(_core.models_logistic(*problem.data, 1e-3, 20))
    assert_same_lines(got, want[None, :-1], 1e-9)


@EACH_CLASSIFICATION
def test_logistic_stays_finite_when_classes_separate(problem: NodeProblem) -> None:
    for n_steps in (1, 5, 300):
        got = _core.models_logistic(*problem.data, 0.0, n_steps)
        assert_convention(problem, got)
        assert len(got) == (1 if problem.n_classes == 2 else problem.n_classes)


def test_logistic_separates_nearly_all_rows_within_a_few_steps() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) * np.array([1, 10, 100, 1000])
    y = X @ np.array([1, 0.1, 0.01, -0.001]) > 0
    problem = NodeProblem(X, y, 2)
    order = np.argsort(problem.X @ _core.models_logistic(*problem.data, 1e-3, 8)[0])
    wrong = np.sum(y[order] != (np.arange(200) >= np.sum(~y)))
    assert min(wrong, 200 - wrong) <= 4


def test_features_at_the_rounding_of_float32_drop_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X[:, 1] = 1e6 + 0.0625 * (X[:, 1] > 0)  # neighbours in float32
    X[:, 2] += 1e6
    problem = NodeProblem(X, X[:, 0] + X[:, 2] - 1e6 > 0, 2)
    for got in (
        _core.models_lda(*problem.data),
        _core.models_cca(*problem.data),
        _core.models_pls(*problem.data, 1),
        _core.models_logistic(*problem.data, 1.0, 5),
    ):
        np.testing.assert_array_equal(got[0] != 0, [True, False, True])


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize(("n", "m"), [(1, 3), (6, 3)])
def test_nodes_without_variation_have_no_directions(n: int, m: int, n_classes: int) -> None:
    data = np.ones((n, m)), np.ones(n), np.arange(n) % max(n_classes, 1) * 1.0, n_classes
    alphas = np.array([0.1, 1.0])
    assert [len(d) for d in _core.models_ridge_path(*data, alphas)] == [0, 0]
    assert _core.models_gcv(*data, alphas)[1] == 0
    for got in (
        _core.models_lda(*data),
        _core.models_cca(*data),
        _core.models_pls(*data, 2),
        *_core.models_p_values(*data, 1.0),
    ):
        assert got.shape == (0, m)
    if n_classes:
        assert _core.models_logistic(*data, 1.0, 3).shape == (0, m)
        assert _core.models_logistic_p_values(*data, 1.0, 3)[1].shape == (0, m)


@pytest.mark.parametrize(("n", "m"), [(40, 5), (9, 12)])
def test_an_absent_class_changes_nothing(n: int, m: int) -> None:
    problem = node_problem(3, n, m, 3)
    gap = NodeProblem(problem.X, problem.y + (problem.y > 0), 4, problem.weight)
    one, other = problem.data, gap.data
    alphas = np.array([0.1, 10.0])
    np.testing.assert_allclose(
        _core.models_gcv(*one, alphas)[0], _core.models_gcv(*other, alphas)[0]
    )
    for a, b in (
        (_core.models_lda(*one), _core.models_lda(*other)),
        (_core.models_cca(*one), _core.models_cca(*other)),
        (_core.models_pls(*one, 2), _core.models_pls(*other, 2)),
        (_core.models_logistic(*one, 1.0, 9), _core.models_logistic(*other, 1.0, 9)),
        (_core.models_ridge_path(*one, alphas)[0], _core.models_ridge_path(*other, alphas)[0]),
    ):
        np.testing.assert_allclose(a, b, atol=1e-6)
