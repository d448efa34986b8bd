"""Geometry of directions: how close samplers come to a good one, and how good one is.

Angles are between lines, in degrees from 0 to 90: a direction and its negative make the same cuts.
"""

from bevel.analysis.geometry.angles import angles
from bevel.analysis.geometry.roots import root_directions
from bevel.analysis.geometry.simulation import ProbabilityEstimate, simulate_within
from bevel.analysis.geometry.trunk import trunk_bayes_error
from bevel.analysis.geometry.within import probability_within

__all__ = [
    "ProbabilityEstimate",
    "angles",
    "probability_within",
    "root_directions",
    "simulate_within",
    "trunk_bayes_error",
]
