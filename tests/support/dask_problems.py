"""Small tables for the tests of Dask, and what they compare."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bevel.training import blocks as table_module


def mixed_frame(n_rows: int = 400) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Numbers with NaN, a categorical column and one of text; labels of text; weights."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    X.loc[::9, "b"] = np.nan
    X["city"] = pd.Categorical(rng.choice(["Aachen", "Bonn", "Kiel"], n_rows))
    X["word"] = rng.choice(["in", "out", "up"], n_rows)
    score = X["a"] + 0.5 * X["c"] + (X["city"] == "Bonn") + rng.normal(size=n_rows)
    y = pd.Series(np.where(score > 0.3, "yes", "no"), name="answer")
    return X, y, pd.Series(rng.integers(0, 4, n_rows) / 2.0, name="weight")


def numbers(n_rows: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers with NaN, labels 0, 1 and 2, and targets of a regression."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n_rows, 5))
    target = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    X[::13, 3] = np.nan
    return X, np.digitize(target, [-0.5, 0.5]), target


def gather_few_rows(monkeypatch: Any, rows: int = 60) -> None:
    """Let nodes of small tables be cut by histograms too; only the coordinator decides it."""
    monkeypatch.setattr(table_module, "MAX_GATHERED", rows)
    monkeypatch.setattr(table_module, "MIN_GATHERED", rows)


def in_partitions(frame: Any, sizes: list[int]) -> Any:
    """A Dask collection with partitions of given sizes, some of them empty perhaps."""
    import dask.dataframe as dd
    from dask import delayed

    bounds = np.cumsum([0, *sizes])
    assert bounds[-1] == len(frame)
    parts = [delayed(frame.iloc[a:b]) for a, b in itertools.pairwise(bounds)]
    return dd.from_delayed(parts, meta=frame.iloc[:0])


def file_of(estimator: Any, folder: Path) -> bytes:
    """The bytes of its file."""
    path = folder / "model.bevel"
    estimator.save(path)
    return path.read_bytes()
