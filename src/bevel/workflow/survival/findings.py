"""Findings of a survival forest on some rows: scores, risk groups, calibration, single curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis import risk_groups, survival_bands, survival_calibration, survival_scores
from bevel.analysis.accuracy.evaluation_rows import EvaluationRows
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.results import RiskGroups, SurvivalBands, SurvivalCalibration, SurvivalScores
from bevel.data.columns import Columns
from bevel.data.survival import SurvivalTarget
from bevel.errors import NoOutOfBagError
from bevel.workflow.scores import Estimate
from bevel.workflow.survival.risk_rules import RiskRule

__all__ = ["SurvivalFindings", "concordance_estimate", "evaluation_rows", "find_survival"]

Z = 1.959964  # normal quantile of a 95 % interval
N_GROUPS, LEAST_OF_GROUP = 3, 5
QUANTILES = (0.25, 0.5, 0.75)  # levels of the event times at which calibration is shown
CURVES = {"lowest risk": 0.05, "median risk": 0.5, "highest risk": 0.95}
N_CHECKED = 3  # trees whose leaves are checked to recognise the rows of the fit


@dataclass(frozen=True, eq=False)
class SurvivalFindings:
    """Findings on some rows.

    Attributes
    ----------
    scores : SurvivalScores or None
        Concordance, Brier score and AUC; None without times and events.
    groups : RiskGroups or None
        Rows by their risk, with observed and predicted curves.
    calibrations : tuple of SurvivalCalibration
        Calibration at the quartiles of the event times.
    bands : SurvivalBands
        Curves of rows of low, middle and high risk.
    names : tuple of str
        Names of these rows.
    n_rows, n_events : int
        Number of rows and of events, for rows with times and events.
    rules : tuple of RiskRule
        Leaves of a small surrogate tree; empty without times and events.
    """

    scores: SurvivalScores | None
    groups: RiskGroups | None
    calibrations: tuple[SurvivalCalibration, ...]
    bands: SurvivalBands
    names: tuple[str, ...]
    n_rows: int
    n_events: int
    rules: tuple[RiskRule, ...] = ()

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The concordance with its 95 % interval; empty without times and events."""
        if self.scores is None:
            return {}
        return {"concordance": concordance_estimate(self.scores)}


def concordance_estimate(scores: SurvivalScores) -> Estimate:
    """The concordance with its 95 % interval over the choice of the rows."""
    value, reach = scores.concordance, Z * scores.concordance_error
    return Estimate(value, max(0.0, value - reach), min(1.0, value + reach))


def evaluation_rows(
    analysed: AnalysedForest, X: Columns, weights: Floats | None
) -> tuple[EvaluationRows, str]:
    """The rows, with the trees that have not seen them if the forest was grown on them."""
    encoded = analysed.encode(X)
    target = np.zeros(len(encoded))
    if not _are_of_the_fit(analysed, encoded, weights):
        return EvaluationRows(encoded, target, None), "new"
    try:
        bags = analysed.honest_bags()
    except NoOutOfBagError:
        return EvaluationRows(encoded, target, None), "grown on"
    out = bags.rows_out(analysed.forest.n_trees, weights)
    return EvaluationRows(encoded, target, out), "out-of-bag"


def _are_of_the_fit(
    analysed: AnalysedForest, encoded: npt.NDArray[np.float32], weights: Floats | None
) -> bool:
    """Whether the weights of the rows in some bags agree with those of their leaves."""
    bags, forest = analysed.fitted.bags, analysed.forest
    if bags is None or forest.is_slim or len(encoded) != bags.n_rows:
        return False
    leaves = analysed.predictor.leaves(encoded, analysed.n_threads)
    for tree in range(min(N_CHECKED, forest.n_trees)):
        weight = bags.counts(tree, weights) * (1.0 if weights is None else weights)
        view = forest.tree(tree)
        found = np.bincount(leaves[:, tree], weight, view.n_nodes)
        is_leaf = view.children_right < 0
        if not np.allclose(found[is_leaf], view.weight[is_leaf], rtol=1e-4):
            return False
    return True


def find_survival(
    model: Any,
    X: Columns,
    target: SurvivalTarget | None,
    risk: Floats,
    row_kind: str,
    weights: Floats | None = None,
) -> SurvivalFindings:
    """Find scores, groups and curves of some rows.

    Parameters
    ----------
    model : ObliqueSurvivalForest
        Fitted model.
    X : Columns
        Rows.
    target : SurvivalTarget or None
        Times and events of the rows, if known.
    risk : ndarray of shape (n_rows,)
        Predicted risks.
    row_kind : {"new", "out-of-bag", "grown on"}
        Relation of the rows to the fit, as in `Explanation`.
    weights : ndarray, default=None
        Weights of the fit, for rows that are out of bag.
    """
    order = np.argsort(risk, kind="stable")
    chosen = [int(order[round(share * (len(order) - 1))]) for share in CURVES.values()]
    bands = survival_bands(model, X.rows(np.array(chosen)))
    nothing = SurvivalFindings(None, None, (), bands, tuple(CURVES), 0, 0)
    if target is None or len(np.unique(target.time[target.event])) < 2:
        return nothing
    given: dict[str, Any] = {"out_of_bag": row_kind == "out-of-bag"}
    if given["out_of_bag"]:
        given["sample_weight"] = weights
    known = target.time[target.event]
    times = np.unique(np.quantile(known, QUANTILES))
    n_groups = max(2, min(10, len(target) // 50))
    groups = None
    if len(target) >= N_GROUPS * LEAST_OF_GROUP and np.ptp(risk) > 0.0:
        try:
            groups = risk_groups(model, X, target, n_groups=N_GROUPS, **given)
        except ValueError:  # tied risks leave a group empty
            groups = None
    return SurvivalFindings(
        survival_scores(model, X, target, **given),
        groups,
        tuple(
            survival_calibration(model, X, target, float(time), n_groups=n_groups, **given)
            for time in times
        ),
        bands,
        tuple(CURVES),
        len(target),
        int(target.event.sum()),
    )
