"""SPORF's Figures 9 and 10 on the large sets of a folder: time per tree, and of single rows."""

import os
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel import presets
from bevel import projections as P
from bevel.errors import wrong_value
from bevel.extras import import_optional
from bevel.plots.canvas import COLOURS, MARKERS, RULE, panels
from bevel_lab.paper_figures.times import fit_forest, predict_one_by_one, seconds_of
from bevel_lab.protocols.sets import all_sets, open_set, prepared

__all__ = ["large_set_times"]

# MNIST, a part of Higgs, and two sets in place of p53, which no folder has.
SETS = ("mnist_train60k", "higgs_7500", "covtype_20k", "fashion_mnist_20k")
N_TREES = 128  # 6.4.3 prints seconds per tree; not how many
MIN_ROWS, N_SINGLE_ROWS = 1000, 200


def large_set_times(share: float, seed: int, data: Path | None) -> tuple[Any, list[str]]:
    """Processor seconds of one thread per tree, speed-up by threads, µs of one prediction."""
    known = all_sets(data)
    names = [name for name in SETS if name in known]
    if not names:
        required = f"a folder with one of {', '.join(SETS)}"
        raise wrong_value("--data", required, data, "Pass the folder of the large sets.")
    n_trees = max(10, round(share * N_TREES))
    lines: list[str] = []
    with panels(None, "sporf-9", (3, len(names)), (4.2 * len(names), 8.0)) as grid:
        for column, name in enumerate(names):
            X, y = _rows(name, data, share, seed)
            tops = grid[:, column]
            tops[0].set_title(f"{name}\n{len(y)} × {X.shape[1]}", loc="left", fontsize=9)
            _training(tops[0], tops[1], name, X, y, n_trees, lines)
            _single_rows(tops[2], name, X, y, n_trees, lines)
        grid[1, 0].set_ylabel("speed-up")
        figure = grid[0, 0].figure
    return figure, [*lines, f"{n_trees} trees, d = √p, λ = 1/p"]


def _rows(name: str, data: Path | None, share: float, seed: int) -> tuple[Any, NDArray[Any]]:
    """A share of the rows, the same for all systems."""
    table = open_set(name, data)
    problem = prepared(table, np.ones(len(table.y), bool), "native")
    n = min(len(table.y), max(MIN_ROWS, round(share * len(table.y))))
    chosen = np.random.default_rng(seed).permutation(len(table.y))[:n]
    y = np.unique(table.y[chosen], return_inverse=True)[1]
    return np.ascontiguousarray(problem.X_train[chosen], np.float32), y


def _systems(n_trees: int) -> dict[str, Callable[[int], Any]]:
    """√p candidates at each node; scikit-learn's forest stands for ranger."""
    from sklearn.ensemble import RandomForestClassifier

    own: dict[str, Any] = {"n_estimators": n_trees, "n_projections": "sqrt", "random_state": 0}
    made: dict[str, Callable[[int], Any]] = {
        "SPORF": lambda n_jobs: presets.sporf(**own, projection=P.SparseSigns(1), n_jobs=n_jobs),
        "RF": lambda n_jobs: presets.random_forest(**own, n_jobs=n_jobs),
        "scikit-learn's RF": lambda n_jobs: RandomForestClassifier(
            n_trees, n_jobs=n_jobs, random_state=0
        ),
    }
    if find_spec("xgboost"):
        made["XGBoost"] = partial(_xgboost, n_trees)
    return made


def _xgboost(n_trees: int, n_jobs: int) -> Any:
    package = import_optional("xgboost", needed_by="sporf-9", install="bevel-lab[peers]")
    return package.XGBClassifier(n_estimators=n_trees, n_jobs=n_jobs)


def _training(
    times: Any, scaling: Any, name: str, X: Any, y: Any, n_trees: int, lines: list[str]
) -> None:
    counts = [n for n in (1, 2, 4, 8, 16, 32) if n <= (os.cpu_count() or 1)]
    per_tree: dict[str, float] = {}
    for number, (label, make) in enumerate(_systems(n_trees).items()):
        fits = [partial(fit_forest, make, n_jobs, X, y) for n_jobs in counts]
        seconds = seconds_of(fits[0], time.process_time, 1) / n_trees
        found = [seconds_of(fit, time.perf_counter, 1) for fit in fits]
        per_tree[label] = 1000 * seconds
        look = {"color": COLOURS[number], "marker": MARKERS[number], "ms": 4, "lw": 1.3}
        scaling.plot(counts, [found[0] / each for each in found], label=label, **look)
        lines.append(
            f"{name}, {label}: {1000 * seconds:.1f} ms a tree, speed-up with {counts[-1]} "
            f"threads {found[0] / found[-1]:.2f}"
        )
    _draw_bars(times, per_tree, "processor ms a tree")
    scaling.plot(counts, counts, color=RULE, ls="--")
    scaling.set(xlabel="threads", xticks=counts)
    scaling.legend(fontsize=7, loc="upper left")


def _single_rows(axes: Any, name: str, X: Any, y: Any, n_trees: int, lines: list[str]) -> None:
    systems = _systems(n_trees)
    forest = systems["SPORF"](1).fit(X, y)
    packed = forest.fitted_forest_.packed_predictor
    peer = systems["scikit-learn's RF"](1).fit(X, y)
    calls: dict[str, Callable[[Any], Any]] = {
        "packed": lambda row: packed.probabilities(row, 1, False),
        "plain": lambda row: packed.view.predict_proba(row, 1, False),
        "scikit-learn's RF": peer.predict_proba,
    }
    micro: dict[str, float] = {}
    for label, call in calls.items():
        rows = X[: 20 if label.startswith("scikit") else N_SINGLE_ROWS]
        seconds = seconds_of(partial(predict_one_by_one, call, rows), time.process_time, 3)
        micro[label] = 1e6 * seconds / len(rows)
        lines.append(f"{name}, one row at a time, {label}: {micro[label]:.1f} µs")
    _draw_bars(axes, micro, "µs a row, one at a time", xscale="log", xlim=(1.0, None))


def _draw_bars(axes: Any, values: dict[str, float], what: str, **look: Any) -> None:
    places = range(len(values))
    bars = axes.barh(places, list(values.values()), color=COLOURS[: len(values)])
    axes.bar_label(bars, fmt="%.3g", padding=3, fontsize=8)
    axes.set_yticks(places, list(values), fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set(xlabel=what, **look)
    axes.minorticks_off()
