"""One tree for all classes beside a tree for each: ``python -m benchmarks.many_classes``.

Rows of each class are normal around a centre of its own. Systems have 100 iterations of rate 0.1
and one thread; fits are interleaved, and the fastest of the repeats counts, in processor time.
CatBoost, which always has one tree for all classes, takes part with ``--catboost``.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from benchmarks.tables import markdown
from bevel import ObliqueBoostingClassifier

N_FEATURES, N_TEST, N_ITERATIONS, RATE = 20, 2000, 100, 0.1
HEAD = ["system", "seconds", "accuracy", "log loss"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1600)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--catboost", action="store_true")
    given = parser.parse_args()
    X, y = draw(given.rows + N_TEST, given.classes)
    train, test = slice(given.rows), slice(given.rows, None)
    systems = makers(given.catboost)
    seconds = dict.fromkeys(systems, np.inf)
    models: dict[str, Any] = {}
    for _ in range(given.repeats):
        for name, make in systems.items():
            start = time.process_time()
            models[name] = make().fit(X[train], y[train])
            seconds[name] = min(seconds[name], time.process_time() - start)
    rows = []
    for name, model in models.items():
        shares = np.asarray(model.predict_proba(X[test]))
        accuracy = np.mean(np.asarray(model.classes_)[shares.argmax(axis=1)] == y[test])
        loss = log_loss(y[test], shares, labels=model.classes_)
        rows.append([name, f"{seconds[name]:.2f}", f"{accuracy:.3f}", f"{loss:.3f}"])
    print(markdown(HEAD, rows))


def draw(n_rows: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes, every class equally often in the first rows."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_classes, N_FEATURES))
    y = np.arange(n_rows) % n_classes
    return centres[y] + 0.7 * rng.normal(size=(n_rows, N_FEATURES)), y


def makers(catboost: bool) -> dict[str, Callable[[], Any]]:
    """Systems by name."""
    given: dict[str, Any] = {"max_iter": N_ITERATIONS, "learning_rate": RATE, "n_jobs": 1}
    given |= {"early_stopping": False, "random_state": 0}
    shared = given | {"multi_strategy": "multi_output_tree"}
    found: dict[str, Callable[[], Any]] = {
        "a tree for each class, the default": lambda: ObliqueBoostingClassifier(**given),
        "one tree": lambda: ObliqueBoostingClassifier(**shared),
        "one tree, symmetric": lambda: ObliqueBoostingClassifier(growth="symmetric", **shared),
    }
    if catboost:
        from catboost import CatBoostClassifier

        peer = {"iterations": N_ITERATIONS, "learning_rate": RATE, "thread_count": 1}
        found["CatBoost"] = lambda: CatBoostClassifier(**peer, random_seed=0, verbose=False)
    return found


if __name__ == "__main__":
    main()
