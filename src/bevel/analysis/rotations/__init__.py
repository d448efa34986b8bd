"""Rotations that make trees simple, and the complexity of trees."""
