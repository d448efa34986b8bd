"""Words and figures of pages for each task, and for each way of combining trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from bevel._types import Floats
from bevel.analysis.results import (
    Effect,
    ErrorImportance,
    Importance,
    RuleSet,
    ShapleyValues,
    TopRules,
)
from bevel.analysis.rules.rule_set import Rule
from bevel.errors import join_names
from bevel.forest.aggregation import Aggregation, MeanOfTrees, SumOfTrees, WeightedSum
from bevel.report.drawings import (
    LONGEST_TARGET,
    MAX_CLASSES_DRAWN,
    draw_calibration,
    draw_confusion,
    draw_predicted,
    draw_residuals,
    draw_roc,
)
from bevel.report.headline import (
    BETTER,
    MAX_NAMED,
    class_words,
    compared,
    interval,
    listed,
    number,
    probability_words,
    score,
    score_line,
    survival_feature_sentence,
    survival_sentence,
)
from bevel.report.page import TableCell, figure, figures, paragraph, table
from bevel.report.survival import groups_picture
from bevel.workflow.advice import points
from bevel.workflow.rows import LabelledRows
from bevel.workflow.scores import Estimate, zero_probability_note
from bevel.workflow.tasks import (
    Classification,
    Regression,
    SeveralTargets,
    Survival,
    TableTask,
    count_causes,
    task_of,
)

if TYPE_CHECKING:
    from bevel.workflow.explaining import Explanation, RepresentativeRow

__all__ = [
    "MEAN",
    "SUM",
    "ClassWords",
    "NumberWords",
    "OneTargetWords",
    "RiskWords",
    "ScoredRows",
    "TaskWords",
    "family_rows",
    "scored_rows",
    "words_of",
    "words_of_model",
]

Z = float(norm.ppf(0.975))
MAX_CONFUSIONS, MAX_WRONG = 20, 10
MAX_ON_A_LINE = 16  # characters of a numeric class label
NARROW, NO_BREAK = "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with their targets and predictions.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        Positions of the true classes, or true values.
    seen : ndarray of shape (n_rows, n_classes) or (n_rows,)
        Predicted probabilities, or values.
    classes : ndarray or None
        Labels of the classes.
    target : str
        Name of the target; empty if it is not known.
    by : str
        Which trees predict, such as "out-of-bag"; empty if all of them do.
    names : mapping of str to list
        Columns that name the rows.
    """

    y: npt.NDArray[Any]
    seen: Floats
    classes: npt.NDArray[Any] | None
    target: str
    by: str
    names: Mapping[str, Sequence[object]] = field(default_factory=dict)

    @property
    def labels(self) -> list[str]:
        """The classes as text."""
        return [] if self.classes is None else [str(label) for label in self.classes]

    def name(self, place: int) -> list[object]:
        """What a row is called."""
        return [column[place] for column in self.names.values()]


def scored_rows(rows: LabelledRows, predictions: Floats, by: str) -> ScoredRows:
    """The rows of a file that have a prediction; they are called by their numbers in the file."""
    known = rows.task.known(rows, predictions)
    numbers = np.arange(1, len(rows.X) + 1) if rows.number is None else rows.number
    names = {"row": numbers[known].tolist()}
    names |= {name: [str(word) for word in words[known]] for name, words in rows.ids.items()}
    y, seen = rows.task.coded(rows)[known], predictions[known]
    return ScoredRows(y, seen, rows.classes, rows.target, by, names)


@dataclass(frozen=True)
class AggregationWords:
    """Words for a way of combining trees.

    Attributes
    ----------
    name : str
        Name of such a model in printed lines.
    noun : str
        Such a model in a sentence.
    introduction : str
        The same at the beginning of a sentence, before the number of trees.
    removed : str
        What splits reduce.
    rows_note : str
        Remark on scores of training rows, whichever rows are explained; or empty.
    """

    name: str
    noun: str
    introduction: str
    removed: str
    rows_note: str = ""


