"""The parameters of the survival forest."""

from __future__ import annotations

from dataclasses import replace

from bevel.parameters.constraints import Flag, Integer, Parameter, Real, StrOptions
from bevel.parameters.forest_parameters import REGRESSOR_PARAMETERS

__all__ = ["SURVIVAL_PARAMETERS"]

_OWN = {
    "projection": replace(
        REGRESSOR_PARAMETERS["projection"],
        meaning='Where candidate directions come from. "auto" tries, at each node, the '
        "directions of a Cox model and of partial least squares, √p sparse combinations and √p "
        "single features. "
        '"axis" gives random survival forests; "cox" fits a Cox model to the rows of each node; '
        '"sparse", "combination", "gaussian", "rotation", "multirotation" and "principal" combine '
        'features; "lda", "pls", "cca" and `P.Ridge(tune="gcv")` are fitted to the log-rank scores '
        "of the node; a list evaluates the candidates of all its members. See "
        "`bevel.projections`.",
    ),
    "criterion": Parameter(
        "criterion",
        "log_rank",
        [StrOptions(("log_rank", "log_rank_score"))],
        'Statistic by which cuts are compared. "log_rank" is the log-rank statistic of the two '
        'sides. "log_rank_score" is that of the log-rank scores of the node (Hothorn and Lausen '
        "2003), which is faster in large nodes.",
    ),
    "min_samples_split": replace(
        REGRESSOR_PARAMETERS["min_samples_split"],
        default=20,
        accepts=[Integer(2), Real("(0, 1]")],
        meaning="Distinct rows a node needs to be split; a float is a share of the training rows.",
    ),
    "min_samples_leaf": replace(REGRESSOR_PARAMETERS["min_samples_leaf"], default=10),
    "competing_risks": Parameter(
        "competing_risks",
        False,
        [Flag()],
        "Whether events have causes, numbered from 1 on: who has an event of one cause is no "
        "longer at risk of the others. Splits add up the log-rank statistics of all causes; leaves "
        "hold the hazards of each. `predict_cumulative_incidence_function` gives the chance of an "
        "event of one cause; risks, survival curves and scores are of all causes together.",
    ),
    "oob_score": replace(
        REGRESSOR_PARAMETERS["oob_score"],
        meaning="Whether to estimate the concordance from the rows out of each tree's bag; a "
        "function of y as a structured array and of the risks replaces it.",
    ),
}
_LEFT_OUT = (
    "min_impurity_decrease",
    "split_pure_nodes",
    "keep_targets",
    "monotonic_cst",
    "interaction_cst",
)


def _in_order() -> dict[str, Parameter]:
    """As in the signature: after the columns comes what the events are."""
    found: dict[str, Parameter] = {}
    for name, parameter in REGRESSOR_PARAMETERS.items():
        if name not in _LEFT_OUT:
            found[name] = _OWN.get(name, parameter)
        if name == "categorical_features":
            found["competing_risks"] = _OWN["competing_risks"]
    return found


SURVIVAL_PARAMETERS: dict[str, Parameter] = _in_order()
