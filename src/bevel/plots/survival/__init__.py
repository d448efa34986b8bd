"""Plots of survival forests."""
