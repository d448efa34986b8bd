"""Results like those of a run, without running anything."""

import numpy as np

from bevel_lab.cells import FAILED, OK, SKIPPED, Cell, Result
from bevel_lab.running.store import ResultStore

__all__ = ["description", "row", "rows_of", "write_store"]

LABELS = {"sporf": "SPORF", "random-forest": "RF", "ccf": "CCF"}


def row(data="iris", system="sporf", fold=0, repeat=0, status=OK, setting=None, **more):
    """One line of ``ResultStore.frame()``."""
    return {
        "experiment": "sporf-uci",
        "data": data,
        "system": system,
        "setting": setting or {},
        "repeat": repeat,
        "fold": fold,
        "status": status,
        "message": "",
        "n_train": 80,
        "n_test": 20,
        "n_features": 4,
        "n_classes": 2,
        "seconds_fit": 0.5,
        **more,
    }


def rows_of(errors, systems=("sporf", "random-forest", "ccf"), **more):
    """Lines of a table of errors, ``[set, system, fold]``."""
    return [
        row(f"set {n}", systems[k], fold, error=float(value), kappa=1 - 2 * float(value), **more)
        for (n, k, fold), value in np.ndenumerate(np.asarray(errors, dtype=float))
    ]


def description(**more):
    """What a run says of itself."""
    return {
        "experiment": "sporf-uci",
        "paper": "A paper, section 5",
        "sentence": "Errors on data sets.",
        "command": ["bevel", "lab", "run", "sporf-uci", "--only", "two words"],
        "systems": list(LABELS),
        "labels": LABELS,
        "absent": {"ydf-oblique": "ydf-oblique needs ydf, which is not installed."},
        "versions": {"bevel": "9.9"},
        "machine": {"processor": "An <odd> processor"},
        **more,
    }


def write_store(folder, n_sets=8, *, n_cells=None):
    """A small run folder: three systems, five folds, one failure and one skipped cell."""
    rng = np.random.default_rng(0)
    store = ResultStore(folder)
    results = []
    for data in range(n_sets):
        for fold in range(2):
            base = 0.1 + 0.02 * data + 0.01 * rng.random()
            for place, system in enumerate(LABELS):
                cell = Cell("sporf-uci", f"set {data}", system, {}, 0, fold)
                error = base + 0.02 * place + 0.001 * rng.random()
                metrics = {"error": error, "kappa": 1 - 2 * error, "chance_error": 0.4}
                size = {"n_train": 80, "n_test": 80, "n_features": 4, "n_classes": 2}
                results.append(Result(cell, OK, metrics=metrics, seconds_fit=0.1, **size))
    results.append(Result(Cell("sporf-uci", "set <x>", "ccf"), FAILED, "ValueError: <b>no</b>"))
    results.append(Result(Cell("sporf-uci", "set 0", "ccf", {}, 0, 9), SKIPPED, "too small"))
    store.begin(description(n_cells=n_cells or len(results)))
    for result in results:
        store.append(result)
    return store
