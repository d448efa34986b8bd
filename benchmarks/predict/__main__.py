"""One command, one table: prediction time of Bevel and of its peers for the same work.

    python -m benchmarks.predict --treeple-python /path/to/python
    python -m benchmarks.predict --rows quick                  # shows that everything runs
    python -m benchmarks.predict --only axis-sklearn,one --repeats 15
    python -m benchmarks.predict --scale auto                  # with Bevel's own scaling

Each forest is grown once for every system: the same rows, trees, directions per node, bootstrap and
unlimited depth. The two sides of a row then predict in turn, and medians are compared. Held-out
rows are float32 in C order; what a peer must make of them first is not timed, except for single
rows.
"""

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.predict import systems
from benchmarks.predict.remote import Remote
from benchmarks.predict.rows import N_BATCH, ROWS, Forest, Row, quick
from benchmarks.predict.saved import SavedPair
from benchmarks.predict.systems import (
    BevelPredictor,
    PredictionSystem,
    YdfPrepared,
    batch_seconds,
    make_prediction_system,
    one_seconds,
)
from benchmarks.speed.rows import select
from benchmarks.tables import append_csv, bound, markdown, number, verdict
from benchmarks.tasks import Data, make

FIELDS = (
    *("date", "commit", "machine", "clock", "row", "kind", "task", "n", "p", "trees", "threads"),
    *("mode", "scale", "peer", "peer_version", "repeats", "unit", "bevel_value", "peer_value"),
    *("bevel_visits", "peer_visits", "peer_mb", "ratio", "at_least", "aim"),
)
HEADER = (
    *("row", "n × p", "trees", "threads", "unit", "Bevel", "peer", "ratio", "at least", "aim"),
    *("verdict", "visits per row", "peer MB"),
)
# What a value is multiplied with before it is shown: seconds for N_BATCH rows, or for one.
UNITS = {
    "batch": ("ms", 1e3),
    "visit": ("ns per visit", 1e9),
    "one": ("µs", 1e6),
    "load": ("ms", 1e3),
    "answer": ("ms", 1e3),
    "size": ("bytes per node", 1.0),
}
# Fast rows go on until this much time is spent or this many pairs are done.
MIN_SECONDS, MAX_PAIRS = 2.0, 25
SAME_TREES = ("xgboost", "tl2cgen")
Pair = tuple[float, float]


@dataclass
class Grown:
    """Bevel's forest of a group of rows."""

    data: Data
    ours: PredictionSystem
    visits: float


@dataclass
class Result:
    """What was measured: values of each repeat, Bevel's first, in seconds or bytes."""

    pairs: list[Pair]
    peer_version: str
    peer_visits: float = float("nan")
    peer_mb: float = float("nan")

    def medians(self) -> Pair:
        ours, theirs = (statistics.median(side) for side in zip(*self.pairs, strict=True))
        return ours, theirs


def main() -> None:
    options = parse()
    rows = select(ROWS, options.only)
    systems.use_processor_time = options.processor_time
    if options.rows == "quick":
        rows = tuple(dict.fromkeys(quick(row) for row in rows))
    print(machine.describe(), end="\n\n", flush=True)
    lines, skipped = [], []
    for forest in dict.fromkeys(row.forest for row in rows):
        own = [row for row in rows if row.forest == forest]
        for row, result in measure_forest(forest, own, options):
            if isinstance(result, str):
                skipped.append(f"{row.name}: not run. {result}")
                note(skipped[-1])
                continue
            append_csv(options.out, FIELDS, [result])
            lines.append(result)
    print(markdown(HEADER, [table_line(line) for line in lines]))
    peers = dict.fromkeys(f"{line['peer']} {line['peer_version']}" for line in lines)
    print(
        f"\nbatch, visit: {N_BATCH} rows; visits: splits that a row passes in all trees, Bevel / "
        f"peer. Medians of interleaved calls. Peers: {', '.join(peers)}."
    )
    print("\n".join(skipped))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.predict",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", choices=("quick", "all"), default="all")
    parser.add_argument("--only", help="comma-separated parts of row names")
    parser.add_argument("--repeats", type=int, default=7, help="pairs of calls, at least (7)")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="add up the time of all processors, on a machine that does other work as well",
    )
    parser.add_argument("--scale", help='Bevel\'s scale=, e.g. "auto"; none unless given')
    parser.add_argument(
        "--treeple-python",
        default=os.environ.get("TREEPLE_PYTHON", sys.executable),
        help="interpreter that has treeple (or set TREEPLE_PYTHON)",
    )
    parser.add_argument("--out", type=Path, default=machine.ROOT / "benchmarks/results/predict.csv")
    return parser.parse_args()


def measure_forest(
    forest: Forest, rows: list[Row], options: argparse.Namespace
) -> Iterator[tuple[Row, dict[str, Any] | str]]:
    """Grow Bevel's forest once and each peer's once; fields of CSV lines, or why there are none."""
    data = make(forest.task, forest.n, n_test=N_BATCH)
    note(f"{forest}: Bevel grows")
    ours = make_prediction_system("bevel", data, forest.work(data.X.shape[1], options.scale))
    grown = Grown(data, ours, ours.visits(data.X_test))
    for system in dict.fromkeys(row.system for row in rows):
        own = [row for row in rows if row.system == system]
        note(f"{forest}: {system} grows")
        left = list(own)
        try:
            with peer_of(own[0], grown, options) as theirs:
                while left:
                    yield left[0], measure(left[0], grown, theirs, options)
                    left.pop(0)
        except (ImportError, RuntimeError, FileNotFoundError) as error:
            yield from ((row, str(error)) for row in left)


