"""Prediction time of Bevel beside its peers: ``python -m benchmarks.predict``."""
