"""A paper's table of results, read from a CSV file, and ours beside it.

The file has a line per data set (column ``name`` or ``dataset``) and a column per system, with
``<system>_sem`` for a standard error. What the numbers are is inferred, or given:

error           share of wrong labels (Blaser's tables)
error-percent   the same in percent; columns may be called ``err_<system>`` (Menze's Table 1)
printed-kappa   SPORF's Table 1, converted to errors (`bevel_lab.statistics.printed_kappa`)

Columns ``n``, ``p_num``, ``p_cat``, ``C``, ``id``, ``auc1m_<system>`` are not results; ``group``,
or ``p_cat`` where there is no group, divides the data sets; ``remark`` is shown with mismatches,
beside what is known of the data (`bevel_lab.report.reasons`).
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bevel.errors import wrong_value
from bevel_lab import statistics
from bevel_lab.protocols.claims import not_above
from bevel_lab.report.tally import Case, Tally
from bevel_lab.statistics import Interval, PrintedKappa

__all__ = ["MEASURES", "Agreement", "Pair", "Published", "agreements", "pairs", "read_published"]

MEASURES = ("auto", "error", "error-percent", "printed-kappa")
NAMES = ("name", "dataset", "data", "data set")
NOT_SYSTEMS = frozenset({*NAMES, "id", "n", "p", "p_num", "p_cat", "c", "group", "remark"})
# Our data sets, and what papers call them otherwise, as `same_name` spells both.
SETS = {
    "connbenchsonarminesrocks": ("sonar",),
    "simulatedringnorm": ("ringnorm",),
    "simulatedspirals": ("spirals",),
    "simulatedthreenorm": ("threenorm", "threernorm"),
    "simulatedtwonorm": ("twonorm",),
    "simulatedcircles": ("circles",),
    "congressionalvoting": ("votes",),
    "molecbiolpromoter": ("promotergene",),
    "pima": ("diabetes",),
    "breastcancerwisconsin": ("breast", "cancer"),
    "ionosphere": ("iono",),
    "waveform": ("wave",),
}
MAX_PRINTED_ERROR = 10.0  # a larger standard error, or none at all, is not used (percent)

# What the papers call systems that have another name here, the closest first: Menze's random forest
# has its trees tuned.
ALIASES = {
    "rf": ("rf-cv", "random-forest", "rf"),
    "f-rc": ("forest-rc",),
    "rerf": ("sporf",),
    "gpr": ("gp",),
    "knn5": ("knn-5",),
    "rf-rnd": ("et-1",),
    "rr-rf": ("rr-rf",),
}


@dataclass(frozen=True)
class Published:
    """Values as printed, by data set (spelled as in `same_name`) and system."""

    source: str
    measure: str
    systems: tuple[str, ...]
    printed: Mapping[str, Mapping[str, tuple[str, str]]]  # data set -> system -> value, its error
    titles: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # n, p_num, p_cat, c

    def name_of(self, data: str) -> str:
        """What the paper calls one of our data sets, as `same_name` spells it."""
        name = same_name(data)
        return next((each for each in (name, *SETS.get(name, ())) if each in self.printed), name)


@dataclass(frozen=True)
class Pair:
    """Our error and the paper's on one data set, with standard errors; NaN where not printed."""

    data: str
    system: str
    ours: float
    our_error: float
    theirs: float
    their_error: float
    counts: bool  # False: the printed standard error is 0 or above 10
    n_classes: int = 0
    printed_error: str = ""  # the standard error as the paper has it

    @property
    def difference(self) -> float:
        return self.ours - self.theirs

    @property
    def agrees(self) -> bool | None:
        """Within twice the combined standard error; None where the paper prints none."""
        if not self.counts or np.isnan(self.their_error):
            return None
        return abs(self.difference) <= 2.0 * float(np.hypot(self.our_error, self.their_error))


@dataclass(frozen=True)
class Agreement:
    """A system over all data sets that count: mean difference, and the share that agrees."""

    system: str
    ours: float
    theirs: float
    difference: Interval
    share_within: float
    n_left_out: int

    @property
    def faithful(self) -> bool | None:
        """Whether the error is the paper's or lower; None where the interval is too wide to say."""
        return not_above(self.difference.low, self.difference.high)

    def sentence(self, label: str) -> str:
        """The comparison in words."""
        if not self.difference.n:
            return f"{label}: no data set to compare with the paper's."
        if self.faithful is None:
            verdict = "neither shown to be worse than the paper's nor to be as good"
        else:
            verdict = (
                "as good as the paper's or better" if self.faithful else "worse than the paper's"
            )
        within = "" if np.isnan(self.share_within) else f", {self.share_within:.0%} within 2 SE"
        points = self.difference.in_points()
        return f"{label} is {verdict} on {self.difference.n} sets: {points} points{within}."


def same_name(name: str) -> str:
    """Spelling of a data set's name that ignores case, spaces and punctuation."""
    return re.sub(r"[^a-z0-9]+", "", name.lower())


