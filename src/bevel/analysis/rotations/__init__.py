"""Rotations that make trees simple, and how complex trees are."""
