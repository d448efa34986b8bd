"""Feature selection by the importances of forests."""
