"""The systems of the comparison by name: every preset, the papers' baselines, and the peers."""

from bevel.lab.systems.base import Estimator, Grid, System, Task

__all__ = ["SYSTEMS", "Estimator", "Grid", "System", "Task"]

SYSTEMS: dict[str, System] = {}
