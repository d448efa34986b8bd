"""The comparisons of a run: over all its data sets, in one setting after another, or by group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bevel_lab.report.drawings import by_value, words_of
from bevel_lab.report.published import same_name
from bevel_lab.report.standings import Standing, choose_reference, standings
from bevel_lab.report.tally import Case, Tally

__all__ = ["Round", "rounds"]

MIN_SETS = 6  # with fewer data sets, settings and groups are not judged one by one
MAX_SETTINGS = 8


@dataclass(frozen=True)
class Round:
    """One comparison of systems."""

    title: str  # empty: the whole run
    tally: Tally
    reference: str
    standing: Sequence[Standing]

    @property
    def finished(self) -> str:
        """The cases that all systems have finished, counted in words."""
        n = self.standing[0].n_cases if self.standing else 0
        case = "case" if self.tally.setting_names else "data set"
        return f"{n} {case}{'' if n == 1 else 's'}"

    @property
    def n_sets(self) -> int:
        return len({case.data for case in self.tally.cases})


def rounds(tally: Tally, reference: str | None, groups: Mapping[str, str]) -> list[Round]:
    """Divide a run into comparisons.

    Parameters
    ----------
    tally : Tally
    reference : str, default=None
        The system that others are compared with; chosen if it is not given or does not take part.
    groups : mapping of str to str
        Groups of data sets (spelled as in `same_name`), compared after all of them together.
    """
    parts = _by_setting(tally) or _by_group(tally, groups)
    found = []
    for title, cases in parts:
        part = tally.part(cases)
        if not part.systems:
            continue
        asked = reference if reference in part.systems else None
        chosen = choose_reference(part.systems, asked)
        found.append(Round(title, part, chosen, standings(part, chosen)))
    return found


def _by_setting(tally: Tally) -> list[tuple[str, Sequence[Case]]]:
    """One part for each value of the setting that was varied on many data sets.

    Where simulations are varied in other ways as well, they are left to their figures.
    """
    for name in tally.setting_names:
        alone = tally.part([case for case in tally.cases if set(case.setting) == {name}])
        values = by_value(alone, name)
        enough = len({case.data for case in alone.cases}) >= MIN_SETS
        if enough and 1 < len(values) <= MAX_SETTINGS:
            return [
                (f"{words_of(name)}: {value}".capitalize(), part.cases)
                for value, part in values.items()
            ]
    return []


def _by_group(tally: Tally, groups: Mapping[str, str]) -> list[tuple[str, Sequence[Case]]]:
    """All cases, then those of each group that is large enough."""
    parts: list[tuple[str, Sequence[Case]]] = [("", tally.cases)]
    named: dict[str, list[Case]] = {}
    for case in tally.cases:
        group = groups.get(same_name(case.data))
        if group:
            named.setdefault(group, []).append(case)
    return parts + [
        (f"Data sets: {name}", cases)
        for name, cases in named.items()
        if len({case.data for case in cases}) >= MIN_SETS and len(cases) < len(tally.cases)
    ]
