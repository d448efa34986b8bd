"""Sends damaged files through the loader: they must be refused cleanly, or give answers."""

from __future__ import annotations

import random
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bevel import ModelFileError
from support.model_files import estimator_of, file_of, small_models
from support.mutations import mutate


@dataclass
class Outcomes:
    """What became of the files."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    slowest: float = 0.0
    seconds: float = 0.0

    @property
    def n_files(self) -> int:
        return sum(count for (way, _), count in self.counts.items() if way == "load")


class Fault(AssertionError):
    """A damaged file had another outcome than it may have."""


def try_files(first: int, n_files: int, seed: int, outcomes: Outcomes) -> None:
    """Try some files; file i of a seed is always the same."""
    sources = [file_of(estimator) for estimator, _ in small_models().values()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # predictions from nonsense may overflow
        for number in range(first, first + n_files):
            rng = random.Random(f"{seed} {number}")
            how, file = mutate(rng.choice(sources), rng)
            for way, mapped in (("load", False), ("mmap", True)):
                start = time.perf_counter()
                try:
                    outcomes.counts[way, _outcome(file, mapped)] += 1
                except BaseException as error:
                    raise Fault(f"file {number} of seed {seed}, {how}, {way}: {error!r}") from error
                took = time.perf_counter() - start
                outcomes.seconds += took
                outcomes.slowest = max(outcomes.slowest, took)


def _outcome(file: bytes, mapped: bool) -> str:
    try:
        estimator = estimator_of(file, mapped=mapped)
    except ModelFileError:
        return "refused"
    try:
        _predict(estimator)
    except ModelFileError:
        if not mapped:
            raise
    if mapped:
        try:
            estimator.verify()
        except ModelFileError:
            return "refused by verify"
        _predict(estimator)
    return "accepted"


def _predict(estimator: Any) -> None:
    """Answer for two rows; levels are given as codes, since labels may have become others."""
    X = np.array([[0.5], [np.nan]], np.float32) * np.ones(estimator.n_features_in_, np.float32)
    if not estimator.fitted_forest_.encoding.nominal:
        estimator.predict(X)
        if estimator.fitted_forest_.kept_targets is not None:
            estimator.predict_quantiles(X)
    elif hasattr(estimator, "classes_"):
        estimator.fitted_forest_.packed_predictor.probabilities(X, 1, False)
    else:
        estimator.fitted_forest_.packed_predictor.values(X, 1)
