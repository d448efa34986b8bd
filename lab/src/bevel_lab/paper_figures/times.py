"""SPORF 6.4: time of training (Figure 8), speed-up by threads (9), time of predictions (10)."""

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bevel import datasets, presets
from bevel.forest.predictor import PackedPredictor
from bevel.plots.canvas import COLOURS, MARKERS, RULE, panels

__all__ = ["fit_forest", "predict_one_by_one", "seconds_of", "training_and_prediction"]

FEATURES = (10, 20, 40, 80)
ROWS = (500, 1000, 2000, 4000)
N_TREES, N_REPEATS = 500, 3


def _forests(n_trees: int, p: int) -> dict[str, Callable[[int], Any]]:
    """p candidates at each node of all of them; scikit-learn's forest stands for ranger."""
    from sklearn.ensemble import RandomForestClassifier

    def plain(n_jobs: int) -> Any:
        return RandomForestClassifier(n_trees, max_features=p, n_jobs=n_jobs, random_state=0)

    own: dict[str, Any] = {"n_estimators": n_trees, "n_projections": "p", "random_state": 0}
    return {
        "RF": lambda n_jobs: presets.random_forest(**own, n_jobs=n_jobs),
        "SPORF": lambda n_jobs: presets.sporf(**own, n_jobs=n_jobs),
        "F-RC": lambda n_jobs: presets.forest_rc(**own, n_jobs=n_jobs, min_samples_split=2),
        "scikit-learn's RF": plain,
    }


def seconds_of(
    call: Callable[[], Any], clock: Callable[[], float], repeats: int = N_REPEATS
) -> float:
    """The least of a few repeats."""
    found = []
    for _ in range(repeats):
        start = clock()
        call()
        found.append(clock() - start)
    return min(found)


def training_and_prediction(share: float, seed: int, _data: Path | None) -> tuple[Any, list[str]]:
    """Sparse parity, processor time of one thread; wall time where threads are compared."""
    n_trees = max(20, round(share * N_TREES))
    lines: list[str] = []
    with panels(None, "sporf-8", (1, 4), (14.0, 3.8)) as grid:
        by_features, by_rows, by_threads, by_row = grid.ravel()
        cases = {p: datasets.sparse_parity(1000, p, random_state=seed) for p in FEATURES}
        _training(by_features, cases, n_trees, "features p, n = 1000", lines)
        cases = {n: datasets.sparse_parity(n, 20, random_state=seed) for n in ROWS}
        _training(by_rows, cases, n_trees, "rows n, p = 20", lines)
        _threads(by_threads, datasets.sparse_parity(4000, 20, random_state=seed), n_trees, lines)
        _single_rows(by_row, datasets.sparse_parity(2000, 20, random_state=seed), n_trees, lines)
        by_features.set_ylabel("seconds")
        by_features.legend(fontsize=8)
        figure = by_features.figure
    return figure, [*lines, f"{n_trees} trees, p candidates at a node"]


def _training(axes: Any, cases: dict[int, Any], n_trees: int, what: str, lines: list[str]) -> None:
    for number, name in enumerate(_forests(n_trees, 1)):
        found = []
        for X, y in cases.values():
            make = _forests(n_trees, X.shape[1])[name]
            found.append(seconds_of(partial(fit_forest, make, 1, X, y), time.process_time))
        look = {"color": COLOURS[number], "marker": MARKERS[number], "ms": 4, "lw": 1.3}
        axes.plot(list(cases), found, label=name, **look)
        lines.append(f"training, {what}: {name} " + ", ".join(f"{each:.2f} s" for each in found))
    axes.set(xscale="log", yscale="log", xlabel=what)
    axes.set_xticks(list(cases), list(cases))
    axes.minorticks_off()
    axes.set_title("training, one thread", loc="left")
    axes.grid(axis="y", color=RULE, lw=0.6)


def _threads(axes: Any, rows: Any, n_trees: int, lines: list[str]) -> None:
    X, y = rows
    counts = [n for n in (1, 2, 4, 8, 16) if n <= (os.cpu_count() or 1)]
    for number, (name, make) in enumerate(_forests(n_trees, X.shape[1]).items()):
        found = [seconds_of(partial(fit_forest, make, n, X, y), time.perf_counter) for n in counts]
        speed_up = [found[0] / each for each in found]
        look = {"color": COLOURS[number], "marker": MARKERS[number], "ms": 4, "lw": 1.3}
        axes.plot(counts, speed_up, **look)
        lines.append(f"speed-up with {counts[-1]} threads: {name} {speed_up[-1]:.2f}")
    axes.plot(counts, counts, color=RULE, ls="--")
    axes.set(xlabel="threads", ylabel="speed-up", xticks=counts)
    axes.set_title("training, n = 4000", loc="left")


def predict_one_by_one(call: Callable[[Any], Any], rows: Any) -> None:
    """Predict each row in a call of its own."""
    for i in range(len(rows)):
        call(rows[i : i + 1])


def fit_forest(make: Callable[[int], Any], n_jobs: int, X: Any, y: Any) -> None:
    """Fit with a number of threads."""
    make(n_jobs).fit(X, y)


def _single_rows(axes: Any, rows: Any, n_trees: int, lines: list[str]) -> None:
    """One row at a time, as the paper predicts: nodes packed, and in the order of the file."""
    X, y = rows
    forest = presets.sporf(n_estimators=n_trees, random_state=0, n_jobs=1).fit(X, y)
    predictor: PackedPredictor = forest.fitted_forest_.packed_predictor
    encoded = np.ascontiguousarray(X[:200], np.float32)
    view, packed = predictor.view, predictor
    sklearn_forest = _forests(n_trees, X.shape[1])["scikit-learn's RF"](1).fit(X, y)
    calls: dict[str, Callable[[Any], Any]] = {
        "packed": lambda row: packed.probabilities(row, 1, False),
        "plain": lambda row: view.predict_proba(row, 1, False),
        "scikit-learn's RF": sklearn_forest.predict_proba,
    }
    names, micro = [], []
    for name, call in calls.items():
        few = encoded[:20] if name.startswith("scikit") else encoded
        seconds = seconds_of(partial(predict_one_by_one, call, few), time.process_time)
        names.append(name)
        micro.append(1e6 * seconds / len(few))
        lines.append(f"one row at a time: {name} {micro[-1]:.0f} µs")
    axes.barh(range(len(names)), micro, color=[COLOURS[0], COLOURS[1], RULE])
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="µs a row")
    axes.set_title("prediction, one row at a time", loc="left")
