"""The papers' figures as SVG text, from plain numbers. Matplotlib is imported when one is drawn.

Every figure can be read in grey: shape, line or a printed number repeats what colour shows.
The same numbers give the same text, to the byte.
"""

from bevel_lab.figures.curves import Curve, Panel, curves, speed_up
from bevel_lab.figures.differences import critical_differences, effect_sizes
from bevel_lab.figures.frequencies import hyperparameter_ranks, rank_histogram, relative_errors

__all__ = [
    "Curve",
    "Panel",
    "critical_differences",
    "curves",
    "effect_sizes",
    "hyperparameter_ranks",
    "rank_histogram",
    "relative_errors",
    "speed_up",
]
