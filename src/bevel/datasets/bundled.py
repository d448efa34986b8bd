"""Data sets that are read: those that come with scikit-learn, and folders of gzip CSV files."""

import csv
import gzip
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel.extras import import_optional

__all__ = [
    "FolderEntry",
    "LabelledTable",
    "load_breast_cancer",
    "load_diabetes",
    "load_digits",
    "load_folder",
    "load_iris",
    "load_wine",
]

# Small real data sets that come with scikit-learn: no download, licences settled there.
#
# Each loader returns ``(X, y)``: NumPy arrays, or a pandas frame and series with ``as_frame=True``.


def load_iris(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Three species of iris by four measurements: 150 rows, 4 features, 3 classes.

    Examples
    --------
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris(as_frame=True)
    >>> X.shape
    (150, 4)
    """
    from sklearn.datasets import load_iris as load

    return _features_and_target(load, as_frame)


def load_wine(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Three cultivars of wine by chemical analysis: 178 rows, 13 features, 3 classes.

    Examples
    --------
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine(as_frame=True)
    >>> X.shape
    (178, 13)
    """
    from sklearn.datasets import load_wine as load

    return _features_and_target(load, as_frame)


def load_breast_cancer(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Malignant or benign from an image of cell nuclei: 569 rows, 30 features, 2 classes.

    Examples
    --------
    >>> from bevel.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(as_frame=True)
    >>> X.shape
    (569, 30)
    """
    from sklearn.datasets import load_breast_cancer as load

    return _features_and_target(load, as_frame)


def load_digits(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Handwritten digits, 8 × 8 pixels: 1797 rows, 64 features, 10 classes.

    Examples
    --------
    >>> from bevel.datasets import load_digits
    >>> X, y = load_digits(as_frame=True)
    >>> X.shape
    (1797, 64)
    """
    from sklearn.datasets import load_digits as load

    return _features_and_target(load, as_frame)


def load_diabetes(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Progress of diabetes after a year, a regression: 442 rows, 10 features.

    Examples
    --------
    >>> from bevel.datasets import load_diabetes
    >>> X, y = load_diabetes(as_frame=True)
    >>> X.shape
    (442, 10)
    """
    from sklearn.datasets import load_diabetes as load

    return _features_and_target(load, as_frame)


def _features_and_target(load: Callable[..., Any], as_frame: bool) -> tuple[Any, Any]:
    if as_frame:
        import_optional("pandas", needed_by="as_frame=True", install="pandas")
    X, y = load(return_X_y=True, as_frame=as_frame)
    return X, y


# Folders of gzip CSV files: an index of what is there, each file read on demand.
#
# The folder holds ``index.csv`` (columns ``name``, ``n``, ``n_classes``, ``categorical_columns``
# with names separated by semicolons; others, such as ``note``, are optional) and one
# ``<name>.csv.gz`` per set: a header, one column per feature, ``target`` last, missing values
# empty. An empty ``n_classes`` means regression. NumPy and the standard library do the reading;
# pandas is needed only for `LabelledTable.to_frame`.

ROWS_PER_BLOCK = 2000  # rows held as text at a time: bounds memory on files with millions of cells
INDEX_COLUMNS = ("name", "n", "n_classes", "categorical_columns")


@dataclass(frozen=True)
class LabelledTable:
    """One data set in memory.

    Attributes
    ----------
    X : ndarray of float64, shape (n_rows, n_features)
        Numeric features as they are, nominal ones as codes 0, 1, ... into `levels`; missing: NaN.
    y : ndarray, shape (n_rows,)
        Strings in classification, float64 in regression.
    feature_names : tuple of str
    categorical_features : ndarray of bool, shape (n_features,)
        Which columns are nominal: pass it to an estimator as ``categorical_features``.
    levels : dict of str to tuple of str
        Sorted levels of each nominal column.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from bevel.datasets import load_folder
    >>> folder = Path(tempfile.mkdtemp())
    >>> rows = pd.DataFrame(dict(size=[1.5, None], colour=["red", "blue"], target=["yes", "no"]))
    >>> rows.to_csv(folder / "small.csv.gz", index=False)
    >>> index = dict(name=["small"], n=[2], n_classes=[2], categorical_columns=["colour"])
    >>> pd.DataFrame(index).to_csv(folder / "index.csv", index=False)
    >>> table = load_folder(folder)[0].load()
    >>> table.levels
    {'colour': ('blue', 'red')}
    >>> table.to_frame()
       size colour
    0   1.5    red
    1   NaN   blue
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    categorical_features: NDArray[np.bool_]
    levels: dict[str, tuple[str, ...]]

    def to_frame(self) -> Any:
        """Give the features as a pandas frame, nominal columns with dtype ``category``."""
        pandas = import_optional("pandas", needed_by="LabelledTable.to_frame", install="pandas")
        frame = pandas.DataFrame(self.X, columns=list(self.feature_names))
        for name, levels in self.levels.items():
            codes = np.nan_to_num(frame[name].to_numpy(), nan=-1.0).astype(np.int64)
            frame[name] = pandas.Categorical.from_codes(codes, categories=list(levels))
        return frame


@dataclass(frozen=True)
class FolderEntry:
    """A data set of a folder as its index describes it; `load` reads the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from bevel.datasets import load_folder
    >>> folder = Path(tempfile.mkdtemp())
    >>> rows = pd.DataFrame(dict(size=[1.5, None], colour=["red", "blue"], target=["yes", "no"]))
    >>> rows.to_csv(folder / "small.csv.gz", index=False)
    >>> index = dict(name=["small"], n=[2], n_classes=[2], categorical_columns=["colour"])
    >>> pd.DataFrame(index).to_csv(folder / "index.csv", index=False)
    >>> entry = load_folder(folder)[0]
    >>> entry.name, entry.task, entry.n_rows
    ('small', 'classification', 2)
    """

    name: str
    path: Path
    n_rows: int
    n_classes: int  # 0: regression
    categorical_columns: tuple[str, ...]
    note: str

    @property
    def task(self) -> str:
        """``"classification"`` or ``"regression"``."""
        return "classification" if self.n_classes else "regression"

    def load(self) -> LabelledTable:
        """Read the file into a `LabelledTable`."""
        with gzip.open(self.path, "rt", encoding="utf-8", newline="") as stream:
            lines = csv.reader(stream)
            header = next(lines, [])
            self._check_header(header)
            names = header[:-1]
            nominal = np.isin(names, self.categorical_columns)
            numbers, words = _read_cells(lines, np.append(~nominal, self.n_classes == 0))

        X = np.empty((len(numbers), len(names)))
        X[:, ~nominal] = numbers[:, : np.count_nonzero(~nominal)]
        levels = {}
        for column, text in zip(np.flatnonzero(nominal), words.T, strict=False):
            X[:, column], levels[names[column]] = _encode(text)
        y = words[:, -1] if self.n_classes else numbers[:, -1]
        return LabelledTable(X, y, tuple(names), nominal, levels)

    def _check_header(self, header: list[str]) -> None:
        if header[-1:] != ["target"]:
            raise ValueError(
                f"The last column of {self.path.name} must be called 'target'; got {header[-1:]}. "
                "Move the column to predict to the end and name it so."
            )
        unknown = sorted(set(self.categorical_columns) - set(header[:-1]))
        if unknown:
            raise ValueError(
                f"index.csv lists nominal columns that {self.path.name} does not have: "
                f"{', '.join(unknown)}. Correct one of the two files."
            )


def load_folder(path: str | os.PathLike[str]) -> list[FolderEntry]:
    """List the data sets of a folder without reading them.

    Parameters
    ----------
    path : str or path-like
        A folder with ``index.csv`` and one ``<name>.csv.gz`` for each of its rows.

    Returns
    -------
    list of FolderEntry
        In the order of the index; rows whose file is absent are left out. Each entry has its
        size and task, and ``entry.load()`` reads its file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.datasets import load_folder
    >>> folder = Path(tempfile.mkdtemp())
    >>> rows = pd.DataFrame(dict(size=[1.5, 2.0], colour=["red", "blue"], target=["yes", "no"]))
    >>> rows.to_csv(folder / "small.csv.gz", index=False)
    >>> index = dict(name=["small"], n=[2], n_classes=[2], categorical_columns=["colour"])
    >>> pd.DataFrame(index).to_csv(folder / "index.csv", index=False)
    >>> for entry in load_folder(folder):
    ...     table = entry.load()
    ...     nominal = table.categorical_features
    ...     forest = ObliqueForestClassifier(5, projection="axis", categorical_features=nominal)
    ...     print(entry.name, forest.fit(table.X, table.y).n_classes_)
    small 2
    """
    folder = Path(path)
    index = folder / "index.csv"
    if not index.is_file():
        raise FileNotFoundError(
            f"{folder} has no index.csv. load_folder needs one with the columns "
            f"{', '.join(INDEX_COLUMNS)}, and one <name>.csv.gz for each row."
        )
    with index.open(encoding="utf-8", newline="") as stream:
        lines = csv.DictReader(stream)
        absent = sorted(set(INDEX_COLUMNS) - set(lines.fieldnames or ()))
        if absent:
            raise ValueError(f"{index} lacks the columns {', '.join(absent)}. Add them.")
        entries = [_entry(folder, line) for line in lines]
    return [entry for entry in entries if entry.path.is_file()]


def _entry(folder: Path, line: dict[str, str]) -> FolderEntry:
    return FolderEntry(
        name=line["name"],
        path=folder / f"{line['name']}.csv.gz",
        n_rows=int(line["n"]),
        n_classes=int(line["n_classes"] or 0),
        categorical_columns=tuple(filter(None, line["categorical_columns"].split(";"))),
        note=line.get("note") or "",
    )


def _read_cells(
    lines: Iterator[list[str]], numeric: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Split the cells into numeric columns (empty: NaN) and columns of words, block by block."""
    numbers = [np.empty((0, np.count_nonzero(numeric)))]
    words = [np.empty((0, np.count_nonzero(~numeric)), dtype=np.str_)]
    while rows := list(islice(lines, ROWS_PER_BLOCK)):
        cells = np.array(rows, dtype=np.str_)
        text = cells[:, numeric]
        numbers.append(np.where(text == "", "nan", text).astype(np.float64))
        words.append(cells[:, ~numeric])
    return np.concatenate(numbers), np.concatenate(words)


def _encode(text: NDArray[np.str_]) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Codes of the sorted levels; an empty cell is missing and gets NaN."""
    levels, codes = np.unique(text, return_inverse=True)
    encoded = codes.astype(np.float64)
    if len(levels) and levels[0] == "":  # the empty string sorts first
        encoded = np.where(codes == 0, np.nan, encoded - 1.0)
        levels = levels[1:]
    return encoded, tuple(levels.tolist())
