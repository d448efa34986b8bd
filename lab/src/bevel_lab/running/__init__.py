"""Runs the cells of an experiment into a store: processes, time limits, resuming."""
