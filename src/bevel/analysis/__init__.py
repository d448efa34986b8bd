"""Understand a fitted forest: plain functions that return small results, drawn by `bevel.plots`."""
