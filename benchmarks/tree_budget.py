"""What is lost with fewer trees: ``python -m benchmarks.tree_budget --data FOLDER``.

A forest of 500 trees is cut to 50 and to 100, by `prune_trees` and by keeping the first ones, and
all five forests predict the held-out fold. Errors and Brier scores are means over folds (the same
for all, those of `bevel_lab`); differences are paired over data sets.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.tables import append_csv, markdown
from bevel import ObliqueForestClassifier
from bevel.estimators._base import keep_trees
from bevel_lab.cells import hash_seed
from bevel_lab.protocols import Problem
from bevel_lab.protocols.comparisons import n_repeats
from bevel_lab.protocols.sets import DataSet, all_sets, prepared
from bevel_lab.protocols.splits import training_rows
from bevel_lab.statistics import paired_interval

BUDGETS = (50, 100)
N_FOLDS = 5
FIELDS = ("date", "commit", "dataset", "n", "classes", "trees", "kept", "error", "brier")
# Small and middling, numeric and nominal, two classes and many, easy and noisy.
DATA_SETS = (
    *("seeds", "glass", "conn_bench-sonar-mines-rocks", "ionosphere", "pima", "statlog_vehicle"),
    *("breast_cancer-wisconsin-diag", "credit_approval", "cardiotocography_task_1", "steel_plates"),
    *("statlog_landsat", "spambase", "abalone", "ringnorm"),
)
# Error and Brier score of a forest, one pair for each fold.
Scores = dict[str, list[tuple[float, float]]]


def main() -> None:
    options = parse()
    print(machine.describe(), end="\n\n", flush=True)
    folder = options.data / "uci" if (options.data / "uci").is_dir() else options.data
    wanted = options.only.split(",") if options.only else DATA_SETS
    known = sorted(all_sets(folder).values(), key=lambda each: (each.n_rows, each.name))
    data_sets = [d for d in known if d.name in wanted and d.n_rows <= options.max_rows]
    scores = {}
    for data_set in data_sets:
        scores[data_set.name] = measure(data_set, options)
        append_csv(options.out, FIELDS, lines(data_set, scores[data_set.name], options.trees))
    names = ["all", *(f"{way} {n}" for n in BUDGETS for way in ("first", "best"))]
    print(markdown(["data set", "n", "classes", *names], cells(data_sets, scores, names)))
    print("\nError in % (Brier score in %), means over folds.\n")
    print(markdown(["difference, points", "error", "Brier score"], differences(scores)))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tree_budget",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with index.csv")
    parser.add_argument("--only", help="comma-separated names of data sets")
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--max-rows", type=int, default=10_000)
    out = machine.ROOT / "benchmarks/results/tree_budget.csv"
    parser.add_argument("--out", type=Path, default=out)
    return parser.parse_args()


def measure(data_set: DataSet, options: argparse.Namespace) -> Scores:
    scores: Scores = defaultdict(list)
    for repeat in range(n_repeats(data_set.n_rows)):
        for number in range(N_FOLDS):
            fold = read_fold(data_set, repeat, number)
            whole = ObliqueForestClassifier(
                options.trees,
                random_state=hash_seed(data_set.name, repeat, number),
                n_jobs=2,
                categorical_features=fold.categorical_features,
            )
            whole.fit(fold.X_train, fold.y_train)
            scores["all"].append(score(whole, fold))
            for n in BUDGETS:
                best = whole.prune_trees(n, fold.X_train, fold.y_train)
                scores[f"best {n}"].append(score(best, fold))
                best = keep_trees(whole, np.arange(n))
                scores[f"first {n}"].append(score(best, fold))
    return scores


def read_fold(data_set: DataSet, repeat: int, number: int) -> Problem:
    """The rows of a stratified fold as they are."""
    table = data_set.load()
    train = training_rows(table.y, N_FOLDS, number, hash_seed(data_set.name, repeat))
    return prepared(table, train, "native")


def score(fitted: ObliqueForestClassifier, fold: Problem) -> tuple[float, float]:
    probabilities = fitted.predict_proba(fold.X_test)
    truth = fold.y_test[:, None] == fitted.classes_
    wrong = fitted.classes_[probabilities.argmax(axis=1)] != fold.y_test
    return float(wrong.mean()), float(((probabilities - truth) ** 2).sum(axis=1).mean())


def lines(data_set: DataSet, scores: Scores, trees: int) -> list[dict[str, object]]:
    common = {
        "date": machine.now(),
        "commit": machine.commit(),
        "dataset": data_set.name,
        "n": data_set.n_rows,
        "classes": data_set.n_classes,
        "trees": trees,
    }
    found = []
    for kept, pairs in scores.items():
        error, brier = np.mean(pairs, axis=0)
        found.append({**common, "kept": kept, "error": f"{error:.5f}", "brier": f"{brier:.5f}"})
    return found


def cells(data_sets: list[DataSet], scores: dict[str, Scores], names: list[str]) -> list[list[str]]:
    return [
        [d.name, str(d.n_rows), str(d.n_classes), *(cell(scores[d.name][name]) for name in names)]
        for d in data_sets
    ]


def cell(pairs: list[tuple[float, float]]) -> str:
    error, brier = 100 * np.mean(pairs, axis=0)
    return f"{error:.2f} ({brier:.2f})"


def differences(scores: dict[str, Scores]) -> list[list[str]]:
    """Mean differences over data sets, with their intervals."""
    pairs = [(f"best {n}", other) for n in BUDGETS for other in (f"first {n}", "all")]
    pairs += [(f"first {n}", "all") for n in BUDGETS]
    return [
        [
            f"{one} − {other}",
            *(paired_interval(*sides(scores, one, other, i)).in_points() for i in (0, 1)),
        ]
        for one, other in pairs
    ]


def sides(
    scores: dict[str, Scores], one: str, other: str, which: int
) -> tuple[np.ndarray, np.ndarray]:
    """Means of two forests on each data set."""
    means = [[np.mean(s[name], axis=0)[which] for s in scores.values()] for name in (one, other)]
    return np.array(means[0]), np.array(means[1])


if __name__ == "__main__":
    main()
