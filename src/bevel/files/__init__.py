"""The model file: how a trained forest lies on disk."""
