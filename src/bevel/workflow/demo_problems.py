"""Problems of ``bevel demo``: small ones that finish in a minute, and one in the plane to plot."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel import datasets
from bevel.workflow.comparison import (
    Classifier,
    ComparisonProblem,
    Contender,
    cross_validated,
    fit_and_score,
    simulated,
)

__all__ = [
    "EXAMPLE_TARGET",
    "FittedPlane",
    "ForestSize",
    "contenders",
    "example_csv",
    "fit_plane",
    "problems",
    "slanted_bands",
]

EXAMPLE_TARGET = "diagnosis"

SLOPE = 0.8  # slope of the bands: not 45 degrees, which sums of two features would match exactly
BAND_WIDTH = 2.0 / 3.0  # measured along the second feature


@dataclass(frozen=True)
class ForestSize:
    """Number of trees and of threads, common to all contenders."""

    n_trees: int
    n_threads: int


def contenders(size: ForestSize) -> list[Contender]:
    """Bevel's default, Bevel's random forest and scikit-learn's, otherwise at their defaults."""

    def bevel(projection: str, seed: int) -> Classifier:
        from bevel.estimators import ObliqueForestClassifier

        return ObliqueForestClassifier(
            n_estimators=size.n_trees,
            projection=projection,
            n_jobs=size.n_threads,
            random_state=seed,
        )

    def scikit_learn(seed: int) -> Any:
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(size.n_trees, n_jobs=size.n_threads, random_state=seed)

    return [
        Contender("Bevel", partial(bevel, "auto")),
        Contender("Bevel axis", partial(bevel, "axis")),
        Contender("scikit-learn", scikit_learn),
    ]


def problems(*, quick: bool = False) -> list[ComparisonProblem]:
    """Give the problems of the demo; `quick` keeps three of them and two splits of each."""
    n_folds, n_repeats = (2, 2) if quick else (4, 2)
    real: dict[str, Callable[[], tuple[Any, Any]]] = {
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
        "breast_cancer": datasets.load_breast_cancer,
        "digits": datasets.load_digits,
    }
    drawn: dict[str, tuple[Callable[..., Any], int]] = {
        "sparse_parity": (datasets.sparse_parity, 5000),
        "orthant": (datasets.orthant, 400),
        "trunk": (datasets.trunk, 100),
        "hyperplanes": (datasets.parallel_hyperplanes, 1000),
    }
    kept = {"iris", "wine", "trunk"} if quick else real.keys() | drawn.keys()
    return [
        *(
            cross_validated(name, *load(), n_folds=n_folds)
            for name, load in real.items()
            if name in kept
        ),
        *(
            simulated(name, generate, n_train=n_train, n_repeats=n_repeats)
            for name, (generate, n_train) in drawn.items()
            if name in kept
        ),
    ]


def example_csv() -> str:
    """The breast cancer data as CSV text, with column names and the diagnosis in words."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*found.feature_names.tolist(), EXAMPLE_TARGET])
    labels = found.target_names[found.target].tolist()
    writer.writerows([*row, label] for row, label in zip(found.data.tolist(), labels, strict=True))
    return text.getvalue()


def slanted_bands(
    n_samples: int, *, random_state: int | np.random.Generator | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Uniform points of the square [-1, 1]², labelled by slanted bands of alternating class."""
    X = np.random.default_rng(random_state).uniform(-1.0, 1.0, (n_samples, 2))
    band = np.floor((SLOPE * X[:, 0] - X[:, 1]) / BAND_WIDTH + 0.5)
    return X, (band % 2).astype(np.int64)


@dataclass(frozen=True)
class FittedPlane:
    """Classifiers fitted to `slanted_bands`, with the rows they learned from and their errors."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    classifiers: dict[str, Any]
    errors: dict[str, float]
    true_lines: list[tuple[float, float]]


def fit_plane(size: ForestSize, seed: int, *, n_train: int = 300) -> FittedPlane:
    """Fit Bevel's random forest and its default to the same draw of `slanted_bands`."""
    default, axis, _ = contenders(size)
    split = next(simulated("", slanted_bands, n_train=n_train, n_repeats=1).splits(seed))
    classifiers = {
        "Random forest: cuts along the axes": axis.make(seed),
        "Bevel: cuts on the slant": default.make(seed),
    }
    return FittedPlane(
        split.X_train,
        split.y_train,
        classifiers,
        errors={name: fit_and_score(each, split)[0] for name, each in classifiers.items()},
        true_lines=[(SLOPE, (number + 0.5) * BAND_WIDTH) for number in range(-3, 3)],
    )
