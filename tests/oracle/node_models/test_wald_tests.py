"""Wald tests of logistic node models against explicit formulas and the limits that theory gives."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from scipy.special import expit
from support.naive.models import logistic_coefficients, wald_p_values, with_intercept
from support.node_problems import PROBLEMS, NodeProblem, node_problem

from bevel import _core

CLASSIFICATION = {name: p for name, p in PROBLEMS.items() if p.n_classes}
EACH = pytest.mark.parametrize("problem", CLASSIFICATION.values(), ids=CLASSIFICATION.keys())
TO_THE_END = 200


def p_values(problem: NodeProblem, alpha: float, n_steps: int = TO_THE_END) -> np.ndarray:
    return _core.models_logistic_p_values(*problem.data, alpha, n_steps)[1]


def overlapping(n: int = 150, *, weight: np.ndarray | None = None) -> NodeProblem:
    """Two classes that no direction separates."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 4)) + rng.normal(size=(n, 1))
    y = rng.random(n) < expit(X @ [1.0, -0.6, 0.2, 0.0] - 0.7)
    return NodeProblem(X * [1, 10, 0.01, 1], y, 2, np.empty(0) if weight is None else weight)


def test_normal_tail_equals_scipy_to_the_end_of_its_range() -> None:
    near, far = np.r_[0.0, 1e-300, 1e-9, np.linspace(0.001, 5, 2000)], np.linspace(5, 37.6, 500)
    # The rounding of z^2 / 2 is worth up to 1e-13 of the far tail.
    for z, tolerance in ((near, 3e-14), (-near, 3e-14), (far, 5e-13), (-far, 5e-13)):
        got = [_core.models_normal_p_value(each) for each in z]
        np.testing.assert_allclose(got, 2 * scipy.stats.norm.sf(np.abs(z)), rtol=tolerance)
    for beyond in (37.7, 1e3, 1e200, np.inf):
        assert _core.models_normal_p_value(beyond) == 0


@EACH
@pytest.mark.parametrize("alpha", [0.01, 1.0, 300.0])
def test_p_values_equal_the_explicit_wald_tests(problem: NodeProblem, alpha: float) -> None:
    got, p = _core.models_logistic_p_values(*problem.data, alpha, TO_THE_END)
    np.testing.assert_array_equal(got, _core.models_logistic(*problem.data, alpha, TO_THE_END))
    assert got.shape == p.shape
    assert np.all(p[:, ~problem.varies] == 1)
    want = wald_p_values(problem, alpha, logistic_coefficients(problem, alpha))
    np.testing.assert_allclose(p, want, rtol=1e-4, atol=1e-300)


@pytest.mark.parametrize("n_steps", [1, 2, 3])
def test_tests_are_made_where_the_steps_ended(n_steps: int) -> None:
    problem = overlapping()
    X, y = with_intercept(problem), problem.y
    penalty = np.r_[np.full(4, 2.0), 0.0]
    b = np.r_[np.zeros(4), np.log(y.mean() / (1 - y.mean()))]
    for _ in range(n_steps):
        q = expit(X @ b)
        hessian = (X.T * (q * (1 - q))) @ X + np.diag(penalty)
        b = b - np.linalg.solve(hessian, X.T @ (q - y) + penalty * b)
    want = wald_p_values(problem, 2.0, b[:, None])
    np.testing.assert_allclose(p_values(problem, 2.0, n_steps), want, rtol=1e-9)


def test_p_values_without_penalty_are_those_of_the_inverse_information() -> None:
    """In the features' own units, as a textbook has it."""
    problem = overlapping()
    X, y = np.column_stack([problem.X, np.ones(150)]), problem.y
    b = np.zeros(5)
    for _ in range(50):
        q = expit(X @ b)
        information = (X.T * (q * (1 - q))) @ X
        b = b + np.linalg.solve(information, X.T @ (y - q))
    z = b / np.sqrt(np.diag(np.linalg.inv(information)))
    p = p_values(problem, 1e-9)[0]
    np.testing.assert_allclose(p, 2 * scipy.stats.norm.sf(np.abs(z[:-1])), rtol=1e-6)


