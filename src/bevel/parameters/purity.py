"""The parameter that decides over nodes of a single target."""

from __future__ import annotations

from bevel.parameters.constraints import Flag, Parameter

__all__ = ["PURITY"]

PURITY = Parameter(
    "split_pure_nodes",
    False,
    [Flag()],
    "Whether nodes of a single target are split too, along a drawn direction at a random cut. "
    "Leaves then have fewer rows than `min_samples_split` if directions tell them apart, as in "
    "Lin and Jeon's Proposition 2. Predictions stay the same.",
)
