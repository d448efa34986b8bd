"""Pictures of survival forests."""
