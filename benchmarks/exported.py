"""Forests whose exports are measured: full depth, 5000 rows of 20 normal features, two classes."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from bevel import ObliqueForestClassifier

__all__ = ["Measure", "print_each"]

PROJECTIONS = ("axis", "sparse", "gaussian", "rotation")
N_ROWS, N_FEATURES = 5000, 20
# Name of the projection, the forest and rows to predict; a line of the table.
Measure = Callable[[str, ObliqueForestClassifier, np.ndarray], str]


def print_each(
    description: str | None, header: str, n_asked: int, dtype: type, measure: Measure
) -> None:
    """Grow a forest for each family of directions and print what `measure` says of it."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--trees", type=int, default=100)
    n_trees = parser.parse_args().trees
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES)).astype(dtype)
    y = X[:, :5].sum(axis=1) + 2 * rng.normal(size=N_ROWS) > 0
    asked = rng.normal(size=(n_asked, N_FEATURES)).astype(dtype)
    print(header)
    for projection in PROJECTIONS:
        forest = ObliqueForestClassifier(n_trees, projection=projection, random_state=0, n_jobs=1)
        print(measure(projection, forest.fit(X, y), asked), flush=True)
