"""Trees as deep as they have rows, which every function has to walk."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from support.model_files import estimator_of, file_of

from .fitted import STUDIES, allow, compare, predictions
from .small_tables import estimator_from
from .verdicts import ACCEPTED, WrongAnswerError

SPACINGS = ("even", "exponential", "close")


def make(rng: random.Random) -> dict[str, Any]:
    """A sorted column along which classes alternate: each split takes one row away."""
    name = rng.choice(("Forest", "Forest", "Boosting"))
    parameters = {"random_state": "0", "n_jobs": "1", "projection": "'axis'"}
    if name == "Forest":
        parameters |= {"n_estimators": rng.choice(("1", "2")), "bootstrap": "False"}
    else:
        parameters |= {"max_iter": "2", "min_samples_leaf": "1", "max_leaf_nodes": "None"}
        parameters |= {"max_depth": "None"}
    return {
        "estimator": f"Oblique{name}{rng.choice(('Classifier', 'Regressor'))}",
        "parameters": parameters,
        "n_rows": rng.choice((60, 120, 250)) if rng.random() < 0.97 else rng.choice((2000, 12_000)),
        "spacing": rng.choice(SPACINGS),
        "study": rng.randrange(1000),
        "dtype": rng.choice(("float32", "float64")),
    }


def rows(spec: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The sorted column and its targets."""
    n = spec["n_rows"]
    x = np.arange(n, dtype=float)
    if spec["spacing"] == "exponential":
        x = 2.0 ** np.linspace(-110.0, 110.0, n)
    if spec["spacing"] == "close":
        x = 1.0 + np.arange(n) * float(np.finfo(np.float32).eps)
    if spec["spacing"] == "exponential" and spec["estimator"].endswith("Regressor"):
        return x[:, None], 1.5 ** np.linspace(0.0, min(n, 300.0), n)
    return x[:, None], (np.arange(n) % 2).astype(float if "Reg" in spec["estimator"] else int)


def check(spec: dict[str, Any]) -> str:
    """Grow a deep tree; predict, save, load, export, and one study."""
    X, y = rows(spec)
    estimator = estimator_from(spec).fit(X, y)
    answers = predictions(estimator, X)
    compare("a loaded file", answers, predictions(estimator_of(file_of(estimator)), X))
    allow(estimator.to_c)
    study = STUDIES[spec["study"] % len(STUDIES)]
    if spec["n_rows"] <= 250:
        allow(study, estimator, (X, y, None), answers)
    allow(_check_onnx, estimator, X, spec["dtype"])
    return ACCEPTED


def _check_onnx(estimator: Any, X: np.ndarray, dtype: str) -> None:
    """The exported graph must give the predictions of the estimator."""
    import onnxruntime

    model = estimator.to_onnx(dtype=dtype)
    session = onnxruntime.InferenceSession(model.SerializeToString(), _quiet(onnxruntime))
    given = X.astype(dtype)
    found = session.run(None, {"X": given})[0].ravel()
    expected = estimator.predict(given.astype(float))
    alike = np.allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
    if found.shape != expected.shape or not alike:
        raise WrongAnswerError("differs", "predictions of the exported graph are others")


def _quiet(onnxruntime: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = 1, 1
    options.log_severity_level = 4
    return options
