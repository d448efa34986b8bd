"""The report of a run: the systems, their results by data set, and the comparison with the paper.

`read_run` collects all that it is made of, `summarise` gives the numbers as plain values, `render`
the page.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bevel.report.page import PageSection, definitions, environment_lines, figures, page, paragraph
from bevel_lab.cells import FAILED, OK, SKIPPED
from bevel_lab.protocols import PROTOCOLS
from bevel_lab.protocols.claims import Verdict, check_claim
from bevel_lab.report.drawings import STUDY, comparison_figures, setting_figures
from bevel_lab.report.published import Pair, Published, agreements, pairs, read_published, same_name
from bevel_lab.report.reasons import find_index, known_reasons
from bevel_lab.report.report_tables import (
    agreement_table,
    claims_table,
    data_tables,
    failures_table,
    left_out_list,
    mismatch_table,
    paper_table,
    standings_tables,
)
from bevel_lab.report.rounds import Round, rounds
from bevel_lab.report.tally import Tally, contender
from bevel_lab.running.store import ResultStore
from bevel_lab.studies.report import as_repeats, study_sections, study_summary

__all__ = ["Run", "read_run", "render", "summarise"]


@dataclass(frozen=True)
class Run:
    """All that a report is made of.

    Attributes
    ----------
    rows : sequence of mappings
        ``ResultStore.frame()``.
    description : mapping
        ``ResultStore.describe()``.
    reference : str, default=None
        The system that others are compared with.
    verdicts : sequence of Verdict
        Claims of the protocol, judged.
    published : Published, default=None
        The paper's own table.
    data : path, default=None
        The folder of the data sets, for reasons why values differ from the paper's.
    """

    rows: Sequence[Mapping[str, Any]]
    description: Mapping[str, Any]
    reference: str | None = None
    verdicts: Sequence[Verdict] = ()
    published: Published | None = None
    data: Path | None = None

    @cached_property
    def tally(self) -> Tally:
        return Tally(as_repeats(self.rows), self._gathered("systems"))

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """How systems are called in tables and figures, in their order in the run."""
        named = {name: text for each in self._starts() for name, text in each["labels"].items()}
        labels = {name: named[name] for name in self._gathered("systems") if name in named} | named
        for row in self.rows:
            name = contender(row["system"], row["setting"])
            label = named.get(row["system"], row["system"])
            labels.setdefault(name, contender(label, row["setting"]))
        return labels

    @cached_property
    def rounds(self) -> Sequence[Round]:
        return rounds(self.tally, self.reference, self._groups())

    def _groups(self) -> Mapping[str, str]:
        """Groups of our data sets in the paper's table."""
        if self.published is None:
            return {}
        named = {case.data: self.published.name_of(case.data) for case in self.tally.cases}
        groups = self.published.groups
        return {same_name(data): groups[name] for data, name in named.items() if name in groups}

    @cached_property
    def pairs(self) -> Sequence[Pair]:
        """Our errors beside the paper's."""
        if self.published is None:
            return ()
        return pairs(self.tally, self.published, self._largest_shares)

    @cached_property
    def reasons(self) -> Mapping[tuple[str, str], str]:
        """Why pairs differ, by data set and system."""
        if self.published is None:
            return {}
        return known_reasons(self.pairs, self.published, self._largest_shares, self.data)

    @cached_property
    def _largest_shares(self) -> Mapping[str, float]:
        return {
            row["data"]: 1.0 - row["chance_error"]
            for row in self.rows
            if row["status"] == OK and "chance_error" in row
        }

    @property
    def experiment(self) -> str:
        named = self.description.get("experiment")
        return str(named or (self.rows[0]["experiment"] if self.rows else "nothing yet"))

    @property
    def absent(self) -> Mapping[str, str]:
        """Systems that could not take part, and why; those that joined later have results."""
        here = {row["system"] for row in self.rows}
        left_out = {name: why for each in self._starts() for name, why in each["absent"].items()}
        return {name: why for name, why in left_out.items() if name not in here}

    @property
    def is_complete(self) -> bool:
        return len(self.rows) >= int(self.description.get("n_cells", 0))

    @property
    def progress(self) -> str:
        """How much of the run is done."""
        done, total = len(self.rows), self.description.get("n_cells", 0)
        if self.is_complete:
            return f"complete: {done:,} cells"
        return f"incomplete: {done:,} of {total:,} cells are done ({done / total:.0%})"

    def count(self, status: str) -> int:
        return sum(row["status"] == status for row in self.rows)

    def _starts(self) -> list[dict[str, Any]]:
        """Each start of the run, the oldest first; what it does not hold is empty."""
        starts = self.description.get("starts") or [self.description]
        return [{"labels": {}, "absent": {}, "systems": [], **each} for each in starts]

    def _gathered(self, name: str) -> list[str]:
        return list(dict.fromkeys(each for start in self._starts() for each in start[name]))


