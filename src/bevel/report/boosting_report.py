"""The learning curve of a boosting model, as a part of its page."""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel.report import fit_figures
from bevel.report.page import figure

__all__ = ["learning_curve"]


def learning_curve(model: Any) -> list[str]:
    """The loss after each iteration, as a figure."""
    training, validation = -model.train_score_, -model.validation_score_
    if np.isnan(training).all():
        return []  # the loss has no values
    caption = "Mean loss after each iteration, on the rows that the trees are grown on"
    if len(validation):
        caption += (
            " and on held-out rows. The dotted line is where the loss of these is lowest; all rows "
            f"were then fitted again with {model.n_iter_:,} iterations"
            if model.n_iter_ == len(training) != int(np.argmin(validation)) + 1
            else " and on held-out rows. The dotted line is where the loss of these is lowest"
        )
    return [figure(fit_figures.draw_learning_curve(training, validation), f"{caption}.")]
