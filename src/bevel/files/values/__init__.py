"""Values in the header of a file: scalars, labels, matrices, parameters, as strict JSON."""
