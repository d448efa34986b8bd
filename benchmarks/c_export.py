"""Size, compile time and speed of exported C: ``python -m benchmarks.c_export [--trees 100]``.

Prints one line per family of directions for forests of full depth on 5000 rows of 20 normal
features, two noisy classes. Speed is the best of 60 passes over 200 rows, one at a time and on one
core; passes of C, `predictor_` and the estimator take turns.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.exported import print_each
from bevel import ObliqueForestClassifier

N_ASKED, N_PASSES = 200, 60
HEADER = (
    "| projection | nodes | export s | source B/node | compile s | object B/node "
    "| C µs/row | predictor_ µs/row | predict_proba µs/row |"
)
LOOP = """
void model_rows(const double *X, int n, double *out)
{
    for (; n > 0; --n, X += MODEL_N_FEATURES, out += MODEL_N_CLASSES) model_predict_proba(X, out);
}
"""


def measure(projection: str, forest: ObliqueForestClassifier, asked: np.ndarray) -> str:
    """One line of the table."""
    n_nodes = forest.forest_.n_nodes
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "model.c"
        begin = time.perf_counter()
        text = forest.to_c()
        export_time = time.perf_counter() - begin
        source.write_text(text, encoding="utf-8")
        begin = time.perf_counter()
        run_compiler("-c", str(source), "-o", str(source.with_suffix(".o")))
        compile_time = time.perf_counter() - begin
        object_size = source.with_suffix(".o").stat().st_size
        source.write_text(text + LOOP, encoding="utf-8")
        run_compiler("-shared", "-fPIC", str(source), "-o", str(source.with_suffix(".so")))
        library = ctypes.CDLL(str(source.with_suffix(".so")))
    out = np.empty((N_ASKED, 2))
    address = [ctypes.c_void_p(array.ctypes.data) for array in (asked, out)]
    rows = [asked[i : i + 1] for i in range(N_ASKED)]
    predictor, one = forest.predictor_, np.empty((1, 2))
    in_c, bare, checked = best_times(
        lambda: library.model_rows(address[0], N_ASKED, address[1]),
        lambda: [predictor.predict_proba(row, one) for row in rows],
        lambda: [forest.predict_proba(row) for row in rows],
    )
    assert np.array_equal(out, forest.predict_proba(asked))
    return (
        f"| {projection} | {n_nodes:,} | {export_time:.2f} | {len(text) / n_nodes:.1f} "
        f"| {compile_time:.2f} | {object_size / n_nodes:.1f} "
        f"| {in_c:.1f} | {bare:.1f} | {checked:.1f} |"
    )


def run_compiler(*arguments: str) -> None:
    """Compile as the documentation says, with optimisation."""
    subprocess.run(["cc", "-std=c99", "-O2", *arguments], check=True)


def best_times(*contenders: Callable[[], object]) -> list[float]:
    """Microseconds per row of each contender's fastest pass."""
    best = [float("inf")] * len(contenders)
    for _ in range(N_PASSES):
        for number, work in enumerate(contenders):
            begin = time.perf_counter()
            work()
            best[number] = min(best[number], time.perf_counter() - begin)
    return [1e6 * seconds / N_ASKED for seconds in best]


if __name__ == "__main__":
    print_each(__doc__, HEADER, N_ASKED, np.float64, measure)
