"""Numbers, scores and classes in words, and sentences that depend on confidence intervals."""

from __future__ import annotations

from bevel.analysis.results import Importance, SurvivalScores
from bevel.printable import number
from bevel.text.predictions import called
from bevel.workflow.scores import Estimate
from bevel.workflow.survival import concordance_estimate

__all__ = [
    "BETTER",
    "MAX_NAMED",
    "class_words",
    "compared",
    "interval",
    "listed",
    "number",
    "probability_words",
    "score",
    "score_line",
    "survival_feature_sentence",
    "survival_sentence",
]

# Formats numbers, alike on pages and in the terminal.

SHARES = {"error", "coverage"}


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


BETTER = "better than"
MAX_NAMED = 3  # features named in a sentence


def compared(plain: float, low: float, high: float) -> str:
    """Words that compare an interval, rounded as printed, with a reference."""
    plain, low, high = (round(100.0 * each, 1) for each in (plain, low, high))
    if low > plain:
        return BETTER
    return "worse than" if high < plain else "not clearly better than"


def survival_sentence(scores: SurvivalScores, by: str) -> str:
    """Concordance of the risks, and distance of the curves from the observations, in words."""
    order = concordance_estimate(scores)
    low, high = order.low, order.high
    better = compared(0.5, low, high)
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
        return f"Risks change most with {listed(names)}." if names else "No feature moves the risk."
    if not names:
        return "It relies on no single feature: none lowers the concordance when it is shuffled."
    fall = 100.0 * float(importance.values[best[0]])
    return (
        f"It relies most on {listed(names)}: shuffling {names[0]} lowers the concordance by "
        f"{fall:.1f} points."
    )


def listed(names: list[str]) -> str:
    """Names in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
