"""Predictions of the rows of a file, and how they are written as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats

__all__ = ["Predictions"]


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
    classes: Sequence[str] = ()
    probabilities: npt.NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    interval: Floats | None = None
    ids: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    outputs: Sequence[str] = ()
    scores: Floats | None = None

    def to_csv(self) -> str:
        """One line per row: its names, the prediction, then other requested values."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names, columns = list(self.ids), [words.tolist() for words in self.ids.values()]
        names += [f"prediction_{name}" for name in self.outputs] or ["prediction"]
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
