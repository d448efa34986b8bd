"""Quantiles of the targets of rows, for pages, with their coverage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.analysis.accuracy.evaluation_rows import EvaluationRows
from bevel.analysis.accuracy.row_quantiles import quantiles_of, training_targets
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.results import RowQuantiles
from bevel.data.columns import Columns
from bevel.forest.kept_targets import KeptTargets
from bevel.workflow.scores import Estimate, share_estimate

__all__ = ["Band", "TargetQuantiles", "find_target_quantiles"]

LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
MOST_MEMBERS = 2e7  # training rows times trees: more than a gigabyte for a moment

NOT_KEPT = (
    "Quantiles need the training targets, and the model has not kept them: grow it with bevel fit "
    "--keep-targets (keep_targets=True in Python), or explain it on the rows of the fit, with "
    "--target."
)
GROWN_ON = (
    "Quantiles of rows that every tree has seen would be close to their own targets: "
    "explain the model on other rows."
)
WEIGHTED = (
    "Quantiles need the weights of the training rows, which are not known here: grow the model "
    "with keep_targets=True."
)
TOO_MANY = (
    "Quantiles of so many training rows in so many trees take more memory than a page is worth: "
    "grow the model with bevel fit --keep-targets (keep_targets=True in Python)."
)


@dataclass(frozen=True)
class Band:
    """A central interval.

    Attributes
    ----------
    share : float
        Share of targets that should be inside.
    covered : Estimate or None
        Observed share; None if the targets are not known.
    width : float
        Median over rows of the distance between its ends.
    """

    share: float
    covered: Estimate | None
    width: float


@dataclass(frozen=True, eq=False)
class TargetQuantiles:
    """Quantiles of the targets of rows.

    Attributes
    ----------
    quantiles : RowQuantiles or None
        Quantiles of the evaluated rows.
    missing : str
        Reason why there are none, and how to get them; empty if there are some.
    """

    quantiles: RowQuantiles | None
    missing: str

    @property
    def bands(self) -> list[Band]:
        """Central intervals, widest first."""
        return [] if self.quantiles is None else _bands(self.quantiles)


def find_target_quantiles(
    analysed: AnalysedForest,
    rows: EvaluationRows,
    row_kind: str,
    X: Columns,
    y: npt.NDArray[Any] | None,
) -> TargetQuantiles:
    """Find quantiles of the targets of some rows, for a regressor.

    Parameters
    ----------
    analysed : AnalysedForest
        The forest.
    rows : EvaluationRows
        Rows to evaluate.
    row_kind : {"new", "out-of-bag", "grown on"}
        Whether the forest was grown on them.
    X, y : Columns and ndarray
        All given rows, and their targets if these are known; if the forest was grown on the rows,
        these are its training targets.
    """
    if row_kind == "grown on":
        return TargetQuantiles(None, GROWN_ON)
    targets, missing = _training_targets(analysed, row_kind, X, y)
    if targets is None:
        return TargetQuantiles(None, missing)
    truth = None if y is None else np.asarray(rows.target, np.float64)
    return TargetQuantiles(
        quantiles_of(analysed, targets, rows.X, LEVELS, target=truth, out=rows.out), ""
    )


def _training_targets(
    analysed: AnalysedForest, row_kind: str, X: Columns, y: npt.NDArray[Any] | None
) -> tuple[KeptTargets | None, str]:
    """Training targets of the leaves, or the reason why there are none."""
    kept = analysed.kept_targets()
    if kept is not None:
        return kept, ""
    if row_kind != "out-of-bag":
        return None, NOT_KEPT
    if len(X) * analysed.forest.n_trees > MOST_MEMBERS:
        return None, TOO_MANY
    try:
        return training_targets(analysed, X, y), ""
    except ValueError:  # the rows look like those of the fit but contradict the leaf predictions
        return None, WEIGHTED


def _bands(found: RowQuantiles) -> list[Band]:
    values = found.values[found.known]
    if len(values) == 0:
        return []
    bands = []
    for low, high in found.bands:
        covered = None
        if found.target is not None:
            inside = found.inside((low, high))
            covered = share_estimate(int(inside.sum()), len(inside))
        width = float(np.median(values[:, high] - values[:, low]))
        share = round(float(found.levels[high] - found.levels[low]), 9)  # 0.9, not 0.8999…
        bands.append(Band(share, covered, width))
    return bands
