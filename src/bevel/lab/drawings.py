"""Which figures a run supports, drawn from its tally: found by what was varied in it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bevel.lab import figures, page, statistics
from bevel.lab.cells import canonical
from bevel.lab.standings import Standing
from bevel.lab.tally import Case, Tally

__all__ = ["comparison_figures", "setting_figures", "words_of"]

FEWEST_SETS = 6  # below, distributions over data sets show nothing
MOST_PANELS = 6

# What settings are called on an axis.
WORDS = {
    "n_train": "training rows",
    "n_features": "features",
    "noise_dims": "added noise dimensions",
    "n_jobs": "threads",
    "threads": "threads",
    "d": "directions tried at a node",
}

Labels = Mapping[str, str]


def words_of(name: str) -> str:
    """A setting's name as people say it."""
    return WORDS.get(name, name.replace("_", " "))


def comparison_figures(
    tally: Tally, standing: Sequence[Standing], reference: str, labels: Labels
) -> list[str]:
    """Effect sizes, rank histogram and critical differences of one setting (SPORF, Fig. 5)."""
    table = tally.table(tally.measure)
    rows = statistics.complete_rows(table)
    if rows.sum() < FEWEST_SETS or len(tally.systems) < 2:
        return []
    order = [tally.systems.index(line.system) for line in standing]
    names = [labels.get(line.system, line.system) for line in standing]
    values = table[rows][:, order]
    drawn = [_effects(tally, standing, reference, labels)]
    p_values = [line.p_reference_better for line in standing]
    drawn.append(
        page.figure(
            figures.rank_histogram(names, statistics.rank_shares(values), p_values),
            f"Ranks over {rows.sum()} data sets, as in SPORF's Fig. 5B. The p-values are "
            f"those of one-sided tests of Wilcoxon: is {labels.get(reference, reference)} better?",
        )
    )
    if len(names) > 2:
        reach = statistics.critical_difference(len(names), len(values))
        test = statistics.friedman(values)
        drawn.append(
            page.figure(
                figures.critical_differences(
                    names, statistics.mean_ranks(values), reach, statistics.groups_alike(values)
                ),
                "Mean ranks; bars join systems that do not differ by Nemenyi's test at 5 %. "
                f"Friedman's test that all are alike: p = {test.p_value:.2g}.",
            )
        )
    return drawn


def _effects(tally: Tally, standing: Sequence[Standing], reference: str, labels: Labels) -> str:
    """κ where it is known; otherwise the negative error, so that the sign means the same."""
    kappa = tally.table("kappa")
    measure, values = (
        ("κ", kappa) if np.isfinite(kappa).any() else ("−error", -tally.table("error"))
    )
    against = values[:, tally.systems.index(reference)]
    effects = {
        labels.get(line.system, line.system): against - values[:, tally.systems.index(line.system)]
        for line in standing
        if line.system != reference
    }
    name = labels.get(reference, reference)
    return page.figure(
        figures.effect_sizes(effects, name, measure),
        f"Effect sizes against {name}, one dot per data set, as in SPORF's Fig. 5A; a "
        "cross marks the mean. Dots beyond ± 0.10 are drawn at the edge.",
    )


def setting_figures(tally: Tally, reference: str, labels: Labels) -> list[str]:
    """Figures over what was varied: curves, transformations, grids, times."""
    drawers: Sequence[Callable[[Tally, str, Labels], list[str]]] = (
        _transformations,
        _grids,
        _times,
        _curves,
    )
    return [each for draw in drawers for each in draw(tally, reference, labels)]


def _transformations(tally: Tally, reference: str, labels: Labels) -> list[str]:
    """Normalised relative errors by transformation (thesis, Fig. 2.6)."""
    name = next((n for n in tally.setting_names if n in ("transform", "transformation")), None)
    if name is None:
        return []
    panels: dict[str, dict[str, Any]] = {}
    for value, part in by_value(tally, name).items():
        if reference not in part.systems:
            continue
        errors, chance = part.table("error"), part.table("chance_error")
        base = errors[:, part.systems.index(reference)]
        panels[str(value)] = {
            labels.get(system, system): statistics.normalised_relative_error(
                errors[:, column], base, chance[:, column]
            )
            for column, system in enumerate(part.systems)
            if system != reference
        }
    counted = [np.isfinite(each).any() for panel in panels.values() for each in panel.values()]
    if not any(counted):
        return []
    shown = labels.get(reference, reference)
    return [
        page.figure(
            figures.relative_errors(panels, shown),
            f"How many data sets have which error relative to {shown}, divided by the chance error "
            "(thesis, Fig. 2.6). Above “exactly 0” a system is worse.",
        )
    ]


