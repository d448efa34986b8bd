"""Bias, variance and their effects: results, and James's measures of predicted classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bevel._types import Floats
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame

__all__ = ["BiasAndVariance", "ClassEffects", "class_effects"]


@dataclass(frozen=True, repr=False)
class ClassEffects(PrintedResult):
    """James's bias and variance of predicted classes (0-1 loss).

    Attributes
    ----------
    bias : float
        Share of rows whose usual prediction is not the Bayes rule's: P(h̄(X) ≠ h*(X)).
    variance : float
        Share of predictions that are not the usual one: 1 − E[P̄(X)].
    systematic_effect, variance_effect : float
        Contributions of bias and variance to the error; negative if they lower it.
    bayes_error : float
        Error of the Bayes rule; 0 where labels are taken as certain.
    """

    bias: float
    variance: float
    systematic_effect: float
    variance_effect: float
    bayes_error: float

    @property
    def error(self) -> float:
        """Mean error: Bayes error + systematic effect + variance effect."""
        return self.bayes_error + self.systematic_effect + self.variance_effect

    def to_pandas(self) -> Any:
        """The measures as one line, to be joined with those of other learners."""
        return data_frame(
            {name: [value] for name, value in {"error": self.error, **vars(self)}.items()}
        )

    def _printed(self) -> PrintedTable:
        return PrintedTable("Bias and variance of predicted classes", (), self.lines)

    @property
    def lines(self) -> list[tuple[str, float]]:
        """Names and values to be shown."""
        return [
            ("error", self.error),
            ("  Bayes error", self.bayes_error),
            ("  systematic effect", self.systematic_effect),
            ("  variance effect", self.variance_effect),
            ("bias", self.bias),
            ("variance", self.variance),
        ]


@dataclass(frozen=True, repr=False)
class BiasAndVariance(PrintedResult):
    """Bias and variance of a learner over training sets.

    Attributes
    ----------
    squared_bias, variance, noise : float
        Parts of the squared error of values, or of class probabilities, summed over the classes.
        Noise is that of the labels; where it is not known it is 0 and part of `squared_bias`.
    classes : ClassEffects or None
        Bias and variance of predicted classes; None in regression.
    n_repeats : int
        Number of training sets.
    n_rows : int
        Number of rows that were evaluated.
    """

    squared_bias: float
    variance: float
    noise: float
    classes: ClassEffects | None
    n_repeats: int
    n_rows: int

    @property
    def squared_error(self) -> float:
        """Mean squared error (of probabilities: Brier score): bias² + variance + noise."""
        return self.squared_bias + self.variance + self.noise

    def to_pandas(self) -> Any:
        """The measures, also of predicted classes, as one line to be joined with others."""
        measures = {
            "squared_error": self.squared_error,
            "squared_bias": self.squared_bias,
            "variance": self.variance,
            "noise": self.noise,
        }
        if self.classes is not None:
            of_classes = {"error": self.classes.error, **vars(self.classes)}
            measures |= {f"class_{name}": value for name, value in of_classes.items()}
        return data_frame({name: [value] for name, value in measures.items()})

    def _printed(self) -> PrintedTable:
        of = self.classes
        lines = [] if of is None else of.lines
        lines += [
            ("squared error" if of is None else "squared error of votes", self.squared_error),
            ("  squared bias", self.squared_bias),
            ("  variance", self.variance),
            ("  noise", self.noise),
        ]
        sets = f"{self.n_repeats} training sets, {self.n_rows} rows evaluated"
        return PrintedTable(f"Bias and variance over {sets}", (), lines)


def class_effects(votes: Floats, posterior: Floats) -> ClassEffects:
    """James's measures from shares of predictions and true probabilities, rows by classes."""
    row = np.arange(len(votes))
    usual, best = votes.argmax(axis=1), posterior.argmax(axis=1)
    of_usual, of_best = posterior[row, usual], posterior[row, best]
    return ClassEffects(
        bias=float(np.mean(of_usual < of_best)),  # either of two equally probable classes is right
        variance=float(1.0 - votes[row, usual].mean()),
        systematic_effect=float(np.mean(of_best - of_usual)),
        variance_effect=float(np.mean(of_usual - (posterior * votes).sum(axis=1))),
        bayes_error=float(np.mean(1.0 - of_best)),
    )
