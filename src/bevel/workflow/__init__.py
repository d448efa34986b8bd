"""From a file of rows to a model, its scores, its predictions and its explanation."""
