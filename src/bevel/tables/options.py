"""Options for reading a file, where inference is impossible or unwanted."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from bevel.errors import shorten, wrong_value

__all__ = ["TYPES", "TableKeywords", "TableOptions"]

TYPES = ("number", "nominal", "date", "dmy", "mdy", "ymd")
_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}


class TableKeywords(TypedDict, total=False):
    """Keywords of functions that read a table; see `TableOptions`."""

    header: bool | None
    delimiter: str | None
    decimal: str | None
    missing: Sequence[str]
    encoding: str | None
    types: Mapping[str, str]


@dataclass(frozen=True)
class TableOptions:
    """How a table is read.

    Attributes
    ----------
    header : bool, default=None
        Whether the first line holds names; None infers it.
    delimiter : str, default=None
        Delimiter of cells: one character, or "tab", "comma", "semicolon", "space" or "pipe"; None
        infers it.
    decimal : {".", ","}, default=None
        Decimal sign of numbers; None infers it.
    missing : sequence of str
        Cells that mean a missing value, in addition to the usual ones.
    encoding : str, default=None
        Encoding of the text, such as "cp1252"; None is UTF-8 if the file is, else Windows-1252.
    types : mapping of str to str
        Types of columns, by name: "number", "nominal", "date", or a date whose order is "dmy"
        (day, month, year), "mdy" or "ymd". A cell of another type is missing. Other columns are
        inferred.

    Examples
    --------
    >>> from bevel.workflow import TableOptions
    >>> TableOptions(delimiter="semicolon", decimal=",", missing=["n/a"]).delimiter
    ';'
    """

    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    missing: Sequence[str] = ()
    encoding: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            known = _DELIMITERS.get(self.delimiter, self.delimiter)
            if len(known) != 1 or known in '"\r\n':
                remedy = 'Write for example ";", "tab" or "space".'
                raise wrong_value("`delimiter`", "a single character", self.delimiter, remedy)
            object.__setattr__(self, "delimiter", known)
        if self.decimal not in (None, ".", ","):
            raise wrong_value("`decimal`", '"." or ","', self.decimal, "Choose one.")
        missing = (self.missing,) if isinstance(self.missing, str) else tuple(self.missing)
        object.__setattr__(self, "missing", missing)
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                remedy = 'Write for example "utf-8", "cp1252" or "utf-16".'
                raise wrong_value(
                    "`encoding`", "one that Python supports", self.encoding, remedy
                ) from None
        for name, kind in self.types.items():
            if kind not in TYPES:
                raise ValueError(
                    f"`types` must be {', '.join(TYPES[:-1])} or {TYPES[-1]}; got {shorten(kind)} "
                    f"for {name!r}. Choose one."
                )