MEAN = AggregationWords("forest", "forest", "A forest", "impurity")
SUM = AggregationWords(
    "boosting",
    "model",
    "Gradient boosting",
    "loss",
    "Boosting has no rows out of bag: scores of its training rows are too good.",
)


TOGETHER = AggregationWords(
    "combined",
    "model",
    "A forest and gradient boosting",
    "impurity and loss",
    "The trees of boosting have seen all training rows: their scores are too good.",
)
WORDS_OF: dict[type[Aggregation], AggregationWords] = {
    MeanOfTrees: MEAN,
    SumOfTrees: SUM,
    WeightedSum: TOGETHER,
}


@dataclass(frozen=True)
class TaskWords(ABC):
    """What pages say of a task.

    Attributes
    ----------
    aggregation : AggregationWords
    what : str
        What a prediction is called at the beginning of a sentence.
    use_in_python, use_of_command, use_note : str
        How new rows are predicted: lines of Python, arguments of `bevel predict`, and remarks.
    gains : str
        Verb for what splits do to the quantity that they are chosen by.
    precision_name : str
        Statistic of the rows of a rule in JSON.
    leaves_hold : str
        Remark on the leaves of a small tree that imitates the model; or empty.
    """

    use_in_python: ClassVar[tuple[str, ...]]
    use_of_command: ClassVar[str]
    use_note: ClassVar[str]
    what: ClassVar[str] = "Predicted"
    gains: ClassVar[str] = "remove"
    leaves_hold: ClassVar[str] = ""
    precision_name: ClassVar[str] = "spread"
    measures: ClassVar[dict[str, str]] = {
        "gini": "The share of the {removed} that splits on a feature remove, alone or in a "
        "combination. It is of the training rows, and favours columns with many values.",
        "permutation": "Permutation importance: by how much the error of the {model} on these rows "
        "rises when the values of a feature are shuffled. It is low for features that stand in for "
        "each other.",
        "Shapley": "Mean absolute Shapley value: how far a feature moves the predictions of these "
        "rows from their mean. It does not measure whether the predictions are right.",
    }

    aggregation: AggregationWords = MEAN

    @property
    def noun(self) -> str:
        """The model in a sentence."""
        return self.aggregation.noun

    @property
    def removed(self) -> str:
        """What splits are chosen by."""
        return self.aggregation.removed

    @property
    def removed_in_table(self) -> str:
        """What splits are chosen by, in the head of a column of a table."""
        return self.removed

    def measure(self, kind: str) -> str:
        """Meaning of the bars of an importance."""
        return self.measures[kind].format(removed=self.removed, model=self.noun)

    def column_importance(self) -> str:
        """Meaning of the importance of a column in the data sheet."""
        return f"Importance is the share of the {self.removed} that splits on the column remove."

    @abstractmethod
    def predicts(self, _model: Any) -> str:
        """What a model predicts."""

    @abstractmethod
    def features(self, importance: Importance) -> str:
        """The most important features, in a sentence."""

    @abstractmethod
    def opening(self, found: Explanation, by: str) -> tuple[str, str]:
        """Quality of the predictions of an explanation, and a figure; empty if it is not known."""

    @abstractmethod
    def target_lines(self, data: LabelledRows, n_missing: int) -> dict[str, object]:
        """Lines of the data sheet on the target."""

    def target_table(self, _data: LabelledRows) -> str:
        """Table of the target in the data sheet; empty if there is none."""
        return ""

    def fidelity(self, share: str) -> str:
        """How well a small tree imitates the model."""
        return f"it explains {share} of the variance of the {self.noun}'s predictions on other rows"

    # Words on single outputs of an explanation.

    def output(self, _found: Explanation) -> str:
        """The output that rises and falls with features, where one stands for all; or empty."""
        return ""

    def sum_of_trees(self, _found: Explanation) -> str:
        """What the trees add up to, where it is not what is predicted; or empty."""
        return ""

    def output_of_effect(self, found: Explanation) -> str:
        """The output that is drawn against the values of a feature; empty for the usual name."""
        return self.sum_of_trees(found) if self.aggregation is SUM else self.output(found)

    def effect(self, found: Explanation, shown: Effect) -> str:
        """What is drawn against the values of a feature, at the beginning of a text."""
        if self.aggregation is SUM:
            return self.sum_of_trees(found) or shown.output_name
        return "prediction"

    def explained(self, _found: Explanation, values: ShapleyValues) -> str:
        """What Shapley values add up to."""
        is_other = self.aggregation is SUM and values.output_name != "prediction"
        return values.output_name if is_other else "value"

    def output_of_row(self, _found: Explanation, _place: int) -> str:
        """Output that the drawing of a row shows; empty for the usual name."""
        return ""

    def prediction(self, _found: Explanation, predicted: Sequence[float]) -> str:
        """A prediction in words."""
        return number(predicted[0])

    def truth(self, _found: Explanation, value: float) -> str:
        """A true target in words."""
        return number(value)

    def spread(self, row: RepresentativeRow) -> str:
        """How much the trees differ on a row."""
        return "" if self.aggregation is SUM else f", trees spread by ± {number(row.spread)}"

    def rises(self, _found: Explanation) -> str:
        """The output whose rise and fall is printed beside features."""
        return "prediction"


