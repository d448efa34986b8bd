"""Bevel and its peers at their defaults: ``python -m benchmarks.accuracy.peers``.

    python -m benchmarks.accuracy.peers --folder data --systems bevel,lightgbm,catboost

Each set is cut into two folds, the same for all systems, after at most 20 000 rows are drawn from
it. The sets are those of 700 rows and more in `uci`, and all of `regression` and `large`, or of the
folders of `--sets`, such as `mixed`, from the smallest on (rows × columns × classes). Systems have
one thread and the seed 0; nominal columns are native in all of them but scikit-learn's forest,
which gets indicators. Rows are appended to a file as they come, so that a stopped run resumes; the
tables are of the sets that all systems have done.
Settings of Bevel are chosen on the half of the sets whose names have an even CRC-32; the other
half is the report half, which `--half report` runs alone. Sets of TabArena are sealed: nothing is
chosen on them (`arenas/sealed.csv`).
"""

import argparse
import functools
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import machine
from benchmarks.accuracy.systems import BOOSTING, SYSTEMS, Predict
from benchmarks.tables import append_csv, markdown, read_csv
from bevel.datasets import load_folder
from bevel.datasets.bundled import FolderEntry

MEASURES = ("error", "log_loss", "auc_loss")
FEWEST_ROWS = {"uci": 700}
MAX_ROWS, N_FOLDS = 20_000, 2
FIELDS = ("date", "commit", "set", "fold", "system", "error", "log_loss", "cpu_s", "auc_loss")


class Problem(NamedTuple):
    """A set: a frame whose nominal columns are categories, and targets; classes are 0, 1, …."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    n_classes: int  # 0: regression


class Outcome(NamedTuple):
    """Share of wrong classes or mean squared error over variance; of classes log loss and 1 - AUC.

    The AUC of three classes and more is the mean over classes of each against the rest.
    """

    error: float
    log_loss: float
    cpu_s: float
    auc_loss: float = float("nan")


def work(entry: FolderEntry) -> float:
    """About how much there is to do: rows × columns × classes of more than two."""
    with entry.path.open("rb") as stream:
        columns = pd.read_csv(stream, compression="gzip", nrows=0).shape[1] - 1
    classes = entry.n_classes if entry.n_classes > 2 else 1
    return min(entry.n_rows, MAX_ROWS) * columns * classes


def sets(folder: Path, names: Sequence[str]) -> list[FolderEntry]:
    """All sets of some folders, from the smallest on."""
    found = [entry for name in names for entry in load_folder(folder / name)]
    return sorted(
        (each for each in found if each.n_rows >= FEWEST_ROWS.get(each.path.parent.name, 0)),
        key=work,
    )


def half_of(name: str) -> str:
    """Whether settings are chosen on a set ("chosen"), or it is for reports; else "sealed"."""
    if zlib.crc32(name.encode()) % 2 == 1:
        return "report"
    return "sealed" if name in sealed_names() else "chosen"


@functools.cache
def sealed_names() -> frozenset[str]:
    """Names of the sets that are among TabArena's."""
    rows = read_csv(machine.ROOT / "benchmarks/arenas/sealed.csv")
    return frozenset(name for row in rows for name in row["names_here"].split(";"))


def load(entry: FolderEntry) -> Problem:
    table = entry.load()
    X = pd.DataFrame(table.X, columns=[f"x{i}" for i in range(table.X.shape[1])])
    for column, nominal in zip(X.columns, table.categorical_features, strict=True):
        if nominal:
            X[column] = X[column].map(lambda code: f"level {code:g}", "ignore").astype("category")
    y = table.y
    n_classes = 0
    if y.dtype.kind != "f":
        classes, y = np.unique(y, return_inverse=True)
        n_classes = len(classes)
    if len(y) > MAX_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MAX_ROWS])
        X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    return Problem(entry.name, X, y, n_classes)


