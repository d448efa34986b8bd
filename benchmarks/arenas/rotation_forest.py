"""Rotation Forest beside aeon's: ``python -m benchmarks.arenas.rotation_forest --data FOLDER``.

Both grow as many trees on principal components of random groups of three features, at their
defaults: entropy, full depth, no bootstrap. FOLDER is one of `bevel.datasets.load_folder`; numeric
sets of the named ones are taken. Each set is cut into folds; both are fitted in turn to the same
rows, in processor time of one thread. aeon needs an environment of its own with Bevel in it.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import minmax_scale

from benchmarks import machine
from benchmarks.tables import markdown, number
from bevel import ObliqueForestClassifier, presets
from bevel.datasets import load_folder

MAX_ROWS = 2000


def main() -> None:
    options = parse()
    print(machine.describe(), end="\n\n", flush=True)
    wanted = options.sets.split(",")
    lines = []
    for folder in options.data:
        for entry in load_folder(folder):
            if entry.name in wanted:
                lines.append(measure(entry, options))
                print(lines[-1], flush=True)
    head = ["set", "n", "p", "error aeon", "preset", "default", "fit aeon / preset"]
    head += ["aeon / default", "predict aeon / preset"]
    print("\n" + markdown(head, lines))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arenas.rotation_forest")
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--sets", required=True, help="names, separated by commas")
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--folds", type=int, default=5)
    return parser.parse_args()


def systems(n_trees: int, seed: int) -> dict:
    from aeon.classification.sklearn import RotationForestClassifier

    return {
        "aeon": RotationForestClassifier(n_trees, random_state=seed),
        "preset": presets.rotation_forest(n_estimators=n_trees, random_state=seed, n_jobs=1),
        "default": ObliqueForestClassifier(n_trees, random_state=seed, n_jobs=1),
    }


def measure(entry, options: argparse.Namespace) -> list[str]:
    table = entry.load()
    X, y = np.nan_to_num(minmax_scale(table.X)), table.y
    if len(y) > MAX_ROWS:
        kept = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
        X, y = X[kept], y[kept]
    wrong, fit, predict = (dict.fromkeys(systems(1, 0), 0.0) for _ in range(3))
    for seed, (train, test) in enumerate(
        StratifiedKFold(options.folds, shuffle=True, random_state=0).split(X, y)
    ):
        for name, model in systems(options.trees, seed).items():
            clock = [time.process_time()]
            model.fit(X[train], y[train])
            clock.append(time.process_time())
            wrong[name] += np.sum(model.predict(X[test]) != y[test])
            clock.append(time.process_time())
            taken = np.diff(clock)
            fit[name] += taken[0]
            predict[name] += taken[1]
    errors = [f"{100 * wrong[name] / len(y):.1f} %" for name in wrong]
    ratios = (
        fit["aeon"] / fit["preset"],
        fit["aeon"] / fit["default"],
        predict["aeon"] / predict["preset"],
    )
    return [entry.name, str(len(y)), str(X.shape[1]), *errors, *map(number, ratios)]


if __name__ == "__main__":
    main()
