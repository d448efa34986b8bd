"""Predictions for a file of rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.workflow.model_rows import read_model_rows

__all__ = ["Predictions", "predict_file"]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions for each row of a file.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Classes or numbers.
    classes : sequence of str
        Names of the columns of `probabilities`.
    probabilities : ndarray of shape (n_rows, n_classes), or None
        If requested.
    notes : tuple of str
        What the user should know.
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
            "`proba` must be used with a classifier; the model is a regressor. Leave it out."
        )
    rows = read_model_rows(model, path, header=header)
    return Predictions(
        model.predict(rows.X),
        [] if classes is None else [str(label) for label in classes],
        model.predict_proba(rows.X) if proba else None,
        rows.notes,
    )
