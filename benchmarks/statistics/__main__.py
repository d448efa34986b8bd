"""The papers' facts, on simulations with known answers and on data sets of a folder.

    python -m benchmarks.statistics
    python -m benchmarks.statistics --only parity --repeats 10
    python -m benchmarks.statistics --trees 100 --repeats 3          # a quick look
    python -m benchmarks.statistics --only offset,spectral --data FOLDER

parity, orthant, consistency, consistency-full-depth, trunk: in each repeat both forests get the
same training rows (afresh) and the same 10 000 test rows; d and density are chosen by out-of-bag
error from the papers' whole grid, separately for each forest: d = p^¼, p^½, p^¾, p (sparse also
p²), density 1 to 5.

offset, bars, waveform, iris, scaling, hill-valley, spectral, tree-size: forests with fixed
settings, and several claims each. Finished fits are not repeated (--raw, --label). hill-valley and
spectral need --data, and tree-size has more sets with it.

Intervals are 95 %, over paired repeats.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.statistics import blaser, menze, tomita
from benchmarks.statistics.facts import FACTS, Fact
from benchmarks.statistics.running import MEANS, VERDICTS, means_table, run, save, verdict_rows
from benchmarks.statistics.study import Finding, Study
from benchmarks.statistics.tuning import Settings, grid, tune
from benchmarks.tables import append_csv, markdown

STUDIES = (
    *(menze.OFFSET, tomita.BARS, blaser.WAVEFORM, blaser.IRIS, tomita.SCALING),
    *(tomita.HILL_VALLEY, menze.SPECTRAL, blaser.TREE_SIZE),
)
N_TEST = 10_000
N_REPEATS, N_TREES = 10, 500  # of tuned facts; studies have numbers of their own
FIELDS = (
    *("date", "commit", "fact", "repeat", "trees", "voting", "n_train", "forest"),
    *("d", "density", "out_of_bag", "test_error", "grid_seconds"),
)


def main() -> None:
    options = parse()
    facts, studies = chosen(options.only, options.data)
    print(machine.describe(), end="\n\n", flush=True)
    rows, verdicts = [], []
    for fact in facts:
        row, finding = check(fact, options)
        rows.append(row)
        verdicts.append([fact.name, finding.claim, finding.seen, finding.verdict])
        note(" | ".join(verdicts[-1]))
    if rows:
        header = ["fact", "n", "axis error %", "sparse error %", "axis chose", "sparse chose"]
        print(markdown([*header, "s per repeat"], rows), end="\n\n", flush=True)
    for study in studies:
        findings = carry_out(study, options)
        verdicts += [[study.name, one.claim, one.seen, one.verdict] for one in findings]
    print(markdown(["fact", "claim", "seen", "verdict"], verdicts))


def carry_out(study: Study, options: argparse.Namespace) -> list[Finding]:
    """Run a study, print its means, write the two small files; its findings."""
    results, means = run(study, options, note)
    findings = study.judge(results)
    print(f"## {study.name}: {study.source}\n\n{means_table(study, results)}\n", flush=True)
    save(options.means, MEANS, means)
    save(options.verdicts, VERDICTS, verdict_rows(study, findings, options.label))
    return findings


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.statistics",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", help="comma-separated names of facts")
    parser.add_argument("--repeats", type=int, help=f"{N_REPEATS}, or the study's own number")
    parser.add_argument("--trees", type=int, help=f"{N_TREES}, or the study's own number")
    parser.add_argument("--threads", type=int, default=machine.cores())
    parser.add_argument("--voting", choices=("hard", "soft"), default="hard", help="hard: papers'")
    parser.add_argument("--data", type=Path, help="folder with uci/ and spectral/")
    parser.add_argument("--label", default=machine.commit(), help="name of this build of Bevel")
    results = machine.ROOT / "benchmarks/results"
    parser.add_argument("--out", type=Path, default=results / "statistics.csv")
    parser.add_argument("--raw", type=Path, default=results / "raw/facts.csv")
    parser.add_argument("--means", type=Path, default=results / "facts.csv")
    parser.add_argument("--verdicts", type=Path, default=results / "verdicts.csv")
    return parser.parse_args()


def chosen(only: str | None, data: Path | None) -> tuple[list[Fact], list[Study]]:
    """The facts and studies asked for; without names, those that need no absent data."""
    if only is None:
        for study in STUDIES:
            if study.needs_data and data is None:
                note(f"{study.name}: not run, needs --data FOLDER.")
        return list(FACTS), [study for study in STUDIES if data or not study.needs_data]
    words = [word.strip() for word in only.split(",")]
    facts = [fact for fact in FACTS if fact.name in words]
    studies = [study for study in STUDIES if study.name in words]
    if len(facts) + len(studies) < len(words):
        names = ", ".join(one.name for one in (*FACTS, *STUDIES))
        raise SystemExit(f"--only takes {names}; got {only}.")
    absent = [study.name for study in studies if study.needs_data and data is None]
    if absent:
        raise SystemExit(f"{', '.join(absent)}: needs --data FOLDER.")
    return facts, studies


def check(fact: Fact, options: argparse.Namespace) -> tuple[list[str], Finding]:
    """Run the repeats of one tuned fact; its table row and its finding."""
    n_repeats, n_trees = options.repeats or N_REPEATS, options.trees or N_TREES
    settings = Settings(n_trees, options.threads, options.voting, fact.limits)
    errors: dict[str, list[float]] = {"axis": [], "sparse": []}
    choices: dict[str, Counter[str]] = {"axis": Counter(), "sparse": Counter()}
    start = time.perf_counter()
    for repeat in range(n_repeats):
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
                "trees": n_trees,
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
                f"{fact.name} {repeat + 1}/{n_repeats} {kind}: error {errors[kind][-1]:.4f} "
                f"({forest.choice}; {len(grid(kind, X.shape[1]))} forests in {seconds:.1f} s)"
            )
    seconds_each = (time.perf_counter() - start) / n_repeats
    axis, sparse = np.array(errors["axis"]), np.array(errors["sparse"])
    holds, reason = fact.judge(axis, sparse)
    row = [
        fact.name,
        str(fact.n_train),
        spread(axis),
        spread(sparse),
        choices["axis"].most_common(1)[0][0],
        choices["sparse"].most_common(1)[0][0],
        f"{seconds_each:.1f}",
    ]
    return row, Finding(fact.claim, f"{reason} ({n_repeats} repeats)", holds)


def spread(errors: np.ndarray) -> str:
    deviation = errors.std(ddof=1) if len(errors) > 1 else float("nan")
    return f"{100 * errors.mean():.2f} ± {100 * deviation:.2f}"


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