def test_p_values_without_penalty_equal_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    problem = overlapping()
    fit = api.Logit(problem.y, api.add_constant(problem.X)).fit(disp=0, tol=1e-12)
    np.testing.assert_allclose(p_values(problem, 1e-9)[0], fit.pvalues[1:], rtol=1e-6)


def test_p_value_of_a_table_of_four_cells_is_that_of_its_log_odds_ratio() -> None:
    """Woolf 1955: the variance is the sum of the inverse counts."""
    cells = np.array([[31, 12], [17, 25]])
    X, y = (np.repeat(index.ravel(), cells.ravel()) for index in np.indices((2, 2)))
    z = np.log(cells[0, 0] * cells[1, 1] / (cells[0, 1] * cells[1, 0])) / np.sqrt(np.sum(1 / cells))
    p = p_values(NodeProblem(X[:, None], y, 2), 1e-9)
    np.testing.assert_allclose(p, [[2 * scipy.stats.norm.sf(z)]], rtol=1e-6)


@pytest.mark.parametrize("name", ["two-plain", "ten-plain", "as_many_rows-plain", "wide-offset"])
def test_under_a_large_penalty_each_feature_has_its_score_test(name: str) -> None:
    """Its statistic is sqrt(n) times the (weighted) correlation with the class."""
    problem = PROBLEMS[name]
    classes = [1] if problem.n_classes == 2 else range(problem.n_classes)
    want = []
    for k in classes:
        moments = np.cov(
            np.column_stack([problem.X, problem.y == k]), rowvar=False, aweights=problem.weight
        )
        r = moments[-1, :-1] / np.sqrt(np.diag(moments)[:-1] * moments[-1, -1])
        want.append(2 * scipy.stats.norm.sf(np.sqrt(len(problem.X)) * np.abs(r)))
    np.testing.assert_allclose(p_values(problem, 1e9), want, rtol=1e-5)


def test_a_row_drawn_twice_is_no_second_witness() -> None:
    once = overlapping()
    twice = overlapping(weight=np.full(150, 2.0))
    np.testing.assert_allclose(p_values(twice, 2.0), p_values(once, 1.0), rtol=1e-9)
    seen_twice = NodeProblem(np.vstack([once.X] * 2), np.r_[once.y, once.y], 2)
    assert p_values(seen_twice, 2.0)[0, 0] < 1e-3 * p_values(once, 1.0)[0, 0]


def test_classes_that_separate_lose_their_significance_with_the_penalty() -> None:
    """Hauck and Donner 1977: the error grows faster than the coefficient."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    X[:, 0] += np.sign(X[:, 0])
    problem = NodeProblem(X, X[:, 0] > 0, 2)
    p = np.array([p_values(problem, alpha)[0, 0] for alpha in 10.0 ** np.arange(0, -9, -1)])
    assert p[0] < 1e-6
    assert np.all(np.diff(p) > 0)
    assert p[-1] > 0.9


@EACH
@pytest.mark.parametrize("n_steps", [1, 5, 300])
def test_p_values_are_probabilities_without_any_penalty(problem: NodeProblem, n_steps: int) -> None:
    p = p_values(problem, 0.0, n_steps)
    assert p.shape == (1 if problem.n_classes == 2 else problem.n_classes, problem.X.shape[1])
    assert np.all((p >= 0) & (p <= 1))


def test_tiny_and_huge_weights_make_no_difference() -> None:
    one = p_values(overlapping(), 1.0)
    for scale in (2.0**-100, 2.0**100):
        problem = overlapping(weight=np.full(150, scale))
        np.testing.assert_allclose(p_values(problem, scale), one, rtol=1e-9)


def test_a_class_that_the_node_lacks_has_no_tests() -> None:
    problem = node_problem(3, 40, 5, 3)
    gap = NodeProblem(problem.X, problem.y + (problem.y > 0), 4, problem.weight)
    np.testing.assert_array_equal(p_values(gap, 1.0), p_values(problem, 1.0))
    lone = NodeProblem(problem.X, np.zeros(40), 2, problem.weight)
    assert p_values(lone, 1.0).shape == (0, 5)
