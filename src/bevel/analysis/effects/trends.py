"""Which way each feature pushes the prediction, in one number for each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.effects.accumulated import Bins, local_effects
from bevel.analysis.effects.columns import read_effect_column
from bevel.analysis.effects.curves import read_effect_rows

__all__ = ["Trends", "read_trends"]

N_BINS = 20  # of equally many rows; the first and the last are left out


class Trends(NamedTuple):
    """How the prediction changes from low to high values of each feature.

    Attributes
    ----------
    change : ndarray of shape (p,)
        Accumulated local effect at the 95 % quantile less that at the 5 % quantile; NaN of nominal
        and of constant features.
    output : list of str or None
        The class whose probability changes most, for each feature; None in regression, and of two
        classes, where it is that of the second one.
    """

    change: Floats
    output: list[str] | None


def read_trends(analysed: AnalysedForest, X: Any) -> Trends:
    """Trends of all features over the rows X."""
    rows = read_effect_rows(analysed, X, None, None, False, 0)
    p = len(analysed.names)
    change, column = np.full(p, np.nan), np.zeros(p, np.intp)
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
    if analysed.classes is None or len(analysed.classes) == 2:
        return Trends(change, None)
    return Trends(change, [str(analysed.classes[c]) for c in column])
