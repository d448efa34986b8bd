"""Where the rows of a scanned table come from: arrays, iterators of batches, and files of Parquet,
text, Arrow IPC and NumPy arrays. Each source can be read more than once, batch by batch.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from bevel.data.tables import fill_masked, index_columns, read_table
from bevel.errors import join_names, nearest, shorten, wrong_value
from bevel.extras import import_optional
from bevel.tables.options import Source, TableOptions
from bevel.tables.text import TextBatches

__all__ = [
    "ArraySource",
    "Batch",
    "BatchSource",
    "RowSource",
    "TableFiles",
    "TextFiles",
    "changed",
    "find_files",
    "format_of",
    "open_arrays",
]

# Rows of a slice of arrays.
SLICE_ROWS = 2**16


class Batch(NamedTuple):
    """A batch of rows.

    Attributes
    ----------
    X : array or data frame
        Rows as estimators take them.
    y : array-like
        Targets.
    weights : array-like or None
        Weights; None when all are one.
    """

    X: Any
    y: Any
    weights: Any = None


class RowSource(Protocol):
    """Interface of every source."""

    def batches(self) -> Iterator[Batch]:
        """All rows, from the first on."""
        ...

    def n_rows(self) -> int | None:
        """Number of rows; None if it is not known before they are read."""
        ...

    def fingerprint(self) -> str | None:
        """A text that changes when the rows do; None if there is none."""
        ...


def changed(got: str) -> ValueError:
    """Error for a table whose second pass differs from the first."""
    return ValueError(
        "The table must not change while it is read: both passes over it must bring the same rows; "
        f"got {got}. Fit again when the files are complete; a function must yield the same batches "
        "at each call."
    )


class ArraySource:
    """Arrays or data frames in memory, or memory-mapped."""

    def __init__(self, X: Any, y: Any, weights: Any = None) -> None:
        self._X, self._y, self._weights = X, y, weights
        n_rows = len(X) if hasattr(X, "__len__") else X.shape[0]
        for name, values in (("target", y), ("weight", weights)):
            if values is not None and len(values) != n_rows:
                raise ValueError(
                    f"{name} must have one value for each of the {n_rows} rows; got {len(values)}. "
                    f"Pass the {name} that belongs to the rows."
                )
        self._n_rows = n_rows

    def batches(self) -> Iterator[Batch]:
        """Slices of the arrays."""
        frame = None if isinstance(self._X, np.ndarray) else read_table(self._X).native
        X = self._X if frame is None else frame
        for start in range(0, self._n_rows, SLICE_ROWS):
            rows = slice(start, min(start + SLICE_ROWS, self._n_rows))
            weights = None if self._weights is None else _some(self._weights, rows)
            yield Batch(_some(X, rows), _some(self._y, rows), weights)

    def n_rows(self) -> int | None:
        """Rows of the arrays."""
        return self._n_rows

    def fingerprint(self) -> str | None:
        """None, since arrays may be changed in place."""
        return None


class BatchSource:
    """Batches from a function that starts again at each call, or from such an iterable."""

    def __init__(self, source: Callable[[], Iterable[Any]] | Iterable[Any]) -> None:
        if isinstance(source, Iterator):
            raise TypeError(
                "source must be read twice: pass a function that returns a new iterator of "
                f"batches, or a list of them; got {shorten(source)} of type "
                f"{type(source).__name__}, which can be read once. Pass for example "
                "lambda: make_batches()."
            )
        self._source = source

    def batches(self) -> Iterator[Batch]:
        """Batches that the function yields: (X, y) or (X, y, weights)."""
        items = self._source() if callable(self._source) else self._source
        for item in items:
            if not isinstance(item, tuple) or len(item) not in (2, 3):
                raise TypeError(
                    "batches must be tuples (X, y) or (X, y, weights); got "
                    f"{shorten(item)} of type {type(item).__name__}. Yield such tuples."
                )
            batch = Batch(*item)
            if len(batch.y):
                yield batch

    def n_rows(self) -> int | None:
        """None, since it is not known before the function is called."""
        return None

    def fingerprint(self) -> str | None:
        """None, since it is not known before the function is called."""
        return None


def _some(values: Any, rows: slice) -> Any:
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "num_rows"):  # a pyarrow table
        return values.slice(rows.start, rows.stop - rows.start)
    return values[rows]


BATCH_ROWS = 2**16
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".gz": "text",
    ".bz2": "text",
    ".zst": "text",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".npy": "npy",
}


def find_files(path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Files named by a path, a pattern, a folder or a list of these, sorted by name."""
    if not isinstance(path, str | os.PathLike):
        return [file for each in path for file in find_files(each)]
    text = os.fspath(path)
    if Path(text).is_dir():
        found = [p for p in Path(text).iterdir() if p.suffix.lower() in FORMATS]
    elif glob.has_magic(text) and not Path(text).exists():
        found = [Path(name) for name in glob.glob(text, recursive=True)]  # noqa: PTH207
    else:
        found = [Path(text)] if Path(text).exists() else []
    if not found:
        raise FileNotFoundError(
            f"scan needs files that exist; got {text!r}, which names none. Check the path, and "
            "that files end in .parquet, .csv, .tsv, .arrow, .feather or .npy."
        )
    for file in found:
        _check_ordinary(file)
    return sorted(found)


