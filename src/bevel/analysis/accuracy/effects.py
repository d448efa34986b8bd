"""Bias, variance and their effects: results, and James's measures of predicted classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bevel._types import Floats
from bevel.analysis.printing import described

__all__ = ["BiasAndVariance", "ClassEffects", "class_effects"]


@dataclass(frozen=True)
class ClassEffects:
    """James's bias and variance of predicted classes (0-1 loss).

    Attributes
    ----------
    bias : float
        Share of rows whose usual prediction is not the Bayes rule's: P(h̄(X) ≠ h*(X)).
    variance : float
        Share of predictions that are not the usual one: 1 − E[P̄(X)].
    systematic_effect, variance_effect : float
        What bias and variance add to the error; negative if they help.
    bayes_error : float
        Error of the Bayes rule; 0 where labels are taken for certain.
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


@dataclass(frozen=True, repr=False)
class BiasAndVariance:
    """Bias and variance of a learner over training sets.

    Attributes
    ----------
    squared_bias, variance, noise : float
        Of the squared error of values, or of class probabilities, summed over the classes. Noise is
        that of the labels; 0 where it is not known, and is then part of `squared_bias`.
    classes : ClassEffects or None
        The same for predicted classes; None in regression.
    n_repeats : int
        Training sets.
    n_rows : int
        Rows that were judged.
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

    def __repr__(self) -> str:
        of, lines = self.classes, []
        if of is not None:
            lines += [
                ("error", of.error),
                ("  Bayes error", of.bayes_error),
                ("  systematic effect", of.systematic_effect),
                ("  variance effect", of.variance_effect),
                ("bias", of.bias),
                ("variance", of.variance),
            ]
        lines += [
            ("squared error" if of is None else "squared error of votes", self.squared_error),
            ("  squared bias", self.squared_bias),
            ("  variance", self.variance),
            ("  noise", self.noise),
        ]
        sets = f"{self.n_repeats} training sets, {self.n_rows} rows judged"
        return described(f"Bias and variance over {sets}", lines)


def class_effects(votes: Floats, posterior: Floats) -> ClassEffects:
    """James's measures from shares of predictions and true probabilities, rows by classes."""
    row = np.arange(len(votes))
    usual, best = votes.argmax(axis=1), posterior.argmax(axis=1)
    of_usual, of_best = posterior[row, usual], posterior[row, best]
    return ClassEffects(
        bias=float(np.mean(of_usual < of_best)),  # of equally probable classes, either is right
        variance=float(1.0 - votes[row, usual].mean()),
        systematic_effect=float(np.mean(of_best - of_usual)),
        variance_effect=float(np.mean(of_usual - (posterior * votes).sum(axis=1))),
        bayes_error=float(np.mean(1.0 - of_best)),
    )
