"""Names of the outputs of a result: classes, or quantiles of boosting."""

from __future__ import annotations

from typing import Any

from bevel.text.node_predictions import called

__all__ = ["PREDICTIONS", "QUANTILES", "SCORES", "measured", "name_of_output", "noun_of_outputs"]

# `output_name` of a result with several outputs: shares of classes, sums of the trees of each
# class, or quantiles.
PREDICTIONS, SCORES, QUANTILES = "prediction", "score", "quantile"


def name_of_output(of_all: str, label: Any) -> str:
    """Name of one of several outputs, in the middle of a sentence."""
    if of_all == QUANTILES:
        return str(label)  # such as "quantile 0.9"
    return f"{'score' if of_all == SCORES else 'probability'} of {called(str(label))}"


def noun_of_outputs(of_all: str) -> str:
    """Noun for one of the outputs, as in the title of a legend."""
    return "quantile" if of_all == QUANTILES else "class"


def measured(of_all: str) -> str:
    """Name of the values of all outputs."""
    return {QUANTILES: "prediction", SCORES: "score"}.get(of_all, "probability")
