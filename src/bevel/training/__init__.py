"""Trains flat forests from datasets and options."""
