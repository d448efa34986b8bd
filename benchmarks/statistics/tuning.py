"""Forests with d and density chosen by out-of-bag error from the papers' grid (SPORF 3.2)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Forest", "Settings", "grid", "tune"]

POWERS = ("p**0.25", "p**0.5", "p**0.75", "p", "p**2")
DENSITIES = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Settings:
    """What is the same for all forests of a problem."""

    n_trees: int
    n_threads: int
    voting: str
    limits: dict[str, Any]  # stopping rules; none: pure leaves


@dataclass(frozen=True)
class Forest:
    """The chosen forest, where it stands in the grid, and its out-of-bag error."""

    model: Any
    d: str
    density: int | None
    out_of_bag: float

    def test_error(self, X: np.ndarray, y: np.ndarray) -> float:
        return float(np.mean(self.model.predict(X) != y))

    @property
    def choice(self) -> str:
        return self.d if self.density is None else f"{self.d}, density {self.density}"


def grid(kind: str, n_features: int) -> list[tuple[str, int | None]]:
    """(d, density) to try: axis d ≤ p; sparse d ≤ p², density 1 to 5 but at most p."""
    if kind == "axis":
        return [(d, None) for d in POWERS[:4]]
    return [(d, density) for d in POWERS for density in DENSITIES if density <= n_features]


def tune(kind: str, X: np.ndarray, y: np.ndarray, settings: Settings, seed: int) -> Forest:
    """Grow the whole grid; keep the forest of least out-of-bag error, the first one of ties."""
    best: Forest | None = None
    for d, density in grid(kind, X.shape[1]):
        model = grow(d, density, settings, seed).fit(X, y)
        error = 1.0 - float(model.oob_score_)
        if best is None or error < best.out_of_bag:
            best = Forest(model, d, density, error)
    assert best is not None
    return best


def grow(d: str, density: int | None, settings: Settings, seed: int) -> Any:
    """An unfitted forest at one point of the grid; features stay as they are, as in the papers."""
    from bevel import ObliqueForestClassifier, projections

    return ObliqueForestClassifier(
        n_estimators=settings.n_trees,
        projection=projections.Axis() if density is None else projections.SparseSigns(density),
        n_projections=d,
        scale=None,
        voting=settings.voting,
        oob_score=True,
        n_jobs=settings.n_threads,
        random_state=seed,
        **settings.limits,
    )
