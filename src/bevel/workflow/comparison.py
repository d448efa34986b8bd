"""Errors and fit times of several classifiers on the same splits of several problems.

A problem is a name and a way to make train/test splits; a contender is a name and a way to make a
classifier. `compare` interleaves them, so that other load on the machine affects all alike.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ComparisonProblem",
    "Contender",
    "Measurement",
    "Split",
    "compare",
    "cross_validated",
    "fit_and_score",
    "simulated",
]


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
