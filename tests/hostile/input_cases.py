"""Hostile inputs: an estimator with odd parameters is fitted to odd rows and asked everything.

A case is a handful of Python expressions:

    {"estimator": "ObliqueForestClassifier", "parameters": {"class_weight": "{0: 0.0}"},
     "X": "table('missing', 20, 4, 7)", "y": "target('two', 20, 7)", "weight": "None",
     "new": "table('normal', 5, 4, 8)", "study": 3}
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from bevel.parameters.boosting_parameters import (
    BOOSTING_CLASSIFIER_PARAMETERS,
    BOOSTING_REGRESSOR_PARAMETERS,
)
from bevel.parameters.forest_parameters import (
    CLASSIFIER_PARAMETERS,
    ISOLATION_PARAMETERS,
    REGRESSOR_PARAMETERS,
    ROTATION_CLASSIFIER_PARAMETERS,
    ROTATION_REGRESSOR_PARAMETERS,
    SURVIVAL_PARAMETERS,
)

from . import scanned_cases, survival_cases
from .expressions import evaluate
from .fitted import exercise_fitted, exercise_scanned
from .settings import value_of
from .tables import TABLES, TARGETS, WEIGHTS
from .verdicts import ACCEPTED, REFUSED

PARAMETERS = {
    "ObliqueForestClassifier": CLASSIFIER_PARAMETERS,
    "ObliqueForestRegressor": REGRESSOR_PARAMETERS,
    "RegularizedRotationClassifier": ROTATION_CLASSIFIER_PARAMETERS,
    "RegularizedRotationRegressor": ROTATION_REGRESSOR_PARAMETERS,
    "ObliqueBoostingClassifier": BOOSTING_CLASSIFIER_PARAMETERS,
    "ObliqueBoostingRegressor": BOOSTING_REGRESSOR_PARAMETERS,
    "ObliqueSurvivalForest": SURVIVAL_PARAMETERS,
    "ObliqueIsolationForest": ISOLATION_PARAMETERS,
}
SHARES = (5, 4, 1, 1, 2, 3, 3, 2)
SOUND_TARGETS = ("two", "three", "words", "numbers", "flags")
# Of calls that take what a user gives; NotFittedError and ModelFileError are among them.
REFUSALS = (ValueError, TypeError)


@dataclass(frozen=True)
class InputCase:
    """Expressions, and how they read."""

    spec: dict[str, Any]

    @property
    def how(self) -> str:
        spec = self.spec
        given = ", ".join(f"{name}={value}" for name, value in spec["parameters"].items())
        weight = "" if spec["weight"] == "None" else f", sample_weight={spec['weight']}"
        scan = f", scan={spec['scan']}" if "scan" in spec else ""
        fit = f"{spec['estimator']}({given}).fit({spec['X']}, {spec['y']}{weight}{scan})"
        return f"{fit}; predict({spec['new']}); study {spec['study']}"


def make(number: int) -> InputCase:
    """The case of a number, always the same."""
    rng = random.Random(f"inputs {number}")
    estimator = rng.choices(list(PARAMETERS), SHARES)[0]
    n_rows = rng.choice((1, 2, 3, 5, 10, 20, 20, 20, 30, 60))
    n_columns = rng.choice((1, 2, 4, 4, 4, 4, 6))
    seed = rng.randrange(10**6)
    odd = rng.choices(
        ("X", "y", "weight", "parameters", "new"), (4, 2, 2, 6, 2), k=rng.choice((1, 1, 2, 3))
    )
    kind = rng.choice(list(TABLES)) if "X" in odd else rng.choice(("normal", "missing", "frame"))
    n_y = n_rows if rng.random() < 0.99 else n_rows + rng.choice((-1, 1))
    spec = {
        "estimator": estimator,
        "parameters": _parameters(estimator, "parameters" in odd, rng),
        "X": f"table({kind!r}, {n_rows}, {n_columns}, {seed})",
        "y": _target_expression(estimator, "y" in odd, n_y, seed, rng),
        "weight": f"weights({_weight('weight' in odd, rng)!r}, {n_rows}, {seed})",
        "new": _new_rows(kind, n_columns, seed, "new" in odd, rng),
        "study": rng.randrange(1000),
    }
    if estimator.startswith("ObliqueForest") and rng.random() < scanned_cases.SHARE:
        spec["scan"] = scanned_cases.expressions("X" in odd or "parameters" in odd, rng)
    if "weight" not in odd and rng.random() < 0.8:
        spec["weight"] = "None"
    return InputCase(spec)


def _parameters(estimator: str, odd: bool, rng: random.Random) -> dict[str, str]:
    table = PARAMETERS[estimator]
    chosen = {"random_state": str(rng.randrange(100)), **_sizes(estimator, rng)}
    chosen["n_jobs"] = rng.choice(("1", "1", "2", "None"))
    if not odd and rng.random() < 0.6:
        return chosen  # most refusals are of parameters, and these cases are to be fitted
    if "projection" in table and rng.random() < 0.6:
        chosen["projection"] = value_of(table["projection"], rng)
    for name in rng.sample(list(table), rng.choice((1, 1, 2, 3)) if odd else rng.choice((0, 1))):
        chosen[name] = value_of(table[name], rng)
    for name, share in OFTEN.items():
        if name in table and rng.random() < share:
            chosen[name] = value_of(table[name], rng)
    return chosen


def _sizes(estimator: str, rng: random.Random) -> dict[str, str]:
    """Few trees; now and then enough for several families to be tried."""
    if estimator.startswith("Regularized"):
        return {"n_estimators": "6", "n_rotations": "2", "n_micro_trees": "2"}
    if "Boosting" in estimator:
        return {"max_iter": rng.choice(("1", "2", "3", "5")), "min_samples_leaf": "1"}
    n_trees = ("12", "20", "40") if rng.random() < 0.2 else ("1", "2", "3")
    return {"n_estimators": rng.choice(n_trees)}


# What meets the data most, beyond its share among the parameters.
OFTEN = {"class_weight": 0.08, "scale": 0.15, "oob_score": 0.1, "voting": 0.1, "threshold": 0.1}
OFTEN |= {"loss": 0.2, "scoring": 0.1, "row_sampling": 0.1, "subsample": 0.15, "criterion": 0.15}
OFTEN |= {"contamination": 0.4, "early_stopping": 0.2, "monotonic_cst": 0.1, "interaction_cst": 0.1}


def _target_expression(
    estimator: str, odd: bool, n_rows: int, seed: int, rng: random.Random
) -> str:
    if estimator == "ObliqueSurvivalForest":
        return survival_cases.expression(odd, n_rows, seed, rng)
    return f"target({_target(estimator, odd, rng)!r}, {n_rows}, {seed})"


def _target(estimator: str, odd: bool, rng: random.Random) -> str:
    if odd:
        return rng.choice(list(TARGETS))
    if estimator.startswith("ObliqueForest") and rng.random() < 0.15:
        words = rng.choice(("several words", "frame", "two columns", "several numbers"))
        return words if estimator.endswith("Classifier") else "several numbers"
    if estimator == "ObliqueBoostingRegressor":
        return rng.choice(("numbers", "numbers", "two", "positive"))
    return "numbers" if estimator.endswith("Regressor") else rng.choice(SOUND_TARGETS[:3])


def _weight(odd: bool, rng: random.Random) -> str:
    return rng.choice(list(WEIGHTS)) if odd else rng.choice(("ones", "counts", "reals"))


def _new_rows(kind: str, n_columns: int, seed: int, odd: bool, rng: random.Random) -> str:
    n_columns += 0 if rng.random() < 0.9 or not odd else rng.choice((-1, 1))
    kind = rng.choice(list(TABLES)) if odd else kind
    n_rows = rng.choice((1, 2, 5, 40))
    return f"table({kind!r}, {n_rows}, {n_columns}, {seed + 1 if odd else seed})"


def given(case: dict[str, Any]) -> InputCase:
    """A case kept from an earlier run."""
    return InputCase(case)


def check(case: InputCase) -> str:
    """Fit, and if that is accepted, ask everything."""
    spec = case.spec
    try:
        parameters = {name: evaluate(value) for name, value in spec["parameters"].items()}
        estimator = evaluate(spec["estimator"])(**parameters)
    except REFUSALS:
        return REFUSED  # by the constructor of a projection
    X, y, weight = (evaluate(spec[name]) for name in ("X", "y", "weight"))
    if "scan" in spec:
        return _check_scanned(estimator, spec, (X, y, weight))
    try:
        estimator.fit(X, y, sample_weight=weight)
    except Exception as error:
        if is_documented(error):
            return REFUSED
        raise
    exercise_fitted(estimator, spec, (X, y, weight))
    return ACCEPTED


def _check_scanned(estimator: Any, spec: dict[str, Any], rows: tuple[Any, Any, Any]) -> str:
    """Fit a scanned table, and once more in other blocks and with another number of threads."""
    how = {name: evaluate(value) for name, value in spec["scan"].items()}
    with scanned_cases.Scanned(rows, how.pop("way")) as scanned:
        try:
            estimator.fit(scanned.table(**how))
            again = clone(estimator).set_params(n_jobs=2, verbose=0)
            if type(estimator.random_state) is int:
                again.fit(scanned.table(block_rows=3))
        except OSError:
            return REFUSED  # of files that are damaged, or that a word does not name
        except Exception as error:
            if is_documented(error):
                return REFUSED
            raise
    exercise_scanned(estimator, spec, rows)
    if hasattr(again, "_fitted"):
        scanned_cases.check_blocks(estimator, again, evaluate(spec["X"]))
    return ACCEPTED


def is_documented(error: BaseException) -> bool:
    """Whether a call may end in an exception, which the core's complaints of types are not."""
    text = str(error)
    if "incompatible function arguments" in text or "std::" in text:
        return False
    of_user = (
        "Custom's function failed",
        "tick",
        "score",
        "loss of the user's",
        "to_c needs a forest whose trees",
    )
    return isinstance(error, REFUSALS) or (
        isinstance(error, RuntimeError) and text.startswith(of_user)
    )
