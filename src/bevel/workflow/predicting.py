"""Predictions for a file of rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.tables.options import Source, TableOptions
from bevel.workflow.rows import read_model_rows

__all__ = ["Predictions", "out_of_bag_predictions", "predict_file"]


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
        Class probabilities, if requested.
    notes : tuple of str
        Notes for the user.
    interval : ndarray of shape (n_rows, 2), or None
        Ends of the prediction intervals, if requested.
    ids : mapping of str to ndarray of object
        Columns of the file that name the rows.
    outputs : sequence of str
        Names of several outputs, which are columns of `values`; empty for one output.
    scores : ndarray of shape (n_rows,), or None
        Scores of an isolation forest, from `score_samples`.
    """

    values: npt.NDArray[Any]
    classes: Sequence[str]
    probabilities: npt.NDArray[np.float64] | None
    notes: tuple[str, ...]
    interval: Floats | None = None
    ids: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    outputs: Sequence[str] = ()
    scores: Floats | None = None

    def to_csv(self) -> str:
        """One line per row: its names, the prediction, then other requested values."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names, columns = list(self.ids), [words.tolist() for words in self.ids.values()]
        names += self._names_of_values()
        columns += [self.values.tolist()] if self.values.ndim == 1 else self.values.T.tolist()
        if self.scores is not None:
            names.append("score")
            columns.append([f"{each:.6g}" for each in self.scores])
        if self.interval is not None:
            names += ["lower", "upper"]
            columns += [[f"{each:.10g}" for each in end] for end in self.interval.T]
        if self.probabilities is not None:
            names += [f"proba_{name}" for name in self.classes]
            columns += [[f"{each:.6g}" for each in share] for share in self.probabilities.T]
        writer.writerow(names)
        writer.writerows(zip(*columns, strict=True))
        return text.getvalue()

    def _names_of_values(self) -> list[str]:
        return [f"prediction_{name}" for name in self.outputs] or ["prediction"]


def out_of_bag_predictions(found: Any) -> Predictions:
    """Out-of-bag predictions of the rows of a `FitResult`, beside their targets."""
    if found.out_of_bag is None:
        raise ValueError(
            "Out-of-bag predictions need trees that leave rows out; with this projection each is "
            "grown on all rows. Choose another projection, or predict other rows."
        )
    rows, estimates = found.rows, found.out_of_bag
    targets = {**rows.ids, rows.target: rows.y}
    if len(rows.classes) == 0:
        return Predictions(estimates, [], None, (), ids=targets)
    known = ~np.isnan(estimates).any(axis=1)
    predicted = np.where(known, rows.classes[np.nan_to_num(estimates).argmax(axis=1)], "")
    classes = [str(label) for label in rows.classes]
    return Predictions(predicted, classes, estimates, (), ids=targets)


def predict_file(
    model: Any,
    path: Path | Source,
    *,
    proba: bool = False,
    interval: float | None = None,
    row_id: Sequence[str] = (),
    options: TableOptions | None = None,
) -> Predictions:
    """Predict the rows of a table.

    Parameters
    ----------
    model : fitted estimator
        Model from `bevel.load`.
    path : Path or Source
        CSV, TSV or Parquet with the columns of fit; others are left out with a note.
    proba : bool, default=False
        Whether to give class probabilities too.
    interval : float, default=None
        Share of the rows that a prediction interval is to cover.
    row_id : sequence of str
        Columns that name rows, kept in `ids`.
    options : TableOptions, default=None
        Format of the file.
    """
    classes = getattr(model, "classes_", None)
    if proba and classes is None:
        raise ValueError(
            "`proba` must be used with a classifier; the model is a regressor. Leave it out, or "
            "ask for an `interval`."
        )
    if interval is not None:
        _check_interval(model, classes)
    if getattr(model, "n_outputs_", 1) > 1:
        return _predict_outputs(model, path, proba, row_id, options)
    rows = read_model_rows(model, path, row_id=row_id, options=options)
    return Predictions(
        model.predict(rows.X),
        [] if classes is None else [str(label) for label in classes],
        model.predict_proba(rows.X) if proba else None,
        rows.notes,
        None if interval is None else model.predict_interval(rows.X, interval),
        rows.ids,
        scores=model.score_samples(rows.X) if hasattr(model, "score_samples") else None,
    )


def _predict_outputs(
    model: Any,
    path: Path | Source,
    proba: bool,
    row_id: Sequence[str],
    options: TableOptions | None,
) -> Predictions:
    """Predictions of several outputs; the columns of probabilities are named OUTPUT_CLASS."""
    rows = read_model_rows(model, path, row_id=row_id, options=options)
    names = model.output_names_
    classes: list[str] = []
    if proba:
        for name, labels in zip(names, model.classes_, strict=True):
            classes += [f"{name}_{label}" for label in labels]
    shares = np.hstack(model.predict_proba(rows.X)) if proba else None
    return Predictions(
        model.predict(rows.X), classes, shares, rows.notes, ids=rows.ids, outputs=names
    )


def _check_interval(model: Any, classes: npt.NDArray[Any] | None) -> None:
    if classes is not None:
        raise ValueError(
            "`interval` must be used with a regressor; the model is a classifier. Leave it out, or "
            "ask for `proba`."
        )
    if model.fitted_forest_.additive is not None:
        return  # boosting raises an error of its own
    if model.fitted_forest_.targets is None:
        raise ValueError(
            "`interval` needs a model that keeps the training targets; this one does not. Fit it "
            "again with `keep_targets`."
        )
