"""Ridge, its cross-validation, discriminants and t-tests against explicit formulas in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from support.node_problems import PROBLEMS, NodeProblem, node_problem

from bevel import _core

ALPHAS = 10.0 ** np.arange(-5, 6)
EACH = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())


def coefficients(problem: NodeProblem, alpha: float) -> np.ndarray:
    """Least squares on rows augmented by the penalty; the shortest solution without one."""
    Z, Y = problem.Z, problem.Y
    if alpha == 0:
        return np.linalg.lstsq(Z, Y, rcond=1e-5)[0]
    Z = np.vstack([Z, np.sqrt(alpha) * np.eye(Z.shape[1])])
    return np.linalg.lstsq(Z, np.vstack([Y, np.zeros((Z.shape[1], Y.shape[1]))]), rcond=None)[0]


def expected(problem: NodeProblem, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Directions in standard units (columns), their scores and how well the scores are fitted."""
    B = coefficients(problem, alpha)
    if problem.n_classes < 3:
        return B[:, -1:], np.array([[0.0], [1.0]])[-B.shape[1] :], np.ones(1)
    M = problem.Y.T @ problem.Z @ B
    value, theta = np.linalg.eigh((M + M.T) / 2)
    order = np.argsort(-value)[: problem.n_classes - 1]
    order = order[value[order] > 1e-9 * value.max()]
    return B @ theta[:, order], theta[:, order], value[order]


def assert_same_directions(
    problem: NodeProblem, got: np.ndarray, B: np.ndarray, value: np.ndarray, tolerance: float
) -> None:
    assert len(got) == B.shape[1]
    assert np.all(got[:, ~problem.varies] == 0)
    np.testing.assert_array_equal(got[np.arange(len(got)), np.abs(got).argmax(axis=1)], 1)
    want = B / np.linalg.norm(B, axis=0)
    got = problem.standard(got)
    # Directions whose scores are fitted equally well are known as a space only.
    group = np.cumsum(np.r_[False, np.diff(value) < -1e-5 * value[0]])
    for number in np.unique(group):
        space = scipy.linalg.orth(want[:, group == number])
        inside = np.linalg.norm(got[group == number] @ space, axis=1)
        np.testing.assert_allclose(inside, 1, atol=tolerance)


@EACH
def test_ridge_path_equals_augmented_least_squares(problem: NodeProblem) -> None:
    path = _core.models_ridge_path(*problem.data, ALPHAS)
    for alpha, got in zip(ALPHAS, path, strict=True):
        B, _, value = expected(problem, alpha)
        assert_same_directions(problem, got, B, value, 1e-9)


@EACH
def test_ridge_path_is_that_of_single_alphas(problem: NodeProblem) -> None:
    path = _core.models_ridge_path(*problem.data, ALPHAS)
    for alpha, got in zip(ALPHAS, path, strict=True):
        np.testing.assert_array_equal(
            got, _core.models_ridge_path(*problem.data, np.array([alpha]))[0]
        )


@EACH
def test_gcv_equals_the_formula_with_the_hat_matrix(problem: NodeProblem) -> None:
    score, best = _core.models_gcv(*problem.data, ALPHAS)
    Z, Y, n = problem.Z, problem.Y, len(problem.X)
    want = []
    for alpha in ALPHAS:
        H = Z @ np.linalg.solve(Z.T @ Z + alpha * np.eye(Z.shape[1]), Z.T)
        rss = np.sum((Y - H @ Y) ** 2) / (1 if problem.n_classes else np.sum(Y**2))
        want.append(n * max(rss, 1e-10) / (n - 1 - np.trace(H)) ** 2)
    exact = n - 1 > Z.shape[1]  # else the explicit formula is 0 / 0 for small alphas
    reliable = np.full(len(ALPHAS), True) if exact else ALPHAS > 1e-2
    np.testing.assert_allclose(score[reliable], np.array(want)[reliable], rtol=1e-5)
    assert best == len(score) - 1 - score[::-1].argmin()


def test_gcv_of_an_interpolated_node_tends_to_its_limit() -> None:
    problem = node_problem(5, 10, 25, 2)
    score, _ = _core.models_gcv(*problem.data, np.array([1e-3, 1e-6]))
    U, s, _ = np.linalg.svd(problem.Z)
    y = problem.Y[:, 1] / np.linalg.norm(problem.Y[:, 1])
    limit = 10 * np.sum(((U.T @ y)[:9] / s[:9] ** 2) ** 2) / np.sum(1 / s[:9] ** 2) ** 2
    np.testing.assert_allclose(score, limit, rtol=1e-2)
    np.testing.assert_allclose(score[1], limit, rtol=1e-5)


def test_gcv_gives_ties_to_the_larger_alpha() -> None:
    problem = node_problem(1, 30, 3, 2)
    alphas = np.array([1e5, 1e-40, 1e-30, 1e-35])
    score, best = _core.models_gcv(*problem.data, alphas)
    assert score[1] == score[2] == score[3] < score[0]
    assert best == 2


def test_gcv_of_a_constant_target_is_zero() -> None:
    problem = NodeProblem(np.random.default_rng(0).normal(size=(9, 3)), np.full(9, 0.3), 0)
    score, _ = _core.models_gcv(*problem.data, ALPHAS)
    assert np.all(score == 0)
    assert all(len(path) == 0 for path in _core.models_ridge_path(*problem.data, ALPHAS))


