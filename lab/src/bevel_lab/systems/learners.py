"""Baselines that scikit-learn has in parts only: pruned trees, kernels of estimated width."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier

__all__ = [
    *("GaussianProcess", "HalfTree", "KernelWidthThenCost", "PrunedTree"),
    "squared_distances",
]

MAX_PRUNINGS = 30  # pruning levels tried; large trees have thousands
SAMPLED_PAIRS = 2000


class PrunedTree(BaseEstimator):  # type: ignore[misc]
    """A tree whose pruning level is chosen by cross-validation (Breiman et al. 1984).

    Between two levels of the full tree's pruning path all penalties give the same tree; as in CART,
    the geometric mean stands for them.
    """

    def __init__(self, tree: Any, cv: Any = 10) -> None:
        self.tree = tree
        self.cv = cv

    def fit(self, X: Any, y: Any) -> "PrunedTree":
        """Choose the level, then grow and prune on all rows."""
        alphas = np.maximum(self.tree.cost_complexity_pruning_path(X, y).ccp_alphas, 0.0)
        middles = np.append(np.sqrt(alphas[:-1] * alphas[1:]), alphas[-1])
        if len(middles) > MAX_PRUNINGS:
            middles = middles[np.linspace(0, len(middles) - 1, MAX_PRUNINGS).astype(int)]
        scores = [
            np.mean(cross_val_score(clone(self.tree).set_params(ccp_alpha=alpha), X, y, cv=self.cv))
            for alpha in np.unique(middles)
        ]
        # Among penalties of equal score the largest is chosen, which gives the smallest tree.
        best = len(scores) - 1 - int(np.argmax(scores[::-1]))
        self.tree_ = clone(self.tree).set_params(ccp_alpha=np.unique(middles)[best]).fit(X, y)
        self.classes_ = getattr(self.tree_, "classes_", None)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Prediction of the pruned tree."""
        predicted: NDArray[Any] = self.tree_.predict(X)
        return predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class shares in its leaves."""
        shares: NDArray[np.float64] = self.tree_.predict_proba(X)
        return shares


class KernelWidthThenCost(BaseEstimator):  # type: ignore[misc]
    """A support vector machine tuned one parameter after the other, as in Menze's section 3."""

    def __init__(self, machine: Any) -> None:
        self.machine = machine

    def fit(self, X: Any, y: Any) -> "KernelWidthThenCost":
        """The width at unit cost, then the cost, each in 3-fold cross-validation."""
        quartiles = np.quantile(squared_distances(X), [0.25, 0.5, 0.75])
        gammas = 1.0 / np.maximum(quartiles, np.finfo(np.float64).tiny)
        width = GridSearchCV(self.machine, {"gamma": gammas.tolist()}, cv=3).fit(X, y)
        costs = [10.0**power for power in range(-5, 6)]
        self.machine_ = GridSearchCV(width.best_estimator_, {"C": costs}, cv=3).fit(X, y)
        self.classes_ = getattr(self.machine_, "classes_", None)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Prediction of the tuned machine."""
        predicted: NDArray[Any] = self.machine_.predict(X)
        return predicted

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Distance from the boundary, for ROC curves."""
        distance: NDArray[np.float64] = self.machine_.decision_function(X)
        return distance


class GaussianProcess(BaseEstimator):  # type: ignore[misc]
    """A Gaussian process with kernel exp(−|x − x'|² / m), m the median of |x − x'|²."""

    def __init__(self, is_regression: bool = False, random_state: int = 0) -> None:
        self.is_regression = is_regression
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "GaussianProcess":
        """Estimate the width, then condition on the rows; nothing is optimised."""
        from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF

        kernel = RBF(max(np.sqrt(np.median(squared_distances(X)) / 2.0), 1e-5))
        if self.is_regression:
            # kernlab's noise variance, on a standardised target.
            process = GaussianProcessRegressor(kernel, alpha=1e-3, optimizer=None, normalize_y=True)
        else:
            process = GaussianProcessClassifier(kernel, optimizer=None)
        self.process_ = process.set_params(random_state=self.random_state).fit(X, y)
        self.classes_ = getattr(self.process_, "classes_", None)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class, or the mean."""
        predicted: NDArray[Any] = self.process_.predict(X)
        return predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities by Laplace's approximation, one class against the rest."""
        shares: NDArray[np.float64] = self.process_.predict_proba(X)
        return shares


def squared_distances(X: NDArray[Any]) -> NDArray[np.float64]:
    """|x − x'|² of random pairs of different rows, the same pairs for the same number of rows."""
    rng = np.random.default_rng(0)
    first = rng.integers(len(X), size=SAMPLED_PAIRS)
    second = (first + rng.integers(1, max(len(X), 2), size=SAMPLED_PAIRS)) % len(X)
    difference = np.asarray(X[first] - X[second], dtype=np.float64)
    squares: NDArray[np.float64] = np.einsum("ij,ij->i", difference, difference)
    return squares


class HalfTree(DecisionTreeClassifier):  # type: ignore[misc]
    """A tree grown on a random half of its rows, as R's ada bags them (bag.frac = 0.5)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Any:
        """Fit to half of the rows; all classes of the others stay possible."""
        rng = np.random.default_rng(self.random_state)
        weight = np.ones(len(y)) if sample_weight is None else np.array(sample_weight, float)
        out = rng.permutation(len(y))[: len(y) // 2]
        halved = weight.copy()
        halved[out] = 0.0
        if len(np.unique(y[halved > 0])) < len(np.unique(y)):
            halved = weight
        return super().fit(X, y, sample_weight=halved, check_input=check_input)
