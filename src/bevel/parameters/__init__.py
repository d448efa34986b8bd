"""Each parameter and fitted attribute, defined once: default, range, meaning."""
