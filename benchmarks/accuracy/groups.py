"""Out-of-bag scores of rows that belong together: ``python -m benchmarks.accuracy.groups``.

    python -m benchmarks.accuracy.groups --folder data --seeds 3

The default forest is fitted with and without `groups`, and its out-of-bag error compared with that
of cross-validation whose folds hold whole groups. Errors are shares of wrong rows in percent, or
100 (1 - R²). The folder has `uci`, `regression` and `spectral`, whose rows are in the order of the
originals, so that groups can be told from it; without a folder only simulated sets are run, in
which features and label have an effect of the subject. The standard error of the gap is that of
other groups, of which small sets have few. Rows are appended to a file as they come.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from benchmarks import machine
from benchmarks.tables import append_csv, markdown
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.datasets import load_folder

MOST_FOLDS = 16
FIELDS = ("date", "commit", "set", "seed", "n", "groups", "by_row", "by_group", "cross_validated")
HEADER = ("set", "rows", "groups", "out of bag", "with groups=", "grouped cross-validation", "gap")


class Problem(NamedTuple):
    """A set, and the group of each row."""

    name: str
    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    model: Any


def main() -> None:
    options = parse()
    print(machine.describe())
    rows = []
    for problem in problems(options.folder):
        if options.sets and problem.name not in options.sets:
            continue
        losses = np.array([measure(problem, seed) for seed in range(options.seeds)])
        n_groups = len(np.unique(problem.groups))
        for seed, found in enumerate(losses.mean(axis=2)):
            about = (machine.now(), machine.commit(), problem.name, seed, len(problem.y), n_groups)
            line = (*about, *(f"{each:.3f}" for each in found))
            append_csv(options.out, FIELDS, [dict(zip(FIELDS, line, strict=True))])
        plain, grouped, validated = losses.mean(axis=0)
        error = standard_error(grouped - validated, problem.groups)
        texts = [f"{each.mean():.1f}" for each in (plain, grouped, validated)]
        gap = f"{(grouped - validated).mean():+.1f} ± {error:.1f}"
        rows.append((problem.name, str(len(problem.y)), str(n_groups), *texts, gap))
        print(rows[-1], flush=True)
    print(markdown(HEADER, rows))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="folder of the sets; none: simulated ones only")
    parser.add_argument("--sets", type=lambda text: text.split(","), default=[])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=machine.ROOT / "benchmarks/results/groups.csv")
    return parser.parse_args()


def problems(folder: Path | None) -> Iterator[Problem]:
    classifier, regressor = ObliqueForestClassifier(n_jobs=-1), ObliqueForestRegressor(n_jobs=-1)
    for n_subjects, n_each in ((40, 10), (100, 5), (200, 10)):
        X, y, subject = simulate(n_subjects, n_each)
        yield Problem(f"subjects {n_subjects} x {n_each}", X, y > 0.0, subject, classifier)
        yield Problem(f"subjects {n_subjects} x {n_each}, R²", X, y, subject, regressor)
    if folder is None:
        return
    X, y = read(folder / "uci", "parkinsons")
    sizes = np.full(32, 6)
    sizes[[14, 19, 24]] = 7  # recordings of S21, S27 and S35
    yield Problem("parkinsons", X, y, np.repeat(np.arange(32), sizes), classifier)
    X, y = read(folder / "uci", "conn_bench-vowel-deterding")
    yield Problem("vowel", X, y, np.repeat(np.arange(8), 66), classifier)
    X, y = read(folder / "spectral", "mayonnaise_oil")
    yield Problem("mayonnaise_oil", X, y, np.repeat(np.arange(54), 3), classifier)
    X, y = read(folder / "regression", "parkinsons_telemonitoring")
    # The first column is the number of the subject, centred.
    yield Problem("telemonitoring", X[:, 1:], y, X[:, 0], regressor)


def read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """A set and its target."""
    table = next(each for each in load_folder(folder) if each.name == name).load()
    return table.X, np.asarray(table.y)


def simulate(n_subjects: int, n_each: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Repeated measures: a subject has a place among the features, and an effect on the target."""
    rng = np.random.default_rng([n_subjects, n_each])
    subject = np.repeat(np.arange(n_subjects), n_each)
    place = rng.normal(size=(n_subjects, 8))
    X = place[subject] + 0.5 * rng.normal(size=(len(subject), 8))
    effect = 1.5 * rng.normal(size=n_subjects)
    y = X[:, 0] + X[:, 1] + effect[subject] + 0.5 * rng.normal(size=len(subject))
    return X, y, subject


def measure(problem: Problem, seed: int) -> np.ndarray:
    """Losses of the rows out of bag without and with groups, and in grouped cross-validation."""
    X, y, groups = problem.X, problem.y, problem.groups
    model = clone(problem.model).set_params(random_state=seed, oob_score=True)
    plain = out_of_bag(model.fit(X, y))
    grouped = out_of_bag(model.fit(X, y, groups=groups))
    validated = np.empty(len(y), y.dtype)
    model.set_params(oob_score=False)
    n_folds = min(MOST_FOLDS, len(np.unique(groups)))
    folds = GroupKFold(n_folds, shuffle=True, random_state=seed)
    for train, test in folds.split(X, y, groups):
        validated[test] = model.fit(X[train], y[train], groups=groups[train]).predict(X[test])
    return np.array([loss(y, each, model) for each in (plain, grouped, validated)])


def out_of_bag(model: Any) -> np.ndarray:
    if hasattr(model, "classes_"):
        return model.classes_[model.oob_decision_function_.argmax(axis=1)]
    return model.oob_prediction_


def loss(y: np.ndarray, predicted: np.ndarray, model: Any) -> np.ndarray:
    """Loss of each row, whose mean is the share of wrong rows or 1 - R², in percent."""
    if hasattr(model, "classes_"):
        return 100.0 * (predicted != y)
    return 100.0 * (predicted - y) ** 2 / y.var()


def standard_error(difference: np.ndarray, groups: np.ndarray) -> float:
    """Standard error of the mean of differences of rows, whose groups are independent."""
    codes = np.unique(groups, return_inverse=True)[1]
    sums = np.bincount(codes, difference)
    return float(np.sqrt(len(sums)) * sums.std(ddof=1) / len(difference))


if __name__ == "__main__":
    main()
