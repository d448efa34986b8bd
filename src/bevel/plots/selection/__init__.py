"""Pictures of the selection of features."""