def read_published(path: str | Path, measure: str = "auto") -> Published:
    """Read a paper's table.

    Parameters
    ----------
    path : path
    measure : {"auto", "error", "error-percent", "printed-kappa"}
        "auto" takes files with "kappa" in their name for SPORF's, values that are all at most 1 for
        shares, and everything else for percent.
    """
    path = Path(path)
    if measure not in MEASURES:
        raise wrong_value("measure", f"one of {', '.join(MEASURES)}", measure, "Choose one.")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        lines = list(csv.DictReader(stream))
    header = list(lines[0]) if lines else []
    key = next((name for name in header if name.lower() in NAMES), None)
    columns = {name: _system(name) for name in header if _is_result(name)}
    if key is None or not columns:
        raise ValueError(
            f"A paper's table must have a column called name or dataset and one per system; "
            f"{path} has {header or 'nothing'}. Rename its columns."
        )
    printed = {
        same_name(line[key]): {
            system: (line[column], line.get(f"{column}_sem") or "")
            for column, system in columns.items()
            if line[column]
        }
        for line in lines
    }
    return Published(
        path.name,
        _measure(path, printed) if measure == "auto" else measure,
        tuple(columns.values()),
        printed,
        {same_name(line[key]): line[key] for line in lines},
        {same_name(line[key]): group for line in lines if (group := _group(line))},
        {same_name(line[key]): line["remark"] for line in lines if line.get("remark")},
        {same_name(line[key]): _sizes(line) for line in lines},
    )


def pairs(tally: Tally, published: Published, largest_shares: Mapping[str, float]) -> list[Pair]:
    """Our errors beside the paper's, wherever both have the data set and the system.

    Parameters
    ----------
    tally : Tally
        Only cases in the plain setting (no setting at all, or the first one) are paired.
    published : Published
    largest_shares : mapping of str to float
        Share of the largest class of each data set: printed kappas cannot be converted without it.
    """
    errors, scores = tally.table("error"), tally.scores("error")
    found = []
    taken: set[tuple[str, str]] = set()
    for number, case in enumerate(tally.cases):
        printed = published.printed.get(published.name_of(case.data), {})
        for system, (value, spread) in printed.items():
            mine = _ours(system, tally.systems)
            if mine is None or (case.data, mine) in taken:
                continue
            column = tally.systems.index(mine)
            theirs = _error(published.measure, value, spread, largest_shares.get(case.data), case)
            if theirs is None or np.isnan(errors[number, column]):
                continue
            taken.add((case.data, mine))
            mine_scores = scores[number, column]
            ours_error = statistics.standard_error(mine_scores[np.isfinite(mine_scores)])
            counts = not spread or 0.0 < float(spread) <= MAX_PRINTED_ERROR
            ours = float(errors[number, column])
            found.append(
                Pair(case.data, mine, ours, ours_error, *theirs, counts, case.n_classes, spread)
            )
    return found


def agreements(found: Sequence[Pair]) -> list[Agreement]:
    """One line per system: paired differences over the data sets that count."""
    lines = []
    for system in dict.fromkeys(pair.system for pair in found):
        mine = [pair for pair in found if pair.system == system]
        used = [pair for pair in mine if pair.counts]
        ours, theirs = [pair.ours for pair in used], [pair.theirs for pair in used]
        known = [pair for pair in used if pair.agrees is not None]
        lines.append(
            Agreement(
                system,
                float(np.mean(ours)) if used else np.nan,
                float(np.mean(theirs)) if used else np.nan,
                statistics.paired_interval(ours, theirs),
                statistics.share_within_two_errors(
                    [pair.ours for pair in known],
                    [pair.our_error for pair in known],
                    [pair.theirs for pair in known],
                    [pair.their_error for pair in known],
                ),
                len(mine) - len(used),
            )
        )
    return lines


def _is_result(column: str) -> bool:
    name = column.lower()
    return name not in NOT_SYSTEMS and not name.endswith("_sem") and not name.startswith("auc")


def _system(column: str) -> str:
    return column.lower().removeprefix("err_").replace("_", "-")


def _ours(system: str, systems: Sequence[str]) -> str | None:
    """Our name of a paper's system, if the run has it."""
    return next((name for name in ALIASES.get(system, (system,)) if name in systems), None)


def _group(line: Mapping[str, str]) -> str:
    if line.get("group"):
        return line["group"]
    if not line.get("p_cat"):
        return ""
    return "numeric" if float(line["p_cat"]) == 0 else "with categorical columns"


def _sizes(line: Mapping[str, str]) -> dict[str, float]:
    """What the paper says of the size of a data set."""
    return {
        name.lower(): float(value)
        for name, value in line.items()
        if name.lower() in ("n", "p_num", "p_cat", "c") and value
    }


def _measure(path: Path, printed: Mapping[str, Mapping[str, tuple[str, str]]]) -> str:
    if "kappa" in path.name.lower():
        return "printed-kappa"
    values = [float(value) for line in printed.values() for value, _ in line.values()]
    return "error" if max(values, default=0.0) <= 1.0 else "error-percent"


def _error(
    measure: str, value: str, spread: str, largest_share: float | None, case: Case
) -> tuple[float, float] | None:
    """A printed value as an error rate and its standard error; None where it cannot be known."""
    if measure == "printed-kappa":
        if largest_share is None:
            return None
        kappa = PrintedKappa.read(value, spread or "0")
        return statistics.error_of_printed_kappa(
            kappa, largest_share=largest_share, n_classes=case.n_classes, name=case.data
        )
    scale = 100.0 if measure == "error-percent" else 1.0
    return float(value) / scale, float(spread) / scale if spread else float("nan")
