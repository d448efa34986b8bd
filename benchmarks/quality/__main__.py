"""Cross-validated error of Bevel and its peers over a folder of data sets.

    python -m benchmarks.quality --data FOLDER                         # everything, resumes
    python -m benchmarks.quality --data FOLDER --compare scale --trees 100
    python -m benchmarks.quality --data FOLDER --summary               # tables of what is there

axis-sklearn  Bevel's axis forest and scikit-learn's random forest; numeric data sets
sparse-ydf    Bevel's sparse forest (its own scale, and none) and ydf's with p projections per node
              (no normalisation, and min-max); numeric data sets
scale         the candidates for scale="auto" with the sparse forest; numeric data sets
categories    nominal columns as they are and one-hot; data sets that have some
lists         projection=["axis", "sparse", Ridge(tune="gcv")] and each of its members; all sets

Folds are stratified and the same for all systems. Small data sets are cross-validated several
times, so that at least about --min-tests rows are predicted for each. One line per (data set,
repeat, fold, system) is appended to a CSV file, and what it holds is not run again: results of
Bevel are kept apart by build (--label: the commit), those of peers by version.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.quality.data import DataSet, n_repeats, read_index
from benchmarks.quality.jobs import FIELDS, KEY, Job, Progress, note, results
from benchmarks.quality.summary import summarise
from benchmarks.quality.systems import COMPARISONS, build_of
from benchmarks.tables import append_csv, read_csv

SUMMARY_FIELDS = (
    "date",
    "dataset",
    "n",
    "p",
    "system",
    "build",
    "trees",
    "folds",
    "tests",
    "error",
)


def main() -> None:
    options = parse()
    print(machine.describe(), end="\n\n", flush=True)
    jobs = plan(options)
    done = {tuple(row[name] for name in KEY) for row in read_csv(options.out)}
    missing = [job for job in jobs if job.key not in done]
    if options.summary:
        note(f"{len(jobs) - len(missing)} of {len(jobs)} fits are done.")
    else:
        run(missing, options)
    report(jobs, options)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with uci/ or index.csv")
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--compare", default=",".join(COMPARISONS), help="comma-separated")
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--min-tests", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1, help="processes; they share the cores")
    parser.add_argument("--only", help="comma-separated names of data sets")
    parser.add_argument("--label", default=machine.commit(), help="name of this build of Bevel")
    parser.add_argument("--summary", action="store_true", help="run nothing, print the tables")
    results = machine.ROOT / "benchmarks/results"
    parser.add_argument("--out", type=Path, default=results / "raw/quality.csv")
    parser.add_argument("--summary-out", type=Path, default=results / "quality.csv")
    options = parser.parse_args()
    if (options.data / "uci" / "index.csv").is_file():
        options.data = options.data / "uci"
    options.compare = [name.strip() for name in options.compare.split(",")]
    unknown = sorted(set(options.compare) - set(COMPARISONS))
    if unknown:
        parser.error(f"unknown comparison {', '.join(unknown)}; known: {', '.join(COMPARISONS)}")
    return options


def plan(options: argparse.Namespace) -> list[Job]:
    """All fits that the comparisons need, small data sets first, each fit once."""
    data_sets = read_index(options.data, options.max_rows)
    if options.only:
        data_sets = [one for one in data_sets if one.name in options.only.split(",")]
    jobs: dict[tuple[str, ...], Job] = {}
    for data_set in data_sets:
        for repeat in range(n_repeats(data_set, options.min_tests)):
            for fold in range(options.folds):
                for system in systems_for(data_set, options.compare):
                    build = build_of(system, options.label)
                    job = Job(data_set, repeat, fold, system, build, options.trees, options.folds)
                    jobs[job.key] = job
    return list(jobs.values())


def systems_for(data_set: DataSet, comparisons: list[str]) -> Iterator[str]:
    kind = "numeric" if data_set.is_numeric else "nominal"
    for comparison in comparisons:
        wanted, systems = COMPARISONS[comparison]
        if wanted in (kind, "all"):
            yield from systems


def run(jobs: list[Job], options: argparse.Namespace) -> None:
    """Work through the jobs, appending each result as it comes."""
    threads = max(1, machine.cores() // options.jobs)
    progress = Progress(jobs)
    for job, row in results(jobs, options.jobs, threads):
        append_csv(options.out, FIELDS, [row])
        progress.step(job)


def report(jobs: list[Job], options: argparse.Namespace) -> None:
    """Print the tables and write one line per (data set, system) to the summary file."""
    wanted = {job.key: job for job in jobs}
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    needed: dict[tuple[str, str], int] = defaultdict(int)
    for job in jobs:
        needed[job.data_set.name, job.system] += 1
    for row in read_csv(options.out):
        job = wanted.pop(tuple(row[name] for name in KEY), None)
        if job is not None:
            cell = counts[job.data_set.name, job.system]
            cell[0] += int(row["errors"])
            cell[1] += int(row["n_test"])
            cell[2] += 1
    complete = {cell: c[0] / c[1] for cell, c in counts.items() if c[2] == needed[cell]}
    kinds = {job.data_set.name: job.data_set for job in jobs}
    for comparison in options.compare:
        wanted = COMPARISONS[comparison][0]
        errors: dict[str, dict[str, float]] = defaultdict(dict)
        for (name, system), error in complete.items():
            if wanted == "all" or kinds[name].is_numeric == (wanted == "numeric"):
                errors[system][name] = error
        print(f"## {comparison}\n\n{summarise(comparison, errors)}\n", flush=True)
    save(complete, counts, kinds, options)


def save(
    complete: dict[tuple[str, str], float],
    counts: dict[tuple[str, str], list[int]],
    kinds: dict[str, DataSet],
    options: argparse.Namespace,
) -> None:
    """Replace the summary lines of this build; keep those of others."""
    rows = [
        {
            "date": machine.now()[:10],
            "dataset": name,
            "n": kinds[name].n_rows,
            "p": kinds[name].n_numeric + len(kinds[name].nominal),
            "system": system,
            "build": build_of(system, options.label),
            "trees": options.trees,
            "folds": options.folds,
            "tests": counts[name, system][1],
            "error": round(error, 5),
        }
        for (name, system), error in sorted(complete.items())
    ]

    def key(row: dict[str, Any]) -> tuple[str, ...]:
        return tuple(str(row[f]) for f in ("dataset", "system", "build", "trees", "folds"))

    replaced = {key(row) for row in rows}
    kept = [row for row in read_csv(options.summary_out) if key(row) not in replaced]
    options.summary_out.unlink(missing_ok=True)
    append_csv(options.summary_out, SUMMARY_FIELDS, [*kept, *rows])


if __name__ == "__main__":
    main()
