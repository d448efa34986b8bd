"""The page of `bevel explain`: what a forest is, and why it predicts what it predicts."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bevel import plots
from bevel.analysis.results import (
    Directions,
    Effect,
    Importance,
    RowQuantiles,
    RuleSet,
    ShapleyValues,
    TopRules,
    TreeRules,
)
from bevel.analysis.rules.rule_set import RULE_NOTES
from bevel.errors import join_names, shorten
from bevel.plots.canvas import detached, is_dates
from bevel.printable import shorten_names
from bevel.report.data_sheet import family_table
from bevel.report.headline import interval, number, score
from bevel.report.page import (
    PageSection,
    TableCell,
    beside,
    canvas,
    code,
    figure,
    figures,
    page,
    paragraph,
    svg,
    table,
    wide,
)
from bevel.report.survival import risk_rules_table, survival_sections
from bevel.report.tasks import SUM, words_of_model
from bevel.workflow.explaining import (
    READABLE_DEPTH,
    Band,
    Explanation,
    RepresentativeRow,
    TargetQuantiles,
)
from bevel.workflow.scores import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "MAX_FAN_ROWS",
    "combined_share",
    "describe_model",
    "describe_rows",
    "draw_directions",
    "draw_effect",
    "draw_fan",
    "draw_importance",
    "draw_row",
    "draw_tree",
    "effect_finding",
    "explain_report",
    "explain_sections",
    "row_sentence",
    "scores_table",
]

# Drawings of an explanation as SVG text, narrow enough for a phone where possible.

WIDTH = 3.4  # inches between the axes, beside the names
BAR_INCHES, FAN_INCHES, EFFECT_INCHES = 0.25, 2.4, 2.3
LONGEST_NAME, LONGEST_LINE, LONGEST_SIDE = 24, 44, 28  # characters
MAX_BARS, MAX_DIRECTIONS, MAX_STEPS = 20, 10, 9
MAX_FAN_ROWS, MAX_IN_LINE = 300, 3
LEAST_SHARE = 0.05  # of probability above and below the middle of effects


def draw_importance(result: Importance, output_name: str = "") -> str:
    """Bars of the most important features; `output_name` names the output that rises and falls."""
    best = result.top(MAX_BARS)
    output_name = output_name or best.output_name
    best = replace(
        best, names=tuple(shorten_names(best.names, LONGEST_NAME)), output_name=output_name
    )

    def draw(ax: Axes) -> Axes:
        plots.importance_bars(best, ax=ax)
        texts = re.sub(r"\n(?!lines: |▲)", " ", ax.get_xlabel()).split("\n")
        lines = (textwrap.wrap(text, LONGEST_LINE) for text in texts)
        ax.set_xlabel("\n".join(line for some in lines for line in some))
        return ax

    return _drawn(draw, BAR_INCHES * len(best))


def draw_directions(result: Directions) -> str:
    """Heat map of the most important directions."""
    named = replace(result, names=tuple(shorten_names(result.names, LONGEST_NAME)))
    return _drawn(lambda _: plots.top_projections(named, n_top=MAX_DIRECTIONS))


def shared_heights(effects: Sequence[Effect]) -> tuple[float, float]:
    """Limits of the curves of all effects, with bands cut to the range of probabilities."""
    drawn = [_drawn_outputs(each) for each in effects]
    bands = [each.values if each.standard_error is None else each.band() for each in drawn]
    low, high = (float(edge([edge(band) for band in bands])) for edge in (np.min, np.max))
    if effects[0].classes is not None:
        middle = (low + high) / 2.0  # an effect of 0.01 does not fill the height
        low, high = min(low, middle - LEAST_SHARE), max(high, middle + LEAST_SHARE)
        low, high = max(0.0, low), min(1.0, high)
    room = 0.04 * (high - low) or 0.5
    return low - room, high + room


def _drawn_outputs(effect: Effect) -> Effect:
    """The outputs to draw: of two classes only the second."""
    two = effect.classes is not None and len(effect.classes) == 2
    return effect.output(effect.classes[1]) if two and effect.classes is not None else effect


def effect_finding(result: Effect) -> str:
    """Shape of the curve of a feature, as in the title of its figure."""
    return plots.effects.effect_finding(result)


def draw_effect(result: Effect, heights: tuple[float, float], output_name: str = "") -> str:
    """Curve of one feature, with one line for each class."""
    named = replace(_drawn_outputs(result), names=tuple(shorten_names(result.names, LONGEST_NAME)))
    if output_name and named.classes is None:
        named = replace(named, output_name=output_name)
    is_nominal = named.grid[0].dtype.kind == "O"

    def draw(ax: Axes) -> Axes:
        plots.effect(named, ax=ax)
        ax.set_title("", loc="left")  # the text above has the same content
        if is_nominal:
            ax.set_xlim(heights)
        else:
            ax.set_ylim(heights)
            if not is_dates(ax.xaxis):
                ax.locator_params(axis="x", nbins=5)
        if ax.get_legend() is not None:  # above the curves, not on them
            n = min(MAX_IN_LINE, len(ax.get_lines()))
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=n, fontsize=9)
        ax.set_ylabel(textwrap.fill(ax.get_ylabel(), LONGEST_SIDE))
        ax.set_xlabel(textwrap.fill(ax.get_xlabel(), LONGEST_LINE))
        return ax

    n_labels = min(len(named.grid[0]), plots.effects.MAX_LABELS) if is_nominal else 0
    return _drawn(draw, max(EFFECT_INCHES, BAR_INCHES * n_labels))


def draw_tree(result: TreeRules) -> str:
    """Drawing of the tree, without its long notes."""
    bare = replace(result, notes=())
    return _drawn(lambda _: plots.tree(bare))


def draw_fan(result: RowQuantiles) -> str:
    """Bands of quantiles with the targets, for evenly spaced rows by ascending median."""
    middle = result.values[:, len(result.levels) // 2]
    order = np.argsort(middle, kind="stable")[: np.count_nonzero(result.known)]  # NaN sort last
    if len(order) > MAX_FAN_ROWS:
        order = order[np.linspace(0, len(order) - 1, MAX_FAN_ROWS).round().astype(np.intp)]
    target = None if result.target is None else result.target[order]
    some = replace(result, values=result.values[order], target=target)
    return _drawn(lambda ax: plots.fan_chart(some, ax=ax), FAN_INCHES)


def draw_row(result: ShapleyValues, row: int, output_name: str = "") -> str:
    """Contributions to the prediction of a row; `output_name` names the prediction."""
    named = replace(result, names=tuple(shorten_names(result.names, LONGEST_NAME)))

    def draw(ax: Axes) -> Axes:
        plots.shapley_waterfall(named, row, top=MAX_STEPS, ax=ax)
        ax.set_title("", loc="left")  # the caption is more detailed
        ax.set_xlabel(output_name or ax.get_xlabel(), parse_math=False)
        low, high = ax.get_xlim()  # numbers beside the bars take more room in a narrow drawing
        ax.set_xlim(low - 0.12 * (high - low), high + 0.06 * (high - low))
        return ax

    n_bars = min(len(result.names), MAX_STEPS + 1)
    return _drawn(draw, 0.5 + BAR_INCHES * n_bars)


def _drawn(draw: Callable[[Axes], Axes], height: float = 1.0) -> str:
    """SVG text of a drawing function, on the given axes or on its own."""
    with detached(), canvas(WIDTH, height) as figure:
        axes = draw(figure.add_axes((0.0, 0.0, 1.0, 1.0)))
        drawing: Any = axes.figure
        return svg(drawing)


# An explanation as sections of a page.

RARELY_TWICE = 0.9  # share of the gain of combinations from those that occur in a single split
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
        PageSection(f"How does the {_words(found).noun} decide?", _decisions(found)),
    ]
    if found.quantiles is not None:
        sections.append(PageSection("How large may errors be?", _quantiles(found.quantiles)))
    return [*sections, PageSection("Why these predictions?", _rows(found))]


def _words(found: Explanation) -> Any:
    """Words of the task of the model."""
    return words_of_model(found.model)


def _features(found: Explanation) -> str:
    words = _words(found)
    drawn = [
        figure(draw_importance(each, words.output(found)), words.measure(each.kind))
        for each in found.importances
    ]
    n_features = len(found.importances[0])
    shown = MAX_BARS
    note = f"The {shown} most important of {n_features:,} features." if n_features > shown else ""
    return "".join(
        (
            paragraph(found.missing, kind="note") if found.missing else "",
            paragraph(note, kind="note") if note else "",
            figures(*drawn),
        )
    )


def _effects(found: Explanation) -> str:
    some, words = found.effects[0], _words(found)
    text = (
        f"Mean {words.effect(found, some)} over {some.n_rows:,} rows if a feature had the given "
        "value in all of them (partial dependence), for the features that are most important on "
        "the rows."
    )
    if some.standard_error is not None:
        text += " Bands are 95 % intervals over forests grown on other rows."
        if any(each.n_below_zero for each in found.effects):
            text += " Where they are narrowest, there are too few trees to estimate their width."
    if is_calibrated(found):
        text += " They are of means over trees, before the calibration of probabilities."
    text += (
        " All pictures have the same scale; marks at the bottom are tenths of the rows, numbers "
        "beside labels their rows."
    )
    heights = shared_heights(found.effects)
    drawn = [
        figure(
            draw_effect(each, heights, words.output_of_effect(found)),
            f"The effect of {each.names[0]}: {effect_finding(each)}.",
        )
        for each in found.effects
    ]
    return paragraph(text) + figures(*drawn, small=True)


def _combinations(found: Explanation) -> str:
    directions, told = found.directions, _words(found)
    if directions is None:
        return paragraph(found.missing)
    if len(directions) == 0:
        return paragraph("No tree has a split: every row gets the same prediction.")
    combined = combined_share(directions)
    if combined == 0.0:
        return paragraph("None: every split tests a single feature.")
    directions = directions.combinations()
    once = float(directions.share[directions.count == 1].sum()) / combined
    text = (
        f"Splits on combinations of features {told.gains} {100 * combined:.0f} % of the "
        f"{told.removed}, splits on single features {100 * (1 - combined):.0f} %."
    )
    if once > RARELY_TWICE:
        text += " Hardly any combination is used twice, so that none can stand out."
    best = directions.top(MAX_DIRECTIONS)
    rows = [
        [place + 1, words, TableCell(f"{100 * share:.2f}", share), count]
        for place, (words, share, count) in enumerate(
            zip(best.words, best.share.tolist(), best.count.tolist(), strict=True)
        )
    ]
    caption = (
        f"The best of {len(directions):,} combinations; one and its negative, which make the same "
        "cuts, are taken for one."
    )
    if directions.is_scaled:
        caption += " Weights are of scaled features."
    words = table(
        ["", "combination", f"% of the {told.removed}", "splits"],
        rows,
        caption=caption,
        sortable=False,
    )
    if once > RARELY_TWICE:  # directions hardly repeat: none stands out
        more = "The combinations of the largest gain"
        return paragraph(text) + f"<details><summary>{more}</summary>{words}</details>"
    drawing = figure(draw_directions(directions), "The same combinations, feature by feature.")
    return paragraph(text) + words + wide(drawing, small=True)


def combined_share(directions: Directions) -> float:
    """Share of the gain from splits on more than one feature."""
    return float(directions.combinations().share.sum())


def _decisions(found: Explanation) -> str:
    if found.tree is None:
        return _surrogate(found) + paragraph(found.missing)
    caption = (
        f"Tree {found.tree.tree + 1} of {found.tree.n_trees:,} down to depth {READABLE_DEPTH}: of "
        "all trees the one whose first splits explain most of the variance of the "
        f"{_words(found).noun}'s predictions on these rows, {100 * found.tree_explains:.0f} %."
    )
    drawing = figure(draw_tree(found.tree), caption)
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
    words = _words(found)
    text = (
        f"{len(groups)} short rules describe different groups, "
        f"{100 * groups.covered:.0f} % of the rows in all; % new: rows that no rule above covers."
    )
    text += words.all_rows(groups)
    has_estimate = any(rule.out_of_bag == rule.out_of_bag for rule in groups.rules)
    if has_estimate:
        text += f" {words.out_of_bag}"
    has_lift = groups.is_classifier
    if has_lift:
        text += " Lift: the share of the class among its rows, divided by that among all rows."
    own = [*(["lift"] if has_lift else []), *(["out of bag"] if has_estimate else [])]
    header = ["then", "if", *own, "rows", "% of rows", "% new"]
    rows = []
    for rule in groups.rules:
        then, estimate = words.short_rule(rule, found.target), _estimate(words, rule.out_of_bag)
        lift = TableCell(number(rule.lift, digits=2), rule.lift)
        cells = [*([lift] if has_lift else []), *([estimate] if has_estimate else [])]
        shares = [TableCell(f"{100 * x:.0f}", x) for x in (rule.coverage, rule.new)]
        rows.append([then, rule.text, *cells, rule.n_rows, *shares])
    notes = paragraph(" ".join((*groups.of_the_forest(), *_figures(found))), kind="note")
    return paragraph(text) + table(header, rows, numeric=set(range(2, len(header)))) + notes


def _estimate(words: Any, value: float) -> TableCell:
    """An out-of-bag statistic of a rule; empty if it is not known."""
    return TableCell("") if value != value else TableCell(words.statistic(value), value)


def _surrogate(found: Explanation) -> str:
    """The surrogate tree, with its fidelity."""
    tree, words = found.surrogate, _words(found)
    noun = words.noun
    if tree.n_leaves < 2:
        return paragraph(f"No small tree imitates the {noun} better than a constant.")
    share = f"{100 * tree.fidelity:.0f} %"
    text = f"In short: this small tree of single features imitates the {noun}; "
    text += f"{words.fidelity(share)}.{words.leaves_hold}"
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
    words, noun = _words(found), _words(found).noun
    by = "the target" if found.has_target else f"the {noun}'s predictions"
    text = (
        f"Rules of up to three conditions, from all trees, that explain most of the variance of "
        f"{by}. They overlap and do not replace the {noun}."
    )
    has_estimate = bool(np.isfinite(rules.out_of_bag).any())
    if has_estimate:
        text += f" {words.out_of_bag}"
    estimates = [_estimate(words, float(each)) for each in rules.out_of_bag]
    rows = [
        [
            words.top_rule(rules, place, found.target),
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


def _quantiles(found: TargetQuantiles) -> str:
    if found.quantiles is None:
        return paragraph(found.missing)
    n_rows = int(np.count_nonzero(found.quantiles.known))
    drawn = MAX_FAN_ROWS
    which = f"{drawn:,} of the {n_rows:,} rows" if n_rows > drawn else f"{n_rows:,} rows"
    by = ", by the trees that have not seen them" if found.quantiles.out_of_bag else ""
    chart = figure(
        draw_fan(found.quantiles),
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
    values, words = found.shapley, _words(found)
    text = (
        f"From the mean of other rows to the {words.explained(found, values)} that the "
        f"{words.noun} predicts, feature by "
        "feature: "
        f"Shapley values, which add up. Each tree compares with {values.n_background} rows."
    )
    if values.std is not None:
        text += f" Standard errors are up to {number(float(values.std.max()))}."
    if is_calibrated(found):
        text += " Charts show means over trees; texts show probabilities, which are calibrated."
    if words.aggregation is SUM and any(row.truth is not None for row in found.rows):
        text += " Errors of training rows are smaller here than those of new rows."
    drawn = [
        figure(
            draw_row(values, place, words.output_of_row(found, place)),
            row_sentence(found, row, place),
        )
        for place, row in enumerate(found.rows)
    ]
    return paragraph(text) + figures(*drawn)


def row_sentence(found: Explanation, row: RepresentativeRow, place: int) -> str:
    """Text on a row: why it was chosen, the prediction and the truth."""
    words = _words(found)
    by = " by the trees that have not seen it" if found.row_kind == "out-of-bag" else ""
    text = f"Row {row.number:,}, {REASONS[row.why]}. {words.what}{by}: "
    text += words.prediction(found, row.predicted) + words.spread(row)
    if row.truth is not None:
        text += f"; true: {words.truth(found, row.truth)}"
    if found.row_kind == "out-of-bag":
        whole = np.atleast_1d(found.shapley.predictions[place])
        of_all = words.prediction(found, whole.tolist())
        what = "mean" if is_calibrated(found) else "prediction"
        text += f". The chart shows the {what} of all trees: {of_all}"
    return f"{text}."


def is_calibrated(found: Explanation) -> bool:
    """Whether predicted probabilities differ from means over trees."""
    return bool(found.model.fitted_forest_.aggregation.power != 1.0)


# The page of `bevel explain`, which describes a forest and explains its predictions.

BY = {"new": "", "out-of-bag": "out-of-bag", "grown on": "in-bag, of training rows"}
IF_TRAINED = "If these are training rows, it predicts new rows less well."
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
    sections += survival_sections(found.survival, found.row_kind)
    if found.scores and found.survival is None:
        caption = _words(found).aggregation.rows_note or ROW_KINDS[found.row_kind]
        scores = scores_table(found.scores, BY[found.row_kind] or "value", caption)
        sections.append(PageSection("How good is it?", scores))
    sections += explain_sections(found)
    families = family_table(found.model)
    if families:
        sections.append(PageSection("Which directions?", families))
    return page(f"{name}, explained on {data}", sections, command, subtitle="")


def _opening(data: str, found: Explanation) -> str:
    """Description, quality and most important features of the model, with a figure."""
    words, by = _words(found), BY[found.row_kind]
    quality, picture = words.opening(found, by)
    if quality and not by:
        quality += f" {IF_TRAINED}"
    described = f"{describe_model(found.model)} {describe_rows(data, found)}"
    features = words.features(found.importances[-1])
    sentences = [quality, found.members, features, described]
    sentences = sentences if quality else [described, found.members, features]
    lead = "".join(paragraph(each, kind="lead") for each in sentences if each)
    return beside(lead, picture) if picture else lead


def scores_table(scores: Mapping[str, Estimate], head: str, caption: str) -> str:
    """Table of scores with their intervals; `head` names their column."""
    rows = [
        [name, TableCell(score(name, each)), TableCell(interval(name, each))]
        for name, each in scores.items()
    ]
    header = ["score", head, "95 % interval"]
    return table(header, rows, numeric={1, 2}, caption=caption, sortable=False)


def describe_model(model: Any) -> str:
    """Description of the model, in one sentence."""
    n_trees, n_features, words = model.forest_.n_trees, model.n_features_in_, words_of_model(model)
    trees = "one tree" if n_trees == 1 else f"{n_trees:,} trees"
    by = f"{n_features:,} feature{'' if n_features == 1 else 's'}"
    chosen = model.projection if isinstance(model.projection, str) else shorten(model.projection)
    reasons = [f"{name} ({reason})" for name, reason in model.columns_.left_out.items()]
    held = f" Left out: {join_names(reasons)}." if reasons else ""
    return (
        f"{words.aggregation.introduction} of {trees} that predicts {words.predicts(model)} from "
        f"{by}, projection {chosen}.{held}"
    )


def describe_rows(data: str, found: Explanation) -> str:
    """Description of the rows of the explanation."""
    rows = f"{found.n_rows:,} row{'' if found.n_rows == 1 else 's'} of {data}"
    if found.n_used == found.n_rows:
        return f"Explained on the {rows}."
    return f"Explained on {found.n_used:,} of the {rows}."