class OneTargetWords(TaskWords):
    """What pages say of a target of classes or numbers."""

    scores_of_quality: ClassVar[tuple[str, ...]]
    error_name: ClassVar[str]  # of the families of directions
    out_of_bag: ClassVar[str]  # statistics of rules on other rows
    use_note = "; the target may be missing. The command reads a file as this page's was read."

    @abstractmethod
    def quality(
        self, scores: dict[str, Estimate], by: str, y: npt.NDArray[np.generic], target: str
    ) -> str:
        """Quality of the predictions, compared with a prediction that ignores all features."""

    def features(self, importance: Importance) -> str:
        """The features whose importance is clearly above zero, in words."""
        if not isinstance(importance, ErrorImportance):
            best = [importance.names[place] for place in importance.order[:MAX_NAMED]]
            return f"Predictions change most with {listed(best)}."
        low = importance.values - Z * importance.standard_error
        printed = self.printed(low)
        clear = [int(place) for place in importance.order if printed[place] > 0.0]
        above = [int(place) for place in importance.order if low[place] > 0.0]
        if not clear and above:
            name, rise = importance.names[above[0]], 100.0 * float(importance.values[above[0]])
            return (
                f"It relies on no single feature much: shuffling {name} raises the error by "
                f"{rise:.1f} points, just above chance; others stand in for each feature."
            )
        if not clear:
            return (
                "It relies on no single feature: none raises the error clearly when it is "
                "shuffled, alone or because others stand in for it."
            )
        first = clear[0]
        names = listed([importance.names[place] for place in clear[:MAX_NAMED]])
        rise, reach = float(importance.values[first]), Z * float(importance.standard_error[first])
        return (
            f"It relies most on {names}: shuffling {importance.names[first]} raises the "
            f"{self.rise(Estimate(rise, rise - reach, rise + reach), importance.error)}."
        )

    def opening(self, found: Explanation, by: str) -> tuple[str, str]:
        """Quality of the predictions, and their figure."""
        if found.truth is None or not set(self.scores_of_quality) <= set(found.scores):
            return "", ""
        truth, seen = found.truth, self.seen(found)
        rows = ScoredRows(truth, seen, found.classes, found.target, by)
        y = truth if found.classes is None else found.classes[truth]
        quality = self.quality(found.scores, by or "on these rows", y, found.target)
        return quality, self.first_picture(rows)

    def seen(self, found: Explanation) -> Floats:
        """Predictions of the rows of an explanation."""
        return np.asarray(found.predicted)

    def printed(self, losses: Floats) -> Floats:
        """Losses with the digits that are printed."""
        return losses

    @abstractmethod
    def rise(self, estimate: Estimate, error: float) -> str:
        """Rise of the loss above an error, in words."""

    @abstractmethod
    def family_errors(self, error: float, spread: float) -> tuple[str, str]:
        """Error of a family of directions and its standard error, in cells."""

    def score_note(self, _data: LabelledRows, _predictions: Floats) -> str:
        """Remark on the scores; empty if there is none."""
        return ""

    @abstractmethod
    def first_picture(self, rows: ScoredRows) -> str:
        """The most informative figure of targets and predictions."""

    @abstractmethod
    def predictions(self, rows: ScoredRows, curve: Sequence[str]) -> str:
        """Figures of the predictions, and the curve of the number of trees."""

    @abstractmethod
    def mistakes(self, rows: ScoredRows) -> str:
        """The rows with the worst predictions."""

    def target_lines(self, data: LabelledRows, n_missing: int) -> dict[str, object]:
        """The task, and how missing values are read."""
        lines: dict[str, object] = {"task": data.task.name}
        if n_missing:
            lines["filled"] = (
                "nothing in the table; where numeric columns are combined, a missing value counts "
                "as the median of the training rows, also when predicting"
            )
        return lines


