"""How to use the model of a page, in Python and on the command line."""

from __future__ import annotations

import json
import shlex

from bevel.report.page import code, paragraph
from bevel.workflow.labelled_rows import CLASSIFICATION, LabelledRows

__all__ = ["model_use"]


def model_use(data: LabelledRows, model_file: str) -> str:
    """Lines of Python and a command; also how to save the model if it was not saved."""
    file = model_file or "model.bevel"
    method = "predict_proba" if data.task == CLASSIFICATION else "predict"
    lines = [
        "import bevel, pandas as pd",
        f"model = bevel.load({json.dumps(file, ensure_ascii=False)})",
        'rows = pd.read_csv("new.csv")[model.feature_names_in_]',
        f"print(model.{method}(rows))",
    ]
    option = " --proba" if data.task == CLASSIFICATION else ""
    command = f"bevel predict {shlex.quote(file)} new.csv{option} --out predictions.csv"
    note = "" if model_file else "The model was not kept: add --out model.bevel to the command. "
    text = (
        f"{note}New rows need columns of the same names, in any order; the target may be missing. "
        "The command reads a file as this page's was read."
    )
    return paragraph(text) + code("\n".join(lines)) + code(command)
