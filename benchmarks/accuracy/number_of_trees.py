"""What a chosen number of trees costs.

    python -m benchmarks.accuracy.number_of_trees --folder data

The default forest with all trees (500, 300 in regression) beside `n_estimators="auto"` with several
limits on the excess squared error, on the sets of `uci`, `regression` and `large` of 4000 rows and
more. At most 6000 rows are drawn from a set, half of them for training: fewer than the default asks
for before it chooses, so that more sets take part. The limit was chosen on the sets whose names
have an even CRC-32; the other half is the report half.
"""

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import log_loss

from benchmarks import machine
from benchmarks.accuracy import peers
from benchmarks.tables import append_csv, markdown, number
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.training import automatic

FOLDERS = ("uci", "regression", "large")
ALL_TREES = 0.0  # as a limit
FEWEST_ROWS, MAX_ROWS = 4000, 6000


class Outcome(NamedTuple):
    """A fit with a limit: its trees, time, and losses of held-out rows; in regression 1 - R²."""

    set: str
    limit: float
    trees: int
    cpu_s: float
    error: float
    loss: float


def main() -> None:
    options = parse()
    print(machine.describe(), end="\n\n", flush=True)
    warnings.simplefilter("ignore")
    peers.MAX_ROWS, automatic.MIN_ROWS_TO_CHOOSE = MAX_ROWS, FEWEST_ROWS // 2
    found: list[Outcome] = []
    for entry in peers.sets(options.folder, FOLDERS):
        if entry.n_rows < FEWEST_ROWS:
            continue
        problem = peers.load(entry)
        for limit in (ALL_TREES, *options.limits):
            found.append(measure(problem, limit))
            print(*found[-1], flush=True)
            append_csv(options.out, Outcome._fields, [found[-1]._asdict()])
    print("\n" + summary(found, options.limits))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy.number_of_trees",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--limits", type=float, nargs="+", default=[0.005, 0.01, 0.02])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/number_of_trees.csv"))
    return parser.parse_args()


def measure(problem: peers.Problem, limit: float) -> Outcome:
    """A fit on the first of two folds."""
    training, test = next(iter(peers.folds(problem)))
    X, y = problem.X, problem.y
    kind = ObliqueForestClassifier if problem.n_classes else ObliqueForestRegressor
    automatic.MAX_EXCESS = limit
    most = 500 if problem.n_classes else 300
    forest = kind("auto" if limit else most, random_state=0, n_jobs=1)
    start = time.process_time()
    forest.fit(X.iloc[training], y[training])
    seconds = time.process_time() - start
    error = loss = 1.0 - float(forest.score(X.iloc[test], y[test]))
    if problem.n_classes:
        known = np.isin(y[test], forest.classes_)
        shares = np.maximum(forest.predict_proba(X.iloc[test[known]]), 1e-9)
        loss = float(log_loss(y[test[known]], shares, labels=forest.classes_))
    return Outcome(problem.name, limit, forest.forest_.n_trees, seconds, error, loss)


def summary(found: Sequence[Outcome], limits: Sequence[float]) -> str:
    """Changes against all trees: by half of the sets, and limit."""
    head = [
        "sets",
        "limit",
        "number",
        "trees",
        "time",
        "error, points",
        "loss, %",
        "better : worse",
    ]
    base = {each.set: each for each in found if each.limit == ALL_TREES}
    rows = []
    for half in ("chosen", "sealed", "report"):
        for limit in limits:
            new = [
                each for each in found if each.limit == limit and peers.half_of(each.set) == half
            ]
            if new:
                rows.append([half, str(limit), *changes(new, [base[each.set] for each in new])])
    return markdown(head, rows)


def changes(new: Sequence[Outcome], old: Sequence[Outcome]) -> list[str]:
    """Number of sets, mean trees, ratio of times, and how error and loss change."""

    def ratios(what: str) -> Any:
        return np.log([getattr(a, what) / getattr(b, what) for a, b in zip(new, old, strict=True)])

    points = 100.0 * np.mean([a.error - b.error for a, b in zip(new, old, strict=True)])
    loss = 100.0 * ratios("loss")
    noise = f" ± {np.std(loss, ddof=1) / np.sqrt(len(loss)):.2f}" if len(loss) > 1 else ""
    return [
        *(str(len(new)), number(float(np.mean([each.trees for each in new])))),
        *(number(float(np.exp(ratios("cpu_s").mean()))), f"{points:+.2f}"),
        *(f"{loss.mean():+.2f}{noise}", f"{(loss < 0).sum()} : {(loss > 0).sum()}"),
    ]


if __name__ == "__main__":
    main()
