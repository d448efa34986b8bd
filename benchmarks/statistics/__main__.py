"""The papers' facts about sparse oblique forests, on simulations with known answers.

    python -m benchmarks.statistics
    python -m benchmarks.statistics --only parity --repeats 10
    python -m benchmarks.statistics --trees 100 --repeats 3          # a quick look

In each repeat both forests get the same training rows (afresh) and the same 10 000 test rows; d and
density are chosen by out-of-bag error from the papers' whole grid, separately for each forest:
d = p^¼, p^½, p^¾, p (sparse also p²), density 1 to 5. Intervals are 95 %, over paired repeats.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.statistics.facts import FACTS, Fact
from benchmarks.statistics.tuning import Settings, grid, tune
from benchmarks.tables import append_csv, markdown

N_TEST = 10_000
FIELDS = (
    *("date", "commit", "fact", "repeat", "trees", "voting", "n_train", "forest"),
    *("d", "density", "out_of_bag", "test_error", "grid_seconds"),
)


def main() -> None:
    options = parse()
    print(machine.describe(), end="\n\n", flush=True)
    rows, lines = [], []
    for fact in chosen(options.only):
        row, line = check(fact, options)
        rows.append(row)
        lines.append(line)
        note(line)
    header = ["fact", "n", "axis error %", "sparse error %", "axis chose", "sparse chose"]
    print(markdown([*header, "s per repeat"], rows), end="\n\n")
    print("\n".join(lines))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.statistics",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", help="comma-separated names of facts")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--threads", type=int, default=machine.cores())
    parser.add_argument("--voting", choices=("hard", "soft"), default="hard", help="hard: papers'")
    out = machine.ROOT / "benchmarks/results/statistics.csv"
    parser.add_argument("--out", type=Path, default=out)
    return parser.parse_args()


def chosen(only: str | None) -> list[Fact]:
    if only is None:
        return list(FACTS)
    words = [word.strip() for word in only.split(",")]
    facts = [fact for fact in FACTS if fact.name in words]
    if len(facts) < len(words):
        raise SystemExit(f"--only takes {', '.join(fact.name for fact in FACTS)}; got {only}.")
    return facts


def check(fact: Fact, options: argparse.Namespace) -> tuple[list[str], str]:
    """Run the repeats of one fact; its table row and its verdict line."""
    settings = Settings(options.trees, options.threads, options.voting, fact.limits)
    errors: dict[str, list[float]] = {"axis": [], "sparse": []}
    choices: dict[str, Counter[str]] = {"axis": Counter(), "sparse": Counter()}
    start = time.perf_counter()
    for repeat in range(options.repeats):
        X, y = fact.draw(fact.n_train, 2 * repeat)
        X_test, y_test = fact.draw(N_TEST, 2 * repeat + 1)
        for kind in errors:
            began = time.perf_counter()
            forest = tune(kind, X, y, settings, seed=repeat)
            seconds = time.perf_counter() - began
            errors[kind].append(forest.test_error(X_test, y_test))
            choices[kind][forest.choice] += 1
            line = {
                "date": machine.now(),
                "commit": machine.commit(),
                "fact": fact.name,
                "repeat": repeat,
                "trees": options.trees,
                "voting": options.voting,
                "n_train": fact.n_train,
                "forest": kind,
                "d": forest.d,
                "density": forest.density,
                "out_of_bag": round(forest.out_of_bag, 5),
                "test_error": round(errors[kind][-1], 5),
                "grid_seconds": round(seconds, 2),
            }
            append_csv(options.out, FIELDS, [line])
            note(
                f"{fact.name} {repeat + 1}/{options.repeats} {kind}: error {errors[kind][-1]:.4f} "
                f"({forest.choice}; {len(grid(kind, X.shape[1]))} forests in {seconds:.1f} s)"
            )
    seconds_each = (time.perf_counter() - start) / options.repeats
    axis, sparse = np.array(errors["axis"]), np.array(errors["sparse"])
    holds, reason = fact.judge(axis, sparse)
    word = {True: "HOLDS", False: "FAILS", None: "–"}[holds]
    row = [
        fact.name,
        str(fact.n_train),
        spread(axis),
        spread(sparse),
        choices["axis"].most_common(1)[0][0],
        choices["sparse"].most_common(1)[0][0],
        f"{seconds_each:.1f}",
    ]
    return row, f"{word}  {fact.claim}. {reason} ({options.repeats} repeats)."


def spread(errors: np.ndarray) -> str:
    deviation = errors.std(ddof=1) if len(errors) > 1 else float("nan")
    return f"{100 * errors.mean():.2f} ± {100 * deviation:.2f}"


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
