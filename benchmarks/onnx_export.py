"""Size and speed of ONNX models: ``python -m benchmarks.onnx_export [--trees 100]``.

Prints one line per family of directions for forests of full depth on 5000 rows of 20 normal
features, two noisy classes. Speed is the best of several passes on one core, in processor time;
passes of onnxruntime and of the estimator take turns.
"""

from __future__ import annotations

import pickle
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime

from benchmarks.exported import print_each
from bevel import ObliqueForestClassifier

N_BATCH, N_SINGLE, N_PASSES = 2000, 20, 8
HEADER = (
    "| projection | nodes | export s | ONNX B/node | file B/node | pickle B/node "
    "| batch: ONNX µs/row | own | single row: ONNX µs | own |"
)


def measure(projection: str, forest: ObliqueForestClassifier, asked: np.ndarray) -> str:
    """One line of the table."""
    n_nodes = forest.forest_.n_nodes
    begin = time.process_time()
    serialized = forest.to_onnx().SerializeToString()
    export_time = time.process_time() - begin
    with tempfile.TemporaryDirectory() as folder:
        forest.save(Path(folder) / "model.bevel")
        saved = (Path(folder) / "model.bevel").stat().st_size
    sizes = [size / n_nodes for size in (len(serialized), saved, len(pickle.dumps(forest)))]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(serialized, options, ["CPUExecutionProvider"])
    singles = [asked[i : i + 1] for i in range(N_SINGLE)]
    batch = best_times(lambda: session.run(None, {"X": asked}), lambda: forest.predict_proba(asked))
    single = best_times(
        lambda: [session.run(None, {"X": row}) for row in singles],
        lambda: [forest.predict_proba(row) for row in singles],
    )
    return (
        f"| {projection} | {n_nodes:,} | {export_time:.2f} | "
        + " | ".join(f"{size:.0f}" for size in sizes)
        + f" | {1e6 * batch[0] / N_BATCH:.1f} | {1e6 * batch[1] / N_BATCH:.1f}"
        + f" | {1e6 * single[0] / N_SINGLE:.0f} | {1e6 * single[1] / N_SINGLE:.0f} |"
    )


def best_times(*contenders: Callable[[], object]) -> list[float]:
    """Seconds of each contender's fastest pass."""
    best = [float("inf")] * len(contenders)
    for _ in range(N_PASSES):
        for number, work in enumerate(contenders):
            begin = time.process_time()
            work()
            best[number] = min(best[number], time.process_time() - begin)
    return best


if __name__ == "__main__":
    print_each(__doc__, HEADER, N_BATCH, np.float32, measure)
