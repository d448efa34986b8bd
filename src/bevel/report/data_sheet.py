"""The data sheet of a page: the columns read, those left out, and how gaps are filled."""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel.data.columns import Columns
from bevel.report.page import TableCell, bullets, definitions, paragraph, table
from bevel.report.score_text import number
from bevel.workflow.labelled_rows import CLASSIFICATION, LabelledRows

__all__ = ["data_columns", "data_sheet"]

MOST_LINES = 200
N_EXAMPLES = 3  # labels shown for a nominal column


def data_sheet(data: LabelledRows, model: Any) -> str:
    """Size, notes on how the file was read, the target, and a line for each column."""
    remarks = bullets(data.notes) if data.notes else ""
    if not remarks:
        remarks = paragraph("No row and no column was left out.", kind="note")
    return _size(data) + remarks + _target(data) + data_columns(data.X, model)


def _size(data: LabelledRows) -> str:
    n_rows, n_features = data.X.shape
    cells = n_rows * n_features
    n_missing = sum(int(data.X.missing(index).sum()) for index in range(n_features))
    lines: dict[str, object] = {
        "rows": f"{n_rows:,}",
        "features": f"{n_features:,}, {len(data.X.nominal):,} of them nominal",
        "missing": f"{n_missing:,} of {cells:,} cells ({100 * n_missing / cells:.1f} %)",
        "task": data.task,
    }
    if n_missing:
        lines["filled"] = (
            "nothing in the table; where numeric columns are combined, a missing value counts as "
            "the median of the training rows, also when predicting"
        )
    if data.task != CLASSIFICATION:
        low, middle, high = np.quantile(data.y, [0.0, 0.5, 1.0])
        lines["target"] = f"{data.target}, {number(low)} to {number(high)}, median {number(middle)}"
    return definitions(lines)


def _target(data: LabelledRows) -> str:
    if data.task != CLASSIFICATION:
        return ""
    classes, counts = np.unique(data.y, return_counts=True)
    rows = [
        [str(label), int(count), TableCell(f"{100 * count / len(data.y):.1f}", float(count))]
        for label, count in zip(classes, counts, strict=True)
    ]
    return table(["class", "rows", "%"], rows, caption=f"The target, {data.target}.")


def data_columns(X: Columns, model: Any) -> str:
    """A table with a line for each column."""
    importances = model.feature_importances_
    order = np.argsort(-importances, kind="stable")[:MOST_LINES]
    rows = [_column_cells(X, int(index), float(importances[index])) for index in order]
    adds_up = model.fitted_forest_.additive is not None
    what = "loss" if adds_up else "impurity"
    caption = f"Importance is the share of the {what} that splits on the column remove."
    if model.fitted_forest_.survival is not None:
        caption = "Importance is the share of splits on the column in all log-rank statistics."
    if X.shape[1] > MOST_LINES:
        caption = f"The {MOST_LINES} most important of {X.shape[1]:,} columns. {caption}"
    header = ["column", "importance", "kind", "missing", "distinct", "values"]
    return table(header, rows, caption=caption)


def _column_cells(X: Columns, index: int, importance: float) -> list[object]:
    absent = X.missing(index)
    present = X.values[index][~absent]
    share = float(absent.mean())
    if index in set(X.nominal):
        labels, counts = np.unique(present.astype(np.str_), return_counts=True)
        frequent = labels[np.argsort(-counts, kind="stable")]
        values = ", ".join(frequent[:N_EXAMPLES]) + (" …" if len(labels) > N_EXAMPLES else "")
        kind, n_distinct = "nominal", len(labels)
    else:
        low, middle, high = np.quantile(present, [0.0, 0.5, 1.0])
        values = f"{number(low)} to {number(high)}, median {number(middle)}"
        kind, n_distinct = "numeric", len(np.unique(present))
    missing = TableCell(f"{100 * share:.1f} %" if share else "", share)
    return [
        X.names[index],
        TableCell(f"{importance:.4f}", importance),
        kind,
        missing,
        n_distinct,
        values,
    ]
