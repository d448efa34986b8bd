"""Text files as one table, read batch by batch.

Types of columns are inferred from the cells of all files before the first batch is yielded, by
the rules that `table_file` applies to a file that is read whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.columns import Columns
from bevel.errors import join_names
from bevel.tables.options import TableOptions
from bevel.tables.source import Source
from bevel.tables.text_file import DATE, EMPTY, NUMBER, WORDS, TextFile
from bevel.tables.text_layout import TextLayout, find_layout
from bevel.tables.type_inference import Convention, can_be_values, infer_type

__all__ = ["TextBatches"]

LARGEST_WHOLE = 2.0**53  # above it not every whole number is a float


@dataclass(frozen=True, eq=False)
class ColumnType:
    """Conversion of the cells of a column to values.

    Attributes
    ----------
    kind : {"empty", "number", "date", "words"}
        Type of the unconverted cells; "date" is ISO 8601.
    meaning : mapping of str to float, or None
        Words that are numbers or dates written in another way; None if the words are labels.
    is_date : bool
        Whether the values are days.
    is_whole : bool
        Whether every cell is present and a whole number.
    """

    kind: str
    meaning: Mapping[str, float] | None = None
    is_date: bool = False
    is_whole: bool = False


class TextBatches:
    """Rows of text files that have the same columns.

    Parameters
    ----------
    sources : sequence of Source
        Files in the order of the rows; may be gzipped.
    options : TableOptions
        Options that apply to all files.
    """

    def __init__(self, sources: Sequence[Source], options: TableOptions) -> None:
        for source in sources:
            source.check()
        layouts = [find_layout(source, options) for source in sources]
        _check_alike(layouts)
        self._files = [TextFile(layout, options.missing) for layout in layouts]
        self._layout, self._options = layouts[0], options
        self.names, self.row_names = layouts[0].names, layouts[0].row_names
        self.check_present([*options.types], sources[0])

    def check_present(self, names: Sequence[str], source: object) -> None:
        """Raise ValueError if one of the names is not a column."""
        absent = [name for name in names if name not in self.names]
        if absent:
            known = join_names([repr(name) for name in self.names], limit=8)
            raise ValueError(f"{source} has no column {absent[0]!r}; its columns are {known}.")

    def batches(self, names: Sequence[str]) -> Iterator[Columns]:
        """Blocks of rows of the named columns; labels are None where missing, numbers NaN."""
        chosen = [self.names.index(name) for name in names]
        dates = frozenset(name for name in names if self.types[name].is_date)
        for file in self._files:
            for block in file.blocks(chosen):
                values = tuple(
                    self._values(file, block[index], name)
                    for index, name in zip(chosen, names, strict=True)
                )
                yield Columns(tuple(names), values, dates)

    @cached_property
    def types(self) -> dict[str, ColumnType]:
        """Type of each column, by name."""
        nominal = {name for name, kind in self._options.types.items() if kind == "nominal"}
        plain = [name for name in self.names if name not in self._options.types]
        types = self._plain_types(plain)
        words = [name for name in self.names if types.get(name) is None]
        types |= {name: ColumnType(WORDS) for name in nominal}
        return types | self._word_types([name for name in words if name not in nominal])

    def _plain_types(self, names: Sequence[str]) -> dict[str, ColumnType]:
        """Types of the columns of plain numbers and of dates of ISO 8601."""
        place = {self.names.index(name): name for name in names}
        kinds = dict.fromkeys(place, EMPTY)
        whole = set(place)
        for file in self._files:
            for block in file.blocks(list(place)):
                for index in (index for index in place if kinds[index] != WORDS):
                    values, kinds[index] = file.convert(block[index], kinds[index])
                    if values is not None and not _are_whole(values):
                        whole.discard(index)
        return {
            place[index]: ColumnType(kind, None, kind == DATE, kind == NUMBER and index in whole)
            for index, kind in kinds.items()
            if kind != WORDS
        }

    def _word_types(self, names: Sequence[str]) -> dict[str, ColumnType]:
        """Types of the other columns, inferred from their distinct cells.

        Cells of a column are dropped as soon as some of them cannot be numbers or dates, so that
        names and ids take no memory.
        """
        place = {self.names.index(name): name for name in names}
        cells: dict[int, dict[str, None]] = {index: {} for index in place}
        for file in self._files if names else ():
            for block in file.blocks(list(place)):
                for index in list(cells):
                    new = [c for c in block[index].unique().to_pylist() if c is not None]
                    cells[index].update(dict.fromkeys(new))
                    if not can_be_values(new, self._convention, self._kind_of(place[index])):
                        del cells[index]
        found = {name: ColumnType(WORDS) for name in names}
        for index, different in cells.items():
            found[place[index]] = self._infer(place[index], list(different))
        return found

    def _infer(self, name: str, cells: Sequence[str]) -> ColumnType:
        words = np.empty(len(cells), dtype=object)
        words[:] = cells
        title = f"{self._layout.source}: column {name!r}"
        inferred = infer_type(words, self._convention, self._kind_of(name), title)
        if inferred.values is None:
            return ColumnType(WORDS)
        meaning = dict(zip(cells, inferred.values.tolist(), strict=True))
        return ColumnType(WORDS, meaning, bool(inferred.order))

    def _kind_of(self, name: str) -> str | None:
        return self._options.types.get(name)

    @property
    def _convention(self) -> Convention:
        layout = self._layout
        return Convention(self._options.decimal, layout.decimal, layout.delimiter == ",")

    def _values(self, file: TextFile, cells: Any, name: str) -> npt.NDArray[Any]:
        """Cells of a block converted to the type of their column."""
        known = self.types[name]
        if known.kind != WORDS:
            values, _ = file.convert(cells, known.kind)
            if values is None:
                raise self._changed(file, name)
            return values
        words = cells.to_numpy(zero_copy_only=False).astype(object)
        if known.meaning is None:
            return np.asarray(words)
        try:
            return np.array([np.nan if w is None else known.meaning[w] for w in words], dtype=float)
        except KeyError:
            raise self._changed(file, name) from None

    def _changed(self, file: TextFile, name: str) -> ValueError:
        return ValueError(
            f"{file.layout.source} must stay as it is while it is read; got other cells in column "
            f"{name!r} when it was read again. Write to another file, and read that."
        )


def _check_alike(layouts: Sequence[TextLayout]) -> None:
    """Raise if files differ in their columns, or in the decimal sign that they imply."""
    first = layouts[0]
    for layout in layouts:
        if layout.names != first.names:
            names = [join_names([repr(n) for n in each.names], 8) for each in (first, layout)]
            raise ValueError(
                f"Every file must have the columns of the first, {first.source} ({names[0]}); got "
                f"{names[1]} in {layout.source}. Make the columns the same, in the same order."
            )
        if layout.decimal and first.decimal and layout.decimal != first.decimal:
            raise ValueError(
                f"Every file must have the decimal sign of the first, {first.decimal!r} in "
                f"{first.source}; got {layout.decimal!r} in {layout.source}. Name the sign: "
                '`decimal="."` or `decimal=","`.'
            )


def _are_whole(values: npt.NDArray[np.float64]) -> bool:
    """Whether all values are present, whole and exact."""
    return bool(np.all((values == np.floor(values)) & (np.abs(values) <= LARGEST_WHOLE)))
