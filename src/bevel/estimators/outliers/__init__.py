"""Estimators that find outliers."""
