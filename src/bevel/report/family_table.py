"""The families of directions that share the trees of a model, as a table."""

from __future__ import annotations

from typing import Any

from bevel.forest.records.family_record import FamilyRecord, not_compared, size_note
from bevel.report.page import TableCell, paragraph, table
from bevel.report.score_text import family_rows
from bevel.workflow.advice import MODEL, Advice, points
from bevel.workflow.labelled_rows import CLASSIFICATION
from bevel.workflow.scores import Estimate

__all__ = ["advice_table", "family_table"]


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


def _size(advice: Advice) -> str:
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
        f"{advice.by.capitalize()}, {_size(advice)}with the same rows left out. "
        "Gain: 95 % interval of that over cuts along the axes, in points, paired row by row."
    )
    return table(["model", what, "gain"], rows, caption=caption, numeric={1, 2}, sortable=False)


def _gain_cell(gain: Estimate | None) -> TableCell:
    if gain is None:
        return TableCell("")
    return TableCell(f"{points(gain.low, '+')} to {points(gain.high, '+')}", gain.value)
