"""Pictures of finished results. Matplotlib (the extra ``plot``) is imported when one is drawn."""

from bevel.plots.boundaries import decision_boundaries

__all__ = ["decision_boundaries"]
