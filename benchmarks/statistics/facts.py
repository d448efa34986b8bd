"""The facts: which problem, which sizes, and what must hold for the errors of both forests."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.intervals import paired

__all__ = ["FACTS", "Fact"]

Draw = Callable[[int, int], tuple[np.ndarray, np.ndarray]]  # rows, seed -> X, y
# Test errors of the axis and of the sparse forest, one for each repeat -> (does it hold?, reason)
Judge = Callable[[np.ndarray, np.ndarray], tuple[bool | None, str]]


@dataclass(frozen=True)
class Fact:
    """One line of the report. `limits` are stopping rules given to both forests."""

    name: str
    claim: str
    draw: Draw
    n_train: int
    judge: Judge
    limits: dict[str, Any] = field(default_factory=dict)


def sparse_parity(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from bevel import datasets

    return datasets.sparse_parity(n, 20, 3, random_state=seed)


def orthant(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from bevel import datasets

    return datasets.orthant(n, 6, random_state=seed)


def trunk(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from bevel import datasets

    return datasets.trunk(n, 10, random_state=seed)


N_STRIPES = 30
MAX_DEPTH = 20


def consistency(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from bevel import datasets

    return datasets.consistency(n, N_STRIPES, random_state=seed)


def at_most_half(axis: np.ndarray, sparse: np.ndarray) -> tuple[bool, str]:
    """The whole interval of sparse − axis / 2 at or below 0."""
    interval = paired(sparse, axis / 2)
    ratio = sparse.mean() / axis.mean()
    reason = f"sparse / axis = {ratio:.2f}; sparse − axis / 2: {interval.in_points()} points"
    return bool(interval.high <= 0), reason


def within_two_points(axis: np.ndarray, sparse: np.ndarray) -> tuple[bool, str]:
    interval = paired(sparse, axis)
    return interval.within(0.02), f"sparse − axis: {interval.in_points()} points"


def below(axis: np.ndarray, sparse: np.ndarray) -> tuple[bool, str]:
    """The whole interval of the difference below 0."""
    interval = paired(sparse, axis)
    return bool(interval.high < 0), f"sparse − axis: {interval.in_points()} points"


def around_a_sixth(axis: np.ndarray, sparse: np.ndarray) -> tuple[bool, str]:
    """Axis not clearly below 1/6 (0.15 allows for the sample), sparse below 1/12 with certainty."""
    level, half = paired(axis, np.zeros_like(axis)), paired(sparse, np.zeros_like(sparse))
    holds = level.mean >= 0.15 and half.high < 1 / 12
    return bool(holds), f"error % of axis {level.in_points()}, of sparse {half.in_points()}"


def no_claim(axis: np.ndarray, sparse: np.ndarray) -> tuple[None, str]:
    interval = paired(sparse, axis)
    return None, f"for information; sparse − axis: {interval.in_points()} points"


FACTS = (
    Fact(
        "parity",
        "sparse parity, p = 20: the sparse forest errs at most half as often as the axis forest",
        *(sparse_parity, 5_000, at_most_half),
    ),
    Fact(
        "orthant",
        "orthant, p = 6: the two differ by less than 2 points",
        *(orthant, 400, within_two_points),
    ),
    # Biau's bound is about trees of bounded depth. Every cut of the axis forest that gains
    # anything is spent on a stripe, and 60 stripes outlast 20 levels.
    Fact(
        "consistency",
        f"three squares, {N_STRIPES} stripes, depth at most {MAX_DEPTH}: axis stays at or above "
        "1/6, sparse falls well below",
        *(consistency, 10_000, around_a_sixth),
        limits={"max_depth": MAX_DEPTH},
    ),
    # With pure leaves the axis forest runs out of stripes and cuts the checkerboard after all.
    Fact(
        "consistency-full-depth",
        f"three squares, {N_STRIPES} stripes, pure leaves: no claim",
        *(consistency, 10_000, no_claim),
    ),
    Fact(
        "trunk",
        "Trunk, p = 10: the sparse forest errs less than the axis forest",
        *(trunk, 100, below),
    ),
)
