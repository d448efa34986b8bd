"""Boosting and its peers at their defaults: ``python -m benchmarks.accuracy.boosting``.

    python -m benchmarks.accuracy.boosting --folder data --systems bevel,lightgbm,catboost

Each set is cut into two folds, the same for all systems, after at most 20 000 rows are drawn from
it. The sets are those of 700 rows and more in `uci`, and all of `regression` and `large`, from the
smallest on (rows × columns × classes). Systems have one thread and the seed 0; nominal columns are
native in all of them. Rows are appended to a file as they come, so that a stopped run resumes; the
tables are of the sets that all systems have done. Settings of Bevel were chosen on the half of the
sets whose names have an even CRC-32; the other half is the report half.
"""

import argparse
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks import machine
from benchmarks.tables import append_csv, markdown, read_csv
from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor
from bevel.datasets import load_folder
from bevel.datasets.folder import FolderEntry

__all__ = ["SYSTEMS", "Problem", "evaluate", "is_reported", "load", "sets"]

FEWEST_ROWS, MOST_ROWS, N_FOLDS = 700, 20_000, 2
FIELDS = ("date", "commit", "set", "fold", "system", "error", "log_loss", "cpu_s")


class Problem(NamedTuple):
    """A set: a frame whose nominal columns are categories, and targets; classes are 0, 1, …."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    n_classes: int  # 0: regression


class Outcome(NamedTuple):
    """Share of wrong classes or mean squared error over variance; log loss or NaN."""

    error: float
    log_loss: float
    cpu_s: float


def work(entry: FolderEntry) -> float:
    """About how much there is to do: rows × columns × classes of more than two."""
    with entry.path.open("rb") as stream:
        columns = pd.read_csv(stream, compression="gzip", nrows=0).shape[1] - 1
    classes = entry.n_classes if entry.n_classes > 2 else 1
    return min(entry.n_rows, MOST_ROWS) * columns * classes


def sets(folder: Path) -> list[FolderEntry]:
    """All sets, from the smallest on."""
    found = [entry for entry in load_folder(folder / "uci") if entry.n_rows >= FEWEST_ROWS]
    found += [*load_folder(folder / "regression"), *load_folder(folder / "large")]
    return sorted(found, key=work)


def is_reported(name: str) -> bool:
    """Whether no setting was chosen on the set."""
    return zlib.crc32(name.encode()) % 2 == 1


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
    if len(y) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_ROWS])
        X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    return Problem(entry.name, X, y, n_classes)


def folds(problem: Problem) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows, stratified by class; rows of rare classes are in both halves."""
    order = np.random.default_rng(1).permutation(len(problem.y))
    if problem.n_classes:
        order = order[np.argsort(problem.y[order], kind="stable")]
    for fold in range(N_FOLDS):
        yield np.sort(np.delete(order, np.s_[fold::N_FOLDS])), np.sort(order[fold::N_FOLDS])


# The systems: (number of classes, training frame, targets) -> function from a frame to predictions.
Predict = Callable[[pd.DataFrame], np.ndarray]


def fit_bevel(n_classes: int, X: pd.DataFrame, y: np.ndarray, **setting: Any) -> Predict:
    kind = ObliqueBoostingClassifier if n_classes else ObliqueBoostingRegressor
    return _predict(kind(random_state=0, n_jobs=1, **setting).fit(X, y), n_classes)


def fit_lightgbm(n_classes: int, X: pd.DataFrame, y: np.ndarray) -> Predict:
    import lightgbm

    kind = lightgbm.LGBMClassifier if n_classes else lightgbm.LGBMRegressor
    return _predict(kind(random_state=0, n_jobs=1, verbose=-1).fit(X, y), n_classes)


def fit_xgboost(n_classes: int, X: pd.DataFrame, y: np.ndarray) -> Predict:
    import xgboost

    kind = xgboost.XGBClassifier if n_classes else xgboost.XGBRegressor
    return _predict(kind(random_state=0, n_jobs=1, enable_categorical=True).fit(X, y), n_classes)


def fit_catboost(n_classes: int, X: pd.DataFrame, y: np.ndarray) -> Predict:
    import catboost

    kind = catboost.CatBoostClassifier if n_classes else catboost.CatBoostRegressor
    model = kind(
        random_seed=0,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
        cat_features=[name for name in X if X[name].dtype == "category"],
    )
    model.fit(_as_text(X), y)
    predict = _predict(model, n_classes)
    return lambda frame: predict(_as_text(frame))


def fit_hist_gb(n_classes: int, X: pd.DataFrame, y: np.ndarray) -> Predict:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if n_classes else HistGradientBoostingRegressor
    return _predict(kind(random_state=0).fit(X, y), n_classes)


