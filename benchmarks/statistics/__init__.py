"""The papers' statistical facts, checked on simulations: ``python -m benchmarks.statistics``."""
