"""An explanation as sections of a page."""

from __future__ import annotations

import numpy as np

from bevel.analysis.results import Directions, RuleSet, TopRules
from bevel.analysis.rules.rule_set_result import RULE_NOTES
from bevel.report import explain_figures
from bevel.report.page import (
    PageSection,
    TableCell,
    code,
    figure,
    figures,
    paragraph,
    table,
    wide,
)
from bevel.report.score_text import class_words, interval, number, probability_words, score
from bevel.report.survival.sections import risk_rules_table
from bevel.workflow.explaining import READABLE_DEPTH, Explanation
from bevel.workflow.representative_rows import RepresentativeRow
from bevel.workflow.target_quantiles import Band, TargetQuantiles

__all__ = ["combined_share", "explain_sections", "row_sentence"]

MEASURES = {
    "gini": "The share of the {removed} that splits on a feature remove, alone or in a "
    "combination. It is of the training rows, and favours columns with many values.",
    "permutation": "Permutation importance: by how much the error of the {model} on these rows "
    "rises when the values of a feature are shuffled. It is low for features that stand in for "
    "each other.",
    "Shapley": "Mean absolute Shapley value: how far a feature moves the predictions of these rows "
    "from their mean. It does not measure whether the predictions are right.",
}
SURVIVAL_MEASURES = {
    "permutation": "Permutation importance: by how much the concordance on these rows falls when "
    "the values of a feature are shuffled. It is low for features that stand in for each other.",
    "negation": "Negation importance: by how much the concordance on these rows falls when the "
    "weights of a feature change sign in all splits.",
}
MOST_DIRECTIONS = 10
MOST_ON_A_LINE = 16  # characters of a numeric class label
RARELY_TWICE = 0.9  # share of the gain from directions that occur in a single split
NARROW, NO_BREAK = "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}"
OUT_OF_BAG = {
    True: "Out of bag: the same share among the rows that a rule's tree was not grown on.",
    False: "Out of bag: the mean of the rows that a rule's tree was not grown on.",
}
REASONS = {
    "typical": "a typical one: no row that is predicted well shares more leaves with others",
    "doubtful": "the most doubtful one",
    "wrong": "the worst mistake",
    "asked": "as requested",
}


def explain_sections(found: Explanation) -> list[PageSection]:
    """Sections on features, effects, combinations, rules, quantiles and single rows."""
    sections = [
        PageSection("Which features matter?", _features(found)),
        *([PageSection("Which way do they push?", _effects(found))] if found.effects else []),
        PageSection("Which combinations matter?", _combinations(found)),
        PageSection(f"How does the {_noun(found)} decide?", _decisions(found)),
    ]
    if found.quantiles is not None:
        sections.append(PageSection("How large may errors be?", _quantiles(found.quantiles)))
    return [*sections, PageSection("Why these predictions?", _rows(found))]


def _features(found: Explanation) -> str:
    drawn = [
        figure(
            explain_figures.draw_importance(each, _second_class(found)), _measure(found, each.kind)
        )
        for each in found.importances
    ]
    n_features = len(found.importances[0])
    shown = explain_figures.MOST_BARS
    note = f"The {shown} most important of {n_features:,} features." if n_features > shown else ""
    return "".join(
        (
            paragraph(found.missing, kind="note") if found.missing else "",
            paragraph(note, kind="note") if note else "",
            figures(*drawn),
        )
    )


def _effects(found: Explanation) -> str:
    some = found.effects[0]
    what = "prediction" if some.classes is None else "probability"
    if found.adds_up:
        what = _log_odds(found) or some.output_name
    if found.is_survival:
        what = "risk"
    text = (
        f"Mean {what} over {some.n_rows:,} rows if a feature had the given value in all of them "
        "(partial dependence), for the features that are most important on the rows."
    )
    if some.standard_error is not None:
        text += " Bands are 95 % intervals over forests grown on other rows."
        if any(each.n_below_zero for each in found.effects):
            text += " Where they are narrowest, there are too few trees to estimate their width."
    if is_calibrated(found):
        text += " They are of means over trees, before the calibration of probabilities."
    text += " All pictures have the same scale; marks at the bottom are tenths of the rows."
    heights = explain_figures.shared_heights(found.effects)
    second = _log_odds(found) if found.adds_up else _second_class(found)
    drawn = [
        figure(
            explain_figures.draw_effect(each, heights, second),
            f"The effect of {each.names[0]}: {explain_figures.effect_finding(each)}.",
        )
        for each in found.effects
    ]
    return paragraph(text) + figures(*drawn, small=True)


