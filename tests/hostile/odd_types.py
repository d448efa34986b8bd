"""Rows, targets and weights of odd types: what is missing is seen as missing, or refused."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from sklearn.base import clone

from .expressions import evaluate
from .fitted import compare, predictions
from .input_cases import PARAMETERS, InputCase, is_documented
from .input_cases import check as check_inputs
from .small_tables import ESTIMATORS, estimator_expressions, estimator_from
from .typed_values import MISSING, ODD_COLUMNS, ODD_TABLES
from .verdicts import ACCEPTED, REFUSED, WrongAnswerError

MAX_ROWS = 20


def make(rng: random.Random) -> dict[str, Any]:
    """An estimator, and rows of which one part is odd."""
    odd = rng.choices(("X", "y", "weight", "new", "mask"), (8, 8, 4, 2, 1))[0]
    n_rows = rng.choice((2, 5, 10, MAX_ROWS))
    n_columns, seed = rng.choice((1, 2, 3)), rng.randrange(10**6)
    spec = _estimator(rng)
    return {
        **spec,
        "X": _rows(odd == "X", n_rows, n_columns, seed, rng),
        "y": _target(odd, spec["estimator"], n_rows, seed, rng),
        "weight": _weight(odd, n_rows, seed, rng),
        "new": _rows(odd == "new", rng.choice((1, 4)), n_columns, seed, rng),
        "study": rng.randrange(1000),
        "odd": odd,
    }


def _estimator(rng: random.Random) -> dict[str, Any]:
    name = rng.choices(list(PARAMETERS), (5, 5, 1, 1, 4, 4, 0, 1))[0]
    if name in ESTIMATORS:
        return estimator_expressions(rng, name)
    sizes = {"n_estimators": "2", "random_state": "0", "n_jobs": "1"}
    if name.startswith("Regularized"):
        sizes |= {"n_rotations": "2", "n_micro_trees": "1"}
    return {"estimator": name, "parameters": sizes}


def _rows(odd: bool, n_rows: int, n_columns: int, seed: int, rng: random.Random) -> str:
    kind = rng.choice(list(ODD_TABLES)) if odd else "normal"
    return f"{'odd_' * odd}table({kind!r}, {n_rows}, {n_columns}, {seed})"


def _target(odd: str, estimator: str, n_rows: int, seed: int, rng: random.Random) -> str:
    if odd == "y":
        kinds = MISSING if rng.random() < 0.5 else ODD_COLUMNS
        return f"odd_target({rng.choice(list(kinds))!r}, {n_rows}, {seed})"
    kind = "numbers" if estimator.endswith("Regressor") else rng.choice(("two", "words"))
    return f"target({kind!r}, {n_rows}, {seed})"


def _weight(odd: str, n_rows: int, seed: int, rng: random.Random) -> str:
    if odd != "weight":
        return "None"
    kinds = MISSING if rng.random() < 0.4 else ODD_COLUMNS
    return f"odd_weights({rng.choice(list(kinds))!r}, {n_rows}, {seed})"


def check(spec: dict[str, Any]) -> str:
    """Fit the rows and ask everything; missing targets and weights must have been refused."""
    if spec["odd"] == "mask":
        return _check_mask(spec)
    outcome = check_inputs(InputCase(spec))
    if outcome == ACCEPTED and must_be_refused(spec):
        raise WrongAnswerError("answer", f"a missing value was accepted in {spec['odd']}")
    return outcome


def must_be_refused(spec: dict[str, Any]) -> bool:
    """Whether targets or weights have something missing."""
    if spec["odd"] == "y" and spec["estimator"] == "ObliqueIsolationForest":
        return False  # which has no targets
    part = spec.get(spec["odd"], "")
    return spec["odd"] in ("y", "weight") and any(f"({name!r}," in part for name in MISSING)


def _check_mask(spec: dict[str, Any]) -> str:
    """What is masked in rows is missing, whatever number stands behind the mask."""
    masked = evaluate(spec["X"].replace("table('normal'", "odd_table('masked table'"))
    filled, y = masked.filled(np.nan), evaluate(spec["y"])
    estimator = estimator_from(spec)
    try:
        estimator.fit(masked, y)
        answers = predictions(estimator, masked)
    except Exception as error:
        if is_documented(error):
            return REFUSED
        raise
    other = clone(estimator).fit(filled, y)
    compare("NaN in place of a mask", answers, predictions(other, filled))
    return ACCEPTED
