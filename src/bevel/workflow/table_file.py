"""Reads a table from a file: CSV, TSV (also gzipped) or Parquet, into named columns.

What a cell is depends on its column: a column whose present cells are all numbers is numeric, any
other is nominal, and its labels stay the words of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.columns import Columns
from bevel.data.tables import is_missing, read_table
from bevel.errors import join_names
from bevel.extras import MissingPackageError, import_optional
from bevel.workflow import dates
from bevel.workflow.text_file import ParsedColumns, TextFile, as_days
from bevel.workflow.text_layout import MISSING, find_layout, is_number

__all__ = ["TableFile", "open_table"]


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table whose header is known and whose cells are read on demand.

    Attributes
    ----------
    path : Path
        The file.
    names : tuple of str
        Names of the columns, all different.
    notes : tuple of str
        What the reader should know of how the file was understood.
    """

    path: Path
    names: tuple[str, ...]
    notes: tuple[str, ...]
    _read_numbers: Callable[[Sequence[int]], ParsedColumns]
    _read_words: Callable[[Sequence[int]], dict[int, npt.NDArray[np.object_]]]

    def read(
        self, names: Sequence[str], kinds: Mapping[str, str] | None = None
    ) -> tuple[Columns, list[str]]:
        """Read columns by name; also notes on columns that look other than they were read.

        Parameters
        ----------
        names : sequence of str
            Which columns, in the order wanted; raises ValueError for one that is absent.
        kinds : mapping of str to "numeric" or "nominal", default=None
            What columns must be, by name; others become what their cells say. A word in a column
            that must be numeric raises ValueError.
        """
        kinds = kinds or {}
        place = {name: index for index, name in enumerate(self.names)}
        self.check_present(names)
        chosen = [place[name] for name in names]
        found = self._read_numbers(
            [index for index in chosen if kinds.get(self.names[index]) != "nominal"]
        )
        for index, where in found.words.items():
            if kinds.get(self.names[index]) == "numeric":
                raise ValueError(
                    f"{self.path}: column {self.names[index]!r} must hold numbers; got {where}. "
                    f"Correct the cell, or mark it as missing ({', '.join(MISSING[1:])} or empty)."
                )
        words = self._read_words([index for index in chosen if index not in found.values])
        numeric = found.values
        values = tuple(numeric[index] if index in numeric else words[index] for index in chosen)
        notes = [
            f"Column {self.names[index]!r} is read as nominal because of {where}."
            for index, where in found.words.items()
            if _is_mostly_numbers(words[index])
        ]
        if found.dates:
            listed = join_names([repr(self.names[index]) for index in sorted(found.dates)])
            notes.append(f"Dates are read as {dates.MEANING}: {listed}.")
        return Columns(tuple(names), values), notes

    def check_present(self, names: Sequence[str]) -> None:
        """Raise ValueError if one of `names` is no column."""
        known_names = set(self.names)
        absent = [name for name in names if name not in known_names]
        if absent:
            known = join_names([repr(name) for name in self.names], limit=8)
            raise ValueError(
                f"{self.path} has no column {join_names([repr(name) for name in absent])}; its "
                f"columns are {known}. Check the spelling and the header."
            )


def open_table(path: Path, *, header: bool | None = None) -> TableFile:
    """Open a table: find its format, delimiter and header.

    Parameters
    ----------
    path : Path
        A file; ".parquet" and ".pq" are Parquet, all others text, gzipped if they end in ".gz".
    header : bool, default=None
        Whether the first line of a text file holds names; None looks.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} must be a file of rows; got a folder. Name a file in it.")
    if path.suffix.lower() in (".parquet", ".pq"):
        return _open_parquet(path)
    layout = find_layout(path, header)
    cells = TextFile(layout)
    return TableFile(path, layout.names, layout.notes, cells.numbers, cells.words)


def _is_mostly_numbers(labels: npt.NDArray[np.object_]) -> bool:
    """Whether so many labels are numbers, or dates, that the others may be slips."""
    present = [label for label in labels if label is not None]
    return any(
        sum(map(reads, present)) > 0.8 * len(present)
        for reads in (is_number, lambda label: as_days([label]) is not None)
    )


def _open_parquet(path: Path) -> TableFile:
    frame, of_dates = dates.columns_as_days(_read_parquet(path))
    table = read_table(frame)
    names = tuple(str(name) for name in frame.columns) if hasattr(frame, "columns") else ()
    if type(frame).__module__.startswith("pyarrow"):
        names = tuple(frame.column_names)
    nominal = set(table.nominal_by_dtype())

    def numbers(chosen: Collection[int]) -> ParsedColumns:
        found = {}
        for index in chosen:
            if index not in nominal:
                tile = table.numbers(slice(0, table.n_rows), slice(index, index + 1))
                found[index] = np.asarray(tile[:, 0], dtype=np.float64)
        return ParsedColumns(
            found,
            {index: "its type" for index in chosen if index in nominal},
            {index for index in found if names[index] in of_dates},
        )

    def words(chosen: Collection[int]) -> dict[int, npt.NDArray[np.object_]]:
        return {index: _as_words(table.labels(index)) for index in chosen}

    return TableFile(path, names, (), numbers, words)


def _read_parquet(path: Path) -> Any:
    """A frame of whichever library that reads Parquet is installed."""
    path.open("rb").close()  # the same words for an absent file, whoever would read it
    try:
        import_optional("pyarrow", needed_by=f"Reading {path.name}", install="pyarrow")
        from pyarrow import ArrowInvalid, parquet

        try:
            return parquet.read_table(path)
        except ArrowInvalid as error:
            raise ValueError(f"{path} must be Parquet; got {error}. Check the file.") from error
    except MissingPackageError as missing:
        try:
            import polars
        except ModuleNotFoundError:
            raise missing from None
        return polars.read_parquet(path)


def _as_words(labels: npt.NDArray[Any]) -> npt.NDArray[np.object_]:
    words = np.empty(len(labels), dtype=object)
    words[:] = [None if is_missing(label) else str(label) for label in labels.tolist()]
    return words
