"""Tables of several pages: the data sheet, with the columns that were read and left out, and the
families of directions of a model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel.data.tables import Columns
from bevel.data.values import day_text
from bevel.forest.records import FamilyRecord, not_compared, size_note
from bevel.report.headline import number
from bevel.report.page import TableCell, bullets, definitions, paragraph, table
from bevel.report.tasks import family_rows, words_of_model
from bevel.workflow.advice import MODEL, Advice, points
from bevel.workflow.rows import LabelledRows
from bevel.workflow.scores import Estimate

__all__ = [
    "advice_table",
    "data_sheet",
    "family_table",
]

MAX_LINES = 200
N_EXAMPLES = 3  # labels shown for a nominal column


def data_sheet(data: LabelledRows, model: Any) -> str:
    """Size, notes on how the file was read, the target, and a line for each column."""
    words = words_of_model(model)
    n_rows, n_features = data.X.shape
    cells = n_rows * n_features
    n_missing = sum(int(data.X.missing(index).sum()) for index in range(n_features))
    share = 100.0 * n_missing / cells
    gaps = "under 0.1" if 0.0 < share < 0.05 else f"{share:.1f}"
    lines: dict[str, object] = {
        "rows": f"{n_rows:,}",
        "features": f"{n_features:,}, {len(data.X.nominal):,} of them nominal",
        "missing": f"{n_missing:,} of {cells:,} cells ({gaps} %)",
        **words.target_lines(data, n_missing),
    }
    remarks = bullets(data.notes) if data.notes else ""
    if not remarks:
        remarks = paragraph("No row and no column was left out.", kind="note")
    columns = _columns(data.X, model, words.column_importance())
    return f"{definitions(lines)}{remarks}{words.target_table(data)}{columns}"


def _columns(X: Columns, model: Any, caption: str) -> str:
    """A table with a line for each column."""
    importances = model.feature_importances_
    order = np.argsort(-importances, kind="stable")[:MAX_LINES]
    left_out = [read_as.partition("left out: ")[2] for read_as in model.columns_.read_as]
    rows = [
        _column_cells(X, int(index), float(importances[index]), left_out[index]) for index in order
    ]
    if X.shape[1] > MAX_LINES:
        caption = f"The {MAX_LINES} most important of {X.shape[1]:,} columns. {caption}"
    header = ["column", "importance", "kind", "missing", "distinct", "values"]
    return table(header, rows, caption=caption)


def _column_cells(X: Columns, index: int, importance: float, left_out: str) -> list[object]:
    """A line of the table; left_out: why the model leaves the column out, empty if it does not."""
    absent = X.missing(index)
    present = X.values[index][~absent]
    share = float(absent.mean())
    if left_out == "free text":
        kind, n_distinct, values = "free text", len(set(present)), ""
    elif index in set(X.nominal):
        labels, counts = np.unique(present.astype(np.str_), return_counts=True)
        frequent = labels[np.argsort(-counts, kind="stable")]
        values = ", ".join(frequent[:N_EXAMPLES]) + (" …" if len(labels) > N_EXAMPLES else "")
        kind, n_distinct = "nominal", len(labels)
    else:
        kind, n_distinct = "numeric", len(np.unique(present))
        low, middle, high = np.quantile(present, [0.0, 0.5, 1.0])
        if X.names[index] in X.truths:
            kind, values = "yes or no", f"yes in {100 * float(present.mean()):.1f} %"
        elif X.names[index] in X.dates:
            kind, values = "date", f"{day_text(low)} to {day_text(high)}, median {day_text(middle)}"
        else:
            values = f"{number(low)} to {number(high)}, median {number(middle)}"
    if left_out:
        values = "left out" if kind == left_out else f"left out: {left_out}"
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
    header, rows = family_rows(record.as_dict()["families"], words_of_model(model))
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
    return table(
        ["model", f"{advice.task.loss}, %", "gain"],
        rows,
        caption=caption,
        numeric={1, 2},
        sortable=False,
    )


def _gain_cell(gain: Estimate | None) -> TableCell:
    if gain is None:
        return TableCell("")
    return TableCell(f"{points(gain.low, '+')} to {points(gain.high, '+')}", gain.value)
