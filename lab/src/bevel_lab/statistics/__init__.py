"""Scores, tests, ranks and counts of the papers: plain functions on arrays, without any I/O.

A *table* has one row per data set and one column per system, lower values are better, and every
value is finite; `complete_rows` finds the rows that may take part.
"""

from bevel.workflow.scores import chance_error, cohen_kappa, error_rate, log_loss, roc_auc
from bevel_lab.statistics.counts import (
    best_or_alike,
    wins_ties_losses,
    within_one_deviation,
)
from bevel_lab.statistics.differences import (
    Interval,
    mean_interval,
    normalised_relative_error,
    paired_interval,
    share_within_two_errors,
    standard_error,
)
from bevel_lab.statistics.printed_kappa import PrintedKappa, error_of_printed_kappa
from bevel_lab.statistics.ranks import (
    complete_rows,
    hyperparameter_ranks,
    mean_ranks,
    rank_shares,
    ranks,
)
from bevel_lab.statistics.significance import (
    Friedman,
    corrected_t_test,
    critical_difference,
    friedman,
    groups_alike,
    wilcoxon,
)

__all__ = [
    "Friedman",
    "Interval",
    "PrintedKappa",
    "best_or_alike",
    "chance_error",
    "cohen_kappa",
    "complete_rows",
    "corrected_t_test",
    "critical_difference",
    "error_of_printed_kappa",
    "error_rate",
    "friedman",
    "groups_alike",
    "hyperparameter_ranks",
    "log_loss",
    "mean_interval",
    "mean_ranks",
    "normalised_relative_error",
    "paired_interval",
    "rank_shares",
    "ranks",
    "roc_auc",
    "share_within_two_errors",
    "standard_error",
    "wilcoxon",
    "wins_ties_losses",
    "within_one_deviation",
]
