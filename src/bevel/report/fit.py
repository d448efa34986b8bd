"""Results of `bevel fit`: printed lines, JSON and the page, for each task.

All figures are those of the model itself, from rows that its trees have not seen; only the forest
that it is compared with is grown for the page.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis import importance
from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.results import Importance
from bevel.forest.flat_forest import overview_lines
from bevel.forest.records import MemberRecord
from bevel.printable import rounded
from bevel.report import drawings
from bevel.report import explain as explain_figures
from bevel.report.data_sheet import advice_table, data_sheet, family_table
from bevel.report.explain import explain_sections, scores_table
from bevel.report.headline import interval, score, score_line
from bevel.report.page import (
    PageSection,
    TableCell,
    beside,
    code,
    definitions,
    figure,
    figures,
    page,
    paragraph,
    table,
)
from bevel.report.survival import survival_sections
from bevel.report.tasks import scored_rows, words_of, words_of_model
from bevel.workflow import FitResult
from bevel.workflow.advice import Advice, advise, rivals_of
from bevel.workflow.explaining import (
    MAX_EFFECT_ROWS,
    N_STEPS,
    Explanation,
    OnStep,
    draw_places,
    explain,
    find_main_effects,
)
from bevel.workflow.fitting import N_FOLDS
from bevel.workflow.rows import LabelledRows
from bevel.workflow.scores import as_json
from bevel.workflow.survival import concordance_estimate
from bevel.workflow.tasks import (
    Classification,
    Isolation,
    Regression,
    SeveralTargets,
    Survival,
    TableTask,
)

__all__ = ["fit_report", "n_steps", "result_writer"]


def fit_report(
    name: str,
    fitted: FitResult,
    command: str,
    *,
    model_file: str = "",
    on_step: OnStep = lambda *_: None,
) -> str:
    """Write the page of a fitted model.

    Parameters
    ----------
    name : str
        Name of the data.
    fitted : FitResult
        The model and its rows, with the out-of-bag curve.
    command : str
        The command that makes the page again.
    model_file : str, default=""
        Path of the model file; empty if there is none.
    on_step : callable
        Called with the number of steps done and the name of the next.
    """
    writer = result_writer(fitted)
    sections = [
        *writer.sections(fitted, on_step),
        PageSection("Data", data_sheet(writer.rows(fitted), fitted.model)),
        PageSection("How to use it", writer.use(fitted, model_file)),
    ]
    title = f"{writer.title(fitted)}, predicted from {name}"
    return page(title, sections, command, subtitle=f"{writer.subtitle(fitted)}.")


def n_steps(fitted: FitResult) -> int:
    """How many times `fit_report` reports progress."""
    return result_writer(fitted).n_steps(fitted)


class ResultWriter:
    """Writes the result of a fit."""

    def lines(self, fitted: FitResult, _projection: str) -> dict[str, str]:
        """Printed names and values; `projection` says where directions come from."""
        raise NotImplementedError

    def as_dict(self, fitted: FitResult) -> dict[str, Any]:
        """Values of the JSON document beside those that all fits have."""
        raise NotImplementedError

    def families(self, _fitted: FitResult) -> dict[str, Any] | None:
        """The families that share the trees, if they are printed."""
        return None

    def title(self, fitted: FitResult) -> str:
        """What is predicted."""
        raise NotImplementedError

    def subtitle(self, fitted: FitResult) -> str:
        """The model in short."""
        n_trees = fitted.model.forest_.n_trees
        return f"A forest of {n_trees:,} trees, seed {fitted.settings.seed}"

    def rows(self, fitted: FitResult) -> LabelledRows:
        """The rows that the data sheet describes."""
        return fitted.rows

    def n_steps(self, fitted: FitResult) -> int:
        """How many times `sections` reports progress."""
        raise NotImplementedError

    def sections(self, fitted: FitResult, on_step: OnStep) -> list[PageSection]:
        """The page, without the data and the use."""
        raise NotImplementedError

    def use(self, fitted: FitResult, model_file: str) -> str:
        """How to load the model and predict new rows."""
        words = words_of(self.rows(fitted).task)
        file = model_file or "model.bevel"
        lines = [
            "import bevel",
            f"model = bevel.load({json.dumps(file, ensure_ascii=False)})",
            'rows = bevel.read_table("new.csv", like=model)',
            *words.use_in_python,
        ]
        command = f"bevel predict {shlex.quote(file)} new.csv{words.use_of_command}"
        note = "The model was not kept: add --out model.bevel to the command. "
        text = "New rows need columns of the same names, in any order"
        return (
            paragraph(f"{'' if model_file else note}{text}{words.use_note}")
            + code("\n".join(lines))
            + code(command)
        )


def _grown(fitted: FitResult) -> str:
    return f"grown in {fitted.seconds:.2f} s"


def _forest_line(fitted: FitResult) -> str:
    return f"{fitted.model.forest_.n_trees:,} trees, {_grown(fitted)}"


class OneTargetWriter(ResultWriter):
    """Writes the fit of one target, classes or numbers."""

    def lines(self, fitted: FitResult, projection: str) -> dict[str, str]:
        """The target, the model and its scores."""
        rows, kind = fitted.rows, fitted.settings.kind
        lines = {
            "target": rows.describe_target(),
            kind.name: f"{kind.describe(fitted.model)}{kind.chosen(projection)}, {_grown(fitted)}",
        }
        for name, estimate in fitted.scores.items():
            lines[f"{fitted.scored_by} {name}"] = score_line(name, estimate)
        note = ""
        if fitted.out_of_bag is not None:
            note = words_of(rows.task).score_note(rows, fitted.out_of_bag)
        return lines | ({"": note} if note else {})

    def as_dict(self, fitted: FitResult) -> dict[str, Any]:
        """The target, its classes and the scores."""
        return {
            "target": fitted.rows.target,
            "classes": fitted.rows.classes,
            "scored": fitted.scored_by,
            "scores": as_json(fitted.scores),
            "families": self.families(fitted),
            "members": self.members(fitted),
        }

    def families(self, fitted: FitResult) -> dict[str, Any] | None:
        """The families that share the trees of a forest."""
        record = getattr(fitted.model, "families_", None)
        return None if record is None else record.as_dict()

    def members(self, fitted: FitResult) -> dict[str, Any] | None:
        """The models that are added up with weights, if there are several."""
        record = getattr(fitted.model, "members_", None)
        return None if record is None else record.as_dict()

    def title(self, fitted: FitResult) -> str:
        """The target."""
        return fitted.rows.target

    def subtitle(self, fitted: FitResult) -> str:
        """The model, its projection and its seed."""
        settings, kind = fitted.settings, fitted.settings.kind
        chosen = settings.projection
        drawn = " and ".join(map(str, chosen)) if isinstance(chosen, list | tuple) else str(chosen)
        what = f"{kind.phrase} {kind.describe(fitted.model)}"
        return f"{what}{kind.chosen(drawn)}, seed {settings.seed}"

    def n_steps(self, fitted: FitResult) -> int:
        """Forests to compare with, and steps of the explanation."""
        return len(rivals_of(fitted.rows, fitted.settings)) + N_STEPS

    def sections(self, fitted: FitResult, on_step: OnStep) -> list[PageSection]:
        """Accuracy first, then the explanation, the predictions and the directions."""
        data, settings, by = fitted.rows, fitted.settings, fitted.scored_by
        words = words_of(data.task)
        evaluated = np.asarray(fitted.scored)
        advice = advise(
            data,
            settings,
            fitted.model,
            evaluated,
            by=by,
            on_rival=lambda done, rival: on_step(done, f"comparing with {rival}"),
        )
        n_done = len(rivals_of(data, settings))
        found = explain(
            fitted.model,
            data.X,
            data.y,
            number=data.number,
            target_name=data.target,
            positive=fitted.positive,
            seed=settings.seed,
            on_step=lambda done, text: on_step(n_done + done, text),
        )
        if (
            not found.model.fitted_forest_.aggregation.has_bags
        ):  # permutation importance on training rows is too high
            found = replace(found, importances=found.importances[:1])
        members = getattr(fitted.model, "members_", None)
        oblique = (
            advice.sentence()
            if advice is not None
            else "Without two columns there is nothing to combine: all cuts are along axes."
            if members is None
            else _sentence_on_members(fitted, found.model)
        )
        sentences = [
            words.quality(fitted.scores, by, data.y, data.target),
            oblique,
            words.features(found.importances[-1]),
        ]
        lead = "".join(paragraph(each, kind="lead") for each in sentences)
        rows = scored_rows(data, evaluated, by)
        return [
            PageSection("", beside(lead, words.first_picture(rows))),
            PageSection("How good is it?", _scores(fitted, words.score_note(data, evaluated))),
            *([] if members is None else [PageSection("The members", _members(members))]),
            *explain_sections(found),
            PageSection("Predictions", words.predictions(rows, _curve(fitted))),
            PageSection("Mistakes", words.mistakes(rows)),
            PageSection("Which directions?", _directions(found.model, members, advice)),
        ]


def _sentence_on_members(fitted: FitResult, explained: Any) -> str:
    """The weights, and which of the models the page explains."""
    weights = fitted.settings.kind.describe(fitted.model)
    adds_up = explained.fitted_forest_.aggregation.adds_up
    which = "boosting" if adds_up else "the forest"
    return (
        f"Predictions are the weighted mean of both models ({weights}). Short rules describe both; "
        f"all that follows on features and single rows describes {which}."
    )


def _members(record: MemberRecord) -> str:
    """Table of the forest and boosting, with their losses and weights."""
    cells = [
        [
            each["member"],
            "" if each["loss"] is None else TableCell(rounded(each["loss"], 4), each["loss"]),
            "" if each["loss"] is None else rounded(each["standard_error"], 2),
            f"{each['weight']:.2f}",
            f"{each['n_trees']:,}",
        ]
        for each in record.as_dict()["members"]
    ]
    head = ["member", record.loss_name, "standard error", "weight", "trees"]
    notes = record.notes()
    caption = " ".join(f"{note[0].upper()}{note[1:]}." for note in notes)
    return table(head, cells, numeric={1, 2, 3, 4}, caption=caption, sortable=False)


def _scores(fitted: FitResult, note: str) -> str:
    how = {
        "out-of-bag": "Out-of-bag: each row by the trees that did not see it.",
        "cross-validated": f"Cross-validated in {N_FOLDS} folds, by models like this one, as no "
        "row is out of bag.",
    }[fitted.scored_by]
    caption = (
        f"{how} Intervals cover the choice of the rows that are scored, not the choice of the "
        f"training rows. {note}"
    )
    return scores_table(fitted.scores, fitted.scored_by, caption.rstrip())


def _directions(model: Any, members: MemberRecord | None, advice: Advice | None) -> str:
    """The model that is explained, compared with others unless it is one of several members."""
    words = "" if advice is None else paragraph(advice.sentence())
    compared = advice_table(advice) if members is None else ""
    trees = paragraph("The trees:") + definitions(dict(overview_lines(model.forest_)))
    return words + compared + family_table(model) + trees


def _curve(fitted: FitResult) -> list[str]:
    """The loss against the number of trees or iterations, as a figure."""
    if not fitted.settings.kind.has_bags:
        models = getattr(fitted.model, "estimators_", [fitted.model])
        boosted = [each for each in models if hasattr(each, "train_score_")]
        return _learning_curve(boosted[0]) if boosted else []
    if fitted.curve is None or len(fitted.curve.n_trees) < 2:
        return []
    caption = "Number of trees: where the curve is flat, more of them change little."
    return [figure(drawings.draw_curve(fitted.curve), caption)]


def _learning_curve(model: Any) -> list[str]:
    """The loss after each iteration, as a figure."""
    training, validation = -model.train_score_, -model.validation_score_
    if np.isnan(training).all():
        return []  # the loss has no values
    measure = "mean loss"
    if model.loss == "squared_error" and model.scoring == "loss":  # half the squared error
        measure = "root mean squared error"
        training, validation = np.sqrt(2.0 * training), np.sqrt(2.0 * validation)
    caption = (
        f"{measure.capitalize()} after each iteration, on the rows that the trees are grown on"
    )
    if len(validation):
        caption += (
            " and on held-out rows. The dotted line is where the curve of held-out rows is lowest"
        )
        if model.n_iter_ == len(training) != int(np.argmin(validation)) + 1:
            caption += f"; all rows were then fitted again with {model.n_iter_:,} iterations"
    return [figure(drawings.draw_learning_curve(training, validation, measure), f"{caption}.")]


MAX_OUTPUTS = 6  # outputs that have a section of their own
MAX_EFFECTS = 3


class SeveralTargetsWriter(ResultWriter):
    """Writes the fit of several targets: a table of all, then each."""

    def lines(self, fitted: FitResult, _projection: str) -> dict[str, str]:
        """The targets, the forest, and the first score of each target."""
        lines = {"targets": fitted.rows.describe_target(), "forest": _forest_line(fitted)}
        for target, scores in fitted.scores.items():
            name, estimate = next(iter(scores.items()))
            lines[f"{target}: out-of-bag {name}"] = score_line(name, estimate)
        return lines

    def as_dict(self, fitted: FitResult) -> dict[str, Any]:
        """The targets and their scores."""
        return {
            "targets": fitted.rows.targets,
            "scored": fitted.scored_by,
            "scores": {name: as_json(scores) for name, scores in fitted.scores.items()},
        }

    def title(self, fitted: FitResult) -> str:
        """The number of targets."""
        return f"{len(fitted.rows.targets)} outputs"

    def rows(self, fitted: FitResult) -> LabelledRows:
        """The rows with the first target."""
        rows = fitted.rows
        first: LabelledRows = rows.task.rows_of(rows, rows.targets[0])
        return first

    def n_steps(self, fitted: FitResult) -> int:
        """Outputs with a section."""
        return min(MAX_OUTPUTS, len(fitted.rows.targets))

    def sections(self, fitted: FitResult, on_step: OnStep) -> list[PageSection]:
        """What all outputs have in common, then the first of them one by one."""
        shown = fitted.rows.targets[:MAX_OUTPUTS]
        parts = []
        for done, target in enumerate(shown):
            on_step(done, f"explaining {target}")
            parts.append(PageSection(f"Output {target}", _output(fitted, target)))
        on_step(len(shown), "")
        whole = importance(fitted.model, "gini")
        assert isinstance(whole, Importance)
        together = _features_of_outputs(fitted, whole)
        return [
            PageSection("", _opening_of_outputs(fitted, whole)),
            PageSection("How good is it?", _scores_of_outputs(fitted)),
            PageSection("Which features matter to all outputs?", together),
            *parts,
        ]


def _opening_of_outputs(fitted: FitResult, whole: Importance) -> str:
    names = ", ".join(fitted.rows.targets[:MAX_OUTPUTS])
    more = len(fitted.rows.targets) - MAX_OUTPUTS
    names += f" and {more:,} more" if more > 0 else ""
    n_rows, n_features = fitted.rows.X.shape
    text = (
        f"One forest predicts {len(fitted.rows.targets):,} outputs ({names}) from {n_features:,} "
        f"features of {n_rows:,} rows. Each split is the best for all outputs together."
    )
    best = [whole.names[place] for place in whole.order[:3] if whole.values[place] > 0.0]
    features = f"Splits rely most on {', '.join(best)}." if best else "No tree has a split."
    return paragraph(text, kind="lead") + paragraph(features, kind="lead")


def _scores_of_outputs(fitted: FitResult) -> str:
    if not fitted.scores:
        return paragraph("No row is out of a bag, so that there are no scores.")
    kinds = list(next(iter(fitted.scores.values())))
    rows = [
        [
            target,
            *(
                TableCell(
                    score(kind, each[kind]), each[kind].value, below=interval(kind, each[kind])
                )
                if kind in each
                else ""
                for kind in kinds
            ),
        ]
        for target, each in fitted.scores.items()
    ]
    caption = (
        "Out-of-bag: each row by the trees that did not see it. Below: 95 % intervals over the "
        "choice of the rows that are scored."
    )
    return table(["output", *kinds], rows, numeric=set(range(1, len(kinds) + 1)), caption=caption)


def _features_of_outputs(fitted: FitResult, whole: Importance) -> str:
    bars = figure(
        explain_figures.draw_importance(whole),
        "The share of the impurity of all outputs that splits on a feature remove, alone or in a "
        "combination. It is of the training rows, and favours columns with many values.",
    )
    names = whole.names
    order = whole.order[: explain_figures.MAX_BARS]
    shown = fitted.rows.targets[:MAX_OUTPUTS]
    each = [fitted.model.output(target).feature_importances_ for target in shown]
    rows = [
        [names[place], *(TableCell(f"{100 * own[place]:.1f}", float(own[place])) for own in each)]
        for place in order
    ]
    caption = "The same for each output: its share of what splits remove of it, in per cent."
    own = table(["feature", *shown], rows, numeric=set(range(1, len(shown) + 1)), caption=caption)
    return figures(bars) + own


def _output(fitted: FitResult, target: str) -> str:
    """Quality of one output, its most important features and their directions."""
    part = fitted.rows.task.part(fitted, target)
    rows, model, scores, by = part.rows, part.model, part.scores, "out-of-bag"
    if not scores:
        return paragraph("No row is out of a bag, so that nothing can be measured.")
    found = importance(model, "permutation", rows.X, rows.y, random_state=fitted.settings.seed)
    words = words_of(rows.task)
    sentences = [words.quality(scores, by, rows.y, target), words.features(found)]
    bars = figure(
        explain_figures.draw_importance(found),
        f"Permutation importance: by how much the out-of-bag error of {target} rises when the "
        "values of a feature are shuffled.",
    )
    rng = np.random.default_rng(fitted.settings.seed)
    some = draw_places(np.arange(len(rows.y)), MAX_EFFECT_ROWS, rng)
    analysed = read_forest(model, "explain", trees_only=True)
    effects = find_main_effects(analysed, rows.X.rows(some), found)[:MAX_EFFECTS]
    drawn = []
    if effects:
        heights = explain_figures.shared_heights(effects)
        drawn = [
            figure(
                explain_figures.draw_effect(each, heights),
                f"Mean prediction if {each.names[0]} had the given value in all rows.",
            )
            for each in effects
        ]
    picture = words.first_picture(scored_rows(rows, part.out_of_bag, by))
    return beside("".join(map(paragraph, sentences)), picture) + figures(bars, *drawn, small=True)


class SurvivalWriter(ResultWriter):
    """Writes the fit of times and events."""

    def lines(self, fitted: FitResult, _projection: str) -> dict[str, str]:
        """The columns of the target, the forest and its scores."""
        scores = fitted.scores
        return {
            "target": fitted.rows.describe_target(),
            "forest": _forest_line(fitted),
            "out-of-bag concordance": score_line("concordance", concordance_estimate(scores)),
            "out-of-bag Brier score": f"{scores.integrated_brier_score:.4f}, integrated; "
            f"{scores.reference:.4f} without features",
        }

    def as_dict(self, fitted: FitResult) -> dict[str, Any]:
        """The columns of the target, its events and the scores."""
        scores = ("concordance", "concordance_error", "integrated_brier_score", "mean_auc")
        return {
            "time": fitted.rows.target,
            "event": fitted.rows.task.event,
            "entry": fitted.rows.task.entry,
            "n_causes": fitted.model.n_causes_,
            "n_events": int(fitted.rows.y.event.sum()),
            "scored": "out of bag",
            "scores": {name: getattr(fitted.scores, name) for name in scores},
        }

    def title(self, fitted: FitResult) -> str:
        """The columns of times and events."""
        return f"{fitted.rows.target} until {fitted.rows.task.event}"

    def subtitle(self, fitted: FitResult) -> str:
        """The forest and its seed."""
        return (
            f"A survival forest of {fitted.settings.n_trees:,} trees, seed {fitted.settings.seed}"
        )

    def n_steps(self, _fitted: FitResult) -> int:
        """Steps of the explanation."""
        return N_STEPS

    def sections(self, fitted: FitResult, on_step: OnStep) -> list[PageSection]:
        """Scores and groups of risk, then the explanation."""
        rows = fitted.rows
        found = explain(
            fitted.model,
            rows.X,
            rows.y,
            weights=rows.weights,
            number=rows.number,
            seed=fitted.settings.seed,
            on_step=on_step,
        )
        return [
            PageSection("", _survival_opening(found)),
            *survival_sections(found.survival, found.row_kind),
            *explain_sections(found),
        ]


def _survival_opening(found: Explanation) -> str:
    """Summary sentences, beside the risk groups."""
    words, survival = words_of_model(found.model), found.survival
    by = "out-of-bag" if found.row_kind == "out-of-bag" else "in-bag, on training rows"
    quality, picture = words.opening(found, by)
    sentences = [quality, words.features(found.importances[-1])]
    if survival is not None and survival.groups is not None:
        groups = survival.groups
        sentences.insert(1, _groups_sentence(groups.names, groups.observed[:, -1]))
    lead = "".join(paragraph(each, kind="lead") for each in sentences if each)
    return beside(lead, picture) if picture else lead


def _groups_sentence(names: tuple[str, ...], left: np.ndarray) -> str:
    lowest, highest = 100 * float(left[0]), 100 * float(left[-1])
    return (
        f"At the end of the picture {lowest:.0f} % of the group of {names[0]} and {highest:.0f} % "
        f"of the group of {names[-1]} are without the event."
    )


N_UNUSUAL = 5  # most unusual rows to print


class IsolationWriter(ResultWriter):
    """Writes the fit of an isolation forest, which has no page."""

    def lines(self, fitted: FitResult, _projection: str) -> dict[str, str]:
        """The forest, and the most unusual rows by their names, or by their numbers."""
        scores, ids = fitted.scores, next(iter(fitted.rows.ids.values()), None)
        unusual = [
            f"{f'row {row + 1}' if ids is None else ids[row]} ({scores[row]:.3f})"
            for row in _most_unusual(scores)
        ]
        n_outliers, offset = _n_outliers(fitted), fitted.model.offset_
        return {
            "isolation": _forest_line(fitted),
            "outliers": f"{n_outliers:,} of {len(scores):,} rows score below {offset:.3f}",
            "most unusual": ", ".join(unusual),
        }

    def as_dict(self, fitted: FitResult) -> dict[str, Any]:
        """The threshold, and the most unusual rows by their numbers."""
        return {
            "offset": fitted.model.offset_,
            "n_outliers": _n_outliers(fitted),
            "most_unusual": _most_unusual(fitted.scores) + 1,
        }


def _most_unusual(scores: Floats) -> npt.NDArray[np.intp]:
    """Rows of the lowest scores, the lowest first."""
    return np.argsort(scores, kind="stable")[:N_UNUSUAL]


def _n_outliers(fitted: FitResult) -> int:
    return int(np.count_nonzero(fitted.scores < fitted.model.offset_))


WRITERS: dict[type[TableTask], ResultWriter] = {
    Classification: OneTargetWriter(),
    Regression: OneTargetWriter(),
    SeveralTargets: SeveralTargetsWriter(),
    Survival: SurvivalWriter(),
    Isolation: IsolationWriter(),
}


def result_writer(fitted: FitResult) -> ResultWriter:
    """The writer of a result."""
    return WRITERS[type(fitted.rows.task)]
