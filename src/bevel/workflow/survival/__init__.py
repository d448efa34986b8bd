"""Survival forests from files of rows: fitting, explaining, findings."""
