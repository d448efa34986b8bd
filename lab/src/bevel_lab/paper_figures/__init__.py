"""Figures of the papers that need no run folder: computed and drawn at once."""

from bevel_lab.paper_figures.registry import FIGURES, PaperFigure

__all__ = ["FIGURES", "PaperFigure"]