class ClassWords(OneTargetWords):
    """What pages say of classes."""

    scores_of_quality = ("error",)
    error_name = "out-of-bag error"
    precision_name = "purity"
    out_of_bag = "Out of bag: the same share among the rows that a rule's tree was not grown on."
    use_in_python = ("print(model.predict_proba(rows))",)
    use_of_command = " --proba --out predictions.csv"

    def quality(
        self, scores: dict[str, Estimate], by: str, y: npt.NDArray[np.generic], target: str
    ) -> str:
        """The error, compared with always predicting the most frequent class."""
        error, area = scores["error"], scores.get("AUC")
        labels, counts = np.unique(y, return_counts=True)
        plain = 1.0 - float(counts.max()) / len(y)
        better = compared(1.0 - plain, 1.0 - error.high, 1.0 - error.low)
        text = (
            f"The model predicts {target} ({len(labels)} classes) with an error of "
            f"{score('error', error)} (95 % interval {interval('error', error)}, {by}), {better} "
            f"always predicting {class_words(labels[counts.argmax()], target)} "
            f"({100 * plain:.1f} %)"
        )
        if better != BETTER and area is not None and area.low > 0.5:
            text += f"; but its probabilities order the rows, AUC {score_line('AUC', area)}"
        return f"{text}."

    def labels(self, found: Explanation) -> npt.NDArray[Any]:
        """Labels of the classes of an explained model."""
        return np.asarray(found.classes)

    def printed(self, losses: Floats) -> Floats:
        """Errors in points with one decimal."""
        return np.round(losses, 3)

    def rise(self, estimate: Estimate, _error: float) -> str:
        """Rise of the error in points."""
        each = (estimate.value, estimate.low, estimate.high)
        value, low, high = (points(share) for share in each)
        return f"error by {value} points (95 % interval {low} to {high})"

    def family_errors(self, error: float, spread: float) -> tuple[str, str]:
        """Shares in per cent."""
        return f"{100 * error:.1f} %", f"{100 * spread:.1f}"

    def score_note(self, data: LabelledRows, predictions: Floats) -> str:
        """Remark on true classes without a vote."""
        known = data.task.known(data, predictions)
        return zero_probability_note(data.task.coded(data)[known], predictions[known])

    def first_picture(self, rows: ScoredRows) -> str:
        """The confusion matrix, or ROC curves of many classes."""
        of = f", {rows.by}" if rows.by else ""
        if len(rows.labels) > MAX_CLASSES_DRAWN:
            drawn = draw_roc(rows.y, rows.seen, rows.labels)
            return figure(drawn, f"ROC, one class against the rest{of}.")
        return figure(
            draw_confusion(_counts(rows), rows.labels, rows.target),
            f"Confusion matrix{of}; shades are shares of the true class.",
        )

    def predictions(self, rows: ScoredRows, curve: Sequence[str]) -> str:
        """Calibration and ROC."""
        y, seen, labels, name, by = rows.y, rows.seen, rows.labels, rows.target, rows.by
        target = name if len(name) <= LONGEST_TARGET else f"{name[: LONGEST_TARGET - 1]}…"
        calibration = figure(
            draw_calibration(y, seen, [class_words(each, target) for each in labels]),
            f"Calibration, {by}, in bins of equally many rows with 95 % intervals; on the dashed "
            "line, probabilities equal frequencies.",
        )
        if len(labels) > MAX_CLASSES_DRAWN:  # ROC is at the top in that case
            return figures(calibration, *curve, small=True)
        area = (
            "one class against the rest"
            if len(labels) > 2
            else f"of {class_words(labels[1], name)}"
        )
        roc = figure(draw_roc(y, seen, labels), f"ROC, {area}, {by}.")
        return figures(calibration, roc, *curve, small=True)

    def mistakes(self, rows: ScoredRows) -> str:
        """The wrong rows whose true classes have the smallest probabilities."""
        y, seen, labels, by = rows.y, rows.seen, rows.labels, rows.by
        given, predicted = seen[np.arange(len(y)), y], seen.argmax(axis=1)
        wrong = np.flatnonzero(predicted != y)
        if len(wrong) == 0:
            return paragraph(f"None: every row is predicted correctly, {by}.")
        confusions = ""
        if len(labels) > MAX_CLASSES_DRAWN:
            confusions = _confusions(_counts(rows), labels)
        worst = wrong[np.argsort(given[wrong], kind="stable")][:MAX_WRONG]
        lines = [
            [
                *rows.name(place),
                labels[y[place]],
                labels[predicted[place]],
                TableCell(f"{100 * seen[place, predicted[place]]:.0f} %"),
                TableCell(f"{100 * given[place]:.0f} %"),
            ]
            for place in worst
        ]
        shown = "all of them" if len(wrong) <= MAX_WRONG else f"the {MAX_WRONG} worst"
        text = (
            f"{len(wrong):,} of {len(y):,} rows are predicted wrongly, {by}; these are {shown}. A "
            "row whose true class has a probability near 0 may be mislabelled."
        )
        header = [*rows.names, "true", "predicted", "probability", "of true class"]
        n = len(header)
        return paragraph(text) + confusions + table(header, lines, numeric={0, n - 2, n - 1})

    def target_table(self, data: LabelledRows) -> str:
        """Rows of each class."""
        classes, counts = np.unique(data.y, return_counts=True)
        rows = [
            [str(label), int(count), TableCell(f"{100 * count / len(data.y):.1f}", float(count))]
            for label, count in zip(classes, counts, strict=True)
        ]
        return table(["class", "rows", "%"], rows, caption=f"The target, {data.target}.")

    def predicts(self, model: Any) -> str:
        """The classes."""
        n_classes, plural = len(model.classes_), "" if len(model.classes_) == 1 else "es"
        classes = join_names([str(label) for label in model.classes_])
        return f"{n_classes} class{plural} ({classes})"

    def output(self, found: Explanation) -> str:
        """The probability of the second of two classes."""
        if len(self.labels(found)) != 2:
            return ""
        return probability_words(self.labels(found)[1], found.target)

    def sum_of_trees(self, found: Explanation) -> str:
        """The log odds of the second of two classes."""
        if self.aggregation is MEAN or len(self.labels(found)) != 2:
            return ""
        return f"log odds of {class_words(self.labels(found)[1], found.target)}"

    def effect(self, found: Explanation, shown: Effect) -> str:
        """The probability, or what boosted trees add up to."""
        return super().effect(found, shown) if self.aggregation is SUM else "probability"

    def explained(self, found: Explanation, values: ShapleyValues) -> str:
        """The probability, or what boosted trees add up to."""
        if self.aggregation is SUM:
            return self.sum_of_trees(found) or values.output_name
        return "probability of the class"

    def output_of_row(self, found: Explanation, place: int) -> str:
        """The most probable class, or what boosted trees add up to."""
        values = found.shapley
        if self.aggregation is SUM:
            return self.sum_of_trees(found)
        best = int(values.predictions[place].argmax())
        return probability_words(self.labels(found)[best], found.target)

    def prediction(self, found: Explanation, predicted: Sequence[float]) -> str:
        """The most probable class, with its probability."""
        best = int(np.argmax(predicted))
        return f"{self.truth(found, best)}, {100 * predicted[best]:.0f} %"

    def truth(self, found: Explanation, value: float) -> str:
        """The class at a position."""
        return class_words(self.labels(found)[int(value)], found.target)

    def spread(self, _row: RepresentativeRow) -> str:
        """Nothing: the probability says it."""
        return ""

    def fidelity(self, share: str) -> str:
        """How often a small tree agrees with the model."""
        return f"it predicts the same class in {share} of other rows"

    def all_rows(self, _groups: RuleSet) -> str:
        """Nothing: shares of classes are in the data sheet."""
        return ""

    def statistic(self, value: float) -> str:
        """A share of the rows of a rule."""
        return f"{100 * value:.0f}{NARROW}%"

    def short_rule(self, rule: Rule, target: str) -> TableCell:
        """Class of a short rule, and the share of its rows that have it."""
        return TableCell(_called(rule.prediction, target), below=self.statistic(rule.precision))

    def top_rule(self, rules: TopRules, place: int, target: str) -> TableCell:
        """Class of a rule, and the share of its rows that have it."""
        below = self.statistic(float(rules.purity[place]))
        return TableCell(_called(rules.prediction[place], target), below=below)

    def rises(self, found: Explanation) -> str:
        """The probability of a class."""
        return self.output(found) or "probability of the named class"


