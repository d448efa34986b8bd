"""Effects of features on predictions: partial dependence and others."""