def fit_ydf(n_classes: int, X: pd.DataFrame, y: np.ndarray, **setting: Any) -> Predict:
    import ydf

    ydf.verbose(0)
    task = ydf.Task.CLASSIFICATION if n_classes else ydf.Task.REGRESSION
    kind = ydf.Semantic.CATEGORICAL if n_classes else ydf.Semantic.NUMERICAL
    label = ydf.Column("y", kind, min_vocab_frequency=1) if n_classes else ydf.Column("y", kind)
    names = [ydf.Column(name) for name in X]
    rows = ydf.create_vertical_dataset({**_columns(X), "y": y}, columns=[*names, label])
    learner = ydf.GradientBoostedTreesLearner(
        label="y", task=task, num_threads=1, random_seed=0, **setting
    )
    model = learner.train(rows)

    def predict(frame: pd.DataFrame) -> np.ndarray:
        values = np.asarray(model.predict(_columns(frame)), dtype=np.float64)
        if not n_classes:
            return values
        if values.ndim == 1:
            values = np.column_stack([1.0 - values, values])
        return values[:, np.argsort(np.array(model.label_classes()).astype(int))]

    return predict


SYSTEMS: dict[str, Callable[[int, pd.DataFrame, np.ndarray], Predict]] = {
    "bevel": fit_bevel,
    "lightgbm": fit_lightgbm,
    "xgboost": fit_xgboost,
    "hist_gb": fit_hist_gb,
    "catboost": fit_catboost,
    "ydf": fit_ydf,
    "ydf_oblique": partial(fit_ydf, split_axis="SPARSE_OBLIQUE"),
}


def _as_text(X: pd.DataFrame) -> pd.DataFrame:
    """CatBoost wants text in nominal columns, also for what is missing."""
    nominal = [name for name in X if X[name].dtype == "category"]
    return X.assign(**{name: X[name].astype(object).fillna("missing") for name in nominal})


def _columns(X: pd.DataFrame) -> dict[str, np.ndarray]:
    """What ydf reads: numbers, and text for nominal columns."""
    return {
        name: X[name].astype(object).fillna("").to_numpy(str)
        if X[name].dtype == "category"
        else X[name].to_numpy(np.float32)
        for name in X
    }


def _predict(model: Any, n_classes: int) -> Predict:
    if n_classes:
        return lambda X: np.asarray(model.predict_proba(X))
    return lambda X: np.asarray(model.predict(X)).ravel()


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
    return Outcome(float(wrong.mean()), float(-np.log(right).mean()), cpu_s)


def run(options: argparse.Namespace) -> None:
    done = {(row["set"], int(row["fold"]), row["system"]) for row in read_csv(options.out)}
    for entry in sets(options.folder):
        if work(entry) > options.most_work:
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
    for name in ("error", "log_loss"):
        table[name] = table[name].astype(float)
    table = table[table["system"].isin(systems)]
    means = table.pivot_table(["error", "log_loss"], "set", "system", dropna=False)
    counts = table.pivot_table("fold", "set", "system", aggfunc="count")
    whole = counts.reindex(columns=list(systems)).eq(N_FOLDS).all(axis=1)
    means = means[whole.reindex(means.index)]
    is_class = means["log_loss"].notna().all(axis=1)
    reported = means.index.map(is_reported).to_numpy(bool)
    parts = []
    for half, chosen in (("all sets", np.full(len(means), True)), ("report half", reported)):
        for kind, of_kind in (("classification", is_class), ("regression", ~is_class)):
            own = means[chosen & of_kind.to_numpy()]
            measures = ["error", "log_loss"] if kind == "classification" else ["error"]
            for measure in measures if len(own) else []:
                title = f"{kind}, {half}, {measure}: {len(own)} sets"
                parts.append(f"\n**{title}**\n\n{_compare(own[measure], kind, systems)}")
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
    parser.add_argument("--folder", type=Path, required=True, help="with uci, large, regression")
    every = ",".join(SYSTEMS)
    parser.add_argument("--systems", type=lambda text: text.split(","), default=every.split(","))
    parser.add_argument("--most-work", type=float, default=float("inf"), help="leave out larger")
    out = machine.ROOT / "benchmarks/results/boosting_accuracy.csv"
    parser.add_argument("--out", type=Path, default=out)
    options = parser.parse_args()
    unknown = [name for name in options.systems if name not in SYSTEMS]
    if unknown:
        parser.error(f"--systems must be of {every}; got {unknown[0]}")
    return options


def main() -> None:
    options = parse()
    run(options)
    print(report(read_csv(options.out), options.systems))


if __name__ == "__main__":
    main()
