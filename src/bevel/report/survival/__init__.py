"""Pages of survival forests."""
