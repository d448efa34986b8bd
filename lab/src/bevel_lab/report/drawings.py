"""Which figures a run supports, drawn from its tally: found by what was varied in it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel.report import page
from bevel_lab import figures, statistics
from bevel_lab.cells import canonical
from bevel_lab.figures import Curve, Panel
from bevel_lab.report.standings import Standing
from bevel_lab.report.tally import Case, Tally

__all__ = ["STUDY", "by_value", "comparison_figures", "setting_figures", "words_of"]

MIN_SETS = 6  # below, distributions over data sets show nothing
MAX_SETS = 6  # above, curves are means over data sets
STUDY = "study"  # the setting that tells the parts of the timing study apart

# What settings are called on an axis.
WORDS = {
    "n_train": "training rows",
    "n_features": "features",
    "noise_dims": "noise dimensions",
    "candidates": "candidates at a node",
    "density": "features per direction",
}
METRICS = {"offset": "auc"}  # what is drawn along a setting, if not the error

Labels = Mapping[str, str]


def words_of(name: str) -> str:
    """A setting's name in words."""
    return WORDS.get(name, name.replace("_", " "))


def by_value(tally: Tally, name: str) -> dict[Any, Tally]:
    """The run divided by the values of a setting, numbers in their order."""
    groups: dict[Any, list[Case]] = {}
    for case in tally.cases:
        if name in case.setting:
            groups.setdefault(case.setting[name], []).append(case)
    values = sorted(groups) if all(isinstance(each, int | float) for each in groups) else groups
    return {value: tally.part(groups[value]) for value in values}


def comparison_figures(
    tally: Tally, standing: Sequence[Standing], reference: str, labels: Labels
) -> list[str]:
    """Effect sizes, rank histogram and critical differences of one comparison (SPORF, Fig. 5)."""
    table = tally.table(tally.measure)
    rows = statistics.complete_rows(table)
    n_sets = len({case.data for case in tally.cases})
    if min(int(rows.sum()), n_sets) < MIN_SETS or len(tally.systems) < 2:
        return []
    names = [labels.get(line.system, line.system) for line in standing]
    values = table[rows][:, [tally.systems.index(line.system) for line in standing]]
    p_values = [line.p_reference_better for line in standing]
    drawn = [
        _effects(tally, standing, reference, labels),
        page.figure(
            figures.rank_histogram(names, statistics.rank_shares(values), p_values),
            f"Ranks over {rows.sum()} data sets, as in SPORF's Fig. 5B. The p-values are those of "
            f"one-sided tests of Wilcoxon: is {labels.get(reference, reference)} better?",
        ),
    ]
    if len(names) > 2:
        reach = statistics.critical_difference(len(names), len(values))
        groups = statistics.groups_alike(values)
        ranks = statistics.mean_ranks(values)
        test = statistics.friedman(values)
        drawn.append(
            page.figure(
                figures.critical_differences(names, ranks, reach, groups),
                "Mean ranks; bars join systems that do not differ by Nemenyi's test at 5 %. "
                f"Friedman's test that all are alike: p = {test.p_value:.2g}.",
            )
        )
    return drawn


def _effects(tally: Tally, standing: Sequence[Standing], reference: str, labels: Labels) -> str:
    """κ where it is known; otherwise the accuracy, for which the sign means the same."""
    kappa = tally.table("kappa")
    known = bool(np.isfinite(kappa).any())
    measure, values = ("κ", kappa) if known else ("accuracy", 1.0 - tally.table(tally.measure))
    against = values[:, tally.systems.index(reference)]
    effects = {
        labels.get(line.system, line.system): against - values[:, tally.systems.index(line.system)]
        for line in standing
        if line.system != reference
    }
    name = labels.get(reference, reference)
    return page.figure(
        figures.effect_sizes(effects, name, measure),
        f"Effect sizes against {name}, one dot per data set, as in SPORF's Fig. 5A; a cross marks "
        "the mean. Dots beyond ± 0.10 are drawn at the edge.",
    )


