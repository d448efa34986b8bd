"""Predictions for a file of rows: the columns of fit are found again by name, in any order."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.columns import Columns
from bevel.errors import join_names
from bevel.lab.table_file import TableFile, open_table

__all__ = ["Predictions", "predict_file"]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Answers for each row of a file.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Classes or numbers.
    classes : sequence of str
        Names of the columns of `probabilities`.
    probabilities : ndarray of shape (n_rows, n_classes), or None
        If asked for.
    notes : tuple of str
        What the user should be told.
    """

    values: npt.NDArray[Any]
    classes: Sequence[str]
    probabilities: npt.NDArray[np.float64] | None
    notes: tuple[str, ...]

    def to_csv(self) -> str:
        """One line per row: the prediction, then the probabilities if there are any."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = [f"proba_{name}" for name in self.classes] if self.probabilities is not None else []
        writer.writerow(["prediction", *names])
        if self.probabilities is None:
            writer.writerows([value] for value in self.values.tolist())
        else:
            pairs = zip(self.values.tolist(), self.probabilities.tolist(), strict=True)
            writer.writerows([value, *(f"{each:.6g}" for each in row)] for value, row in pairs)
        return text.getvalue()


def predict_file(
    model: Any, path: Path, *, proba: bool = False, header: bool | None = None
) -> Predictions:
    """Predict the rows of a table.

    Parameters
    ----------
    model : fitted estimator
        As `bevel.load` returns it.
    path : Path
        CSV, TSV or Parquet with the columns of fit; others are left out with a note.
    proba : bool, default=False
        Whether to give class probabilities too.
    header : bool, default=None
        Whether the first line holds names; None looks.
    """
    classes = getattr(model, "classes_", None)
    if proba and classes is None:
        raise ValueError(
            "--proba must be used with a classifier; the model is a regressor. Leave it out."
        )
    table = open_table(path, header=header)
    names, notes = _columns_of_fit(model, table)
    kinds = _kinds(model, names)
    X, _ = table.read(names, kinds)
    X = Columns(_names_for(model, names), X.values)
    if len(X) == 0:
        raise ValueError(f"{path} must have at least one row to predict; got none. Add rows.")
    return Predictions(
        model.predict(X),
        [] if classes is None else [str(label) for label in classes],
        model.predict_proba(X) if proba else None,
        (*table.notes, *notes),
    )


def _columns_of_fit(model: Any, table: TableFile) -> tuple[list[str], list[str]]:
    """Names of the file's columns in the order of fit, and a note on those that are not used."""
    wanted = getattr(model, "feature_names_in_", None)
    if wanted is None:  # fitted to an array: only the positions say which is which
        if len(table.names) != model.n_features_in_:
            raise ValueError(
                f"{table.path} must have the {model.n_features_in_} columns of fit, which had no "
                f"names; got {len(table.names)}. Leave out the others, or fit to a table with "
                "names."
            )
        return list(table.names), []
    in_file, in_model = set(table.names), set(wanted)
    absent = [repr(name) for name in wanted if name not in in_file]
    if absent:
        raise ValueError(
            f"{table.path} must have the columns that the model was fitted to; got none called "
            f"{join_names(absent)}. Check the header, or the model with bevel inspect."
        )
    extra = [repr(name) for name in table.names if name not in in_model]
    note = [f"Columns that the model does not use: {join_names(extra)}."] if extra else []
    return [str(name) for name in wanted], note


def _names_for(model: Any, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(getattr(model, "feature_names_in_", names))


def _kinds(model: Any, names: Sequence[str]) -> dict[str, str]:
    """What fit saw in each column; a nominal column of numbers is compared as numbers."""
    words = {
        feature
        for feature, levels in model._encoding.nominal.items()
        if not all(isinstance(label, int | float) for label in levels.labels)
    }
    return {
        name: "nominal" if feature in words else "numeric" for feature, name in enumerate(names)
    }
