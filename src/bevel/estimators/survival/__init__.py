"""The survival forest."""
