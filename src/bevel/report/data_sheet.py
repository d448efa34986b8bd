"""Tables of several pages: the data sheet, with the columns that were read and left out, and the
families of directions of a model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel.data.tables import Columns
from bevel.forest.records import FamilyRecord, not_compared, size_note
from bevel.report.headline import family_rows, number
from bevel.report.page import TableCell, bullets, definitions, paragraph, table
from bevel.workflow.advice import MODEL, Advice, points
from bevel.workflow.rows import CLASSIFICATION, LabelledRows
from bevel.workflow.scores import Estimate

__all__ = [
    "advice_table",
    "data_columns",
    "data_sheet",
    "family_table",
]

MAX_LINES = 200
N_EXAMPLES = 3  # labels shown for a nominal column


def data_sheet(data: LabelledRows, model: Any) -> str:
    """Size, notes on how the file was read, the target, and a line for each column."""
    remarks = bullets(data.notes) if data.notes else ""
    if not remarks:
        remarks = paragraph("No row and no column was left out.", kind="note")
    return _table_size(data) + remarks + _target(data) + data_columns(data.X, model)


def _table_size(data: LabelledRows) -> str:
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
    order = np.argsort(-importances, kind="stable")[:MAX_LINES]
    rows = [_column_cells(X, int(index), float(importances[index])) for index in order]
    adds_up = model.fitted_forest_.additive is not None
    what = "loss" if adds_up else "impurity"
    caption = f"Importance is the share of the {what} that splits on the column remove."
    if model.fitted_forest_.survival is not None:
        caption = "Importance is the share of splits on the column in all log-rank statistics."
    if X.shape[1] > MAX_LINES:
        caption = f"The {MAX_LINES} most important of {X.shape[1]:,} columns. {caption}"
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


OF_THE_MODEL = "The error of the model itself is among its scores."
ERROR_ALONE = (
    f" The error is out-of-bag and of a small forest, which chose the size of nodes. {OF_THE_MODEL}"
)
ERRORS = (
    " Errors are out-of-bag and of a small forest of each family alone; the shares of the trees "
    f"follow from them. {OF_THE_MODEL}"
)


def family_table(model: Any) -> str:
    """Table of the families of a model; empty if there is only one."""
    record = getattr(model, "families_", None)
    if record is None:
        return ""
    header, rows = family_rows(
        record.as_dict()["families"], is_classifier=hasattr(model, "classes_")
    )
    caption = _comparison(record)
    if record.min_samples_split > 2:
        note = size_note(record.min_samples_split)
        caption += f" {note[0].upper()}{note[1:]}."
    caption += "".join(f" {name} was left out: {why}." for name, why in record.left_out)
    return table(header, rows, caption=caption, numeric={1, 2, 3, 4}, sortable=False)


def _comparison(record: FamilyRecord) -> str:
    """The families, and the rows of their errors, in words."""
    compared = record.errors[0] == record.errors[0]
    if len(record.names) == 1:
        text = "The only family of directions that fits the table has all trees of this model."
        return text + ERROR_ALONE if compared else text
    text = "Families of directions that share the trees of this model."
    return text + (ERRORS if compared else f" They were {not_compared(len(record.names))}.")


def _forest_size(advice: Advice) -> str:
    return f"{advice.n_trees:,} trees each, " if advice.n_trees else ""


def advice_table(advice: Advice | None) -> str:
    """Table of the model and the forest that it is compared with."""
    if advice is None:
        return paragraph("There is nothing to compare.")
    what = "error, %" if advice.task == CLASSIFICATION else "unexplained variance, %"
    rows = [
        [
            line.forest if line.forest == MODEL else f"projection {line.forest}",
            TableCell(points(line.loss), line.loss),
            _gain_cell(line.gain),
        ]
        for line in advice.lines
    ]
    caption = (
        f"{advice.by.capitalize()}, {_forest_size(advice)}with the same rows left out. "
        "Gain: 95 % interval of that over cuts along the axes, in points, paired row by row."
    )
    return table(["model", what, "gain"], rows, caption=caption, numeric={1, 2}, sortable=False)


def _gain_cell(gain: Estimate | None) -> TableCell:
    if gain is None:
        return TableCell("")
    return TableCell(f"{points(gain.low, '+')} to {points(gain.high, '+')}", gain.value)
