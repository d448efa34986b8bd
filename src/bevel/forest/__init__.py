"""A grown forest, and what is computed from it and its training rows."""
