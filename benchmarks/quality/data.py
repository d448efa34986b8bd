"""Data sets of a folder and their folds, the same for every system.

The folder holds ``index.csv`` and gzip CSV files: a header, ``target`` last, nominal features as
strings, missing values empty. Nothing is imputed.
"""

import math
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["DataSet", "Fold", "load", "read_index", "split"]


@dataclass(frozen=True)
class DataSet:
    """One line of the index."""

    name: str
    path: str
    n_rows: int
    n_numeric: int
    nominal: tuple[str, ...]
    n_classes: int

    @property
    def is_numeric(self) -> bool:
        return not self.nominal

    @property
    def size(self) -> int:
        """Cells of the table: what a fit costs, roughly."""
        return self.n_rows * (self.n_numeric + len(self.nominal))


@dataclass(frozen=True)
class Fold:
    """Training and test rows of one fold; numeric columns float32, nominal ones ``category``."""

    X_train: pd.DataFrame
    y_train: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray
    seed: int


def read_index(folder: Path, max_rows: int) -> list[DataSet]:
    """The folder's data sets with at most `max_rows` rows, small ones first."""
    index = pd.read_csv(folder / "index.csv", keep_default_na=False)
    found = [
        DataSet(
            name=line.name,
            path=str(folder / f"{line.name}.csv.gz"),
            n_rows=int(line.n),
            n_numeric=int(line.p_num),
            nominal=tuple(filter(None, line.categorical_columns.split(";"))),
            n_classes=int(line.n_classes),
        )
        for line in index.itertuples(index=False)
        if int(line.n) <= max_rows and (folder / f"{line.name}.csv.gz").is_file()
    ]
    return sorted(found, key=lambda data_set: (data_set.size, data_set.name))


@lru_cache(maxsize=4)
def load(data_set: DataSet) -> tuple[pd.DataFrame, np.ndarray]:
    """Features and labels; labels as strings, sorted into codes 0, 1, ... ."""
    words = dict.fromkeys((*data_set.nominal, "target"), str)
    table = pd.read_csv(data_set.path, dtype=words, keep_default_na=False, na_values=[""])
    y = pd.factorize(table.pop("target"), sort=True)[0].astype(np.int64)
    for column in table.columns:
        if column in data_set.nominal:
            table[column] = table[column].astype("category")
        else:
            table[column] = table[column].astype(np.float32)
    return table, y


def n_repeats(data_set: DataSet, min_tests: int) -> int:
    """Repeats of the cross-validation, so that about `min_tests` rows are predicted (1 to 20)."""
    return min(20, max(1, math.ceil(min_tests / data_set.n_rows)))


def split(data_set: DataSet, n_folds: int, repeat: int, fold: int) -> Fold:
    """Rows of one fold. The seed depends on data set, repeat and fold, never on the system."""
    X, y = load(data_set)
    assigned = stratified(y, n_folds, seed_of(data_set.name, n_folds, repeat))
    test = assigned == fold
    seed = seed_of(data_set.name, n_folds, repeat, fold)
    return Fold(X[~test], y[~test], X[test], y[test], seed)


def stratified(y: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """Fold of each row. Each class is dealt out like cards, going on where the last one ended.

    Classes with fewer members than folds are simply absent from some of them, and the sizes of the
    folds differ by one row at most.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    assigned = np.empty(len(y), dtype=np.int64)
    assigned[order] = rng.permutation(n_folds)[np.arange(len(y)) % n_folds]
    return assigned


def seed_of(*parts: object) -> int:
    """A seed from anything printable; the same on every machine."""
    return zlib.crc32("/".join(map(str, parts)).encode()) & 0x7FFFFFFF
