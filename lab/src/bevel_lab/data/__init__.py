"""Data sets of a folder, and what the papers do to their columns."""
