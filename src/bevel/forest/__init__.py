"""Grown forests, and values derived from them and from their training rows."""
