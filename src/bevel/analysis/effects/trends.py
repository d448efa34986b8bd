"""Direction of the effect of each feature, in one number for each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.effects.accumulated import Bins, local_effects
from bevel.analysis.effects.columns import read_effect_column
from bevel.analysis.effects.curves import read_effect_rows

__all__ = ["Trends", "read_trends"]

N_BINS = 20  # bins of equally many rows; the first and the last are left out


class Trends(NamedTuple):
    """Change of the prediction from low to high values of each feature.

    Attributes
    ----------
    change : ndarray of shape (p,)
        Accumulated local effect at the 95 % quantile minus that at the 5 % quantile; NaN for
        nominal and for constant features.
    output : list of str or None
        Class whose probability changes most, for each feature; None in regression, and for two
        classes, where it is the second one.
    direction : list of str
        "rises", "falls", or "mixed" where the curve reverses more than half of its change; "" for
        nominal and for constant features, and where the curve is flat.
    """

    change: Floats
    output: list[str] | None
    direction: list[str]


def read_trends(analysed: AnalysedForest, X: Any) -> Trends:
    """Trends of all features over the rows X."""
    rows = read_effect_rows(analysed, X, None, None, False, 0)
    p = len(analysed.names)
    change, column = np.full(p, np.nan), np.zeros(p, np.intp)
    direction = [""] * p
    for feature in range(p):
        values = read_effect_column(analysed, X, feature)
        if values.is_nominal or len(np.unique(values.known)) < 2:
            continue
        bins = Bins(values, N_BINS)
        curve, _ = local_effects(analysed, rows, [values], [bins], with_errors=False)
        if bins.n == N_BINS:
            curve = curve[1:-1]
        if analysed.forest.n_classes == 2:
            curve = curve[:, 1:]
        column[feature] = np.argmax(np.abs(curve[-1] - curve[0]))
        of_class = curve[:, column[feature]]
        change[feature] = of_class[-1] - of_class[0]
        direction[feature] = _direction(of_class)
    if analysed.classes is None or len(analysed.classes) == 2:
        return Trends(change, None, direction)
    return Trends(change, [str(analysed.classes[c]) for c in column], direction)


def _direction(curve: Floats) -> str:
    """Direction of a curve, by its net change as a share of its total variation."""
    way = float(np.abs(np.diff(curve)).sum())
    change = float(curve[-1] - curve[0])
    if way == 0.0:
        return ""
    if abs(change) < 0.5 * way:
        return "mixed"
    return "rises" if change > 0 else "falls"