def _second_class(found: Explanation) -> str:
    """Name of the output for two classes; empty otherwise."""
    if found.classes is None or len(found.classes) != 2:
        return ""
    return probability_words(found.classes[1], found.target)


def _log_odds(found: Explanation) -> str:
    """Name of the sum of boosted trees for two classes; empty otherwise."""
    if not found.adds_up or found.classes is None or len(found.classes) != 2:
        return ""
    return f"log odds of {class_words(found.classes[1], found.target)}"


def _measure(found: Explanation, kind: str) -> str:
    """Meaning of the bars of an importance."""
    if found.is_survival and kind in SURVIVAL_MEASURES:
        return SURVIVAL_MEASURES[kind]
    return MEASURES[kind].format(removed=_removed(found), model=_noun(found))


def _noun(found: Explanation) -> str:
    return "model" if found.adds_up else "forest"


def _removed(found: Explanation) -> str:
    """Name of the quantity that splits reduce."""
    if found.is_survival:
        return "log-rank statistics"
    return "loss" if found.adds_up else "impurity"


def _gains(found: Explanation) -> str:
    """Verb phrase for the gain of splits."""
    return "have" if found.is_survival else "remove"


def _combinations(found: Explanation) -> str:
    directions = found.directions
    if directions is None:
        return paragraph(found.missing)
    if len(directions) == 0:
        return paragraph("No tree has a split: every row gets the same prediction.")
    combined = combined_share(directions)
    if combined == 0.0:
        return paragraph("None: every split tests a single feature.")
    once = float(directions.share[directions.count == 1].sum())
    text = (
        f"Splits on combinations of features {_gains(found)} {100 * combined:.0f} % of the "
        f"{_removed(found)}, splits on single features {100 * (1 - combined):.0f} %."
    )
    if once > RARELY_TWICE:
        text += " Hardly any direction is used twice, so that none can stand out."
    best = directions.top(MOST_DIRECTIONS)
    rows = [
        [place + 1, words, TableCell(f"{100 * share:.2f}", share), count]
        for place, (words, share, count) in enumerate(
            zip(best.words, best.share.tolist(), best.count.tolist(), strict=True)
        )
    ]
    caption = (
        f"The best of {len(directions):,} directions; one and its negative, which make the same "
        "cuts, are taken for one."
    )
    if directions.is_scaled:
        caption += " Weights are of scaled features."
    words = table(
        ["", "direction", f"% of the {_removed(found)}", "splits"],
        rows,
        caption=caption,
        sortable=False,
    )
    if once > RARELY_TWICE:  # directions hardly repeat: none stands out
        more = "The directions of the largest gain"
        return paragraph(text) + f"<details><summary>{more}</summary>{words}</details>"
    drawing = figure(
        explain_figures.draw_directions(directions), "The same directions, feature by feature."
    )
    return paragraph(text) + words + wide(drawing, small=True)


def combined_share(directions: Directions) -> float:
    """Share of the gain from splits on more than one feature."""
    return float(directions.share[np.diff(directions.offset) > 1].sum())


def _decisions(found: Explanation) -> str:
    if found.tree is None:
        return _surrogate(found) + paragraph(found.missing)
    caption = (
        f"Tree {found.tree.tree + 1} of {found.tree.n_trees:,} down to depth {READABLE_DEPTH}: of "
        "all trees the one whose first splits explain most of the variance of the "
        f"{_noun(found)}'s predictions on these rows, {100 * found.tree_explains:.0f} %."
    )
    drawing = figure(explain_figures.draw_tree(found.tree), caption)
    if found.rules is None:
        return _surrogate(found) + wide(drawing) + _notes((), found.tree.notes)
    rules = _rules(found, found.rules)
    if found.groups is not None and len(found.groups) > 0:
        summary = "<summary>The rules that explain most, which overlap</summary>"
        rules = _groups(found, found.groups) + f"<details>{summary}{rules}</details>"
    rules += wide(drawing) + _notes(found.rules.notes, found.tree.notes)
    return _surrogate(found) + rules


