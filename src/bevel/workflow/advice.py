"""Assesses whether oblique splits help on a table.

The model is compared with a forest that cuts along the axes: as many trees, the same criterion and
node size, the same seed and the same rows left out, so that the differences are due to the
directions and are paired row by row. The scores of the model are its own, not those of a similar
forest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bevel._types import Floats
from bevel.projections.base import Count
from bevel.workflow.fitting import cross_validate, fit
from bevel.workflow.rows import LabelledRows
from bevel.workflow.scores import Estimate
from bevel.workflow.tasks import COMBINED, OneTarget, Settings

__all__ = ["AXIS", "MODEL", "Advice", "Line", "advise", "points", "rivals_of"]


AXIS, OBLIQUE = "axis", "auto"
MODEL = "this model"


@dataclass(frozen=True)
class Line:
    """One forest: its mean loss, and its gain over the axis-aligned one.

    `gain` is positive where the forest is better; None for the axis-aligned forest itself.
    """

    forest: str
    loss: float
    gain: Estimate | None


@dataclass(frozen=True)
class Advice:
    """Result of a comparison; losses are errors, or squared errors over the target's variance.

    `lines` begin with the model; `by` is "out-of-bag" or "cross-validated".
    """

    lines: Sequence[Line]
    task: OneTarget
    n_trees: int
    by: str = "out-of-bag"

    @property
    def axis(self) -> Line:
        """The axis-aligned forest, which may be the model."""
        return next(line for line in self.lines if line.gain is None)

    @property
    def oblique(self) -> Line:
        """The model if it is oblique, otherwise the oblique forest beside it."""
        return next(line for line in self.lines if line.gain is not None)

    @property
    def verdict(self) -> str:
        """ "helps", "hurts" or "makes no clear difference", by the interval as it is printed."""
        gain = self.oblique.gain
        assert gain is not None
        if _rounded(gain.low) > 0.0:
            return "helps"
        return "hurts" if _rounded(gain.high) < 0.0 else "makes no clear difference"

    def sentence(self) -> str:
        """The advice as a sentence."""
        axis, oblique, gain = self.axis, self.oblique, self.oblique.gain
        assert gain is not None
        return (
            f"Going oblique {self.verdict} on this data: the {self.by} {self.task.loss} is "
            f"{points(oblique.loss)} % with {_called(oblique)} and {points(axis.loss)} % with "
            f"{_called(axis)} (95 % interval of the gain {points(gain.low)} to "
            f"{points(gain.high)} points)."
        )


def _called(line: Line) -> str:
    if line.forest == MODEL:
        return MODEL
    return "oblique cuts" if line.forest == OBLIQUE else "cuts along the axes"


def _rounded(share: float) -> float:
    return round(100.0 * share, 1)


def points(share: float, sign: str = "") -> str:
    """A share in per cent, or a difference of shares in points, with one decimal.

    Words follow the printed numbers: a gain from "0.0" is not clear.
    """
    value = _rounded(share)
    return "0.0" if value == 0.0 else f"{value:{sign}.1f}".replace("-", "−")


def rivals_of(data: LabelledRows, settings: Settings) -> list[str]:
    """Projections of the forests to compare a model with; empty if nothing can be combined."""
    n_columns = data.X.shape[1]
    # By default directions combine levels of nominal columns too.
    if settings.projection not in (AXIS, OBLIQUE):
        n_columns -= len(data.X.nominal)
    if settings.model == COMBINED or n_columns < 2:
        return []
    return [OBLIQUE] if settings.projection == AXIS else [AXIS]


def advise(
    data: LabelledRows,
    settings: Settings,
    model: Any,
    predictions: Floats,
    *,
    by: str = "out-of-bag",
    on_rival: Callable[[int, str], object] = lambda *_: None,
) -> Advice | None:
    """Compare a model with a forest of the other kind; None if features cannot be combined.

    Parameters
    ----------
    data : LabelledRows
        The rows.
    settings : Settings
        Settings of the model.
    model : estimator
        The fitted model, whose node size the other forest gets.
    predictions : ndarray
        Predictions for each row by trees of the model that have not seen it; NaN where missing.
    by : {"out-of-bag", "cross-validated"}
        Origin of the predictions; the other forest is evaluated in the same way.
    on_rival : callable
        Called with the number of forests done, and the projection of the next.
    """
    task, y = data.task, data.task.coded(data)
    losses = {MODEL: task.row_losses(y, predictions)}
    for number, projection in enumerate(rivals_of(data, settings)):
        on_rival(number, projection)
        chosen = _like(data, settings, model, projection)
        losses[projection] = task.row_losses(y, _predict(data, chosen, by))
    known = ~np.isnan(np.array(list(losses.values()))).any(axis=0)
    if len(losses) < 2 or not known.any():
        return None
    scale = task.scale(y[known])
    reference = losses.get(AXIS, losses[MODEL])
    lines = [
        Line(
            forest,
            float(np.mean(loss[known])) / scale,
            None if loss is reference else task.gain((reference - loss)[known], scale),
        )
        for forest, loss in losses.items()
    ]
    return Advice(lines, task, chosen.n_trees, by)


def _like(data: LabelledRows, settings: Settings, model: Any, projection: str) -> Settings:
    """Settings of a forest with another projection and otherwise the model's settings."""
    others = dict(settings.others)
    n_projections: Count = "auto"
    if settings.kind.has_bags:
        settings = replace(settings, n_trees=model.forest_.n_trees)
        families = getattr(model, "families_", None)
        if others.get("min_samples_split", "auto") == "auto":
            others["min_samples_split"] = 2 if families is None else families.min_samples_split
        if families is not None:  # the axis family as in the model
            n_projections = data.task.axis_family().n_projections
        criterion = data.task.rival_criterion(families is not None)
        if criterion is not None and str(others.get("criterion", "auto")) == "auto":
            others["criterion"] = criterion
    return replace(settings, projection=projection, n_projections=n_projections, others=others)


def _predict(data: LabelledRows, settings: Settings, by: str) -> Floats:
    if by == "cross-validated":
        return cross_validate(data, settings)
    predictions: Floats | None = fit(data, settings).out_of_bag
    assert predictions is not None  # both kinds of rivals draw bags
    return predictions
