"""Runs a study: fits that are missing, a table of means, a table of findings.

Each fit is a line of a CSV file that is not kept in the repository, filed under the build of
Bevel; a run that was stopped goes on where it was.
"""

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks import machine
from benchmarks.speed.systems import flat_sizes
from benchmarks.statistics.study import METRICS, Case, Finding, Results, Split, Study
from benchmarks.tables import append_csv, markdown, read_csv

__all__ = ["MEANS", "RAW", "VERDICTS", "means_table", "run", "save", "verdict_rows"]

KEY = ("fact", "case", "forest", "repeat", "build", "trees")
RAW = (*KEY, *METRICS, "seconds")
MEANS = ("date", "build", "fact", "case", "forest", "trees", "repeats", *METRICS, "seconds")
VERDICTS = ("date", "build", "fact", "claim", "seen", "verdict")


def run(study: Study, options: Any, note: Any) -> tuple[Results, list[dict[str, Any]]]:
    """All fits of a study; their results and a line of means for each case and forest."""
    n_repeats = options.repeats or study.n_repeats
    done = {tuple(row[name] for name in KEY): row for row in read_csv(options.raw)}
    results, means = Results(), []
    for case in study.cases(options.data):
        n_trees = case.n_trees or options.trees or study.n_trees
        rows: dict[str, list[Mapping[str, Any]]] = {forest: [] for forest in case.forests}
        for repeat in range(n_repeats):
            fresh = fit_missing(study, case, repeat, n_trees, done, options)
            append_csv(options.raw, RAW, fresh.values())
            for forest in case.forests:
                key = key_of(study, case, forest, repeat, options.label, n_trees)
                rows[forest].append(fresh.get(key) or done[key])
        for forest, values in rows.items():
            results.add(case.name, forest, values)
            seconds = np.mean([float(value["seconds"]) for value in values])
            mean = {metric: results.mean(case.name, forest, metric).mean for metric in METRICS}
            means.append(
                {
                    "date": machine.now()[:10],
                    "build": options.label,
                    "fact": study.name,
                    "case": case.name,
                    "forest": forest,
                    "trees": n_trees,
                    "repeats": n_repeats,
                    "seconds": round(float(seconds), 4),
                    **{metric: round(value, 5) for metric, value in mean.items()},
                }
            )
        shown = ", ".join(
            f"{f} {results.mean(case.name, f, study.metric).mean:.4g}" for f in case.forests
        )
        note(f"{study.name}, {case.name}: {study.metric} {shown}")
    return results, means


def key_of(
    study: Study, case: Case, forest: str, repeat: int, build: str, n_trees: int
) -> tuple[str, ...]:
    return tuple(map(str, (study.name, case.name, forest, repeat, build, n_trees)))


def fit_missing(
    study: Study, case: Case, repeat: int, n_trees: int, done: Mapping[Any, Any], options: Any
) -> dict[tuple[str, ...], dict[str, Any]]:
    """Fit the forests of a repeat that the file does not have; their lines."""
    keys = {
        forest: key_of(study, case, forest, repeat, options.label, n_trees)
        for forest in case.forests
    }
    missing = {forest: key for forest, key in keys.items() if key not in done}
    if not missing:
        return {}
    splits = case.splits(repeat)
    lines = {}
    for forest, key in missing.items():
        start = time.perf_counter()
        values = measure(case.forests[forest], splits, n_trees, options.threads, repeat)
        seconds = round(time.perf_counter() - start, 4)
        values = {metric: round(value, 6) for metric, value in values.items()}
        lines[key] = {**dict(zip(KEY, key, strict=True)), **values, "seconds": seconds}
    return lines


def measure(
    parameters: Mapping[str, Any], splits: list[Split], n_trees: int, n_threads: int, seed: int
) -> dict[str, float]:
    """Fit each split; values of the pooled predictions, sizes as means over the splits."""
    from bevel import ObliqueForestClassifier

    classes = np.unique(np.concatenate([split.y for split in splits]))
    shares, leaves, depths = [], [], []
    for split in splits:
        forest = ObliqueForestClassifier(
            n_estimators=n_trees, n_jobs=n_threads, random_state=seed, **parameters
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # columns that a split leaves constant, and the like
            forest.fit(split.X, split.y)
        share = np.zeros((len(split.y_test), len(classes)))
        share[:, np.searchsorted(classes, forest.classes_)] = forest.predict_proba(split.X_test)
        shares.append(share)
        n_nodes = np.diff(forest.forest_.tree_offset)
        leaves.append(float(np.median((n_nodes + 1) / 2)))
        depths.append(flat_sizes(forest.forest_)[1])
    share, y = np.concatenate(shares), np.concatenate([split.y_test for split in splits])
    return {
        "error": float(np.mean(classes[share.argmax(axis=1)] != y)),
        "auc": mean_auc(share, np.searchsorted(classes, y)),
        "leaves": float(np.mean(leaves)),
        "depth": float(np.mean(depths)),
    }


def mean_auc(share: np.ndarray, label: np.ndarray) -> float:
    """Area under the ROC curve of each class against the others, mean over classes present."""
    areas = []
    for column in range(share.shape[1]):
        positive = label == column
        n_positive, n_negative = int(positive.sum()), int((~positive).sum())
        if n_positive and n_negative:
            ranks = rankdata(share[:, column])[positive].sum()
            areas.append((ranks - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))
    return float(np.mean(areas))


def means_table(study: Study, results: Results) -> str:
    """Mean ± standard deviation over repeats of the study's metric: cases × forests."""
    factor, digits = {"error": (100, 2), "auc": (1, 3)}.get(study.metric, (1, 1))
    rows = []
    for case in results.cases:
        cells = [case]
        for forest in results.forests:
            if (case, forest) not in results.cells:
                cells.append("–")
                continue
            values = factor * results.values(case, forest, study.metric)
            spread = f" ± {values.std(ddof=1):.{digits}f}" if len(values) > 1 else ""
            cells.append(f"{values.mean():.{digits}f}{spread}")
        rows.append(cells)
    return markdown([f"{study.metric}{' %' if factor == 100 else ''}", *results.forests], rows)


def save(path: Path, fields: tuple[str, ...], rows: list[dict[str, Any]], by: str = "fact") -> None:
    """Write the lines of these facts and builds anew; keep the others."""
    replaced = {(str(row[by]), str(row["build"])) for row in rows}
    kept = [row for row in read_csv(path) if (row[by], row["build"]) not in replaced]
    path.unlink(missing_ok=True)
    append_csv(path, fields, [*kept, *rows])


def verdict_rows(study: Study, findings: list[Finding], build: str) -> list[dict[str, Any]]:
    return [
        {
            "date": machine.now()[:10],
            "build": build,
            "fact": study.name,
            "claim": finding.claim,
            "seen": finding.seen,
            "verdict": finding.verdict,
        }
        for finding in findings
    ]
