"""Several outputs of one forest."""
