"""Logistic regressions on chosen features and one more, for many candidates at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bevel._types import Floats, Indices

__all__ = ["Candidates", "Judged"]

MOST_STEPS = 50  # steps of Newton's method
MOST_NUMBERS = 4_000_000  # size of a block of design matrices


@dataclass(frozen=True, eq=False)
class Judged:
    """Error on left-out rows, squared error and log-likelihood of each candidate."""

    errors: Floats
    squared: Floats
    log_likelihoods: Floats


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rows and folds, and the features to choose from.

    Parameters
    ----------
    X : ndarray of shape (n_rows, p)
        Finite numbers, to be divided by their standard deviations.
    y : ndarray of int, shape (n_rows,)
        Classes, 0 or 1.
    folds : list of ndarray
        Rows that are left out together.
    penalty : float
        Penalty on the squares of the coefficients, except the intercept.
    names : tuple of str
        Names of the features.
    """

    X: Floats
    y: Indices
    folds: list[Indices]
    penalty: float
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        centred = self.X - self.X.mean(axis=0)
        spread = centred.std(axis=0)
        object.__setattr__(self, "X", centred / np.where(spread > 0.0, spread, 1.0))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def smaller_class(self) -> float:
        """Share of the rows of the smaller class."""
        share = float(self.y.mean())
        return min(share, 1.0 - share)

    def judge(self, chosen: Sequence[int], others: Indices) -> Judged:
        """Evaluate models of the chosen features with each of the others."""
        parts = [self._judge(design) for design in self._designs(chosen, others)]
        errors, squared, likelihoods = (np.concatenate(each) for each in zip(*parts, strict=True))
        return Judged(errors, squared, likelihoods)

    def _designs(self, chosen: Sequence[int], others: Indices) -> Iterator[Floats]:
        """Design matrices (block, n_rows, 1 + chosen + 1), intercept first."""
        n = len(self.y)
        fixed = np.concatenate([np.ones((n, 1)), self.X[:, list(chosen)]], axis=1)
        size = max(1, MOST_NUMBERS // (n * (fixed.shape[1] + 1)))
        for first in range(0, len(others), size):
            block = others[first : first + size]
            design = np.empty((len(block), n, fixed.shape[1] + 1))
            design[:, :, :-1] = fixed
            design[:, :, -1] = self.X[:, block].T
            yield design

    def _judge(self, design: Floats) -> tuple[Floats, Floats, Floats]:
        n = len(self.y)
        everyone = np.ones(n)
        whole = fit_logistic(design, self.y, everyone, self.penalty)
        score = np.einsum("pnk,pk->pn", design, whole)
        squared = ((_share(score) - self.y) ** 2).mean(axis=1)
        likelihood = -np.logaddexp(0.0, np.where(self.y == 1, -score, score)).sum(axis=1)
        wrong = np.zeros(len(design))
        for out in self.folds:
            weight = everyone.copy()
            weight[out] = 0.0
            beta = fit_logistic(design, self.y, weight, self.penalty, start=whole)
            said = np.einsum("pnk,pk->pn", design[:, out], beta) > 0.0
            wrong += (said != (self.y[out] == 1)).sum(axis=1)
        return wrong / n, squared, likelihood


def _share(score: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(score, -500.0, 500.0))))


def fit_logistic(
    design: Floats, y: Indices, weight: Floats, penalty: float, start: Floats | None = None
) -> Floats:
    """Fit ridge logistic regressions (first axis), without a penalty on the intercept, by Newton.

    Steps are halved while they do not lower the penalised deviance.
    """
    p, _, k = design.shape
    diagonal = np.full(k, penalty)
    diagonal[0] = 0.0
    beta = np.zeros((p, k)) if start is None else start.copy()
    loss = _loss(design, y, weight, diagonal, beta)
    for _ in range(MOST_STEPS):
        share = _share(np.einsum("pnk,pk->pn", design, beta))
        slope = np.einsum("pnk,pn->pk", design, weight * (y - share)) - beta * diagonal
        curvature = np.maximum(weight * share * (1.0 - share), 1e-12)
        hessian = np.einsum("pnk,pn,pnl->pkl", design, curvature, design, optimize=True)
        step = np.linalg.solve(hessian + np.diag(diagonal), slope[:, :, None])[:, :, 0]
        for _ in range(10):
            new_loss = _loss(design, y, weight, diagonal, beta + step)
            worse = new_loss > loss + 1e-12
            if not worse.any():
                break
            step[worse] *= 0.5
        beta = beta + step
        loss = np.minimum(loss, new_loss)
        if np.abs(step).max() < 1e-8:
            break
    return beta


def _loss(design: Floats, y: Indices, weight: Floats, diagonal: Floats, beta: Floats) -> Floats:
    score = np.einsum("pnk,pk->pn", design, beta)
    deviance = weight * np.logaddexp(0.0, np.where(y == 1, -score, score))
    return np.asarray(deviance.sum(axis=1) + 0.5 * (beta**2 * diagonal).sum(axis=1))