class NumberWords(OneTargetWords):
    """What pages say of numbers."""

    scores_of_quality = ("R²", "mean absolute error")
    error_name = "out-of-bag root mean squared error"
    out_of_bag = "Out of bag: the mean of the rows that a rule's tree was not grown on."
    use_in_python = ("print(model.predict(rows))",)
    use_of_command = " --out predictions.csv"

    def quality(
        self, scores: dict[str, Estimate], by: str, y: npt.NDArray[np.generic], target: str
    ) -> str:
        """The variance that is explained, and the mean error."""
        r2, mean_error = scores["R²"], scores["mean absolute error"]
        values = np.asarray(y, dtype=np.float64)
        plain = float(np.mean(np.abs(values - values.mean())))
        return (
            f"The model explains {points(r2.value)} % of the variance of {target} (95 % interval "
            f"{points(r2.low)} to {points(r2.high)} %, {by}), {compared(0.0, r2.low, r2.high)} "
            f"always predicting the mean; it is off by {number(mean_error.value)} on average, the "
            f"mean by {number(plain)}."
        )

    def seen(self, found: Explanation) -> Floats:
        """Predicted values."""
        return super().seen(found)[:, 0]

    def rise(self, estimate: Estimate, error: float) -> str:
        """Rise of the root of the squared error."""
        before = float(np.sqrt(error))
        each = (estimate.value, estimate.low, estimate.high)
        value, low, high = (
            number(float(np.sqrt(max(error + part, 0.0))) - before, digits=3) for part in each
        )
        what = f"root mean squared error of {number(before)}"
        return f"{what} by {value} (95 % interval {low} to {high})"

    def family_errors(self, error: float, spread: float) -> tuple[str, str]:
        """Roots of the squared errors, in units of the target."""
        root = float(np.sqrt(error))
        return number(root), number(spread / (2.0 * root) if root > 0.0 else 0.0, digits=2)

    def first_picture(self, rows: ScoredRows) -> str:
        """True against predicted values."""
        return figure(
            draw_predicted(rows.y, rows.seen, rows.target),
            f"True values against {f'{rows.by} ' if rows.by else ''}predictions; on the dashed "
            "line they agree.",
        )

    def predictions(self, rows: ScoredRows, curve: Sequence[str]) -> str:
        """Residuals."""
        residuals = figure(
            draw_residuals(rows.y, rows.seen),
            f"Residuals of {rows.by} predictions; the line joins the means of ten groups of rows.",
        )
        return figures(residuals, *curve, small=True)

    def mistakes(self, rows: ScoredRows) -> str:
        """The rows of the largest residuals."""
        y, seen = rows.y, rows.seen
        worst = np.argsort(-np.abs(y - seen), kind="stable")[:MAX_WRONG]
        lines = [
            [
                *rows.name(place),
                *(
                    TableCell(number(each), float(each))
                    for each in (y[place], seen[place], y[place] - seen[place])
                ),
            ]
            for place in worst
        ]
        text = f"The rows whose {rows.by} predictions are farthest from the truth."
        header = [*rows.names, "true", "predicted", "difference"]
        n = len(header)
        return paragraph(text) + table(header, lines, numeric={0, n - 3, n - 2, n - 1})

    def target_lines(self, data: LabelledRows, n_missing: int) -> dict[str, object]:
        """The task, and the range of the target."""
        low, middle, high = np.quantile(data.y, [0.0, 0.5, 1.0])
        return super().target_lines(data, n_missing) | {
            "target": f"{data.target}, {number(low)} to {number(high)}, median {number(middle)}"
        }

    def all_rows(self, groups: RuleSet) -> str:
        """The target of all rows, which rules are compared with."""
        return f" All rows: {groups.typical}."

    def statistic(self, value: float) -> str:
        """A mean of the rows of a rule."""
        return number(float(f"{value:.4g}"))

    def short_rule(self, rule: Rule, _target: str) -> TableCell:
        """Value of a short rule, and the spread of its rows."""
        spread = number(float(f"{rule.precision:.2g}"))
        return TableCell(number(rule.prediction), below=f"±{NARROW}{spread}")

    def top_rule(self, rules: TopRules, place: int, _target: str) -> TableCell:
        """Value of a rule, and the spread of its rows."""
        return TableCell(rules.prediction[place], below=f"±{NARROW}{rules.spread(place)}")

    def predicts(self, _model: Any) -> str:
        """A number."""
        return "a number"