def read_run(
    folder: str | Path,
    *,
    paper: str | Path | None = None,
    measure: str = "auto",
    reference: str | None = None,
    data: str | Path | None = None,
) -> Run:
    """Read the results of a run folder, and check the claims of its protocol.

    Parameters
    ----------
    folder : path
        What ``bevel lab run`` has written, complete or not.
    paper : path, default=None
        A CSV file of published values (`bevel_lab.report.published`).
    measure : str, default="auto"
        What the published values are.
    reference : str, default=None
        The system that others are compared with; SPORF or a random forest if it is not given.
    data : path, default=None
        The folder of the data sets, whose facts explain differences from the paper; without it the
        folder of `paper` if that is one.
    """
    store = ResultStore(folder, read_only=True)
    rows, description = store.frame(), store.describe()
    protocol = PROTOCOLS.get(description.get("experiment", ""))
    claims = protocol.claims if protocol is not None else ()
    run = Run(
        rows,
        description,
        reference,
        [check_claim(claim, rows) for claim in claims],
        None if paper is None else read_published(paper, measure),
        find_index(Path(data) if data else None, Path(paper) if paper else None),
    )
    if reference is not None and reference not in run.tally.systems:
        known = ", ".join(run.tally.systems) or "none yet"
        raise ValueError(
            f"The reference must be a system of the run ({known}); got {reference!r}. "
            "Choose one of them."
        )
    return run


def summarise(run: Run) -> dict[str, Any]:
    """The numbers of the report, for machines."""
    return {
        "experiment": run.experiment,
        "complete": run.is_complete,
        "n_cells": run.description.get("n_cells"),
        "n_done": len(run.rows),
        "n_failed": run.count(FAILED),
        "n_skipped": run.count(SKIPPED),
        "absent": dict(run.absent),
        "comparisons": [
            {
                "of": each.title,
                "reference": each.reference,
                "n_cases": each.standing[0].n_cases if each.standing else 0,
                "systems": [asdict(line) for line in each.standing],
            }
            for each in run.rounds
        ],
        "claims": [
            {
                "text": verdict.claim.text,
                "source": verdict.claim.source,
                "holds": verdict.holds,
                "seen": verdict.words,
            }
            for verdict in run.verdicts
        ],
        "studies": study_summary(run.rows, run.labels),
        "paper": [{**asdict(line), "faithful": line.faithful} for line in agreements(run.pairs)],
        "mismatches": [
            {**asdict(pair), "reason": run.reasons[pair.data, pair.system]}
            for pair in run.pairs
            if pair.agrees is False
        ],
        "left_out": [asdict(pair) for pair in run.pairs if not pair.counts],
    }


def render(run: Run, command: str) -> str:
    """The page; `command` is what makes it again from the results."""
    studies = study_sections(run.rows, run.labels, run.reference)
    sections = [PageSection("", _opening(run)), *studies, *_results(run)]
    if run.verdicts:
        sections.append(PageSection("What the paper says", claims_table(run.verdicts)))
    if run.published is not None:
        sections.append(PageSection("Beside the paper", _beside_the_paper(run, run.published)))
    if run.tally.rows:
        sections.append(PageSection("Data sets", data_tables(run.tally, run.labels)))
    troubles = [row for row in run.rows if row["status"] != OK]
    if troubles or run.absent:
        table = failures_table(troubles, run.absent, run.labels)
        sections.append(PageSection("Failed and skipped", table))
    started = run.description.get("command")
    first = shlex.join(started) if isinstance(started, list) else str(started or "")
    return page(
        f"Bevel lab: {run.experiment}",
        sections,
        "\n".join(filter(None, [first, command])),
        subtitle=str(run.description.get("sentence", "")),
        made_with=environment_lines(run.description) or None,
    )


