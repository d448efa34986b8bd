"""Summary of a model in three sentences that depend on its confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from bevel.analysis.results import ErrorImportance, Importance, SurvivalScores
from bevel.text.predictions import called
from bevel.workflow import FitResult
from bevel.workflow.advice import Advice, points
from bevel.workflow.rows import CLASSIFICATION
from bevel.workflow.scores import Estimate
from bevel.workflow.survival import concordance_estimate

__all__ = [
    "class_words",
    "family_rows",
    "feature_sentence",
    "headline",
    "interval",
    "number",
    "probability_words",
    "quality_sentence",
    "score",
    "score_line",
    "survival_feature_sentence",
    "survival_sentence",
]

# Formats numbers, alike on pages and in the terminal.

SHARES = {"error", "coverage"}


def number(value: float) -> str:
    """A number with four digits and a typographic minus sign."""
    return f"{value:.4g}".replace("-", "−")


def score(name: str, estimate: Estimate) -> str:
    """The value of a score, shares as percentages."""
    return f"{100 * estimate.value:.1f} %" if name in SHARES else number(estimate.value)


def interval(name: str, estimate: Estimate) -> str:
    """The interval of a score."""
    if name in SHARES:
        return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f} %"
    return f"{number(estimate.low)} to {number(estimate.high)}"


def score_line(name: str, estimate: Estimate) -> str:
    """Value and interval in one line."""
    return f"{score(name, estimate)} (95 % interval {interval(name, estimate)})"


def class_words(label: object, target: str) -> str:
    """Name of a class in a sentence: a number is preceded by the target, if its name is known."""
    text = str(label)
    return f"{target} = {text}" if target and called(text) != text else called(text)


def probability_words(label: object, target: str) -> str:
    """The probability of a class."""
    words = class_words(label, target)
    return f"probability {'that' if words.endswith(f' = {label}') else 'of'} {words}"


def family_rows(
    families: Sequence[Mapping[str, Any]], *, is_classifier: bool
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and cells of the table of the families that share a model's trees."""
    error = "out-of-bag error" if is_classifier else "out-of-bag squared error"
    head = ("family", error, "standard error", "share", "trees")
    return head, [
        (
            each["family"],
            *_family_errors(each["error"], each["standard_error"], is_classifier),
            f"{100 * each['weight']:.0f} %",
            f"{each['n_trees']:,}",
        )
        for each in families
    ]


def _family_errors(
    error: float | None, spread: float | None, is_classifier: bool
) -> tuple[str, str]:
    if error is None or spread is None:
        return "–", "–"
    if is_classifier:
        return f"{100 * error:.1f} %", f"{100 * spread:.1f}"
    return number(error), number(float(f"{spread:.2g}"))


BETTER = "better than"
MAX_NAMED = 3  # features named in a sentence
Z = float(norm.ppf(0.975))


def headline(
    fitted: FitResult, advice: Advice | None, importances: tuple[Importance, ...]
) -> list[str]:
    """Quality of the predictions, benefit of oblique splits, and most important features."""
    rows = fitted.rows
    return [
        quality_sentence(fitted.scores, fitted.scored_by, rows.y, rows.task, rows.target),
        "Without two numeric columns there is nothing to combine: all cuts are along axes."
        if advice is None
        else advice.sentence(),
        feature_sentence(importances[-1], rows.task),
    ]


def quality_sentence(
    scores: dict[str, Estimate], by: str, y: npt.NDArray[np.generic], task: str, target: str
) -> str:
    """Quality of the predictions, compared with a prediction that ignores all features."""
    if task == CLASSIFICATION:
        return _of_classes(scores, by, y, target)
    r2, mean_error = scores["R²"], scores["mean absolute error"]
    values = np.asarray(y, dtype=np.float64)
    plain = float(np.mean(np.abs(values - values.mean())))
    return (
        f"The model explains {points(r2.value)} % of the variance of {target} (95 % interval "
        f"{points(r2.low)} to {points(r2.high)} %, {by}), {_compared(0.0, r2.low, r2.high)} "
        f"always predicting the mean; it is off by {number(mean_error.value)} on average, the "
        f"mean by {number(plain)}."
    )


