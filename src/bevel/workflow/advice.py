"""Does going oblique help on this data, and which family of directions helps most?

Forests of every family are grown on the same bags, so that each row is evaluated by trees that did
not see it, the same trees' bags for all families, and the differences are paired row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bevel._types import Floats
from bevel.projections import CCA, Ridge
from bevel.workflow.fitting import Settings, coded, fit
from bevel.workflow.labelled_rows import CLASSIFICATION, LabelledRows
from bevel.workflow.scores import Estimate, mean_estimate, paired_share_estimate, row_losses

__all__ = ["Advice", "Line", "advise", "families_for"]


REFERENCE, DEFAULT = "axis", "sparse"
CHEAP: dict[str, Any] = {name: name for name in (REFERENCE, DEFAULT, "combination")}
# Every direction uses many columns. Of the models only those that leave rows out of the bag.
DENSE: dict[str, Any] = {name: name for name in ("gaussian", "rotation", "principal")} | {
    'Ridge(tune="gcv")': Ridge(tune="gcv")
}
FOR_CLASSES: dict[str, Any] = {"lda": "lda", "CCA(bootstrap=None)": CCA(bootstrap=None)}
MOST_DENSE_COLUMNS = 200
MOST_TREES = 200


@dataclass(frozen=True)
class Line:
    """One family: its mean loss, and how much less it loses than the axis-aligned forest.

    `gain` is positive where the family is better; None for the reference itself. The interval of
    the default family is its own; those of the others are widened for being many.
    """

    family: str
    loss: float
    gain: Estimate | None


@dataclass(frozen=True)
class Advice:
    """The result; losses are errors, or squared errors over the target's variance."""

    lines: Sequence[Line]
    task: str
    n_trees: int

    @property
    def best(self) -> Line:
        """The family of least loss, the first of equals: the cheapest."""
        return min(self.lines, key=lambda line: line.loss)

    def line(self, family: str) -> Line:
        return next(line for line in self.lines if line.family == family)

    @property
    def verdict(self) -> str:
        """ "helps", "hurts" or "makes no clear difference"."""
        gain = self.line(DEFAULT).gain
        assert gain is not None
        if gain.low > 0.0:
            return "helps"
        return "hurts" if gain.high < 0.0 else "makes no clear difference"

    def sentence(self) -> str:
        """The advice in words."""
        axis, oblique, best = self.line(REFERENCE), self.line(DEFAULT), self.best
        gain = oblique.gain
        assert gain is not None
        what = "out-of-bag error" if self.task == CLASSIFICATION else "unexplained variance"
        first = (
            f"Going oblique {self.verdict} on this data: {what} is {_percent(oblique.loss)} % with "
            f"{DEFAULT} directions and {_percent(axis.loss)} % along the axes, a gain of "
            f"{_percent(gain.value)} points (95 % interval {_percent(gain.low)} to "
            f"{_percent(gain.high)})."
        )
        return f"{first} {self._best_sentence(best)}"

    def _best_sentence(self, best: Line) -> str:
        n = len(self.lines)
        if best.gain is None:
            return f"None of the {n} families tried does better than the axes."
        doubt = "" if best.gain.low > 0.0 else ", though chance could do that among so many"
        does = f"{best.family} does best ({_percent(best.loss)} %)"
        return f"Of the {n} families tried, {does}{doubt}."


def _percent(share: float) -> str:
    text = f"{100.0 * share:.1f}"
    return text.removeprefix("-") if float(text) == 0.0 else text.replace("-", "−")


def families_for(data: LabelledRows) -> dict[str, Any]:
    """Families worth trying, by name: dense ones only where their cost per node stays small."""
    n_numeric = data.X.shape[1] - len(data.X.nominal)
    if n_numeric < 2:
        return {}
    if n_numeric > MOST_DENSE_COLUMNS:
        return CHEAP
    return CHEAP | DENSE | (FOR_CLASSES if data.task == CLASSIFICATION else {})


def advise(
    data: LabelledRows, settings: Settings, *, on_family: Callable[[int, str], object]
) -> Advice | None:
    """Compare the families on the data; None where there is nothing to combine.

    Parameters
    ----------
    data : LabelledRows
        The rows.
    settings : Settings
        Seed, threads and number of trees (200 at most are grown).
    on_family : callable
        Called with the number of families done, and the name of the next.
    """
    families = families_for(data)
    if not families:
        return None
    n_trees = min(MOST_TREES, settings.n_trees)
    losses = {}
    for number, (family, projection) in enumerate(families.items()):
        on_family(number, family)
        chosen = replace(settings, projection=projection, n_projections="auto", n_trees=n_trees)
        losses[family] = _losses(data, chosen)
    known = ~np.isnan(losses[REFERENCE])  # the same bags: the same rows for all
    if not known.any():
        return None
    scale = 1.0 if data.task == CLASSIFICATION else float(np.var(data.y[known]))
    lines = [
        Line(
            family,
            float(np.mean(loss[known])) / scale,
            None
            if family == REFERENCE
            else _gain(
                losses[REFERENCE][known] - loss[known],
                data,
                scale,
                1 if family == DEFAULT else len(families) - 1,
            ),
        )
        for family, loss in losses.items()
    ]
    return Advice(lines, data.task, n_trees)


def _losses(data: LabelledRows, settings: Settings) -> Floats:
    fitted = fit(data, settings)
    assert fitted.out_of_bag is not None  # all of these families draw bags
    return row_losses(coded(data), fitted.out_of_bag, data.task)


def _gain(difference: Floats, data: LabelledRows, scale: float, n_comparisons: int) -> Estimate:
    if data.task == CLASSIFICATION:
        return paired_share_estimate(difference, n_comparisons)
    return mean_estimate(difference / scale, n_comparisons)
