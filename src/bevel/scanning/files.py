"""Tables in files: Parquet, CSV, Arrow IPC and NumPy arrays, read batch by batch."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.errors import join_names, nearest, wrong_value
from bevel.extras import import_optional
from bevel.scanning.batches import ArraySource, Batch

__all__ = ["TableFiles", "find_files", "open_arrays"]

BATCH_ROWS = 2**16
CSV_BYTES = 2**23
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".npy": "npy",
}


def find_files(path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Files that a path, a pattern, a folder or a list of these names, sorted by name."""
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
            "that files end in .parquet, .csv, .arrow, .feather or .npy."
        )
    return sorted(found)


def format_of(files: Sequence[Path]) -> str:
    """The one format of all files."""
    formats = {FORMATS.get(file.suffix.lower(), file.suffix) for file in files}
    if len(formats) != 1 or not formats <= set(FORMATS.values()):
        required = "files of one format: .parquet, .csv, .arrow, .feather or .npy"
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
        return np.asarray(np.load(values, mmap_mode="r", allow_pickle=False))
    return np.asarray(values)


class TableFiles:
    """Parquet, CSV or Arrow IPC files with the same columns.

    Parameters
    ----------
    files : sequence of path
        In the order of the rows.
    target : str
        Column of the targets.
    weight : str or None
        Column of the weights.
    columns : sequence of str or None
        Columns to use, in this order; None: all others.
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
        self._pyarrow = import_optional(
            "pyarrow", needed_by="scan of Parquet, CSV and Arrow files", install="pyarrow"
        )

    def batches(self) -> Iterator[Batch]:
        """Rows of all files, file after file."""
        for file in self._files:
            try:
                for batch in self._read(file):
                    if batch.num_rows:
                        yield self._divide(batch, file)
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
        elif self._format == "csv":
            csv = import_optional("pyarrow.csv", needed_by="scan of CSV files", install="pyarrow")
            options = csv.ReadOptions(block_size=CSV_BYTES, use_threads=False)
            missing = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
            with csv.open_csv(file, read_options=options, convert_options=missing) as opened:
                self._wanted(opened.schema.names, file)
                yield from opened
        else:
            with self._pyarrow.memory_map(str(file)) as memory:
                opened = self._pyarrow.ipc.open_file(memory)
                self._wanted(opened.schema.names, file)
                for index in range(opened.num_record_batches):
                    whole = opened.get_batch(index)
                    for start in range(0, whole.num_rows, BATCH_ROWS):
                        yield whole.slice(start, BATCH_ROWS)

    def _wanted(self, names: Sequence[str], file: Path) -> list[str] | None:
        """Columns to read; raises if one is absent."""
        others = () if self._columns is None else self._columns
        weight = () if self._weight is None else (self._weight,)
        needed = [*others, self._target, *weight]
        absent = [name for name in needed if name not in names]
        if absent:
            near = nearest(absent[0], list(names))
            remedy = f"Did you mean {near!r}?" if near else "Check the names."
            raise ValueError(
                f"scan needs the column {absent[0]!r} in every file; got "
                f"{join_names([repr(n) for n in names])} in {str(file)!r}. {remedy}"
            )
        return None if self._columns is None else needed

    def _divide(self, batch: Any, file: Path) -> Batch:
        table = self._pyarrow.Table.from_batches([batch])
        y = _values(table.column(self._target), self._pyarrow)
        weights = None
        if self._weight is not None:
            weights = _values(table.column(self._weight), self._pyarrow)
        if self._columns is not None:
            return Batch(table.select(list(self._columns)), y, weights)
        used = [self._target, *([] if self._weight is None else [self._weight])]
        features = table.drop_columns(used)
        if not features.num_columns:
            raise ValueError(
                f"scan needs at least one column beside the target; got {str(file)!r} without any. "
                "Add columns."
            )
        return Batch(features, y, weights)

    def n_rows(self) -> int | None:
        """As Parquet files say; None for other formats, which do not."""
        if self._format != "parquet":
            return None
        parquet = import_optional(
            "pyarrow.parquet", needed_by="scan of Parquet files", install="pyarrow"
        )
        try:
            return sum(int(parquet.read_metadata(file).num_rows) for file in self._files)
        except (self._pyarrow.ArrowException, OSError):
            return None  # the first pass says what is wrong

    def fingerprint(self) -> str | None:
        """Names, sizes and times of the files, and what is read of them."""
        text = [repr((self._format, self._target, self._weight, self._columns))]
        for file in self._files:
            status = file.stat()
            text.append(repr((str(file.resolve()), status.st_size, status.st_mtime_ns)))
        return hashlib.sha256("\n".join(text).encode()).hexdigest()


def _values(column: Any, pyarrow: Any) -> npt.NDArray[Any]:
    """A column as an array; missing values are None or NaN."""
    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_numpy(zero_copy_only=False))
