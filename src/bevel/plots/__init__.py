"""Pictures of finished results. Matplotlib (the extra ``plot``) is imported when one is drawn."""

from bevel.plots.boundaries import decision_boundaries
from bevel.plots.importance import importance_bars, top_projections

__all__ = ["decision_boundaries", "importance_bars", "top_projections"]
