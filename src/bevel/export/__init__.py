"""Exports forests for use without Python: each folder or file writes one format."""
