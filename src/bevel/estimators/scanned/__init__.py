"""Forests of scanned tables."""
