"""Accuracy beside peers."""
