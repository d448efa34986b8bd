"""Fits that run out of memory: an error with a message, after which everything still works."""

from __future__ import annotations

import random
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from support.model_files import file_of

from bevel import scan

from .fitted import compare, predictions
from .limits import SANITIZED
from .small_tables import estimator_expressions, estimator_from, is_refusal
from .verdicts import ACCEPTED, REFUSED, WrongAnswerError

SPARE = (8, 12, 16, 24, 32, 64)  # MB beyond what the process has
SMALL = 12  # rows that always fit


def make(rng: random.Random) -> dict[str, Any]:
    """A table of some size, and how much memory there is for it."""
    spec = estimator_expressions(rng)
    spec["parameters"]["max_depth"] = "2"
    return {
        **spec,
        "n_rows": rng.choice((5_000, 20_000, 50_000)),
        "n_columns": rng.choice((10, 40)),
        "n_classes": rng.choice((2, 2, 5, 200)) if "Forest" in spec["estimator"] else 3,
        "scanned": rng.random() < 0.3,
        "spare": rng.choice(SPARE),
        "seed": rng.randrange(10**6),
    }


def rows(spec: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and targets."""
    rng = np.random.default_rng(spec["seed"])
    X = rng.normal(size=(spec["n_rows"], spec["n_columns"])).astype(np.float32)
    return X, rng.integers(0, spec["n_classes"], len(X))


@contextmanager
def little_memory(megabytes: int) -> Iterator[None]:
    """Let the process have no more than so much address space beyond what it has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    if not SANITIZED:
        allowed = used + megabytes * 2**20
        limited = before[1] != resource.RLIM_INFINITY
        allowed = min(allowed, before[1]) if limited else allowed
        resource.setrlimit(resource.RLIMIT_AS, (allowed, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@cache
def _warm_up(estimator: str) -> None:
    """Import what a fit imports, which is not to fail for want of memory."""
    size = "max_iter" if "Boosting" in estimator else "n_estimators"
    made = estimator_from({"estimator": estimator, "parameters": {size: "2"}})
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    made.fit(X, y)
    made.fit(scan(X, target=y)).predict(X)
    file_of(made)


def check(spec: dict[str, Any]) -> str:
    """Fit, predict and save in little memory; then fit a few rows in enough."""
    if not Path("/proc/self/statm").exists():
        return REFUSED
    _warm_up(spec["estimator"])
    X, y = rows(spec)
    estimator = estimator_from(spec)
    expected = predictions(clone(estimator).fit(X[:SMALL], y[:SMALL]), X[:SMALL])
    outcome = ACCEPTED
    with little_memory(spec["spare"]):
        try:
            _fit(estimator, X, y, spec["scanned"])
        except Exception as error:
            if not is_refusal(error):
                raise
            outcome = REFUSED
    again = predictions(estimator.fit(X[:SMALL], y[:SMALL]), X[:SMALL])
    compare("memory that was short before", expected, again)
    return outcome


def _fit(estimator: Any, X: np.ndarray, y: np.ndarray, scanned: bool) -> None:
    if scanned:
        estimator.fit(scan(X, target=y, memory="1GB"))
    else:
        estimator.fit(X, y)
    if not np.isfinite(estimator.apply(X[:SMALL])).all():
        raise WrongAnswerError("answer", "leaves are no numbers")
    file_of(estimator)
