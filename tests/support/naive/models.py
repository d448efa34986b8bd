"""Node models from their formulas, and how far a direction of a tree is from what they say.

All work on a `NodeProblem`, in standard units: columns are directions over the features that vary.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.stats
from scipy.special import expit

from support.node_problems import NodeProblem


@dataclass(frozen=True)
class Lines:
    """Directions in columns, and a value for each: those of equal value are known as a space."""

    problem: NodeProblem
    standard: np.ndarray
    value: np.ndarray

    def __len__(self) -> int:
        return self.standard.shape[1]

    @cached_property
    def raw(self) -> np.ndarray:
        """In units of the features, one direction per row."""
        return self.problem.raw(self.standard).T

    def distance(self, direction: np.ndarray) -> float:
        """Sine of the angle between a raw direction and the nearest of these."""
        return self._distance(self.problem.standard(direction[None, :])[0], self.standard)

    def distance_on_rows(self, direction: np.ndarray) -> float:
        """The same for the values that the rows take, where features may replace each other."""
        Z = self.problem.Z
        return self._distance(Z @ self.problem.standard(direction[None, :])[0], Z @ self.standard)

    def _distance(self, direction: np.ndarray, lines: np.ndarray) -> float:
        direction = direction / np.linalg.norm(direction)
        if len(self) == 1:
            line = lines[:, 0] / np.linalg.norm(lines[:, 0])
            return float(np.linalg.norm(direction - line * (line @ direction)))
        group = np.cumsum(np.r_[False, np.diff(self.value) < -1e-5 * self.value[0]])
        spaces = (scipy.linalg.orth(lines[:, group == g], rcond=1e-9) for g in np.unique(group))
        return min(
            float(np.linalg.norm(direction - space @ (space.T @ direction))) for space in spaces
        )


def _nothing(problem: NodeProblem) -> Lines:
    return Lines(problem, np.zeros((problem.varies.sum(), 0)), np.zeros(0))


def ridge(problem: NodeProblem, alpha: float) -> Lines:
    """Least squares on rows augmented by the penalty; at alpha = 0 the shortest solution."""
    Z, Y = problem.Z, problem.Y
    if Z.shape[1] == 0:
        return _nothing(problem)
    if alpha == 0:
        B = np.linalg.lstsq(Z, Y, rcond=1e-5)[0]
    else:
        penalty = np.sqrt(alpha) * np.eye(Z.shape[1])
        zeros = np.zeros((Z.shape[1], Y.shape[1]))
        B = np.linalg.lstsq(np.vstack([Z, penalty]), np.vstack([Y, zeros]), rcond=None)[0]
    if problem.n_classes < 3:
        return Lines(problem, B[:, -1:], np.ones(1))
    M = Y.T @ Z @ B
    value, theta = np.linalg.eigh((M + M.T) / 2)
    order = np.argsort(-value)[: problem.n_classes - 1]
    order = order[value[order] > 1e-9 * value.max()]
    return Lines(problem, B @ theta[:, order], value[order])


def lda(problem: NodeProblem) -> Lines:
    return ridge(problem, 0.0)


def cca(problem: NodeProblem) -> Lines:
    """Canonical vectors by orthonormal bases of the rows' features and responses."""
    U, s, Vt = np.linalg.svd(problem.Z, full_matrices=False)
    kept = s > 1e-5 * s[0] if len(s) else []
    responses = scipy.linalg.orth(problem.Y, rcond=1e-10)
    left, correlation, _ = np.linalg.svd(U[:, kept].T @ responses, full_matrices=False)
    kept_pairs = correlation > 1e-5 * correlation[0]
    directions = Vt[kept].T @ (left / s[kept][:, None])
    return Lines(problem, directions[:, kept_pairs], correlation[kept_pairs] ** 2)


def pls(problem: NodeProblem, n_components: int) -> Lines:
    """Deflates the features themselves and brings the weights back through them."""
    Z = problem.Z.copy()
    Y = problem.Y
    directions = []
    for _ in range(n_components):
        u, s, _ = np.linalg.svd(Z.T @ Y, full_matrices=False)
        if len(s) == 0 or s[0] < 1e-9 * np.linalg.norm(problem.Z.T @ Y):
            break
        scores = Z @ u[:, 0]
        directions.append(np.linalg.lstsq(problem.Z, scores, rcond=1e-9)[0])
        Z = Z - np.outer(scores, scores @ Z) / (scores @ scores)
    if not directions:
        return _nothing(problem)
    return Lines(problem, np.array(directions).T, -np.arange(len(directions), dtype=float) + 9)


def with_intercept(problem: NodeProblem) -> np.ndarray:
    """Standardised features that vary, and a column of ones."""
    Z = problem.Z / np.sqrt(problem.weight)[:, None]
    return np.column_stack([Z, np.ones(len(Z))])


def logistic(problem: NodeProblem, alpha: float) -> Lines:
    """Each class against the others."""
    directions = logistic_coefficients(problem, alpha)[:-1]
    return Lines(problem, directions, -np.arange(directions.shape[1], dtype=float) + 99)


