"""Accuracy over blocks beside the ordinary forest: ``python -m benchmarks.accuracy.blocks``.

    python -m benchmarks.accuracy.blocks --folder data --splits 6 --trees 60

Each set is split at random into training and test rows, at most 6000 and 20 000. A forest of the
rows in memory and one over blocks, of the same parameters, are compared on the same test rows; the
seeds are those of the split. Nodes above a sixteenth of the training rows are cut by histograms, so
that four levels and more are grown as those of a large table are: with its own limit of 131 072
rows the upper levels would not be there at all. Differences are in points: of accuracy, or of
100 R². The folder has `uci`, `large` and `regression`, each with an `index.csv`; higgs28 is made.
Rows are appended to a file as they come, and the table is of all rows in it.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bevel.training.blocks as blocked_table
from benchmarks import machine
from benchmarks.tables import append_csv, markdown, read_csv
from benchmarks.tasks import make
from bevel import ObliqueForestClassifier, ObliqueForestRegressor, scan
from bevel.datasets import load_folder

SETS = {
    "uci": (
        *("magic", "pendigits", "twonorm", "ringnorm", "waveform", "spambase", "statlog_landsat"),
        *("wine_quality-white", "thyroid", "statlog_image"),
    ),
    "large": ("higgs_7500", "eeg_eye_state", "covtype_20k"),
    "regression": (
        *("kin8nm", "puma8nh", "power_plant", "wind", "elevators", "bike_hour"),
        "satellite_image",
    ),
}
MADE = "higgs28"
MAX_TRAINING, MAX_TEST, LARGE = 6000, 20_000, 100_000
HISTOGRAM_SHARE = 16
FIELDS = (
    *("date", "commit", "set", "split", "n", "trees", "ordinary", "blocks"),
    *("ordinary_cpu_s", "blocks_cpu_s"),
)


class Problem(NamedTuple):
    """A set, of which rows are drawn."""

    name: str
    X: Any
    y: np.ndarray
    categorical: Any
    most_training: int


def main() -> None:
    options = parse()
    done = {(row["set"], int(row["split"])) for row in read_csv(options.out)}
    sets = list(problems(options.folder))
    for split in range(options.splits):  # all sets once, then again: a run may be cut short
        for problem in sets:
            if (problem.name, split) not in done:
                found = compare(problem, split, options.trees)
                stamp = {"date": machine.now(), "commit": machine.commit()}
                append_csv(options.out, FIELDS, [found | stamp])
                print(problem.name, split, found, flush=True)
    print(report(read_csv(options.out)))


def problems(folder: Path) -> Iterator[Problem]:
    """All sets, one after the other."""
    for part, names in SETS.items():
        entries = {entry.name: entry for entry in load_folder(folder / part)}
        for name in names:
            table = entries[name].load()
            yield Problem(name, table.X, table.y, table.categorical_features, MAX_TRAINING)
    data = make(MADE, LARGE + MAX_TEST)
    yield Problem(MADE, data.X, data.y, None, LARGE)


def compare(problem: Problem, split: int, n_trees: int) -> dict[str, Any]:
    """Scores of both forests on the test rows of a split, and processor seconds of their fits."""
    n_rows = len(problem.y)
    order = np.random.default_rng([split, n_rows]).permutation(n_rows)
    n_training = min(problem.most_training, n_rows // 2)
    train, test = order[:n_training], order[n_training : n_training + MAX_TEST]
    kind = ObliqueForestRegressor if problem.y.dtype.kind == "f" else ObliqueForestClassifier
    nominal = problem.categorical
    forest = kind(
        n_trees,
        projection="sparse",
        random_state=split,
        n_jobs=1,
        categorical_features=None if nominal is None or not nominal.any() else nominal,
    )
    X, y = problem.X[train], problem.y[train]
    gathered = max(50, n_training // HISTOGRAM_SHARE)
    blocked_table.MAX_GATHERED = blocked_table.MIN_GATHERED = gathered
    result: dict[str, Any] = {"set": problem.name, "split": split, "n": n_training}
    result["trees"] = n_trees
    for name, table in (("ordinary", (X, y)), ("blocks", (scan(X, target=y),))):
        start = time.process_time()
        forest.fit(*table)
        result[f"{name}_cpu_s"] = round(time.process_time() - start, 3)
        result[name] = round(100.0 * forest.score(problem.X[test], problem.y[test]), 4)
    return result


def report(rows: list[dict[str, str]]) -> str:
    """Differences with intervals of 95 %, of each set and of the mean over sets."""
    from scipy.stats import t

    means, lines = [], []
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]
        scores = np.array([[float(row["ordinary"]), float(row["blocks"])] for row in own])
        difference = scores[:, 1] - scores[:, 0]
        k = len(difference)
        interval = ""
        if k > 2:  # two say nearly nothing of their spread
            half = t.ppf(0.975, k - 1) * difference.std(ddof=1) / np.sqrt(k)
            interval = f" ± {half:.2f}"
        if name != MADE:
            means.append(difference.mean())
        cells = [name, own[0]["n"], str(k), f"{scores[:, 0].mean():.2f}"]
        lines.append([*cells, f"{difference.mean():+.2f}{interval}"])
    over = np.array(means)
    half = t.ppf(0.975, len(over) - 1) * over.std(ddof=1) / np.sqrt(len(over))
    lines.append(["mean of the sets", "", "", "", f"{over.mean():+.3f} ± {half:.3f}"])
    return markdown(["set", "training rows", "splits", "ordinary", "blocks − ordinary"], lines)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="with uci, large, regression")
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--trees", type=int, default=60)
    out = machine.ROOT / "benchmarks/results/blocks_accuracy.csv"
    parser.add_argument("--out", type=Path, default=out)
    return parser.parse_args()


if __name__ == "__main__":
    main()
