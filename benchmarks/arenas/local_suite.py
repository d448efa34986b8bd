"""A benchmark suite from local files: OpenML's task lists and Grinsztajn et al.'s protocol.

    python -m benchmarks.arenas.local_suite tasks.csv --out results.csv
    python -m benchmarks.arenas.local_suite tasks.csv --systems bevel_forest,random_forest --report

`tasks.csv` has a row for each task: `name`, `file` (CSV, gzip CSV, ARFF or Parquet, relative to the
list), `target`, `task` (classification or regression), and optionally `nominal` (columns that hold
codes, separated by semicolons) and `splits`, a table in OpenML's format (columns `type` with TRAIN
or TEST, `rowid`, `repeat`, `fold`). Without `splits` rows are drawn as Grinsztajn, Oyallon and
Varoquaux 2022 do: 70 % for training, at most 10 000; of the others at most 50 000 for the test.

A row of `results.csv` is one system on one split: error (1 - accuracy, or 1 - R²), log loss in
classification, and processor seconds. A run that was stopped goes on where it ended.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.io import arff
from scipy.stats import rankdata
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

import bevel

MAX_TRAINING_ROWS, MAX_TEST_ROWS, TRAINING_SHARE = 10_000, 50_000, 0.7
COLUMNS = ("task", "split", "system", "error", "log_loss", "fit_seconds", "predict_seconds")
Split = tuple[str, np.ndarray, np.ndarray]  # name, training rows, test rows


def read_table(path: Path) -> pd.DataFrame:
    """A table by the ending of its file."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix != ".arff":
        return pd.read_csv(path)
    with path.open(encoding="utf-8") as stream:
        values, meta = arff.loadarff(stream)
    frame = pd.DataFrame(values)
    for name, kind in zip(meta.names(), meta.types(), strict=True):
        if kind == "nominal":
            frame[name] = frame[name].str.decode("utf-8").replace("?", np.nan)
    return frame


def read_task(task: dict[str, str], folder: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """Features, nominal ones as categories, and the target: numbers or codes of classes."""
    frame = read_table(folder / task["file"])
    frame = frame[frame[task["target"]].notna()].reset_index(drop=True)
    y = frame.pop(task["target"])
    for name in filter(None, (task.get("nominal") or "").split(";")):
        frame[name] = frame[name].astype("category")
    for name in frame.select_dtypes(include=["object", "string"]).columns:
        frame[name] = frame[name].astype("category")
    for name in frame.select_dtypes(include="category").columns:
        frame[name] = frame[name].cat.rename_categories(str)
    if task["task"] == "regression":
        return frame, y.to_numpy(dtype=float)
    return frame, pd.factorize(y, sort=True)[0]


def splits_of(task: dict[str, str], folder: Path, n_rows: int, n_splits: int) -> Iterator[Split]:
    """The splits that the task comes with, or random ones."""
    if task.get("splits"):
        table = read_table(folder / task["splits"])
        for (repeat, fold), part in table.groupby(["repeat", "fold"]):
            rows = [part.loc[part["type"] == kind, "rowid"] for kind in ("TRAIN", "TEST")]
            train, test = (np.asarray(which, dtype=np.int64) for which in rows)
            yield f"{repeat:.0f}-{fold:.0f}", train, test
        return
    for number in range(n_splits):
        order = np.random.default_rng(number).permutation(n_rows)
        n_train = min(MAX_TRAINING_ROWS, int(TRAINING_SHARE * n_rows))
        yield str(number), order[:n_train], order[n_train : n_train + MAX_TEST_ROWS]


def with_codes(estimator: Any) -> Any:
    """A learner of scikit-learn behind codes for nominal columns and medians for missing values."""
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    nominal = make_column_selector(dtype_include="category")
    encode = make_column_transformer((codes, nominal), remainder="passthrough")
    return make_pipeline(encode, SimpleImputer(strategy="median"), estimator)


def systems(regression: bool, n_jobs: int) -> dict[str, Callable[[int], Any]]:
    """Every system at its defaults, by name; the argument is the seed."""
    pick = int(regression)
    forest = (bevel.ObliqueForestClassifier, bevel.ObliqueForestRegressor)[pick]
    boosting = (bevel.ObliqueBoostingClassifier, bevel.ObliqueBoostingRegressor)[pick]
    random_forest = (RandomForestClassifier, RandomForestRegressor)[pick]
    histogram = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)[pick]
    combined = (bevel.ObliqueClassifier, bevel.ObliqueRegressor)[pick]
    return {
        "bevel": lambda seed: combined(random_state=seed, n_jobs=n_jobs),
        "bevel_forest": lambda seed: forest(random_state=seed, n_jobs=n_jobs),
        "bevel_boosting": lambda seed: boosting(random_state=seed, n_jobs=n_jobs),
        "random_forest": lambda seed: with_codes(random_forest(500, random_state=seed)),
        "hist_boosting": lambda seed: with_codes(histogram(random_state=seed)),
    }


