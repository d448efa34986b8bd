"""Forests for places without Python: each folder or file writes one foreign format."""
