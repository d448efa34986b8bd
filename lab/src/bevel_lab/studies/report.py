"""The part of a run's page on rotation studies: verdicts, variance, heat maps, histograms."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from bevel.plots.canvas import detached
from bevel.report.page import PageSection, figure, paragraph, svg, table
from bevel_lab.plots.rotation_study import rotation_heat_map, rotation_studies
from bevel_lab.report.standings import choose_reference
from bevel_lab.studies.layout import ROTATION_GROUP
from bevel_lab.studies.result import RotationStudy, read_studies

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["as_repeats", "study_sections", "study_summary"]

Labels = Mapping[str, str]
Rows = Sequence[Mapping[str, Any]]
HEADER = ("", "error", "sd folds", "sd rotations", "sd rest", "p rotations", "best group", "matter")


def as_repeats(rows: Rows) -> Rows:
    """Rows in which a rotation group is one more repeat, not another problem."""
    groups = [row["setting"].get(ROTATION_GROUP) for row in rows]
    if all(group is None for group in groups):
        return rows
    n_groups = 1 + max(group for group in groups if group is not None)
    return [
        row
        if group is None
        else {
            **row,
            "setting": _without(row["setting"]),
            "repeat": row["repeat"] * n_groups + group,
        }
        for row, group in zip(rows, groups, strict=True)
    ]


def _without(setting: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in setting.items() if name != ROTATION_GROUP}


def study_sections(rows: Rows, labels: Labels, reference: str | None = None) -> list[PageSection]:
    """A section for each data set that has a study; none for other experiments.

    Parameters
    ----------
    rows : sequence of mappings
        ``ResultStore.frame()``.
    labels : mapping of str to str
        How systems are called, in the order in which they are shown.
    reference : str, default=None
        The system that others stand beside; chosen as elsewhere on the page if it is not given.
    """
    return [
        PageSection(f"Rotations on {data}", _body(studies, labels, reference))
        for data, studies in _by_data(rows, labels).items()
    ]


def study_summary(rows: Rows, labels: Labels) -> list[dict[str, Any]]:
    """Results of the studies as plain values, for JSON."""
    return [
        {
            "data": data,
            "system": labels.get(system, system),
            "error": float(study.errors.mean()),
            "sampling_error": study.sampling_error,
            "rotations_matter": study.rotations_matter,
            "large_enough": study.is_large_enough,
            "best_rotation_group": study.best_rotation_group + 1,
            "best_rotation_seed": study.best_rotation_seed,
            "verdict": study.verdict,
        }
        for data, studies in _by_data(rows, labels).items()
        for system, study in studies.items()
    ]


def _by_data(rows: Rows, labels: Labels) -> dict[str, dict[str, RotationStudy]]:
    """Studies by data set and system, systems in the order of their labels."""
    found: dict[str, dict[str, RotationStudy]] = {}
    places = {system: place for place, system in enumerate(labels)}
    read = read_studies(rows).items()
    for (data, system), study in sorted(read, key=lambda each: places.get(each[0][1], len(places))):
        found.setdefault(data, {})[system] = study
    return found


def _comparisons(
    studies: Mapping[str, RotationStudy], labels: Labels, reference: str | None
) -> str:
    """Each system beside the reference, where they have the same fold groups."""
    chosen = choose_reference(tuple(studies), reference if reference in studies else None)
    other, its_name = studies[chosen], labels.get(chosen, chosen)
    return "".join(
        paragraph(study.against(other).beside(labels.get(system, system), its_name))
        for system, study in studies.items()
        if system != chosen and len(study.errors) == len(other.errors) > 1
    )


def _body(systems: Mapping[str, RotationStudy], labels: Labels, reference: str | None) -> str:
    studies = {labels.get(system, system): study for system, study in systems.items()}
    words = "".join(paragraph(f"{name}: {study.verdict}") for name, study in studies.items())
    words += _comparisons(systems, labels, reference)
    first = next(iter(studies))
    numbers = table(HEADER, [_line(name, study) for name, study in studies.items()])
    with detached():
        drawn = rotation_studies(studies, sort="folds")[0, 0].figure
    caption = (
        "Errors of all pairs of fold groups (down, the best on top) and rotation groups (across), "
        "darker is worse, and how often they occur; one scale for all."
    )
    return (
        words + numbers + figure(svg(drawn), caption) + _sorted_by_rotations(studies[first], first)
    )


def _sorted_by_rotations(study: RotationStudy, name: str) -> str:
    if study.errors.shape[1] < 2:
        return ""
    with detached():
        axes = rotation_heat_map(replace(study, name=name), sort="rotations")
    drawn = cast("Figure", axes.figure)
    return figure(svg(drawn), f"{name}, from the best rotation group on.")


def _line(name: str, study: RotationStudy) -> list[object]:
    error = round(float(study.errors.mean()), 4)
    if min(study.errors.shape) < 2:
        return [name, error, None, None, None, None, None, None]
    split = study.split
    spreads = [round(float(part) ** 0.5, 4) for part in (split.folds, split.rotations, split.rest)]
    best = f"RG-{study.best_rotation_group + 1:02d}"
    return [name, error, *spreads, f"{split.p_rotations:.2g}", best, study.rotations_matter]
