"""Plots of feature selection."""
