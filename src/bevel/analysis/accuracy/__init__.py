"""How good a forest is, and why: errors, strength, calibration, intervals, out-of-bag curves."""