def _of_classes(
    scores: dict[str, Estimate], by: str, y: npt.NDArray[np.generic], target: str
) -> str:
    error, area = scores["error"], scores.get("AUC")
    labels, counts = np.unique(y, return_counts=True)
    plain = 1.0 - float(counts.max()) / len(y)
    better = _compared(1.0 - plain, 1.0 - error.high, 1.0 - error.low)
    text = (
        f"The model predicts {target} ({len(labels)} classes) with an error of "
        f"{score('error', error)} (95 % interval {interval('error', error)}, {by}), {better} "
        f"always predicting {class_words(labels[counts.argmax()], target)} ({100 * plain:.1f} %)"
    )
    if better != BETTER and area is not None and area.low > 0.5:
        text += f"; but its probabilities order the rows, AUC {score_line('AUC', area)}"
    return f"{text}."


def _compared(plain: float, low: float, high: float) -> str:
    """Words that compare an interval, rounded as printed, with a reference."""
    plain, low, high = (round(100.0 * each, 1) for each in (plain, low, high))
    if low > plain:
        return BETTER
    return "worse than" if high < plain else "not clearly better than"


def feature_sentence(importance: Importance, task: str) -> str:
    """The features whose importance is clearly above zero, in words."""
    if not isinstance(importance, ErrorImportance):
        best = [importance.names[place] for place in importance.order[:MAX_NAMED]]
        return f"Predictions change most with {_and(best)}."
    low = importance.values - Z * importance.standard_error
    printed = np.round(low, 3) if task == CLASSIFICATION else low  # points with one decimal
    clear = [int(place) for place in importance.order if printed[place] > 0.0]
    above = [int(place) for place in importance.order if low[place] > 0.0]
    if not clear and above:
        name, rise = importance.names[above[0]], 100.0 * float(importance.values[above[0]])
        return (
            f"It relies on no single feature much: shuffling {name} raises the error by {rise:.1f} "
            "points, just above chance; others stand in for each feature."
        )
    if not clear:
        return (
            "It relies on no single feature: none raises the error clearly when it is shuffled, "
            "alone or because others stand in for it."
        )
    first = clear[0]
    names = _and([importance.names[place] for place in clear[:MAX_NAMED]])
    rise, reach = float(importance.values[first]), Z * float(importance.standard_error[first])
    estimate = Estimate(rise, rise - reach, rise + reach)
    return (
        f"It relies most on {names}: shuffling "
        f"{importance.names[first]} raises the {_rise(estimate, task)}."
    )


def survival_sentence(scores: SurvivalScores, by: str) -> str:
    """Concordance of the risks, and distance of the curves from the observations, in words."""
    order = concordance_estimate(scores)
    low, high = order.low, order.high
    better = _compared(0.5, low, high)
    saved = 1.0 - scores.integrated_brier_score / scores.reference
    than = f"{abs(100 * saved):.0f} % {'below' if saved > 0.0 else 'above'}"
    return (
        f"Of two rows, the one whose event came first has the higher risk in "
        f"{100 * scores.concordance:.1f} % of cases (concordance, 95 % interval {100 * low:.1f} to "
        f"{100 * high:.1f} %, {by}), {better} chance. The Brier score of the survival curves is "
        f"{number(scores.integrated_brier_score)} on average over time, {than} that of one curve "
        "for all rows."
    )


def survival_feature_sentence(importance: Importance) -> str:
    """The features that determine the risk, in words."""
    best = [int(place) for place in importance.order[:MAX_NAMED] if importance.values[place] > 0]
    names = [importance.names[place] for place in best]
    if importance.kind != "permutation":
        return f"Risks change most with {_and(names)}." if names else "No feature moves the risk."
    if not names:
        return "It relies on no single feature: none lowers the concordance when it is shuffled."
    fall = 100.0 * float(importance.values[best[0]])
    return (
        f"It relies most on {_and(names)}: shuffling {names[0]} lowers the concordance by "
        f"{fall:.1f} points."
    )


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _rise(estimate: Estimate, task: str) -> str:
    if task == CLASSIFICATION:
        value, low, high = (points(each) for each in (estimate.value, estimate.low, estimate.high))
        return f"error by {value} points (95 % interval {low} to {high})"
    value, low, high = (number(each) for each in (estimate.value, estimate.low, estimate.high))
    return f"mean squared error by {value} (95 % interval {low} to {high})"
