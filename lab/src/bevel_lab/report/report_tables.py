"""The tables of a run's report."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel.errors import join_names
from bevel.report.page import TableCell, escaped, paragraph, table
from bevel_lab.protocols.claims import TOLERANCE, Verdict
from bevel_lab.report.drawings import words_of
from bevel_lab.report.published import Agreement, Pair
from bevel_lab.report.rounds import MIN_SETS, Round
from bevel_lab.report.standings import Standing, alike_with_best
from bevel_lab.report.tally import Tally
from bevel_lab.statistics.counts import MIN_FOR_WILCOXON

__all__ = [
    "agreement_table",
    "claims_table",
    "data_tables",
    "failures_table",
    "left_out_list",
    "mismatch_table",
    "paper_table",
    "standings_tables",
]

Labels = Mapping[str, str]
# Metrics of some protocols only: title and decimals of their tables.
MORE = {
    "leaves": ("Leaves of the median tree", 1),
    "seconds_single_row": ("Seconds to predict a single row", 6),
}
ANSWERS = {True: "yes", False: "no", None: "undecided"}
MAX_OPEN = 30  # longer lists are folded away


def standings_tables(parts: Sequence[Round], labels: Labels) -> str:
    """All comparisons: an overview where there are several, then each of them."""
    if len(parts) == 1:
        return _round_tables(parts[0], labels) + _notes(parts[0], labels)
    several = "" if not parts[0].title else _overview(parts, labels)
    first = "" if parts[0].title else _round_tables(parts[0], labels) + _notes(parts[0], labels)
    rest = parts if parts[0].title else parts[1:]
    text = several + first
    text += "".join(folded(part.title, _round_tables(part, labels)) for part in rest)
    return text + (_notes(parts[0], labels) if parts[0].title else "")


def _overview(parts: Sequence[Round], labels: Labels) -> str:
    """Mean errors by setting, with + and − where a system differs from the reference."""
    systems = dict.fromkeys(system for part in parts for system in part.tally.systems)
    by_place = {(part.title, line.system): line for part in parts for line in part.standing}
    rows = []
    for system in systems:
        lines = [by_place.get((part.title, system)) for part in parts]
        cells = [None if line is None else _signed_error(line) for line in lines]
        rows.append([labels.get(system, system), *cells])
    reference = labels.get(parts[0].reference, parts[0].reference)
    note = (
        f"Mean error in percent. + better and − worse than {reference} by one-sided tests of "
        "Wilcoxon at 5 % (in the manner of the thesis, Table 2.1)."
    )
    subject = parts[0].title.partition(": ")[0].lower()
    header = ["system", *(part.title.partition(": ")[2] for part in parts)]
    groups = [("", 1), (subject, len(parts))]
    overview = table(header, rows, numeric=range(1, len(header)), groups=groups)
    return overview + paragraph(note, kind="note")


def _signed_error(line: Standing) -> TableCell:
    worse = line.p_reference_better
    better = line.p_better
    sign = ""
    if worse is not None and better is not None:
        sign = " +" if better < 0.05 else " −" if worse < 0.05 else ""
    return TableCell(f"{100 * line.mean:.2f}{sign}", line.mean)


def _round_tables(part: Round, labels: Labels) -> str:
    """Systems by mean rank, then each against the reference."""
    if not part.standing:
        return paragraph("No data set is finished by all systems yet.", kind="note")
    return _scores_table(part, labels) + _against_table(part, labels)


def _scores_table(part: Round, labels: Labels) -> str:
    classes = part.tally.measure == "error"
    header = ["system", "error %", "κ", "AUC", "log loss"] if classes else ["system", "MSE"]
    header += ["mean rank", "best or alike", "within 1 SD", "fit, s"]
    rows = [
        [
            labels.get(line.system, line.system),
            TableCell(_error(line.mean, classes), line.mean),
            *(_number(v, 3) for v in ((line.kappa, line.auc, line.log_loss) if classes else ())),
            _number(line.rank, 2),
            line.best_or_alike,
            line.within_one_deviation,
            _number(line.seconds_fit, 2),
        ]
        for line in part.standing
    ]
    return table(header, rows, numeric=range(1, len(header)))


def _against_table(part: Round, labels: Labels) -> str:
    """Paired comparisons over data sets; settings of one simulation are no sample of anything."""
    others = [line for line in part.standing if line.system != part.reference]
    if not others or part.n_sets < MIN_SETS:
        return ""
    reference = labels.get(part.reference, part.reference)
    classes = part.tally.measure == "error"
    unit = ", points of error" if classes else ""
    header = [f"against {reference}", f"mean difference [95 %]{unit}", "wins / ties / losses"]
    header += ["p, two-sided", f"p, {reference} better"]
    rows = [[labels.get(line.system, line.system), *_duel(line, classes)] for line in others]
    return table(header, rows, numeric=range(1, len(header)))


def _notes(part: Round, labels: Labels) -> str:
    """How to read both tables."""
    if not part.standing:
        return ""
    reference = labels.get(part.reference, part.reference)
    text = (
        f"Means over the {part.finished} that all systems have finished. "
        "“Best or alike” counts those on which a system is the best or not significantly worse "
        "(Menze, Table 2), “within 1 SD” those on which it is within one cross-sectional standard "
        "deviation of the best (Blaser, 1.6)."
    )
    if part.n_sets >= MIN_SETS and len(part.standing) > 1:
        text += (
            f" The second table compares systems with {reference} over data sets: negative "
            "differences and wins are the system's own; the p-values are those of Wilcoxon's "
            f"signed-rank test: does the system differ from {reference}, and is {reference} "
            "better? (Bold: below 0.05.)"
        )
    return paragraph(text, kind="note")


def _duel(line: Standing, classes: bool) -> list[object]:
    interval = line.difference
    assert interval is not None
    wide = f"{interval.mean:+.3g} [{interval.low:+.3g}, {interval.high:+.3g}]"
    return [
        TableCell(interval.in_points() if classes else wide, interval.mean),
        TableCell(
            f"{line.wins} / {line.ties} / {line.losses}",
            float((line.wins or 0) - (line.losses or 0)),
        ),
        _p(line.p_value),
        _p(line.p_reference_better),
    ]


def data_tables(tally: Tally, labels: Labels) -> str:
    """Errors of each case with the best marked; Cohen's kappa below, folded away."""
    n_splits = len(tally.splits)
    test = (
        "Wilcoxon's paired test over the splits"
        if n_splits >= MIN_FOR_WILCOXON
        else "Nadeau and Bengio's corrected t-test over the splits (Wilcoxon's cannot reach 5 % on "
        f"{n_splits})"
    )
    classes = tally.measure == "error"
    note = (
        ("Error in percent. " if classes else "Mean squared error. ")
        + f"Bold: the best; grey: significantly worse than the best at 5 % by {test}; empty: not "
        "finished. A click on a head sorts."
    )
    values = tally.table(tally.measure)
    write = (lambda v: f"{100 * v:.1f}") if classes else (lambda v: f"{v:.4g}")
    text = paragraph(note, kind="note")
    text += _case_table(tally, labels, values, write, alike_with_best(tally))
    kappa = tally.table("kappa")
    if np.isfinite(kappa).any():
        inside = _case_table(tally, labels, -kappa, lambda v: f"{-v:.3f}", None)
        text += folded("Cohen's kappa of each data set", inside)
    for metric, (title, decimals) in MORE.items():
        values = tally.table(metric)
        if np.isfinite(values).any():

            def write_more(value: float, decimals: int = decimals) -> str:
                return f"{value:.{decimals}f}"

            text += folded(title, _case_table(tally, labels, values, write_more, None))
    return text


