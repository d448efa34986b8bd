"""Rows of a file for a saved model: the columns of fit are found by name, in any order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.columns import Columns
from bevel.errors import join_names, nearest, shorten
from bevel.tables.options import TableOptions
from bevel.tables.source import Source
from bevel.tables.table_file import TableFile, open_table

__all__ = ["ModelRows", "read_model_rows"]


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows that a model can predict.

    Attributes
    ----------
    X : Columns
        The columns of fit, in its order.
    y : ndarray of shape (n_rows,), or None
        True classes or values, if a target column is given.
    number : ndarray of int64, shape (n_rows,)
        Number of each row in the file; the first one below the header is 1.
    notes : tuple of str
        Notes for the user.
    ids : mapping of str to ndarray of object
        Columns that name the rows, as they are written in the file.
    """

    X: Columns
    y: npt.NDArray[Any] | None
    number: npt.NDArray[np.int64]
    notes: tuple[str, ...]
    ids: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)


def read_model_rows(
    model: Any,
    path: Path | Source,
    *,
    target: str | None = None,
    row_id: Sequence[str] = (),
    options: TableOptions | None = None,
) -> ModelRows:
    """Read the rows of a table for a model.

    Parameters
    ----------
    model : fitted estimator
        Model from `bevel.load`.
    path : Path
        CSV, TSV or Parquet with the columns of fit; others are left out with a note.
    target : str, default=None
        Column of true targets, classes or numbers as in the fit; rows that miss it
        are left out with a note.
    row_id : sequence of str
        Columns that name rows, kept in `ids`.
    options : TableOptions, default=None
        Format of the file.
    """
    table = open_table(path, options)
    names, unused = _columns_of_fit(model, table, target, row_id)
    read = table.read(names, _kinds(model, names))
    X = Columns(tuple(getattr(model, "feature_names_in_", names)), read.columns.values)
    if len(X) == 0:
        raise ValueError(
            f"{table.source} must have at least one row to predict; got none. Add rows."
        )
    _check_dates(model, table, names, read.columns.dates)
    notes = [*table.notes, *read.notes, *unused, *_unseen_labels(model, X)]
    number, ids = np.arange(1, len(X) + 1), table.read_words(row_id)
    if target is None:
        return ModelRows(X, None, number, tuple(notes), ids)
    y, known = _read_target(model, table, target)
    if not known.any():
        raise ValueError(
            f"{table.source}: the target {target!r} must have values; all rows miss it. "
            "Check the column, or leave `target` out."
        )
    if not known.all():
        notes.append(f"{int((~known).sum()):,} rows without a target are left out.")
    ids = {name: words[known] for name, words in ids.items()}
    return ModelRows(X.rows(known), y[known], number[known], tuple(notes), ids)


def _check_dates(
    model: Any, table: TableFile, names: Sequence[str], dates: Collection[str]
) -> None:
    """Raise if a column holds numbers where fit saw dates."""
    for feature in sorted(model.fitted_forest_.encoding.dates):
        name = names[feature]
        if name not in dates:
            column = table.read([name]).columns
            if not column.missing(0).all():
                raise ValueError(
                    f"{table.source}: column {name!r} must hold dates, as in fit; got numbers. "
                    f'Write them as in fit, or say how: `types={{{name!r}: "dmy"}}`.'
                )


def _columns_of_fit(
    model: Any, table: TableFile, target: str | None, row_id: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Names of the file's columns in the order of fit, and a note on those that are not used."""
    if target is not None:
        table.check_present([target])
    table.check_present(row_id)
    wanted = getattr(model, "feature_names_in_", None)
    features = set() if wanted is None else set(wanted)
    aside = {target, *(name for name in row_id if name not in features)}
    offered = [name for name in table.names if name not in aside]
    if wanted is None:  # fitted to an array, so columns are identified by position
        if len(offered) != model.n_features_in_:
            raise ValueError(
                f"{table.source} must have the {model.n_features_in_} columns of fit, which had no "
                f"names; got {len(offered)}. Leave out the others, or fit to a table with "
                "names."
            )
        return offered, []
    if target in set(wanted):
        raise ValueError(
            f"The target must be no feature of the model; got {target!r}. Name the column that the "
            "model predicts."
        )
    in_file, in_model = set(offered), set(wanted)
    absent = [repr(name) for name in wanted if name not in in_file]
    if absent:
        raise ValueError(
            f"{table.source} must have the columns that the model was fitted to; got none called "
            f"{join_names(absent)}. {_remedy(wanted, in_file, table.names)}"
        )
    extra = [repr(name) for name in offered if name not in in_model]
    note = [f"Columns that the model does not use: {join_names(extra)}."] if extra else []
    return [str(name) for name in wanted], note


def _remedy(wanted: Sequence[str], in_file: Collection[str], names: Sequence[str]) -> str:
    absent = next(str(name) for name in wanted if name not in in_file)
    close = nearest(absent, names)
    if close is not None:
        return f"Is {close!r} meant? Rename it in the header."
    return "Check the header and the delimiter, or the model with bevel inspect."


def _kinds(model: Any, names: Sequence[str]) -> dict[str, str]:
    """Type of each column in the fit; a nominal column of numbers is compared as numbers."""
    words = {
        feature
        for feature, levels in model.fitted_forest_.encoding.nominal.items()
        if not all(isinstance(label, int | float) for label in levels.labels)
    }
    return {
        name: "nominal" if feature in words else "numeric" for feature, name in enumerate(names)
    }


def _unseen_labels(model: Any, X: Columns) -> list[str]:
    """Notes on labels that fit has not seen, such as other spellings, which spoil predictions."""
    notes = []
    for feature, levels in model.fitted_forest_.encoding.nominal.items():
        seen, column = set(levels.labels), X.values[feature]
        strange = {label for label in column[~X.missing(feature)].tolist() if label not in seen}
        if strange:
            listed = join_names(sorted(map(shorten, strange)))
            notes.append(f"Labels of {X.names[feature]!r} that fit has not seen: {listed}.")
    return notes


def _read_target(
    model: Any, table: TableFile, target: str
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """True targets in the labels of the model, and which rows have one."""
    classes = getattr(model, "classes_", None)
    is_number = classes is None or classes.dtype.kind in "iuf"
    kind = "numeric" if is_number else "nominal"
    read = table.read([target], {target: kind}).columns
    column, known = read.values[0], ~read.missing(0)
    if classes is None:
        return column, known
    place = {(label if is_number else str(label)): k for k, label in enumerate(classes.tolist())}
    found = np.array([place.get(label, -1) for label in column.tolist()])
    strange = sorted({shorten(label) for label in column[known & (found < 0)].tolist()})
    if strange:
        raise ValueError(
            f"{table.source}: the target {target!r} must hold classes of the model "
            f"({join_names([str(label) for label in classes])}); got {join_names(strange)}. Name "
            "the column that the model predicts, or leave these rows out."
        )
    return classes[found], known
