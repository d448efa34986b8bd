"""Evaluates and explains survival forests."""
