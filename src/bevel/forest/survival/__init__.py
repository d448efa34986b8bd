"""Curves of survival forests, and how well risks order times."""