@EACH
def test_lda_equals_the_shortest_least_squares_solution(problem: NodeProblem) -> None:
    B, _, value = expected(problem, 0)
    assert_same_directions(problem, _core.models_lda(*problem.data), B, value, 1e-7)


@pytest.mark.parametrize(("n", "m", "n_classes"), [(50, 3, 2), (80, 6, 3), (300, 12, 10)])
def test_lda_equals_scikit_learn(n: int, m: int, n_classes: int) -> None:
    problem = node_problem(3, n, m, n_classes)
    problem = NodeProblem(problem.X, problem.y, n_classes)
    lda = LinearDiscriminantAnalysis(solver="svd").fit(problem.X, problem.y)
    B = (lda.scalings_ * problem.sd[:, None])[:, : n_classes - 1]
    value = lda.explained_variance_ratio_
    assert_same_directions(problem, _core.models_lda(*problem.data), B, value, 1e-9)


def test_lda_of_weighted_rows_solves_the_generalised_eigenproblem() -> None:
    problem = node_problem(8, 90, 7, 4)
    X = problem.X - np.average(problem.X, axis=0, weights=problem.weight)
    indicator = problem.y[:, None] == np.arange(4)
    share = problem.weight @ indicator
    means = (indicator * problem.weight[:, None]).T @ X / share[:, None]
    between = (means * share[:, None]).T @ means
    within = (X * problem.weight[:, None]).T @ X - between
    value, vectors = scipy.linalg.eigh(between, within)
    B = (vectors * problem.sd[:, None])[:, ::-1][:, :3]
    assert_same_directions(problem, _core.models_lda(*problem.data), B, value[::-1][:3], 1e-9)


def test_integer_weights_equal_repeated_rows() -> None:
    problem = node_problem(4, 40, 5, 3)
    weight = np.random.default_rng(0).integers(1, 4, 40)
    once = NodeProblem(problem.X, problem.y, 3, weight.astype(float))
    often = NodeProblem(np.repeat(problem.X, weight, 0), np.repeat(problem.y, weight), 3)
    for a, b in zip(
        _core.models_ridge_path(*once.data, ALPHAS),
        _core.models_ridge_path(*often.data, ALPHAS),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, atol=1e-8)
    np.testing.assert_allclose(
        _core.models_lda(*once.data), _core.models_lda(*often.data), atol=1e-8
    )


def test_directions_do_not_depend_on_the_order_of_classes() -> None:
    problem = node_problem(4, 60, 5, 4)
    renamed = NodeProblem(
        problem.X, np.array([2, 0, 3, 1])[problem.y.astype(int)], 4, problem.weight
    )
    for a, b in zip(
        _core.models_ridge_path(*problem.data, ALPHAS),
        _core.models_ridge_path(*renamed.data, ALPHAS),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, atol=1e-7)


@EACH
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 300.0])
def test_p_values_equal_the_explicit_t_tests(problem: NodeProblem, alpha: float) -> None:
    got, p = _core.models_p_values(*problem.data, alpha)
    B, theta, value = expected(problem, alpha)
    assert got.shape == p.shape
    same = _core.models_ridge_path(*problem.data, np.array([alpha]))[0]
    np.testing.assert_allclose(
        got, _core.models_lda(*problem.data) if alpha == 0 else same, rtol=1e-9
    )
    assert np.all(p[:, ~problem.varies] == 1)
    Z, n = problem.Z, len(problem.X)
    pinv = (
        np.linalg.pinv(Z, rcond=1e-5)
        if alpha == 0
        else np.linalg.solve(Z.T @ Z + alpha * np.eye(Z.shape[1]), Z.T)
    )
    freedom = n - 1 - np.trace(Z @ pinv)
    if freedom < 1e-6:
        assert np.all(p == 1)
        return
    separate = len(value) < 2 or np.min(-np.diff(value)) > 1e-3 * value[0]
    if not separate or freedom < 0.01:
        return
    Y = problem.Y @ theta
    rss = np.sum((Y - Z @ B) ** 2, axis=0)
    if np.any(rss < 1e-12 * np.sum(Y**2, axis=0)):
        return
    error = np.sqrt(np.outer(rss / freedom, np.sum(pinv**2, axis=1)))
    want = 2 * scipy.stats.t.sf(np.abs(B.T) / error, freedom)
    np.testing.assert_allclose(p[:, problem.varies], want, rtol=1e-5, atol=1e-9)


def test_p_values_without_penalty_are_those_of_ordinary_regression() -> None:
    problem = node_problem(2, 40, 4, 0)
    problem = NodeProblem(problem.X, problem.y, 0)
    X = np.column_stack([np.ones(40), problem.X])
    b = np.linalg.lstsq(X, problem.y, rcond=None)[0]
    s2 = np.sum((problem.y - X @ b) ** 2) / (40 - 5)
    t = b / np.sqrt(s2 * np.diag(np.linalg.inv(X.T @ X)))
    _, p = _core.models_p_values(*problem.data, 0.0)
    np.testing.assert_allclose(p[0], 2 * scipy.stats.t.sf(np.abs(t[1:]), 35), rtol=1e-8)


def test_p_values_reach_far_into_the_tail() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    problem = NodeProblem(X, X[:, 0] + 0.1 * rng.normal(size=500), 0)
    fit = scipy.stats.linregress(problem.X[:, 0], problem.y)
    assert fit.pvalue < 1e-200
    _, p = _core.models_p_values(*problem.data, 0.0)
    assert 0 <= p[0, 0] < 1e-200
    assert np.all(p[0, 1:] > 1e-4)
