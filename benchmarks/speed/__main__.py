"""One command, one table: training time of Bevel and of its peers for the same work.

    python -m benchmarks.speed --treeple-python /path/to/python
    python -m benchmarks.speed --rows quick
    python -m benchmarks.speed --only ydf --repeats 5
    python -m benchmarks.speed --only boost --processor-time --threads 1
    python -m benchmarks.speed --only rotation --rotation-python /path/to/python
    python -m benchmarks.speed --against /path/to/other/python     # another build of Bevel

The two sides of a row are fitted in turn and the smallest time of each counts. Both get the same
rows, trees, directions per node, threads, bootstrap and unlimited depth; nodes per tree, mean leaf
depth and held-out score stand beside the times, so that equal work is visible.
"""

import argparse
import dataclasses
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.speed import N_THREADS, systems
from benchmarks.speed.remote import Remote
from benchmarks.speed.rows import ROWS, Row, quick, select
from benchmarks.speed.systems import Described, System, make_system
from benchmarks.tables import append_csv, bound, markdown, number, verdict
from benchmarks.tasks import TASKS, Data, make

FIELDS = (
    *("date", "commit", "machine", "clock", "row", "task", "n", "p", "trees", "threads", "mode"),
    *("split_search", "scale", "d", "peer_d", "peer", "peer_version", "repeats"),
    *("bevel_seconds", "peer_seconds", "ratio", "at_least", "aim", "peer_prepare_seconds"),
    *("bevel_nodes", "peer_nodes", "bevel_depth", "peer_depth", "bevel_score", "peer_score"),
)
HEADER = (
    *("row", "n × p", "trees", "d", "Bevel s", "peer s", "ratio", "at least", "aim", "verdict"),
    *("nodes/tree", "leaf depth", "held-out score"),
)
# Fast rows go on until this much time is spent or this many pairs are done: minima of a few
# milliseconds need more than three tries.
MIN_SECONDS, MAX_PAIRS = 6.0, 25


def main() -> None:
    options = parse()
    systems.use_processor_time = options.processor_time
    rows = select(ROWS, options.only)
    if options.most_rows:
        rows = tuple(dataclasses.replace(row, n_rows=min(row.n, options.most_rows)) for row in rows)
    if options.rows == "quick":
        rows = tuple(quick(row) for row in rows)
    if options.against:
        rows = against_self(rows)
    print(machine.describe(), end="\n\n", flush=True)
    cells, skipped, peers = [], [], {}
    for row in rows:
        try:
            result = measure(row, options)
        except (ImportError, RuntimeError, FileNotFoundError) as error:
            skipped.append(f"{row.name}: not run. {error}")
            note(skipped[-1])
            continue
        append_csv(options.out, FIELDS, [result])
        cells.append(table_line(result))
        peers[result["peer"]] = result["peer_version"]
    print(markdown(HEADER, cells))
    print(
        "\nTwo figures: Bevel / peer. Seconds: smallest of interleaved fits, "
        f"{options.threads} threads each (rows named threads: the peer is Bevel with 1). Peers: "
        + ", ".join(f"{name} {version}" for name, version in peers.items())
    )
    print("\n".join(skipped))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", choices=("quick", "all"), default="all")
    parser.add_argument("--only", help="comma-separated parts of row names")
    parser.add_argument("--repeats", type=int, default=3, help="pairs of fits, at least (3)")
    parser.add_argument(
        "--scale", default=None, help='Bevel\'s scale=, e.g. "auto"; none unless given'
    )
    parser.add_argument(
        "--treeple-python",
        default=os.environ.get("TREEPLE_PYTHON", sys.executable),
        help="interpreter that has treeple (or set TREEPLE_PYTHON)",
    )
    parser.add_argument(
        "--rotation-python",
        default=os.environ.get("ROTATION_PYTHON", sys.executable),
        help="interpreter that has aeon and sktime (or set ROTATION_PYTHON)",
    )
    parser.add_argument(
        "--against", help="interpreter that has another build of Bevel; replaces the peers"
    )
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="add up the time of all processors, on a machine that does other work as well",
    )
    parser.add_argument(
        "--threads", type=int, default=N_THREADS, help=f"of both sides ({N_THREADS})"
    )
    parser.add_argument("--most-rows", type=int, help="training rows at most, on both sides")
    parser.add_argument("--out", type=Path, default=machine.ROOT / "benchmarks/results/speed.csv")
    return parser.parse_args()


