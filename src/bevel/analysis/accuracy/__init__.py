"""Accuracy of a forest: errors, strength, calibration, intervals, out-of-bag curves."""
