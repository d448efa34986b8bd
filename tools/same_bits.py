"""Compares two builds of Bevel bit by bit: what a fixed set of fits gives, as digests.

    python tools/same_bits.py --against OTHER/.venv/bin/python    this interpreter and another one
    python tools/same_bits.py --write before.json                 keep the digests of this one
    python tools/same_bits.py --against before.json               compare with digests kept before

Each case fits one estimator and digests its predictions, scores and importances, the text of its
first tree, its file, and the arrays in the file without the header, which names versions. Only
public names are used, so that an older build can run the cases too. What only one build can run is
listed, not compared. The exit status is 1 when a digest differs, 2 when none could be compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

Digests = dict[str, str]  # by "case: part"
HEADER_AT = 32  # of a model file; the length of the header is at byte 16
N_ROWS = 400
FAMILIES = (
    *("axis", "sparse", "combination", "gaussian", "rotation", "multirotation", "principal"),
    *("ridge", "lda", "logistic", "pls", "cca", "auto"),
)


def digest(value: Any) -> str:
    """A digest of an array, its type and shape, or of bytes or text."""
    total = hashlib.sha256()
    if isinstance(value, bytes | str):
        total.update(value if isinstance(value, bytes) else value.encode())
        return total.hexdigest()[:16]
    array = np.ascontiguousarray(value)
    total.update(f"{array.dtype.str} {array.shape}".encode())
    total.update("\0".join(map(str, array.flat)).encode() if array.dtype.hasobject else array)
    return total.hexdigest()[:16]


def numbers(n: int) -> np.ndarray:
    """Numbers in [0, 1) that depend on no library: Knuth's MMIX generator."""
    state, drawn = 1, []
    for _ in range(n):
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        drawn.append((state >> 40) / 2**24)
    return np.array(drawn)


