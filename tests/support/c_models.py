"""Compiles exported models, several at once, and calls them."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.data.encoding import Encoding, Levels
from bevel.data.scaling import IdentityScaler
from bevel.forest.flat_forest import FlatForest
from support.fitted_forests import fitted_forest
from support.random_forests import KINDS, random_forest

COMPILER = shutil.which("cc")
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler (cc) on this machine")

_CLASSIFIER = """
void {name}_rows(const double *X, int n, double *out, int *predicted)
{{
    int i;
    for (i = 0; i < n; ++i, X += {upper}_N_FEATURES, out += {upper}_N_CLASSES) {{
        {name}_predict_proba(X, out);
        predicted[i] = {name}_predict(X);
    }}
}}
"""
_REGRESSOR = """
void {name}_rows(const double *X, int n, double *out)
{{
    int i;
    for (i = 0; i < n; ++i, X += {upper}_N_FEATURES) out[i] = {name}_predict(X);
}}
"""


_QUANTILES = """
void {name}_rows(const double *X, int n, double *out)
{{
    int i;
    for (i = 0; i < n; ++i, X += {upper}_N_FEATURES, out += {upper}_N_QUANTILES)
        {name}_predict(X, out);
}}
"""


def _n_classes(estimator: Any) -> int:
    classes = estimator.fitted_forest_.classes
    return 0 if classes is None else len(classes)


def _n_quantiles(estimator: Any) -> int:
    aggregation = estimator.fitted_forest_.aggregation
    return aggregation.n_outputs if aggregation.sorts else 0


class CModels:
    """Estimators by name, exported into one source file and compiled."""

    def __init__(
        self,
        estimators: Mapping[str, Any],
        folder: Path,
        *options: str,
        suffix: str = "c",
        extra: str = "",
    ) -> None:
        self.estimators = estimators
        source = folder / f"models.{suffix}"
        source.write_text(
            "".join(e.to_c(name) + _driver(name, e) for name, e in estimators.items()) + extra,
            encoding="utf-8",
        )
        self.library = ctypes.CDLL(str(compile_source(source, *options)))

    def predict(self, name: str, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities and predicted class numbers, or in regression the values twice."""
        X = np.ascontiguousarray(X, np.float64)
        rows = getattr(self.library, f"{name}_rows")
        n_classes, n_quantiles = (
            _n_classes(self.estimators[name]),
            _n_quantiles(self.estimators[name]),
        )
        out = np.full((len(X), max(n_classes, n_quantiles, 1)), np.nan)
        arguments = [_address(X), len(X), _address(out)]
        if n_classes == 0:
            rows(*arguments)
            values = out if n_quantiles else out[:, 0]
            return values, values
        predicted = np.full(len(X), -1, np.int32)
        rows(*arguments, _address(predicted))
        return out, predicted

    def codes(self, name: str, X: np.ndarray) -> np.ndarray:
        """The rows with the labels of nominal columns, all numbers, replaced by their codes."""
        X = np.array(X, np.float64)
        for feature, levels in self.estimators[name].fitted_forest_.encoding.nominal.items():
            if len(levels.labels) == 0:  # always missing; a column of text as far as C knows
                X[:, feature] = np.where(np.isnan(X[:, feature]), 0, 1)
                continue
            arguments = (ctypes.c_int, ctypes.c_double)
            level = self.function(f"{name}_level_of_number", ctypes.c_int, *arguments)
            labels, place = np.unique(X[:, feature], return_inverse=True)
            X[:, feature] = np.array([level(feature, label) for label in labels])[place]
        return X

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """A function of the file, with its types."""
        function = getattr(self.library, name)
        function.restype, function.argtypes = result, arguments
        return function

    def assert_equal(self, name: str, rows: Any, X: np.ndarray) -> None:
        """The C file says of X, in codes, bit for bit what Python says of the rows."""
        estimator = self.estimators[name]
        out, predicted = self.predict(name, X)
        if _n_classes(estimator):
            expected = estimator.predict_proba(rows)
            labels = estimator.classes_[predicted]
            np.testing.assert_array_equal(labels, estimator.predict(rows), err_msg=name)
        else:
            expected = estimator.predict(rows)
        np.testing.assert_array_equal(
            out.view(np.uint64), np.ascontiguousarray(expected).view(np.uint64), err_msg=name
        )


def random_estimator(rng: np.random.Generator) -> Any:
    """An estimator around a forest drawn at random; labels of levels are numbers."""
    n_features = int(rng.choice([1, 6, 20, 300]))
    some = tuple(str(kind) for kind in rng.choice(KINDS, 2))
    forest = random_forest(
        rng,
        n_features=n_features,
        n_classes=int(rng.choice([0, 1, 2, 3, 7, 100])),
        n_trees=int(rng.integers(1, 5)),
        depth=int(rng.choice([0, 1, 4, 5])),
        n_nominal=int(rng.choice([0, n_features // 2, n_features - 1])),
        n_axes=int(rng.choice([0, 0, 2, 5])),
        kinds=(KINDS, some, some[:1], ("axis",), ("signs",))[rng.integers(5)],
    )
    return estimator_around(forest, rng)


def estimator_around(forest: FlatForest, rng: np.random.Generator) -> Any:
    """An estimator whose forest was not grown; how it votes and what is missing is random."""
    nominal = {}
    for feature in map(int, np.flatnonzero(forest.levels)):
        has_missing = bool(rng.random() < 0.5)
        labels = np.array(range(forest.levels[feature] - has_missing), dtype=object)
        nominal[feature] = Levels(labels, has_missing)
    estimator = (ObliqueForestClassifier if forest.n_classes else ObliqueForestRegressor)(n_jobs=1)
    if forest.n_classes:
        estimator.voting = str(rng.choice(["soft", "hard"]))
        estimator.classes_ = np.arange(forest.n_classes)
    estimator.n_features_in_ = forest.n_features
    encoding = Encoding(IdentityScaler(), nominal, forest.levels, forest.medians)
    estimator._fitted = fitted_forest(forest, encoding)
    return estimator


def compile_source(source: Path, *options: str) -> Path:
    """A shared library of one file; the compiler's complaints fail the test."""
    library = source.with_suffix(".so")
    standard = ("-std=c99",) if source.suffix == ".c" else ("-std=c++17",)
    command = [str(COMPILER), *standard, *STRICT, "-O1", "-fPIC", "-shared", *options]
    done = subprocess.run(
        [*command, str(source), "-o", str(library)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:3000]
    return library


def _driver(name: str, estimator: Any) -> str:
    template = _CLASSIFIER if _n_classes(estimator) else _REGRESSOR
    template = _QUANTILES if _n_quantiles(estimator) else template
    text = template.format(name=name, upper=name.upper())
    return f'#ifdef __cplusplus\nextern "C"\n#endif{text}'


def _address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
