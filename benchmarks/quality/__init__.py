"""Error of Bevel beside its peers over many data sets: ``python -m benchmarks.quality``."""
