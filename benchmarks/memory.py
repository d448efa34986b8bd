"""Peak memory of training: ``python -m benchmarks.memory``.

A fresh interpreter imports everything, makes the caller's data (float32, C order, 1 000 000 × 28
by default), fits a small forest once so that lazy imports and thread pools are there,
and hands freed memory back to the system. Its resident memory at this point is the *baseline*:
imports and the caller's arrays. The kernel's high-water mark is then reset, the forest grown, and

    work space = peak − baseline − bytes of the finished forest's arrays

is reported as a multiple of the size of X: what training needs beyond what the caller had before
and wanted to have afterwards. At most 3 is required, 1.5 of boosting (`--model boosting`). The copy
of the data that training works on counts as work space, and so do the scratch arrays of all
threads.

`--system` measures another library instead. The size of its trees is not known, so that peak −
baseline, trees included, is what is compared; of Bevel it is printed too.

The high-water mark is VmHWM of /proc/self/status, reset through /proc/self/clear_refs; where the
kernel does not allow that, a thread reads the resident size every 2 ms, which can miss a short peak
and says so. Linux only.
"""

import argparse
import contextlib
import ctypes
import gc
import json
import math
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.speed.rows import Work
from benchmarks.speed.systems import make_system
from benchmarks.tables import append_csv, markdown
from benchmarks.tasks import Data, make

MEGABYTE = 1e6
AT_MOST = {"forest": 3.0, "boosting": 1.5}
FIELDS = (
    *("date", "commit", "n", "p", "trees", "threads", "projection", "scale", "order", "seconds"),
    *("data_mb", "baseline_mb", "peak_mb", "forest_mb", "work_mb", "ratio", "peak_from", "system"),
)
SYSTEMS = ("bevel", "sklearn", "ydf", "lightgbm", "xgboost", "catboost")


def main() -> None:
    options = parse()
    if options.inside:
        print(json.dumps(measure(options)))
        return
    print(machine.describe(), end="\n\n", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", "--inside", *sys.argv[1:]],
        cwd=machine.ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result = json.loads(done.stdout.splitlines()[-1])
    result |= {"date": machine.now(), "commit": machine.commit()}
    append_csv(options.out, FIELDS, [result])
    shown = ("data_mb", "baseline_mb", "peak_mb", "forest_mb", "work_mb")
    print(
        markdown(
            ["n × p, trees, threads", *(name.replace("_", " ") for name in shown), "× data"],
            [
                [
                    f"{result['n']} × {result['p']}, {result['trees']}, {result['threads']}",
                    *(f"{result[name]:.0f}" for name in shown),
                    f"{result['ratio']:.2f}",
                ]
            ],
        )
    )
    growth = (result["peak_mb"] - result["baseline_mb"]) / result["data_mb"]
    print(f"\n{options.system}: the memory grew by {growth:.2f} × the data, trees included.")
    if options.system != "bevel":
        return
    most = AT_MOST[options.model]
    word = "HOLDS" if result["ratio"] <= most else "FAILS"
    print(
        f"\n{word}  work space of training is {result['ratio']:.2f} × the data, at most "
        f"{most:g} is required (peak from {result['peak_from']}, {result['seconds']:.1f} s)."
    )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.memory",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument(
        "--model", choices=("forest", "boosting"), default="forest", help="boosting: 31 leaves"
    )
    parser.add_argument("--system", choices=SYSTEMS, default="bevel")
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--projection", default="sparse")
    parser.add_argument("--scale", default="auto", help='"none" for None')
    parser.add_argument("--order", choices=("C", "F"), default="C", help="memory order of X")
    parser.add_argument("--out", type=Path, default=machine.ROOT / "benchmarks/results/memory.csv")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """In the fresh interpreter: baseline, fit, peak."""
    data = make("higgs28", options.rows)
    X, y = np.asarray(data.X, order=options.order), data.y
    del data

    def fit(n_trees: int, X: Any, y: Any) -> Any:
        if options.system != "bevel":
            return fit_peer(options, n_trees, Data("higgs28", X, y, X[:1], y[:1]))
        return make_bevel(options, n_trees).fit(X, y)

    fit(options.threads, X[:1000], y[:1000])
    give_back()
    baseline = resident()
    with HighWater() as high:
        start = time.perf_counter()
        model = fit(options.trees, X, y)
        seconds = time.perf_counter() - start
    is_ours = options.system == "bevel"
    finished = sum(array.nbytes for array in model.forest_.arrays().values()) if is_ours else 0
    work = high.peak - baseline - finished
    return {
        "n": X.shape[0],
        "p": X.shape[1],
        "trees": options.trees,
        "threads": options.threads,
        "projection": options.projection
        if options.model == "forest"
        else f"boosting {options.projection}",
        "scale": options.scale,
        "order": options.order,
        "seconds": round(seconds, 2),
        "data_mb": round(X.nbytes / MEGABYTE, 1),
        "baseline_mb": round(baseline / MEGABYTE, 1),
        "peak_mb": round(high.peak / MEGABYTE, 1),
        "forest_mb": round(finished / MEGABYTE, 1),
        "work_mb": round(work / MEGABYTE, 1),
        "ratio": round(work / X.nbytes, 3),
        "peak_from": high.source,
        "system": options.system,
    }


def make_bevel(options: argparse.Namespace, n_trees: int) -> Any:
    from bevel import ObliqueBoostingClassifier, ObliqueForestClassifier

    shared = {
        "projection": options.projection,
        "scale": None if options.scale == "none" else options.scale,
        "n_jobs": options.threads,
        "random_state": 0,
    }
    if options.model == "boosting":
        return ObliqueBoostingClassifier(
            max_iter=n_trees, max_leaf_nodes=31, early_stopping=False, **shared
        )
    return ObliqueForestClassifier(n_estimators=n_trees, **shared)


def fit_peer(options: argparse.Namespace, n_trees: int, data: Data) -> Any:
    """Fit a peer with the settings of the speed table; what it makes of the data counts too."""
    d = data.X.shape[1]
    if options.model == "boosting":
        work = Work("boost-axis", d, n_trees, options.threads)
    else:
        is_oblique = options.system == "ydf"
        mode, d = ("sparse", d) if is_oblique else ("axis", math.isqrt(d))
        work = Work(mode, d, n_trees, options.threads)
    system = make_system(options.system, data, work)
    system.fit()
    return system


def give_back() -> None:
    """Free what can be freed and return it to the system."""
    gc.collect()
    with contextlib.suppress(AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)


def status(name: str) -> int:
    """A size from /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {name}; this benchmark needs Linux.")


def resident() -> int:
    return status("VmRSS")


class HighWater:
    """The largest resident size while the block runs."""

    def __enter__(self) -> "HighWater":
        self.peak = 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._watch)
        try:
            Path("/proc/self/clear_refs").write_text("5")  # VmHWM := VmRSS
            self.source = "VmHWM"
        except OSError:
            self.source = "sampling every 2 ms"
            self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.source == "VmHWM":
            self.peak = status("VmHWM")
            return
        self.stop.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.stop.wait(0.002):
            self.peak = max(self.peak, resident())


if __name__ == "__main__":
    main()
