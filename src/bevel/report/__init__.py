"""Pages of fits, explanations and the demo: one HTML file each, with its figures inside."""