def against_self(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The distinct loads that the rows put on Bevel, with Bevel itself as the peer."""
    loads = {(row.task, row.mode, row.d, row.n, row.split_search): row for row in rows}
    return tuple(
        dataclasses.replace(
            row,
            name=f"{row.mode}-{row.split_search}-{row.task}-{row.n}",
            peer="bevel",
            at_least=float("nan"),
            aim=float("nan"),
            peer_mode=None,
            peer_d=None,
            peer_threads=N_THREADS,
        )
        for row in loads.values()
    )


def measure(row: Row, options: argparse.Namespace) -> dict[str, Any]:
    """Run one row; the fields of its CSV line."""
    data = make(row.task, row.n, n_test=held_out(row))
    n_features = data.X.shape[1]
    work = dataclasses.replace(row.work(n_features), scale=options.scale, n_threads=options.threads)
    bevel = make_system("bevel", data, work)
    peer = make_peer(row, data, options)
    try:
        seconds = interleave(row.name, bevel, peer, options.repeats)
        ours, theirs = bevel.describe(), peer.describe()
    finally:
        if isinstance(peer, Remote):
            peer.close()
    return {
        "date": machine.now(),
        "commit": machine.commit(),
        "machine": f"{machine.processor()}, {machine.cores()} cores",
        "clock": machine.clock(options.processor_time),
        "row": row.name,
        "task": row.task,
        "n": len(data.X),
        "p": n_features,
        "trees": row.n_trees,
        "threads": options.threads,
        "mode": row.mode,
        "split_search": row.split_search,
        "scale": options.scale,
        "d": work.d,
        "peer_d": row.peer_work(n_features).d,
        "peer": "bevel (1 thread)" if row.peer_threads == 1 else row.peer,
        "peer_version": peer.version,
        "repeats": len(seconds),
        "bevel_seconds": round(min(pair[0] for pair in seconds), 5),
        "peer_seconds": round(min(pair[1] for pair in seconds), 5),
        "ratio": round(min(pair[1] for pair in seconds) / min(pair[0] for pair in seconds), 3),
        "at_least": row.at_least,
        "aim": row.aim,
        "peer_prepare_seconds": round(peer.prepare_seconds, 5),
        **described("bevel", ours),
        **described("peer", theirs),
    }


def held_out(row: Row) -> int:
    """10 000 held-out rows, fewer for very wide tasks."""
    return 2_000 if TASKS[row.task].n_rows <= 2_000 and row.task != "small10" else 10_000


def make_peer(row: Row, data: Data, options: argparse.Namespace) -> System:
    work = row.peer_work(data.X.shape[1])
    if work.n_threads == N_THREADS:
        work = dataclasses.replace(work, n_threads=options.threads)
    if row.peer == "bevel":
        work = dataclasses.replace(work, scale=options.scale, split_search=row.split_search)
    if options.against:
        return Remote(options.against, "bevel", data, work)
    if row.peer == "treeple":
        return Remote(options.treeple_python, "treeple", data, work)
    if row.peer in ("aeon", "sktime"):
        return Remote(options.rotation_python, row.peer, data, work)
    return make_system(row.peer, data, work)


def interleave(name: str, bevel: System, peer: System, repeats: int) -> list[tuple[float, float]]:
    """Seconds of fits in the order Bevel, peer, Bevel, peer, ..."""
    pairs: list[tuple[float, float]] = []
    spent = 0.0
    while len(pairs) < repeats or (spent < MIN_SECONDS and len(pairs) < MAX_PAIRS):
        pairs.append((bevel.fit(), peer.fit()))
        spent += sum(pairs[-1])
        ours, theirs = pairs[-1]
        note(f"{name} {len(pairs)}: Bevel {number(ours)} s, peer {number(theirs)} s")
    return pairs


def described(side: str, what: Described) -> dict[str, Any]:
    return {
        f"{side}_nodes": round(what.nodes, 1),
        f"{side}_depth": round(what.depth, 2),
        f"{side}_score": round(what.score, 4),
    }


def table_line(result: dict[str, Any]) -> list[str]:
    r = result
    d = str(r["d"]) if r["d"] == r["peer_d"] else f"{r['d']} / {r['peer_d']}"
    return [
        r["row"],
        f"{r['n']} × {r['p']}",
        str(r["trees"]),
        d,
        number(r["bevel_seconds"]),
        number(r["peer_seconds"])
        + (f" (+{number(r['peer_prepare_seconds'], 2)})" if r["peer_prepare_seconds"] else ""),
        f"{r['ratio']:.2f}",
        bound(r["at_least"]),
        bound(r["aim"]),
        verdict(r["ratio"], r["at_least"], r["aim"]),
        f"{r['bevel_nodes']:.0f} / {r['peer_nodes']:.0f}",
        f"{r['bevel_depth']:.1f} / {r['peer_depth']:.1f}",
        f"{r['bevel_score']:.3f} / {r['peer_score']:.3f}",
    ]


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
