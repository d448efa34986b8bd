"""Rows of a file for a saved model: the columns of fit are found again by name, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.columns import Columns
from bevel.errors import join_names, shorten
from bevel.workflow.table_file import TableFile, open_table

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
        Of each row in the file; the first one below the header is 1.
    notes : tuple of str
        What the user should know.
    """

    X: Columns
    y: npt.NDArray[Any] | None
    number: npt.NDArray[np.int64]
    notes: tuple[str, ...]


def read_model_rows(
    model: Any, path: Path, *, target: str | None = None, header: bool | None = None
) -> ModelRows:
    """Read the rows of a table for a model.

    Parameters
    ----------
    model : fitted estimator
        As `bevel.load` returns it.
    path : Path
        CSV, TSV or Parquet with the columns of fit; others are left out with a note.
    target : str, default=None
        Column of true targets, of classes or of the kind that the model knows; rows that miss it
        are left out with a note.
    header : bool, default=None
        Whether the first line holds names; None looks.
    """
    table = open_table(path, header=header)
    names, unused = _columns_of_fit(model, table, target)
    X, _ = table.read(names, _kinds(model, names))
    X = Columns(tuple(getattr(model, "feature_names_in_", names)), X.values)
    if len(X) == 0:
        raise ValueError(f"{path} must have at least one row to predict; got none. Add rows.")
    notes = [*table.notes, *unused, *_strange_labels(model, X)]
    number = np.arange(1, len(X) + 1)
    if target is None:
        return ModelRows(X, None, number, tuple(notes))
    y, known = _read_target(model, table, target)
    if not known.any():
        raise ValueError(
            f"{path}: the target {target!r} must have values; all rows miss it. Check the column, "
            "or leave `target` out."
        )
    if not known.all():
        notes.append(f"{int((~known).sum()):,} rows without a target are left out.")
    return ModelRows(X.rows(known), y[known], number[known], tuple(notes))


def _columns_of_fit(
    model: Any, table: TableFile, target: str | None
) -> tuple[list[str], list[str]]:
    """Names of the file's columns in the order of fit, and a note on those that are not used."""
    if target is not None:
        table.check_present([target])
    offered = [name for name in table.names if name != target]
    wanted = getattr(model, "feature_names_in_", None)
    if wanted is None:  # fitted to an array: only the positions say which is which
        if len(offered) != model.n_features_in_:
            raise ValueError(
                f"{table.path} must have the {model.n_features_in_} columns of fit, which had no "
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
            f"{table.path} must have the columns that the model was fitted to; got none called "
            f"{join_names(absent)}. Check the header, or the model with bevel inspect."
        )
    extra = [repr(name) for name in offered if name not in in_model]
    note = [f"Columns that the model does not use: {join_names(extra)}."] if extra else []
    return [str(name) for name in wanted], note


def _kinds(model: Any, names: Sequence[str]) -> dict[str, str]:
    """What fit saw in each column; a nominal column of numbers is compared as numbers."""
    words = {
        feature
        for feature, levels in model.fitted_forest_.encoding.nominal.items()
        if not all(isinstance(label, int | float) for label in levels.labels)
    }
    return {
        name: "nominal" if feature in words else "numeric" for feature, name in enumerate(names)
    }


def _strange_labels(model: Any, X: Columns) -> list[str]:
    """Notes on labels that fit has not seen: another spelling would spoil predictions quietly."""
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
    """True targets as the model writes them, and which rows have one."""
    classes = getattr(model, "classes_", None)
    is_number = classes is None or classes.dtype.kind in "iuf"
    read, _ = table.read([target], {target: "numeric" if is_number else "nominal"})
    column, known = read.values[0], ~read.missing(0)
    if classes is None:
        return column, known
    place = {(label if is_number else str(label)): k for k, label in enumerate(classes.tolist())}
    found = np.array([place.get(label, -1) for label in column.tolist()])
    strange = sorted({shorten(label) for label in column[known & (found < 0)].tolist()})
    if strange:
        raise ValueError(
            f"{table.path}: the target {target!r} must hold classes that the model knows "
            f"({join_names([str(label) for label in classes])}); got {join_names(strange)}. Name "
            "the column that the model predicts, or leave these rows out."
        )
    return classes[found], known