def setting_figures(tally: Tally, reference: str, labels: Labels) -> list[str]:
    """Figures over what was varied: times, transformations, grids, curves."""
    if any(STUDY in case.setting for case in tally.cases):
        return _times(tally, labels)
    drawers: Sequence[Callable[[Tally, str, Labels], list[str]]] = (
        _transformations,
        _grids,
        _curves,
    )
    return [each for draw in drawers for each in draw(tally, reference, labels)]


def _transformations(tally: Tally, reference: str, labels: Labels) -> list[str]:
    """Normalised relative errors by transformation (thesis, Fig. 2.6)."""
    sets = tally.part([case for case in tally.cases if set(case.setting) == {"transform"}])
    if len({case.data for case in sets.cases}) < MIN_SETS or reference not in sets.systems:
        return []
    panels: dict[str, dict[str, NDArray[np.float64]]] = {}
    for value, part in by_value(sets, "transform").items():
        errors, chance = part.table("error"), part.table("chance_error")
        base = errors[:, part.systems.index(reference)]
        panels[str(value)] = {
            labels.get(system, system): statistics.normalised_relative_error(
                errors[:, column], base, chance[:, column]
            )
            for column, system in enumerate(part.systems)
            if system != reference
        }
    if not any(np.isfinite(each).any() for panel in panels.values() for each in panel.values()):
        return []
    shown = labels.get(reference, reference)
    return [
        page.figure(
            figures.relative_errors(panels, shown),
            f"How many data sets have which error relative to {shown}'s, divided by the chance "
            "error (thesis, Fig. 2.6). Above “exactly 0” a system is worse.",
        )
    ]


def _grids(tally: Tally, reference: str, labels: Labels) -> list[str]:  # noqa: ARG001
    """Median ranks over a grid of two settings of one system (SPORF, Fig. 6)."""
    drawn = []
    for system in tally.systems:
        own = Tally([row for row in tally.rows if row["system"] == system])
        names = [name for name in own.setting_names if name not in ("transform", "n_train")]
        if len(names) != 2 or len({case.data for case in own.cases}) < MIN_SETS:
            continue
        rows, columns = ([*by_value(own, name)] for name in names)
        errors = _errors_on_grid(own, names, rows, columns)
        if len(errors) < MIN_SETS:
            continue
        ranks = statistics.hyperparameter_ranks(errors).reshape(len(rows), len(columns))
        words = ([str(each) for each in rows], [str(each) for each in columns])
        drawn.append(
            page.figure(
                figures.hyperparameter_ranks(*words, ranks, *(words_of(name) for name in names)),
                f"Median rank of the settings of {labels.get(system, system)} over {len(errors)} "
                "data sets, lower is better (SPORF, Fig. 6); the best is framed.",
            )
        )
    return drawn


def _errors_on_grid(
    tally: Tally, names: Sequence[str], rows: Sequence[Any], columns: Sequence[Any]
) -> NDArray[np.float64]:
    """``[set, split, setting]`` of the sets on which every point of the grid is finished."""
    scores = tally.scores(tally.measure)[:, 0]
    found = {
        (case.data, canonical([case.setting.get(name) for name in names])): scores[number]
        for number, case in enumerate(tally.cases)
    }
    grid = [canonical([row, column]) for row in rows for column in columns]
    nothing = np.full(len(tally.splits), np.nan)
    blocks = [
        np.array([found.get((data, point), nothing) for point in grid]).T
        for data in dict.fromkeys(case.data for case in tally.cases)
    ]
    whole = [block for block in blocks if np.isfinite(block).all()]
    return np.array(whole).reshape(len(whole), len(tally.splits), len(grid))


