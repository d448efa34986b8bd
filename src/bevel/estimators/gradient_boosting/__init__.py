"""Gradient boosting with scikit-learn's API."""