def table(missing: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Six numeric columns, one of eight values and one of two, and a numeric target."""
    X = numbers(6 * N_ROWS).reshape(N_ROWS, 6)
    X[:, 1] = np.floor(8 * X[:, 1])
    X[:, 5] = np.floor(2 * X[:, 5])
    y = X[:, 0] + X[:, 2] * X[:, 3] + X[:, 1] / 8 + 0.3 * X[:, 5] + 0.3 * X[:, 4]
    if missing:
        X[::17, 2] = np.nan
    return X, y


def classes(y: np.ndarray, n_classes: int) -> np.ndarray:
    """Classes of equal counts, in the order of `y`."""
    ranks = np.argsort(np.argsort(y, kind="stable"), kind="stable")
    return ranks * n_classes // len(y)


def cases() -> dict[str, Callable[[], Digests]]:
    """Every case: a function that fits and returns digests by part."""
    import bevel

    X, y = table()
    X_missing, _ = table(missing=True)
    weights = 1 + np.arange(N_ROWS) % 3
    two, five = classes(y, 2), classes(y, 5)
    found: dict[str, Callable[[], Digests]] = {}

    def add(name: str, estimator: str, X: np.ndarray, y: np.ndarray, **values: Any) -> None:
        weight = values.pop("sample_weight", None)

        def run() -> Digests:
            kind = getattr(bevel, estimator)
            return parts(kind(random_state=0, **values).fit(X, y, sample_weight=weight), X)

        found[name] = run

    forest, regressor = "ObliqueForestClassifier", "ObliqueForestRegressor"
    for family in FAMILIES:
        how = {"projection": family, "n_estimators": 12, "n_jobs": 2}
        scored = family not in ("ridge", "cca")  # which have no out-of-bag rows left
        add(f"{family}, two classes", forest, X, two, oob_score=scored, **how)
        add(f"{family}, five classes", forest, X, five, **how)
        if family != "logistic":
            add(f"{family}, regression", regressor, X, y, oob_score=scored, **how)
    for family in ("axis", "sparse", "ridge"):
        how = {"projection": family, "n_estimators": 8}
        add(f"{family}, missing values", forest, X_missing, two, **how)
        add(f"{family}, missing values, regression", regressor, X_missing, y, **how)
        add(f"{family}, weights", forest, X, two, sample_weight=weights, **how)
        add(f"{family}, weights, regression", regressor, X, y, sample_weight=weights, **how)
        add(f"{family}, entropy", forest, X, five, criterion="entropy", **how)
        add(f"{family}, random thresholds", forest, X, two, threshold="random", **how)
        add(f"{family}, leaves", forest, X, five, max_leaf_nodes=9, **how)
        if family != "ridge":
            add(f"{family}, no bags", forest, X, two, bootstrap=False, **how)
        add(f"{family}, nominal", forest, X, two, categorical_features=[1, 5], **how)
        add(f"{family}, targets kept", regressor, X, y, keep_targets=True, **how)
    rotations = {"n_estimators": 20, "n_rotations": 4}
    add("regularized rotations", "RegularizedRotationClassifier", X, two, **rotations)
    for family in ("axis", "sparse"):
        how = {"projection": family, "max_iter": 8}
        add(f"boosting {family}, two classes", "ObliqueBoostingClassifier", X, two, **how)
        add(f"boosting {family}, five classes", "ObliqueBoostingClassifier", X, five, **how)
        add(f"boosting {family}, regression", "ObliqueBoostingRegressor", X_missing, y, **how)
    return found


def parts(model: Any, X: np.ndarray) -> Digests:
    """The digests of one fitted estimator."""
    found = {"predict": digest(model.predict(X))}
    if hasattr(model, "predict_proba"):
        found["predict_proba"] = digest(model.predict_proba(X))
    if hasattr(model, "predict_quantiles") and getattr(model, "keep_targets", False):
        found["quantiles"] = digest(model.predict_quantiles(X, [0.1, 0.5, 0.9]))
    for name in ("oob_score_", "feature_importances_", "oob_prediction_", "oob_decision_function_"):
        if hasattr(model, name):
            found[name] = digest(getattr(model, name))
    if hasattr(model, "forest_"):
        found["text of a tree"] = digest(str(model.forest_.tree(0)))
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.bevel")
        model.save(path)
        file = path.read_bytes()
    found["file"] = digest(file)
    found["arrays of the file"] = digest(file[HEADER_AT + int.from_bytes(file[16:24], "little") :])
    return found


def digests() -> Digests:
    """The digests of all cases in this interpreter; progress goes to standard error."""
    warnings.simplefilter("ignore")
    found: Digests = {}
    for name, run in cases().items():
        print(name, file=sys.stderr)
        try:
            found |= {f"{name}: {part}": value for part, value in run().items()}
        except Exception as error:  # an older build may lack an estimator or a parameter
            print(f"  cannot run: {type(error).__name__}: {error}", file=sys.stderr)
    return found


def other_digests(other: str) -> Digests:
    """The digests in a file, or those that another interpreter computes."""
    if other.endswith(".json"):
        text = Path(other).read_text(encoding="utf-8")
    else:
        command = [other, __file__]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: Digests = json.loads(text)
    return found


def compare(before: Digests, after: Digests) -> int:
    """Print what differs; the exit status."""
    both = sorted(before.keys() & after.keys())
    differing = [name for name in both if before[name] != after[name]]
    for title, names in (
        ("differs", differing),
        ("only in the other build", sorted(before.keys() - after.keys())),
        ("only in this build", sorted(after.keys() - before.keys())),
    ):
        for name in names:
            print(f"{title}: {name}")
    print(f"{len(both)} digests compared, {len(differing)} differ.")
    return 2 if not both else int(bool(differing))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", metavar="PYTHON_OR_JSON", help="compare with these")
    parser.add_argument("--write", type=Path, metavar="JSON", help="keep the digests here")
    options = parser.parse_args()
    found = digests()
    text = json.dumps(found, indent=1)
    if options.write:
        options.write.write_text(text + "\n", encoding="utf-8")
    if options.against:
        return compare(other_digests(options.against), found)
    if not options.write:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