def folded(title: str, inside: str, *, is_open: bool = False) -> str:
    """HTML that opens at a click."""
    state = " open" if is_open else ""
    return f"<details{state}><summary>{escaped(title)}</summary>{inside}</details>"


def _case_table(
    tally: Tally,
    labels: Labels,
    values: NDArray[np.float64],
    write: Any,
    alike: NDArray[np.bool_] | None,
) -> str:
    settings = tally.setting_names
    sizes = [("train rows", "n_train"), ("p", "n_features"), ("classes", "n_classes")]
    sizes = [(head, name) for head, name in sizes if name not in settings]
    header = ["data set", *(words_of(name) for name in settings), *(head for head, _ in sizes)]
    header += [labels.get(name, name) for name in tally.systems]
    rows = []
    for number, case in enumerate(tally.cases):
        finite = values[number][np.isfinite(values[number])]
        best = write(finite.min()) if len(finite) else ""
        cells = [
            None
            if np.isnan(value)
            else TableCell(
                write(value),
                float(value),
                strong=write(value) == best,
                faint=alike is not None and not alike[number, column],
            )
            for column, value in enumerate(values[number])
        ]
        shown = [_plain(case.setting.get(name)) for name in settings]
        rows.append([case.data, *shown, *(getattr(case, name) for _, name in sizes), *cells])
    first = 1 + len(settings) + len(sizes)
    numeric = [n for n in range(1, len(header)) if n >= first or n > len(settings)]
    return table(header, rows, numeric=numeric)