def measure(estimator: Any, X: pd.DataFrame, y: np.ndarray, split: Split) -> dict[str, Any]:
    """Errors and processor seconds of one system on one split."""
    _, train, test = split
    clock = [time.process_time()]
    estimator.fit(X.iloc[train], y[train])
    clock.append(time.process_time())
    found: dict[str, Any] = {"log_loss": ""}
    if hasattr(estimator, "predict_proba"):
        shares = estimator.predict_proba(X.iloc[test])
        clock.append(time.process_time())
        known = np.isin(y[test], estimator.classes_)
        guess = estimator.classes_[shares.argmax(axis=1)]
        found["error"] = 1.0 - np.mean(guess == y[test])
        sure = np.clip(shares[known], 1e-7, None)
        sure /= sure.sum(axis=1, keepdims=True)
        found["log_loss"] = log_loss(y[test][known], sure, labels=estimator.classes_)
    else:
        values = estimator.predict(X.iloc[test])
        clock.append(time.process_time())
        found["error"] = 1.0 - r2_score(y[test], values)
    found["fit_seconds"], found["predict_seconds"] = np.diff(clock).round(4)
    return found


def run(args: argparse.Namespace) -> None:
    """Run what the results do not have yet."""
    folder, out = args.tasks.parent, args.out
    with args.tasks.open(encoding="utf-8") as stream:
        tasks = list(csv.DictReader(stream))
    done = set()
    if out.exists():
        done = set(pd.read_csv(out, dtype=str)[["task", "split", "system"]].itertuples(index=False))
    with out.open("a", encoding="utf-8", newline="") as stream:
        rows = csv.DictWriter(stream, COLUMNS)
        if stream.tell() == 0:
            rows.writeheader()
        for task in tasks:
            X, y = read_task(task, folder)
            made = systems(task["task"] == "regression", args.threads)
            chosen = args.systems.split(",") if args.systems else list(made)
            for split in splits_of(task, folder, len(X), args.splits):
                for name in chosen:
                    key = (task["name"], split[0], name)
                    if key not in done:
                        with threadpool_limits(args.threads):  # OpenMP's, of scikit-learn
                            found = measure(made[name](0), X, y, split)
                        rows.writerow(dict(zip(COLUMNS, key, strict=False)) | found)
                        stream.flush()
                        print(*key, f"{found['error']:.4f}", f"{found['fit_seconds']} s")


def report(out: Path) -> str:
    """Mean errors, mean ranks and processor time over one system's, as a Markdown table.

    The one is `bevel_forest`, or without it the first by name.
    """
    results = pd.read_csv(out)
    errors = results.pivot_table(index="task", columns="system", values="error").dropna()
    seconds = results.pivot_table(index="task", columns="system", values="fit_seconds")
    ranks = pd.DataFrame(rankdata(errors, axis=1), index=errors.index, columns=errors.columns)
    base = "bevel_forest" if "bevel_forest" in seconds else seconds.columns[0]
    ratio = np.exp(np.log(seconds.div(seconds[base], axis=0)).mean())
    lines = [f"| system, {len(errors)} tasks | mean rank | mean error | fit time / {base} |"]
    lines.append("| --- | ---: | ---: | ---: |")
    for name in ranks.mean().sort_values().index:
        cells = f"{ranks[name].mean():.2f} | {errors[name].mean():.4f} | {ratio[name]:.2f}"
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    """Read the command line; run, then report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", type=Path)
    parser.add_argument("--out", type=Path, default=Path("suite.csv"))
    parser.add_argument("--systems", default="", help="names, separated by commas; all by default")
    parser.add_argument("--splits", type=int, default=3, help="random splits of each task")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="only print the table of results")
    args = parser.parse_args()
    if not args.report:
        run(args)
    print(report(args.out))


if __name__ == "__main__":
    main()
