"""Reads a table from a file into named columns: text, also compressed, and formats with types.

The type of a cell depends on its column: a column whose present cells are all numbers, or all
dates, is numeric; any other is nominal, and its labels are the words of the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from bevel.data.tables import MEANING, Columns, index_columns, is_missing
from bevel.data.tables import read_table as as_table
from bevel.errors import join_names, nearest, shorten, wrong_type
from bevel.extras import MissingPackageError, import_optional
from bevel.tables.options import Source, TableKeywords, TableOptions
from bevel.tables.parsing import ORDERS, Convention, InferredColumn, first_misfit, infer_type
from bevel.tables.text import MISSING, ParsedColumns, TextFile, find_layout

__all__ = ["ReadColumns", "TableFile", "kinds_of_fit", "open_table", "read_table"]


@dataclass(frozen=True, eq=False)
class ReadColumns:
    """Columns of a file.

    Attributes
    ----------
    columns : Columns
    notes : list of str
        Notes for the user on how columns were read.
    misfits : dict of str to str
        Nominal columns nearly all of whose labels are numbers, or dates, and the first that is not.
    """

    columns: Columns
    notes: list[str]
    misfits: dict[str, str]


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table whose header is known and whose cells are read on demand.

    Attributes
    ----------
    source : Source
        The file.
    names : tuple of str
        Names of the columns, all different.
    notes : tuple of str
        Notes for the user on how the file was read.
    row_names : str or None
        A column that names the rows, as R and pandas write it.
    twice : tuple of str
        Names that occur more than once in the header.
    index : tuple of str
        Columns that were the index of a pandas data frame.
    truths : frozenset of str
        Columns that the file itself declares to hold truth values.
    """

    source: Source
    names: tuple[str, ...]
    notes: tuple[str, ...]
    _read_numbers: Callable[[Sequence[int]], ParsedColumns]
    _read_words: Callable[[Sequence[int]], dict[int, npt.NDArray[np.object_]]]
    row_names: str | None = None
    twice: tuple[str, ...] = ()
    _convention: Convention | None = None  # None: words are labels
    _types: Mapping[str, str] = field(default_factory=dict)
    index: tuple[str, ...] = ()
    truths: frozenset[str] = frozenset()

    def read(self, names: Sequence[str], kinds: Mapping[str, str] | None = None) -> ReadColumns:
        """Read columns by name.

        Parameters
        ----------
        names : sequence of str
            Columns, in the order wanted; raises ValueError for one that is absent.
        kinds : mapping of str to "numeric", "nominal" or "truth", default=None
            Required types of columns, by name; others are set by the user or inferred from cells.
            A word in a column that must be numeric raises ValueError, in one of truth values any
            but true and false.
        """
        required = {name: kind for name, kind in self._types.items() if kind == "nominal"}
        required |= kinds or {}
        place = {name: index for index, name in enumerate(self.names)}
        self.check_present(names)
        chosen = [place[name] for name in names]
        found = self._read_numbers(
            [index for index in chosen if self._may_be_plain(self.names[index], required)]
        )
        words = self._read_words([index for index in chosen if index not in found.values])
        understood = {
            index: self._infer_type(index, words[index])
            for index in words
            if required.get(self.names[index]) != "nominal"
        }
        self._check_numeric(required, words, understood)
        numeric = found.values | {
            index: each.values for index, each in understood.items() if each.values is not None
        }
        values = tuple(numeric[index] if index in numeric else words[index] for index in chosen)
        dates = found.dates | {index for index, each in understood.items() if each.order}
        self._check_finite({index: numeric[index] for index in found.values})
        dated = frozenset(self.names[index] for index in dates)
        nominal = {name for name, kind in required.items() if kind == "nominal"}
        columns = Columns(tuple(names), values, dated, self.truths.intersection(names) - nominal)
        columns = self._with_truths(columns, required)
        misfits = {
            self.names[index]: each.misfit for index, each in understood.items() if each.misfit
        }
        return ReadColumns(columns, self._notes(found.dates, understood), misfits)

    def _with_truths(self, columns: Columns, required: Mapping[str, str]) -> Columns:
        """Columns that must hold truth values as 1 and 0."""
        names = {name for name, kind in required.items() if kind == "truth"}
        columns = columns.with_truths(names)
        for index in columns.nominal:
            if columns.names[index] in names:
                words = [word for word in columns.values[index].tolist() if word is not None]
                got = next((w for w in words if w.lower() not in ("true", "false")), "no value")
                raise ValueError(
                    f"{self.source}: column {columns.names[index]!r} must hold true and false, as "
                    f"in fit; got {shorten(got)}. Correct the cell, or leave it empty if the value "
                    "is missing."
                )
        return columns

    def _may_be_plain(self, name: str, required: Mapping[str, str]) -> bool:
        """Whether a column may hold plain numbers, or dates of ISO 8601."""
        return required.get(name) != "nominal" and self._types.get(name) is None

    def _infer_type(self, index: int, words: npt.NDArray[Any]) -> InferredColumn:
        name = self.names[index]
        kind = self._types.get(name)
        if self._convention is None and kind is None:
            return InferredColumn(None)
        title = f"{self.source}: column {name!r}"
        return infer_type(words, self._convention or Convention(), kind, title)

    def _check_numeric(
        self,
        required: Mapping[str, str],
        words: Mapping[int, npt.NDArray[Any]],
        understood: Mapping[int, InferredColumn],
    ) -> None:
        """Raise if a column that must be numeric holds words."""
        for index, each in understood.items():
            name = self.names[index]
            if required.get(name) != "numeric" or each.values is not None:
                continue
            where = each.misfit or first_misfit(words[index], self._convention or Convention())
            raise ValueError(
                f"{self.source}: column {name!r} must hold numbers; got {where}. Correct the cell, "
                f"or mark it as missing ({', '.join(MISSING[1:6])} or empty); `missing` names "
                "other marks."
            )

    def _check_finite(self, numeric: Mapping[int, npt.NDArray[np.float64]]) -> None:
        for index, values in numeric.items():
            infinite = np.flatnonzero(np.isinf(values))
            if len(infinite):
                raise ValueError(
                    f"{self.source}: column {self.names[index]!r} must hold finite numbers; got "
                    f"{values[infinite[0]]} in row {infinite[0] + 1}. Correct the cell, or take it "
                    'for missing: `missing="inf"`.'
                )

    def _notes(self, plain_dates: Collection[int], read: Mapping[int, InferredColumn]) -> list[str]:
        """Notes on columns that were converted."""
        notes = []
        written = [
            f"{self.names[index]!r} ({each.example})"
            for index, each in read.items()
            if each.values is not None and each.example and not each.order
        ]
        if written:
            notes.append(f"Numbers are read without their signs and separators: {_few(written)}.")
        dates = [
            f"{self.names[index]!r}"
            + (
                f" ({ORDERS[read[index].order]}, as in {read[index].example})"
                if index in read
                else ""
            )
            for index in sorted({*plain_dates, *(i for i, each in read.items() if each.order)})
        ]
        if dates:
            notes.append(f"Dates are read as {MEANING}: {_few(dates)}.")
        missing = [
            f"{_few([repr(cell) for cell in each.missing], 3)} in {self.names[index]!r}"
            for index, each in read.items()
            if each.missing
        ]
        if missing:
            notes.append(f"Taken for missing values: {_few(missing)}.")
        return notes + [
            f"Column {self.names[index]!r} is read as nominal because of {each.misfit}."
            for index, each in read.items()
            if each.misfit
        ]

    def read_words(self, names: Sequence[str]) -> dict[str, npt.NDArray[np.object_]]:
        """Columns of unconverted words, by name."""
        self.check_present(names)
        place = {name: index for index, name in enumerate(self.names)}
        words = self._read_words([place[name] for name in names])
        return {name: words[place[name]] for name in names}

    def check_present(self, names: Sequence[str]) -> None:
        """Raise ValueError if one of `names` is not a column."""
        known_names = set(self.names)
        absent = [name for name in names if name not in known_names]
        if absent:
            known = join_names([repr(name) for name in self.names], limit=8)
            raise ValueError(
                f"{self.source} has no column {join_names([repr(name) for name in absent])}; its "
                f"columns are {known}. {self._remedy(absent[0])}"
            )

    def _remedy(self, absent: str) -> str:
        """Advice about a name that is not a column."""
        pieces = [piece.strip() for piece in absent.split(",")]
        if len(pieces) > 1 and set(pieces) <= set(self.names):
            return f"Name each column by itself, and repeat the option: {', '.join(pieces)}."
        close = nearest(absent, self.names)
        if close is not None:
            return f"Did you mean {close!r}?"
        return "Check the spelling, the header and the delimiter."


