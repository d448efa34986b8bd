"""The parameters of the survival forest."""

from __future__ import annotations

from dataclasses import replace

from bevel.parameters.constraints import Integer, Parameter, Real, StrOptions
from bevel.parameters.forest_parameters import REGRESSOR_PARAMETERS

__all__ = ["SURVIVAL_PARAMETERS"]

_OWN = {
    "projection": replace(
        REGRESSOR_PARAMETERS["projection"],
        meaning='Where candidate directions come from. "auto" tries, at each node, the direction '
        "of a Cox model, √p sparse combinations and √p single features. "
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
        default=10,
        accepts=[Integer(2), Real("(0, 1]")],
        meaning="Distinct rows a node needs to be split; a float is a share of the training rows.",
    ),
    "min_samples_leaf": replace(REGRESSOR_PARAMETERS["min_samples_leaf"], default=5),
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

SURVIVAL_PARAMETERS: dict[str, Parameter] = {
    name: _OWN.get(name, parameter)
    for name, parameter in REGRESSOR_PARAMETERS.items()
    if name not in _LEFT_OUT
}
