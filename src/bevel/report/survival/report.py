"""The report of one survival forest: a summary, followed by the details."""

from __future__ import annotations

import json
import shlex

import numpy as np

from bevel.report.data_sheet import data_columns
from bevel.report.explain_sections import explain_sections
from bevel.report.headline import survival_feature_sentence, survival_sentence
from bevel.report.page import (
    PageSection,
    beside,
    bullets,
    code,
    definitions,
    page,
    paragraph,
)
from bevel.report.score_text import number
from bevel.report.survival.sections import groups_picture, survival_sections
from bevel.workflow.explaining import Explanation, OnStep
from bevel.workflow.survival.explaining import explain_survival
from bevel.workflow.survival.fitting import SurvivalFit

__all__ = ["survival_report"]


def survival_report(
    name: str,
    fitted: SurvivalFit,
    command: str,
    *,
    model_file: str = "",
    on_step: OnStep = lambda *_: None,
) -> str:
    """Write the page of a survival forest.

    Parameters
    ----------
    name : str
        Name of the data.
    fitted : SurvivalFit
        The forest and its rows.
    command : str
        The command that makes the page again.
    model_file : str, default=""
        Path of the model file; empty if there is none.
    on_step : callable
        Called with the number of steps done and the name of the next.
    """
    rows, model = fitted.rows, fitted.model
    found = explain_survival(
        model,
        rows.X,
        fitted.target,
        weights=rows.weights,
        number=rows.number,
        seed=fitted.seed or 0,
        on_step=on_step,
    )
    sections = [
        PageSection("", _opening(found)),
        *survival_sections(found.survival, found.row_kind, with_groups=False),
        *explain_sections(found),
        PageSection("Data", _data(fitted)),
        PageSection("How to use it", _use(model_file)),
    ]
    forest = f"{model.forest_.n_trees:,} trees, seed {fitted.seed}"
    title = f"Time until {fitted.event_column}, predicted from {name}"
    return page(title, sections, command, subtitle=f"A survival forest of {forest}.")


def _opening(found: Explanation) -> str:
    """Summary sentences, beside the risk groups."""
    survival = found.survival
    assert survival is not None
    sentences = [survival_feature_sentence(found.importances[-1])]
    if survival.scores is not None:
        by = "out-of-bag" if found.row_kind == "out-of-bag" else "in-bag, on training rows"
        sentences.insert(0, survival_sentence(survival.scores, by))
    if survival.groups is not None:
        sentences.insert(
            1, _groups_sentence(survival.groups.names, survival.groups.observed[:, -1])
        )
    words = "".join(paragraph(each, kind="lead") for each in sentences)
    return words if survival.groups is None else beside(words, groups_picture(survival.groups))


def _groups_sentence(names: tuple[str, ...], left: np.ndarray) -> str:
    lowest, highest = 100 * float(left[0]), 100 * float(left[-1])
    return (
        f"At the end of the picture {lowest:.0f} % of the group of {names[0]} and {highest:.0f} % "
        f"of the group of {names[-1]} are without the event."
    )


def _data(fitted: SurvivalFit) -> str:
    rows, target = fitted.rows, fitted.target
    n_rows, n_features = rows.X.shape
    events = int(target.event.sum())
    cells = n_rows * n_features
    n_missing = sum(int(rows.X.missing(index).sum()) for index in range(n_features))
    low, middle, high = np.quantile(target.time, [0.0, 0.5, 1.0])
    lines = {
        "rows": f"{n_rows:,}",
        "features": f"{n_features:,}, {len(rows.X.nominal):,} of them nominal",
        "missing": f"{n_missing:,} of {cells:,} cells ({100 * n_missing / cells:.1f} %)",
        "events": f"{events:,} of {n_rows:,} rows ({100 * events / n_rows:.1f} %); the others are "
        "censored",
        "time": f"{rows.target}, {number(low)} to {number(high)}, median {number(middle)}",
    }
    if target.cause is not None:
        counts = np.bincount(target.cause, minlength=target.n_causes + 1)[1:]
        words = ", ".join(f"{n:,} of cause {k}" for k, n in enumerate(counts, 1))
        lines["causes"] = f"{words}; curves and scores are of all causes together"
    if target.entry is not None:
        n_late = int((target.entry > 0.0).sum())
        lines["entry"] = f"{fitted.entry_column}, above 0 in {n_late:,} rows, which are seen since"
    remarks = bullets(rows.notes) if rows.notes else ""
    return definitions(lines) + remarks + data_columns(rows.X, fitted.model)


def _use(model_file: str) -> str:
    """Lines of Python and a command."""
    file = model_file or "model.bevel"
    lines = [
        "import bevel, pandas as pd",
        f"model = bevel.load({json.dumps(file, ensure_ascii=False)})",
        'rows = pd.read_csv("new.csv")[model.feature_names_in_]',
        "print(model.predict(rows))  # risks",
        "print(model.predict_median(rows))  # times",
        "print(model.predict_survival_function(rows, times=[1.0, 2.0], return_array=True))",
    ]
    command = f"bevel predict {shlex.quote(file)} new.csv --out risks.csv"
    note = "" if model_file else "The model was not kept: add --out model.bevel to the command. "
    text = (
        f"{note}New rows need columns of the same names, in any order. A risk is the number of "
        "events to be expected if all training rows were like the row."
    )
    return paragraph(text) + code("\n".join(lines)) + code(command)