def _opening(run: Run) -> str:
    tally = run.tally
    lines: dict[str, object] = {}
    if run.description.get("paper"):
        lines["paper"] = run.description["paper"]
    troubles = [f"{run.count(each):,} {each}" for each in (FAILED, SKIPPED) if run.count(each)]
    lines["run"] = run.progress + (f" ({', '.join(troubles)})" if troubles else "")
    if tally.rows:
        lines["data sets"] = len({case.data for case in tally.cases})
        lines["systems"] = ", ".join(run.labels.get(name, name) for name in tally.systems)
        lines["splits of each"] = _split_words(tally)
        seconds = sum(row["seconds_fit"] for row in tally.rows if row["seconds_fit"] >= 0)
        lines["time spent fitting"] = _duration(seconds)
    if run.description.get("started"):
        starts = len(run.description.get("starts", ()))
        again = f" (start {starts})" if starts > 1 else ""
        lines["started"] = str(run.description["started"]).replace("T", " ") + again
    return _lead(run) + definitions(lines)


def _lead(run: Run) -> str:
    """The result in one sentence."""
    if not run.tally.rows:
        return paragraph("No cell is finished yet.", kind="lead")
    first = next((each for each in run.rounds if len(each.standing) > 1), None)
    if first is None or STUDY in run.tally.setting_names:  # a study of time ranks nobody
        return "" if run.is_complete else paragraph(f"The run is {run.progress}.", kind="lead")
    best, second = first.standing[:2]
    names = [run.labels.get(line.system, line.system) for line in (best, second)]
    text = (
        f"{names[0]} has the lowest mean rank, {best.rank:.2f} of {len(first.standing)}, over "
        f"{first.finished}; {names[1]} follows with {second.rank:.2f}."
    )
    if first.title:
        text = f"{first.title}: {text}"
    if not run.is_complete:
        text += f" The run is {run.progress}."
    return paragraph(text, kind="lead")


def _split_words(tally: Tally) -> str:
    repeats = len({repeat for repeat, _ in tally.splits})
    folds = len({fold for _, fold in tally.splits})
    if folds == 1:
        return f"{repeats} repeats" if repeats > 1 else "1"
    return f"{folds} folds" if repeats == 1 else f"{repeats} × {folds} folds"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _results(run: Run) -> list[PageSection]:
    if not run.rounds:
        return []
    sections = [PageSection("Systems", standings_tables(run.rounds, run.labels))]
    first = run.rounds[0]
    drawn = [
        *setting_figures(run.tally, first.reference, run.labels),
        *comparison_figures(first.tally, first.standing, first.reference, run.labels),
    ]
    if drawn:  # two by two: a third beside them would be too small to read
        rows = [figures(*drawn[n : n + 2]) for n in range(0, len(drawn), 2)]
        note = f"Comparisons over data sets are those with {first.title.lower()}."
        words = paragraph(note, kind="note") if first.title else ""
        sections.append(PageSection("Figures", words + "".join(rows)))
    return sections


HOW_READ = {
    "printed-kappa": "The file holds SPORF's printed kappa, which is not Cohen's. It is converted "
    "to error rates: error = (1 − κ) x, where x is the largest class share on two-class sets (the "
    "smaller one on hepatitis, ionosphere and parkinsons) and 1 minus it on others; that agrees "
    "with the errors that the thesis prints.",
    "error": "The file holds error rates.",
    "error-percent": "The file holds error rates in percent.",
}


def _beside_the_paper(run: Run, published: Published) -> str:
    if not run.pairs:
        return paragraph(
            f"No data set and system of the run is in {published.source}, or the class shares that "
            "a printed kappa needs are not known."
        )
    text = f"Our errors beside those of {published.source}. {HOW_READ[published.measure]}"
    return (
        paragraph(text)
        + agreement_table(agreements(run.pairs), run.labels)
        + mismatch_table(run.pairs, run.reasons, run.labels)
        + left_out_list(run.pairs, run.labels)
        + paper_table(run.pairs, run.labels)
    )