def folds(problem: Problem) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows, stratified by class; rows of rare classes are in both halves."""
    order = np.random.default_rng(1).permutation(len(problem.y))
    if problem.n_classes:
        order = order[np.argsort(problem.y[order], kind="stable")]
    for fold in range(N_FOLDS):
        yield np.sort(np.delete(order, np.s_[fold::N_FOLDS])), np.sort(order[fold::N_FOLDS])


def evaluate(
    fit: Callable[[int, pd.DataFrame, np.ndarray], Predict],
    problem: Problem,
    train: np.ndarray,
    test: np.ndarray,
) -> Outcome:
    """A fold: fitted on its training rows, scored on the others."""
    target, present = problem.y[train], np.arange(0)
    if problem.n_classes:  # some may have no training row
        present, target = np.unique(target, return_inverse=True)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predict = fit(len(present), problem.X.iloc[train], target)
        cpu_s = time.process_time() - start
        predicted = predict(problem.X.iloc[test])
    y = problem.y[test]
    if problem.n_classes:
        shares = np.zeros((len(y), problem.n_classes))
        shares[:, present] = predicted
        predicted = shares
    if not problem.n_classes:
        return Outcome(float(np.mean((predicted - y) ** 2) / np.var(y)), float("nan"), cpu_s)
    right = np.clip(predicted[np.arange(len(y)), y], 1e-15, 1.0)
    wrong = predicted.argmax(axis=1) != y
    areas = [roc_auc_score(y == k, predicted[:, k]) for k in np.unique(y)]
    return Outcome(
        float(wrong.mean()), float(-np.log(right).mean()), cpu_s, 1.0 - float(np.mean(areas))
    )


def run(options: argparse.Namespace) -> None:
    done = {(row["set"], int(row["fold"]), row["system"]) for row in read_csv(options.out)}
    for entry in sets(options.folder, options.sets):
        if work(entry) > options.most_work or options.task not in ("both", entry.task):
            continue
        if options.half not in ("both", half_of(entry.name)):
            continue
        wanted = [
            (fold, system)
            for fold in range(N_FOLDS)
            for system in options.systems
            if (entry.name, fold, system) not in done
        ]
        if not wanted:
            continue
        problem = load(entry)
        rows = list(folds(problem))
        for fold, system in wanted:
            outcome = evaluate(SYSTEMS[system], problem, *rows[fold])
            stamp = {"date": machine.now(), "commit": machine.commit()}
            found = {"set": entry.name, "fold": fold, "system": system, **outcome._asdict()}
            append_csv(options.out, FIELDS, [stamp | found])
            print(entry.name, fold, system, *(f"{value:.4g}" for value in outcome), flush=True)


def report(rows: Sequence[dict[str, str]], systems: Sequence[str]) -> str:
    """Tables of the sets that all systems have done: all of them, and the report half."""
    table = pd.DataFrame(rows)
    for name in MEASURES:
        table[name] = table[name].astype(float)
    table = table[table["system"].isin(systems)]
    means = table.pivot_table(list(MEASURES), "set", "system", dropna=False)
    counts = table.pivot_table("fold", "set", "system", aggfunc="count")
    whole = counts.reindex(columns=list(systems)).eq(N_FOLDS).all(axis=1)
    means = means[whole.reindex(means.index)]
    is_class = means["log_loss"].notna().all(axis=1)
    reported = (means.index.map(half_of) == "report").astype(bool)
    parts = []
    for half, chosen in (("all sets", np.full(len(means), True)), ("report half", reported)):
        for kind, of_kind in (("classification", is_class), ("regression", ~is_class)):
            own = means[chosen & of_kind.to_numpy()]
            for measure in MEASURES if kind == "classification" else ("error",):
                known = own[measure].dropna() if measure in own else own[:0]
                if not len(known):
                    continue
                title = f"{kind}, {half}, {measure}: {len(known)} sets"
                parts.append(f"\n**{title}**\n\n{_compare(known, kind, systems)}")
    return "\n".join(parts)


def _compare(values: pd.DataFrame, kind: str, systems: Sequence[str]) -> str:
    """Mean ranks, means, and Wilcoxon's p against the first system, two-sided and one-sided."""
    from scipy.stats import wilcoxon

    ranks = values[list(systems)].rank(axis=1).mean()
    first = values[systems[0]]
    lines = []
    for system in sorted(systems, key=lambda name: ranks[name]):
        cells = [system, f"{ranks[system]:.2f}", f"{values[system].mean():.4f}"]
        other = values[system]
        if system != systems[0] and not np.array_equal(first, other):
            won = f"{int((first < other).sum())} : {int((first > other).sum())}"
            change = np.log(first / other) if kind == "regression" else first - other
            p = [wilcoxon(change, alternative=side).pvalue for side in ("two-sided", "less")]
            cells += [won, *(f"{each:.4f}" for each in p)]
        lines.append(cells + [""] * (6 - len(cells)))
    header = ["", "mean rank", "mean", "wins : losses of the first", "p, two-sided", "p, one-sided"]
    return markdown(header, lines)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="with uci, regression, …")
    every = ",".join(SYSTEMS)
    parser.add_argument("--systems", type=_names, default=list(BOOSTING), help=f"of {every}")
    parser.add_argument("--sets", type=_names, default=["uci", "regression", "large"])
    parser.add_argument("--task", choices=("both", "classification", "regression"), default="both")
    parser.add_argument("--half", choices=("both", "chosen", "report"), default="both")
    parser.add_argument("--most-work", type=float, default=float("inf"), help="leave out larger")
    out = machine.ROOT / "benchmarks/results/accuracy.csv"
    parser.add_argument("--out", type=Path, default=out)
    options = parser.parse_args()
    unknown = [name for name in options.systems if name not in SYSTEMS]
    if unknown:
        parser.error(f"--systems must be of {every}; got {unknown[0]}")
    return options


def _names(text: str) -> list[str]:
    return text.split(",")


def main() -> None:
    options = parse()
    run(options)
    entries = sets(options.folder, options.sets)
    known = {entry.name for entry in entries if options.task in ("both", entry.task)}
    rows = [row for row in read_csv(options.out) if row["set"] in known]
    print(report(rows, options.systems))


if __name__ == "__main__":
    main()
