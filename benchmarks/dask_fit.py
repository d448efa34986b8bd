"""A fit on a Dask cluster beside a local one: ``python -m benchmarks.dask_fit``.

Two worker processes of one thread each grow the trees that a local fit grows in two threads; the
files must be equal. The fits alternate. Seconds are the least of the repeats; processor time is
that of all processes; the client's own includes the scheduler, which runs in its process. Dask's
processes use some percent of a core even if they are idle, which is measured before: what they
would have used anyway in the seconds of the fit is in `idle_cpu_s`, and `cpu_ratio` leaves it out,
since on a busy machine it grows with the seconds. The rows are persisted at the workers before, as
those of the local fit are in memory. A first fit, which is not counted, lets the workers import
what they need.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.tables import append_csv, markdown
from benchmarks.tasks import make
from bevel import ObliqueForestClassifier

IDLE_SECONDS = 10.0
FIELDS = (
    *("date", "commit", "n", "trees", "projection", "workers", "repeats", "local_s", "dask_s"),
    *("ratio", "local_cpu_s", "dask_cpu_s", "client_cpu_s", "idle_cpu_s", "cpu_ratio", "model_mb"),
)


def main() -> None:
    options = parse()
    print(machine.describe(), end="\n\n", flush=True)
    result = measure(options) | {"date": machine.now(), "commit": machine.commit()}
    append_csv(options.out, FIELDS, [result])
    print(markdown(list(FIELDS[2:]), [[str(result[name]) for name in FIELDS[2:]]]))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    import dask.array as da
    from dask.distributed import Client, LocalCluster, wait

    from bevel.dask import DaskObliqueForestClassifier

    data = make("higgs28", options.rows)
    settings = {"n_estimators": options.trees, "projection": options.projection, "random_state": 0}
    local = ObliqueForestClassifier(**settings, n_jobs=options.workers)
    cluster = LocalCluster(
        n_workers=options.workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    )
    with cluster, Client(cluster) as client:
        X = client.persist(da.from_array(data.X, chunks=(options.rows // 10, -1)))
        y = client.persist(da.from_array(data.y, chunks=options.rows // 10))
        wait([X, y])
        remote = DaskObliqueForestClassifier(**settings, n_jobs=options.workers)
        DaskObliqueForestClassifier(5, projection="sparse").fit(X, y)
        idle = timed(lambda: time.sleep(IDLE_SECONDS), [client])
        rounds = []
        for _ in range(options.repeats):
            here = timed(lambda: local.fit(data.X, data.y), [])
            there = timed(lambda: remote.fit(X, y), [client])
            rounds.append((*here, *there, idle[1] / idle[0] * there[0]))
        size = equal_files(local, remote)
    # The round of least processor time: its parts belong together.
    there = min(rounds, key=lambda each: each[4] - each[6])
    dask_s, dask_cpu, client_cpu, idle_cpu = min(each[3] for each in rounds), *there[4:]
    local_s, local_cpu = (min(each[i] for each in rounds) for i in (0, 1))
    return {
        "n": options.rows,
        "trees": options.trees,
        "projection": options.projection,
        "workers": options.workers,
        "repeats": options.repeats,
        "local_s": round(local_s, 2),
        "dask_s": round(dask_s, 2),
        "ratio": round(dask_s / local_s, 3),
        "cpu_ratio": round((dask_cpu - idle_cpu) / local_cpu, 3),
        "idle_cpu_s": round(idle_cpu, 2),
        "local_cpu_s": round(local_cpu, 2),
        "dask_cpu_s": round(dask_cpu, 2),
        "client_cpu_s": round(client_cpu, 2),
        "model_mb": round(size / 1e6, 1),
    }


def timed(work: Any, clients: list[Any]) -> tuple[float, float, float]:
    """Seconds, processor seconds of all processes, and of this one."""

    def elsewhere() -> float:
        return sum(sum(client.run(time.process_time).values()) for client in clients)

    start, there, here = time.perf_counter(), elsewhere(), time.process_time()
    work()
    seconds, own = time.perf_counter() - start, time.process_time() - here
    return seconds, own + elsewhere() - there, own


def equal_files(local: Any, remote: Any) -> int:
    """The size of the files, which must be equal."""
    with tempfile.TemporaryDirectory() as folder:
        contents = []
        for name, estimator in (("local", local), ("remote", remote)):
            path = Path(folder) / name
            estimator.save(path)
            contents.append(path.read_bytes())
    if contents[0] != contents[1]:
        raise SystemExit("The files of the local fit and of that on the cluster differ.")
    return len(contents[0])


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--projection", default="auto")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=machine.ROOT / "benchmarks/results/dask.csv")
    return parser.parse_args()


if __name__ == "__main__":
    main()
