"""What regularising costs: ``python -m benchmarks.rotation_ensemble``.

A regularised rotation ensemble grows micro-forests on all rotations and then more trees on some of
them. It is timed beside plain rotation forests (`RR-RF`) of as many *grown* trees, those that do
not stay included. Both are fitted in turn, on the same rows, in processor time of one thread.
"""

import argparse
import time

import numpy as np

from benchmarks import machine
from benchmarks.tables import markdown
from bevel import ObliqueForestClassifier, RegularizedRotationClassifier
from bevel.training.rotation_ensemble import WEIGHTINGS

SIZES = ((500, 10), (500, 34), (3500, 21))  # rows, features: breast, ionosphere and waveform, about


def main() -> None:
    options = parse()
    print(machine.describe(), end="\n\n", flush=True)
    lines = []
    for weighting in options.weightings.split(","):
        for n_rows, n_features in SIZES[: options.sizes]:
            lines.append(measure(weighting, n_rows, n_features, options))
            print(lines[-1], flush=True)
    head = ["weighting", "n", "p", "grown", "RR-RF, s", "regularised, s", "ratio", "of repeats"]
    print("\n" + markdown(head, lines))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rotation_ensemble",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--trees", type=int, default=5000)
    parser.add_argument("--rotations", type=int, default=100)
    parser.add_argument("--micro-trees", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--weightings", default="exp,bst,rre", help=f"of {','.join(WEIGHTINGS)}")
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="tables to try, small first")
    return parser.parse_args()


def measure(weighting: str, n_rows: int, n_features: int, options: argparse.Namespace) -> list[str]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n_rows) > 0).astype(int)
    common = {"n_jobs": 1, "scale": "minmax_clip"}
    times = []
    for repeat in range(options.repeats):
        ensemble = RegularizedRotationClassifier(
            options.trees,
            weighting=weighting,
            n_rotations=options.rotations,
            n_micro_trees=options.micro_trees,
            random_state=repeat,
            **common,
        )
        ours = seconds(ensemble, X, y)
        kept = np.minimum(ensemble.trees_per_rotation_, options.micro_trees).sum()
        grown = options.trees + options.rotations * options.micro_trees - int(kept)
        plain = ObliqueForestClassifier(grown, projection="rotation", random_state=repeat, **common)
        times.append((seconds(plain, X, y), ours, grown))
    plain_time, our_time, grown = np.median(times, axis=0)
    ratios = [ours / theirs for theirs, ours, _ in times]
    return [
        *(weighting, str(n_rows), str(n_features), f"{grown:.0f}"),
        *(f"{plain_time:.2f}", f"{our_time:.2f}", f"{np.median(ratios):.2f}"),
        f"{min(ratios):.2f}–{max(ratios):.2f}",
    ]


def seconds(forest: ObliqueForestClassifier, X: np.ndarray, y: np.ndarray) -> float:
    start = time.process_time()
    forest.fit(X, y)
    return time.process_time() - start


if __name__ == "__main__":
    main()