def _check_ordinary(file: str | os.PathLike[str]) -> None:
    """Raise for pipes and devices: a table is read more than once, and they may never end."""
    path = Path(file)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(
            f"scan reads ordinary files, more than once; got {str(path)!r}, a pipe, a device or "
            "the like. Copy it to a file first."
        )


def format_of(files: Sequence[Path]) -> str:
    """The common format of all files."""
    formats = {FORMATS.get(file.suffix.lower(), file.suffix) for file in files}
    if len(formats) != 1 or not formats <= set(FORMATS.values()):
        required = "files of one format: .parquet, .csv, .tsv, .arrow, .feather or .npy"
        raise wrong_value("source", required, sorted(formats), "Convert them, or rename them.")
    return formats.pop()


def open_arrays(files: Sequence[Path], target: Any, weight: Any) -> ArraySource:
    """Arrays of `.npy` files, memory-mapped; targets and weights are arrays or `.npy` files."""
    if len(files) != 1:
        required = "one .npy file, whose rows are the rows of the table"
        raise wrong_value("source", required, [str(f) for f in files], "Join the arrays.")
    X = np.load(files[0], mmap_mode="r", allow_pickle=False)
    if X.ndim != 2:
        raise wrong_value(
            "source", "a .npy file with an array of two dimensions", X.shape, "Reshape it."
        )
    return ArraySource(X, _array_of(target), None if weight is None else _array_of(weight))


def _array_of(values: Any) -> npt.NDArray[Any]:
    if isinstance(values, str | os.PathLike):
        _check_ordinary(values)
        return np.asarray(np.load(values, mmap_mode="r", allow_pickle=False))
    return np.asarray(fill_masked(values))