def _few(items: Sequence[str], limit: int = 5) -> str:
    return join_names(items, limit)


def open_table(path: Path | Source, options: TableOptions | None = None) -> TableFile:
    """Open a table: find its format, delimiter and header.

    Parameters
    ----------
    path : Path or Source
        A file: Parquet, Arrow, ORC, JSON lines or Excel by its ending, all others text, which may
        be compressed by gzip, bz2 or zstd.
    options : TableOptions, default=None
        Options for reading it.
    """
    source = path if isinstance(path, Source) else Source(path, str(path))
    options = options or TableOptions()
    source.check()
    if source.format is not None:
        return _open_typed(source, options)
    layout = find_layout(source, options)
    cells = TextFile(layout, options.missing)
    convention = Convention(options.decimal, layout.decimal, layout.delimiter == ",")
    table = TableFile(
        source,
        layout.names,
        layout.notes,
        cells.numbers,
        cells.words,
        layout.row_names,
        layout.twice,
        convention,
        options.types,
    )
    table.check_present(list(options.types))
    return table


def _open_typed(source: Source, options: TableOptions) -> TableFile:
    for name in ("header", "delimiter", "decimal", "encoding"):
        if getattr(options, name) is not None:
            raise ValueError(
                f"`{name}` is for text files; got the {source.format} file {source}. Leave it out."
            )
    table = as_table(_read_typed(source))
    names = _names_of(table.native)
    nominal, dates = set(table.nominal_by_dtype()), set(table.dates())
    truths = frozenset(names[index] for index in table.truths())
    markers = {marker.strip().lower() for marker in options.missing}

    def numbers(chosen: Collection[int]) -> ParsedColumns:
        found = {}
        for index in chosen:
            if index not in nominal:
                tile = table.numbers(slice(0, table.n_rows), slice(index, index + 1))
                found[index] = np.asarray(tile[:, 0], dtype=np.float64)
        return ParsedColumns(found, dates & found.keys())

    def words(chosen: Collection[int]) -> dict[int, npt.NDArray[np.object_]]:
        return {index: _as_words(table.labels(index), markers) for index in chosen}

    schema = getattr(table.native, "schema", None)
    index = index_columns(names, getattr(schema, "metadata", None))
    convention = Convention() if source.format == "JSON lines" else None  # JSON has no dates
    opened = TableFile(
        source,
        names,
        (),
        numbers,
        words,
        _convention=convention,
        _types=options.types,
        index=index,
        truths=truths,
    )
    opened.check_present(list(options.types))
    return opened