def logistic_coefficients(problem: NodeProblem, alpha: float) -> np.ndarray:
    """Newton's method to the end, each class (columns) against the others; the intercept last."""
    X = with_intercept(problem)
    penalty = np.r_[np.full(X.shape[1] - 1, alpha), 0.0]
    coefficients = []
    for k in [1] if problem.n_classes == 2 else range(problem.n_classes):
        y = (problem.y == k).astype(float)
        b = np.zeros(X.shape[1])
        for _ in range(100):
            p = expit(X @ b)
            hessian = (X.T * (problem.weight * p * (1 - p))) @ X + np.diag(penalty + 1e-12)
            step = np.linalg.solve(hessian, X.T @ (problem.weight * (p - y)) + penalty * b)
            b -= step / max(1.0, np.abs(X @ step).max())
            if np.abs(step).max() < 1e-12 * np.abs(b).max():
                break
        coefficients.append(b)
    return np.array(coefficients).T


def gcv(problem: NodeProblem, alphas: np.ndarray) -> np.ndarray:
    """Scores of generalised cross-validation with the hat matrix written out."""
    Z, Y, n = problem.Z, problem.Y, len(problem.X)
    scores = []
    for alpha in alphas:
        H = Z @ np.linalg.solve(Z.T @ Z + alpha * np.eye(Z.shape[1]), Z.T)
        rss = np.sum((Y - H @ Y) ** 2) / (1 if problem.n_classes else np.sum(Y**2))
        scores.append(n * max(rss, 1e-10) / (n - 1 - np.trace(H)) ** 2)
    return np.array(scores)


@dataclass(frozen=True)
class OutOfBag:
    """Rows that reach a node but are not in the bag, in the node's features and classes."""

    X: np.ndarray
    y: np.ndarray  # -1: a class that the node's bag does not have
    weight: np.ndarray


def out_of_bag_errors(lines: Lines, outside: OutOfBag) -> np.ndarray:
    """Squared errors on the rows out of the bag of the best cut; several if cuts tie.

    Cuts are compared by what they leave of the weighted squared error of class indicators (the Gini
    impurity) or of the target; each side predicts its mean.
    """
    problem = lines.problem
    one_hot = np.arange(problem.n_classes)
    if problem.n_classes:
        target, truth = (problem.y[:, None] == one_hot) * 1.0, (outside.y[:, None] == one_hot) * 1.0
    else:
        target, truth = problem.y[:, None] - problem.y.mean(), outside.y[:, None] - problem.y.mean()
    weight = problem.weight[:, None]
    tolerance = 1e-9 * weight.sum() * np.var(target)
    left_overs, errors = [], []
    for direction in lines.raw:
        values, new = problem.X @ direction, outside.X @ direction
        order = np.argsort(values)
        gaps = np.diff(values[order])
        cuts = np.flatnonzero(gaps > 1e-9 * np.ptp(values))
        left = [np.cumsum((weight * power)[order], axis=0)[cuts] for power in (target, target**2)]
        total = [(weight * power).sum(axis=0) for power in (target, target**2)]
        weight_left = np.cumsum(weight[order], axis=0)[cuts]
        left_over = total[1].sum() - (left[0] ** 2 / weight_left).sum(axis=1)
        right = total[0] - left[0]
        left_over -= (right**2 / (weight.sum() - weight_left)).sum(axis=1)
        middle = values[order][cuts] + gaps[cuts] / 2
        mean_left, mean_right = left[0] / weight_left, right / (weight.sum() - weight_left)
        best = np.flatnonzero(left_over <= left_over.min(initial=np.inf) + tolerance)
        for cut in best:
            mean = np.where((new <= middle[cut])[:, None], mean_left[cut], mean_right[cut])
            errors.append(outside.weight @ ((truth - mean) ** 2).sum(axis=1))
            left_overs.append(left_over[cut])
    left_overs, errors = np.array(left_overs), np.array(errors)
    return errors[left_overs <= left_overs.min(initial=np.inf) + tolerance]


def two_sided_p_values(problem: NodeProblem, alpha: float, lines: Lines) -> np.ndarray | None:
    """t-tests of two classes or a regression, by feature; None where nothing is left to test."""
    Z, n = problem.Z, len(problem.X)
    inverse = np.linalg.solve(Z.T @ Z + alpha * np.eye(Z.shape[1]), Z.T)
    freedom = n - 1 - np.trace(Z @ inverse)
    b, y = lines.standard[:, 0], problem.Y[:, -1]
    rss = np.sum((y - Z @ b) ** 2)
    if freedom < 0.5 or rss < 1e-10 * np.sum(y**2):
        return None
    error = np.sqrt(rss / freedom * np.sum(inverse**2, axis=1))
    p = np.ones(problem.X.shape[1])
    p[problem.varies] = 2 * scipy.stats.t.sf(np.abs(b) / error, freedom)
    return p


def wald_p_values(problem: NodeProblem, alpha: float, coefficients: np.ndarray) -> np.ndarray:
    """Wald tests at given coefficients of a logistic regression, a row for each of its columns.

    Weights are scaled to a mean of one beforehand, and the penalty, which stands beside them, too.
    """
    X, scale = with_intercept(problem), 1 / problem.weight.mean()
    penalty = scale * np.diag(np.r_[np.full(X.shape[1] - 1, alpha), 0.0])
    p = np.ones((coefficients.shape[1], problem.X.shape[1]))
    for k, b in enumerate(coefficients.T):
        curvature = scale * problem.weight * expit(X @ b) * expit(-X @ b)
        information = (X.T * curvature) @ X
        inverse = np.linalg.inv(information + penalty)
        error = np.sqrt(np.diag(inverse @ information @ inverse))
        p[k, problem.varies] = 2 * scipy.stats.norm.sf(np.abs(b / error)[:-1])
    return p