def _times(tally: Tally, labels: Labels) -> list[str]:
    """Fit times against rows, features and candidates, and strong scaling (SPORF, section 6)."""
    panels, scaling = [], {}
    for study, part in by_value(tally, STUDY).items():
        if study == "threads":
            for data in dict.fromkeys(case.data for case in part.cases):
                own = part.part([case for case in part.cases if case.data == data])
                scaling[data] = _means_along(own, "threads", "seconds_fit", labels)
            continue
        for name in part.setting_names:
            words = () if _is_numeric(part, name) else tuple(map(str, by_value(part, name)))
            for metric, title in (("seconds_fit", "fit, seconds"), ("error", "error")):
                curves = _means_along(part, name, metric, labels)
                if not curves or (metric == "error" and not words):
                    continue
                is_time = metric == "seconds_fit"
                panels.append(Panel("", curves, words_of(name), title, log_y=is_time, words=words))
    drawn = []
    if panels:
        caption = "Seconds to fit against what was varied, as in SPORF's Fig. 8."
        drawn.append(page.figure(figures.curves(panels), caption))
    scaling = {title: curves for title, curves in scaling.items() if curves}
    if scaling:
        caption = "Strong scaling: seconds with one thread over those with N (SPORF, Fig. 9)."
        drawn.append(page.figure(figures.speed_up(scaling), caption))
    return drawn


def _curves(tally: Tally, reference: str, labels: Labels) -> list[str]:  # noqa: ARG001
    """Along each number that was varied: errors of a few data sets, or the mean κ of many."""
    drawn = []
    for name in tally.setting_names:
        if not _is_numeric(tally, name):
            continue
        varied = tally.part([case for case in tally.cases if name in case.setting])
        scale = "symlog" if 0 in by_value(varied, name) else "log"
        sets = len({case.data for case in varied.cases})
        if sets > MAX_SETS:
            curves = _means_along(varied, name, "kappa", labels)
            panels = [Panel("", curves, words_of(name), "mean κ", scale)]
            what = f"Mean of Cohen's κ over {sets} data sets (as in SPORF's Fig. 7)"
        else:
            metric = METRICS.get(name, varied.measure)
            panels = [
                Panel(title, curves, words_of(name), metric.upper() if metric == "auc" else metric)
                for title, part in _apart(varied, name).items()
                if (curves := _means_along(part, name, metric, labels))
            ]
            what = "Means over the splits"
        if panels and panels[0].curves:
            caption = f"{what}, ± standard error, against the number of {words_of(name)}."
            drawn.append(page.figure(figures.curves(panels), caption))
    return drawn


def _apart(tally: Tally, name: str) -> dict[str, Tally]:
    """A part of the run for each data set and each value of the settings other than `name`."""
    others = [each for each in tally.setting_names if each != name]
    groups: dict[str, list[Case]] = {}
    for case in tally.cases:
        more = [f"{words_of(o)} {case.setting[o]}" for o in others if o in case.setting]
        groups.setdefault(", ".join([case.data, *more]), []).append(case)
    return {title: tally.part(cases) for title, cases in groups.items()}


def _means_along(tally: Tally, name: str, metric: str, labels: Labels) -> dict[str, Curve]:
    """For each system, means over data sets (or over splits, of a single set) along a setting."""
    curves = {}
    single = len({case.data for case in tally.cases}) == 1
    scores, table = tally.scores(metric), tally.table(metric)
    numeric = _is_numeric(tally, name)
    for column, system in enumerate(tally.systems):
        points = []
        for place, value in enumerate(by_value(tally, name)):
            at = [n for n, case in enumerate(tally.cases) if case.setting.get(name) == value]
            found = scores[at, column].ravel() if single else table[at, column]
            found = found[np.isfinite(found)]
            if len(found):
                spread = statistics.standard_error(found)
                points.append((value if numeric else place, float(found.mean()), spread))
        if len(points) > 1:
            x, y, spreads = (list(each) for each in zip(*points, strict=True))
            known = np.isfinite(spreads).all() and metric != "seconds_fit"
            curves[labels.get(system, system)] = Curve(x, y, spreads if known else None)
    return curves


def _is_numeric(tally: Tally, name: str) -> bool:
    values = [case.setting[name] for case in tally.cases if name in case.setting]
    return all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)