class TableFiles:
    """Parquet or Arrow IPC files with the same columns.

    Parameters
    ----------
    files : sequence of path
        Files in the order of the rows.
    target : str
        Column of the targets.
    weight : str or None
        Column of the weights.
    columns : sequence of str or None
        Columns to use, in this order; None: all but target, weight and the index of a data frame.
    """

    def __init__(
        self,
        files: Sequence[Path],
        target: str,
        weight: str | None,
        columns: Sequence[str] | None,
    ) -> None:
        self._files = list(files)
        self._format = format_of(files)
        self._target, self._weight, self._columns = target, weight, columns
        _check_roles(target, weight, columns)
        self._pyarrow = import_optional(
            "pyarrow", needed_by="scan of Parquet and Arrow files", install="pyarrow"
        )

    def batches(self) -> Iterator[Batch]:
        """Rows of all files, file after file."""
        for file in self._files:
            try:
                for batch in self._read(file):
                    if batch.num_rows:
                        yield self._divide(batch, file)
            except MemoryError as error:  # raised by pyarrow too
                raise MemoryError(
                    f"scan needs more memory than there is to read {str(file)!r}: {error}. Free "
                    "memory, or write the file in smaller batches of rows; if it is no large "
                    "table, it is damaged."
                ) from error
            except (self._pyarrow.ArrowException, OSError) as error:
                raise type(error)(
                    f"scan could not read {str(file)!r} as {self._format}: {error}. Check the file."
                ) from error

    def _read(self, file: Path) -> Iterator[Any]:
        if self._format == "parquet":
            parquet = import_optional(
                "pyarrow.parquet", needed_by="scan of Parquet files", install="pyarrow"
            )
            with parquet.ParquetFile(file, pre_buffer=False, memory_map=False) as opened:
                columns = self._wanted(opened.schema_arrow.names, file)
                yield from opened.iter_batches(BATCH_ROWS, columns=columns, use_threads=False)
        else:
            with file.open("rb") as stream:
                limited = self._pyarrow.PythonFile(_LimitedReads(stream), mode="r")
                opened = self._pyarrow.ipc.open_file(limited)
                self._wanted(opened.schema.names, file)
                for index in range(opened.num_record_batches):
                    whole = opened.get_batch(index)
                    whole.validate(full=True)  # pyarrow does not check offsets and lengths
                    for start in range(0, whole.num_rows, BATCH_ROWS):
                        yield whole.slice(start, BATCH_ROWS)

    def _wanted(self, names: Sequence[str], file: Path) -> list[str] | None:
        """Columns to read; raises if one is absent."""
        others = () if self._columns is None else self._columns
        weight = () if self._weight is None else (self._weight,)
        needed = [*others, self._target, *weight]
        check_present(needed, names, file)
        return None if self._columns is None else needed

    def _divide(self, batch: Any, file: Path) -> Batch:
        table = self._pyarrow.Table.from_batches([batch])
        y = _values(table.column(self._target), self._pyarrow)
        weights = None
        if self._weight is not None:
            weights = _values(table.column(self._weight), self._pyarrow)
        if self._columns is not None:
            return Batch(table.select(list(self._columns)), y, weights)
        used = {self._target, *([] if self._weight is None else [self._weight])}
        used.update(index_columns(table.column_names, table.schema.metadata))
        features = table.drop_columns(sorted(used))
        if not features.num_columns:
            raise no_features(file)
        return Batch(features, y, weights)

    def n_rows(self) -> int | None:
        """Number of rows from the metadata of Parquet files; None for other formats."""
        if self._format != "parquet":
            return None
        parquet = import_optional(
            "pyarrow.parquet", needed_by="scan of Parquet files", install="pyarrow"
        )
        try:
            return sum(int(parquet.read_metadata(file).num_rows) for file in self._files)
        except (self._pyarrow.ArrowException, OSError):
            return None  # the first pass raises a precise error

    def fingerprint(self) -> str | None:
        """Digest of names, sizes and times of the files, and of the columns to read."""
        what = (self._format, self._target, self._weight, self._columns)
        return fingerprint_of(self._files, what)


