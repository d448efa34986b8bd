"""The page of `bevel explain`, which describes a forest and explains its predictions."""

from __future__ import annotations

from typing import Any

from bevel.errors import join_names, shorten
from bevel.report.explain_sections import explain_sections
from bevel.report.family_table import family_table
from bevel.report.fit_predictions import truth_and_predictions
from bevel.report.headline import (
    feature_sentence,
    quality_sentence,
    survival_feature_sentence,
    survival_sentence,
)
from bevel.report.page import PageSection, TableCell, beside, page, paragraph, table
from bevel.report.score_text import interval, score
from bevel.report.survival.sections import groups_picture, survival_sections
from bevel.workflow.explaining import Explanation
from bevel.workflow.labelled_rows import CLASSIFICATION, REGRESSION

__all__ = ["describe_model", "describe_rows", "explain_report"]

BY = {"new": "", "out-of-bag": "out-of-bag", "grown on": "in-bag, of training rows"}
IF_TRAINED = "If these are training rows, it predicts new rows less well."
QUALITY = {CLASSIFICATION: ("error",), REGRESSION: ("R²", "mean absolute error")}
BOOSTED_ROWS = "Boosting has no rows out of bag: scores of its training rows are too good."
ROW_KINDS = {
    "new": "If these are training rows, scores are in-bag: too optimistic.",
    "out-of-bag": "The forest was grown on these rows; each is predicted by the trees that have "
    "not seen it.",
    "grown on": "The forest was grown on these rows, all trees on all of them: "
    "scores are in-bag, those of training rows.",
}


def explain_report(name: str, data: str, found: Explanation, command: str) -> str:
    """Write the page of an explanation.

    Parameters
    ----------
    name, data : str
        Names of the model and of the rows.
    found : Explanation
        The results to write.
    command : str
        Command that makes the page again.
    """
    sections = [PageSection("", _opening(data, found))]
    sections += survival_sections(found.survival, found.row_kind, with_groups=False)
    if found.scores and not found.is_survival:
        sections.append(PageSection("How good is it?", _scores(found)))
    sections += explain_sections(found)
    families = family_table(found.model)
    if families:
        sections.append(PageSection("Which directions?", families))
    return page(f"{name}, explained on {data}", sections, command, subtitle="")


def _opening(data: str, found: Explanation) -> str:
    """Description, quality and most important features of the model, with a figure."""
    if found.is_survival:
        return _survival_opening(data, found)
    task = REGRESSION if found.classes is None else CLASSIFICATION
    sentences = [
        f"{describe_model(found.model)} {describe_rows(data, found)}",
        feature_sentence(found.importances[-1], task),
    ]
    if (
        found.truth is None
        or found.predicted is None
        or not set(QUALITY[task]) <= set(found.scores)
    ):
        return "".join(paragraph(each, kind="lead") for each in sentences)
    by = BY[found.row_kind]
    y = found.truth if found.classes is None else found.classes[found.truth]
    quality = quality_sentence(found.scores, by or "on these rows", y, task, found.target)
    if not by:
        quality += f" {IF_TRAINED}"
    lead = [quality, sentences[1], sentences[0]]
    seen = found.predicted[:, 0] if found.classes is None else found.predicted
    picture = truth_and_predictions(found.truth, seen, found.classes, found.target, by)
    return beside("".join(paragraph(each, kind="lead") for each in lead), picture)


def _survival_opening(data: str, found: Explanation) -> str:
    survival = found.survival
    sentences = [
        survival_feature_sentence(found.importances[-1]),
        f"{describe_model(found.model)} {describe_rows(data, found)}",
    ]
    if survival is not None and survival.scores is not None:
        by = BY[found.row_kind]
        quality = survival_sentence(survival.scores, by or "on these rows")
        sentences.insert(0, quality if by else f"{quality} {IF_TRAINED}")
    words = "".join(paragraph(each.strip(), kind="lead") for each in sentences)
    if survival is None or survival.groups is None:
        return words
    return beside(words, groups_picture(survival.groups))


def _scores(found: Explanation) -> str:
    rows = [
        [name, TableCell(score(name, each)), TableCell(interval(name, each))]
        for name, each in found.scores.items()
    ]
    header = ["score", BY[found.row_kind] or "value", "95 % interval"]
    caption = BOOSTED_ROWS if found.adds_up else ROW_KINDS[found.row_kind]
    return table(header, rows, numeric={1, 2}, caption=caption, sortable=False)


def describe_model(model: Any) -> str:
    """Description of the forest, in one sentence."""
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
    """Description of the rows of the explanation."""
    rows = f"{found.n_rows:,} row{'' if found.n_rows == 1 else 's'} of {data}"
    if found.n_used == found.n_rows:
        return f"Explained on the {rows}."
    return f"Explained on {found.n_used:,} of the {rows}."