def claims_table(verdicts: Sequence[Verdict]) -> str:
    """What the protocol's paper says, and whether it is so here."""
    rows = [
        [
            verdict.claim.text,
            verdict.claim.source,
            TableCell(verdict.word, strong=verdict.word == "fails"),
            verdict.words if verdict.n_pairs else "",
        ]
        for verdict in verdicts
    ]
    n_judged = sum(verdict.n_pairs > 1 for verdict in verdicts)
    n_held = sum(verdict.holds is True for verdict in verdicts)
    note = (
        f"{n_held} of {n_judged} claims hold. A claim holds if the whole 95 % interval of the mean "
        "paired difference lies where the paper says, fails if the whole interval lies elsewhere, "
        "and is undecided otherwise. “As good as” allows for a difference of "
        f"{100 * TOLERANCE:g} points."
    )
    head = ["claim", "source", "verdict", "seen"]
    return paragraph(note, kind="note") + table(head, rows, sortable=False)


def failures_table(
    rows: Sequence[Mapping[str, Any]], absent: Mapping[str, str], labels: Labels
) -> str:
    """Absent systems, then failed and skipped cells, those of one system and message together."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["status"], row["system"], row["message"]), []).append(row)
    lines: list[list[object]] = [
        ["absent", labels.get(system, system), None, "all", message]
        for system, message in absent.items()
    ]
    lines += [
        [
            status,
            labels.get(system, system),
            len(mine),
            join_names(list(dict.fromkeys(row["data"] for row in mine)), 6),
            message,
        ]
        for (status, system, message), mine in sorted(groups.items())
    ]
    return table(["status", "system", "cells", "data sets", "message"], lines, numeric=[2])


def agreement_table(lines: Sequence[Agreement], labels: Labels) -> str:
    """Each system beside the paper's: is it as good, and how often the same?"""
    rows = [
        [
            labels.get(line.system, line.system),
            line.difference.n,
            TableCell(f"{100 * line.ours:.2f}", line.ours),
            TableCell(f"{100 * line.theirs:.2f}", line.theirs),
            TableCell(line.difference.in_points(), line.difference.mean),
            TableCell(ANSWERS[line.faithful], strong=line.faithful is False),
            "" if np.isnan(line.share_within) else TableCell(f"{line.share_within:.0%}"),
            line.n_left_out or "",
        ]
        for line in lines
    ]
    header = ["system", "sets", "ours, error %", "paper's", "ours − paper's [95 %], points"]
    header += ["as good or better", "within 2 SE", "left out"]
    note = (
        "Paired differences over data sets. As good or better: the interval is not wholly above "
        f"zero, and ends at most {100 * TOLERANCE:g} points above it. “Within 2 SE” is the share "
        "of sets whose errors differ by at most twice their combined standard error, the rounding "
        "of the printed value included. Left out: sets whose printed standard error is 0 or "
        "above 10."
    )
    return table(header, rows, numeric=(1, 2, 3, 4, 6, 7)) + paragraph(note, kind="note")


