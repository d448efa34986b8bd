"""`scan`: a table that is described now and read when a forest is fitted to it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from bevel.data.tables import TableOutOfMemory, fill_masked
from bevel.errors import wrong_type, wrong_value
from bevel.scanning.sources import (
    ArraySource,
    BatchSource,
    RowSource,
    TableFiles,
    TextFiles,
    find_files,
    format_of,
    open_arrays,
)
from bevel.scanning.store import read_memory
from bevel.tables.options import TableKeywords, TableOptions

__all__ = [
    "ScannedTable",
    "scan",
]


@dataclass(frozen=True, eq=False)
class ScannedTable(TableOutOfMemory):
    """A table that is read when it is needed, from `scan`.

    Attributes
    ----------
    source : Source
        Source of the rows.
    folder : str, path or None
        Folder for encoded rows; None: that of temporary files, if they are written.
    memory : int
        Bytes that a fit may use.
    block_rows : int or None
        Rows of a block; None: by the memory. It does not change the forest.
    """

    source: RowSource
    folder: str | os.PathLike[str] | None
    memory: int
    block_rows: int | None


def scan(
    source: Any,
    *,
    target: Any = None,
    weight: Any = None,
    columns: Sequence[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    memory: int | float | str | None = None,
    block_rows: int | None = None,
    **text: Unpack[TableKeywords],
) -> ScannedTable:
    """Describe a table that need not fit in memory; pass it to `fit` in place of X and y.

    The table is read twice: once to learn its columns, classes and a sample of its rows, and once
    to encode its rows in float32. Encoded rows stay in memory if they take less than 40 % of
    `memory`, and otherwise are written to files that are removed after the fit. Trees then grow
    over blocks of these rows, see the guide "Large data". The forest is the same for any
    blocks, threads and memory.

    Parameters
    ----------
    source : str, path, sequence of these, array, data frame, callable or iterable
        Files (Parquet, CSV and other text, also gzipped, Arrow IPC, one memory-mapped `.npy`) by a
        path, a pattern such as
        `"rows/*.parquet"`, a folder or a list; or an array or data frame; or a function that
        returns an iterator of batches `(X, y)` or `(X, y, weights)`, anew at each call, or a list
        of batches. Parquet, CSV and Arrow files need pyarrow.
    target : str, array or path, default=None
        Column of the targets; with arrays and `.npy` files the targets themselves, or their `.npy`
        file. Batches bring their own.
    weight : str, array or path, default=None
        Weights of the rows, likewise; None weighs all rows equally.
    columns : sequence of str, default=None
        Columns of files to use, in this order; None: all but target, weight and the index of a
        pandas data frame, which Parquet and Feather files store as one more column.
    folder : str or path, default=None
        Folder for encoded rows, which are written even if they fit in memory. Those of files are
        kept, with checksums, for a later fit. Several fits may share a folder.
    memory : int or str, default=None
        Memory that the fit may use, such as `"2GB"`, the trees themselves not counted; None: half
        of what is free.
    block_rows : int, default=None
        Rows of a block; None: by the memory.
    **text
        How text files are read, see `bevel.workflow.TableOptions`: `header`, `delimiter`,
        `decimal`, `missing`, `encoding` and `types`. Other settings are inferred from the
        files, as `bevel fit` does: text files are read once or twice more to learn what their
        columns hold.

    Returns
    -------
    ScannedTable
        Table to pass to `fit` of `ObliqueForestClassifier`, `ObliqueForestRegressor`,
        `ObliqueBoostingClassifier` or `ObliqueBoostingRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestClassifier, scan
    >>> X = np.random.default_rng(0).normal(size=(1000, 4))
    >>> table = scan(X, target=X[:, 0] > X[:, 1])
    >>> forest = ObliqueForestClassifier(n_estimators=10, random_state=0).fit(table)
    >>> forest.predict(X[:2]).shape
    (2,)
    """
    if block_rows is not None and (not isinstance(block_rows, int) or block_rows < 1):
        raise wrong_value("block_rows", "a whole number of at least 1, or None", block_rows, "")
    opened = _open(source, target, weight, columns, text)
    return ScannedTable(opened, folder, read_memory(memory), block_rows)


def _open(
    source: Any,
    target: Any,
    weight: Any,
    columns: Sequence[str] | None,
    text: TableKeywords,
) -> RowSource:
    if _is_path(source) or _is_list_of_paths(source):
        files = find_files(source)
        return _open_files(files, format_of(files), target, weight, columns, text)
    _refuse_columns(columns)
    _refuse_text(text)
    if isinstance(source, np.ndarray) or hasattr(source, "columns"):
        y = _array("target", _needed(target, "an array"))
        return ArraySource(source, y, _array("weight", weight))
    if callable(source) or isinstance(source, Iterable):
        if target is not None or weight is not None:
            raise ValueError(
                "target and weight must be None for batches, which bring their own; got a value. "
                "Yield (X, y) or (X, y, weights)."
            )
        return BatchSource(source)
    required = "files, an array, a data frame, a function that returns batches, or a list of them"
    raise wrong_type("source", required, source, 'Write for example scan("rows/*.parquet", ...).')


def _open_files(
    files: Sequence[Path],
    kind: str,
    target: Any,
    weight: Any,
    columns: Sequence[str] | None,
    text: TableKeywords,
) -> RowSource:
    """Open files of one kind: arrays, text, or tables with types of their own."""
    if kind != "text":
        _refuse_text(text)
    if kind == "npy":
        _refuse_columns(columns)
        return open_arrays(files, _needed(target, "an array or a .npy file"), weight)
    if not isinstance(target, str):
        remedy = 'Write for example scan("rows.parquet", target="label").'
        raise wrong_type("target", "the name of a column", target, remedy)
    if kind == "text":
        return TextFiles(files, target, weight, columns, TableOptions(**text))
    return TableFiles(files, target, weight, columns)


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def _is_list_of_paths(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(_is_path(v) for v in value)


def _refuse_columns(columns: Sequence[str] | None) -> None:
    if columns is not None:
        required = "None unless source is Parquet, CSV or Arrow files"
        raise wrong_value("columns", required, columns, "Select the columns before scan.")


def _refuse_text(text: TableKeywords) -> None:
    """Raise for parameters that only text files have."""
    for name in text:
        if name not in TableKeywords.__annotations__:
            raise TypeError(f"scan has no parameter {name!r}. Check the spelling.")
        raise ValueError(f"{name} is for text files; got another source. Leave it out.")


def _needed(target: Any, required: str) -> Any:
    if target is None:
        raise wrong_type("target", required, target, "Pass the targets of the rows.")
    return target


def _array(name: str, values: Any) -> Any:
    if values is None:
        return None
    array = np.asarray(fill_masked(values))
    if array.ndim == 0:
        remedy = "Pass the values, and leave their column out of the source."
        raise wrong_type(name, "an array with a value for each row", values, remedy)
    return array