class RiskWords(TaskWords):
    """What pages say of risks, which survival forests predict."""

    what = "Risk"
    gains = "have"
    leaves_hold = " Its leaves hold risks."
    use_in_python = (
        "print(model.predict(rows))  # risks",
        "print(model.predict_median(rows))  # times",
        "print(model.predict_survival_function(rows, times=[1.0, 2.0], return_array=True))",
    )
    use_of_command = " --out risks.csv"
    use_note = (
        ". A risk is the number of events to be expected if all training rows were like the row."
    )
    measures: ClassVar[dict[str, str]] = TaskWords.measures | {
        "permutation": "Permutation importance: by how much the concordance on these rows falls "
        "when the values of a feature are shuffled. It is low for features that stand in for each "
        "other.",
        "negation": "Negation importance: by how much the concordance on these rows falls when the "
        "weights of a feature change sign in all splits.",
    }

    @property
    def removed(self) -> str:
        """What splits are chosen by."""
        return "log-rank statistics"

    @property
    def removed_in_table(self) -> str:
        """What splits are chosen by, in the head of a column of a table."""
        return "log-rank"

    def column_importance(self) -> str:
        """Meaning of the importance of a column in the data sheet."""
        return "Importance is the share of splits on the column in all log-rank statistics."

    def predicts(self, _model: Any) -> str:
        """Survival."""
        return "survival"

    def target_lines(self, data: LabelledRows, _n_missing: int) -> dict[str, object]:
        """Events and times, causes and late entries."""
        target, n_rows = data.y, len(data.y)
        events = int(target.event.sum())
        low, middle, high = np.quantile(target.time, [0.0, 0.5, 1.0])
        lines: dict[str, object] = {
            "events": f"{events:,} of {n_rows:,} rows ({100 * events / n_rows:.1f} %); the others "
            "are censored",
            "time": f"{data.target}, {number(low)} to {number(high)}, median {number(middle)}",
        }
        if target.cause is not None:
            causes = count_causes(target)
            lines["causes"] = f"{causes}; curves and scores are of all causes together"
        if target.entry is not None:
            n_late = int((target.entry > 0.0).sum())
            seen = f"above 0 in {n_late:,} rows, which are seen since"
            lines["entry"] = f"{data.task.entry}, {seen}"
        return lines

    def opening(self, found: Explanation, by: str) -> tuple[str, str]:
        """Concordance and Brier score, and the groups of risk."""
        survival, quality, picture = found.survival, "", ""
        assert survival is not None
        if survival.scores is not None:
            quality = survival_sentence(survival.scores, by or "on these rows")
        if survival.groups is not None:
            picture = groups_picture(survival.groups)
        return quality, picture

    def features(self, importance: Importance) -> str:
        """The features that determine the risk."""
        return survival_feature_sentence(importance)

    def effect(self, _found: Explanation, _shown: Effect) -> str:
        """The risk."""
        return "risk"

    def explained(self, _found: Explanation, _values: ShapleyValues) -> str:
        """The risk."""
        return "risk"


