"""What the stored errors say: paired differences over data sets, with intervals and verdicts."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from benchmarks.intervals import Interval, paired
from benchmarks.quality.systems import COMPARISONS, SCALES
from benchmarks.tables import markdown

__all__ = ["NOISE", "summarise"]

NOISE = 0.005  # "within noise": the 95 % interval lies inside ± 0.5 points

# system -> data set -> error, the mean over folds and repeats
Errors = Mapping[str, Mapping[str, float]]


def summarise(comparison: str, errors: Errors) -> str:
    """The tables and verdict lines of one comparison."""
    if comparison == "axis-sklearn":
        return against(errors, "bevel-axis", ["sklearn"], equivalence=True)
    if comparison == "sparse-ydf":
        return "\n\n".join(
            against(errors, ours, ["ydf-sparse", "ydf-sparse-minmax"], equivalence=False)
            for ours in ("bevel-sparse", "bevel-scale-none")
        )
    if comparison == "scale":
        return scales(errors)
    if comparison == "lists":
        return lists(errors)
    return "\n\n".join(
        [
            against(errors, "bevel-sparse", ["bevel-sparse-onehot"], equivalence=False),
            against(
                errors, "bevel-axis", ["bevel-axis-onehot", "sklearn-onehot"], equivalence=False
            ),
        ]
    )


def shared(errors: Errors, systems: Sequence[str]) -> list[str]:
    """Data sets that all the systems have finished."""
    names = [set(errors.get(system, ())) for system in systems]
    return sorted(set.intersection(*names)) if names else []


def column(errors: Errors, system: str, names: Sequence[str]) -> np.ndarray:
    return np.array([errors[system][name] for name in names])


def against(errors: Errors, ours: str, others: list[str], equivalence: bool) -> str:
    """`ours` beside each of the others: means, paired difference, extremes, verdict."""
    rows, lines = [], []
    for other in others:
        names = shared(errors, [ours, other])
        if len(names) < 2:
            lines.append(f"{ours} against {other}: fewer than two data sets are finished.")
            continue
        a, b = column(errors, ours, names), column(errors, other, names)
        interval = paired(a, b)
        worst, best = int(np.argmax(a - b)), int(np.argmin(a - b))
        rows.append(
            [
                f"{ours} − {other}",
                str(len(names)),
                f"{100 * a.mean():.2f}",
                f"{100 * b.mean():.2f}",
                interval.in_points(),
                f"{np.sum(a < b)} / {np.sum(a == b)} / {np.sum(a > b)}",
                f"{wilcoxon(a, b):.3f}",
                f"{100 * (a - b)[best]:+.1f} {names[best]}",
                f"{100 * (a - b)[worst]:+.1f} {names[worst]}",
            ]
        )
        lines.append(f"{ours} against {other}: {verdict(interval, equivalence)}")
    header = ["error %", "sets", "ours", "other", "difference [95 %], points"]
    header += ["better / equal / worse", "Wilcoxon p", "best", "worst"]
    return (markdown(header, rows) + "\n\n" if rows else "") + "\n".join(lines)


def verdict(interval: Interval, equivalence: bool) -> str:
    low, high = interval.low, interval.high
    if equivalence:
        if interval.within(NOISE):
            return "within noise (the interval lies inside ± 0.5 points)."
        return f"NOT shown to be within ± {100 * NOISE:g} points."
    if high < 0:
        return "better (the whole interval is below 0)."
    if high <= NOISE:
        return "at least as good, within noise (the interval ends below + 0.5 points)."
    if low > 0:
        return "WORSE (the whole interval is above 0)."
    return "undecided: the interval reaches above + 0.5 points."


def wilcoxon(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p value of Wilcoxon's signed-rank test; 1 when nothing differs."""
    return float(stats.wilcoxon(a, b, method="approx").pvalue) if np.any(a != b) else 1.0


def scales(errors: Errors) -> str:
    """The candidates for scale="auto" side by side, over the data sets that all have finished."""
    systems = [f"bevel-scale-{scale}" for scale in SCALES if f"bevel-scale-{scale}" in errors]
    names = shared(errors, systems)
    if len(names) < 2 or "bevel-scale-none" not in systems:
        return "scale: fewer than two data sets are finished for all candidates."
    table = np.array([column(errors, system, names) for system in systems])
    ranks = stats.rankdata(np.round(table, 9), axis=0)
    plain = column(errors, "bevel-scale-none", names)
    order = np.argsort(table.mean(axis=1))
    rows = []
    for i in order:
        difference = table[i] - plain
        worst = int(np.argmax(difference))
        regret = table[i] - table.min(axis=0)
        furthest = int(np.argmax(regret))
        rows.append(
            [
                systems[i].removeprefix("bevel-scale-"),
                f"{100 * table[i].mean():.2f}",
                f"{ranks[i].mean():.2f}",
                paired(table[i], plain).in_points(),
                f"{100 * difference[worst]:+.1f} {names[worst]}" if difference.any() else "–",
                f"{100 * regret[furthest]:+.1f} {names[furthest]}",
            ]
        )
    header = ["scale", "error %", "mean rank", "difference to none [95 %], points"]
    header += ["worst loss to none", "worst loss to the best scale"]
    return markdown(header, rows) + f"\n\n{len(names)} data sets; sparse forest, d = p, density 3."


def lists(errors: Errors) -> str:
    """A list of projections beside its members: ranks, differences, losses to the best of them."""
    systems = COMPARISONS["lists"][1]  # the list first
    names = shared(errors, systems)
    if len(names) < 2:
        return "lists: fewer than two data sets are finished for all systems."
    table = np.array([column(errors, system, names) for system in systems])
    ranks = stats.rankdata(np.round(table, 9), axis=0).mean(axis=1)
    best = table[1:].min(axis=0)
    rows = []
    for system, error, rank in zip(systems, table, ranks, strict=True):
        loss = error - best
        worst = int(np.argmax(loss))
        difference = "–" if system == systems[0] else paired(table[0], error).in_points()
        rows.append(
            [
                system.removeprefix("bevel-"),
                f"{100 * error.mean():.2f}",
                f"{rank:.2f}",
                difference,
                f"{100 * loss.mean():+.2f}",
                f"{100 * loss[worst]:+.1f} {names[worst]}",
            ]
        )
    header = ["projection", "error %", "mean rank", "list − it [95 %], points"]
    header += ["mean loss to the best member", "worst loss to the best member"]
    text = markdown(header, rows) + f"\n\n{len(names)} data sets."
    return text + f" The list ranks {int(np.sum(ranks[1:] < ranks[0])) + 1} of {len(systems)}."
