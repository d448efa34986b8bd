"""Chooses the parameters of a forest by out-of-bag rows: `bevel.tune`."""

from bevel.tuning.search import Candidate, TuningResult, tune

__all__ = ["Candidate", "TuningResult", "tune"]