WORDS: dict[type[TableTask], type[TaskWords]] = {
    Classification: ClassWords,
    Regression: NumberWords,
    Survival: RiskWords,
}


def words_of(task: TableTask, aggregation: AggregationWords = MEAN) -> Any:
    """The words of a task."""
    return WORDS[type(task)](aggregation)


def words_of_model(model: Any) -> Any:
    """The words of the task of a fitted model."""
    aggregation = WORDS_OF[type(model.fitted_forest_.aggregation)]
    task = task_of(model)
    each = task.each if isinstance(task, SeveralTargets) else task
    return words_of(each, aggregation)


def family_rows(
    families: Sequence[dict[str, Any]], words: OneTargetWords
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and cells of the table of the families that share a model's trees."""
    head = ("family", words.error_name, "standard error", "share", "trees")
    rows: list[tuple[str, ...]] = []
    for each in families:
        error, spread = each["error"], each["standard_error"]
        errors = ("–", "–")
        if error is not None and spread is not None:
            errors = words.family_errors(error, spread)
        share = f"{100 * each['weight']:.0f} %"
        rows.append((each["family"], *errors, share, f"{each['n_trees']:,}"))
    return head, rows


def _called(label: object, target: str) -> str:
    """Name of a class, with a number kept on the line of the word before it."""
    words = class_words(label, target)
    if words == str(label):
        return words
    if len(words) <= MAX_ON_A_LINE:
        return words.replace(" ", NO_BREAK)
    return f"{words.removesuffix(f' {label}')}{NO_BREAK}{label}"


def _counts(rows: ScoredRows) -> npt.NDArray[np.int64]:
    """Rows of each true and predicted class."""
    counts = np.zeros((rows.seen.shape[1], rows.seen.shape[1]), dtype=np.int64)
    np.add.at(counts, (rows.y, rows.seen.argmax(axis=1)), 1)
    return counts


def _confusions(counts: npt.NDArray[np.int64], labels: list[str]) -> str:
    """The most frequent mistakes, where there are too many classes to draw."""
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:MAX_CONFUSIONS]
    places = [tuple(np.unravel_index(place, counts.shape)) for place in order]
    rows = [[labels[a], labels[b], int(wrong[a, b])] for a, b in places if wrong[a, b]]
    return table(["true", "predicted", "rows"], rows, caption="The most frequent confusions.")
