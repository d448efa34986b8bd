"""From a dataset and options to a flat forest."""
