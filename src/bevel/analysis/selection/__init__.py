"""Choice of features by what a forest makes of them."""
