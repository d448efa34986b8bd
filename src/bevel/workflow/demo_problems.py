"""Problems of ``bevel demo``, which finish in a minute, and comparisons of classifiers on the same
splits.
"""

import csv
import io
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bevel import datasets

__all__ = [
    "EXAMPLE_TARGET",
    "ComparisonProblem",
    "Contender",
    "FittedPlane",
    "ForestSize",
    "Measurement",
    "Split",
    "compare",
    "contenders",
    "cross_validated",
    "example_csv",
    "fit_and_score",
    "fit_plane",
    "problems",
    "simulated",
    "slanted_bands",
]

# Errors and fit times of several classifiers on the same splits of several problems.
#
# A problem is a name and a way to make train/test splits; a contender is a name and a way to make a
# classifier. `compare` interleaves them, so that other load on the machine affects all alike.


class Classifier(Protocol):
    """Methods of a classifier that a comparison calls."""

    def fit(self, X: Any, y: Any) -> Any: ...
    def predict(self, X: Any) -> NDArray[Any]: ...


@dataclass(frozen=True)
class Split:
    """Training rows and test rows."""

    X_train: NDArray[Any]
    y_train: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]


@dataclass(frozen=True)
class ComparisonProblem:
    """A classification problem; `splits` makes its train/test splits from a seed.

    `n_rows` counts the rows of the data set, or of one training draw of a simulation.
    """

    name: str
    n_rows: int
    n_splits: int
    splits: Callable[[int], Iterator[Split]]


@dataclass(frozen=True)
class Contender:
    """A classifier in the comparison; `make` builds a fresh one from a seed."""

    name: str
    make: Callable[[int], Classifier]


@dataclass(frozen=True)
class Measurement:
    """Results on one problem; `errors` and `seconds` have one entry per contender.

    `errors` are mean shares of wrong test labels over the splits; `seconds` are those of the
    fastest fit, the one least disturbed by other load on the machine.
    """

    problem: str
    n_rows: int
    n_features: int
    n_classes: int
    errors: tuple[float, ...]
    seconds: tuple[float, ...]


def cross_validated(
    name: str, X: NDArray[Any], y: NDArray[Any], *, n_folds: int = 5
) -> ComparisonProblem:
    """Make a problem of a data set: stratified folds, shuffled by the seed."""

    def splits(seed: int) -> Iterator[Split]:
        from sklearn.model_selection import StratifiedKFold

        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        for train, test in folds.split(X, y):
            yield Split(X[train], y[train], X[test], y[test])

    return ComparisonProblem(name, len(X), n_folds, splits)


def simulated(
    name: str,
    generate: Callable[..., tuple[NDArray[Any], NDArray[Any]]],
    *,
    n_train: int,
    n_test: int = 10_000,
    n_repeats: int = 5,
) -> ComparisonProblem:
    """Make a problem of a simulation: each split draws its own training and test rows.

    `generate` is called as the functions of `bevel.datasets` are, with a number of rows and a
    ``random_state``. The papers use 10 000 test rows (SPORF section 4.3).
    """

    def splits(seed: int) -> Iterator[Split]:
        for stream in np.random.default_rng(seed).spawn(n_repeats):
            train = generate(n_train, random_state=stream)
            test = generate(n_test, random_state=stream)
            yield Split(*train, *test)

    return ComparisonProblem(name, n_train, n_repeats, splits)


def compare(
    problems: Sequence[ComparisonProblem],
    contenders: Sequence[Contender],
    *,
    seed: int = 0,
    on_fit: Callable[[str, str], None] | None = None,
) -> Iterator[Measurement]:
    """Measure every contender on every problem, one problem at a time.

    Parameters
    ----------
    problems, contenders : sequences
        Problems and classifiers; every contender gets the same splits and the same seeds.
    seed : int, default=0
        Seed of the splits, passed to the contenders (plus the number of the split).
    on_fit : callable, optional
        Called after each fit with the names of the problem and the contender, to show progress.

    Yields
    ------
    Measurement
        Measurements in the order of `problems`, each as soon as it is complete.
    """
    for problem in problems:
        errors: list[list[float]] = []
        seconds: list[list[float]] = []
        labels: set[Any] = set()
        for number, split in enumerate(problem.splits(seed)):
            labels.update(np.unique(split.y_train).tolist())
            outcomes = []
            for contender in contenders:
                outcomes.append(fit_and_score(contender.make(seed + number), split))
                if on_fit is not None:
                    on_fit(problem.name, contender.name)
            errors.append([error for error, _ in outcomes])
            seconds.append([second for _, second in outcomes])
        yield Measurement(
            problem=problem.name,
            n_rows=problem.n_rows,
            n_features=split.X_train.shape[1],
            n_classes=len(labels),
            errors=tuple(np.mean(errors, axis=0).tolist()),
            seconds=tuple(np.min(seconds, axis=0).tolist()),
        )


def fit_and_score(classifier: Classifier, split: Split) -> tuple[float, float]:
    """Fit on the training rows; return the error on the test rows and the seconds the fit took."""
    start = time.perf_counter()
    classifier.fit(split.X_train, split.y_train)
    seconds = time.perf_counter() - start
    wrong = classifier.predict(split.X_test) != split.y_test
    return float(np.mean(wrong)), seconds


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