def _grids(tally: Tally, reference: str, labels: Labels) -> list[str]:  # noqa: ARG001
    """Median ranks over a grid of two settings of one system (SPORF, Fig. 6)."""
    drawn = []
    for system in tally.systems:
        own = Tally([row for row in tally.rows if row["system"] == system])
        names = [name for name in own.setting_names if not name.startswith(("n_", "noise"))]
        if len(names) != 2 or "study" in names:
            continue
        rows, columns = ([*by_value(own, name)] for name in names)
        settings = [{names[0]: row, names[1]: column} for row in rows for column in columns]
        errors = _errors_by_setting(own, names, settings)
        if errors.shape[0] < 2:
            continue
        ranks = statistics.hyperparameter_ranks(errors).reshape(len(rows), len(columns))
        shown = labels.get(system, system)
        drawn.append(
            page.figure(
                figures.hyperparameter_ranks(
                    [str(each) for each in rows],
                    [str(each) for each in columns],
                    ranks,
                    *(words_of(name) for name in names),
                ),
                f"Median rank of {shown}'s settings over {errors.shape[0]} data sets, lower is "
                "better (SPORF, Fig. 6); the best is framed.",
            )
        )
    return drawn


def _errors_by_setting(
    tally: Tally, names: Sequence[str], settings: Sequence[Mapping[str, Any]]
) -> Any:
    """``[set, split, setting]`` of the sets on which every setting is finished."""
    keys = [canonical(dict(each)) for each in settings]
    blocks = []
    scores = tally.scores(tally.measure)[:, 0]
    for data in dict.fromkeys(case.data for case in tally.cases):
        found = {
            canonical({name: case.setting.get(name) for name in names}): scores[number]
            for number, case in enumerate(tally.cases)
            if case.data == data
        }
        block = np.array([found.get(key, np.full(len(tally.splits), np.nan)) for key in keys]).T
        if np.isfinite(block).all():
            blocks.append(block)
    return np.array(blocks).reshape(len(blocks), len(tally.splits), len(keys))


def _times(tally: Tally, reference: str, labels: Labels) -> list[str]:  # noqa: ARG001
    """Fit times against rows, features, directions, threads (SPORF, section 6)."""
    if "study" not in {name for case in tally.cases for name in case.setting}:
        return []
    panels = []
    for study, part in by_value(tally, "study").items():
        numeric = [name for name in part.setting_names if _is_numeric(part, name)]
        for name in numeric:
            curves = _means_along(part, name, "seconds_fit", labels)
            title = f"{study}: {words_of(name)}" if len(numeric) > 1 else str(study)
            panels.append(figures.Panel(title, curves, words_of(name), "fit, seconds", log_y=True))
    return [page.figure(figures.curves(panels), "Fit times.")] if panels else []


def _curves(tally: Tally, reference: str, labels: Labels) -> list[str]:  # noqa: ARG001
    """Error of each data set, or mean κ of many, along each number that was varied."""
    if "study" in {name for case in tally.cases for name in case.setting}:
        return []
    sets = list(dict.fromkeys(case.data for case in tally.cases))
    drawn = []
    for name in tally.setting_names:
        if not _is_numeric(tally, name):
            continue
        scale = "symlog" if 0 in by_value(tally, name) else "log"
        if len(sets) > MOST_PANELS:
            curves = _means_along(tally, name, "kappa", labels)
            panels = [figures.Panel("", curves, words_of(name), "mean κ", scale)]
            caption = f"Mean of Cohen's κ over {len(sets)} data sets, ± standard error"
        else:
            panels = []
            for data in sets:
                part = tally.part([case for case in tally.cases if case.data == data])
                curves = _means_along(part, name, tally.measure, labels)
                panels.append(figures.Panel(data, curves, words_of(name), tally.measure, scale))
            caption = "Mean error over the splits, ± standard error"
        if any(panel.curves for panel in panels):
            text = f"{caption}, against the number of {words_of(name)}."
            drawn.append(
                page.figure(figures.curves(panels), text.replace("number of added", "added"))
            )
    return drawn


def _means_along(tally: Tally, name: str, metric: str, labels: Labels) -> dict[str, figures.Curve]:
    """For each system, means over data sets (or over splits, of a single set) along a setting."""
    curves = {}
    single = len({case.data for case in tally.cases}) == 1
    scores, table = tally.scores(metric), tally.table(metric)
    for column, system in enumerate(tally.systems):
        points = []
        for value in by_value(tally, name):
            at = [n for n, case in enumerate(tally.cases) if case.setting.get(name) == value]
            found = scores[at, column].ravel() if single else table[at, column]
            found = found[np.isfinite(found)]
            if len(found):
                points.append((value, float(found.mean()), statistics.standard_error(found)))
        if len(points) > 1:
            x, y, spread = (list(each) for each in zip(*points, strict=True))
            known = np.isfinite(spread).all() and metric != "seconds_fit"
            curves[labels.get(system, system)] = figures.Curve(x, y, spread if known else None)
    return curves


def by_value(tally: Tally, name: str) -> dict[Any, Tally]:
    """The run divided by the values of a setting, numbers in their order."""
    groups: dict[Any, list[Case]] = {}
    for case in tally.cases:
        if name in case.setting:
            groups.setdefault(case.setting[name], []).append(case)
    values = sorted(groups) if all(isinstance(each, int | float) for each in groups) else groups
    return {value: tally.part(groups[value]) for value in values}


def _is_numeric(tally: Tally, name: str) -> bool:
    values = [case.setting[name] for case in tally.cases if name in case.setting]
    return all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)
