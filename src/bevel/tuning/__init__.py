"""Chooses the parameters of a forest by out-of-bag rows: `bevel.tune`."""

from bevel.tuning.results import Candidate, TuningResult
from bevel.tuning.search import tune

__all__ = ["Candidate", "TuningResult", "tune"]
