"""The report of a run: what was done, who did how well, on what, and how that sits with the paper.

`summarise` gives the numbers as plain values, `render` the page; both from the same `Run`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bevel.lab.cells import OK
from bevel.lab.drawings import by_value, comparison_figures, setting_figures, words_of
from bevel.lab.page import Section, facts, figures, page, paragraph
from bevel.lab.published import Pair, Published, agreements
from bevel.lab.report_tables import (
    agreement_table,
    claims_table,
    data_tables,
    mismatch_table,
    paper_table,
    standings_table,
    troubles_table,
)
from bevel.lab.standings import Standing, choose_reference, standings
from bevel.lab.tally import Tally

__all__ = ["Run", "render", "summarise"]

FEWEST_SETS = 6  # with fewer data sets, settings are not judged one by one


@dataclass(frozen=True)
class Run:
    """All that a report is made of.

    Attributes
    ----------
    rows : sequence of mappings
        ``ResultStore.frame()``.
    description : mapping
        ``ResultStore.describe()``.
    labels : mapping
        How systems are called in tables and figures, by name.
    reference : str, default=None
        The system that others are compared with.
    verdicts : sequence
        Claims of the protocol, judged (`bevel.lab.protocols.claims`).
    published : Published, default=None
        The paper's own table, and its values beside ours.
    pairs : sequence of Pair
    """

    rows: Sequence[Mapping[str, Any]]
    description: Mapping[str, Any]
    labels: Mapping[str, str] = field(default_factory=dict)
    reference: str | None = None
    verdicts: Sequence[Any] = ()
    published: Published | None = None
    pairs: Sequence[Pair] = ()

    @property
    def tally(self) -> Tally:
        return Tally(self.rows, self.description.get("systems", ()))

    @property
    def troubles(self) -> list[Mapping[str, Any]]:
        """Cells that failed or were skipped."""
        return [row for row in self.rows if row["status"] != OK]

    @property
    def progress(self) -> str:
        """How much of the run is done."""
        done, total = len(self.rows), self.description.get("n_cells")
        if not total or done >= total:
            return f"complete: {done:,} cells"
        return f"incomplete: {done:,} of {total:,} cells are done ({done / total:.0%})"


@dataclass(frozen=True)
class Round:
    """One comparison of systems: all cases, or those of one setting."""

    title: str
    tally: Tally
    reference: str
    standing: Sequence[Standing]


def rounds(run: Run) -> list[Round]:
    """Divide a run into comparisons: by setting where every setting has enough data sets."""
    tally = run.tally
    if not tally.rows:
        return []
    parts = {"": tally}
    names = [name for name in tally.setting_names if len(by_value(tally, name)) <= 8]
    n_sets = len({case.data for case in tally.cases})
    if len(names) == 1 and n_sets >= FEWEST_SETS:
        word = words_of(names[0])
        parts = {f"{word} {value}": part for value, part in by_value(tally, names[0]).items()}
    found = []
    for title, part in parts.items():
        asked = run.reference if run.reference in part.systems or not title else None
        reference = choose_reference(part.systems, asked)
        found.append(Round(title, part, reference, standings(part, reference)))
    return found


def summarise(run: Run) -> dict[str, Any]:
    """The numbers of the report, for machines."""
    return {
        "experiment": _experiment(run),
        "progress": run.progress,
        "n_cells": len(run.rows),
        "n_failed": sum(row["status"] == "failed" for row in run.rows),
        "n_skipped": sum(row["status"] == "skipped" for row in run.rows),
        "comparisons": [
            {
                "setting": each.title,
                "reference": each.reference,
                "n_cases": each.standing[0].n_cases if each.standing else 0,
                "systems": [asdict(line) for line in each.standing],
            }
            for each in rounds(run)
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
        "paper": [{**asdict(line), "faithful": line.faithful} for line in agreements(run.pairs)],
    }


def render(run: Run, command: str) -> str:
    """The page; `command` is what makes it again."""
    parts = rounds(run)
    sections = [Section("", _opening(run, parts))]
    if not parts:
        sections.append(Section("Results", paragraph("No cell is finished yet.")))
    sections += _results(run, parts)
    if run.verdicts:
        sections.append(Section("What the paper says", claims_table(run.verdicts)))
    if run.published is not None:
        sections.append(Section("Beside the paper", _beside_the_paper(run)))
    if parts:
        sections.append(Section("Data sets", data_tables(run.tally, run.labels)))
    if run.troubles:
        sections.append(Section("Failed and skipped", troubles_table(run.troubles, run.labels)))
    description = run.description
    made_with = {**description.get("versions", {}), **_machine(description)}
    again = "\n".join(filter(None, [str(description.get("command", "")), command]))
    return page(
        f"Bevel lab: {_experiment(run)}",
        sections,
        again,
        subtitle=str(description.get("sentence", "")),
        made_with=made_with or None,
    )


def _experiment(run: Run) -> str:
    named = run.description.get("protocol") or (run.rows[0]["experiment"] if run.rows else "")
    return str(named) or "no experiment"


def _machine(description: Mapping[str, Any]) -> dict[str, str]:
    machine = description.get("machine", {})
    return dict(machine) if isinstance(machine, Mapping) else {"machine": str(machine)}


def _opening(run: Run, parts: Sequence[Round]) -> str:
    tally = run.tally
    lines: dict[str, object] = {}
    if run.description.get("paper"):
        lines["paper"] = run.description["paper"]
    lines["run"] = run.progress + _trouble_words(run)
    if tally.rows:
        lines["data sets"] = len({case.data for case in tally.cases})
        lines["systems"] = ", ".join(run.labels.get(name, name) for name in tally.systems)
        lines["splits of each"] = _split_words(tally)
        seconds = sum(row["seconds_fit"] for row in tally.rows if row["seconds_fit"] >= 0)
        lines["time spent fitting"] = _duration(seconds)
    if run.description.get("started"):
        lines["started"] = run.description["started"]
    return _lead(run, parts) + facts(lines)


def _lead(run: Run, parts: Sequence[Round]) -> str:
    """The result in one sentence."""
    first = next((each for each in parts if len(each.standing) > 1), None)
    if first is None:
        return ""
    best, second = first.standing[:2]
    name = {line.system: run.labels.get(line.system, line.system) for line in first.standing}
    text = (
        f"{name[best.system]} has the lowest mean rank, {best.rank:.2f} of {len(first.standing)}, "
        f"over {best.n_cases} data sets; {name[second.system]} follows with {second.rank:.2f}."
    )
    if first.title:
        text = f"With {first.title}, {text}"
    if run.progress.startswith("incomplete"):
        text += f" The run is {run.progress}."
    return paragraph(text, kind="lead")


def _trouble_words(run: Run) -> str:
    words = []
    for status in ("failed", "skipped"):
        n = sum(row["status"] == status for row in run.rows)
        if n:
            words.append(f"{n:,} {status}")
    return f" ({', '.join(words)})" if words else ""


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


def _results(run: Run, parts: Sequence[Round]) -> list[Section]:
    sections = []
    tables = "".join(standings_table(part, run.labels) for part in parts)
    if tables:
        sections.append(Section("Systems", tables))
    drawn = []
    if parts:
        drawn += setting_figures(run.tally, parts[0].reference, run.labels)
        first = parts[0]
        drawn += comparison_figures(first.tally, first.standing, first.reference, run.labels)
    if drawn:  # two by two: a third beside them would be too small to read
        pairs = [figures(*drawn[n : n + 2]) for n in range(0, len(drawn), 2)]
        sections.append(Section("Figures", "".join(pairs)))
    return sections


def _beside_the_paper(run: Run) -> str:
    published = run.published
    assert published is not None
    how = {
        "printed-kappa": "The file holds SPORF's printed kappa, which is not Cohen's; it is "
        "converted to error rates: error = (1 − κ) x, where x is the largest class share with two "
        "classes and 1 minus it with more, which agrees with the errors that the thesis prints.",
        "error": "The file holds error rates.",
        "error-percent": "The file holds error rates in percent.",
    }[published.measure]
    if not run.pairs:
        return paragraph(
            f"No data set and system of the run is in {published.source}, or the class shares that "
            "a printed kappa needs are not known."
        )
    return (
        paragraph(f"Our errors beside those of {published.source}. {how}")
        + agreement_table(agreements(run.pairs), run.labels)
        + mismatch_table(run.pairs, published, run.labels)
        + paper_table(run.pairs, run.labels)
    )
