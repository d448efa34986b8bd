"""Isolation forests from files of rows without a target."""