def mismatch_table(
    found: Sequence[Pair], reasons: Mapping[tuple[str, str], str], labels: Labels
) -> str:
    """Sets with pairs that differ by more than twice the combined standard error, worst first."""
    apart = [pair for pair in found if pair.agrees is False]
    if not apart:
        return paragraph("No pair differs by more than twice the combined standard error.")
    systems = list(dict.fromkeys(pair.system for pair in found))
    by_place = {(pair.data, pair.system): pair for pair in found}
    worst = sorted(apart, key=lambda pair: -abs(pair.difference))
    rows = [
        [
            data,
            *(_difference(by_place.get((data, system))) for system in systems),
            next(reasons[pair.data, pair.system] for pair in apart if pair.data == data),
        ]
        for data in dict.fromkeys(pair.data for pair in worst)
    ]
    header = ["data set", *(labels.get(system, system) for system in systems), "reason"]
    n_worse = sum(pair.difference > 0 for pair in apart)
    title = (
        f"Mismatches: {len(apart)} of {sum(pair.agrees is not None for pair in found)} pairs, on "
        f"{len(rows)} data sets, ours worse in {n_worse} and better in {len(apart) - n_worse}"
    )
    note = (
        "Ours − the paper's error in points, below it ours and the paper's in percent. Bold: more "
        "than twice the combined standard error; grey: left out of the comparison."
    )
    inside = paragraph(note, kind="note") + table(header, rows, numeric=range(1, len(header) - 1))
    return folded(title, inside, is_open=len(rows) <= MAX_OPEN)


def _difference(pair: Pair | None) -> TableCell | None:
    if pair is None:
        return None
    return TableCell(
        _signed(100 * pair.difference),
        pair.difference,
        strong=pair.agrees is False,
        faint=not pair.counts,
        below=f"{100 * pair.ours:.1f} / {100 * pair.theirs:.1f}",
    )


def left_out_list(found: Sequence[Pair], labels: Labels) -> str:
    """Pairs that do not count, by the reason why."""
    groups: dict[str, list[str]] = {}
    for pair in found:
        if not pair.counts:
            why = f"printed standard error {pair.printed_error}"
            name = f"{pair.data} ({labels.get(pair.system, pair.system)})"
            groups.setdefault(why, []).append(name)
    if not groups:
        return ""
    listed = "; ".join(f"{why}: {', '.join(names)}" for why, names in sorted(groups.items()))
    return paragraph(f"Left out: {listed}.", kind="note")


def paper_table(found: Sequence[Pair], labels: Labels) -> str:
    """Every pair: the paper's table beside ours, folded away."""
    systems = list(dict.fromkeys(pair.system for pair in found))
    by_place = {(pair.data, pair.system): pair for pair in found}
    rows = []
    for data in dict.fromkeys(pair.data for pair in found):
        row: list[object] = [data]
        for system in systems:
            pair = by_place.get((data, system))
            row += [None, None] if pair is None else _pair_cells(pair)
        rows.append(row)
    groups = [("", 1), *((labels.get(system, system), 2) for system in systems)]
    header = ["data set", *(word for _ in systems for word in ("ours", "paper's"))]
    note = (
        "Error in percent. Bold: ours differs by more than twice the combined standard error; "
        "grey: left out of the comparison."
    )
    inside = table(header, rows, groups=groups, numeric=range(1, len(header)))
    title = "The paper's table beside ours"
    return folded(title, paragraph(note, kind="note") + inside, is_open=True)


def _pair_cells(pair: Pair) -> list[object]:
    apart = pair.agrees is False
    return [
        TableCell(f"{100 * pair.ours:.1f}", pair.ours, strong=apart),
        TableCell(f"{100 * pair.theirs:.1f}", pair.theirs, faint=not pair.counts),
    ]


def _error(value: float, classes: bool) -> str:
    return f"{100 * value:.2f}" if classes else f"{value:.4g}"


def _number(value: float, decimals: int) -> object:
    return None if np.isnan(value) else TableCell(f"{value:.{decimals}f}", value)


def _p(value: float | None) -> object:
    """Bold below 5 %."""
    if value is None:
        return None
    return TableCell(
        f"{value:.3f}" if value >= 0.001 else f"{value:.0e}", value, strong=value < 0.05
    )


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")


def _plain(value: Any) -> object:
    return value if isinstance(value, int | float | str | None) else str(value)