def _groups(found: Explanation, groups: RuleSet) -> str:
    """Table of short rules, each for different rows."""
    text = (
        f"{len(groups)} short rules describe different groups, "
        f"{100 * groups.covered:.0f} % of the rows in all; % new: rows that no rule above covers."
    )
    if not groups.is_classifier:
        text += f" All rows: {groups.typical}."
    has_estimate = any(rule.out_of_bag == rule.out_of_bag for rule in groups.rules)
    if has_estimate:
        text += f" {OUT_OF_BAG[groups.is_classifier]}"
    header = ["then", "if", *(["out of bag"] if has_estimate else []), "rows", "% of rows", "% new"]
    rows = []
    for rule in groups.rules:
        if groups.is_classifier:
            below = f"{100 * rule.precision:.0f}{NARROW}%"
            then = TableCell(_called(rule.prediction, found.target), below=below)
        else:
            spread = number(float(f"{rule.precision:.2g}"))
            then = TableCell(number(rule.prediction), below=f"±{NARROW}{spread}")
        estimate = _estimate(rule.out_of_bag, groups.is_classifier)
        shares = [TableCell(f"{100 * x:.0f}", x) for x in (rule.coverage, rule.new)]
        rows.append([then, rule.text, *([estimate] if has_estimate else []), rule.n_rows, *shares])
    notes = paragraph(" ".join((*groups.of_the_forest(), *_figures(found))), kind="note")
    return paragraph(text) + table(header, rows, numeric=set(range(2, len(header)))) + notes


def _estimate(value: float, is_classifier: bool) -> TableCell:
    """An out-of-bag statistic of a rule; empty if it is not known."""
    if value != value:
        return TableCell("")
    if is_classifier:
        return TableCell(f"{100 * value:.0f}{NARROW}%", value)
    return TableCell(number(float(f"{value:.4g}")), value)


def _surrogate(found: Explanation) -> str:
    """The surrogate tree, with its fidelity."""
    tree, noun = found.surrogate, _noun(found)
    if tree.n_leaves < 2:
        return paragraph(f"No small tree imitates the {noun} better than a constant.")
    share = f"{100 * tree.fidelity:.0f} %"
    agreement = (
        f"it predicts the same class in {share} of other rows"
        if tree.is_classifier
        else f"it explains {share} of the variance of the {noun}'s predictions on other rows"
    )
    text = f"In short: this small tree of single features imitates the {noun}; {agreement}."
    text += " Its leaves hold risks." if found.is_survival else ""
    _, *lines, _ = str(tree).split("\n")
    rules = "" if found.survival is None else risk_rules_table(found.survival)
    return paragraph(text) + code("\n".join(lines), is_drawing=True) + rules


def _notes(rules: tuple[str, ...], tree: tuple[str, ...]) -> str:
    """Notes on rules and tree, such as the meaning of [x], folded since they are long."""
    shared = tuple(note for note in rules if note in tree)
    parts = {
        "Rules and tree": shared,
        "Rules": tuple(note for note in rules if note not in shared),
        "Tree": tuple(note for note in tree if note not in shared),
    }
    texts = [f"{name}: {' '.join(notes)}" for name, notes in parts.items() if notes]
    if not texts:
        return ""
    body = "".join(paragraph(text, kind="note") for text in texts)
    return f"<details><summary>What [x] means, and other notes</summary>{body}</details>"


def _rules(found: Explanation, rules: TopRules) -> str:
    if len(rules) == 0:
        return paragraph("No rule of up to three conditions separates the rows.")
    by = "the target" if found.has_target else f"the {_noun(found)}'s predictions"
    text = (
        f"Rules of up to three conditions, from all trees, that explain most of the variance of "
        f"{by}. They overlap and do not replace the {_noun(found)}."
    )
    has_estimate = bool(np.isfinite(rules.out_of_bag).any())
    if has_estimate:
        text += f" {OUT_OF_BAG[rules.is_classifier]}"
    estimates = [_estimate(float(each), rules.is_classifier) for each in rules.out_of_bag]
    rows = [
        [
            _rule_prediction(rules, place, found.target),
            rule,
            *([estimates[place]] if has_estimate else []),
            int(rules.n_rows[place]),
            TableCell(f"{100 * share:.0f}", share),
            TableCell(f"{100 * explained:.0f}", explained),
        ]
        for place, (rule, share, explained) in enumerate(
            zip(rules.rules, rules.coverage.tolist(), rules.explained.tolist(), strict=True)
        )
    ]
    estimate = ["out of bag"] if has_estimate else []
    header = ["then", "if", *estimate, "rows", "% of rows", "% explained"]
    notes = "".join(paragraph(note, kind="note") for note in _figures(found))
    return paragraph(text) + table(header, rows, numeric=set(range(2, len(header)))) + notes


def _figures(found: Explanation) -> tuple[str, ...]:
    """Description of the rows behind the statistics of rules; empty if they are predictions."""
    return (RULE_NOTES[found.row_kind],) if found.has_target else ()


def _rule_prediction(rules: TopRules, place: int, target: str) -> TableCell:
    """Prediction of a rule, and below it the purity or spread of its rows."""
    if rules.is_classifier:
        purity = float(rules.purity[place])
        return TableCell(
            _called(rules.prediction[place], target), below=f"{100 * purity:.0f}{NARROW}%"
        )
    return TableCell(rules.prediction[place], below=f"±{NARROW}{rules.spread(place)}")