def _names_of(frame: Any) -> tuple[str, ...]:
    names = getattr(frame, "column_names", None)  # as in pyarrow
    return tuple(str(name) for name in (frame.columns if names is None else names))


def _read_typed(source: Source) -> Any:
    """A data frame of an installed library that reads the format of the file."""
    source.path.open("rb").close()  # the same error for an absent file with any library
    if source.format == "Excel":
        return _read_excel(source)
    try:
        import_optional("pyarrow", needed_by=f"Reading {source.path.name}", install="pyarrow")
    except MissingPackageError as missing:
        if source.format != "Parquet":
            raise
        try:
            import polars
        except ModuleNotFoundError:
            raise missing from None
        return polars.read_parquet(source.path)
    from pyarrow import ArrowInvalid

    try:
        return _read_arrow(source)
    except (ArrowInvalid, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(
            f"{source} must be {source.format}; got {error}. Check the file."
        ) from error


def _read_arrow(source: Source) -> Any:
    if source.format == "Arrow":
        from pyarrow import ArrowInvalid, ipc

        try:
            return ipc.open_file(source.path).read_all()
        except ArrowInvalid:
            return ipc.open_stream(source.path).read_all()
    if source.format == "ORC":
        from pyarrow import orc

        return orc.read_table(source.path)
    if source.format == "JSON lines":
        from pyarrow import json

        return json.read_json(source.path)
    from pyarrow import parquet

    return parquet.read_table(source.path)


def _read_excel(source: Source) -> Any:
    """The first sheet of a workbook, by pandas."""
    needed_by = f"Reading {source.path.name}"
    pandas: Any = import_optional("pandas", needed_by=needed_by, install="pandas")
    if source.path.suffix.lower() in (".xlsx", ".xlsm"):
        import_optional("openpyxl", needed_by=needed_by, install="openpyxl")
    try:
        frame = pandas.read_excel(source.path)
    except ImportError as error:
        raise ValueError(f"{source} cannot be read: {error}. Save the sheet as CSV.") from error
    except Exception as error:  # each reader has its own
        raise ValueError(
            f"{source} must be an Excel workbook; got {error}. Save the sheet as CSV."
        ) from error
    return frame.rename(columns=str)


def _as_words(labels: npt.NDArray[Any], markers: Collection[str]) -> npt.NDArray[np.object_]:
    words = np.empty(len(labels), dtype=object)
    cells = [None if is_missing(label) else str(label) for label in labels.tolist()]
    words[:] = [None if cell is None or cell.strip().lower() in markers else cell for cell in cells]
    return words


def read_table(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    like: Any = None,
    **options: Unpack[TableKeywords],
) -> Columns:
    """Read a table from a file, as the commands and `bevel.scan` do.

    Format, delimiter, header and the types of the columns are detected. Numbers may have decimal
    commas, thousands separators, currency and percent signs; dates are numbers of days since
    1970-01-01.

    Parameters
    ----------
    path : str or path
        CSV or TSV, which may be compressed by gzip, bz2 or zstd; or Parquet, Arrow (Feather), ORC,
        JSON lines or Excel, by its ending. Of a workbook the first sheet is read.
    columns : sequence of str, default=None
        Names of the columns to read, in this order; None reads all but the index of a data frame.
    like : estimator, default=None
        A fitted estimator: the columns of its fit are read, each with the type that it had there.
    **options
        What is otherwise detected: `header`, `delimiter`, `decimal`, `missing`, `encoding`
        and `types`, as in `bevel.workflow.TableOptions`.

    Returns
    -------
    Columns
        Named columns, which estimators take as they take a data frame. ``table["name"]`` is a
        column, ``table.drop("name")`` the others, and ``table.to_pandas()`` a data frame.

    Examples
    --------
    >>> import bevel
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> rows = ["area;city;price", "71,5;Rome;1 200 €", "48;Oslo;990 €"]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "flats.csv")
    ...     size = path.write_text(chr(10).join(rows), encoding="utf-8")
    ...     table = bevel.read_table(path)
    >>> table
    Columns: 2 rows, 3 columns (2 numeric, 1 nominal)
    >>> table["price"]
    array([1200.,  990.])
    """
    table = open_table(Path(path), TableOptions(**options))
    if like is None:
        names = columns if columns is not None else [n for n in table.names if n not in table.index]
        return table.read([str(name) for name in names]).columns
    if columns is not None:
        raise ValueError(
            f"columns must be None with like, whose columns are read; got {list(columns)}. Leave "
            "one of them out."
        )
    if not hasattr(like, "feature_names_in_"):
        required = "a fitted estimator with names of columns"
        remedy = "Fit it on a data frame, or a table of bevel.read_table."
        raise wrong_type("like", required, like, remedy)
    names = [str(name) for name in like.feature_names_in_]
    return table.read(names, kinds_of_fit(like, names)).columns


def kinds_of_fit(model: Any, names: Sequence[str]) -> dict[str, str]:
    """Type of each column in the fit; a nominal column of numbers is compared as numbers."""
    words = {
        feature
        for feature, levels in model.fitted_forest_.encoding.nominal.items()
        if levels.is_left_out or not all(isinstance(label, int | float) for label in levels.labels)
    }
    truths = model.fitted_forest_.encoding.truths
    return {
        name: "nominal" if feature in words else "truth" if feature in truths else "numeric"
        for feature, name in enumerate(names)
    }