@contextmanager
def peer_of(row: Row, grown: Grown, options: argparse.Namespace) -> Iterator[Any]:
    """The other side of a row, closed afterwards."""
    data, work = grown.data, row.forest.work(grown.data.X.shape[1])
    if row.peer == "treeple" and options.processor_time:
        raise RuntimeError("Another interpreter measures the clock, not processor time.")
    if row.peer == "treeple":
        theirs: Any = Remote(options.treeple_python, row.peer, data, work)
    elif row.peer == "estimator":
        theirs = grown.ours
    else:
        theirs = make_prediction_system(row.system, data, work, grown.ours.model)
    try:
        yield theirs
    finally:
        theirs.close()


def measure(row: Row, grown: Grown, theirs: Any, options: argparse.Namespace) -> dict[str, Any]:
    if row.kind in ("load", "answer", "size"):
        result = measure_saved(row, grown, theirs, options.repeats)
    else:
        ours = BevelPredictor(grown.ours.model) if row.peer == "estimator" else grown.ours
        theirs = YdfPrepared(theirs) if row.peer == "ydf-prepared" else theirs
        result = measure_predictions(row, grown, ours, theirs, options.repeats)
    return fields(row, grown, result, options)


def measure_predictions(row: Row, grown: Grown, ours: Any, theirs: Any, repeats: int) -> Result:
    X = grown.data.X_test
    if row.peer in SAME_TREES:
        check_same_predictions(ours, theirs, X[:1000])
    pairs = interleave(
        row.name,
        lambda: (
            seconds(ours, row.kind, X, row.n_threads),
            seconds(theirs, row.kind, X, row.n_threads),
        ),
        repeats,
    )
    visits = theirs.visits(X) if row.kind == "visit" else float("nan")
    result = Result(pairs, theirs.version, visits, getattr(theirs, "megabytes", float("nan")))
    if row.kind == "visit":
        splits = (len(X) * grown.visits, len(X) * visits)
        result.pairs = [(a / splits[0], b / splits[1]) for a, b in pairs]
    return result


def measure_saved(row: Row, grown: Grown, theirs: Any, repeats: int) -> Result:
    saved = SavedPair(grown.ours.model, theirs.model)
    try:
        if row.kind == "size":
            return Result([saved.bytes_per_node()], theirs.version)
        first = grown.data.X_test[:1] if row.kind == "answer" else None
        pairs = interleave(row.name, lambda: saved.load_seconds(first), repeats)
        return Result(pairs, theirs.version, peer_mb=saved.theirs.stat().st_size / 1e6)
    finally:
        saved.close()


def check_same_predictions(ours: Any, theirs: Any, X: np.ndarray) -> None:
    """Probabilities of class 1 must be ours, or the trees are not the same."""
    difference = np.abs(
        theirs.predict_proba(theirs.ready(X), 1) - ours.predict_proba(X, 1)[:, 1]
    ).max()
    if difference > 1e-5:
        raise RuntimeError(f"The peer's predictions differ by {difference:g}.")


def seconds(side: Any, kind: str, X: np.ndarray, n_threads: int) -> float:
    if isinstance(side, Remote):
        return side.one(n_threads) if kind == "one" else side.batch(n_threads)
    return (one_seconds if kind == "one" else batch_seconds)(side, X, n_threads)


def interleave(name: str, pair: Callable[[], Pair], repeats: int) -> list[Pair]:
    """Pairs of measurements, Bevel, peer, Bevel, peer, ..., after one that does not count."""
    pair()
    pairs: list[Pair] = []
    spent = 0.0
    while len(pairs) < repeats or (spent < MIN_SECONDS and len(pairs) < MAX_PAIRS):
        pairs.append(pair())
        spent += sum(pairs[-1])
    ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    note(f"{name}: Bevel {number(1e3 * ours)} ms, peer {number(1e3 * theirs)} ms")
    return pairs


def fields(row: Row, grown: Grown, result: Result, options: argparse.Namespace) -> dict[str, Any]:
    ours, theirs = result.medians()
    unit, factor = UNITS[row.kind]
    return {
        "date": machine.now(),
        "commit": machine.commit(),
        "machine": f"{machine.processor()}, {machine.cores()} cores",
        "clock": machine.clock(options.processor_time),
        "row": row.name,
        "kind": row.kind,
        "task": row.forest.task,
        "n": len(grown.data.X),
        "p": grown.data.X.shape[1],
        "trees": row.forest.n_trees,
        "threads": row.n_threads,
        "mode": row.forest.mode,
        "scale": options.scale,
        "peer": row.peer,
        "peer_version": result.peer_version,
        "repeats": len(result.pairs),
        "unit": unit,
        "bevel_value": round(factor * ours, 4),
        "peer_value": round(factor * theirs, 4),
        "bevel_visits": round(grown.visits, 1),
        "peer_visits": round(result.peer_visits, 1),
        "peer_mb": round(result.peer_mb, 1),
        "ratio": round(theirs / ours, 3),
        "at_least": row.at_least,
        "aim": row.aim,
    }


def table_line(line: dict[str, Any]) -> list[str]:
    visits = number(line["bevel_visits"])
    if line["peer_visits"] == line["peer_visits"]:
        visits += f" / {number(line['peer_visits'])}"
    return [
        line["row"],
        f"{line['n']} × {line['p']}",
        str(line["trees"]),
        str(line["threads"]),
        line["unit"],
        number(line["bevel_value"]),
        number(line["peer_value"]),
        f"{line['ratio']:.2f}",
        bound(line["at_least"]),
        bound(line["aim"]),
        verdict(line["ratio"], line["at_least"], line["aim"]),
        visits,
        number(line["peer_mb"]),
    ]


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
