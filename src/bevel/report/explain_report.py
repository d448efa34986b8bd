"""The page of `bevel explain`: what a forest is, and why it predicts what it predicts."""

from __future__ import annotations

from typing import Any

from bevel.errors import join_names, shorten
from bevel.report.explain_sections import explain_sections
from bevel.report.family_table import family_table
from bevel.report.headline import feature_sentence, survival_feature_sentence
from bevel.report.page import PageSection, page, paragraph
from bevel.report.score_text import score_line
from bevel.report.survival.sections import survival_sections
from bevel.workflow.explaining import Explanation
from bevel.workflow.labelled_rows import CLASSIFICATION, REGRESSION

__all__ = ["describe_model", "describe_rows", "explain_report"]

ROW_KINDS = {
    "new": "If the model was trained on these rows, scores are too optimistic.",
    "out-of-bag": "The forest was grown on these rows; each is predicted by the trees that have "
    "not seen it.",
    "grown on": "The forest was grown on these rows, all trees on all of them: "
    "scores are those of training rows.",
}


def explain_report(name: str, data: str, found: Explanation, command: str) -> str:
    """The page.

    Parameters
    ----------
    name, data : str
        Of the model and of the rows.
    found : Explanation
        The results to write.
    command : str
        What makes the page again.
    """
    opening = PageSection("", _opening(data, found))
    sections = [opening, *survival_sections(found.survival, found.row_kind)]
    sections += explain_sections(found)
    families = family_table(found.model)
    if families:
        sections.append(PageSection("Which directions?", families))
    return page(f"{name}, explained on {data}", sections, command, subtitle="")


def _opening(data: str, found: Explanation) -> str:
    scores = [f"{name} {score_line(name, each)}" for name, each in found.scores.items()]
    parts = [
        paragraph(describe_model(found.model), kind="lead"),
        paragraph(describe_rows(data, found)),
    ]
    if scores:
        parts.append(paragraph(f"{_first_up('; '.join(scores))}. {ROW_KINDS[found.row_kind]}"))
    if found.is_survival:
        parts.append(paragraph(survival_feature_sentence(found.importances[-1])))
        return "".join(parts)
    task = CLASSIFICATION if hasattr(found.model, "classes_") else REGRESSION
    parts.append(paragraph(feature_sentence(found.importances[-1], task)))
    return "".join(parts)


def describe_model(model: Any) -> str:
    """What the forest is, in one sentence."""
    forest = model.forest_
    trees = "one tree" if forest.n_trees == 1 else f"{forest.n_trees:,} trees"
    adds_up = model.fitted_forest_.additive is not None
    kind = "Gradient boosting" if adds_up else "A forest"
    n_features = model.n_features_in_
    by = f"{n_features:,} feature{'' if n_features == 1 else 's'}"
    chosen = (
        shorten(model.projection) if not isinstance(model.projection, str) else model.projection
    )
    if model.fitted_forest_.survival is not None:
        return f"{kind} of {trees} that predicts survival from {by}, projection {chosen}."
    if not hasattr(model, "classes_"):
        return f"{kind} of {trees} that predicts a number from {by}, projection {chosen}."
    classes = join_names([str(label) for label in model.classes_])
    n_classes = len(model.classes_)
    return (
        f"{kind} of {trees} that predicts {n_classes} class{'' if n_classes == 1 else 'es'} "
        f"({classes}) from {by}, projection {chosen}."
    )


def describe_rows(data: str, found: Explanation) -> str:
    """Which rows it is explained on."""
    rows = f"{found.n_rows:,} row{'' if found.n_rows == 1 else 's'} of {data}"
    if found.n_used == found.n_rows:
        return f"Explained on the {rows}."
    return f"Explained on {found.n_used:,} of the {rows}."


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]
