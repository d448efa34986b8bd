"""Understand a fitted forest: plain functions that return small results, drawn by `bevel.plots`."""

from bevel.analysis import geometry
from bevel.analysis.importance import importance

__all__ = ["geometry", "importance"]