class TextFiles:
    """CSV and other text files with the same columns, read as the command line reads them.

    Parameters
    ----------
    files : sequence of path
        Files in the order of the rows; may be gzipped.
    target : str
        Column of the targets.
    weight : str or None
        Column of the weights.
    columns : sequence of str or None
        Columns to use, in this order; None: all others but a first one without a name, which names
        the rows.
    options : TableOptions
        How the files are read.
    """

    def __init__(
        self,
        files: Sequence[Path],
        target: str,
        weight: str | None,
        columns: Sequence[str] | None,
        options: TableOptions,
    ) -> None:
        _check_roles(target, weight, columns)
        self._files = list(files)
        self._target, self._weight, self._chosen = target, weight, columns
        self._options = options
        self._opened: tuple[str, TextBatches] | None = None

    def _open(self) -> TextBatches:
        """The files, opened on demand, and again if they have changed since."""
        state = self.fingerprint()
        if self._opened is None or self._opened[0] != state:
            sources = [Source(file, str(file)) for file in self._files]
            self._opened = state, TextBatches(sources, self._options)
        return self._opened[1]

    @property
    def _special(self) -> list[str]:
        """Columns that are not features."""
        return [self._target, *([] if self._weight is None else [self._weight])]

    def _features(self, table: TextBatches) -> list[str]:
        left_out = {*self._special, table.row_names}
        features = list(self._chosen or (n for n in table.names if n not in left_out))
        check_present([*features, *self._special], table.names, self._files[0])
        if not features:
            raise no_features(self._files[0])
        return features

    def batches(self) -> Iterator[Batch]:
        """Rows of all files, file after file."""
        table = self._open()
        features = self._features(table)
        for rows in table.batches([*features, *self._special]):
            if not len(rows):
                continue
            y = rows.select([self._target]).values[0]
            if table.types[self._target].is_whole:
                y = y.astype(np.int64)
            weights = None if self._weight is None else rows.select([self._weight]).values[0]
            yield Batch(rows.select(features), y, weights)

    def n_rows(self) -> int | None:
        """None, since it is not known before the files are read."""
        return None

    def fingerprint(self) -> str:
        """Digest of names, sizes and times of the files, and of the columns to read."""
        what = (self._target, self._weight, self._chosen, self._options)
        return fingerprint_of(self._files, what)


def check_present(needed: Sequence[str], names: Sequence[str], file: Path) -> None:
    """Raise ValueError if a required column is absent from a file."""
    absent = [name for name in needed if name not in names]
    if absent:
        near = nearest(absent[0], list(names))
        remedy = f"Did you mean {near!r}?" if near else "Check the names."
        raise ValueError(
            f"scan needs the column {absent[0]!r} in every file; got "
            f"{join_names([repr(n) for n in names])} in {str(file)!r}. {remedy}"
        )


def no_features(file: Path) -> ValueError:
    """Error for files that hold only targets and weights."""
    return ValueError(
        f"scan needs at least one column beside the target; got {str(file)!r} without any. Add "
        "columns."
    )


def fingerprint_of(files: Sequence[Path], what: object) -> str:
    """Digest of the names, sizes and times of files, and of the columns to read."""
    text = [repr(what)]
    for file in files:
        status = file.stat()
        text.append(repr((str(file.resolve()), status.st_size, status.st_mtime_ns)))
    return hashlib.sha256("\n".join(text).encode()).hexdigest()


def _check_roles(target: str, weight: str | None, columns: Sequence[str] | None) -> None:
    """Raise if a column has two roles: a target among the features would predict itself."""
    if weight == target:
        remedy = "Leave it out, or name the column of the weights."
        raise wrong_value("weight", "another column than the target", weight, remedy)
    for role, name in (("target", target), ("weight", weight)):
        if columns is not None and name in columns:
            required = f"features, and not the column of the {role}"
            raise wrong_value("columns", required, name, "Leave it out of columns.")
    if columns is not None and len(set(columns)) < len(columns):
        raise wrong_value("columns", "different columns", list(columns), "Name each of them once.")


class _LimitedReads:
    """A file whose reads end at its last byte, even if more bytes are requested.

    pyarrow requests as much as a damaged file claims, and reserves memory for it. Mapping the file
    instead would end the process if another process truncated it.
    """

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._size = os.fstat(stream.fileno()).st_size

    def read(self, n_bytes: int = -1) -> bytes:
        """The next bytes, at most to the end of the file."""
        left = max(0, self._size - self._stream.tell())
        return self._stream.read(left if n_bytes < 0 else min(n_bytes, left))

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position in the file."""
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """Position in the file."""
        return self._stream.tell()

    def close(self) -> None:
        """Do nothing: the owner closes the file."""


def _values(column: Any, pyarrow: Any) -> npt.NDArray[Any]:
    """A column as an array; missing values are None or NaN."""
    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_numpy(zero_copy_only=False))
