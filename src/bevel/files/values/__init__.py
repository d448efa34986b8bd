"""What the header of a file holds: scalars, labels, matrices, parameters, as strict JSON."""