def _called(label: object, target: str) -> str:
    """Name of a class, with a number kept on the line of the word before it."""
    words = class_words(label, target)
    if words == str(label):
        return words
    if len(words) <= MOST_ON_A_LINE:
        return words.replace(" ", NO_BREAK)
    return f"{words.removesuffix(f' {label}')}{NO_BREAK}{label}"


def _quantiles(found: TargetQuantiles) -> str:
    if found.quantiles is None:
        return paragraph(found.missing)
    n_rows = int(np.count_nonzero(found.quantiles.known))
    drawn = explain_figures.MOST_FAN_ROWS
    which = f"{drawn:,} of the {n_rows:,} rows" if n_rows > drawn else f"{n_rows:,} rows"
    by = ", by the trees that have not seen them" if found.quantiles.out_of_bag else ""
    chart = figure(
        explain_figures.draw_fan(found.quantiles),
        f"Quantiles of the target of {which}{by}: what the training rows in the same leaves had.",
    )
    rows = [
        [
            TableCell(f"{100 * band.share:.0f} %", band.share),
            _covered(band),
            TableCell(number(band.width), band.width),
        ]
        for band in found.bands
    ]
    caption = (
        "A band of 90 % should hold 90 % of the targets, on average over rows; one that holds more "
        "is too wide. Widths are in units of the target."
    )
    header = ["band", "holds", "median width"]
    numbers = table(header, rows, caption=caption, numeric={0, 1, 2}, sortable=False)
    return figures(chart, numbers)


def _covered(band: Band) -> TableCell:
    if band.covered is None:
        return TableCell("not known")
    value, below = score("coverage", band.covered), interval("coverage", band.covered)
    return TableCell(value, band.covered.value, below=below)


def _rows(found: Explanation) -> str:
    values = found.shapley
    what = "the value" if values.classes is None else "the probability of the class"
    if found.adds_up:
        what = f"the {_log_odds(found) or values.output_name}"
    if found.is_survival:
        what = "the risk"
    text = (
        f"From the mean of other rows to {what} that the {_noun(found)} predicts, feature by "
        "feature: "
        f"Shapley values, which add up. Each tree compares with {values.n_background} rows."
    )
    if values.std is not None:
        text += f" Standard errors are up to {number(float(values.std.max()))}."
    if is_calibrated(found):
        text += " Charts show means over trees; texts show probabilities, which are calibrated."
    drawn = [
        figure(
            explain_figures.draw_row(values, place, _output_of_row(found, place)),
            row_sentence(found, row, place),
        )
        for place, row in enumerate(found.rows)
    ]
    return paragraph(text) + figures(*drawn)


def _output_of_row(found: Explanation, place: int) -> str:
    """Output that the drawing of a row shows: its most probable class."""
    values = found.shapley
    if values.classes is None:
        return _log_odds(found)
    if found.adds_up:
        return ""
    best = int(values.predictions[place].argmax())
    return probability_words(values.classes[best], found.target)


def row_sentence(found: Explanation, row: RepresentativeRow, place: int) -> str:
    """Text on a row: why it was chosen, the prediction and the truth."""
    classes = found.classes
    by = " by the trees that have not seen it" if found.row_kind == "out-of-bag" else ""
    what = "Risk" if found.is_survival else "Predicted"
    text = f"Row {row.number:,}, {REASONS[row.why]}. {what}{by}: "
    text += _prediction(found, row.predicted)
    if classes is None and not found.adds_up:
        text += f", trees spread by ± {number(row.spread)}"
    if row.truth is not None:
        true = number(row.truth) if classes is None else _class_of(found, int(row.truth))
        text += f"; true: {true}"
    if found.row_kind == "out-of-bag":
        whole = np.atleast_1d(found.shapley.predictions[place])
        of_all = _prediction(found, tuple(whole.tolist()))
        what = "mean" if is_calibrated(found) else "prediction"
        text += f". The chart shows the {what} of all trees: {of_all}"
    return f"{text}."


def is_calibrated(found: Explanation) -> bool:
    """Whether predicted probabilities differ from means over trees."""
    return bool(found.model.fitted_forest_.power != 1.0)


def _prediction(found: Explanation, predicted: tuple[float, ...]) -> str:
    if found.classes is None:
        return number(predicted[0])
    best = int(np.argmax(predicted))
    return f"{_class_of(found, best)}, {100 * predicted[best]:.0f} %"


def _class_of(found: Explanation, place: int) -> str:
    assert found.classes is not None
    return class_words(found.classes[place], found.target)
